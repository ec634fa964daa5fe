/* export/hparams.c - hyper-parameters from params.json, and what follows from them. hparams_hf.c: config.json; hparams_gguf.c: GGUF.
 * Next: the family's build. */
#include "export/hparams.h"

#include "base/json.h"
#include "base/str.h"

#include <stddef.h>
#include <string.h>

void wick_hparams_init(struct wick_hparams *h)
{
    *h = (struct wick_hparams){.dim = 4096, .n_layers = 1, .n_heads = 32, .vocab_size = 512, .multiple_of = 256, .norm_eps = 1e-5, .rope_theta = 10000.0, .partial_rotary_factor = 1,
                               .qk_norm_affine = true, .embedding_scale_factor = 1, .scale_query_by = 1, .yarn_beta_fast = 32, .yarn_beta_slow = 1, .yarn_truncate = true, .rope_scale_factor = 8, .low_freq_factor = 1, .high_freq_factor = 4,
                               .num_experts = 8, .num_activated_experts = 2, .moe_route_scale = 1, .linear_conv_kernel_dim = 4};
}

/* ---- params.json ---- */

enum kind { INT, REAL, FLAG, LAYERS, SCORE, ACTIVATION, SHORT_FACTORS, LONG_FACTORS, GROUP_SIZE, RANK };
static const struct {
    const char *name;
    enum kind kind;
    size_t offset;
} known[] = {
    {"dim", INT, offsetof(struct wick_hparams, dim)},
    {"n_layers", INT, offsetof(struct wick_hparams, n_layers)},
    {"n_heads", INT, offsetof(struct wick_hparams, n_heads)},
    {"n_kv_heads", INT, offsetof(struct wick_hparams, n_kv_heads)},
    {"head_dim", INT, offsetof(struct wick_hparams, head_dim)},
    {"hidden_dim", INT, offsetof(struct wick_hparams, hidden_dim)},
    {"vocab_size", INT, offsetof(struct wick_hparams, vocab_size)},
    {"multiple_of", INT, offsetof(struct wick_hparams, multiple_of)},
    {"ffn_dim_multiplier", REAL, offsetof(struct wick_hparams, ffn_dim_multiplier)},
    {"norm_eps", REAL, offsetof(struct wick_hparams, norm_eps)},
    {"rope_freq_base", REAL, offsetof(struct wick_hparams, rope_theta)},
    {"rope_theta", REAL, offsetof(struct wick_hparams, rope_theta)},
    {"use_scaled_rope", FLAG, offsetof(struct wick_hparams, use_scaled_rope)},
    {"rope_scale_factor", REAL, offsetof(struct wick_hparams, rope_scale_factor)},
    {"high_freq_factor", REAL, offsetof(struct wick_hparams, high_freq_factor)},
    {"attention_qkv_bias", FLAG, offsetof(struct wick_hparams, attention_qkv_bias)},
    {"use_hf_rope", FLAG, offsetof(struct wick_hparams, use_hf_rope)},
    {"partial_rotary_factor", REAL, offsetof(struct wick_hparams, partial_rotary_factor)},
    {"rope_scaling_short_factor", SHORT_FACTORS, 0},
    {"rope_scaling_long_factor", LONG_FACTORS, 0},
    {"rope_scaling_attention_factor", REAL, offsetof(struct wick_hparams, rope_attention_factor)},
    {"original_max_position_embeddings", REAL, offsetof(struct wick_hparams, old_context)},
    {"max_position_embeddings", INT, offsetof(struct wick_hparams, max_position_embeddings)},
    {"use_qk_norm", FLAG, offsetof(struct wick_hparams, use_qk_norm)},
    {"qk_norm_before_rope", FLAG, offsetof(struct wick_hparams, qk_norm_before_rope)},
    {"qk_norm_affine", FLAG, offsetof(struct wick_hparams, qk_norm_affine)},
    {"rms_norm_add_unit_offset", FLAG, offsetof(struct wick_hparams, rms_norm_add_unit_offset)},
    {"scale_query_by", REAL, offsetof(struct wick_hparams, scale_query_by)},
    {"act_fn", ACTIVATION, offsetof(struct wick_hparams, act_fn)},
    {"use_q_gate", FLAG, offsetof(struct wick_hparams, use_q_gate)},
    {"use_attn_o_gate", FLAG, offsetof(struct wick_hparams, use_attn_o_gate)},
    {"use_attn_o_norm", FLAG, offsetof(struct wick_hparams, use_attn_o_norm)},
    {"use_residual_gate", FLAG, offsetof(struct wick_hparams, use_residual_gate)},
    {"use_ffn_learnable_scales", FLAG, offsetof(struct wick_hparams, use_ffn_learnable_scales)},
    {"num_kv_shared_layers", INT, offsetof(struct wick_hparams, num_kv_shared_layers)},
    {"layer_types", LAYERS, 0},
    {"moe", FLAG, offsetof(struct wick_hparams, moe)},
    {"num_experts", INT, offsetof(struct wick_hparams, num_experts)},
    {"num_activated_experts", INT, offsetof(struct wick_hparams, num_activated_experts)},
    {"moe_hidden_dim", INT, offsetof(struct wick_hparams, moe_hidden_dim)},
    {"moe_shared_expert_hidden_dim", INT, offsetof(struct wick_hparams, moe_shared_expert_hidden_dim)},
    {"moe_use_expert_bias", FLAG, offsetof(struct wick_hparams, moe_use_expert_bias)},
    {"moe_score_func", SCORE, offsetof(struct wick_hparams, moe_score_func)},
    {"moe_route_scale", REAL, offsetof(struct wick_hparams, moe_route_scale)},
    {"linear_conv_kernel_dim", INT, offsetof(struct wick_hparams, linear_conv_kernel_dim)},
    {"linear_key_head_dim", INT, offsetof(struct wick_hparams, linear_key_head_dim)},
    {"linear_value_head_dim", INT, offsetof(struct wick_hparams, linear_value_head_dim)},
    {"linear_num_key_heads", INT, offsetof(struct wick_hparams, linear_num_key_heads)},
    {"linear_num_value_heads", INT, offsetof(struct wick_hparams, linear_num_value_heads)},
    {"quantization_args", GROUP_SIZE, offsetof(struct wick_hparams, quantized_group)},
    {"lora_args", RANK, offsetof(struct wick_hparams, adapter_rank)},
};

/* Keys that describe the tokenizer or the training only, and keys whose one value this build has. */
static const char *const without_effect[] = {"bos_idx", "eos_idx", "bos_count", "eos_count", "max_seq_len", "max_context_len", "max_batch_size", "device", "norm_type", NULL};
static const char *const needs_false[] = {"post_attention_norm", "post_ffn_norm", NULL};

static bool in_list(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(*list, name) == 0) return true;
    return false;
}

static const char *const kind_names[] = {
    [WICK_LAYER_ATTENTION] = "attention", [WICK_LAYER_CONV] = "conv", [WICK_LAYER_LINEAR_ATTENTION] = "linear_attention", [WICK_LAYER_SKIP_ATTENTION] = "skip_attention"};

const char *wick_layer_kind_name(enum wick_layer_kind kind) { return kind_names[kind]; }

enum wick_layer_kind wick_layer_kind_of(const char *name)
{
    for (int kind = 0; kind < WICK_LAYER_KIND_COUNT; kind++)
        if (strcmp(kind_names[kind], name) == 0) return (enum wick_layer_kind)kind;
    return WICK_LAYER_ATTENTION;
}

enum wick_layer_kind wick_hparams_layer_kind(const struct wick_hparams *h, int layer)
{
    return layer < h->layer_kind_count ? (enum wick_layer_kind)h->layer_kinds[layer] : WICK_LAYER_ATTENTION;
}

static bool set_layers(struct wick_hparams *h, const json_t *value)
{
    size_t i;
    const json_t *item;
    if (!json_is_array(value) || json_array_size(value) > WICK_LAYERS_MAX) return false;
    json_array_foreach((json_t *)(uintptr_t)value, i, item)
    {
        if (!json_is_string(item)) return false;
        h->layer_kinds[i] = (uint8_t)wick_layer_kind_of(json_string_value(item));
    }
    h->layer_kind_count = (int)json_array_size(value);
    return true;
}

static bool set_score(enum wick_moe_score *score, const json_t *value)
{
    static const char *const names[] = {[WICK_MOE_SOFTMAX] = "softmax", [WICK_MOE_SIGMOID] = "sigmoid", [WICK_MOE_SOFTMAX_ALL] = "softmax_all"};
    for (size_t i = 0; json_is_string(value) && i < WICK_ARRAY_SIZE(names); i++)
        if (strcmp(names[i], json_string_value(value)) == 0) return *score = (enum wick_moe_score)i, true;
    return false;
}

static bool set_activation(enum wick_activation *act, const json_t *value)
{
    static const char *const names[] = {[WICK_SILU] = "silu", [WICK_GELU] = "gelu", [WICK_GELU_TANH] = "gelu_approx"};
    for (size_t i = 0; json_is_string(value) && i < WICK_ARRAY_SIZE(names); i++)
        if (strcmp(names[i], json_string_value(value)) == 0) return *act = (enum wick_activation)i, true;
    return false;
}

bool wick_hparams_set_factors(float factors[512], int *count, const json_t *value)
{
    size_t i;
    const json_t *item;
    if (!json_is_array(value) || json_array_size(value) > 512) return false;
    json_array_foreach((json_t *)(uintptr_t)value, i, item)
    {
        if (!json_is_number(item) || !(json_number_value(item) > 0)) return false;
        factors[i] = (float)json_number_value(item);
    }
    *count = (int)json_array_size(value);
    return true;
}

/* The one number that is read of an object. */
static bool set_member(int64_t *at, const json_t *value, const char *name)
{
    const json_t *member = json_object_get(value, name);
    return json_is_integer(member) && (*at = json_integer_value(member)) > 0;
}

static bool set_value(struct wick_hparams *h, enum kind kind, void *at, const json_t *value)
{
    switch (kind) {
    case INT: return json_is_integer(value) && (*(int64_t *)at = json_integer_value(value), true);
    case REAL: return json_is_number(value) && (*(double *)at = json_number_value(value), true);
    case FLAG: return json_is_boolean(value) && (*(bool *)at = json_is_true(value), true);
    case GROUP_SIZE: return set_member(at, value, "group_size");
    case RANK: return set_member(at, value, "rank");
    case LAYERS: return set_layers(h, value);
    case SCORE: return set_score(at, value);
    case ACTIVATION: return set_activation(at, value);
    case SHORT_FACTORS: return h->rope_scaling = WICK_ROPE_LONG, wick_hparams_set_factors(h->rope_factors, &h->rope_factor_count, value);
    case LONG_FACTORS: return h->rope_scaling = WICK_ROPE_LONG, wick_hparams_set_factors(h->rope_long_factors, &h->rope_long_count, value);
    }
    return false;
}

static wick_status set_param(struct wick_hparams *h, const char *path, const char *name, const json_t *value, wick_error *err)
{
    for (size_t i = 0; i < WICK_ARRAY_SIZE(known); i++) {
        if (strcmp(known[i].name, name) != 0) continue;
        if (json_is_null(value) || set_value(h, known[i].kind, (char *)h + known[i].offset, value)) return WICK_OK;
        return wick_fail(err, WICK_INVALID_CONFIG, "%s: %s has a value of the wrong kind", path, name);
    }
    if (in_list(name, without_effect) || json_is_null(value)) return WICK_OK;
    if (in_list(name, needs_false)) return json_is_false(value) ? WICK_OK : wick_fail(err, WICK_NOT_SUPPORTED, "%s: %s: not supported", path, name);
    const char *names[WICK_ARRAY_SIZE(known) + 1] = {NULL};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(known); i++) names[i] = known[i].name;
    const char *near = wick_nearest_name(name, names);
    return wick_fail(err, WICK_NOT_SUPPORTED, "%s: hyper-parameter %s: not supported%s%s%s", path, name, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

wick_status wick_hparams_load(struct wick_hparams *h, const char *path, wick_error *err)
{
    json_t *root;
    const char *name;
    json_t *value;
    WICK_TRY(wick_json_load(&root, path, WICK_INVALID_CONFIG, err));
    wick_status status = json_is_object(root) ? WICK_OK : wick_fail(err, WICK_INVALID_CONFIG, "%s: no JSON object", path);
    if (status == WICK_OK) json_object_foreach(root, name, value)
        if ((status = set_param(h, path, name, value, err)) != WICK_OK) break;
    json_decref(root);
    return status;
}

/* ---- derived ---- */

int wick_hparams_rotated(const struct wick_hparams *h) { return h->use_hf_rope ? (int)((double)h->head_dim * h->partial_rotary_factor) : (int)h->head_dim; }

static wick_status finish_rope(struct wick_hparams *h, wick_error *err)
{
    /* The original scales interleaved positions only. */
    if (h->use_scaled_rope && h->use_hf_rope && !h->rope_scale_given) h->use_scaled_rope = false;
    if (h->use_scaled_rope && h->rope_scaling == WICK_ROPE_PLAIN) h->rope_scaling = WICK_ROPE_LLAMA3;
    if (!(h->partial_rotary_factor > 0) || h->partial_rotary_factor > 1) return wick_fail(err, WICK_INVALID_CONFIG, "partial_rotary_factor %g is not in (0, 1]", h->partial_rotary_factor);
    int rotated = wick_hparams_rotated(h), counts[2] = {h->rope_factor_count, h->rope_long_count};
    if (rotated < 2 || rotated % 2) return wick_fail(err, WICK_INVALID_CONFIG, "rotary positions turn %d channels of a head; that must be even and positive", rotated);
    for (int i = 0; i < 2; i++)
        if (counts[i] && counts[i] != rotated / 2)
            return wick_fail(err, WICK_INVALID_CONFIG, "rope has %d %sfactors, %d turning channels want half as many", counts[i], i ? "long " : "", rotated);
    if (h->rope_scaling == WICK_ROPE_LONG && !h->use_hf_rope) return wick_fail(err, WICK_INVALID_CONFIG, "longrope factors need use_hf_rope");
    if (!(h->rope_scale_factor > 0) || h->old_context < 0 || h->rope_attention_factor < 0 || h->max_position_embeddings < 0)
        return wick_fail(err, WICK_INVALID_CONFIG, "rope scaling: factor, original_max_position_embeddings and attention factor must be positive");
    return WICK_OK;
}

wick_status wick_hparams_finish(struct wick_hparams *h, wick_error *err)
{
    if (h->n_kv_heads <= 0) h->n_kv_heads = h->n_heads;
    if (h->head_dim <= 0 && h->n_heads > 0) h->head_dim = h->dim / h->n_heads;
    if (h->hidden_dim <= 0 && h->dim > 0 && h->dim <= 1 << 24 && h->multiple_of > 0) {
        int64_t hidden = 2 * (4 * h->dim) / 3;
        if (h->ffn_dim_multiplier > 0) hidden = (int64_t)(h->ffn_dim_multiplier * (double)hidden);
        h->hidden_dim = (hidden + h->multiple_of - 1) / h->multiple_of * h->multiple_of;
    }
    const struct {
        const char *name;
        int64_t value, max;
    } limits[] = {{"dim", h->dim, 1 << 20}, {"n_layers", h->n_layers, WICK_LAYERS_MAX}, {"n_heads", h->n_heads, 4096}, {"n_kv_heads", h->n_kv_heads, 4096},
                  {"head_dim", h->head_dim, 4096}, {"hidden_dim", h->hidden_dim, 1 << 22}, {"vocab_size", h->vocab_size, 1 << 24}};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(limits); i++)
        if (limits[i].value < 1 || limits[i].value > limits[i].max)
            return wick_fail(err, WICK_INVALID_CONFIG, "hyper-parameter %s: %lld is not in 1..%lld", limits[i].name, (long long)limits[i].value, (long long)limits[i].max);
    if (h->n_heads % h->n_kv_heads) return wick_fail(err, WICK_INVALID_CONFIG, "n_heads %lld is no multiple of n_kv_heads %lld", (long long)h->n_heads, (long long)h->n_kv_heads);
    if (h->layer_kind_count && h->layer_kind_count < h->n_layers)
        return wick_fail(err, WICK_INVALID_CONFIG, "layer_types has %d entries, the model %lld layers", h->layer_kind_count, (long long)h->n_layers);
    if (h->num_kv_shared_layers < 0 || h->num_kv_shared_layers >= h->n_layers)
        return wick_fail(err, WICK_INVALID_CONFIG, "num_kv_shared_layers %lld leaves none of %lld layers with keys and values", (long long)h->num_kv_shared_layers, (long long)h->n_layers);
    WICK_TRY(finish_rope(h, err));
    if (h->head_dim % 2) return wick_fail(err, WICK_INVALID_CONFIG, "head_dim %lld is odd", (long long)h->head_dim);
    if (!(h->norm_eps > 0) || !(h->rope_theta > 0)) return wick_fail(err, WICK_INVALID_CONFIG, "norm_eps and rope_theta must be positive");
    return wick_hparams_finish_mixers(h, err);
}

uint64_t wick_hparams_parameters(const struct wick_hparams *h, bool separate_head)
{
    uint64_t d = (uint64_t)h->dim, layers = 0;
    for (int i = 0; i < h->n_layers; i++) layers += wick_hparams_layer_parameters(h, i);
    return layers + d * (uint64_t)h->vocab_size * (separate_head ? 2 : 1) + d;
}
