/* export/decoder/options.c - what a configuration says about attention and vocabulary, checked against the model. */
#include "export/decoder.h"

#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>

static wick_status read_sink(struct wick_model_build *build, const struct wick_config *config, wick_error *err)
{
    const char *text = wick_config_text(config, WICK_KEY_MODEL_USE_ATTENTION_SINK);
    long sink, window;
    char end;
    if (!text) return WICK_OK;
    if (sscanf(text, "%ld,%ld%c", &sink, &window, &end) != 2 || sink < 0 || window < 1 || sink > 1 << 24 || window > 1 << 24)
        return wick_fail(err, WICK_INVALID_CONFIG, "model.use_attention_sink: '%s' is not '<sink_size>,<window_size>' with a window of at least 1", text);
    if (!build->kv_cache) return wick_fail(err, WICK_INVALID_CONFIG, "model.use_attention_sink needs model.use_kv_cache=true");
    if (build->context < sink + window)
        return wick_fail(err, WICK_INVALID_CONFIG, "export.max_context_length (%d) must be at least sink and window of model.use_attention_sink (%ld)", build->context, sink + window);
    build->sink = (int)sink;
    build->sink_window = (int)window;
    return WICK_OK;
}

static wick_status read_local_global(struct wick_model_build *build, const struct wick_config *config, struct wick_arena *arena, wick_error *err)
{
    const char *text = wick_config_text(config, WICK_KEY_MODEL_LOCAL_GLOBAL_ATTENTION);
    json_t *list;
    if (!text) return WICK_OK;
    WICK_TRY(wick_json_parse(&list, text, strlen(text), "model.local_global_attention", WICK_INVALID_CONFIG, err));
    size_t count = json_is_array(list) ? json_array_size(list) : 0;
    int *windows = WICK_NEW_ARRAY(arena, int, count + 1);
    wick_status status = windows ? WICK_OK : wick_fail_oom(err, count * sizeof *windows, "model.local_global_attention");
    for (size_t i = 0; status == WICK_OK && i < count; i++) {
        const json_t *item = json_array_get(list, i);
        int64_t window = json_is_integer(item) ? json_integer_value(item) : -1;
        if (window < 0 || window > 1 << 24) status = wick_fail(err, WICK_INVALID_CONFIG, "model.local_global_attention: entry %zu is no window of 0..16777216 positions", i);
        else windows[i] = (int)window;
    }
    json_decref(list);
    WICK_TRY(status);
    if (count && build->hparams->n_layers % (int64_t)count)
        return wick_fail(err, WICK_INVALID_CONFIG, "model.local_global_attention: %zu windows do not repeat evenly over %lld layers", count, (long long)build->hparams->n_layers);
    if (count && build->sink_window) return wick_fail(err, WICK_NOT_SUPPORTED, "model.local_global_attention with model.use_attention_sink: not supported");
    build->local_global = windows;
    build->local_global_count = (int)count;
    return WICK_OK;
}

/* {"new id": old id}: ids[new] = old. New ids must be 0, 1, .. without a gap, old ids of the vocabulary. */
static wick_status read_map(const json_t *map, const char *path, int64_t vocabulary, struct wick_arena *arena, int32_t **ids, int *count, wick_error *err)
{
    const char *name;
    json_t *value;
    size_t n = json_object_size(map);
    if (!json_is_object(map) || n == 0) return wick_fail(err, WICK_INVALID_CONFIG, "%s: no JSON object of {\"new id\": old id}", path);
    if ((*ids = WICK_NEW_ARRAY(arena, int32_t, n)) == NULL) return wick_fail_oom(err, n * sizeof **ids, path);
    for (size_t i = 0; i < n; i++) (*ids)[i] = -1;
    json_object_foreach((json_t *)(uintptr_t)map, name, value)
    {
        char *end;
        unsigned long long at = strtoull(name, &end, 10);
        int64_t old = json_is_integer(value) ? json_integer_value(value) : -1;
        if (*end || end == name || at >= n || (*ids)[at] >= 0) return wick_fail(err, WICK_INVALID_CONFIG, "%s: new id \"%.40s\" is not one of 0..%zu, or twice there", path, name, n - 1);
        if (old < 0 || old >= vocabulary) return wick_fail(err, WICK_INVALID_CONFIG, "%s: \"%s\" is no id of the vocabulary, 0..%lld", path, name, (long long)vocabulary - 1);
        (*ids)[at] = (int32_t)old;
    }
    *count = (int)n;
    return WICK_OK;
}

static wick_status read_prune_map(const struct wick_config *config, enum wick_key key, int64_t vocabulary, struct wick_arena *arena, int32_t **ids, int *count, wick_error *err)
{
    const char *path = wick_config_text(config, key);
    json_t *map;
    if (!path) return WICK_OK;
    WICK_TRY(wick_json_load(&map, path, WICK_INVALID_CONFIG, err));
    wick_status status = read_map(map, path, vocabulary, arena, ids, count, err);
    json_decref(map);
    return status;
}

wick_status wick_model_build_options(struct wick_model_build *build, const struct wick_config *config, struct wick_arena *arena, wick_error *err)
{
    const struct wick_hparams *h = build->hparams;
    build->most_tokens = build->tokens;
    build->expand_rope = wick_config_bool(config, WICK_KEY_MODEL_EXPAND_ROPE_TABLE);
    if (build->expand_rope && h->n_heads != h->n_kv_heads)
        return wick_fail(err, WICK_INVALID_CONFIG, "model.expand_rope_table needs as many kv heads as heads; the model has %lld and %lld", (long long)h->n_kv_heads, (long long)h->n_heads);
    WICK_TRY(read_sink(build, config, err));
    WICK_TRY(read_local_global(build, config, arena, err));
    WICK_TRY(read_prune_map(config, WICK_KEY_MODEL_INPUT_PRUNE_MAP, h->vocab_size, arena, &build->input_ids, &build->input_id_count, err));
    return read_prune_map(config, WICK_KEY_MODEL_OUTPUT_PRUNE_MAP, h->vocab_size, arena, &build->output_ids, &build->output_id_count, err);
}
