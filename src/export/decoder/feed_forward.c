/* export/decoder/feed_forward.c - the gated feed-forward of one layer. */
#include "export/decoder/parts.h"

/* w2(silu(w1 x) * w3 x) */
uint32_t wick_decoder_feed_forward(struct wick_decoder *d, int layer, uint32_t x)
{
    const struct wick_hparams *h = d->h;
    wick_graph_scope(d->g, "layers.%d.feed_forward", layer);
    uint32_t gate = wick_decoder_linear(d, layer, "feed_forward.w1", x, h->hidden_dim, h->dim, false);
    uint32_t up = wick_decoder_linear(d, layer, "feed_forward.w3", x, h->hidden_dim, h->dim, false);
    uint32_t silu = wick_graph_call(d->g, "aten::mul.out", 2, gate, wick_graph_call(d->g, "aten::sigmoid.out", 1, gate));
    return wick_decoder_linear(d, layer, "feed_forward.w2", wick_graph_call(d->g, "aten::mul.out", 2, silu, up), h->dim, h->hidden_dim, false);
}
