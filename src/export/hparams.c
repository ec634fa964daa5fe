/* export/hparams.c - hyper-parameters from the three kinds of files. Next: the family's build. */
#include "export/hparams.h"

#include "base/json.h"
#include "checkpoint/checkpoint.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

void wick_hparams_init(struct wick_hparams *h)
{
    *h = (struct wick_hparams){.dim = 4096, .n_layers = 1, .n_heads = 32, .vocab_size = 512, .multiple_of = 256, .norm_eps = 1e-5, .rope_theta = 10000.0,
                               .rope_scale_factor = 8, .low_freq_factor = 1, .high_freq_factor = 4, .old_context = 8192};
}

/* ---- params.json ---- */

enum kind { INT, REAL, FLAG };
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
};

/* Keys that describe the tokenizer or the training only, and keys whose one value this build has. */
static const char *const without_effect[] = {"bos_idx", "eos_idx", "bos_count", "eos_count", "max_seq_len", "max_context_len", "max_batch_size", "device", "norm_type", "act_fn", NULL};
static const char *const needs_false[] = {"use_hf_rope", "attention_qkv_bias", "use_qk_norm", "qk_norm_before_rope", "moe", "use_q_gate", "use_attn_o_gate", "use_attn_o_norm",
                                          "rms_norm_add_unit_offset", "use_residual_gate", "use_ffn_learnable_scales", "post_attention_norm", "post_ffn_norm", NULL};

static bool in_list(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(*list, name) == 0) return true;
    return false;
}

static wick_status set_param(struct wick_hparams *h, const char *path, const char *name, const json_t *value, wick_error *err)
{
    for (size_t i = 0; i < WICK_ARRAY_SIZE(known); i++) {
        if (strcmp(known[i].name, name) != 0) continue;
        char *at = (char *)h + known[i].offset;
        if (json_is_null(value)) return WICK_OK;
        if (known[i].kind == INT && json_is_integer(value)) *(int64_t *)(void *)at = json_integer_value(value);
        else if (known[i].kind == REAL && json_is_number(value)) *(double *)(void *)at = json_number_value(value);
        else if (known[i].kind == FLAG && json_is_boolean(value)) *(bool *)at = json_is_true(value);
        else return wick_fail(err, WICK_INVALID_CONFIG, "%s: %s has a value of the wrong kind", path, name);
        return WICK_OK;
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

/* ---- config.json ---- */

static int64_t int_of(const json_t *root, const char *name, int64_t absent)
{
    const json_t *v = json_object_get(root, name);
    return json_is_integer(v) ? json_integer_value(v) : absent;
}

static double real_of(const json_t *root, const char *name, double absent)
{
    const json_t *v = json_object_get(root, name);
    return json_is_number(v) ? json_number_value(v) : absent;
}

static wick_status read_rope_scaling(struct wick_hparams *h, const char *path, const json_t *rope, wick_error *err)
{
    if (!json_is_object(rope)) return WICK_OK;
    h->rope_theta = real_of(rope, "rope_theta", h->rope_theta);
    const json_t *type = json_object_get(rope, "rope_type");
    if (!type) type = json_object_get(rope, "type");
    const char *name = json_is_string(type) ? json_string_value(type) : "default";
    if (strcmp(name, "default") == 0) return WICK_OK;
    if (strcmp(name, "llama3") != 0) return wick_fail(err, WICK_NOT_SUPPORTED, "%s: rope_scaling of type %s: not supported", path, name);
    h->use_scaled_rope = h->rope_scale_given = true;
    h->rope_scale_factor = real_of(rope, "factor", 8);
    h->low_freq_factor = real_of(rope, "low_freq_factor", 1);
    h->high_freq_factor = real_of(rope, "high_freq_factor", 4);
    h->old_context = real_of(rope, "original_max_position_embeddings", 8192);
    return WICK_OK;
}

wick_status wick_hparams_load_hf(struct wick_hparams *h, const char *path, wick_error *err)
{
    json_t *root;
    WICK_TRY(wick_json_load(&root, path, WICK_INVALID_CONFIG, err));
    wick_status status = json_is_object(root) ? WICK_OK : wick_fail(err, WICK_INVALID_CONFIG, "%s: no JSON object", path);
    if (status == WICK_OK) {
        h->dim = int_of(root, "hidden_size", h->dim);
        h->n_layers = int_of(root, "num_hidden_layers", h->n_layers);
        h->n_heads = int_of(root, "num_attention_heads", h->n_heads);
        h->n_kv_heads = int_of(root, "num_key_value_heads", h->n_kv_heads);
        h->head_dim = int_of(root, "head_dim", h->head_dim);
        h->hidden_dim = int_of(root, "intermediate_size", h->hidden_dim);
        h->vocab_size = int_of(root, "vocab_size", h->vocab_size);
        h->norm_eps = real_of(root, "rms_norm_eps", h->norm_eps);
        h->rope_theta = real_of(root, "rope_theta", h->rope_theta);
        h->tied_embeddings = json_is_true(json_object_get(root, "tie_word_embeddings"));
        status = read_rope_scaling(h, path, json_object_get(root, "rope_scaling"), err);
        if (status == WICK_OK) status = read_rope_scaling(h, path, json_object_get(root, "rope_parameters"), err);
        if (status == WICK_OK && (json_is_true(json_object_get(root, "attention_bias")) || json_is_true(json_object_get(root, "mlp_bias"))))
            status = wick_fail(err, WICK_NOT_SUPPORTED, "%s: attention_bias or mlp_bias: not supported", path);
    }
    json_decref(root);
    return status;
}

/* ---- GGUF ---- */

/* Llama 3.1's scaling is stored as one divisor a frequency. */
static wick_status read_rope_factors(struct wick_hparams *h, const struct wick_checkpoint *ckpt, wick_error *err)
{
    const struct wick_ckpt_tensor *factors = wick_checkpoint_find(ckpt, "rope_freqs.weight");
    if (!factors) return WICK_OK;
    if (factors->numel > WICK_ARRAY_SIZE(h->rope_factors)) return wick_fail(err, WICK_NOT_SUPPORTED, "GGUF: rope_freqs.weight has %llu values", (unsigned long long)factors->numel);
    h->rope_factor_count = (int)factors->numel;
    return wick_ckpt_read_f32(factors, 0, factors->numel, h->rope_factors, err);
}

wick_status wick_hparams_load_gguf(struct wick_hparams *h, const struct wick_checkpoint *ckpt, wick_error *err)
{
    struct wick_str arch, scaling;
    char key[128];
    WICK_TRY(wick_checkpoint_meta_str(ckpt, "general.architecture", &arch, err));
    int n = (int)WICK_MIN(arch.size, (size_t)64);
    const struct {
        const char *name;
        int64_t *to;
    } ints[] = {{"embedding_length", &h->dim}, {"block_count", &h->n_layers}, {"attention.head_count", &h->n_heads}, {"attention.head_count_kv", &h->n_kv_heads},
                {"attention.key_length", &h->head_dim}, {"feed_forward_length", &h->hidden_dim}, {"vocab_size", &h->vocab_size}};
    /* Absent keys leave the defaults; finish() judges the values. */
    for (size_t i = 0; i < WICK_ARRAY_SIZE(ints); i++) {
        snprintf(key, sizeof key, "%.*s.%s", n, arch.data, ints[i].name);
        (void)wick_checkpoint_meta_int(ckpt, key, ints[i].to, NULL);
    }
    snprintf(key, sizeof key, "%.*s.attention.layer_norm_rms_epsilon", n, arch.data);
    (void)wick_checkpoint_meta_float(ckpt, key, &h->norm_eps, NULL);
    snprintf(key, sizeof key, "%.*s.rope.freq_base", n, arch.data);
    (void)wick_checkpoint_meta_float(ckpt, key, &h->rope_theta, NULL);
    const struct wick_ckpt_tensor *embedding = wick_checkpoint_find(ckpt, "token_embd.weight");
    if (embedding && embedding->rank == 2) h->vocab_size = embedding->sizes[0];
    h->tied_embeddings = !wick_checkpoint_find(ckpt, "output.weight");
    snprintf(key, sizeof key, "%.*s.rope.scaling.type", n, arch.data);
    if (wick_checkpoint_meta_str(ckpt, key, &scaling, NULL) == WICK_OK && !wick_str_is(scaling, "none"))
        return wick_fail(err, WICK_NOT_SUPPORTED, "GGUF: %s=%.*s: not supported", key, (int)WICK_MIN(scaling.size, (size_t)64), scaling.data);
    return read_rope_factors(h, ckpt, err);
}

/* ---- derived ---- */

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
    } limits[] = {{"dim", h->dim, 1 << 20}, {"n_layers", h->n_layers, 4096}, {"n_heads", h->n_heads, 4096}, {"n_kv_heads", h->n_kv_heads, 4096},
                  {"head_dim", h->head_dim, 4096}, {"hidden_dim", h->hidden_dim, 1 << 22}, {"vocab_size", h->vocab_size, 1 << 24}};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(limits); i++)
        if (limits[i].value < 1 || limits[i].value > limits[i].max)
            return wick_fail(err, WICK_INVALID_CONFIG, "hyper-parameter %s: %lld is not in 1..%lld", limits[i].name, (long long)limits[i].value, (long long)limits[i].max);
    if (h->n_heads % h->n_kv_heads) return wick_fail(err, WICK_INVALID_CONFIG, "n_heads %lld is no multiple of n_kv_heads %lld", (long long)h->n_heads, (long long)h->n_kv_heads);
    if (h->rope_factor_count && h->rope_factor_count != h->head_dim / 2)
        return wick_fail(err, WICK_INVALID_CONFIG, "rope has %d factors, head_dim %lld wants half as many", h->rope_factor_count, (long long)h->head_dim);
    if (h->head_dim % 2) return wick_fail(err, WICK_INVALID_CONFIG, "head_dim %lld is odd", (long long)h->head_dim);
    if (!(h->norm_eps > 0) || !(h->rope_theta > 0)) return wick_fail(err, WICK_INVALID_CONFIG, "norm_eps and rope_theta must be positive");
    return WICK_OK;
}

uint64_t wick_hparams_parameters(const struct wick_hparams *h, bool separate_head)
{
    uint64_t d = (uint64_t)h->dim, q = (uint64_t)(h->n_heads * h->head_dim), kv = (uint64_t)(h->n_kv_heads * h->head_dim);
    uint64_t layer = d * q * 2 + d * kv * 2 + 3 * d * (uint64_t)h->hidden_dim + 2 * d;
    return layer * (uint64_t)h->n_layers + d * (uint64_t)h->vocab_size * (separate_head ? 2 : 1) + d;
}
