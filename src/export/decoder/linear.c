/* export/decoder/linear.c - the linear layers of a decoder. */
#include "export/decoder/parts.h"

uint32_t wick_decoder_linear(struct wick_decoder *d, int layer, const char *name, uint32_t x, int64_t rows, int64_t columns, bool bias)
{
    struct wick_graph *g = d->g;
    uint32_t weight = wick_decoder_weight(d, layer, wick_graph_name(g, "%s.weight", name), rows, columns);
    uint32_t added = bias ? wick_decoder_weight(d, layer, wick_graph_name(g, "%s.bias", name), rows, 0) : wick_graph_none(g);
    x = wick_decoder_cast(d, x, d->b->dtype);
    return wick_decoder_adapted(d, layer, name, x, wick_graph_call(g, "aten::linear.out", 3, x, weight, added), rows, columns);
}
