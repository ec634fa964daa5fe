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
