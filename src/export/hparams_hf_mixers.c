/* export/hparams_hf_mixers.c - what a Hugging Face config.json says about layers that are not attention, and about experts. */
#include "export/hparams.h"

#include "base/json.h"

#include <string.h>

static bool int_of(const json_t *root, const char *name, int64_t *to)
{
    const json_t *v = json_object_get(root, name);
    if (json_is_integer(v)) *to = json_integer_value(v);
    return json_is_integer(v);
}

/* The kind of every layer, by name. */
static wick_status read_layer_types(struct wick_hparams *h, const char *path, const json_t *types, wick_error *err)
{
    size_t n = json_array_size(types);
    if (n > WICK_LAYERS_MAX) return wick_fail(err, WICK_INVALID_CONFIG, "%s: layer_types has %zu entries, %d are the most", path, n, WICK_LAYERS_MAX);
    for (size_t i = 0; i < n; i++) {
        const char *name = json_string_value(json_array_get(types, i));
        if (!name) return wick_fail(err, WICK_INVALID_CONFIG, "%s: layer_types is no list of names", path);
        h->layer_kinds[i] = (uint8_t)wick_layer_kind_of(name);
    }
    h->layer_kind_count = (int)n;
    return WICK_OK;
}

/* Older files of short-convolution models list the attention layers; others say how far apart they are. */
static void read_attention_places(struct wick_hparams *h, const json_t *root)
{
    const json_t *places = json_object_get(root, "full_attn_idxs");
    int64_t every = 0;
    int n = h->n_layers > 0 && h->n_layers <= WICK_LAYERS_MAX ? (int)h->n_layers : 0;
    bool listed = json_is_array(places), spaced = int_of(root, "full_attention_interval", &every) && every > 0;
    if (!listed && !spaced) return;
    for (int i = 0; i < n; i++) h->layer_kinds[i] = listed ? WICK_LAYER_CONV : (i + 1) % every ? WICK_LAYER_LINEAR_ATTENTION : WICK_LAYER_ATTENTION;
    for (size_t i = 0; listed && i < json_array_size(places); i++) {
        int64_t at = json_integer_value(json_array_get(places, i));
        if (at >= 0 && at < n) h->layer_kinds[at] = WICK_LAYER_ATTENTION;
    }
    h->layer_kind_count = n;
}

static wick_status read_short_conv(struct wick_hparams *h, const char *path, const json_t *root, wick_error *err)
{
    int64_t width = 3, multiple = 256;
    if (!json_object_get(root, "conv_L_cache")) return WICK_OK;
    int_of(root, "conv_L_cache", &width);
    if (width != 3) return wick_fail(err, WICK_NOT_SUPPORTED, "%s: conv_L_cache %lld: not supported (3 is)", path, (long long)width);
    if (json_is_true(json_object_get(root, "conv_bias"))) return wick_fail(err, WICK_NOT_SUPPORTED, "%s: conv_bias: not supported", path);
    const json_t *eps = json_object_get(root, "norm_eps"), *theta = json_object_get(root, "theta"), *tied = json_object_get(root, "tie_embedding"),
                 *factor = json_object_get(root, "block_ffn_dim_multiplier");
    if (json_is_number(eps)) h->norm_eps = json_number_value(eps);
    if (json_is_number(theta)) h->rope_theta = json_number_value(theta);
    if (json_is_boolean(tied)) h->tied_embeddings = json_is_true(tied);
    else if (!json_object_get(root, "tie_word_embeddings")) h->tied_embeddings = true;
    int_of(root, "block_ff_dim", &h->hidden_dim);
    if (json_is_false(json_object_get(root, "block_auto_adjust_ff_dim"))) return WICK_OK;
    int_of(root, "block_multiple_of", &multiple);
    if (multiple < 1 || multiple > 1 << 20 || h->hidden_dim < 1 || h->hidden_dim > 1 << 24) return wick_fail(err, WICK_INVALID_CONFIG, "%s: block_multiple_of or block_ff_dim", path);
    int64_t hidden = 2 * h->hidden_dim / 3;
    if (json_is_number(factor) && json_number_value(factor) > 0 && json_number_value(factor) < 1024) hidden = (int64_t)(json_number_value(factor) * (double)hidden);
    h->hidden_dim = (hidden + multiple - 1) / multiple * multiple;
    return WICK_OK;
}

static wick_status read_experts(struct wick_hparams *h, const char *path, const json_t *root, wick_error *err)
{
    int64_t step = 1;
    bool there = int_of(root, "num_local_experts", &h->num_experts) || int_of(root, "num_experts", &h->num_experts);
    if (!there) return WICK_OK;
    h->moe = true;
    int_of(root, "num_experts_per_tok", &h->num_activated_experts);
    int_of(root, "moe_intermediate_size", &h->moe_hidden_dim);
    int_of(root, "decoder_sparse_step", &step);
    if (step != 1 || json_array_size(json_object_get(root, "mlp_only_layers")) > 0)
        return wick_fail(err, WICK_NOT_SUPPORTED, "%s: experts in some of the layers (decoder_sparse_step, mlp_only_layers): not supported", path);
    if (json_object_get(root, "shared_expert_intermediate_size"))
        return wick_fail(err, WICK_NOT_SUPPORTED, "%s: a gated shared expert (shared_expert_intermediate_size): not supported", path);
    /* Softmax over all scores, chosen ones made to sum to 1: the same as softmax over the chosen. */
    if (json_is_false(json_object_get(root, "norm_topk_prob"))) h->moe_score_func = WICK_MOE_SOFTMAX_ALL;
    return WICK_OK;
}

wick_status wick_hparams_hf_mixers(struct wick_hparams *h, const char *path, const struct json_t *root, wick_error *err)
{
    static const char *const linear[] = {"linear_conv_kernel_dim", "linear_key_head_dim", "linear_value_head_dim", "linear_num_key_heads", "linear_num_value_heads"};
    int64_t *const to[] = {&h->linear_conv_kernel_dim, &h->linear_key_head_dim, &h->linear_value_head_dim, &h->linear_num_key_heads, &h->linear_num_value_heads};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(linear); i++) int_of(root, linear[i], to[i]);
    const json_t *types = json_object_get(root, "layer_types");
    if (json_is_array(types)) WICK_TRY(read_layer_types(h, path, types, err));
    else read_attention_places(h, root);
    WICK_TRY(read_short_conv(h, path, root, err));
    return read_experts(h, path, root, err);
}
