/* export/decoder/moe.c - a feed-forward of which each token visits A of E experts.
 *
 * In plain operators, as the original traces it, the weights of the visited experts are gathered per token and multiplied; with the quantized operator they
 * stay where they are, packed in 4 bits (export/experts.h). */
#include "export/decoder/parts.h"

#include "export/experts.h"
#include "graph/derived.h"

#include <float.h>

enum { BITS = 4, GROUP = 32 };

struct routed {
    uint32_t weights; /* (S, A) */
    uint32_t experts; /* (S, A) i64 */
};

static uint32_t view(struct wick_decoder *d, uint32_t x, int64_t a, int64_t b, int64_t c)
{
    return wick_graph_call(d->g, "aten::view_copy.out", 2, x, c ? wick_graph_ints(d->g, 3, a, b, c) : wick_graph_ints(d->g, 2, a, b));
}

static uint32_t softmax(struct wick_decoder *d, uint32_t x)
{
    return wick_graph_call(d->g, "aten::_softmax.out", 3, x, wick_graph_int(d->g, -1), wick_graph_bool(d->g, false));
}

/* In f32, given back in the model's dtype. */
static uint32_t silu(struct wick_decoder *d, uint32_t x)
{
    x = wick_decoder_wide(d, x);
    return wick_decoder_cast(d, wick_graph_call(d->g, "aten::mul.out", 2, x, wick_graph_call(d->g, "aten::sigmoid.out", 1, x)), d->b->dtype);
}

/* A weight of what is computed in f32: the router. */
static uint32_t wide_weight(struct wick_decoder *d, int layer, const char *name, int64_t rows, int64_t columns)
{
    return wick_decoder_wide_constant(d, wick_graph_name(d->g, "layers.%d.%s", layer, name), wick_decoder_source(d, layer, name, rows, columns));
}

/* x (S, dim) */
static struct routed route(struct wick_decoder *d, int layer, uint32_t x)
{
    struct wick_graph *g = d->g;
    const struct wick_hparams *h = d->h;
    uint32_t scores = wick_decoder_linear(d, layer, "block_sparse_moe.gate", x, h->num_experts, h->dim, false), one = wick_graph_int(g, 1), last = wick_graph_int(g, -1);
    scores = wick_decoder_wide(d, scores);
    if (h->moe_score_func == WICK_MOE_SIGMOID) scores = wick_graph_call(g, "aten::sigmoid.out", 1, scores);
    else if (h->moe_score_func == WICK_MOE_SOFTMAX_ALL) scores = softmax(d, scores);
    uint32_t ranked = scores;
    if (h->moe_use_expert_bias)
        ranked = wick_graph_call(g, "aten::add.out", 3, scores, wide_weight(d, layer, "block_sparse_moe.expert_bias", h->num_experts, 0), one);
    struct wick_shape shape = wick_shape_make(WICK_DTYPE_F32, 2, (const int32_t[]){d->b->tokens, (int32_t)h->num_activated_experts});
    struct routed r = {.weights = wick_graph_tensor(g, &shape)};
    shape.dtype = WICK_DTYPE_I64;
    r.experts = wick_graph_tensor(g, &shape);
    wick_graph_effect(g, "aten::topk.values", 7, ranked, wick_graph_int(g, h->num_activated_experts), last, wick_graph_bool(g, true), wick_graph_bool(g, true), r.weights,
                      r.experts);
    if (h->moe_use_expert_bias) r.weights = wick_graph_call(g, "aten::gather.out", 4, scores, wick_graph_int(g, 1), r.experts, wick_graph_bool(g, false));
    if (h->moe_score_func == WICK_MOE_SOFTMAX) r.weights = softmax(d, r.weights);
    if (h->moe_score_func != WICK_MOE_SIGMOID) return r;
    uint32_t sum = wick_graph_call(g, "aten::sum.IntList_out", 4, r.weights, wick_graph_ints(g, 1, (int64_t)-1), wick_graph_bool(g, true), wick_graph_none(g));
    sum = wick_graph_call(g, "aten::clamp.out", 3, sum, wick_graph_double(g, (double)FLT_MIN), wick_graph_none(g));
    r.weights = wick_graph_call(g, "aten::div.out", 2, r.weights, sum);
    if (h->moe_route_scale != 1) r.weights = wick_graph_call(g, "aten::mul.Scalar_out", 2, r.weights, wick_graph_double(g, h->moe_route_scale));
    return r;
}

/* ---- plain operators ---- */

static int64_t expert_dim(const struct wick_hparams *h) { return h->moe_hidden_dim > 0 ? h->moe_hidden_dim : h->hidden_dim; }

static struct wick_source *expert_source(struct wick_decoder *d, int layer, int which, bool *by_hidden)
{
    const struct wick_hparams *h = d->h;
    struct wick_source *source = NULL;
    wick_error err;
    if (d->g->status == WICK_OK && wick_weights_experts(d->b->weights, layer, which, h->num_experts, expert_dim(h), h->dim, &source, by_hidden, &err) != WICK_OK)
        wick_graph_fail(d->g, err.status, "%s", err.message);
    return source;
}

/* One of w1, w2, w3 of the visited experts: (S * A, rows, columns), where w2 has (hidden, dim) if by_hidden, else (dim, hidden). */
static uint32_t gathered(struct wick_decoder *d, int layer, int which, uint32_t experts, bool *by_hidden)
{
    struct wick_graph *g = d->g;
    struct wick_source *source = expert_source(d, layer, which, by_hidden);
    if (!source) return WICK_NO_VALUE;
    int32_t count = (int32_t)d->h->num_experts, sizes[3] = {count, source->shape.sizes[0] / count, source->shape.sizes[1]};
    const char *name = wick_graph_name(g, "layers.%d.block_sparse_moe.cond_ffn.w%d", layer, which + 1);
    uint32_t all = wick_decoder_constant(d, name, wick_source_shaped(&g->arena, source, 3, sizes));
    return wick_graph_call(g, "aten::index.Tensor_out", 2, all, wick_graph_optional_tensors(g, &experts, 1));
}

/* x (S, dim): the weighted sum of the experts' answers (S, dim). */
static uint32_t plain_experts(struct wick_decoder *d, int layer, uint32_t x, struct routed r)
{
    struct wick_graph *g = d->g;
    int64_t active = d->h->num_activated_experts, dim = d->h->dim, hidden = expert_dim(d->h);
    bool by_hidden = false;
    uint32_t experts = wick_graph_call(g, "aten::view_copy.out", 2, r.experts, wick_graph_ints(g, 1, (int64_t)-1));
    uint32_t each = wick_graph_call(g, "aten::unsqueeze_copy.out", 2, x, wick_graph_int(g, 1));
    each = wick_graph_call(g, "aten::expand_copy.out", 3, each, wick_graph_ints(g, 3, (int64_t)-1, active, (int64_t)-1), wick_graph_bool(g, false));
    each = view(d, each, -1, dim, 1);
    uint32_t gate = wick_graph_call(g, "aten::bmm.out", 2, gathered(d, layer, 0, experts, &by_hidden), each);
    uint32_t up = wick_graph_call(g, "aten::bmm.out", 2, gathered(d, layer, 2, experts, &by_hidden), each);
    uint32_t middle = wick_graph_call(g, "aten::mul.out", 2, silu(d, gate), up);
    uint32_t down = gathered(d, layer, 1, experts, &by_hidden);
    uint32_t answers = by_hidden ? wick_graph_call(g, "aten::bmm.out", 2, view(d, middle, -1, 1, hidden), down) : wick_graph_call(g, "aten::bmm.out", 2, down, middle);
    uint32_t sum = wick_graph_call(g, "aten::bmm.out", 2, view(d, wick_decoder_cast(d, r.weights, d->b->dtype), -1, 1, active), view(d, answers, -1, active, dim));
    return view(d, sum, -1, dim, 0);
}

/* ---- the quantized operator ---- */

static uint32_t packed(struct wick_decoder *d, int layer, const char *name, struct wick_source *const *parts, size_t count, int group)
{
    struct wick_source *source = NULL;
    wick_error err;
    if (d->g->status != WICK_OK) return WICK_NO_VALUE;
    if (wick_experts_pack(&source, &d->g->arena, parts, count, (size_t)d->h->num_experts, group, BITS, &err) != WICK_OK) {
        wick_graph_fail(d->g, err.status, "layer %d: %s", layer, err.message);
        return WICK_NO_VALUE;
    }
    return wick_graph_constant(d->g, wick_graph_name(d->g, "layers.%d.block_sparse_moe.%s", layer, name), source);
}

static uint32_t quantized_experts(struct wick_decoder *d, int layer, uint32_t x)
{
    struct wick_graph *g = d->g;
    const struct wick_hparams *h = d->h;
    int group = d->b->moe_group > 0 ? d->b->moe_group : GROUP;
    bool by_hidden = false, sigmoid = h->moe_score_func == WICK_MOE_SIGMOID;
    if (h->moe_score_func == WICK_MOE_SOFTMAX_ALL || (h->moe_use_expert_bias && !sigmoid)) {
        wick_graph_fail(g, WICK_NOT_SUPPORTED, "model.use_moe_quantized_op with %s: not supported; leave it false",
                        h->moe_use_expert_bias ? "moe_use_expert_bias and without moe_score_func sigmoid" : "moe_score_func softmax_all");
        return WICK_NO_VALUE;
    }
    struct wick_source *wide[2] = {expert_source(d, layer, 0, &by_hidden), expert_source(d, layer, 2, &by_hidden)}, *narrow = expert_source(d, layer, 1, &by_hidden);
    if (g->status != WICK_OK) return WICK_NO_VALUE;
    if (by_hidden) narrow = wick_source_transposed(&g->arena, narrow, (size_t)h->num_experts);
    struct wick_shape none = wick_shape_make(WICK_DTYPE_F32, 1, (const int32_t[]){0});
    uint32_t bias = h->moe_use_expert_bias ? wide_weight(d, layer, "block_sparse_moe.expert_bias", h->num_experts, 0)
                                           : wick_graph_constant(g, "block_sparse_moe.no_bias", wick_source_of_bytes(&g->arena, &none, ""));
    uint32_t gate = wide_weight(d, layer, "block_sparse_moe.gate.weight", h->num_experts, h->dim);
    uint32_t sum = wick_graph_call(g, "llama::quantized_moe_ffn.out", 13, wick_decoder_wide(d, x), gate, bias,
                           packed(d, layer, "packed_w13", wide, 2, group), packed(d, layer, "packed_w2", &narrow, 1, group), wick_graph_int(g, h->num_activated_experts),
                           wick_graph_int(g, h->num_experts), wick_graph_int(g, expert_dim(h)), wick_graph_int(g, h->dim), wick_graph_int(g, group),
                           wick_graph_int(g, BITS), wick_graph_string(g, sigmoid ? "sigmoid" : "softmax"), wick_graph_double(g, h->moe_route_scale));
    return wick_decoder_cast(d, sum, d->b->dtype);
}

static uint32_t shared_expert(struct wick_decoder *d, int layer, uint32_t x)
{
    struct wick_graph *g = d->g;
    int64_t dim = d->h->dim, hidden = d->h->moe_shared_expert_hidden_dim;
    uint32_t gate = wick_decoder_linear(d, layer, "block_sparse_moe.shared_expert.w1", x, hidden, dim, false);
    uint32_t up = wick_decoder_linear(d, layer, "block_sparse_moe.shared_expert.w3", x, hidden, dim, false);
    return wick_decoder_linear(d, layer, "block_sparse_moe.shared_expert.w2", wick_graph_call(g, "aten::mul.out", 2, silu(d, gate), up), dim, hidden, false);
}

uint32_t wick_decoder_moe(struct wick_decoder *d, int layer, uint32_t x)
{
    struct wick_graph *g = d->g;
    wick_graph_scope(g, "layers.%d.block_sparse_moe", layer);
    x = view(d, x, -1, d->h->dim, 0);
    uint32_t sum = d->b->moe_quantized ? quantized_experts(d, layer, x) : plain_experts(d, layer, x, route(d, layer, x));
    if (d->h->moe_shared_expert_hidden_dim > 0) sum = wick_graph_call(g, "aten::add.out", 3, sum, shared_expert(d, layer, x), wick_graph_int(g, 1));
    return view(d, sum, 1, -1, d->h->dim);
}
