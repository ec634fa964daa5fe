/* flat/verify.c - judges a FlatBuffers buffer from outside against its schema; afterwards read.h reads it unchecked.
 *
 * Recursion follows the nesting of tables and stops at WICK_FLAT_DEPTH_MAX. Tables that are shared are visited once a
 * reference, and so are vectors; both are limited, for a small file could otherwise ask for exponential work here or for
 * quadratic work of those who read it later. */
#include "flat/read.h"

#include "base/checked.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the formats are little-endian and are read in place"
#endif

struct verifier {
    const struct wick_flat_schema *schema;
    const uint8_t *data;
    uint64_t size;
    uint32_t tables_left;
    uint64_t bytes_left; /* of vectors and strings */
    wick_status code;
    wick_error *err;
};

/* What is being looked at, for messages; field is NULL for the table itself. */
struct place {
    const struct wick_flat_table *table;
    const struct wick_flat_field *field;
};

static wick_status bad(const struct verifier *v, struct place place, uint64_t at, const char *why)
{
    return wick_fail(v->err, v->code, "%s: %s%s%s at offset 0x%llx: %s", v->schema->name, place.table->name,
                     place.field ? "." : "", place.field ? place.field->name : "", (unsigned long long)at, why);
}

static bool inside(const struct verifier *v, uint64_t at, uint64_t bytes, uint64_t alignment)
{
    return at % alignment == 0 && wick_range_ok(at, bytes, v->size);
}

static wick_status verify_table(struct verifier *v, uint64_t at, unsigned index, unsigned depth);

/* Follows the reference stored at `at` (within the table). */
static wick_status follow(const struct verifier *v, struct place place, uint64_t at, uint64_t *target)
{
    uint32_t distance = flat_load_u32(v->data + at);
    if (distance == 0 || distance > INT32_MAX) return bad(v, place, at, "reference does not point forward");
    *target = at + distance;
    if (!inside(v, *target, 4, 4)) return bad(v, place, at, "reference points past the end or is misaligned");
    return WICK_OK;
}

/* A vector at `at`: count, then elements of `width` bytes. */
static wick_status verify_vector(struct verifier *v, struct place place, uint64_t at, uint32_t width, uint32_t *count)
{
    *count = flat_load_u32(v->data + at);
    if ((at + 4) % width) return bad(v, place, at, "elements are misaligned");
    if (!inside(v, at + 4, (uint64_t)*count * width, 1)) return bad(v, place, at, "vector runs past the end");
    uint64_t bytes = (uint64_t)*count * width;
    if (bytes > v->bytes_left) return bad(v, place, at, "too many references to the same vectors");
    v->bytes_left -= bytes;
    return WICK_OK;
}

static wick_status verify_tables(struct verifier *v, struct place place, uint64_t at, unsigned depth)
{
    uint32_t count;
    WICK_TRY(verify_vector(v, place, at, 4, &count));
    for (uint32_t i = 0; i < count; i++) {
        uint64_t target = 0;
        WICK_TRY(follow(v, place, at + 4 + 4 * (uint64_t)i, &target));
        WICK_TRY(verify_table(v, target, place.field->of, depth));
    }
    return WICK_OK;
}

/* The value of a union whose type was read from the field before. A type of a newer schema is left alone. */
static wick_status verify_union(struct verifier *v, struct place place, struct flat_table table, uint32_t id, uint64_t target, unsigned depth)
{
    const struct wick_flat_union *choice = &v->schema->unions[place.field->of];
    uint8_t type = flat_u8(table, id - 1, 0);
    if (type == 0 || type >= choice->count) return WICK_OK;
    return verify_table(v, target, choice->members[type].table, depth);
}

static wick_status verify_field(struct verifier *v, struct place place, struct flat_table table, uint32_t id, uint64_t at, unsigned depth)
{
    uint64_t target = 0;
    uint32_t count;
    if (place.field->kind == FLAT_SCALAR || place.field->kind == FLAT_ENUM || place.field->kind == FLAT_UNION_TYPE) return WICK_OK;
    WICK_TRY(follow(v, place, at, &target));
    switch (place.field->kind) {
    case FLAT_STRING:
        WICK_TRY(verify_vector(v, place, target, 1, &count));
        if (!inside(v, target + 4 + count, 1, 1) || v->data[target + 4 + count] != 0) return bad(v, place, target, "string has no end");
        return WICK_OK;
    case FLAT_TABLE: return verify_table(v, target, place.field->of, depth);
    case FLAT_VECTOR: return verify_vector(v, place, target, wick_flat_type_size(place.field->of), &count);
    case FLAT_TABLES: return verify_tables(v, place, target, depth);
    default: return verify_union(v, place, table, id, target, depth);
    }
}

static wick_status verify_table(struct verifier *v, uint64_t at, unsigned index, unsigned depth)
{
    struct place place = {&v->schema->tables[index], NULL};
    if (depth == 0) return bad(v, place, at, "nested too deeply");
    if (v->tables_left-- == 0) return bad(v, place, at, "too many tables");
    if (!inside(v, at, 4, 4)) return bad(v, place, at, "table lies past the end or is misaligned");
    int64_t vtable = (int64_t)at - flat_load_i32(v->data + at);
    if (vtable < 0 || !inside(v, (uint64_t)vtable, 4, 2)) return bad(v, place, at, "vtable lies outside");
    uint32_t vtable_bytes = flat_load_u16(v->data + vtable), table_bytes = flat_load_u16(v->data + vtable + 2);
    if (vtable_bytes < 4 || vtable_bytes % 2 || !inside(v, (uint64_t)vtable, vtable_bytes, 1)) return bad(v, place, at, "vtable has a wrong size");
    if (table_bytes < 4 || !inside(v, at, table_bytes, 1)) return bad(v, place, at, "table has a wrong size");

    uint32_t count = WICK_MIN((vtable_bytes - 4) / 2, place.table->count);
    for (uint32_t id = 0; id < count; id++) {
        uint32_t offset = flat_load_u16(v->data + vtable + 4 + 2 * id);
        if (offset == 0) continue;
        place.field = &place.table->fields[id];
        bool scalar = place.field->kind == FLAT_SCALAR || place.field->kind == FLAT_ENUM || place.field->kind == FLAT_UNION_TYPE;
        uint32_t width = scalar ? wick_flat_type_size(wick_flat_field_type(v->schema, place.field)) : 4;
        if (offset < 4 || offset + width > table_bytes || (at + offset) % width) return bad(v, place, at + offset, "field lies outside its table or is misaligned");
        WICK_TRY(verify_field(v, place, (struct flat_table){v->data + at}, id, at + offset, depth - 1));
    }
    return WICK_OK;
}

static bool ident_ok(const struct wick_flat_schema *schema, const uint8_t *ident)
{
    for (size_t i = 0; i < WICK_ARRAY_SIZE(schema->idents); i++)
        if (schema->idents[i] && memcmp(ident, schema->idents[i], 4) == 0) return true;
    return false;
}

wick_status wick_flat_verify(const struct wick_flat_schema *schema, const void *data, size_t size, struct flat_table *root,
                             wick_status code, wick_error *err)
{
    struct verifier v = {schema, data, size, WICK_FLAT_TABLES_MAX, (uint64_t)size * WICK_FLAT_SHARING_MAX, code, err};
    *root = (struct flat_table){NULL};
    if (size < 12) return wick_fail(err, code, "%s: %zu bytes are too few", schema->name, size);
    if (size > INT32_MAX) return wick_fail(err, code, "%s: %zu bytes are too many (limit 2 GiB)", schema->name, size);
    if (!ident_ok(schema, v.data + 4)) {
        return wick_fail(err, code, "%s: identifier at offset 4 is %02x %02x %02x %02x, expected %s", schema->name, v.data[4], v.data[5], v.data[6],
                         v.data[7], schema->idents[0]);
    }
    uint32_t at = flat_load_u32(v.data);
    if (at < 8 || !inside(&v, at, 4, 4)) return wick_fail(err, code, "%s: root offset %u at offset 0 lies outside the %zu bytes", schema->name, at, size);
    WICK_TRY(verify_table(&v, at, schema->root, WICK_FLAT_DEPTH_MAX));
    root->at = v.data + at;
    return WICK_OK;
}
