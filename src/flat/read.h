/* flat/read.h - verifying a FlatBuffers buffer once, then reading it without further checks.
 *
 * Everything here reads in place; nothing allocates. An absent table (at == NULL) may be read: all its fields are absent. */
#ifndef WICK_FLAT_READ_H
#define WICK_FLAT_READ_H

#include "base/str.h"
#include "flat/flat.h"

/* Depth and tables as in flatbuffers' own verifier; a file within them is accepted by the original. Sharing: how often, on
 * average, a byte of the buffer may be part of a vector or string. */
enum { WICK_FLAT_DEPTH_MAX = 64, WICK_FLAT_TABLES_MAX = 1000000, WICK_FLAT_SHARING_MAX = 256 };

/* A table in a verified buffer; at is NULL for an absent one. */
struct flat_table {
    const uint8_t *at;
};

/* A vector in a verified buffer: count elements from at; at is NULL for an absent one (an empty one has a pointer). */
struct flat_vec {
    const uint8_t *at;
    uint32_t count;
};

/* Checks a whole buffer against a schema: identifier, every table, vtable, vector and string (bounds, alignment relative to data,
 * NUL of strings), depth, number of tables, below 2 GiB. Enum values and unknown union types are left to the
 * caller; text is not checked for UTF-8. On success *root is the root table. On failure the status is `code`, and the error names
 * table, field and offset. Time is linear in the number of tables visited. */
wick_status wick_flat_verify(const struct wick_flat_schema *schema, const void *data, size_t size, struct flat_table *root,
                             wick_status code, wick_error *err) WICK_MUST_CHECK;

/* ---- loads; unaligned addresses are fine ---- */

#define FLAT_LOAD(name, type)                                                                      \
    static inline type flat_load_##name(const uint8_t *at)                                         \
    {                                                                                              \
        type value;                                                                                \
        memcpy(&value, at, sizeof value);                                                          \
        return value;                                                                              \
    }                                                                                              \
    static inline type flat_vec_##name(struct flat_vec vec, uint32_t i) { return flat_load_##name(vec.at + (size_t)i * sizeof(type)); }
FLAT_LOAD(i8, int8_t)
FLAT_LOAD(u8, uint8_t)
FLAT_LOAD(i16, int16_t)
FLAT_LOAD(u16, uint16_t)
FLAT_LOAD(i32, int32_t)
FLAT_LOAD(u32, uint32_t)
FLAT_LOAD(i64, int64_t)
FLAT_LOAD(u64, uint64_t)
FLAT_LOAD(f32, float)
FLAT_LOAD(f64, double)
#undef FLAT_LOAD

/* Where field `id` lies, NULL if it is absent. */
static inline const uint8_t *flat_field(struct flat_table table, uint32_t id)
{
    if (!table.at) return NULL;
    const uint8_t *vtable = table.at - flat_load_i32(table.at);
    uint32_t entry = 4 + 2 * id, offset = entry < flat_load_u16(vtable) ? flat_load_u16(vtable + entry) : 0;
    return offset ? table.at + offset : NULL;
}

static inline bool flat_has(struct flat_table table, uint32_t id) { return flat_field(table, id) != NULL; }

/* ---- scalars: flat_i32(table, id, default) ---- */

#define FLAT_SCALAR_READ(name, type)                                                               \
    static inline type flat_##name(struct flat_table table, uint32_t id, type absent)              \
    {                                                                                              \
        const uint8_t *at = flat_field(table, id);                                                 \
        return at ? flat_load_##name(at) : absent;                                                 \
    }
FLAT_SCALAR_READ(i8, int8_t)
FLAT_SCALAR_READ(u8, uint8_t)
FLAT_SCALAR_READ(i16, int16_t)
FLAT_SCALAR_READ(u16, uint16_t)
FLAT_SCALAR_READ(i32, int32_t)
FLAT_SCALAR_READ(u32, uint32_t)
FLAT_SCALAR_READ(i64, int64_t)
FLAT_SCALAR_READ(u64, uint64_t)
FLAT_SCALAR_READ(f32, float)
FLAT_SCALAR_READ(f64, double)
#undef FLAT_SCALAR_READ

static inline bool flat_bool(struct flat_table table, uint32_t id, bool absent)
{
    const uint8_t *at = flat_field(table, id);
    return at ? *at != 0 : absent;
}

/* ---- references ---- */

static inline const uint8_t *flat_follow(const uint8_t *at) { return at ? at + flat_load_u32(at) : NULL; }

/* A TABLE or UNION field. */
static inline struct flat_table flat_child(struct flat_table table, uint32_t id)
{
    return (struct flat_table){flat_follow(flat_field(table, id))};
}

/* A VECTOR or TABLES field. */
static inline struct flat_vec flat_vector(struct flat_table table, uint32_t id)
{
    const uint8_t *at = flat_follow(flat_field(table, id));
    return at ? (struct flat_vec){at + 4, flat_load_u32(at)} : (struct flat_vec){NULL, 0};
}

/* data is NULL if absent; else NUL-terminated. */
static inline struct wick_str flat_string(struct flat_table table, uint32_t id)
{
    struct flat_vec vec = flat_vector(table, id);
    return (struct wick_str){(const char *)vec.at, vec.count};
}

static inline struct flat_table flat_vec_table(struct flat_vec vec, uint32_t i)
{
    return (struct flat_table){flat_follow(vec.at + 4 * (size_t)i)};
}

/* Type of the union whose value is field `id` (its type is field id - 1); 0 also when the value is missing. */
static inline uint8_t flat_union_type(struct flat_table table, uint32_t id)
{
    return flat_has(table, id) ? flat_u8(table, id - 1, 0) : 0;
}

#endif
