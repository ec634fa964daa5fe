/* export/decoder/short_conv.c - a layer whose mixer is a gated short convolution: out(C x * conv(B x * x)). */
#include "export/decoder/parts.h"

enum { KERNEL = 3 };

uint32_t wick_decoder_short_conv(struct wick_decoder *d, int layer, uint32_t x)
{
    struct wick_graph *g = d->g;
    int64_t dim = d->h->dim;
    wick_graph_scope(g, "layers.%d.conv", layer);
    uint32_t b = wick_decoder_linear(d, layer, "conv.B_proj", x, dim, dim, false);
    uint32_t c = wick_decoder_linear(d, layer, "conv.C_proj", x, dim, dim, false);
    uint32_t u = wick_graph_call(g, "aten::mul.out", 2, b, wick_decoder_linear(d, layer, "conv.x_proj", x, dim, dim, false));
    uint32_t mixed = wick_decoder_causal_conv(d, layer, "conv.conv.weight", "conv.conv_state", u, dim, KERNEL);
    return wick_decoder_linear(d, layer, "conv.out_proj", wick_graph_call(g, "aten::mul.out", 2, wick_decoder_wide(d, c), mixed), dim, dim, false);
}
