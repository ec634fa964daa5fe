/* pte/bundled_schema.h - the schema of .bpte files, a program with its test cases (identifier BP08); see flat/flat.h for the rows. */
#ifndef WICK_PTE_BUNDLED_SCHEMA_H
#define WICK_PTE_BUNDLED_SCHEMA_H

#include "flat/flat.h"
#include "tensor/dtype.h"

/* clang-format off */
#define BPTE_TABLES(X, P)                                                                          \
    X##_TABLE(P, ROOT, "BundledProgram")                                                           \
        X##_FIELD(P, ROOT, VERSION, "version", SCALAR, FLAT_U32, 0)                                \
        X##_FIELD(P, ROOT, SUITES, "method_test_suites", TABLES, BPTE_TABLE_SUITE, 0)              \
        X##_FIELD(P, ROOT, PROGRAM, "program", VECTOR, FLAT_U8, 32)                                \
    X##_END(P, ROOT)                                                                               \
    X##_TABLE(P, SUITE, "BundledMethodTestSuite")                                                  \
        X##_FIELD(P, SUITE, METHOD_NAME, "method_name", STRING, 0, 0)                              \
        X##_FIELD(P, SUITE, CASES, "test_cases", TABLES, BPTE_TABLE_CASE, 0)                       \
    X##_END(P, SUITE)                                                                              \
    X##_TABLE(P, CASE, "BundledMethodTestCase")                                                    \
        X##_FIELD(P, CASE, INPUTS, "inputs", TABLES, BPTE_TABLE_VALUE, 0)                          \
        X##_FIELD(P, CASE, EXPECTED_OUTPUTS, "expected_outputs", TABLES, BPTE_TABLE_VALUE, 0)      \
    X##_END(P, CASE)                                                                               \
    X##_TABLE(P, VALUE, "Value")                                                                   \
        X##_UNION(P, VALUE, VAL, "val", BPTE_UNION_KIND)                                           \
    X##_END(P, VALUE)                                                                              \
    X##_TABLE(P, TENSOR, "Tensor")                                                                 \
        X##_FIELD(P, TENSOR, SCALAR_TYPE, "scalar_type", ENUM, BPTE_ENUM_SCALAR_TYPE, 0)           \
        X##_FIELD(P, TENSOR, SIZES, "sizes", VECTOR, FLAT_I32, 0)                                  \
        X##_FIELD(P, TENSOR, DATA, "data", VECTOR, FLAT_U8, 16)                                    \
        X##_FIELD(P, TENSOR, DIM_ORDER, "dim_order", VECTOR, FLAT_U8, 0)                           \
    X##_END(P, TENSOR)                                                                             \
    X##_TABLE(P, INT, "Int")                                                                       \
        X##_FIELD(P, INT, VAL, "int_val", SCALAR, FLAT_I64, 0)                                     \
    X##_END(P, INT)                                                                                \
    X##_TABLE(P, BOOLEAN, "Bool")                                                                  \
        X##_FIELD(P, BOOLEAN, VAL, "bool_val", SCALAR, FLAT_BOOL, 0)                               \
    X##_END(P, BOOLEAN)                                                                            \
    X##_TABLE(P, DOUBLE, "Double")                                                                 \
        X##_FIELD(P, DOUBLE, VAL, "double_val", SCALAR, FLAT_F64, 0)                               \
    X##_END(P, DOUBLE)

#define BPTE_UNIONS(X, P)                                                                          \
    X##_CHOICE(P, KIND, "ValueUnion")                                                              \
        X##_MEMBER(P, KIND, TENSOR, "Tensor", BPTE_TABLE_TENSOR)                                   \
        X##_MEMBER(P, KIND, INT, "Int", BPTE_TABLE_INT)                                            \
        X##_MEMBER(P, KIND, BOOLEAN, "Bool", BPTE_TABLE_BOOLEAN)                                   \
        X##_MEMBER(P, KIND, DOUBLE, "Double", BPTE_TABLE_DOUBLE)                                   \
    X##_CHOICE_END(P, KIND)

#define BPTE_ENUMS(X, P)                                                                           \
    X##_ENUM(P, SCALAR_TYPE, "ScalarType", FLAT_I8)                                                \
        WICK_DTYPE_LIST(X##_DTYPE)                                                                 \
    X##_ENUM_END(P, SCALAR_TYPE)
/* clang-format on */

enum { BPTE_TABLES(FLAT_INDEX, BPTE) BPTE_TABLE_COUNT };
enum { BPTE_UNIONS(FLAT_INDEX, BPTE) BPTE_UNION_COUNT };
enum { BPTE_ENUMS(FLAT_INDEX, BPTE) BPTE_ENUM_COUNT };
BPTE_TABLES(FLAT_IDS, BPTE)
BPTE_UNIONS(FLAT_IDS, BPTE)

extern const struct wick_flat_schema wick_bundled_schema;

#endif
