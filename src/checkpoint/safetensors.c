/* checkpoint/safetensors.c - owns the safetensors format: 8 bytes of header length, a JSON header, then tensor data. The
 * rules are the reference implementation's: data ranges follow each other without holes or overlaps up to the file's end.
 * Tensors go into the table (table.c). */
#include "checkpoint/format.h"
#include "checkpoint/limits.h"

#include "base/checked.h"
#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>

enum { LENGTH_BYTES = 8 };

static const struct {
    const char *name;
    enum wick_ckpt_storage storage;
} dtypes[] = {
    {"F32", WICK_CKPT_F32}, {"F16", WICK_CKPT_F16}, {"BF16", WICK_CKPT_BF16}, {"F64", WICK_CKPT_F64}, {"I64", WICK_CKPT_I64},
    {"I32", WICK_CKPT_I32}, {"I16", WICK_CKPT_I16}, {"I8", WICK_CKPT_I8}, {"U64", WICK_CKPT_U64}, {"U32", WICK_CKPT_U32},
    {"U16", WICK_CKPT_U16}, {"U8", WICK_CKPT_U8}, {"BOOL", WICK_CKPT_BOOL}, {"F8_E4M3", WICK_CKPT_F8_E4M3},
    {"F8_E5M2", WICK_CKPT_F8_E5M2},
};

/* Bytes [begin, end) of the data section that a tensor says are its own. */
struct range {
    uint64_t begin, end;
    const char *name;
};

struct reader {
    struct wick_checkpoint *ckpt;
    uint32_t file;
    const uint8_t *data; /* the section behind the header */
    uint64_t size;
    struct range *ranges;
    size_t count;
    wick_error *err;
};

static wick_status bad(const struct reader *r, const char *name, const char *why)
{
    return wick_fail(r->err, WICK_INVALID_CHECKPOINT, "safetensors header: tensor '%.200s': %s", name, why);
}

static wick_status read_shape(const struct reader *r, const char *name, const json_t *entry, struct wick_ckpt_tensor *tensor)
{
    const char *word = json_string_value(json_object_get(entry, "dtype"));
    const json_t *shape = json_object_get(entry, "shape");
    if (!word) return bad(r, name, "'dtype' is no string");
    int storage = -1;
    for (size_t i = 0; i < WICK_ARRAY_SIZE(dtypes); i++)
        if (strcmp(word, dtypes[i].name) == 0) storage = (int)dtypes[i].storage;
    if (storage < 0) return wick_fail(r->err, WICK_NOT_SUPPORTED, "safetensors header: tensor '%.200s': dtype '%.40s' is not read", name, word);
    if (!json_is_array(shape)) return bad(r, name, "'shape' is no array");
    size_t rank = json_array_size(shape);
    int64_t sizes[WICK_RANK_MAX];
    if (rank > WICK_RANK_MAX) return bad(r, name, "more than 16 dims");
    for (size_t i = 0; i < rank; i++) {
        if (!json_is_integer(json_array_get(shape, i))) return bad(r, name, "'shape' holds what is no integer");
        sizes[i] = json_integer_value(json_array_get(shape, i));
    }
    char what[256];
    snprintf(what, sizeof what, "safetensors header: tensor '%.200s'", name);
    return wick_ckpt_shape_set(tensor, (enum wick_ckpt_storage)storage, rank, sizes, what, r->err);
}

static wick_status read_tensor(struct reader *r, const char *name, const json_t *entry)
{
    if (!json_is_object(entry)) return bad(r, name, "is no object");
    struct wick_ckpt_tensor tensor = {.file = r->file};
    WICK_TRY(read_shape(r, name, entry, &tensor));
    const json_t *offsets = json_object_get(entry, "data_offsets"), *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(begin) || !json_is_integer(end) || json_integer_value(begin) < 0 ||
        json_integer_value(end) < json_integer_value(begin))
        return bad(r, name, "'data_offsets' is no pair of rising integers");
    struct range range = {(uint64_t)json_integer_value(begin), (uint64_t)json_integer_value(end), name};
    if (range.end > r->size)
        return wick_fail(r->err, WICK_INVALID_CHECKPOINT,
                         "safetensors header: tensor '%.200s': data offset %llu is beyond the %llu bytes of data: the file is truncated",
                         name, (unsigned long long)range.end, (unsigned long long)r->size);
    if (range.end - range.begin != tensor.nbytes)
        return wick_fail(r->err, WICK_INVALID_CHECKPOINT, "safetensors header: tensor '%.200s': data_offsets span %llu bytes, its shape needs %zu",
                         name, (unsigned long long)(range.end - range.begin), tensor.nbytes);
    if (tensor.nbytes > 0) tensor.data = r->data + range.begin;
    r->ranges[r->count++] = range;
    return wick_ckpt_add_tensor(r->ckpt, wick_str_of(name), &tensor, r->err);
}

static wick_status read_metadata(struct reader *r, const json_t *metadata)
{
    const char *key;
    json_t *value;
    if (!json_is_object(metadata)) return wick_fail(r->err, WICK_INVALID_CHECKPOINT, "safetensors header: __metadata__ is no object");
    json_object_foreach((json_t *)metadata, key, value) {
        if (!json_is_string(value)) return wick_fail(r->err, WICK_INVALID_CHECKPOINT, "safetensors header: __metadata__: '%.200s' is no string", key);
        size_t size = json_string_length(value);
        char *copy = wick_arena_copy(&r->ckpt->arena, json_string_value(value), size);
        if (!copy) return wick_fail_oom(r->err, size, "metadata");
        struct wick_meta meta = {.type = WICK_META_STR, .value.str = {copy, size}};
        /* Shards repeat each other's metadata; the first one stands. */
        if (r->file <= 1) WICK_TRY(wick_ckpt_add_meta(r->ckpt, wick_str_of(key), &meta, r->err));
    }
    return WICK_OK;
}

static int by_begin(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* The ranges must tile the data section. */
static wick_status check_tiling(const struct reader *r)
{
    uint64_t at = 0;
    qsort(r->ranges, r->count, sizeof *r->ranges, by_begin);
    for (size_t i = 0; i < r->count; i++) {
        const struct range *range = &r->ranges[i];
        if (range->begin < at) return bad(r, range->name, "its data overlaps another tensor's");
        if (range->begin > at) return bad(r, range->name, "a hole in the data is before it");
        at = range->end;
    }
    if (at == r->size) return WICK_OK;
    return wick_fail(r->err, WICK_INVALID_CHECKPOINT, "safetensors: %llu bytes of data follow the last tensor", (unsigned long long)(r->size - at));
}

static wick_status read_header(struct reader *r, const json_t *header, struct wick_arena *scratch)
{
    const char *key;
    json_t *value;
    if (!json_is_object(header)) return wick_fail(r->err, WICK_INVALID_CHECKPOINT, "safetensors header is no object");
    r->ranges = WICK_NEW_ARRAY(scratch, struct range, json_object_size(header));
    if (!r->ranges) return wick_fail_oom(r->err, json_object_size(header) * sizeof *r->ranges, "safetensors header");
    json_object_foreach((json_t *)header, key, value) {
        if (strcmp(key, "__metadata__") == 0) WICK_TRY(read_metadata(r, value));
        else WICK_TRY(read_tensor(r, key, value));
    }
    return check_tiling(r);
}

/* The header's length comes first, so its upper bytes tell it from JSON text, which an index of shards is. */
bool wick_ckpt_safetensors_probe(const uint8_t *data, size_t size)
{
    if (size <= LENGTH_BYTES || data[LENGTH_BYTES] != '{') return false;
    for (size_t i = 0; i < LENGTH_BYTES; i++)
        if (data[i] < '\t' || data[i] >= 0x80) return true;
    return false;
}

wick_status wick_ckpt_safetensors_open(struct wick_checkpoint *ckpt, uint32_t file, wick_error *err)
{
    const struct wick_map map = ckpt->files[file].map;
    uint64_t length = wick_ckpt_u64(map.data);
    if (length > WICK_CKPT_HEADER_MAX)
        return wick_fail(err, WICK_INVALID_CHECKPOINT, "safetensors: header of %llu bytes is larger than %u", (unsigned long long)length,
                         WICK_CKPT_HEADER_MAX);
    if (length > map.size - LENGTH_BYTES)
        return wick_fail(err, WICK_INVALID_CHECKPOINT, "safetensors: header of %llu bytes does not fit the file of %zu: the file is truncated",
                         (unsigned long long)length, map.size);
    struct reader r = {.ckpt = ckpt, .file = file, .err = err};
    r.data = map.data + LENGTH_BYTES + length;
    r.size = map.size - LENGTH_BYTES - length;
    const char *text = (const char *)map.data + LENGTH_BYTES;
    const void *nul = memchr(text, 0, (size_t)length);
    if (nul)
        return wick_fail(err, WICK_INVALID_CHECKPOINT, "safetensors: offset %zu: NUL byte in the header (padding must be spaces)",
                         (size_t)((const uint8_t *)nul - map.data));
    json_t *header;
    WICK_TRY(wick_json_parse(&header, text, (size_t)length, "safetensors header", WICK_INVALID_CHECKPOINT, err));
    struct wick_arena scratch;
    wick_arena_init(&scratch, ckpt->arena.source);
    wick_status status = read_header(&r, header, &scratch);
    wick_arena_release(&scratch);
    json_decref(header);
    return status;
}
