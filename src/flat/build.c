/* flat/build.c - the FlatBuffers builder: a heap buffer filled from its end; see build.h. Used by the format writers. */
#include "flat/build.h"

#include "base/checked.h"

#include <stdlib.h>

void wick_flat_builder_init(struct wick_flat_builder *b, const struct wick_flat_schema *schema)
{
    *b = (struct wick_flat_builder){.schema = schema, .alignment = 8, .status = WICK_OK};
}

void wick_flat_builder_free(struct wick_flat_builder *b)
{
    free(b->data);
    free(b->vtables);
    *b = (struct wick_flat_builder){.schema = b->schema, .alignment = 8, .status = WICK_OK};
}

static void fail(struct wick_flat_builder *b, wick_status status, const char *why)
{
    if (b->status != WICK_OK) return;
    b->status = status;
    b->why = why;
}

/* Makes room for `bytes` more in front. */
static bool reserve(struct wick_flat_builder *b, size_t bytes)
{
    size_t want;
    if (b->status != WICK_OK) return false;
    if (wick_add_size(b->size, bytes, &want) || want > INT32_MAX) {
        fail(b, WICK_NOT_SUPPORTED, "the buffer would reach 2 GiB");
        return false;
    }
    if (want <= b->capacity) return true;
    size_t capacity = WICK_MAX(want, WICK_MAX(b->capacity * 2, (size_t)1024));
    uint8_t *data = malloc(capacity);
    if (!data) {
        fail(b, WICK_OUT_OF_MEMORY, "no memory");
        return false;
    }
    if (b->size) memcpy(data + capacity - b->size, b->data + b->capacity - b->size, b->size);
    free(b->data);
    b->data = data;
    b->capacity = capacity;
    return true;
}

static uint8_t *front(const struct wick_flat_builder *b) { return b->data + b->capacity - b->size; }
static uint8_t *at(const struct wick_flat_builder *b, flat_ref ref) { return b->data + b->capacity - ref; }

/* Puts bytes (or zeros, data NULL) in front. */
static void push(struct wick_flat_builder *b, const void *data, size_t bytes)
{
    if (bytes == 0 || !reserve(b, bytes)) return;
    b->size += bytes;
    if (data) memcpy(front(b), data, bytes);
    else memset(front(b), 0, bytes);
}

/* Pads so that after pushing `bytes` the front is aligned (alignments count from the end: the whole is a multiple of the largest). */
static void align(struct wick_flat_builder *b, size_t bytes, uint32_t alignment)
{
    if (alignment > b->alignment) b->alignment = alignment;
    push(b, NULL, (size_t)(wick_align_up(b->size + bytes, alignment) - (b->size + bytes)));
}

static flat_ref here(const struct wick_flat_builder *b) { return b->status == WICK_OK ? (flat_ref)b->size : 0; }

/* Pushes a u32 that refers from its own position to ref. */
static void push_ref(struct wick_flat_builder *b, flat_ref ref)
{
    uint32_t distance = (uint32_t)b->size + 4 - ref;
    push(b, &distance, 4);
}

static void push_u32(struct wick_flat_builder *b, size_t value)
{
    uint32_t number = (uint32_t)value;
    push(b, &number, 4);
}

/* ---- strings and vectors ---- */

flat_ref wick_flat_add_string(struct wick_flat_builder *b, struct wick_str text)
{
    if (!text.data) return 0;
    if (text.size > INT32_MAX) fail(b, WICK_NOT_SUPPORTED, "a string of 2 GiB");
    align(b, text.size + 1, 4);
    push(b, NULL, 1);
    push(b, text.data, text.size);
    push_u32(b, text.size);
    return here(b);
}

flat_ref wick_flat_add_vector(struct wick_flat_builder *b, unsigned type, const void *items, size_t count, uint32_t alignment)
{
    size_t bytes;
    uint32_t width = wick_flat_type_size(type);
    if (!items) return 0;
    if (wick_mul_size(count, width, &bytes) || bytes > INT32_MAX) {
        fail(b, WICK_NOT_SUPPORTED, "a vector of 2 GiB");
        return 0;
    }
    align(b, bytes, WICK_MAX(WICK_MAX(width, 4u), alignment));
    push(b, items, bytes);
    push_u32(b, count);
    return here(b);
}

flat_ref wick_flat_add_tables(struct wick_flat_builder *b, const flat_ref *tables, size_t count)
{
    if (count > INT32_MAX / 4) fail(b, WICK_NOT_SUPPORTED, "a vector of 2 GiB");
    align(b, 0, 4);
    for (size_t i = count; i-- > 0;) {
        if (tables[i] == 0) fail(b, WICK_INVALID_ARGUMENT, "a vector of tables lacks one");
        push_ref(b, tables[i]);
    }
    push_u32(b, count);
    return here(b);
}

/* ---- tables ---- */

void wick_flat_table_begin(struct wick_flat_builder *b, unsigned table)
{
    if (b->table) fail(b, WICK_INVALID_ARGUMENT, "a table is begun within another");
    b->table = &b->schema->tables[table];
    if (b->table->count > WICK_FLAT_FIELDS_MAX) fail(b, WICK_INVALID_ARGUMENT, "a table has too many fields");
    memset(b->fields, 0, sizeof b->fields);
}

/* The descriptor of a field of the current table whose kind is among those of the mask; NULL and an error otherwise. */
static const struct wick_flat_field *field_of(struct wick_flat_builder *b, unsigned field, unsigned kinds)
{
    if (b->status != WICK_OK) return NULL;
    if (!b->table || field >= b->table->count || !(kinds >> b->table->fields[field].kind & 1)) {
        fail(b, WICK_INVALID_ARGUMENT, "a field is set that its table does not have or that has another kind");
        return NULL;
    }
    return &b->table->fields[field];
}

enum { SCALARS = 1 << FLAT_SCALAR | 1 << FLAT_ENUM, REFS = 1 << FLAT_STRING | 1 << FLAT_TABLE | 1 << FLAT_VECTOR | 1 << FLAT_TABLES };

static void set_bits(struct wick_flat_builder *b, unsigned field, uint64_t bits, bool is_default)
{
    b->fields[field].bits = bits;
    b->fields[field].set = !is_default;
}

void wick_flat_set_int(struct wick_flat_builder *b, unsigned field, int64_t value)
{
    const struct wick_flat_field *f = field_of(b, field, SCALARS);
    if (!f) return;
    unsigned type = wick_flat_field_type(b->schema, f);
    if (type == FLAT_F32 || type == FLAT_F64) {
        wick_flat_set_real(b, field, (double)value);
        return;
    }
    set_bits(b, field, (uint64_t)value, value == f->detail);
}

void wick_flat_set_u64(struct wick_flat_builder *b, unsigned field, uint64_t value) { wick_flat_set_int(b, field, (int64_t)value); }

void wick_flat_set_real(struct wick_flat_builder *b, unsigned field, double value)
{
    const struct wick_flat_field *f = field_of(b, field, SCALARS);
    if (!f) return;
    unsigned type = wick_flat_field_type(b->schema, f);
    uint64_t bits = 0;
    float single = (float)value;
    if (type == FLAT_F32) memcpy(&bits, &single, sizeof single);
    else if (type == FLAT_F64) memcpy(&bits, &value, sizeof value);
    else fail(b, WICK_INVALID_ARGUMENT, "a real number is set in an integer field");
    set_bits(b, field, bits, bits == 0 && f->detail == 0); /* -0.0 is not the default */
}

void wick_flat_set_f32(struct wick_flat_builder *b, unsigned field, float value)
{
    uint32_t bits;
    const struct wick_flat_field *f = field_of(b, field, SCALARS);
    if (!f) return;
    if (wick_flat_field_type(b->schema, f) != FLAT_F32) fail(b, WICK_INVALID_ARGUMENT, "a float is set in a field of another type");
    memcpy(&bits, &value, sizeof bits);
    set_bits(b, field, bits, bits == 0 && f->detail == 0);
}

void wick_flat_set_ref(struct wick_flat_builder *b, unsigned field, flat_ref ref)
{
    if (ref == 0 || !field_of(b, field, REFS)) return;
    b->fields[field].ref = ref;
    b->fields[field].set = true;
}

void wick_flat_set_union(struct wick_flat_builder *b, unsigned field, unsigned type, flat_ref ref)
{
    const struct wick_flat_field *f = field_of(b, field, 1 << FLAT_UNION);
    if (!f) return;
    if (type == 0 || type >= b->schema->unions[f->of].count || ref == 0) {
        fail(b, WICK_INVALID_ARGUMENT, "a union has no value or an unknown type");
        return;
    }
    set_bits(b, field - 1, type, false);
    b->fields[field].ref = ref;
    b->fields[field].set = true;
}

/* The same vtable if it exists already, else pushes it. vtable: u16 vtable_bytes, table_bytes, offsets. */
static flat_ref share_vtable(struct wick_flat_builder *b, const uint16_t *vtable)
{
    for (size_t i = 0; i < b->vtable_count; i++) {
        const uint8_t *other = at(b, b->vtables[i]); /* begins with its size, which is compared first */
        if (memcmp(other, vtable, sizeof vtable[0]) == 0 && memcmp(other, vtable, vtable[0]) == 0) return b->vtables[i];
    }
    if (b->vtable_count == b->vtable_capacity) {
        size_t capacity = b->vtable_capacity ? b->vtable_capacity * 2 : 32;
        flat_ref *vtables = realloc(b->vtables, capacity * sizeof *vtables);
        if (!vtables) {
            fail(b, WICK_OUT_OF_MEMORY, "no memory");
            return 0;
        }
        b->vtables = vtables;
        b->vtable_capacity = capacity;
    }
    align(b, vtable[0], 2);
    push(b, vtable, vtable[0]);
    if (b->status == WICK_OK) b->vtables[b->vtable_count++] = (flat_ref)b->size;
    return here(b);
}

flat_ref wick_flat_table_end(struct wick_flat_builder *b)
{
    const struct wick_flat_table *table = b->table;
    b->table = NULL;
    if (!table) fail(b, WICK_INVALID_ARGUMENT, "a table is ended that was not begun");
    if (b->status != WICK_OK) return 0;
    flat_ref ends[WICK_FLAT_FIELDS_MAX] = {0};
    size_t start = b->size;
    /* Narrow fields first: they end up behind the wide ones, so that the table needs little padding. */
    for (uint32_t width = 1; width <= 8; width *= 2) {
        for (unsigned id = table->count; id-- > 0;) {
            const struct wick_flat_field *f = &table->fields[id];
            bool scalar = f->kind == FLAT_SCALAR || f->kind == FLAT_ENUM || f->kind == FLAT_UNION_TYPE;
            if (!b->fields[id].set || (scalar ? wick_flat_type_size(wick_flat_field_type(b->schema, f)) : 4) != width) continue;
            align(b, width, width);
            if (scalar) push(b, &b->fields[id].bits, width);
            else push_ref(b, b->fields[id].ref);
            ends[id] = here(b);
        }
    }
    align(b, 4, 4);
    push(b, NULL, 4); /* distance to the vtable */
    flat_ref ref = here(b);
    uint16_t vtable[2 + WICK_FLAT_FIELDS_MAX] = {0};
    unsigned used = 0;
    for (unsigned id = 0; id < table->count; id++) {
        if (!b->fields[id].set) continue;
        vtable[2 + id] = (uint16_t)(ref - ends[id]);
        used = id + 1;
    }
    vtable[0] = (uint16_t)(4 + 2 * used);
    vtable[1] = (uint16_t)(ref - start);
    flat_ref shared = share_vtable(b, vtable);
    if (b->status != WICK_OK) return 0;
    int32_t distance = (int32_t)(shared - ref);
    memcpy(at(b, ref), &distance, sizeof distance);
    return ref;
}

wick_status wick_flat_finish(struct wick_flat_builder *b, flat_ref root, uint32_t reserve_bytes, uint8_t **data, size_t *size, wick_error *err)
{
    if (root == 0 || b->table) fail(b, WICK_INVALID_ARGUMENT, "there is no root");
    align(b, (size_t)reserve_bytes + 8, b->alignment);
    push(b, NULL, reserve_bytes);
    push(b, b->schema->idents[0], 4);
    push_ref(b, root);
    if (b->status == WICK_OUT_OF_MEMORY) return wick_fail_oom(err, b->size, b->schema->name);
    if (b->status != WICK_OK) return wick_fail(err, b->status, "building a %s: %s", b->schema->name, b->why);
    *data = front(b);
    *size = b->size;
    return WICK_OK;
}
