/* export/external.c - see external.h. Filled by describe.c, written by emit.c. */
#include "export/external.h"

#include <stdio.h>

static wick_status make_path(char *path, size_t size, const char *folder, const char *program, const char *name, wick_error *err)
{
    bool whole = wick_str_ends(wick_str_of(name), WICK_STR(".ptd"));
    const char *slash = strrchr(program, '/');
    int folder_size = folder ? (int)strlen(folder) : slash ? (int)(slash - program) : 1;
    int used = snprintf(path, size, "%.*s/%s%s", folder_size, folder ? folder : slash ? program : ".", name, whole ? "" : ".ptd");
    return used > 0 && (size_t)used < size ? WICK_OK : wick_fail(err, WICK_INVALID_CONFIG, "the path of %.60s is too long", name);
}

wick_status wick_external_init(struct wick_external *x, const struct wick_config *config, const char *program_path, wick_error *err)
{
    static const enum wick_key keys[] = {WICK_KEY_EXPORT_FOUNDATION_WEIGHTS_FILE, WICK_KEY_EXPORT_LORA_WEIGHTS_FILE};
    const char *folder = config->values[WICK_KEY_EXPORT_OUTPUT_DIR].given ? wick_config_text(config, WICK_KEY_EXPORT_OUTPUT_DIR) : NULL;
    *x = (struct wick_external){0};
    for (int i = 0; i < WICK_EXTERNAL_FILES; i++) {
        const char *name = wick_config_text(config, keys[i]);
        if (name && *name) WICK_TRY(make_path(x->files[i].path, sizeof x->files[i].path, folder, program_path, name, err));
    }
    if (x->files[0].path[0] && strcmp(x->files[0].path, x->files[1].path) == 0)
        return wick_fail(err, WICK_INVALID_CONFIG, "export.foundation_weights_file and export.lora_weights_file are one file");
    return WICK_OK;
}

struct wick_external_file *wick_external_choose(struct wick_external *x, const char *name, const struct wick_source *source)
{
    if (!name || wick_shape_numel(&source->shape) <= 1) return NULL;
    struct wick_external_file *file = &x->files[strstr(name, "lora") != NULL];
    return file->path[0] ? file : NULL;
}

static wick_status make_room(struct wick_external_file *file, struct wick_arena *arena, wick_error *err)
{
    uint32_t capacity = file->capacity ? file->capacity * 2 : 64;
    if (file->count < file->capacity) return WICK_OK;
    struct wick_external_entry *entries = WICK_NEW_ARRAY(arena, struct wick_external_entry, capacity);
    struct wick_ptd_named *named = WICK_NEW_ARRAY(arena, struct wick_ptd_named, capacity);
    struct wick_pte_segment *segments = WICK_NEW_ARRAY(arena, struct wick_pte_segment, capacity);
    if (!entries || !named || !segments) return wick_fail_oom(err, capacity * sizeof *entries, "a data file");
    if (file->count) {
        memcpy(entries, file->entries, file->count * sizeof *entries);
        memcpy(named, file->named, file->count * sizeof *named);
        memcpy(segments, file->segments, file->count * sizeof *segments);
    }
    file->entries = entries, file->named = named, file->segments = segments;
    file->capacity = capacity;
    return WICK_OK;
}

wick_status wick_external_add(struct wick_external_file *file, struct wick_arena *arena, struct wick_source *source, const char *key,
                              struct wick_named_constant *blob, wick_error *err)
{
    for (uint32_t i = 0; !blob && i < file->count; i++) {
        if (file->entries[i].blob || !wick_str_is(file->named[i].key, key)) continue;
        return file->entries[i].source == source
                   ? WICK_OK
                   : wick_fail(err, WICK_NOT_SUPPORTED, "%s: two weights are called %s, which cannot both be in a data file", file->path, key);
    }
    WICK_TRY(make_room(file, arena, err));
    uint32_t i = file->count++;
    file->entries[i] = (struct wick_external_entry){source, blob};
    file->named[i] = (struct wick_ptd_named){wick_str_of(blob ? blob->key : key), i, blob ? NULL : &source->shape};
    file->segments[i] = (struct wick_pte_segment){.size = wick_shape_nbytes(&source->shape)};
    return WICK_OK;
}

wick_status wick_external_layout(struct wick_external *x, wick_error *err)
{
    for (int i = 0; i < WICK_EXTERNAL_FILES; i++) {
        struct wick_external_file *file = &x->files[i];
        if (file->count) WICK_TRY(wick_pte_layout(file->segments, NULL, file->count, WICK_PTE_SEGMENT_ALIGNMENT, &file->bytes, err));
    }
    return WICK_OK;
}
