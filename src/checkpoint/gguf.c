/* checkpoint/gguf.c - owns the GGUF format (versions 2 and 3): header, key/value metadata, tensor list, aligned data. Tensors
 * and metadata go into the table (table.c); strings and arrays stay in the mapped file. */
#include "checkpoint/format.h"
#include "checkpoint/limits.h"

#include "base/checked.h"
#include "tensor/half.h"

#include <stdio.h>

enum { ALIGNMENT_DEFAULT = 32, DIMS_MAX = 4, KEY_VALUE_BYTES_MIN = 8 + 1 + 4 + 1, TENSOR_BYTES_MIN = 8 + 1 + 4 + 4 + 8 };

/* ggml's type numbers. Those without a storage are known by name only. */
static const struct {
    const char *name;
    int storage;
} types[] = {
    [0] = {"F32", WICK_CKPT_F32}, [1] = {"F16", WICK_CKPT_F16}, [2] = {"Q4_0", WICK_CKPT_Q4_0}, [3] = {"Q4_1", WICK_CKPT_Q4_1},
    [6] = {"Q5_0", WICK_CKPT_Q5_0}, [7] = {"Q5_1", WICK_CKPT_Q5_1}, [8] = {"Q8_0", WICK_CKPT_Q8_0}, [9] = {"Q8_1", -1},
    [10] = {"Q2_K", WICK_CKPT_Q2_K}, [11] = {"Q3_K", WICK_CKPT_Q3_K}, [12] = {"Q4_K", WICK_CKPT_Q4_K}, [13] = {"Q5_K", WICK_CKPT_Q5_K}, [14] = {"Q6_K", WICK_CKPT_Q6_K},
    [15] = {"Q8_K", WICK_CKPT_Q8_K}, [16] = {"IQ2_XXS", -1}, [17] = {"IQ2_XS", -1}, [18] = {"IQ3_XXS", -1}, [19] = {"IQ1_S", -1}, [20] = {"IQ4_NL", WICK_CKPT_IQ4_NL},
    [21] = {"IQ3_S", -1}, [22] = {"IQ2_S", -1}, [23] = {"IQ4_XS", WICK_CKPT_IQ4_XS}, [24] = {"I8", WICK_CKPT_I8}, [25] = {"I16", WICK_CKPT_I16},
    [26] = {"I32", WICK_CKPT_I32}, [27] = {"I64", WICK_CKPT_I64}, [28] = {"F64", WICK_CKPT_F64}, [29] = {"IQ1_M", -1},
    [30] = {"BF16", WICK_CKPT_BF16}, [34] = {"TQ1_0", WICK_CKPT_TQ1_0}, [35] = {"TQ2_0", WICK_CKPT_TQ2_0}, [39] = {"MXFP4", WICK_CKPT_MXFP4},
};

/* Arrays a tokenizer is made of are parallel and have fixed types. */
enum { TOKENS, TOKEN_TYPES, SCORES, MERGES, TOKENIZER_ARRAYS };
static const struct {
    const char *key;
    enum wick_meta_type type;
} tokenizer_arrays[TOKENIZER_ARRAYS] = {
    [TOKENS] = {"tokenizer.ggml.tokens", WICK_META_STR},
    [TOKEN_TYPES] = {"tokenizer.ggml.token_type", WICK_META_I32},
    [SCORES] = {"tokenizer.ggml.scores", WICK_META_F32},
    [MERGES] = {"tokenizer.ggml.merges", WICK_META_STR},
};

struct reader {
    struct wick_checkpoint *ckpt;
    uint32_t file;
    const uint8_t *data;
    size_t size, at;
    uint64_t alignment;
    size_t array_counts[TOKENIZER_ARRAYS];
    bool array_seen[TOKENIZER_ARRAYS];
    wick_error *err;
};

static wick_status bad(const struct reader *r, size_t at, const char *why)
{
    return wick_fail(r->err, WICK_INVALID_CHECKPOINT, "gguf: offset %zu: %s", at, why);
}

static wick_status take(struct reader *r, uint64_t bytes, const uint8_t **out)
{
    if (bytes > r->size - r->at)
        return wick_fail(r->err, WICK_INVALID_CHECKPOINT, "gguf: offset %zu: %llu bytes wanted, %zu are left", r->at, (unsigned long long)bytes,
                         r->size - r->at);
    *out = r->data + r->at;
    r->at += (size_t)bytes;
    return WICK_OK;
}

static wick_status take_u32(struct reader *r, uint32_t *out)
{
    const uint8_t *p = NULL;
    WICK_TRY(take(r, 4, &p));
    *out = wick_ckpt_u32(p);
    return WICK_OK;
}

static wick_status take_u64(struct reader *r, uint64_t *out)
{
    const uint8_t *p = NULL;
    WICK_TRY(take(r, 8, &p));
    *out = wick_ckpt_u64(p);
    return WICK_OK;
}

static wick_status take_str(struct reader *r, uint64_t limit, struct wick_str *out)
{
    const size_t at = r->at;
    uint64_t size;
    const uint8_t *p = NULL;
    WICK_TRY(take_u64(r, &size));
    if (size > limit)
        return wick_fail(r->err, WICK_INVALID_CHECKPOINT, "gguf: offset %zu: string of %llu bytes is longer than %llu", at, (unsigned long long)size,
                         (unsigned long long)limit);
    WICK_TRY(take(r, size, &p));
    *out = (struct wick_str){(const char *)p, (size_t)size};
    return WICK_OK;
}

/* ---- metadata ---- */

/* Bytes of a scalar type; 0 for strings and arrays. */
static unsigned scalar_bytes(enum wick_meta_type type)
{
    static const uint8_t bytes[WICK_META_TYPE_COUNT] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return bytes[type];
}

static wick_status take_type(struct reader *r, enum wick_meta_type *out)
{
    const size_t at = r->at;
    uint32_t type;
    WICK_TRY(take_u32(r, &type));
    if (type >= WICK_META_TYPE_COUNT) return wick_fail(r->err, WICK_INVALID_CHECKPOINT, "gguf: offset %zu: value type %u is unknown", at, type);
    *out = (enum wick_meta_type)type;
    return WICK_OK;
}

static wick_status take_scalar(struct reader *r, struct wick_meta *meta)
{
    const uint8_t *p = NULL;
    unsigned bytes = scalar_bytes(meta->type);
    WICK_TRY(take(r, bytes, &p));
    struct wick_meta_array one = {.type = meta->type, .count = 1, .numbers = p};
    if (meta->type == WICK_META_F32 || meta->type == WICK_META_F64) meta->value.real = wick_meta_array_float(&one, 0);
    else if (meta->type == WICK_META_U64) meta->value.bits = wick_ckpt_u64(p);
    else if (meta->type == WICK_META_BOOL) meta->value.bits = *p;
    else meta->value.bits = (uint64_t)wick_meta_array_int(&one, 0);
    return meta->type != WICK_META_BOOL || *p <= 1 ? WICK_OK : bad(r, r->at - 1, "bool is neither 0 nor 1");
}

static wick_status take_array(struct reader *r, struct wick_meta_array *array)
{
    const size_t at = r->at;
    uint64_t count, bytes;
    WICK_TRY(take_type(r, &array->type));
    WICK_TRY(take_u64(r, &count));
    if (array->type == WICK_META_ARRAY) return wick_fail(r->err, WICK_NOT_SUPPORTED, "gguf: offset %zu: arrays of arrays are not read", at);
    array->count = (size_t)count;
    if (array->type != WICK_META_STR) {
        if (wick_mul_ovf(count, scalar_bytes(array->type), &bytes)) return bad(r, at, "array is larger than the file");
        return take(r, bytes, &array->numbers);
    }
    if (count > (r->size - r->at) / 8) return bad(r, at, "array of strings is larger than the file");
    struct wick_str *strings = WICK_NEW_ARRAY(&r->ckpt->arena, struct wick_str, array->count);
    if (!strings) return wick_fail_oom(r->err, array->count * sizeof *strings, "gguf: array of strings");
    array->strings = strings;
    for (size_t i = 0; i < array->count; i++) WICK_TRY(take_str(r, WICK_CKPT_STRING_MAX, &strings[i]));
    return WICK_OK;
}

/* Keys that decide how the rest is read. */
static wick_status check_value(struct reader *r, struct wick_str key, const struct wick_meta *meta, size_t at)
{
    if (wick_str_is(key, "general.alignment")) {
        uint64_t alignment = meta->value.bits;
        if (meta->type != WICK_META_U32)
            return wick_fail(r->err, WICK_INVALID_CHECKPOINT, "gguf: offset %zu: general.alignment is %s, not u32", at,
                             wick_meta_type_name(meta->type));
        if (alignment == 0 || (alignment & (alignment - 1)) != 0)
            return wick_fail(r->err, WICK_INVALID_CHECKPOINT, "gguf: offset %zu: general.alignment %llu is no power of two", at,
                             (unsigned long long)alignment);
        r->alignment = alignment;
    }
    for (size_t i = 0; i < TOKENIZER_ARRAYS; i++) {
        if (!wick_str_is(key, tokenizer_arrays[i].key)) continue;
        if (meta->type != WICK_META_ARRAY || meta->value.array.type != tokenizer_arrays[i].type)
            return wick_fail(r->err, WICK_INVALID_CHECKPOINT, "gguf: offset %zu: %s must be an array of type %s", at, tokenizer_arrays[i].key,
                             wick_meta_type_name(tokenizer_arrays[i].type));
        r->array_seen[i] = true;
        r->array_counts[i] = meta->value.array.count;
    }
    return WICK_OK;
}

static wick_status read_key_value(struct reader *r)
{
    const size_t at = r->at;
    struct wick_str key;
    struct wick_meta meta = {0};
    WICK_TRY(take_str(r, WICK_CKPT_NAME_MAX, &key));
    WICK_TRY(take_type(r, &meta.type));
    wick_status status;
    if (meta.type == WICK_META_STR) status = take_str(r, WICK_CKPT_STRING_MAX, &meta.value.str);
    else if (meta.type == WICK_META_ARRAY) status = take_array(r, &meta.value.array);
    else status = take_scalar(r, &meta);
    if (status == WICK_OK) status = check_value(r, key, &meta, at);
    if (status != WICK_OK && wick_ckpt_name_ok(key.data, key.size))
        return wick_fail_in(r->err, status, "metadata '%.*s'", (int)WICK_MIN(key.size, (size_t)100), key.data);
    /* Parts of a split model repeat keys; the first part stands. */
    return status == WICK_OK && r->file == 0 ? wick_ckpt_add_meta(r->ckpt, key, &meta, r->err) : status;
}

static wick_status read_metadata(struct reader *r, uint64_t count)
{
    if (count > WICK_CKPT_METAS_MAX || count > (r->size - r->at) / KEY_VALUE_BYTES_MIN)
        return wick_fail(r->err, WICK_INVALID_CHECKPOINT, "gguf: offset 16: %llu metadata keys are more than the file can hold, or than %u",
                         (unsigned long long)count, WICK_CKPT_METAS_MAX);
    for (uint64_t i = 0; i < count; i++) WICK_TRY(read_key_value(r));
    for (size_t i = TOKEN_TYPES; i <= SCORES; i++)
        if (r->array_seen[i] && r->array_counts[i] != r->array_counts[TOKENS])
            return wick_fail(r->err, WICK_INVALID_CHECKPOINT, "gguf: %s has %zu elements for %zu tokens", tokenizer_arrays[i].key, r->array_counts[i],
                             r->array_counts[TOKENS]);
    return WICK_OK;
}

/* ---- tensors ---- */

/* Describes one tensor; its data still lacks the start of the data section, which is behind the last description. */
static wick_status read_tensor(struct reader *r, uint64_t *end)
{
    const size_t at = r->at;
    struct wick_str name;
    uint32_t rank, type;
    int64_t sizes[DIMS_MAX];
    uint64_t size, offset;
    WICK_TRY(take_str(r, WICK_CKPT_NAME_MAX, &name));
    if (!wick_ckpt_name_ok(name.data, name.size)) return bad(r, at, "name of a tensor is no printable text");
    char what[256];
    snprintf(what, sizeof what, "gguf: offset %zu: tensor '%.*s'", at, (int)WICK_MIN(name.size, (size_t)180), name.data);
    WICK_TRY(take_u32(r, &rank));
    if (rank > DIMS_MAX) return wick_fail(r->err, WICK_INVALID_CHECKPOINT, "%s: %u dims are more than %d", what, rank, DIMS_MAX);
    for (uint32_t i = 0; i < rank; i++) {
        WICK_TRY(take_u64(r, &size));
        sizes[rank - 1 - i] = (int64_t)size; /* innermost first in the file; above INT64_MAX turns negative and is refused */
    }
    WICK_TRY(take_u32(r, &type));
    WICK_TRY(take_u64(r, &offset));
    const char *type_name = type < WICK_ARRAY_SIZE(types) ? types[type].name : NULL;
    if (!type_name) return wick_fail(r->err, WICK_INVALID_CHECKPOINT, "%s: type %u is unknown", what, type);
    if (types[type].storage < 0) return wick_fail(r->err, WICK_NOT_SUPPORTED, "%s: type %s is not read", what, type_name);
    struct wick_ckpt_tensor tensor = {.file = r->file};
    WICK_TRY(wick_ckpt_shape_set(&tensor, (enum wick_ckpt_storage)types[type].storage, rank, sizes, what, r->err));
    if (offset != *end)
        return wick_fail(r->err, WICK_INVALID_CHECKPOINT, "%s: data offset %llu is not %llu, where the tensor before it ends", what,
                         (unsigned long long)offset, (unsigned long long)*end);
    uint64_t padded;
    if (wick_add_ovf(offset, tensor.nbytes, end) || wick_add_ovf(*end, r->alignment - 1, &padded) || *end > r->size)
        return wick_fail(r->err, WICK_INVALID_CHECKPOINT, "%s: its data ends at %llu, beyond the file of %zu bytes", what, (unsigned long long)*end,
                         r->size);
    *end = wick_align_up(*end, r->alignment);
    /* The offset fits the file, so it is a valid distance from its start. */
    tensor.data = r->data + offset;
    return wick_ckpt_add_tensor(r->ckpt, name, &tensor, r->err);
}

static wick_status read_tensors(struct reader *r, uint64_t count)
{
    if (count > (r->size - r->at) / TENSOR_BYTES_MIN)
        return wick_fail(r->err, WICK_INVALID_CHECKPOINT, "gguf: offset 8: %llu tensors are more than the file can hold", (unsigned long long)count);
    const size_t first = r->ckpt->tensor_count;
    uint64_t end = 0;
    for (uint64_t i = 0; i < count; i++) WICK_TRY(read_tensor(r, &end));
    uint64_t begin = wick_align_up(r->at, r->alignment);
    for (size_t i = first; i < r->ckpt->tensor_count; i++) {
        struct wick_ckpt_tensor *tensor = &r->ckpt->tensors[i];
        uint64_t offset = (uint64_t)(tensor->data - r->data);
        if (begin > r->size || !wick_range_ok(offset, tensor->nbytes, r->size - begin))
            return wick_fail(r->err, WICK_INVALID_CHECKPOINT,
                             "gguf: tensor '%.200s': data at %llu of %zu bytes leaves the file of %zu: the file is truncated", tensor->name,
                             (unsigned long long)(begin + offset), tensor->nbytes, r->size);
        tensor->data = tensor->nbytes ? tensor->data + begin : NULL;
    }
    return WICK_OK;
}

bool wick_ckpt_gguf_probe(const uint8_t *data, size_t size) { return size >= 4 && memcmp(data, "GGUF", 4) == 0; }

wick_status wick_ckpt_gguf_open(struct wick_checkpoint *ckpt, uint32_t file, wick_error *err)
{
    const struct wick_map map = ckpt->files[file].map;
    struct reader r = {.ckpt = ckpt, .file = file, .data = map.data, .size = map.size, .at = 4, .alignment = ALIGNMENT_DEFAULT, .err = err};
    uint32_t version;
    uint64_t tensors, keys;
    WICK_TRY(take_u32(&r, &version));
    if (version != 0 && (version & 0xffff) == 0) return wick_fail(err, WICK_NOT_SUPPORTED, "gguf: offset 4: big-endian files are not read");
    if (version != 2 && version != 3) return wick_fail(err, WICK_NOT_SUPPORTED, "gguf: offset 4: version %u is not read, only 2 and 3", version);
    WICK_TRY(take_u64(&r, &tensors));
    WICK_TRY(take_u64(&r, &keys));
    WICK_TRY(read_metadata(&r, keys));
    return read_tensors(&r, tensors);
}
