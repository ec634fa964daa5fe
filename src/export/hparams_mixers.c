/* export/hparams_mixers.c - hyper-parameters of layers that are not attention and dense feed-forward: what follows from them, and limits. */
#include "export/hparams.h"

#include <math.h>

struct limit {
    const char *name;
    int64_t value, max;
};

static wick_status check_limits(const struct limit *limits, size_t count, wick_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (limits[i].value < 1 || limits[i].value > limits[i].max)
            return wick_fail(err, WICK_INVALID_CONFIG, "hyper-parameter %s: %lld is not in 1..%lld", limits[i].name, (long long)limits[i].value, (long long)limits[i].max);
    return WICK_OK;
}

static bool has_kind(const struct wick_hparams *h, enum wick_layer_kind kind)
{
    for (int i = 0; i < h->n_layers; i++)
        if (wick_hparams_layer_kind(h, i) == kind) return true;
    return false;
}

static wick_status finish_linear_attention(struct wick_hparams *h, wick_error *err)
{
    if (h->linear_key_head_dim <= 0) h->linear_key_head_dim = h->head_dim;
    if (h->linear_value_head_dim <= 0) h->linear_value_head_dim = h->head_dim;
    if (h->linear_num_key_heads <= 0) h->linear_num_key_heads = h->n_heads;
    if (h->linear_num_value_heads <= 0) h->linear_num_value_heads = h->n_heads;
    const struct limit limits[] = {{"linear_conv_kernel_dim - 1", h->linear_conv_kernel_dim - 1, 63}, {"linear_key_head_dim", h->linear_key_head_dim, 4096},
                                   {"linear_value_head_dim", h->linear_value_head_dim, 4096},     {"linear_num_key_heads", h->linear_num_key_heads, 4096},
                                   {"linear_num_value_heads", h->linear_num_value_heads, 4096}};
    WICK_TRY(check_limits(limits, WICK_ARRAY_SIZE(limits), err));
    if (h->linear_num_value_heads % h->linear_num_key_heads)
        return wick_fail(err, WICK_INVALID_CONFIG, "linear_num_value_heads %lld is no multiple of linear_num_key_heads %lld", (long long)h->linear_num_value_heads,
                         (long long)h->linear_num_key_heads);
    return WICK_OK;
}

static wick_status check_experts(const struct wick_hparams *h, wick_error *err)
{
    const struct limit limits[] = {{"num_experts", h->num_experts, 4096}, {"num_activated_experts", h->num_activated_experts, h->num_experts},
                                   {"moe_hidden_dim", h->moe_hidden_dim ? h->moe_hidden_dim : 1, 1 << 22},
                                   {"moe_shared_expert_hidden_dim", h->moe_shared_expert_hidden_dim ? h->moe_shared_expert_hidden_dim : 1, 1 << 22}};
    WICK_TRY(check_limits(limits, WICK_ARRAY_SIZE(limits), err));
    if (!isfinite(h->moe_route_scale)) return wick_fail(err, WICK_INVALID_CONFIG, "moe_route_scale is no number");
    if (h->moe_route_scale != 1 && h->moe_score_func != WICK_MOE_SIGMOID)
        return wick_fail(err, WICK_INVALID_CONFIG, "moe_route_scale %g goes with moe_score_func sigmoid only", h->moe_route_scale);
    return WICK_OK;
}

wick_status wick_hparams_finish_mixers(struct wick_hparams *h, wick_error *err)
{
    if (has_kind(h, WICK_LAYER_LINEAR_ATTENTION)) WICK_TRY(finish_linear_attention(h, err));
    return h->moe ? check_experts(h, err) : WICK_OK;
}

static uint64_t mixer_parameters(const struct wick_hparams *h, int layer)
{
    uint64_t d = (uint64_t)h->dim, keys = (uint64_t)(h->linear_num_key_heads * h->linear_key_head_dim), heads = (uint64_t)h->linear_num_value_heads;
    uint64_t values = heads * (uint64_t)h->linear_value_head_dim;
    switch (wick_hparams_layer_kind(h, layer)) {
    case WICK_LAYER_CONV: return 4 * d * d + 3 * d;
    case WICK_LAYER_LINEAR_ATTENTION:
        return d * (2 * keys + values) + 2 * d * values + 2 * d * heads + (2 * keys + values) * (uint64_t)h->linear_conv_kernel_dim + 2 * heads +
               (uint64_t)h->linear_value_head_dim;
    case WICK_LAYER_SKIP_ATTENTION: return 0;
    default: return d * (uint64_t)((h->n_heads * (h->use_q_gate ? 3 : 2) + h->n_kv_heads * 2) * h->head_dim);
    }
}

uint64_t wick_hparams_layer_parameters(const struct wick_hparams *h, int layer)
{
    uint64_t d = (uint64_t)h->dim, hidden = (uint64_t)(h->moe && h->moe_hidden_dim ? h->moe_hidden_dim : h->hidden_dim), ffn = 3 * d * hidden;
    if (h->moe) ffn = ffn * (uint64_t)h->num_experts + d * (uint64_t)h->num_experts + 3 * d * (uint64_t)h->moe_shared_expert_hidden_dim;
    return mixer_parameters(h, layer) + ffn + 2 * d;
}
