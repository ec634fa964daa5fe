/* export/decoder/layer.c - one residual block: which mixer stands in its first half and which feed-forward in its second. */
#include "export/decoder/parts.h"

/* A part takes the normed (1, S, dim) and gives what is added to the stream. NULL: this build has none. */
typedef uint32_t part(struct wick_decoder *d, int layer, uint32_t x);

static part *const mixers[WICK_LAYER_KIND_COUNT] = {
    [WICK_LAYER_ATTENTION] = wick_decoder_attention,
    [WICK_LAYER_CONV] = wick_decoder_short_conv,
    [WICK_LAYER_LINEAR_ATTENTION] = wick_decoder_delta_net,
    [WICK_LAYER_SKIP_ATTENTION] = NULL,
};

static part *const feed_forwards[] = {
    [WICK_FFN_DENSE] = wick_decoder_feed_forward,
    [WICK_FFN_MOE] = wick_decoder_moe,
};

static uint32_t run(struct wick_decoder *d, part *const which, const char *kind, int layer, uint32_t x)
{
    if (which) return which(d, layer, x);
    wick_graph_fail(d->g, WICK_NOT_SUPPORTED, "layer %d: %s: not supported", layer, kind);
    return WICK_NO_VALUE;
}

uint32_t wick_decoder_layer(struct wick_decoder *d, int layer, uint32_t x)
{
    struct wick_graph *g = d->g;
    uint32_t one = wick_graph_int(g, 1);
    enum wick_layer_kind kind = wick_hparams_layer_kind(d->h, layer);
    enum wick_ffn_kind ffn = d->h->moe ? WICK_FFN_MOE : WICK_FFN_DENSE;
    wick_graph_scope(g, "layers.%d", layer);
    uint32_t normed = wick_decoder_norm(d, layer, "attention_norm", x, d->h->dim);
    x = wick_graph_call(g, "aten::add.out", 3, x, run(d, mixers[kind], wick_layer_kind_name(kind), layer, normed), one);
    wick_graph_scope(g, "layers.%d", layer);
    normed = wick_decoder_norm(d, layer, "ffn_norm", x, d->h->dim);
    return wick_graph_call(g, "aten::add.out", 3, x, run(d, feed_forwards[ffn], "mixture of experts", layer, normed), one);
}
