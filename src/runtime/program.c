/* runtime/program.c - opening a program with its data files, finding blobs by key, reading constant methods.
 *
 * The files are judged by src/pte; method.c reads the plans afterwards. */
#include "runtime/program.h"

#include "base/checked.h"
#include "pte/ptd.h"
#include "runtime/source.h"

struct wick_data_file {
    struct wick_ptd_file file;
    struct wick_map map; /* data NULL: the caller's memory */
};

/* ---- keys ---- */

static int compare_keys(const struct wick_blob_key *a, const struct wick_blob_key *b)
{
    size_t common = WICK_MIN(a->key.size, b->key.size);
    int order = common ? memcmp(a->key.data, b->key.data, common) : 0;
    return order ? order : (a->key.size > b->key.size) - (a->key.size < b->key.size);
}

/* Bottom-up merge sort, stable; spare has room for count. A hostile list costs no more than any other. */
static void sort_keys(struct wick_blob_key *keys, struct wick_blob_key *spare, size_t count)
{
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t begin = 0; begin < count; begin += 2 * width) {
            size_t middle = WICK_MIN(begin + width, count), end = WICK_MIN(begin + 2 * width, count);
            size_t a = begin, b = middle;
            for (size_t to = begin; to < end; to++)
                spare[to] = a < middle && (b == end || compare_keys(&keys[a], &keys[b]) <= 0) ? keys[a++] : keys[b++];
        }
        memcpy(keys, spare, count * sizeof *keys);
    }
}

/* The first of equal keys; NULL if there is none. */
static const struct wick_blob_key *find_key(const struct wick_blob_key *keys, uint32_t count, struct wick_str key)
{
    struct wick_blob_key wanted = {.key = key};
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare_keys(&keys[middle], &wanted) < 0) low = middle + 1;
        else high = middle;
    }
    return low < count && wick_str_equal(keys[low].key, key) ? &keys[low] : NULL;
}

static wick_status index_own_keys(struct wick_program *program, struct wick_arena *arena, wick_error *err)
{
    struct flat_vec named = flat_vector(program->file.program, PTE_PROGRAM_NAMED_DATA);
    struct wick_blob_key *keys = WICK_NEW_ARRAY(arena, struct wick_blob_key, named.count);
    struct wick_blob_key *spare = WICK_NEW_ARRAY(arena, struct wick_blob_key, named.count);
    if (!keys || !spare) return wick_fail_oom(err, named.count * sizeof *keys, "named data");
    for (uint32_t i = 0; i < named.count; i++) keys[i] = (struct wick_blob_key){flat_string(flat_vec_table(named, i), PTE_NAMED_DATA_KEY), 0, i};
    sort_keys(keys, spare, named.count);
    program->own_keys = keys;
    program->own_key_count = named.count;
    return WICK_OK;
}

/* All data files in one key space. */
static wick_status index_data_keys(struct wick_program *program, struct wick_arena *arena, wick_error *err)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < program->data_file_count; i++) total += wick_ptd_count(&program->data_files[i].file);
    if (total > UINT32_MAX) return wick_fail(err, WICK_OUT_OF_MEMORY, "data files: %llu keys", (unsigned long long)total);
    struct wick_blob_key *keys = WICK_NEW_ARRAY(arena, struct wick_blob_key, (size_t)total);
    struct wick_blob_key *spare = WICK_NEW_ARRAY(arena, struct wick_blob_key, (size_t)total);
    if (!keys || !spare) return wick_fail_oom(err, (size_t)total * sizeof *keys, "named data");
    uint32_t count = 0;
    for (uint32_t f = 0; f < program->data_file_count; f++) {
        for (uint32_t i = 0; i < wick_ptd_count(&program->data_files[f].file); i++) {
            struct wick_ptd_entry entry;
            WICK_TRY(wick_ptd_entry_at(&program->data_files[f].file, i, &entry, err));
            keys[count++] = (struct wick_blob_key){entry.key, f, i};
        }
    }
    sort_keys(keys, spare, count);
    for (uint32_t i = 1; i < count; i++)
        if (keys[i - 1].file != keys[i].file && compare_keys(&keys[i - 1], &keys[i]) == 0)
            return wick_fail(err, WICK_INVALID_ARGUMENT, "key %.*s is in data file %u and in data file %u", (int)WICK_MIN(keys[i].key.size, 100),
                             keys[i].key.data, keys[i - 1].file, keys[i].file);
    program->data_keys = keys;
    program->data_key_count = count;
    return WICK_OK;
}

/* ---- opening ---- */

static wick_status new_program(struct wick_program **out, size_t data_file_count, struct wick_arena *arena, wick_error *err)
{
    struct wick_program *program = WICK_NEW(arena, struct wick_program);
    if (!program || data_file_count > UINT16_MAX) return wick_fail_oom(err, sizeof *program, "program");
    program->data_files = WICK_NEW_ARRAY(arena, struct wick_data_file, data_file_count);
    if (!program->data_files) return wick_fail_oom(err, data_file_count * sizeof *program->data_files, "program");
    program->data_file_count = (uint32_t)data_file_count;
    *out = program;
    return WICK_OK;
}

static wick_status index_keys(struct wick_program *program, struct wick_arena *arena, wick_error *err)
{
    WICK_TRY(index_own_keys(program, arena, err));
    return index_data_keys(program, arena, err);
}

static wick_status open_files(struct wick_program *program, const char *path, const char *const *data_paths, wick_error *err)
{
    WICK_TRY(wick_map_open(&program->map, path, err));
    wick_status status = wick_pte_open(&program->file, program->map.data, program->map.size, err);
    if (status != WICK_OK) return wick_fail_in(err, status, "%s", path);
    for (uint32_t i = 0; i < program->data_file_count; i++) {
        struct wick_data_file *file = &program->data_files[i];
        WICK_TRY(wick_map_open(&file->map, data_paths[i], err));
        status = wick_ptd_open(&file->file, file->map.data, file->map.size, err);
        if (status != WICK_OK) return wick_fail_in(err, status, "%s", data_paths[i]);
    }
    return WICK_OK;
}

wick_status wick_program_open(struct wick_program **out, const char *path, const char *const *data_paths, size_t data_path_count,
                              struct wick_arena *arena, wick_error *err)
{
    *out = NULL;
    struct wick_program *program = NULL;
    WICK_TRY(new_program(&program, data_path_count, arena, err));
    wick_status status = open_files(program, path, data_paths, err);
    if (status == WICK_OK) status = index_keys(program, arena, err);
    if (status != WICK_OK) {
        wick_program_close(program);
        return status;
    }
    *out = program;
    return WICK_OK;
}

wick_status wick_program_open_memory(struct wick_program **out, struct wick_bytes file, const struct wick_bytes *data_files, size_t data_file_count,
                                     struct wick_arena *arena, wick_error *err)
{
    *out = NULL;
    struct wick_program *program = NULL;
    WICK_TRY(new_program(&program, data_file_count, arena, err));
    WICK_TRY(wick_pte_open(&program->file, file.data, file.size, err));
    for (uint32_t i = 0; i < program->data_file_count; i++) {
        wick_status status = wick_ptd_open(&program->data_files[i].file, data_files[i].data, data_files[i].size, err);
        if (status != WICK_OK) return wick_fail_in(err, status, "data file %u", i);
    }
    WICK_TRY(index_keys(program, arena, err));
    *out = program;
    return WICK_OK;
}

void wick_program_close(struct wick_program *program)
{
    if (!program) return;
    wick_map_close(&program->map);
    for (uint32_t i = 0; i < program->data_file_count; i++) wick_map_close(&program->data_files[i].map);
}

size_t wick_program_bytes(const struct wick_program *program)
{
    size_t total = program->file.size;
    for (uint32_t i = 0; i < program->data_file_count; i++) total += program->data_files[i].file.size;
    return total;
}

/* ---- methods ---- */

static struct flat_vec plans_of(const struct wick_program *program) { return flat_vector(program->file.program, PTE_PROGRAM_EXECUTION_PLAN); }

uint32_t wick_program_method_count(const struct wick_program *program) { return plans_of(program).count; }

struct wick_str wick_program_method_name(const struct wick_program *program, uint32_t index)
{
    return flat_string(flat_vec_table(plans_of(program), index), PTE_PLAN_NAME);
}

wick_status wick_program_method_find(const struct wick_program *program, struct wick_str name, uint32_t *index, wick_error *err)
{
    char present[256] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < plans_of(program).count; i++) {
        struct wick_str method = wick_program_method_name(program, i);
        if (wick_str_equal(method, name)) {
            *index = i;
            return WICK_OK;
        }
        if (method.size > sizeof present - used - 3) continue;
        if (used) present[used++] = ',', present[used++] = ' ';
        memcpy(present + used, method.data, method.size);
        used += method.size;
    }
    return wick_fail(err, WICK_INVALID_ARGUMENT, "no method %.*s in the program (methods: %.*s)", (int)WICK_MIN(name.size, 64), name.data, (int)used,
                     present);
}

/* A plan without inputs and instructions. */
static bool find_constant_plan(const struct wick_program *program, struct wick_str name, struct flat_table *plan)
{
    *plan = wick_pte_plan(&program->file, name);
    if (!plan->at || flat_vector(*plan, PTE_PLAN_INPUTS).count) return false;
    struct flat_vec chains = flat_vector(*plan, PTE_PLAN_CHAINS);
    for (uint32_t i = 0; i < chains.count; i++)
        if (flat_vector(flat_vec_table(chains, i), PTE_CHAIN_INSTRUCTIONS).count) return false;
    return true;
}

uint32_t wick_program_constant_count(const struct wick_program *program, struct wick_str name)
{
    struct flat_table plan;
    return find_constant_plan(program, name, &plan) ? flat_vector(plan, PTE_PLAN_OUTPUTS).count : 0;
}

wick_status wick_program_constant(const struct wick_program *program, struct wick_str name, uint32_t i, struct wick_value *value, wick_error *err)
{
    struct flat_table plan;
    *value = (struct wick_value){.tag = WICK_TAG_NONE};
    if (!find_constant_plan(program, name, &plan) || i >= flat_vector(plan, PTE_PLAN_OUTPUTS).count)
        return wick_fail(err, WICK_NOT_FOUND, "no constant method %.*s with a value %u in the program", (int)WICK_MIN(name.size, 64), name.data, i);
    uint8_t kind;
    struct flat_table payload = wick_pte_value(plan, (uint32_t)flat_vec_i32(flat_vector(plan, PTE_PLAN_OUTPUTS), i), &kind);
    switch (kind) {
    case PTE_KIND_INT: value->tag = WICK_TAG_INT, value->as.i = flat_i64(payload, PTE_INT_VAL, 0); return WICK_OK;
    case PTE_KIND_BOOLEAN: value->tag = WICK_TAG_BOOL, value->as.b = flat_bool(payload, PTE_BOOLEAN_VAL, false); return WICK_OK;
    case PTE_KIND_DOUBLE: value->tag = WICK_TAG_DOUBLE, value->as.d = flat_f64(payload, PTE_DOUBLE_VAL, 0); return WICK_OK;
    case PTE_KIND_STRING: value->tag = WICK_TAG_STRING, value->as.string = flat_string(payload, PTE_STRING_VAL); return WICK_OK;
    default:
        return wick_fail(err, WICK_INVALID_TYPE, "value %u of constant method %.*s is no number or text", i, (int)WICK_MIN(name.size, 64), name.data);
    }
}

/* ---- named data ---- */

static wick_status entry_of(const struct wick_program *program, const struct wick_blob_key *key, struct wick_ptd_entry *entry, wick_error *err)
{
    return wick_ptd_entry_at(&program->data_files[key->file].file, key->entry, entry, err);
}

wick_status wick_program_named_data(const struct wick_program *program, struct wick_str key, const uint8_t **data, size_t *size, wick_error *err)
{
    const struct wick_blob_key *found = find_key(program->own_keys, program->own_key_count, key);
    struct wick_pte_blob blob;
    struct wick_ptd_entry entry;
    if (found) {
        struct flat_table named = flat_vec_table(flat_vector(program->file.program, PTE_PROGRAM_NAMED_DATA), found->entry);
        WICK_TRY(wick_pte_segment(&program->file, flat_u32(named, PTE_NAMED_DATA_SEGMENT_INDEX, 0), &blob, err));
    } else {
        found = find_key(program->data_keys, program->data_key_count, key);
        if (!found)
            return wick_fail(err, WICK_NOT_FOUND, "no named data with key %.*s in the program%s", (int)WICK_MIN(key.size, 100), key.data,
                             program->data_file_count ? " and its data files" : "");
        WICK_TRY(entry_of(program, found, &entry, err));
        blob = entry.blob;
    }
    *data = blob.data;
    *size = blob.size;
    return WICK_OK;
}

wick_status wick_program_external(const struct wick_program *program, struct wick_str name, const struct wick_shape *shape, const uint8_t **data,
                                  wick_error *err)
{
    const struct wick_blob_key *found = find_key(program->data_keys, program->data_key_count, name);
    struct wick_ptd_entry entry;
    char is[128], wants[128];
    int length = (int)WICK_MIN(name.size, 100);
    if (!found && program->data_file_count == 0)
        return wick_fail(err, WICK_INVALID_STATE, "external tensor %.*s: the program needs a data file (.ptd)", length, name.data);
    if (!found) return wick_fail(err, WICK_NOT_FOUND, "external tensor %.*s: not in the data files", length, name.data);
    WICK_TRY(entry_of(program, found, &entry, err));
    if (!entry.has_layout)
        return wick_fail(err, WICK_INVALID_EXTERNAL_DATA, "external tensor %.*s: the data file gives no layout", length, name.data);
    if (entry.shape.dtype != shape->dtype || !wick_shape_same_sizes(&entry.shape, shape) ||
        memcmp(entry.shape.dim_order, shape->dim_order, shape->rank) != 0) {
        wick_shape_text(&entry.shape, is);
        wick_shape_text(shape, wants);
        return wick_fail(err, WICK_INVALID_EXTERNAL_DATA, "external tensor %.*s: is %s in the data file, %s in the program", length, name.data, is,
                         wants);
    }
    *data = entry.blob.data;
    return WICK_OK;
}

static bool release_within(const struct wick_map *map, const uint8_t *data, size_t size)
{
    if (!map->data || data < map->data || !wick_range_ok((uint64_t)(data - map->data), size, map->size)) return false;
    wick_map_release_range(map, (size_t)(data - map->data), size);
    return true;
}

void wick_program_release(const struct wick_program *program, const uint8_t *data, size_t size)
{
    bool done = release_within(&program->map, data, size);
    for (uint32_t i = 0; i < program->data_file_count && !done; i++) done = release_within(&program->data_files[i].map, data, size);
}
