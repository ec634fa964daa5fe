/* export/decoder/positions.c - where a call's tokens stand: numbers, and what is made of them: spans, rope rows. */
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

/* -inf in the model's dtype. */
static uint32_t minus_infinity(struct wick_decoder *d)
{
    struct wick_graph *g = d->g;
    void *infinity = WICK_NEW(&g->arena, float);
    const float value = -INFINITY;
    const uint16_t half = d->b->dtype == WICK_DTYPE_BF16 ? wick_bf16_from_f32(value) : wick_f16_from_f32(value);
    if (infinity && d->b->dtype == WICK_DTYPE_F32) memcpy(infinity, &value, sizeof value);
    else if (infinity) memcpy(infinity, &half, sizeof half);
    struct wick_shape scalar = wick_shape_make(d->b->dtype, 0, NULL);
    return wick_graph_constant(g, "attention.minus_infinity", infinity ? wick_source_of_bytes(&g->arena, &scalar, infinity) : NULL);
}

void wick_decoder_positions(struct wick_decoder *d)
{
    wick_graph_scope(d->g, "positions");
    /* The custom operators cannot cap scores. */
    d->custom = d->b->custom_sdpa && !(d->h->attn_logit_softcapping > 0);
    read_position(d);
    wick_decoder_spans(d);
    wick_decoder_rope_tables(d);
    if (!d->custom) d->minus_infinity = minus_infinity(d);
}
