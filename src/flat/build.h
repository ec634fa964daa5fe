/* flat/build.h - building a FlatBuffers buffer, driven by a schema's descriptors.
 *
 * The buffer grows from its end to its beginning, so children are made before what refers to them:
 *
 *     struct wick_flat_builder b;
 *     wick_flat_builder_init(&b, &schema);
 *     flat_ref name = wick_flat_add_string(&b, WICK_STR("forward"));
 *     wick_flat_table_begin(&b, PTE_TABLE_PLAN);
 *     wick_flat_set_ref(&b, PTE_PLAN_NAME, name);
 *     flat_ref plan = wick_flat_table_end(&b);
 *     wick_flat_finish(&b, plan, 0, &bytes, &size, err);
 *     wick_flat_builder_free(&b);
 *
 * Mistakes and lack of memory stick and are reported by wick_flat_finish; calls after one do nothing. Equal input gives
 * equal bytes. Scalars equal to their default are left out, as the original does. */
#ifndef WICK_FLAT_BUILD_H
#define WICK_FLAT_BUILD_H

#include "base/str.h"
#include "flat/flat.h"

/* A finished string, vector or table: its distance from the buffer's end. 0: none. */
typedef uint32_t flat_ref;

enum { WICK_FLAT_FIELDS_MAX = 32 };

struct wick_flat_builder {
    const struct wick_flat_schema *schema;
    uint8_t *data; /* the last `size` bytes of capacity are in use */
    size_t capacity, size;
    uint32_t alignment; /* largest asked for */
    wick_status status; /* sticks */
    const char *why;    /* of a status that is not OUT_OF_MEMORY */
    flat_ref *vtables;  /* distinct ones, to share */
    size_t vtable_count, vtable_capacity;
    const struct wick_flat_table *table; /* being built */
    struct {
        uint64_t bits;
        flat_ref ref;
        bool set;
    } fields[WICK_FLAT_FIELDS_MAX];
};

void wick_flat_builder_init(struct wick_flat_builder *b, const struct wick_flat_schema *schema);
void wick_flat_builder_free(struct wick_flat_builder *b);

/* data NULL gives no reference (an absent string). */
flat_ref wick_flat_add_string(struct wick_flat_builder *b, struct wick_str text);
/* count elements of wick_flat_type `type`; items NULL gives no reference. alignment: force_align of the field, or 0. */
flat_ref wick_flat_add_vector(struct wick_flat_builder *b, unsigned type, const void *items, size_t count, uint32_t alignment);
/* A vector of tables; tables may be NULL when count is 0 (an empty vector). */
flat_ref wick_flat_add_tables(struct wick_flat_builder *b, const flat_ref *tables, size_t count);

/* One table at a time: everything it refers to exists already. */
void wick_flat_table_begin(struct wick_flat_builder *b, unsigned table);
void wick_flat_set_int(struct wick_flat_builder *b, unsigned field, int64_t value); /* any SCALAR, ENUM of integers or BOOL */
void wick_flat_set_u64(struct wick_flat_builder *b, unsigned field, uint64_t value);
void wick_flat_set_real(struct wick_flat_builder *b, unsigned field, double value); /* F32, F64 */
void wick_flat_set_f32(struct wick_flat_builder *b, unsigned field, float value); /* F32, every bit kept */
void wick_flat_set_ref(struct wick_flat_builder *b, unsigned field, flat_ref ref);  /* ref 0: absent */
/* field is the id of the union's value; its type goes to field - 1. */
void wick_flat_set_union(struct wick_flat_builder *b, unsigned field, unsigned type, flat_ref ref);
flat_ref wick_flat_table_end(struct wick_flat_builder *b);

/* Completes the buffer: root offset, the schema's first identifier, `reserve` zero bytes (a format's extended header; a
 * multiple of 8), then the content. *data points into the builder and lives until wick_flat_builder_free; *size is a multiple of the
 * largest alignment asked for (at least 8). INVALID_ARGUMENT for a mistake (a field set that the table does not
 * have ..), NOT_SUPPORTED at 2 GiB, OUT_OF_MEMORY. */
wick_status wick_flat_finish(struct wick_flat_builder *b, flat_ref root, uint32_t reserve, uint8_t **data, size_t *size, wick_error *err) WICK_MUST_CHECK;

#endif
