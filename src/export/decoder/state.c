/* export/decoder/state.c - kept state of layers that see the past through it alone, not through positions: it must be forgotten when a sequence begins. */
#include "export/decoder/parts.h"

uint32_t wick_decoder_since_start(struct wick_decoder *d, uint32_t kept)
{
    struct wick_graph *g = d->g;
    if (!d->at_start) {
        float *zero = WICK_NEW(&g->arena, float);
        struct wick_shape scalar = wick_shape_make(WICK_DTYPE_F32, 0, NULL);
        d->at_start = wick_graph_call(g, "aten::eq.Scalar_out", 2, d->input_pos, wick_graph_int(g, 0));
        d->zero = wick_graph_constant(g, "state.zero", zero ? wick_source_of_bytes(&g->arena, &scalar, zero) : NULL);
    }
    return wick_graph_call(g, "aten::where.self_out", 3, d->at_start, d->zero, kept);
}

uint32_t wick_decoder_zeros(struct wick_decoder *d, const struct wick_shape *shape)
{
    void *bytes = wick_arena_alloc(&d->g->arena, wick_shape_nbytes(shape), 64);
    return wick_graph_constant(d->g, "state.zeros", bytes ? wick_source_of_bytes(&d->g->arena, shape, bytes) : NULL);
}
