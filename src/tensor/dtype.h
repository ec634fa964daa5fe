/* tensor/dtype.h - element types. Numbers are ExecuTorch's ScalarType (= torch's ids). */
#ifndef WICK_TENSOR_DTYPE_H
#define WICK_TENSOR_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(NAME, id, bytes, text as in the schema, short name as on the command line) */
#define WICK_DTYPE_LIST(X)                                                                         \
    X(U8, 0, 1, "BYTE", "u8")                                                                      \
    X(I8, 1, 1, "CHAR", "i8")                                                                      \
    X(I16, 2, 2, "SHORT", "i16")                                                                   \
    X(I32, 3, 4, "INT", "i32")                                                                     \
    X(I64, 4, 8, "LONG", "i64")                                                                    \
    X(F16, 5, 2, "HALF", "f16")                                                                    \
    X(F32, 6, 4, "FLOAT", "f32")                                                                   \
    X(F64, 7, 8, "DOUBLE", "f64")                                                                  \
    X(C32, 8, 4, "COMPLEXHALF", "c32")                                                             \
    X(C64, 9, 8, "COMPLEXFLOAT", "c64")                                                            \
    X(C128, 10, 16, "COMPLEXDOUBLE", "c128")                                                       \
    X(BOOL, 11, 1, "BOOL", "bool")                                                                 \
    X(QI8, 12, 1, "QINT8", "qi8")                                                                  \
    X(QU8, 13, 1, "QUINT8", "qu8")                                                                 \
    X(QI32, 14, 4, "QINT32", "qi32")                                                               \
    X(BF16, 15, 2, "BFLOAT16", "bf16")                                                             \
    X(QU4X2, 16, 1, "QUINT4X2", "qu4x2")                                                           \
    X(QU2X4, 17, 1, "QUINT2X4", "qu2x4")                                                           \
    X(BITS1X8, 18, 1, "BITS1X8", "bits1x8")                                                        \
    X(BITS2X4, 19, 1, "BITS2X4", "bits2x4")                                                        \
    X(BITS4X2, 20, 1, "BITS4X2", "bits4x2")                                                        \
    X(BITS8, 21, 1, "BITS8", "bits8")                                                              \
    X(BITS16, 22, 2, "BITS16", "bits16")                                                           \
    X(F8E5M2, 23, 1, "FLOAT8E5M2", "f8e5m2")                                                       \
    X(F8E4M3FN, 24, 1, "FLOAT8E4M3FN", "f8e4m3fn")                                                 \
    X(F8E5M2FNUZ, 25, 1, "FLOAT8E5M2FNUZ", "f8e5m2fnuz")                                           \
    X(F8E4M3FNUZ, 26, 1, "FLOAT8E4M3FNUZ", "f8e4m3fnuz")                                           \
    X(U16, 27, 2, "UINT16", "u16")                                                                 \
    X(U32, 28, 4, "UINT32", "u32")                                                                 \
    X(U64, 29, 8, "UINT64", "u64")

enum wick_dtype {
#define WICK_DTYPE_ENUM(name, id, bytes, text, word) WICK_DTYPE_##name = id,
    WICK_DTYPE_LIST(WICK_DTYPE_ENUM)
#undef WICK_DTYPE_ENUM
    WICK_DTYPE_COUNT
};

/* Bytes of one element; 0 for a number that is no type. */
size_t wick_dtype_size(int dtype);
const char *wick_dtype_name(int dtype); /* "FLOAT"; "?" for a number that is none */
const char *wick_dtype_word(int dtype); /* "f32" */
/* By short name; -1 if there is none. */
int wick_dtype_by_word(const char *word);

static inline bool wick_dtype_is_float(int dtype)
{
    return dtype == WICK_DTYPE_F32 || dtype == WICK_DTYPE_F64 || dtype == WICK_DTYPE_F16 || dtype == WICK_DTYPE_BF16;
}

#endif
