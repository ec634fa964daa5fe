/* ops/copy/cast.c - conversions of element types. Frequent pairs have a loop of their own; the others pass through a
 * block of int64 (from integers) or double (from floats), both of which hold every value of their kind. */
#include "ops/copy/cast.h"

#include "ops/copy/strided.h"
#include "tensor/half.h"

enum { BLOCK = 128 };

/* X(NAME, C type). */
#define INTEGERS(X)  \
    X(U8, uint8_t)   \
    X(I8, int8_t)    \
    X(I16, int16_t)  \
    X(I32, int32_t)  \
    X(I64, int64_t)  \
    X(U16, uint16_t) \
    X(U32, uint32_t) \
    X(U64, uint64_t) \
    X(BITS16, uint16_t)

bool wick_cast_known(int dtype)
{
    switch (dtype) {
#define KNOWN(name, type) case WICK_DTYPE_##name:
        INTEGERS(KNOWN)
#undef KNOWN
    case WICK_DTYPE_F16:
    case WICK_DTYPE_BF16:
    case WICK_DTYPE_F32:
    case WICK_DTYPE_F64:
    case WICK_DTYPE_BOOL: return true;
    default: return false;
    }
}

wick_status wick_cast_check(int to, int from, wick_error *err)
{
    if (to == from || (wick_cast_known(to) && wick_cast_known(from))) return WICK_OK;
    return wick_fail(err, WICK_INVALID_TYPE, "no conversion from %s to %s", wick_dtype_name(from), wick_dtype_name(to));
}

static int64_t truncate_double(double value) { return value >= -0x1p63 && value < 0x1p63 ? (int64_t)value : INT64_MIN; }

static void load_ints(int64_t *block, const void *in, int dtype, size_t n)
{
    switch (dtype) {
#define LOAD(name, type)                                                          \
    case WICK_DTYPE_##name:                                                       \
        for (size_t i = 0; i < n; i++) block[i] = (int64_t)((const type *)in)[i]; \
        break;
        INTEGERS(LOAD)
#undef LOAD
    default:
        for (size_t i = 0; i < n; i++) block[i] = ((const uint8_t *)in)[i] != 0;
        break;
    }
}

static void load_doubles(double *block, const void *in, int dtype, size_t n)
{
    switch (dtype) {
    case WICK_DTYPE_F32:
        for (size_t i = 0; i < n; i++) block[i] = (double)((const float *)in)[i];
        break;
    case WICK_DTYPE_F16:
        for (size_t i = 0; i < n; i++) block[i] = (double)wick_f32_from_f16(((const uint16_t *)in)[i]);
        break;
    case WICK_DTYPE_BF16:
        for (size_t i = 0; i < n; i++) block[i] = (double)wick_f32_from_bf16(((const uint16_t *)in)[i]);
        break;
    default: memcpy(block, in, n * sizeof *block); break;
    }
}

static void store_ints(void *out, int dtype, const int64_t *block, size_t n)
{
    switch (dtype) {
#define STORE(name, type)                                                           \
    case WICK_DTYPE_##name:                                                         \
        for (size_t i = 0; i < n; i++) ((type *)out)[i] = (type)(uint64_t)block[i]; \
        break;
        INTEGERS(STORE)
#undef STORE
    case WICK_DTYPE_F32:
        for (size_t i = 0; i < n; i++) ((float *)out)[i] = (float)block[i];
        break;
    case WICK_DTYPE_F16:
        for (size_t i = 0; i < n; i++) ((uint16_t *)out)[i] = wick_f16_from_f32((float)block[i]);
        break;
    case WICK_DTYPE_BF16:
        for (size_t i = 0; i < n; i++) ((uint16_t *)out)[i] = wick_bf16_from_f32((float)block[i]);
        break;
    case WICK_DTYPE_F64:
        for (size_t i = 0; i < n; i++) ((double *)out)[i] = (double)block[i];
        break;
    default:
        for (size_t i = 0; i < n; i++) ((uint8_t *)out)[i] = block[i] != 0;
        break;
    }
}

static void store_doubles(void *out, int dtype, const double *block, size_t n)
{
    switch (dtype) {
#define STORE(name, type)                                                                            \
    case WICK_DTYPE_##name:                                                                          \
        for (size_t i = 0; i < n; i++) ((type *)out)[i] = (type)(uint64_t)truncate_double(block[i]); \
        break;
        INTEGERS(STORE)
#undef STORE
    case WICK_DTYPE_F32:
        for (size_t i = 0; i < n; i++) ((float *)out)[i] = (float)block[i];
        break;
    case WICK_DTYPE_F16:
        for (size_t i = 0; i < n; i++) ((uint16_t *)out)[i] = wick_f16_from_f32((float)block[i]);
        break;
    case WICK_DTYPE_BF16:
        for (size_t i = 0; i < n; i++) ((uint16_t *)out)[i] = wick_bf16_from_f32((float)block[i]);
        break;
    case WICK_DTYPE_F64: memcpy(out, block, n * sizeof *block); break;
    default:
        for (size_t i = 0; i < n; i++) ((uint8_t *)out)[i] = block[i] != 0;
        break;
    }
}

/* The pairs that language models convert. False if it is none of them. */
static bool cast_frequent(void *out, int out_dtype, const void *in, int in_dtype, size_t n)
{
    if (in_dtype == WICK_DTYPE_F32 && out_dtype == WICK_DTYPE_BF16) {
        for (size_t i = 0; i < n; i++) ((uint16_t *)out)[i] = wick_bf16_from_f32(((const float *)in)[i]);
    } else if (in_dtype == WICK_DTYPE_BF16 && out_dtype == WICK_DTYPE_F32) {
        for (size_t i = 0; i < n; i++) ((float *)out)[i] = wick_f32_from_bf16(((const uint16_t *)in)[i]);
    } else if (in_dtype == WICK_DTYPE_F32 && out_dtype == WICK_DTYPE_F16) {
        for (size_t i = 0; i < n; i++) ((uint16_t *)out)[i] = wick_f16_from_f32(((const float *)in)[i]);
    } else if (in_dtype == WICK_DTYPE_F16 && out_dtype == WICK_DTYPE_F32) {
        for (size_t i = 0; i < n; i++) ((float *)out)[i] = wick_f32_from_f16(((const uint16_t *)in)[i]);
    } else if (in_dtype == WICK_DTYPE_F64 && out_dtype == WICK_DTYPE_F32) {
        for (size_t i = 0; i < n; i++) ((float *)out)[i] = (float)((const double *)in)[i];
    } else if (in_dtype == WICK_DTYPE_I64 && out_dtype == WICK_DTYPE_I8) {
        for (size_t i = 0; i < n; i++) ((int8_t *)out)[i] = (int8_t)((const int64_t *)in)[i];
    } else {
        return false;
    }
    return true;
}

void wick_cast(void *out, int out_dtype, const void *in, int in_dtype, size_t n)
{
    size_t to = wick_dtype_size(out_dtype), from = wick_dtype_size(in_dtype);
    if (out_dtype == in_dtype) {
        if (out != in && n > 0) memcpy(out, in, n * to);
        return;
    }
    if (cast_frequent(out, out_dtype, in, in_dtype, n)) return;
    bool floating = wick_dtype_is_float(in_dtype);
    for (size_t i = 0; i < n; i += BLOCK) {
        union {
            int64_t ints[BLOCK];
            double doubles[BLOCK];
        } block;
        size_t count = WICK_MIN(n - i, (size_t)BLOCK);
        if (floating) {
            load_doubles(block.doubles, (const char *)in + i * from, in_dtype, count);
            store_doubles((char *)out + i * to, out_dtype, block.doubles, count);
        } else {
            load_ints(block.ints, (const char *)in + i * from, in_dtype, count);
            store_ints((char *)out + i * to, out_dtype, block.ints, count);
        }
    }
}

/* One row through small adjacent buffers where a side is not adjacent. */
static void cast_row(void *out, int out_dtype, int64_t out_stride, const void *in, int in_dtype, int64_t in_stride, int64_t n)
{
    size_t to = wick_dtype_size(out_dtype), from = wick_dtype_size(in_dtype);
    if (out_stride == 1 && in_stride == 1) {
        wick_cast(out, out_dtype, in, in_dtype, (size_t)n);
        return;
    }
    const int64_t one = 1;
    for (int64_t i = 0; i < n; i += BLOCK) {
        _Alignas(16) char gathered[BLOCK * 16], converted[BLOCK * 16];
        int32_t count = (int32_t)WICK_MIN(n - i, BLOCK);
        wick_strided_copy(gathered, &one, (const char *)in + i * in_stride * (int64_t)from, &in_stride, &count, 1, from);
        wick_cast(converted, out_dtype, gathered, in_dtype, (size_t)count);
        wick_strided_copy((char *)out + i * out_stride * (int64_t)to, &out_stride, converted, &one, &count, 1, to);
    }
}

void wick_strided_cast(void *out, int out_dtype, const int64_t *out_strides, const void *in, int in_dtype, const int64_t *in_strides,
                       const int32_t *sizes, int rank)
{
    if (out_dtype == in_dtype) {
        wick_strided_copy(out, out_strides, in, in_strides, sizes, rank, wick_dtype_size(out_dtype));
        return;
    }
    /* Dims of size 1 at the end would make rows of one element; adjacent dims that merge make longer ones. */
    int64_t n[WICK_VIEW_RANK], to[WICK_VIEW_RANK], from[WICK_VIEW_RANK], index[WICK_VIEW_RANK] = {0};
    int dims = 0;
    for (int i = 0; i < rank; i++) {
        if (sizes[i] == 0) return;
        if (sizes[i] == 1) continue;
        if (dims > 0 && to[dims - 1] == out_strides[i] * sizes[i] && from[dims - 1] == in_strides[i] * sizes[i]) n[--dims] *= sizes[i];
        else n[dims] = sizes[i];
        to[dims] = out_strides[i];
        from[dims++] = in_strides[i];
    }
    if (dims == 0) n[0] = to[0] = from[0] = dims = 1;
    int64_t to_width = (int64_t)wick_dtype_size(out_dtype), from_width = (int64_t)wick_dtype_size(in_dtype);
    for (;;) {
        cast_row(out, out_dtype, to[dims - 1], in, in_dtype, from[dims - 1], n[dims - 1]);
        int d = dims - 2;
        for (; d >= 0; d--) {
            out = (char *)out + to[d] * to_width;
            in = (const char *)in + from[d] * from_width;
            if (++index[d] < n[d]) break;
            out = (char *)out - to[d] * n[d] * to_width;
            in = (const char *)in - from[d] * n[d] * from_width;
            index[d] = 0;
        }
        if (d < 0) return;
    }
}

double wick_element_double(const void *data, int dtype, size_t index)
{
    const char *element = (const char *)data + index * wick_dtype_size(dtype);
    if (wick_dtype_is_float(dtype)) {
        double value;
        load_doubles(&value, element, dtype, 1);
        return value;
    }
    return (double)wick_element_int(data, dtype, index);
}

int64_t wick_element_int(const void *data, int dtype, size_t index)
{
    const char *element = (const char *)data + index * wick_dtype_size(dtype);
    if (wick_dtype_is_float(dtype)) return truncate_double(wick_element_double(data, dtype, index));
    int64_t value;
    load_ints(&value, element, dtype, 1);
    return value;
}

wick_status wick_scalar_element(const struct wick_value *value, int dtype, void *element, wick_error *err)
{
    bool floating = value->tag == WICK_TAG_DOUBLE;
    WICK_TRY(wick_cast_check(dtype, floating ? WICK_DTYPE_F64 : WICK_DTYPE_I64, err));
    int64_t whole = floating ? 0 : value->tag == WICK_TAG_INT ? value->as.i : value->as.b;
    wick_cast(element, dtype, floating ? (const void *)&value->as.d : &whole, floating ? WICK_DTYPE_F64 : WICK_DTYPE_I64, 1);
    return WICK_OK;
}
