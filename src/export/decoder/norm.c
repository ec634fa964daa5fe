/* export/decoder/norm.c - norms. */
#include "export/decoder/parts.h"

/* x * rsqrt(mean(x^2) + eps) * w over the last dim. */
uint32_t wick_decoder_norm(struct wick_decoder *d, int layer, const char *name, uint32_t x, int64_t size)
{
    struct wick_graph *g = d->g;
    uint32_t weight = wick_decoder_weight(d, layer, wick_graph_name(g, "%s.weight", name), size, 0);
    uint32_t square = wick_graph_call(g, "aten::mul.out", 2, x, x);
    uint32_t mean = wick_graph_call(g, "aten::mean.out", 4, square, wick_graph_ints(g, 1, (int64_t)-1), wick_graph_bool(g, true), wick_graph_none(g));
    uint32_t moved = wick_graph_call(g, "aten::add.Scalar_out", 3, mean, wick_graph_double(g, d->h->norm_eps), wick_graph_int(g, 1));
    uint32_t scale = wick_graph_call(g, "aten::rsqrt.out", 1, moved);
    uint32_t scaled = wick_graph_call(g, "aten::mul.out", 2, x, scale);
    return wick_graph_call(g, "aten::mul.out", 2, scaled, weight);
}
