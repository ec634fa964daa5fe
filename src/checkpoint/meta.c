/* checkpoint/meta.c - owns typed access to metadata. Formats put values in through table.c; the exporter takes its
 * hyper-parameters and the tokenizer's vocabulary out here. */
#include "checkpoint/table.h"

#include "tensor/half.h"

const char *wick_meta_type_name(enum wick_meta_type type)
{
    static const char *const names[WICK_META_TYPE_COUNT] = {
        "u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "string", "array", "u64", "i64", "f64",
    };
    return names[type];
}

size_t wick_checkpoint_meta_count(const struct wick_checkpoint *ckpt) { return ckpt->meta_count; }
const struct wick_meta *wick_checkpoint_meta(const struct wick_checkpoint *ckpt, size_t i) { return &ckpt->metas[i]; }

static bool is_kind(enum wick_meta_type type, enum wick_meta_kind kind)
{
    switch (type) {
    case WICK_META_F32:
    case WICK_META_F64: return kind == WICK_META_FLOATS;
    case WICK_META_BOOL: return kind == WICK_META_BOOLS;
    case WICK_META_STR: return kind == WICK_META_STRS;
    case WICK_META_ARRAY: return false;
    default: return kind == WICK_META_INTS;
    }
}

static const char *kind_name(enum wick_meta_kind kind)
{
    static const char *const names[] = {"integer", "float", "bool", "string"};
    return names[kind];
}

static wick_status fetch(const struct wick_checkpoint *ckpt, const char *key, const struct wick_meta **out, wick_error *err)
{
    *out = wick_ckpt_find_meta(ckpt, key);
    if (*out) return WICK_OK;
    return wick_fail(err, WICK_NOT_FOUND, "%.200s: no metadata key '%.100s'", ckpt->files[0].path, key);
}

static wick_status fetch_kind(const struct wick_checkpoint *ckpt, const char *key, enum wick_meta_kind kind, const struct wick_meta **out,
                              wick_error *err)
{
    WICK_TRY(fetch(ckpt, key, out, err));
    if (is_kind((*out)->type, kind)) return WICK_OK;
    return wick_fail(err, WICK_INVALID_TYPE, "%.200s: metadata '%.100s' is %s, not %s", ckpt->files[0].path, key, wick_meta_type_name((*out)->type),
                     kind_name(kind));
}

wick_status wick_checkpoint_meta_int(const struct wick_checkpoint *ckpt, const char *key, int64_t *out, wick_error *err)
{
    const struct wick_meta *meta;
    WICK_TRY(fetch_kind(ckpt, key, WICK_META_INTS, &meta, err));
    if (meta->type == WICK_META_U64 && meta->value.bits > INT64_MAX)
        return wick_fail(err, WICK_INVALID_TYPE, "%.200s: metadata '%.100s' = %llu is out of range", ckpt->files[0].path, key,
                         (unsigned long long)meta->value.bits);
    *out = (int64_t)meta->value.bits;
    return WICK_OK;
}

wick_status wick_checkpoint_meta_float(const struct wick_checkpoint *ckpt, const char *key, double *out, wick_error *err)
{
    const struct wick_meta *meta;
    WICK_TRY(fetch_kind(ckpt, key, WICK_META_FLOATS, &meta, err));
    *out = meta->value.real;
    return WICK_OK;
}

wick_status wick_checkpoint_meta_bool(const struct wick_checkpoint *ckpt, const char *key, bool *out, wick_error *err)
{
    const struct wick_meta *meta;
    WICK_TRY(fetch_kind(ckpt, key, WICK_META_BOOLS, &meta, err));
    *out = meta->value.bits != 0;
    return WICK_OK;
}

wick_status wick_checkpoint_meta_str(const struct wick_checkpoint *ckpt, const char *key, struct wick_str *out, wick_error *err)
{
    const struct wick_meta *meta;
    WICK_TRY(fetch_kind(ckpt, key, WICK_META_STRS, &meta, err));
    *out = meta->value.str;
    return WICK_OK;
}

wick_status wick_checkpoint_meta_array(const struct wick_checkpoint *ckpt, const char *key, enum wick_meta_kind kind, struct wick_meta_array *out,
                                       wick_error *err)
{
    const struct wick_meta *meta;
    WICK_TRY(fetch(ckpt, key, &meta, err));
    bool array = meta->type == WICK_META_ARRAY;
    if (!array || !is_kind(meta->value.array.type, kind))
        return wick_fail(err, WICK_INVALID_TYPE, "%.200s: metadata '%.100s' is %s%s, not an array of type %s", ckpt->files[0].path, key,
                         array ? "an array of type " : "", wick_meta_type_name(array ? meta->value.array.type : meta->type), kind_name(kind));
    *out = meta->value.array;
    return WICK_OK;
}

int64_t wick_meta_array_int(const struct wick_meta_array *array, size_t i)
{
    const uint8_t *p = array->numbers;
    switch (array->type) {
    case WICK_META_U8: return p[i];
    case WICK_META_I8: return (int8_t)p[i];
    case WICK_META_U16: return wick_ckpt_u16(p + 2 * i);
    case WICK_META_I16: return (int16_t)wick_ckpt_u16(p + 2 * i);
    case WICK_META_U32: return wick_ckpt_u32(p + 4 * i);
    case WICK_META_I32: return (int32_t)wick_ckpt_u32(p + 4 * i);
    case WICK_META_U64: return (int64_t)WICK_MIN(wick_ckpt_u64(p + 8 * i), (uint64_t)INT64_MAX);
    case WICK_META_I64: return (int64_t)wick_ckpt_u64(p + 8 * i);
    default: return 0;
    }
}

double wick_meta_array_float(const struct wick_meta_array *array, size_t i)
{
    if (array->type == WICK_META_F32) return (double)wick_f32_from_bits(wick_ckpt_u32(array->numbers + 4 * i));
    if (array->type != WICK_META_F64) return 0;
    uint64_t bits = wick_ckpt_u64(array->numbers + 8 * i);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

bool wick_meta_array_bool(const struct wick_meta_array *array, size_t i) { return array->type == WICK_META_BOOL && array->numbers[i] != 0; }

struct wick_str wick_meta_array_str(const struct wick_meta_array *array, size_t i)
{
    return array->type == WICK_META_STR ? array->strings[i] : (struct wick_str){"", 0};
}
