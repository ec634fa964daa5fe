/* export/hparams_hf_attention.c - of a Hugging Face config.json: which layers see how far and turn, how scores and activations are made. */
#include "export/hparams.h"

#include "base/json.h"

#include <math.h>
#include <string.h>

static const char *text_of(const json_t *root, const char *name)
{
    const json_t *v = json_object_get(root, name);
    return json_is_string(v) ? json_string_value(v) : "";
}

static wick_status read_activation(struct wick_hparams *h, const char *path, const json_t *root, wick_error *err)
{
    static const struct {
        const char *name;
        enum wick_activation act;
    } kinds[] = {{"silu", WICK_SILU}, {"swish", WICK_SILU}, {"gelu", WICK_GELU}, {"gelu_pytorch_tanh", WICK_GELU_TANH}, {"gelu_new", WICK_GELU_TANH}};
    const char *name = text_of(root, "hidden_activation");
    if (!*name) name = text_of(root, "hidden_act");
    if (!*name) return WICK_OK;
    for (size_t i = 0; i < WICK_ARRAY_SIZE(kinds); i++)
        if (strcmp(kinds[i].name, name) == 0) {
            h->act_fn = kinds[i].act;
            return WICK_OK;
        }
    return wick_fail(err, WICK_NOT_SUPPORTED, "%s: hidden_act %.40s: not supported", path, name);
}

/* Does layer i slide, where no layer_types says so? A pattern of the file, else the layers that the family's defaults let slide. */
static bool slides(const struct wick_hparams *h, const json_t *root, size_t i)
{
    const json_t *pattern = json_object_get(root, "sliding_window_pattern"), *from = json_object_get(root, "max_window_layers");
    if (json_is_integer(pattern) && json_integer_value(pattern) > 0) return (json_int_t)(i + 1) % json_integer_value(pattern) != 0;
    if (json_is_true(json_object_get(root, "use_sliding_window")) && json_is_integer(from)) return (json_int_t)i >= json_integer_value(from);
    return h->layer_windows[i] != 0;
}

static wick_status read_windows(struct wick_hparams *h, const char *path, const json_t *root, wick_error *err)
{
    const json_t *window = json_object_get(root, "sliding_window"), *types = json_object_get(root, "layer_types");
    bool none = !json_is_integer(window) || json_is_false(json_object_get(root, "use_sliding_window"));
    int64_t size = none ? 0 : json_integer_value(window);
    if (!none && (size <= 0 || size > INT32_MAX)) return wick_fail(err, WICK_INVALID_CONFIG, "%s: sliding_window is %lld", path, (long long)size);
    for (size_t i = 0; i < WICK_LAYERS_MAX; i++) {
        const json_t *type = json_array_get(types, i);
        bool local = json_is_array(types) ? json_is_string(type) && strcmp(json_string_value(type), "sliding_attention") == 0 : slides(h, root, i);
        h->layer_windows[i] = local ? (int32_t)size : 0;
    }
    return WICK_OK;
}

/* no_rope_layers: 1 where a layer turns, whatever the name says. */
static void read_turning(struct wick_hparams *h, const json_t *root)
{
    const json_t *list = json_object_get(root, "no_rope_layers"), *step = json_object_get(root, "no_rope_layer_interval");
    for (size_t i = 0; i < WICK_LAYERS_MAX; i++) {
        if (json_is_array(list)) h->layer_no_rope[i] = i < json_array_size(list) && json_integer_value(json_array_get(list, i)) == 0;
        else if (json_is_integer(step) && json_integer_value(step) > 0) h->layer_no_rope[i] = (json_int_t)(i + 1) % json_integer_value(step) == 0;
    }
}

static void read_positive(double *to, const json_t *root, const char *name)
{
    const json_t *v = json_object_get(root, name);
    if (json_is_number(v) && json_number_value(v) > 0) *to = json_number_value(v);
    else if (json_is_null(v)) *to = 0;
}

wick_status wick_hparams_hf_attention(struct wick_hparams *h, const char *path, const json_t *root, wick_error *err)
{
    double scalar = 0;
    WICK_TRY(read_activation(h, path, root, err));
    WICK_TRY(read_windows(h, path, root, err));
    read_turning(h, root);
    read_positive(&h->local_rope_theta, root, "rope_local_base_freq");
    read_positive(&h->attn_logit_softcapping, root, "attn_logit_softcapping");
    read_positive(&h->final_logit_softcapping, root, "final_logit_softcapping");
    read_positive(&scalar, root, "query_pre_attn_scalar");
    if (scalar > 0) h->attention_multiplier = 1 / sqrt(scalar);
    const json_t *local = json_object_get(json_object_get(root, "rope_parameters"), "sliding_attention");
    if (json_is_object(local)) read_positive(&h->local_rope_theta, local, "rope_theta");
    return WICK_OK;
}
