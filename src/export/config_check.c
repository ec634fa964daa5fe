/* export/config_check.c - values against each other, as the original checks them when it builds its configuration and before it exports; then what is
 * understood but refused (config_refused.def). */
#include "export/config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "export/config_set.h"

#define KEY(id) WICK_KEY_##id

enum { POSITIONS_MAX = 1 << 24 };

/* A text, list or object that says something. */
static bool has(const struct wick_config *c, enum wick_key key)
{
    const char *text = wick_config_text(c, key);
    return text && *text && strcmp(text, "[]") != 0 && strcmp(text, "{}") != 0;
}

/* What the key asks for, as text for the error; NULL: nothing. */
static const char *asked(const struct wick_config *c, enum wick_key key, char number[24])
{
    const struct wick_config_value *v = &c->values[key];
    if (v->null) return NULL;
    if (v->text) return has(c, key) ? v->text : NULL;
    snprintf(number, 24, "%lld", (long long)v->i);
    return v->b ? "true" : v->i ? number : NULL;
}

static bool begins(const struct wick_config *c, enum wick_key key, const char *prefix)
{
    const char *text = wick_config_text(c, key);
    return text && strncmp(text, prefix, strlen(prefix)) == 0;
}

static wick_status refuse(wick_error *err, enum wick_key key, const char *why) { return wick_fail(err, WICK_INVALID_CONFIG, "%s: %s", wick_config_key_name(key), why); }

/* `key`, which is on, wants `other` on too. */
static wick_status needs(wick_error *err, enum wick_key key, enum wick_key other)
{
    return wick_fail(err, WICK_INVALID_CONFIG, "%s: needs %s=true", wick_config_key_name(key), wick_config_key_name(other));
}

static wick_status excludes(wick_error *err, enum wick_key key, enum wick_key other)
{
    return wick_fail(err, WICK_INVALID_CONFIG, "%s: cannot be combined with %s", wick_config_key_name(key), wick_config_key_name(other));
}

/* ---- model ---- */

static wick_status check_attention_sink(const struct wick_config *c, wick_error *err)
{
    const char *text = wick_config_text(c, KEY(MODEL_USE_ATTENTION_SINK));
    if (!text || !*text) return WICK_OK;
    char *end;
    long sink = strtol(text, &end, 10), window = 0;
    bool good = end != text && *end == ',';
    if (good) {
        const char *second = end + 1;
        window = strtol(second, &end, 10);
        good = end != second && *end == 0 && sink >= 0 && window > 0 && sink <= POSITIONS_MAX && window <= POSITIONS_MAX;
    }
    return good ? WICK_OK : wick_fail(err, WICK_INVALID_CONFIG, "model.use_attention_sink: '%s' must be structured like '<sink_size>,<window_size>'", text);
}

static wick_status check_cache(const struct wick_config *c, wick_error *err)
{
    static const enum wick_key wants_cache[] = {KEY(MODEL_QUANTIZE_KV_CACHE), KEY(MODEL_STATIC_QUANTIZE_KV_CACHE), KEY(MODEL_USE_SDPA_WITH_KV_CACHE)};
    if (wick_config_bool(c, KEY(MODEL_USE_KV_CACHE))) return WICK_OK;
    for (size_t i = 0; i < WICK_ARRAY_SIZE(wants_cache); i++)
        if (wick_config_bool(c, wants_cache[i])) return needs(err, wants_cache[i], KEY(MODEL_USE_KV_CACHE));
    if (has(c, KEY(MODEL_LOCAL_GLOBAL_ATTENTION))) return needs(err, KEY(MODEL_LOCAL_GLOBAL_ATTENTION), KEY(MODEL_USE_KV_CACHE));
    return WICK_OK;
}

static wick_status check_static_cache(const struct wick_config *c, wick_error *err)
{
    enum wick_key key = KEY(MODEL_STATIC_QUANTIZE_KV_CACHE);
    double scale = c->values[KEY(MODEL_STATIC_QUANTIZE_KV_CACHE_SCALE)].d;
    if (!isfinite(scale) || scale <= 0) return refuse(err, KEY(MODEL_STATIC_QUANTIZE_KV_CACHE_SCALE), "must be finite and positive");
    if (!wick_config_bool(c, key)) return WICK_OK;
    if (wick_config_bool(c, KEY(MODEL_QUANTIZE_KV_CACHE))) return excludes(err, key, KEY(MODEL_QUANTIZE_KV_CACHE));
    if (wick_config_bool(c, KEY(MODEL_USE_SDPA_WITH_KV_CACHE))) return excludes(err, key, KEY(MODEL_USE_SDPA_WITH_KV_CACHE));
    if (wick_config_bool(c, KEY(MODEL_ENABLE_DYNAMIC_SHAPE))) return refuse(err, key, "requires static shapes: model.enable_dynamic_shape=false");
    if (has(c, KEY(MODEL_LOCAL_GLOBAL_ATTENTION))) return excludes(err, key, KEY(MODEL_LOCAL_GLOBAL_ATTENTION));
    if (has(c, KEY(MODEL_USE_ATTENTION_SINK))) return excludes(err, key, KEY(MODEL_USE_ATTENTION_SINK));
    return WICK_OK;
}

static wick_status check_lengths(const struct wick_config *c, wick_error *err)
{
    int64_t seq = wick_config_int(c, KEY(EXPORT_MAX_SEQ_LENGTH)), context = wick_config_int(c, KEY(EXPORT_MAX_CONTEXT_LENGTH));
    int64_t least = wick_config_bool(c, KEY(MODEL_ENABLE_DYNAMIC_SHAPE)) ? 2 : 1; /* a dynamic call takes one less than max_seq_length */
    if (seq < least || seq > POSITIONS_MAX)
        return wick_fail(err, WICK_INVALID_CONFIG, "export.max_seq_length: %lld is not in %lld..%d", (long long)seq, (long long)least, POSITIONS_MAX);
    if (context < seq || context > POSITIONS_MAX)
        return wick_fail(err, WICK_INVALID_CONFIG, "export.max_context_length: %lld must be at least export.max_seq_length (%lld) and at most %d", (long long)context,
                         (long long)seq, POSITIONS_MAX);
    return WICK_OK;
}

/* ---- quantization ---- */

/* "torchao:8da(digits)w" or "torchao:fpa(digits)w". */
static bool is_low_bit(const struct wick_config *c)
{
    const char *mode = wick_config_text(c, KEY(QUANTIZATION_QMODE));
    if (!mode || (strncmp(mode, "torchao:8da", 11) != 0 && strncmp(mode, "torchao:fpa", 11) != 0)) return false;
    size_t digits = strspn(mode + 11, "0123456789");
    return digits && strcmp(mode + 11 + digits, "w") == 0;
}

static wick_status check_qmode(const struct wick_config *c, wick_error *err)
{
    static const char *const modes[] = {"int8", "8da4w", "8da4w-gptq", "4w", NULL};
    const char *mode = wick_config_text(c, KEY(QUANTIZATION_QMODE));
    if (!mode || !*mode || is_low_bit(c)) return WICK_OK;
    for (size_t i = 0; modes[i]; i++)
        if (strcmp(mode, modes[i]) == 0) return WICK_OK;
    const char *near = wick_nearest_name(mode, modes);
    return wick_fail(err, WICK_INVALID_CONFIG, "quantization.qmode: '%s' is none of int8, 8da4w, 8da4w-gptq, 4w, torchao:8da(\\d+)w, torchao:fpa(\\d+)w%s%s%s", mode,
                     near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static wick_status check_low_bit(const struct wick_config *c, wick_error *err)
{
    bool low = is_low_bit(c);
    if (low && wick_config_bool(c, KEY(BACKEND_XNNPACK_ENABLED))) return refuse(err, KEY(QUANTIZATION_QMODE), "torchao modes cannot be combined with backend.xnnpack.enabled");
    if (low && c->values[KEY(QUANTIZATION_GROUP_SIZE)].null) return refuse(err, KEY(QUANTIZATION_QMODE), "torchao modes need quantization.group_size");
    if (!wick_config_bool(c, KEY(MODEL_USE_SHARED_EMBEDDING))) return WICK_OK;
    if (!low) return refuse(err, KEY(MODEL_USE_SHARED_EMBEDDING), "needs a quantization.qmode that starts with torchao:");
    if (!begins(c, KEY(QUANTIZATION_EMBEDDING_QUANTIZE), "torchao:")) return refuse(err, KEY(MODEL_USE_SHARED_EMBEDDING), "needs a quantization.embedding_quantize that starts with torchao:");
    return WICK_OK;
}

static wick_status check_group(const struct wick_config *c, wick_error *err)
{
    const struct wick_config_value *group = &c->values[KEY(QUANTIZATION_GROUP_SIZE)];
    if (!group->null && (group->i < 0 || group->i > POSITIONS_MAX))
        return wick_fail(err, WICK_INVALID_CONFIG, "quantization.group_size: %lld is not in 0..%d", (long long)group->i, POSITIONS_MAX);
    return WICK_OK;
}

static wick_status check_pt2e(const struct wick_config *c, wick_error *err)
{
    return has(c, KEY(QUANTIZATION_QMODE)) && has(c, KEY(QUANTIZATION_PT2E_QUANTIZE)) ? excludes(err, KEY(QUANTIZATION_QMODE), KEY(QUANTIZATION_PT2E_QUANTIZE)) : WICK_OK;
}

/* `key` is bits,group; a group of 0, none or None is a scale a row. */
static wick_status check_embedding_text(const struct wick_config *c, enum wick_key key, wick_error *err)
{
    const char *text = wick_config_text(c, key);
    if (!text || !*text || strncmp(text, "torchao:", 8) == 0) return WICK_OK;
    char *end;
    long bits = strtol(text, &end, 10);
    if (end == text || *end != ',') return wick_fail(err, WICK_INVALID_CONFIG, "%s: '%s' must follow the format <bitwidth>,<groupsize>", wick_config_key_name(key), text);
    if (bits != 2 && bits != 4 && bits != 8) return wick_fail(err, WICK_INVALID_CONFIG, "%s: %ld bits is none of 2, 4, 8", wick_config_key_name(key), bits);
    const char *group = end + 1;
    while (*group == ' ') group++;
    long size = strtol(group, &end, 10);
    if ((end != group && *end == 0 && size >= 0 && size <= POSITIONS_MAX) || strcmp(group, "none") == 0 || strcmp(group, "None") == 0) return WICK_OK;
    return wick_fail(err, WICK_INVALID_CONFIG, "%s: '%s' is no group size", wick_config_key_name(key), group);
}

static wick_status check_embedding(const struct wick_config *c, wick_error *err) { return check_embedding_text(c, KEY(QUANTIZATION_EMBEDDING_QUANTIZE), err); }

static wick_status check_prequantized(const struct wick_config *c, wick_error *err)
{
    int64_t group = wick_config_int(c, KEY(BASE_PREQ_GROUP_SIZE)), rank = wick_config_int(c, KEY(BASE_USE_LORA));
    if (rank < 0) return refuse(err, KEY(BASE_USE_LORA), "a rank is not negative");
    if (!has(c, KEY(BASE_PREQ_MODE))) return wick_config_bool(c, KEY(QUANTIZATION_USE_QAT)) ? refuse(err, KEY(QUANTIZATION_USE_QAT), "needs base.preq_mode: how the checkpoint is quantized") : WICK_OK;
    if (group != 32 && group != 64 && group != 128 && group != 256) return refuse(err, KEY(BASE_PREQ_GROUP_SIZE), "is none of 32, 64, 128, 256");
    return check_embedding_text(c, KEY(BASE_PREQ_EMBEDDING_QUANTIZE), err);
}

/* ---- several methods, back-ends ---- */

static wick_status check_multimethod(const struct wick_config *c, wick_error *err)
{
    static const enum wick_key against[] = {KEY(BASE_LORA_CONFIG), KEY(QUANTIZATION_PT2E_QUANTIZE), KEY(BACKEND_COREML_ENABLED), KEY(BACKEND_VULKAN_ENABLED),
                                            KEY(BACKEND_QNN_ENABLED), KEY(BACKEND_OPENVINO_ENABLED)};
    char number[24];
    if (!has(c, KEY(MULTIMETHOD_METHODS))) return WICK_OK;
    for (size_t i = 0; i < WICK_ARRAY_SIZE(against); i++)
        if (asked(c, against[i], number)) return excludes(err, KEY(MULTIMETHOD_METHODS), against[i]);
    return WICK_OK;
}

static wick_status check_coreml(const struct wick_config *c, wick_error *err)
{
    int64_t ios = wick_config_int(c, KEY(BACKEND_COREML_IOS)), least = 15;
    if (ios < 15 || ios > 18) return wick_fail(err, WICK_INVALID_CONFIG, "backend.coreml.ios: %lld is none of 15, 16, 17, 18", (long long)ios);
    if (!wick_config_bool(c, KEY(BACKEND_COREML_ENABLED))) return WICK_OK;
    if (wick_config_bool(c, KEY(MODEL_ENABLE_DYNAMIC_SHAPE))) return refuse(err, KEY(BACKEND_COREML_ENABLED), "takes static shapes only: model.enable_dynamic_shape=false");
    const char *mode = wick_config_text(c, KEY(QUANTIZATION_PT2E_QUANTIZE));
    if (has(c, KEY(BACKEND_COREML_QUANTIZE)) || (mode && strncmp(mode, "coreml_", 7) == 0)) least = 16;
    if (mode && strstr(mode, "_8a_")) least = 17;
    if (has(c, KEY(QUANTIZATION_EMBEDDING_QUANTIZE)) || begins(c, KEY(BACKEND_COREML_QUANTIZE), "b4w") || begins(c, KEY(BACKEND_COREML_QUANTIZE), "c4w") ||
        (mode && strncmp(mode, "coreml_", 7) == 0 && strstr(mode, "c4w")))
        least = 18;
    return ios >= least ? WICK_OK : wick_fail(err, WICK_INVALID_CONFIG, "backend.coreml.ios: what is asked for needs at least %lld", (long long)least);
}

static wick_status check_qnn(const struct wick_config *c, wick_error *err)
{
    enum wick_key key = KEY(BACKEND_QNN_ENABLED);
    int64_t parts = wick_config_int(c, KEY(BACKEND_QNN_NUM_SHARDING));
    if (parts < 0) return refuse(err, KEY(BACKEND_QNN_NUM_SHARDING), "cannot be negative");
    if (!wick_config_bool(c, key)) return parts > 0 ? needs(err, KEY(BACKEND_QNN_NUM_SHARDING), key) : WICK_OK;
    if (wick_config_bool(c, KEY(MODEL_ENABLE_DYNAMIC_SHAPE))) return refuse(err, key, "takes static shapes only: model.enable_dynamic_shape=false");
    return wick_config_bool(c, KEY(MODEL_USE_KV_CACHE)) ? WICK_OK : needs(err, key, KEY(MODEL_USE_KV_CACHE));
}

static wick_status check_vulkan(const struct wick_config *c, wick_error *err)
{
    if (!wick_config_bool(c, KEY(BACKEND_VULKAN_ENABLED)) || wick_config_is(c, KEY(MODEL_DTYPE_OVERRIDE), "fp32")) return WICK_OK;
    return refuse(err, KEY(BACKEND_VULKAN_ENABLED), "needs model.dtype_override=fp32 (backend.vulkan.force_fp16 is its own)");
}

/* ---- all ---- */

static wick_status (*const checks[])(const struct wick_config *, wick_error *) = {
    check_attention_sink, check_cache, check_static_cache, check_lengths, check_qmode, check_low_bit, check_group, check_pt2e, check_embedding,
    check_prequantized, check_multimethod, check_coreml, check_qnn, check_vulkan,
};

static const struct {
    enum wick_key key;
    const char *value, *missing;
} refused[] = {
#define WICK_REFUSED(key, value, missing) {WICK_KEY_##key, value, missing},
#include "export/config_refused.def"
#undef WICK_REFUSED
};

static bool fits(const char *text, const char *pattern)
{
    if (*pattern == '!') return !fits(text, pattern + 1);
    size_t size = strlen(pattern);
    return size && pattern[size - 1] == '*' ? strncmp(text, pattern, size - 1) == 0 : strcmp(text, pattern) == 0;
}

wick_status wick_config_check(const struct wick_config *config, wick_error *err)
{
    char number[24];
    for (size_t i = 0; i < WICK_ARRAY_SIZE(checks); i++) WICK_TRY(checks[i](config, err));
    for (size_t i = 0; i < WICK_ARRAY_SIZE(refused); i++) {
        const char *text = asked(config, refused[i].key, number);
        if (text && fits(text, refused[i].value))
            return wick_fail(err, WICK_NOT_SUPPORTED, "%s=%.60s: not supported: %s", wick_config_key_name(refused[i].key), text, refused[i].missing);
    }
    return WICK_OK;
}
