/* checkpoint/checkpoint.c - owns opening and closing: a path becomes mapped files, each file's content tells its format,
 * the format fills the table (table.c). From here the exporter reads tensors (read.c) and metadata (meta.c). */
#include "checkpoint/format.h"
#include "checkpoint/limits.h"
#include "checkpoint/parts.h"

#include <stdio.h>

static const struct wick_ckpt_format formats[] = {
#define WICK_CKPT_FORMAT(id, name) {name, wick_ckpt_##id##_probe, wick_ckpt_##id##_open},
#include "checkpoint/formats.def"
#undef WICK_CKPT_FORMAT
};

/* Puts the path before a message; of a long path its end, so that the reason is never cut off. */
static wick_status fail_in_file(wick_error *err, wick_status status, const char *path)
{
    enum { SHOWN = 200 };
    size_t size = strlen(path);
    return wick_fail_in(err, status, "%s%s", size > SHOWN ? "..." : "", size > SHOWN ? path + size - SHOWN : path);
}

static wick_status map_file(struct wick_checkpoint *ckpt, const char *path, uint32_t *index, wick_error *err)
{
    struct wick_ckpt_file *list = wick_ckpt_list_room(&ckpt->arena, ckpt->files, ckpt->file_count, &ckpt->file_capacity, sizeof *list);
    char *copy = wick_arena_copy(&ckpt->arena, path, strlen(path));
    if (list) ckpt->files = list;
    if (!list || !copy) return wick_fail_oom(err, sizeof *list + strlen(path), "checkpoint");
    struct wick_ckpt_file file = {.path = copy};
    WICK_TRY(wick_map_open(&file.map, path, err));
    *index = (uint32_t)ckpt->file_count;
    ckpt->files[ckpt->file_count++] = file;
    return WICK_OK;
}

static wick_status open_file(struct wick_checkpoint *ckpt, const char *path, bool shard, wick_error *err)
{
    uint32_t index = 0;
    WICK_TRY(map_file(ckpt, path, &index, err));
    struct wick_map map = ckpt->files[index].map;
    if (map.size == 0) return wick_fail(err, WICK_INVALID_CHECKPOINT, "%.300s: the file is empty", path);
    for (size_t i = 0; i < WICK_ARRAY_SIZE(formats); i++) {
        if (!formats[i].probe(map.data, map.size)) continue;
        bool is_index = formats[i].open == wick_ckpt_index_open;
        if (is_index && shard) return wick_fail(err, WICK_INVALID_CHECKPOINT, "%.300s: a shard is itself an index of shards", path);
        if (!is_index) ckpt->format = formats[i].name;
        wick_status status = formats[i].open(ckpt, index, err);
        return status == WICK_OK || is_index ? status : fail_in_file(err, status, path);
    }
    return wick_fail(err, WICK_INVALID_CHECKPOINT, "%.300s: content of %zu bytes is none of: torch zip file, safetensors, GGUF, index of shards",
                     path, map.size);
}

wick_status wick_ckpt_open_shard(struct wick_checkpoint *ckpt, const char *path, wick_error *err) { return open_file(ckpt, path, true, err); }

/* ---- folders ---- */

/* Names a folder may hold its weights under, the preferred first. */
static const char *const folder_names[] = {
    "model.safetensors", "model.safetensors.index.json", "consolidated.00.pth", "pytorch_model.bin", "pytorch_model.bin.index.json",
    "adapter_model.safetensors",
};

static char *join_path(struct wick_arena *arena, const char *folder, const char *name)
{
    size_t a = strlen(folder), b = strlen(name);
    char *path = wick_arena_alloc(arena, a + b + 2, 1);
    if (!path) return NULL;
    memcpy(path, folder, a);
    path[a] = '/';
    memcpy(path + a + 1, name, b + 1);
    return path;
}

struct gguf_search {
    struct wick_arena *arena;
    char *name;
    size_t found;
    bool failed;
};

static void gguf_candidate(void *user, const char *name)
{
    struct gguf_search *search = user;
    if (!wick_str_ends(wick_str_of(name), WICK_STR(".gguf")) || wick_ckpt_is_later_part(wick_str_of(name)) || search->found++ > 0) return;
    search->name = wick_arena_copy(search->arena, name, strlen(name));
    search->failed = !search->name;
}

static wick_status find_in_folder(struct wick_arena *arena, const char *folder, const char **out, wick_error *err)
{
    for (size_t i = 0; i < WICK_ARRAY_SIZE(folder_names); i++) {
        char *path = join_path(arena, folder, folder_names[i]);
        if (!path) return wick_fail_oom(err, strlen(folder), "path");
        if (!wick_path_exists(path)) continue;
        *out = path;
        return WICK_OK;
    }
    struct gguf_search search = {.arena = arena};
    WICK_TRY(wick_folder_each(folder, gguf_candidate, &search, err));
    if (search.found > 1) return wick_fail(err, WICK_INVALID_ARGUMENT, "%.300s: the folder holds %zu .gguf files; name one", folder, search.found);
    if (search.found == 1 && !search.failed) *out = join_path(arena, folder, search.name);
    if (search.found == 1) return *out ? WICK_OK : wick_fail_oom(err, strlen(folder), "path");
    return wick_fail(err, WICK_NOT_FOUND,
                     "%.200s: the folder holds no checkpoint (model.safetensors or its index, consolidated.00.pth, pytorch_model.bin or its index, "
                     "adapter_model.safetensors, one .gguf)", folder);
}

/* ---- the whole ---- */

wick_status wick_ckpt_open_in(struct wick_checkpoint **out, const char *path, const struct wick_allocator *source, wick_error *err)
{
    *out = NULL;
    struct wick_arena arena;
    wick_arena_init(&arena, source);
    struct wick_checkpoint *ckpt = WICK_NEW(&arena, struct wick_checkpoint);
    if (!ckpt) {
        wick_arena_release(&arena);
        return wick_fail_oom(err, sizeof *ckpt, path);
    }
    ckpt->arena = arena;
    const char *file = NULL;
    wick_status status = WICK_OK;
    if (wick_path_is_folder(path)) status = find_in_folder(&ckpt->arena, path, &file, err);
    else file = path;
    if (status == WICK_OK) status = open_file(ckpt, file, false, err);
    if (status == WICK_OK && !ckpt->tensor_names) status = wick_ckpt_open_parts(ckpt, file, err);
    if (status == WICK_OK && !ckpt->tensor_names) {
        status = wick_ckpt_table_seal(ckpt, err);
        if (status != WICK_OK) fail_in_file(err, status, file);
    }
    if (status == WICK_OK) *out = ckpt;
    else wick_checkpoint_close(ckpt);
    return status;
}

wick_status wick_checkpoint_open(struct wick_checkpoint **ckpt, const char *path, wick_error *err)
{
    return wick_ckpt_open_in(ckpt, path, &wick_allocator_heap, err);
}

void wick_checkpoint_close(struct wick_checkpoint *ckpt)
{
    if (!ckpt) return;
    for (size_t i = 0; i < ckpt->file_count; i++) wick_map_close(&ckpt->files[i].map);
    struct wick_arena arena = ckpt->arena; /* it holds the checkpoint itself */
    wick_arena_release(&arena);
}

const char *wick_checkpoint_format(const struct wick_checkpoint *ckpt) { return ckpt->format; }

const char *wick_checkpoint_path(const struct wick_checkpoint *ckpt) { return ckpt->files[0].path; }
