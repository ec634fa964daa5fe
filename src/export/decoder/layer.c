/* export/decoder/layer.c - one residual block: which mixer stands in its first half and which feed-forward in its second. */
#include "export/decoder/parts.h"

#include "graph/derived.h"

#include <math.h>

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

/* stream + branch; with gates alpha * stream + beta * branch, beta = sigmoid(g / 0.3), alpha = sqrt(max(sigmoid(-g / 0.3) * (1 + beta), 1e-3)): both known
 * now, so they are constants. */
static float gate_beta(float g) { return 1.0f / (1.0f + expf(-g / 0.3f)); }

static float gate_alpha(float g)
{
    float squared = 1.0f / (1.0f + expf(g / 0.3f)) * (1.0f + gate_beta(g));
    return sqrtf(squared > 1e-3f ? squared : 1e-3f);
}

static uint32_t gate_constant(struct wick_decoder *d, int layer, const char *name, const char *part_name, float (*f)(float))
{
    struct wick_source *source = wick_decoder_source(d, layer, wick_graph_name(d->g, "%s.gate", name), d->h->dim, 0);
    if (source) source = wick_source_mapped(&d->g->arena, source, f);
    return wick_decoder_wide_constant(d, wick_graph_name(d->g, "layers.%d.%s.%s", layer, name, part_name), source);
}

static uint32_t add_branch(struct wick_decoder *d, int layer, const char *name, uint32_t stream, uint32_t branch)
{
    struct wick_graph *g = d->g;
    uint32_t one = wick_graph_int(g, 1);
    if (d->h->residual_multiplier > 0 && d->h->residual_multiplier < 1)
        branch = wick_graph_call(g, "aten::mul.Scalar_out", 2, branch, wick_graph_double(g, d->h->residual_multiplier));
    if (!d->h->use_residual_gate) return wick_graph_call(g, "aten::add.out", 3, stream, branch, one);
    uint32_t kept = wick_graph_call(g, "aten::mul.out", 2, wick_decoder_wide(d, stream), gate_constant(d, layer, name, "alpha", gate_alpha));
    uint32_t added = wick_graph_call(g, "aten::mul.out", 2, wick_decoder_wide(d, branch), gate_constant(d, layer, name, "beta", gate_beta));
    return wick_decoder_cast(d, wick_graph_call(g, "aten::add.out", 3, kept, added, one), d->b->dtype);
}

/* The first half of a layer without attention: nothing is added, but a gate still weighs the stream. */
static uint32_t skipped(struct wick_decoder *d, int layer, uint32_t x)
{
    if (!d->h->use_residual_gate) return x;
    return add_branch(d, layer, "add_attn", x, wick_graph_call(d->g, "aten::mul.Scalar_out", 2, x, wick_graph_double(d->g, 0.0)));
}

uint32_t wick_decoder_layer(struct wick_decoder *d, int layer, uint32_t x)
{
    const struct wick_hparams *h = d->h;
    enum wick_layer_kind kind = wick_hparams_layer_kind(h, layer);
    enum wick_ffn_kind ffn = h->moe ? WICK_FFN_MOE : WICK_FFN_DENSE;
    wick_graph_scope(d->g, "layers.%d", layer);
    if (kind == WICK_LAYER_SKIP_ATTENTION) {
        x = skipped(d, layer, x);
    } else {
        uint32_t branch = run(d, mixers[kind], wick_layer_kind_name(kind), layer, wick_decoder_norm(d, layer, "attention_norm", x, h->dim));
        wick_graph_scope(d->g, "layers.%d", layer);
        if (h->post_attention_norm) branch = wick_decoder_norm(d, layer, "post_attention_norm", branch, h->dim);
        if (h->use_residual_gate) branch = wick_decoder_scaleless_norm(d, branch);
        x = add_branch(d, layer, "add_attn", x, branch);
    }
    uint32_t branch = run(d, feed_forwards[ffn], "mixture of experts", layer, wick_decoder_norm(d, layer, "ffn_norm", x, h->dim));
    wick_graph_scope(d->g, "layers.%d", layer);
    if (h->post_ffn_norm) branch = wick_decoder_norm(d, layer, "post_ffn_norm", branch, h->dim);
    if (h->use_ffn_learnable_scales) branch = wick_decoder_scaled_input_norm(d, layer, "post_ffn_norm", branch, h->dim);
    return add_branch(d, layer, "add_ffn", x, branch);
}
