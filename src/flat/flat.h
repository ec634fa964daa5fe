/* flat/flat.h - how a FlatBuffers format is described: one X-macro list a format, expanded into ids and descriptors.
 *
 * A format's header holds three lists, FORMAT_TABLES(X, P), FORMAT_UNIONS(X, P) and FORMAT_ENUMS(X, P), where X selects
 * what a row becomes (the FLAT_IDS, FLAT_INDEX.. modes below) and P is the prefix of its constants. Verifier, builder and
 * printers interpret the descriptors; readers use the ids. Field ids are the order of rows; a union takes two.
 *
 *     #define PTE_TABLES(X, P)
 *         X##_TABLE(P, KERNEL_CALL, "KernelCall")
 *             X##_FIELD(P, KERNEL_CALL, OP_INDEX, "op_index", SCALAR, FLAT_I32, 0)
 *             X##_FIELD(P, KERNEL_CALL, ARGS, "args", VECTOR, FLAT_I32, 0)
 *         X##_END(P, KERNEL_CALL)
 *
 * The FIELD columns: table, field, name in the schema, kind, what it is made of, detail. */
#ifndef WICK_FLAT_FLAT_H
#define WICK_FLAT_FLAT_H

#include <stddef.h>
#include <stdint.h>

enum wick_flat_type { FLAT_BOOL, FLAT_I8, FLAT_U8, FLAT_I16, FLAT_U16, FLAT_I32, FLAT_U32, FLAT_I64, FLAT_U64, FLAT_F32, FLAT_F64, FLAT_TYPE_COUNT };

/* Kind            of (what it is made of)     detail
 * SCALAR          wick_flat_type              default
 * ENUM            index of an enum            default
 * STRING          0                           0
 * TABLE           index of a table            0
 * VECTOR          wick_flat_type              force_align, 0 if the format asks for none
 * TABLES          index of a table            0          (vector of tables)
 * UNION_TYPE      index of a union            0          (u8, the id before its UNION)
 * UNION           index of a union            0 */
enum wick_flat_kind { FLAT_SCALAR, FLAT_ENUM, FLAT_STRING, FLAT_TABLE, FLAT_VECTOR, FLAT_TABLES, FLAT_UNION_TYPE, FLAT_UNION };

struct wick_flat_field {
    const char *name;
    uint8_t kind, of;
    int64_t detail;
};

struct wick_flat_table {
    const char *name;
    const struct wick_flat_field *fields; /* by id */
    uint16_t count;
};

struct wick_flat_member {
    const char *name;
    uint8_t table;
};

struct wick_flat_union {
    const char *name;
    const struct wick_flat_member *members; /* by type; 0 is NONE */
    uint8_t count;                          /* NONE included */
};

struct wick_flat_value {
    const char *name;
    int64_t value;
};

struct wick_flat_enum {
    const char *name;
    uint8_t type; /* wick_flat_type of the wire */
    const struct wick_flat_value *values;
    uint8_t count;
};

struct wick_flat_schema {
    const char *name;      /* for messages: "program" */
    const char *idents[2]; /* file identifiers that are accepted; the first is what is written */
    const struct wick_flat_table *tables;
    const struct wick_flat_union *unions;
    const struct wick_flat_enum *enums;
    uint8_t table_count, union_count, enum_count, root;
};

/* Bytes of a scalar. */
static inline uint32_t wick_flat_type_size(unsigned type)
{
    return type <= FLAT_U8 ? 1 : type <= FLAT_U16 ? 2 : type == FLAT_I64 || type == FLAT_U64 || type == FLAT_F64 ? 8 : 4;
}

/* The wire type of a SCALAR, ENUM or UNION_TYPE field. */
static inline unsigned wick_flat_field_type(const struct wick_flat_schema *schema, const struct wick_flat_field *field)
{
    return field->kind == FLAT_ENUM ? schema->enums[field->of].type : field->kind == FLAT_UNION_TYPE ? FLAT_U8 : field->of;
}

/* ---- modes ---- */

/* FLAT_INDEX: P_TABLE_T, P_UNION_U, P_ENUM_E, the indices of the descriptors. Each list in an enum { ... } of its own. */
#define FLAT_INDEX_TABLE(P, T, name) P##_TABLE_##T,
#define FLAT_INDEX_FIELD(P, T, F, name, kind, of, detail)
#define FLAT_INDEX_UNION(P, T, F, name, of)
#define FLAT_INDEX_END(P, T)
#define FLAT_INDEX_CHOICE(P, U, name) P##_UNION_##U,
#define FLAT_INDEX_MEMBER(P, U, M, name, table)
#define FLAT_INDEX_CHOICE_END(P, U)
#define FLAT_INDEX_ENUM(P, E, name, type) P##_ENUM_##E,
#define FLAT_INDEX_VALUE(P, E, V, name, value)
#define FLAT_INDEX_DTYPE(V, value, bytes, name, word)
#define FLAT_INDEX_ENUM_END(P, E)

/* FLAT_IDS: field ids P_T_F (a union: P_T_F_TYPE, P_T_F) and P_T_FIELD_COUNT; union types P_U_M; enum values P_E_V. */
#define FLAT_IDS_TABLE(P, T, name) enum {
#define FLAT_IDS_FIELD(P, T, F, name, kind, of, detail) P##_##T##_##F,
#define FLAT_IDS_UNION(P, T, F, name, of) P##_##T##_##F##_TYPE, P##_##T##_##F,
#define FLAT_IDS_END(P, T) P##_##T##_FIELD_COUNT };
#define FLAT_IDS_CHOICE(P, U, name) enum { P##_##U##_NONE,
#define FLAT_IDS_MEMBER(P, U, M, name, table) P##_##U##_##M,
#define FLAT_IDS_CHOICE_END(P, U) P##_##U##_COUNT };
#define FLAT_IDS_ENUM(P, E, name, type) enum {
#define FLAT_IDS_VALUE(P, E, V, name, value) P##_##E##_##V = value,
#define FLAT_IDS_DTYPE(V, value, bytes, name, word)
#define FLAT_IDS_ENUM_END(P, E) P##_##E##_ENUM_END };

/* FLAT_FIELDS: the arrays that FLAT_TABLES, FLAT_UNIONS and FLAT_ENUMS point at; then those arrays. */
#define FLAT_FIELDS_TABLE(P, T, name) static const struct wick_flat_field P##_##T##_fields[] = {
#define FLAT_FIELDS_FIELD(P, T, F, name, kind, of, detail) {name, FLAT_##kind, of, detail},
#define FLAT_FIELDS_UNION(P, T, F, name, of) {name "_type", FLAT_UNION_TYPE, of, 0}, {name, FLAT_UNION, of, 0},
#define FLAT_FIELDS_END(P, T) {NULL, 0, 0, 0}};
#define FLAT_FIELDS_CHOICE(P, U, name) static const struct wick_flat_member P##_##U##_members[] = {{"NONE", 0},
#define FLAT_FIELDS_MEMBER(P, U, M, name, table) {name, table},
#define FLAT_FIELDS_CHOICE_END(P, U) };
#define FLAT_FIELDS_ENUM(P, E, name, type) static const struct wick_flat_value P##_##E##_values[] = {
#define FLAT_FIELDS_VALUE(P, E, V, name, value) {name, value},
#define FLAT_FIELDS_DTYPE(V, value, bytes, name, word) {name, value},
#define FLAT_FIELDS_ENUM_END(P, E) };

#define FLAT_LIST_TABLE(P, T, name) {name, P##_##T##_fields, P##_##T##_FIELD_COUNT},
#define FLAT_LIST_FIELD(P, T, F, name, kind, of, detail)
#define FLAT_LIST_UNION(P, T, F, name, of)
#define FLAT_LIST_END(P, T)
#define FLAT_LIST_CHOICE(P, U, name) {name, P##_##U##_members, P##_##U##_COUNT},
#define FLAT_LIST_MEMBER(P, U, M, name, table)
#define FLAT_LIST_CHOICE_END(P, U)
#define FLAT_LIST_ENUM(P, E, name, type) {name, type, P##_##E##_values, sizeof P##_##E##_values / sizeof(struct wick_flat_value)},
#define FLAT_LIST_VALUE(P, E, V, name, value)
#define FLAT_LIST_DTYPE(V, value, bytes, name, word)
#define FLAT_LIST_ENUM_END(P, E)

#endif
