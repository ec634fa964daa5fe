/* export/decoder/positions.c - where a call's tokens stand: numbers, rope rows, the mask and the rows of the cache. */
#include "export/decoder/parts.h"

#include "tensor/half.h"

#include <math.h>

static void read_position(struct wick_decoder *d)
{
    struct wick_graph *g = d->g;
    int s = d->b->tokens;
    d->length = wick_graph_number(g, "aten::sym_size.int", wick_decoder_int(s), 2, d->tokens, wick_graph_int(g, 1));
    if (!d->b->kv_cache) {
        d->start = wick_graph_int(g, 0);
        d->end = d->length;
        return;
    }
    int32_t one = 1;
    struct wick_shape shape = wick_shape_make(WICK_DTYPE_I64, 1, &one);
    d->input_pos = wick_graph_input(g, "input_pos", &shape);
    uint32_t first = wick_graph_call(g, "aten::select_copy.int_out", 3, d->input_pos, wick_graph_int(g, 0), wick_graph_int(g, 0));
    d->start = wick_graph_number(g, "aten::_local_scalar_dense", wick_decoder_int(0), 1, first);
    d->end = wick_graph_number(g, "executorch_prim::add.Scalar", wick_decoder_int(s), 2, d->start, d->length);
}

/* 0, 1, ..: rows of the cache that this call writes. */
static uint32_t cache_rows(struct wick_decoder *d)
{
    struct wick_graph *g = d->g;
    int32_t size = d->b->context;
    int64_t *count = WICK_NEW_ARRAY(&g->arena, int64_t, (size_t)size);
    if (!count) {
        wick_graph_fail(g, WICK_OUT_OF_MEMORY, "no memory for %d row numbers", size);
        return WICK_NO_VALUE;
    }
    for (int32_t i = 0; i < size; i++) count[i] = i;
    struct wick_shape shape = wick_shape_make(WICK_DTYPE_I64, 1, &size);
    uint32_t all = wick_graph_constant(g, "attention.rows", wick_source_of_bytes(&g->arena, &shape, count));
    return wick_decoder_rows(d, all, 0, d->start, d->end);
}

/* The lower triangle's rows of this call, and the row numbers that the cache writes. */
static void prepare_mask(struct wick_decoder *d)
{
    struct wick_graph *g = d->g;
    size_t c = (size_t)d->b->context;
    bool *triangle = WICK_NEW_ARRAY(&g->arena, bool, c * c);
    void *infinity = WICK_NEW(&g->arena, float);
    if (!triangle || !infinity) {
        wick_graph_fail(g, WICK_OUT_OF_MEMORY, "no memory for a mask of %zu x %zu", c, c);
        return;
    }
    for (size_t row = 0; row < c; row++)
        for (size_t column = 0; column <= row; column++) triangle[row * c + column] = true;
    d->visible = wick_decoder_rows(d, wick_decoder_table(d, "attention.mask", WICK_DTYPE_BOOL, d->b->context, d->b->context, triangle), 0, d->start, d->end);
    if (d->b->kv_cache) d->positions = cache_rows(d);
    else d->visible = wick_decoder_rows(d, d->visible, 1, d->start, d->end);
    const float value = -INFINITY;
    const uint16_t half = d->b->dtype == WICK_DTYPE_BF16 ? wick_bf16_from_f32(value) : wick_f16_from_f32(value);
    if (d->b->dtype == WICK_DTYPE_F32) memcpy(infinity, &value, sizeof value);
    else memcpy(infinity, &half, sizeof half);
    struct wick_shape scalar = wick_shape_make(d->b->dtype, 0, NULL);
    d->minus_infinity = wick_graph_constant(g, "attention.minus_infinity", wick_source_of_bytes(&g->arena, &scalar, infinity));
}

void wick_decoder_positions(struct wick_decoder *d)
{
    wick_graph_scope(d->g, "positions");
    read_position(d);
    wick_decoder_rope_tables(d);
    if (!d->b->custom_sdpa) prepare_mask(d);
}
