/* ops/element.c - loads and stores for every pair of tensor type and compute type; see element.h. */
#include "ops/element.h"

#include "tensor/half.h"

#define SAME(x) (x)
#define TRUTH(x) ((x) != 0)

/* Float to integer without undefined behaviour; what x86 gives for values that do not fit. */
static inline int64_t to_i64(double value) { return value >= -0x1p63 && value < 0x1p63 ? (int64_t)value : INT64_MIN; }
static inline int32_t to_i32(double value) { return value > -0x1p31 - 1 && value < 0x1p31 ? (int32_t)value : INT32_MIN; }

static inline uint16_t f16_of(double value) { return wick_f16_from_f32((float)value); }
static inline uint16_t bf16_of(double value) { return wick_bf16_from_f32((float)value); }

/* X(NAME, word, element, load, store from a float, store from i64) */
#define ELEMENTS(X)                                          \
    X(U8, u8, uint8_t, SAME, (uint8_t)to_i64, (uint8_t))     \
    X(I8, i8, int8_t, SAME, (int8_t)to_i64, (int8_t))        \
    X(I16, i16, int16_t, SAME, (int16_t)to_i64, (int16_t))   \
    X(I32, i32, int32_t, SAME, to_i32, (int32_t))            \
    X(I64, i64, int64_t, SAME, to_i64, SAME)                 \
    X(F16, f16, uint16_t, wick_f32_from_f16, f16_of, f16_of) \
    X(F32, f32, float, SAME, (float), (float))               \
    X(F64, f64, double, SAME, (double), (double))            \
    X(BOOL, b8, uint8_t, TRUTH, TRUTH, TRUTH)                \
    X(BF16, bf16, uint16_t, wick_f32_from_bf16, bf16_of, bf16_of)

#define LOAD(word, element, get, to_word, type, convert)                                      \
    static void load_##word##_##to_word(void *to, const void *from, int64_t stride, size_t n) \
    {                                                                                         \
        type *t = to;                                                                         \
        const element *f = from;                                                              \
        for (size_t i = 0; i < n; i++) t[i] = convert(get(f[(int64_t)i * stride]));           \
    }
#define STORE(word, element, put, from_word, type)                                               \
    static void store_##word##_##from_word(void *to, int64_t stride, const void *from, size_t n) \
    {                                                                                            \
        element *t = to;                                                                         \
        const type *f = from;                                                                    \
        for (size_t i = 0; i < n; i++) t[(int64_t)i * stride] = put(f[i]);                       \
    }

#define INT_OF_F16 to_i64
#define INT_OF_BF16 to_i64
#define INT_OF_F32 to_i64
#define INT_OF_F64 to_i64
#define INT_OF_U8 (int64_t)
#define INT_OF_I8 (int64_t)
#define INT_OF_I16 (int64_t)
#define INT_OF_I32 (int64_t)
#define INT_OF_I64 (int64_t)
#define INT_OF_BOOL (int64_t)

#define FUNCTIONS(name, word, element, get, put_float, put_int) \
    LOAD(word, element, get, f32, float, (float))               \
    LOAD(word, element, get, f64, double, (double))             \
    LOAD(word, element, get, i64, int64_t, INT_OF_##name)       \
    STORE(word, element, put_float, f32, float)                 \
    STORE(word, element, put_float, f64, double)                \
    STORE(word, element, put_int, i64, int64_t)

ELEMENTS(FUNCTIONS)

enum wick_compute wick_compute_of(int dtype)
{
    return dtype == WICK_DTYPE_F64 ? WICK_COMPUTE_F64 : wick_dtype_is_float(dtype) ? WICK_COMPUTE_F32 : WICK_COMPUTE_I64;
}

wick_load_fn *wick_loader(int dtype, enum wick_compute compute)
{
#define LOAD_ROW(name, word, element, get, put_float, put_int) [WICK_DTYPE_##name] = {load_##word##_f32, load_##word##_f64, load_##word##_i64},
    static wick_load_fn *const table[WICK_DTYPE_BF16 + 1][WICK_COMPUTE_COUNT] = {ELEMENTS(LOAD_ROW)};
    return dtype >= 0 && dtype <= WICK_DTYPE_BF16 ? table[dtype][compute] : NULL;
}

wick_store_fn *wick_storer(int dtype, enum wick_compute compute)
{
#define STORE_ROW(name, word, element, get, put_float, put_int) [WICK_DTYPE_##name] = {store_##word##_f32, store_##word##_f64, store_##word##_i64},
    static wick_store_fn *const table[WICK_DTYPE_BF16 + 1][WICK_COMPUTE_COUNT] = {ELEMENTS(STORE_ROW)};
    return dtype >= 0 && dtype <= WICK_DTYPE_BF16 ? table[dtype][compute] : NULL;
}

wick_status wick_element_check(const struct wick_tensor *t, const char *what, wick_error *err)
{
    if (wick_dtype_is_arithmetic(t->shape.dtype)) return WICK_OK;
    return wick_fail(err, WICK_INVALID_TYPE, "%s has type %s, which has no arithmetic here", what, wick_dtype_name(t->shape.dtype));
}
