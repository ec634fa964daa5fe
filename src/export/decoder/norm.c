/* export/decoder/norm.c - norms. */
#include "export/decoder/parts.h"

#include "graph/derived.h"

static float one_more(float w) { return 1.0f + w; }

uint32_t wick_decoder_scaleless_norm(struct wick_decoder *d, uint32_t x)
{
    struct wick_graph *g = d->g;
    x = wick_decoder_cast(d, x, WICK_DTYPE_F32);
    uint32_t square = wick_graph_call(g, "aten::mul.out", 2, x, x);
    uint32_t mean = wick_graph_call(g, "aten::mean.out", 4, square, wick_graph_ints(g, 1, (int64_t)-1), wick_graph_bool(g, true), wick_graph_none(g));
    uint32_t moved = wick_graph_call(g, "aten::add.Scalar_out", 3, mean, wick_graph_double(g, d->h->norm_eps), wick_graph_int(g, 1));
    uint32_t scaled = wick_graph_call(g, "aten::mul.out", 2, x, wick_graph_call(g, "aten::rsqrt.out", 1, moved));
    return wick_decoder_cast(d, scaled, d->b->dtype);
}

uint32_t wick_decoder_scaled_input_norm(struct wick_decoder *d, int layer, const char *name, uint32_t x, int64_t size)
{
    uint32_t weight = wick_decoder_weight(d, layer, wick_graph_name(d->g, "%s.weight", name), size, 0);
    return wick_decoder_scaleless_norm(d, wick_graph_call(d->g, "aten::mul.out", 2, x, weight));
}

uint32_t wick_decoder_norm(struct wick_decoder *d, int layer, const char *name, uint32_t x, int64_t size)
{
    const char *full = wick_graph_name(d->g, "%s.weight", name);
    struct wick_source *source = wick_decoder_source(d, layer, full, size, 0);
    if (source && d->h->rms_norm_add_unit_offset) source = wick_source_mapped(&d->g->arena, source, one_more);
    uint32_t weight = wick_decoder_constant(d, layer >= 0 ? wick_graph_name(d->g, "layers.%d.%s", layer, full) : full, source);
    return wick_graph_call(d->g, "aten::mul.out", 2, wick_decoder_scaleless_norm(d, x), weight);
}
