/* pte/ptd_schema.h - the schema of .ptd tensor files (identifier FT01); see flat/flat.h for the rows. */
#ifndef WICK_PTE_PTD_SCHEMA_H
#define WICK_PTE_PTD_SCHEMA_H

#include "flat/flat.h"
#include "tensor/dtype.h"

/* clang-format off */
#define PTD_TABLES(X, P)                                                                           \
    X##_TABLE(P, ROOT, "FlatTensor")                                                               \
        X##_FIELD(P, ROOT, VERSION, "version", SCALAR, FLAT_U32, 0)                                \
        X##_FIELD(P, ROOT, SEGMENTS, "segments", TABLES, PTD_TABLE_SEGMENT, 0)                     \
        X##_FIELD(P, ROOT, NAMED_DATA, "named_data", TABLES, PTD_TABLE_NAMED_DATA, 0)              \
    X##_END(P, ROOT)                                                                               \
    X##_TABLE(P, SEGMENT, "DataSegment")                                                           \
        X##_FIELD(P, SEGMENT, OFFSET, "offset", SCALAR, FLAT_U64, 0)                               \
        X##_FIELD(P, SEGMENT, SIZE, "size", SCALAR, FLAT_U64, 0)                                   \
    X##_END(P, SEGMENT)                                                                            \
    X##_TABLE(P, NAMED_DATA, "NamedData")                                                          \
        X##_FIELD(P, NAMED_DATA, KEY, "key", STRING, 0, 0)                                         \
        X##_FIELD(P, NAMED_DATA, SEGMENT_INDEX, "segment_index", SCALAR, FLAT_U32, 0)              \
        X##_FIELD(P, NAMED_DATA, TENSOR_LAYOUT, "tensor_layout", TABLE, PTD_TABLE_LAYOUT, 0)       \
    X##_END(P, NAMED_DATA)                                                                         \
    X##_TABLE(P, LAYOUT, "TensorLayout")                                                           \
        X##_FIELD(P, LAYOUT, SCALAR_TYPE, "scalar_type", ENUM, PTD_ENUM_SCALAR_TYPE, 0)            \
        X##_FIELD(P, LAYOUT, SIZES, "sizes", VECTOR, FLAT_I32, 0)                                  \
        X##_FIELD(P, LAYOUT, DIM_ORDER, "dim_order", VECTOR, FLAT_U8, 0)                           \
    X##_END(P, LAYOUT)

#define PTD_ENUMS(X, P)                                                                            \
    X##_ENUM(P, SCALAR_TYPE, "ScalarType", FLAT_I8)                                                \
        WICK_DTYPE_LIST(X##_DTYPE)                                                                 \
    X##_ENUM_END(P, SCALAR_TYPE)
/* clang-format on */

enum { PTD_TABLES(FLAT_INDEX, PTD) PTD_TABLE_COUNT };
enum { PTD_ENUMS(FLAT_INDEX, PTD) PTD_ENUM_COUNT };
PTD_TABLES(FLAT_IDS, PTD)

extern const struct wick_flat_schema wick_ptd_schema;

#endif
