/* export/adapter.c - see adapter.h. Used by decoder/linear.c. */
#include "export/adapter.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_SIZE = 160 };

/* ---- configuration ---- */

static bool is_set(const json_t *value)
{
    return value && !json_is_null(value) && !json_is_false(value) && !(json_is_object(value) && json_object_size(value) == 0) &&
           !(json_is_array(value) && json_array_size(value) == 0);
}

/* What a PEFT configuration may ask for beyond rank and alpha. */
static wick_status refuse_more(const json_t *config, const char *path, wick_error *err)
{
    static const char *const more[] = {"use_dora",       "rank_pattern",      "alpha_pattern",  "modules_to_save",
                                       "fan_in_fan_out", "layer_replication", "megatron_config"};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(more); i++)
        if (is_set(json_object_get(config, more[i]))) return wick_fail(err, WICK_NOT_SUPPORTED, "%s: %s: not supported", path, more[i]);
    const char *bias = json_string_value(json_object_get(config, "bias")), *type = json_string_value(json_object_get(config, "peft_type"));
    if (bias && strcmp(bias, "none") != 0) return wick_fail(err, WICK_NOT_SUPPORTED, "%s: bias '%.40s': not supported", path, bias);
    if (type && strcmp(type, "LORA") != 0) return wick_fail(err, WICK_NOT_SUPPORTED, "%s: peft_type '%.40s': not supported", path, type);
    return WICK_OK;
}

static wick_status read_numbers(struct wick_adapter *a, const json_t *given, const char *key, wick_error *err)
{
    const char *path = json_string_value(json_object_get(given, "adapter_config"));
    double alpha = (double)json_integer_value(json_object_get(given, "lora_alpha"));
    json_t *file = NULL;
    a->rank = json_integer_value(json_object_get(given, "lora_rank"));
    bool by_root = false;
    if (path) {
        WICK_TRY(wick_json_load(&file, path, WICK_INVALID_CONFIG, err));
        wick_status status = refuse_more(file, path, err);
        by_root = json_is_true(json_object_get(file, "use_rslora"));
        if (a->rank == 0) {
            a->rank = json_integer_value(json_object_get(file, "r"));
            alpha = json_number_value(json_object_get(file, "lora_alpha"));
        }
        json_decref(file);
        WICK_TRY(status);
    }
    if (a->rank <= 0 || a->rank > 65536)
        return wick_fail(err, WICK_INVALID_CONFIG, "%s: %s has no rank r; give lora_rank and lora_alpha, or adapter_config", key,
                         path ? path : "it");
    if (!(alpha > 0)) return wick_fail(err, WICK_INVALID_CONFIG, "%s: lora_alpha of %g", key, alpha);
    a->scale = (float)(alpha / (by_root ? sqrt((double)a->rank) : (double)a->rank));
    return WICK_OK;
}

static wick_status open_given(struct wick_adapter *a, const json_t *given, const char *key, struct wick_arena *arena, wick_error *err)
{
    const char *path = json_string_value(json_object_get(given, "adapter_checkpoint"));
    if (!path) return wick_fail(err, WICK_INVALID_CONFIG, "%s: adapter_checkpoint is missing", key);
    WICK_TRY(read_numbers(a, given, key, err));
    WICK_TRY(wick_checkpoint_open(&a->checkpoint, path, err));
    a->weights = (struct wick_weights){
        .arena = arena, .checkpoint = a->checkpoint, .hparams = a->base->hparams, .naming = a->base->naming, .rounding = a->base->rounding};
    a->used = WICK_NEW_ARRAY(arena, bool, wick_checkpoint_count(a->checkpoint) + 1);
    return a->used ? WICK_OK : wick_fail_oom(err, wick_checkpoint_count(a->checkpoint), path);
}

wick_status wick_adapter_open(struct wick_adapter *a, const char *text, const char *key, const struct wick_weights *base, struct wick_arena *arena,
                              wick_error *err)
{
    *a = (struct wick_adapter){.base = base};
    if (!text) return WICK_OK;
    json_t *given;
    WICK_TRY(wick_json_parse(&given, text, strlen(text), key, WICK_INVALID_CONFIG, err));
    wick_status status = open_given(a, given, key, arena, err);
    json_decref(given);
    return status;
}

void wick_adapter_release(struct wick_adapter *a)
{
    wick_checkpoint_close(a->checkpoint);
    a->checkpoint = NULL;
}

/* ---- names ---- */

/* A linear by Meta's, Hugging Face's and torchtune's names. */
static const struct {
    const char *name, *peft, *tune;
} linears[] = {
    {"attention.wq", "self_attn.q_proj", "attn.q_proj"}, {"attention.wk", "self_attn.k_proj", "attn.k_proj"},
    {"attention.wv", "self_attn.v_proj", "attn.v_proj"}, {"attention.wo", "self_attn.o_proj", "attn.output_proj"},
    {"feed_forward.w1", "mlp.gate_proj", "mlp.w1"},      {"feed_forward.w2", "mlp.down_proj", "mlp.w2"},
    {"feed_forward.w3", "mlp.up_proj", "mlp.w3"},
};

/* half: "A" or "B". */
static const struct wick_ckpt_tensor *find_half(const struct wick_adapter *a, int layer, size_t linear, char half)
{
    static const char *const prefixes[] = {"base_model.model.model.", "base_model.model.", "model.", ""};
    static const char *const ends[] = {"lora_%c.weight", "lora_%c.default.weight"};
    const char *const modules[] = {linears[linear].peft, linears[linear].tune, linears[linear].name};
    char end[32], text[NAME_SIZE];
    for (size_t e = 0; e < 4; e++) {
        snprintf(end, sizeof end, ends[e / 2], e % 2 ? half - 'A' + 'a' : half);
        for (size_t p = 0; p < WICK_ARRAY_SIZE(prefixes); p++)
            for (size_t m = 0; m < WICK_ARRAY_SIZE(modules); m++) {
                snprintf(text, sizeof text, "%slayers.%d.%s.%s", prefixes[p], layer, modules[m], end);
                const struct wick_ckpt_tensor *tensor = wick_checkpoint_find(a->checkpoint, text);
                if (tensor) return tensor;
            }
    }
    return NULL;
}

static void mark_used(struct wick_adapter *a, const struct wick_ckpt_tensor *tensor)
{
    for (size_t i = 0; i < wick_checkpoint_count(a->checkpoint); i++)
        if (wick_checkpoint_tensor(a->checkpoint, i) == tensor) a->used[i] = true;
}

wick_status wick_adapter_find(struct wick_adapter *a, int layer, const char *name, int64_t rows, int64_t columns, struct wick_source **low,
                              struct wick_source **high, wick_error *err)
{
    size_t linear = 0;
    *low = *high = NULL;
    while (linear < WICK_ARRAY_SIZE(linears) && strcmp(linears[linear].name, name) != 0) linear++;
    if (!a->checkpoint || layer < 0 || linear == WICK_ARRAY_SIZE(linears)) return WICK_OK;
    const struct wick_ckpt_tensor *first = find_half(a, layer, linear, 'A'), *second = find_half(a, layer, linear, 'B');
    if (!first && !second) return WICK_OK;
    if (!first || !second)
        return wick_fail(err, WICK_INVALID_CHECKPOINT, "adapter: %s has no %s beside it", (first ? first : second)->name,
                         first ? "lora_B" : "lora_A");
    mark_used(a, first);
    mark_used(a, second);
    WICK_TRY(wick_weights_named(&a->weights, first->name, a->rank, columns, low, err));
    /* The rows of B stand as the model's own file has them. */
    return wick_weights_named_rows(&a->weights, second->name, name, rows, a->rank, high, err);
}

wick_status wick_adapter_check_used(const struct wick_adapter *a, wick_error *err)
{
    for (size_t i = 0; a->checkpoint && i < wick_checkpoint_count(a->checkpoint); i++)
        if (!a->used[i])
            return wick_fail(err, WICK_INVALID_CHECKPOINT, "adapter: %s belongs to no linear of this model",
                             wick_checkpoint_tensor(a->checkpoint, i)->name);
    return WICK_OK;
}
