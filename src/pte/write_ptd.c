/* pte/write_ptd.c - the tables before the segments of a .ptd tensor file: an ordinary FlatBuffer with a block of 48 bytes spliced in after the
 * identifier. */
#include "pte/write.h"

#include "flat/build.h"
#include "pte/ptd_schema.h"

#include <stdlib.h>

/* Bytes 8..55: a header of 40, padded to 16. */
enum { BLOCK = 48, HEADER_LENGTH = 40 };

static void put(uint8_t *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) at[i] = (uint8_t)(value >> (8 * i));
}

static flat_ref add_layout(struct wick_flat_builder *b, const struct wick_shape *shape)
{
    if (!shape) return 0;
    flat_ref sizes = wick_flat_add_vector(b, FLAT_I32, shape->sizes, shape->rank, 0), order = wick_flat_add_vector(b, FLAT_U8, shape->dim_order, shape->rank, 0);
    wick_flat_table_begin(b, PTD_TABLE_LAYOUT);
    wick_flat_set_int(b, PTD_LAYOUT_SCALAR_TYPE, shape->dtype);
    wick_flat_set_ref(b, PTD_LAYOUT_SIZES, sizes);
    wick_flat_set_ref(b, PTD_LAYOUT_DIM_ORDER, order);
    return wick_flat_table_end(b);
}

static flat_ref add_root(struct wick_flat_builder *b, const struct wick_ptd_program *p, flat_ref *refs)
{
    for (uint32_t i = 0; i < p->segment_count; i++) {
        wick_flat_table_begin(b, PTD_TABLE_SEGMENT);
        wick_flat_set_u64(b, PTD_SEGMENT_OFFSET, p->segments[i].offset);
        wick_flat_set_u64(b, PTD_SEGMENT_SIZE, p->segments[i].size);
        refs[i] = wick_flat_table_end(b);
    }
    flat_ref segments = wick_flat_add_tables(b, refs, p->segment_count);
    for (uint32_t i = 0; i < p->named_count; i++) {
        flat_ref key = wick_flat_add_string(b, p->named[i].key), layout = add_layout(b, p->named[i].layout);
        wick_flat_table_begin(b, PTD_TABLE_NAMED_DATA);
        wick_flat_set_ref(b, PTD_NAMED_DATA_KEY, key);
        wick_flat_set_int(b, PTD_NAMED_DATA_SEGMENT_INDEX, p->named[i].segment);
        wick_flat_set_ref(b, PTD_NAMED_DATA_TENSOR_LAYOUT, layout);
        refs[i] = wick_flat_table_end(b);
    }
    flat_ref named = wick_flat_add_tables(b, refs, p->named_count);
    wick_flat_table_begin(b, PTD_TABLE_ROOT);
    wick_flat_set_ref(b, PTD_ROOT_SEGMENTS, segments);
    wick_flat_set_ref(b, PTD_ROOT_NAMED_DATA, named);
    return wick_flat_table_end(b);
}

wick_status wick_ptd_render(const struct wick_ptd_program *program, uint32_t alignment, uint8_t **bytes, size_t *size, wick_error *err)
{
    struct wick_flat_builder b;
    size_t most = WICK_MAX(program->segment_count, program->named_count) + (size_t)1, built_size = 0;
    uint8_t *built = NULL;
    flat_ref *refs = malloc(most * sizeof *refs);
    *bytes = NULL;
    if (!refs) return wick_fail_oom(err, most * sizeof *refs, "data file tables");
    wick_flat_builder_init(&b, &wick_ptd_schema);
    wick_status status = wick_flat_finish(&b, add_root(&b, program, refs), BLOCK, &built, &built_size, err);
    if (status == WICK_OK && !(*bytes = malloc(built_size))) status = wick_fail_oom(err, built_size, "data file tables");
    if (status == WICK_OK) {
        uint64_t end = 0;
        for (uint32_t i = 0; i < program->segment_count; i++) end = WICK_MAX(end, program->segments[i].offset + program->segments[i].size);
        memcpy(*bytes, built, built_size);
        memcpy(*bytes + 8, "FH01", 4);
        put(*bytes + 12, HEADER_LENGTH, 4);
        put(*bytes + 16, BLOCK, 8);
        put(*bytes + 24, built_size - BLOCK, 8);
        put(*bytes + 32, wick_pte_segment_base(built_size, alignment), 8);
        put(*bytes + 40, end, 8);
        *size = built_size;
    }
    free(refs);
    wick_flat_builder_free(&b);
    return status;
}
