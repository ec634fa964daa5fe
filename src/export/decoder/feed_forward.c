/* export/decoder/feed_forward.c - the gated feed-forward of one layer. */
#include "export/decoder/parts.h"

uint32_t wick_decoder_activate(struct wick_decoder *d, uint32_t x)
{
    struct wick_graph *g = d->g;
    x = wick_decoder_cast(d, x, WICK_DTYPE_F32);
    if (d->h->act_fn == WICK_SILU) x = wick_graph_call(g, "aten::mul.out", 2, x, wick_graph_call(g, "aten::sigmoid.out", 1, x));
    else x = wick_graph_call(g, "aten::gelu.out", 2, x, wick_graph_string(g, d->h->act_fn == WICK_GELU ? "none" : "tanh"));
    return wick_decoder_cast(d, x, d->b->dtype);
}

/* w2(act(w1 x) * w3 x) */
uint32_t wick_decoder_feed_forward(struct wick_decoder *d, int layer, uint32_t x)
{
    const struct wick_hparams *h = d->h;
    wick_graph_scope(d->g, "layers.%d.feed_forward", layer);
    uint32_t gate = wick_decoder_linear(d, layer, "feed_forward.w1", x, h->hidden_dim, h->dim, h->mlp_bias);
    uint32_t up = wick_decoder_linear(d, layer, "feed_forward.w3", x, h->hidden_dim, h->dim, h->mlp_bias);
    uint32_t product = wick_graph_call(d->g, "aten::mul.out", 2, wick_decoder_activate(d, gate), up);
    return wick_decoder_linear(d, layer, "feed_forward.w2", wick_decoder_turn_hidden(d, product), h->dim, h->hidden_dim, h->mlp_bias);
}
