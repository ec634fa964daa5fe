/* export/hparams_hf.c - hyper-parameters from a Hugging Face config.json. Next: the family's adjust, wick_hparams_finish. */
#include "export/hparams.h"

#include "base/json.h"

#include <string.h>

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

/* Parameters of one kind of scaling, from rope_scaling or its new spelling rope_parameters. */
static wick_status read_scaling_of(struct wick_hparams *h, const char *path, enum wick_rope_scaling kind, const json_t *rope, wick_error *err)
{
    h->rope_scaling = kind;
    h->use_scaled_rope = kind == WICK_ROPE_LLAMA3;
    h->rope_scale_given = true;
    double trained = real_of(rope, "original_max_position_embeddings", h->old_context);
    /* Yarn's factor may be left to the two lengths. */
    double ratio = kind == WICK_ROPE_YARN && trained > 0 && h->max_position_embeddings > 0 ? (double)h->max_position_embeddings / trained : 8;
    h->old_context = trained;
    h->rope_scale_factor = real_of(rope, "factor", ratio);
    h->low_freq_factor = real_of(rope, "low_freq_factor", 1);
    h->high_freq_factor = real_of(rope, "high_freq_factor", 4);
    h->rope_attention_factor = real_of(rope, "attention_factor", 0);
    h->yarn_beta_fast = real_of(rope, "beta_fast", 32);
    h->yarn_beta_slow = real_of(rope, "beta_slow", 1);
    h->yarn_mscale = real_of(rope, "mscale", 0);
    h->yarn_mscale_all_dim = real_of(rope, "mscale_all_dim", 0);
    h->yarn_truncate = !json_is_false(json_object_get(rope, "truncate"));
    if (kind != WICK_ROPE_LONG) return WICK_OK;
    bool right = wick_hparams_set_factors(h->rope_factors, &h->rope_factor_count, json_object_get(rope, "short_factor")) &&
                 wick_hparams_set_factors(h->rope_long_factors, &h->rope_long_count, json_object_get(rope, "long_factor"));
    return right ? WICK_OK : wick_fail(err, WICK_INVALID_CONFIG, "%s: longrope wants short_factor and long_factor, lists of positive numbers", path);
}

static wick_status read_rope_scaling(struct wick_hparams *h, const char *path, const json_t *rope, wick_error *err)
{
    static const struct {
        const char *name;
        enum wick_rope_scaling kind;
    } kinds[] = {{"default", WICK_ROPE_PLAIN}, {"llama3", WICK_ROPE_LLAMA3}, {"linear", WICK_ROPE_LINEAR}, {"dynamic", WICK_ROPE_DYNAMIC},
                 {"yarn", WICK_ROPE_YARN}, {"longrope", WICK_ROPE_LONG}, {"su", WICK_ROPE_LONG}};
    if (!json_is_object(rope)) return WICK_OK;
    /* One object a kind of layer: that of layers that see all; the others' base is hparams_hf_attention.c's. */
    if (json_is_object(json_object_get(rope, "full_attention"))) rope = json_object_get(rope, "full_attention");
    h->rope_theta = real_of(rope, "rope_theta", h->rope_theta);
    h->partial_rotary_factor = real_of(rope, "partial_rotary_factor", h->partial_rotary_factor);
    const json_t *type = json_object_get(rope, "rope_type");
    if (!type) type = json_object_get(rope, "type");
    const char *name = json_is_string(type) ? json_string_value(type) : "default";
    for (size_t i = 0; i < WICK_ARRAY_SIZE(kinds); i++) {
        if (strcmp(kinds[i].name, name) != 0) continue;
        return kinds[i].kind == WICK_ROPE_PLAIN ? WICK_OK : read_scaling_of(h, path, kinds[i].kind, rope, err);
    }
    return wick_fail(err, WICK_NOT_SUPPORTED, "%s: rope_scaling of type %s: not supported", path, name);
}

wick_status wick_hparams_load_hf(struct wick_hparams *h, const char *path, wick_error *err)
{
    json_t *whole;
    WICK_TRY(wick_json_load(&whole, path, WICK_INVALID_CONFIG, err));
    wick_status status = json_is_object(whole) ? WICK_OK : wick_fail(err, WICK_INVALID_CONFIG, "%s: no JSON object", path);
    /* A multi-modal model has what its text part is in an object of its own. */
    const json_t *text = json_object_get(whole, "text_config"), *root = json_is_object(text) ? text : whole;
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
        h->partial_rotary_factor = real_of(root, "partial_rotary_factor", 1);
        h->max_position_embeddings = int_of(root, "max_position_embeddings", 0);
        h->old_context = real_of(root, "original_max_position_embeddings", 0);
        /* A class's scaling is not this file's. */
        h->rope_scaling = WICK_ROPE_PLAIN;
        h->rope_factor_count = h->rope_long_count = 0;
        h->tied_embeddings = json_is_true(json_object_get(root, "tie_word_embeddings")) || json_is_true(json_object_get(whole, "tie_word_embeddings"));
        status = wick_hparams_hf_mixers(h, path, root, err);
        if (status == WICK_OK) status = wick_hparams_hf_attention(h, path, root, err);
        if (status == WICK_OK) status = read_rope_scaling(h, path, json_object_get(root, "rope_scaling"), err);
        if (status == WICK_OK) status = read_rope_scaling(h, path, json_object_get(root, "rope_parameters"), err);
        if (json_is_true(json_object_get(root, "attention_bias"))) h->attention_qkv_bias = h->attention_output_bias = true;
        h->mlp_bias = json_is_true(json_object_get(root, "mlp_bias"));
    }
    json_decref(whole);
    return status;
}
