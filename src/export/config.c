/* export/config.c - the table of keys, their types and checks; reading of YAML is in config_yaml.c. */
#include "export/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "export/config_set.h"

enum key_type { KEY_BOOL, KEY_INT, KEY_FLOAT, KEY_STRING, KEY_LIST, KEY_OBJECT };

static const struct {
    const char *name;
    enum key_type type;
    const char *value, *choices;
} keys[WICK_KEY_COUNT] = {
#define WICK_KEY(id, name, type, value, choices) {name, KEY_##type, value, choices},
#include "export/config.def"
#undef WICK_KEY
};

const char *wick_config_key_name(enum wick_key key) { return keys[key].name; }

bool wick_config_backend(const struct wick_config *c, const char *section, const char *name)
{
    char wanted[80];
    snprintf(wanted, sizeof wanted, "backend.%s.%s", section, name);
    for (int i = 0; i < WICK_KEY_COUNT; i++)
        if (keys[i].type == KEY_BOOL && strcmp(keys[i].name, wanted) == 0) return c->values[i].b;
    return false;
}

static wick_status parse_bool(const char *name, const char *text, bool *out, wick_error *err)
{
    static const char *const yes[] = {"true", "yes", "on", "1"}, *const no[] = {"false", "no", "off", "0"};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(yes); i++) {
        if (strcasecmp(text, yes[i]) == 0) return *out = true, WICK_OK;
        if (strcasecmp(text, no[i]) == 0) return *out = false, WICK_OK;
    }
    return wick_fail(err, WICK_INVALID_CONFIG, "%s: '%s' is no truth value; use true or false", name, text);
}

static bool is_choice(const char *choices, const char *text)
{
    size_t size = strlen(text);
    for (const char *at = choices; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strcspn(at, "|") == size && strncmp(at, text, size) == 0) return true;
    return false;
}

wick_status wick_config_set(struct wick_config *config, enum wick_key key, const char *text, wick_error *err)
{
    struct wick_config_value *value = &config->values[key];
    const char *name = keys[key].name;
    char *end = NULL;
    *value = (struct wick_config_value){.null = !text, .given = true};
    if (!text) {
        if (keys[key].value || keys[key].type == KEY_BOOL) return wick_fail(err, WICK_INVALID_CONFIG, "%s: cannot be null", name);
        return WICK_OK;
    }
    errno = 0;
    switch (keys[key].type) {
    case KEY_BOOL: return parse_bool(name, text, &value->b, err);
    case KEY_INT:
        value->i = strtoll(text, &end, 10);
        if (end == text || *end || errno) return wick_fail(err, WICK_INVALID_CONFIG, "%s: '%s' is no integer", name, text);
        return WICK_OK;
    case KEY_FLOAT:
        value->d = strtod(text, &end);
        if (end == text || *end) return wick_fail(err, WICK_INVALID_CONFIG, "%s: '%s' is no number", name, text);
        return WICK_OK;
    default: break;
    }
    if (keys[key].choices && !is_choice(keys[key].choices, text))
        return wick_fail(err, WICK_INVALID_CONFIG, "%s: '%s' is none of %s", name, text, keys[key].choices);
    value->text = wick_arena_copy(&config->arena, text, strlen(text));
    return value->text ? WICK_OK : wick_fail_oom(err, strlen(text), name);
}

wick_status wick_config_init(struct wick_config *config, wick_error *err)
{
    *config = (struct wick_config){0};
    wick_arena_init(&config->arena, &wick_allocator_heap);
    for (int i = 0; i < WICK_KEY_COUNT; i++) {
        config->values[i].null = true;
        if (keys[i].value) WICK_TRY(wick_config_set(config, (enum wick_key)i, keys[i].value, err));
        config->values[i].given = false;
    }
    return WICK_OK;
}

void wick_config_release(struct wick_config *config) { wick_arena_release(&config->arena); }

wick_status wick_config_find(const char *name, enum wick_key *key, wick_error *err)
{
    const char *names[WICK_KEY_COUNT + 1];
    for (int i = 0; i < WICK_KEY_COUNT; i++) {
        if (strcmp(keys[i].name, name) == 0) return *key = (enum wick_key)i, WICK_OK;
        names[i] = keys[i].name;
    }
    names[WICK_KEY_COUNT] = NULL;
    const char *near = wick_nearest_name(name, names);
    const char *dot = strchr(name, '.');
    return near ? wick_fail(err, WICK_INVALID_CONFIG, "%s: unknown key; did you mean %s?", name, near)
                : wick_fail(err, WICK_INVALID_CONFIG, "%s: unknown key%s", name, dot ? "" : "; write it as section.key");
}

bool wick_config_is_section(const char *name)
{
    size_t size = strlen(name);
    for (int i = 0; i < WICK_KEY_COUNT; i++)
        if (strncmp(keys[i].name, name, size) == 0 && keys[i].name[size] == '.') return true;
    return false;
}

bool wick_config_is_structured(enum wick_key key) { return keys[key].type == KEY_LIST || keys[key].type == KEY_OBJECT; }

/* ---- checks ---- */

static wick_status check_model(const struct wick_config *c, wick_error *err)
{
    bool cache = wick_config_bool(c, WICK_KEY_MODEL_USE_KV_CACHE);
    const char *sink = wick_config_text(c, WICK_KEY_MODEL_USE_ATTENTION_SINK);
    if (sink && (!strchr(sink, ',') || strchr(strchr(sink, ',') + 1, ',')))
        return wick_fail(err, WICK_INVALID_CONFIG, "model.use_attention_sink: '%s' is not 'sink_size,window_size'", sink);
    if (wick_config_bool(c, WICK_KEY_MODEL_QUANTIZE_KV_CACHE) && !cache)
        return wick_fail(err, WICK_INVALID_CONFIG, "model.quantize_kv_cache: needs model.use_kv_cache=true");
    if (wick_config_text(c, WICK_KEY_MODEL_LOCAL_GLOBAL_ATTENTION) && !cache)
        return wick_fail(err, WICK_INVALID_CONFIG, "model.local_global_attention: needs model.use_kv_cache=true");
    if (wick_config_bool(c, WICK_KEY_MODEL_USE_SDPA_WITH_KV_CACHE) && !cache)
        return wick_fail(err, WICK_INVALID_CONFIG, "model.use_sdpa_with_kv_cache: needs model.use_kv_cache=true");
    int64_t seq = wick_config_int(c, WICK_KEY_EXPORT_MAX_SEQ_LENGTH), context = wick_config_int(c, WICK_KEY_EXPORT_MAX_CONTEXT_LENGTH);
    if (seq < 2 || seq > 1 << 24) return wick_fail(err, WICK_INVALID_CONFIG, "export.max_seq_length: %lld is not in 2..16777216", (long long)seq);
    if (context < seq || context > 1 << 24)
        return wick_fail(err, WICK_INVALID_CONFIG, "export.max_context_length: %lld must be at least export.max_seq_length (%lld)", (long long)context,
                         (long long)seq);
    return WICK_OK;
}

static wick_status check_quantization(const struct wick_config *c, wick_error *err)
{
    const char *mode = wick_config_text(c, WICK_KEY_QUANTIZATION_QMODE);
    bool torchao = mode && strncmp(mode, "torchao:", 8) == 0;
    if (torchao && wick_config_bool(c, WICK_KEY_BACKEND_XNNPACK_ENABLED))
        return wick_fail(err, WICK_INVALID_CONFIG, "quantization.qmode: torchao modes cannot be combined with backend.xnnpack.enabled");
    if (wick_config_bool(c, WICK_KEY_MODEL_USE_SHARED_EMBEDDING) && !torchao)
        return wick_fail(err, WICK_INVALID_CONFIG, "model.use_shared_embedding: needs a quantization.qmode that starts with torchao:");
    if (mode && wick_config_text(c, WICK_KEY_QUANTIZATION_PT2E_QUANTIZE))
        return wick_fail(err, WICK_INVALID_CONFIG, "quantization.qmode: cannot be combined with quantization.pt2e_quantize");
    if (mode && strcmp(mode, "8da4w") != 0) return wick_fail(err, WICK_NOT_SUPPORTED, "quantization.qmode=%s: not supported; use 8da4w", mode);
    return WICK_OK;
}

/* Keys whose given value is understood but has no implementation in this build. */
static const enum wick_key unsupported[] = {
    WICK_KEY_BASE_LORA_CONFIG, WICK_KEY_BASE_USE_LORA, WICK_KEY_BASE_PREQ_MODE, WICK_KEY_MODEL_USE_SHARED_EMBEDDING, WICK_KEY_MODEL_EXPAND_ROPE_TABLE,
    WICK_KEY_MODEL_USE_ATTENTION_SINK, WICK_KEY_MODEL_OUTPUT_PRUNE_MAP, WICK_KEY_MODEL_INPUT_PRUNE_MAP, WICK_KEY_MODEL_QUANTIZE_KV_CACHE,
    WICK_KEY_MODEL_STATIC_QUANTIZE_KV_CACHE, WICK_KEY_MODEL_LOCAL_GLOBAL_ATTENTION, WICK_KEY_MODEL_USE_MOE_QUANTIZED_OP, WICK_KEY_EXPORT_EXPORT_ONLY,
    WICK_KEY_EXPORT_FOUNDATION_WEIGHTS_FILE, WICK_KEY_EXPORT_LORA_WEIGHTS_FILE, WICK_KEY_DEBUG_PROFILE_MEMORY, WICK_KEY_DEBUG_PROFILE_PATH,
    WICK_KEY_DEBUG_GENERATE_ETRECORD, WICK_KEY_MULTIMETHOD_METHODS, WICK_KEY_QUANTIZATION_PT2E_QUANTIZE, WICK_KEY_QUANTIZATION_USE_SPIN_QUANT,
    WICK_KEY_QUANTIZATION_USE_QAT, WICK_KEY_BACKEND_XNNPACK_ENABLE_BF16, WICK_KEY_BACKEND_COREML_ENABLED, WICK_KEY_BACKEND_VULKAN_ENABLED,
    WICK_KEY_BACKEND_QNN_ENABLED, WICK_KEY_BACKEND_OPENVINO_ENABLED, WICK_KEY_BACKEND_TORCHAO_USE_TORCHAO_KERNELS_LINEAR,
    WICK_KEY_BACKEND_TORCHAO_USE_TORCHAO_KERNELS_TIED_EMBEDDING, WICK_KEY_BACKEND_TOSA_ENABLED, WICK_KEY_BACKEND_ETHOSU_ENABLED,
    WICK_KEY_BACKEND_VGF_ENABLED, WICK_KEY_BACKEND_MLX_ENABLED,
};

static bool is_active(const struct wick_config *c, enum wick_key key)
{
    const struct wick_config_value *v = &c->values[key];
    if (v->null) return false;
    if (keys[key].type == KEY_BOOL) return v->b;
    if (keys[key].type == KEY_INT) return v->i != 0;
    return v->text && strcmp(v->text, "[]") != 0 && strcmp(v->text, "{}") != 0;
}

wick_status wick_config_check(const struct wick_config *config, wick_error *err)
{
    WICK_TRY(check_model(config, err));
    WICK_TRY(check_quantization(config, err));
    for (size_t i = 0; i < WICK_ARRAY_SIZE(unsupported); i++)
        if (is_active(config, unsupported[i])) return wick_fail(err, WICK_NOT_SUPPORTED, "%s: not supported", keys[unsupported[i]].name);
    if (!wick_config_is(config, WICK_KEY_MODEL_DTYPE_OVERRIDE, "fp32"))
        return wick_fail(err, WICK_NOT_SUPPORTED, "model.dtype_override=%s: not supported; use fp32", config->values[WICK_KEY_MODEL_DTYPE_OVERRIDE].text);
    return WICK_OK;
}

void wick_config_print(const struct wick_config *config, struct wick_buf *out)
{
    for (int i = 0; i < WICK_KEY_COUNT; i++) {
        const struct wick_config_value *v = &config->values[i];
        wick_buf_printf(out, "%s: ", keys[i].name);
        if (v->null) wick_buf_text(out, "null");
        else if (keys[i].type == KEY_BOOL) wick_buf_text(out, v->b ? "true" : "false");
        else if (keys[i].type == KEY_INT) wick_buf_printf(out, "%lld", (long long)v->i);
        else if (keys[i].type == KEY_FLOAT) wick_buf_printf(out, "%.17g", v->d);
        else if (keys[i].type == KEY_STRING) wick_buf_json_string(out, v->text, strlen(v->text));
        else wick_buf_text(out, v->text);
        wick_buf_text(out, v->given ? "\n" : "  # default\n");
    }
}
