/* export/methods.c - see methods.h. Used by pipeline.c. */
#include "export/methods.h"

#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>

enum { METHODS_MAX = 64 };

static wick_status name_method(struct wick_method *method, const json_t *item, size_t i, struct wick_arena *arena, wick_error *err)
{
    const char *name = json_string_value(json_object_get(item, "method_name"));
    const json_t *adapter = json_object_get(item, "lora_config");
    char key[64];
    int size = snprintf(key, sizeof key, "multimethod.methods.%zu", i);
    if (!name || !*name) return wick_fail(err, WICK_INVALID_CONFIG, "%s.method_name: is empty", key);
    method->name = wick_arena_copy(arena, name, strlen(name));
    if (!method->name) return wick_fail_oom(err, strlen(name), key);
    if (!adapter || json_is_null(adapter)) return WICK_OK;
    size += snprintf(key + size, sizeof key - (size_t)size, ".lora_config");
    char *text = json_dumps(adapter, JSON_COMPACT | JSON_SORT_KEYS);
    method->adapter_text = text ? wick_arena_copy(arena, text, strlen(text)) : NULL;
    method->adapter_key = wick_arena_copy(arena, key, (size_t)size);
    free(text);
    return method->adapter_text && method->adapter_key ? WICK_OK : wick_fail_oom(err, 0, key);
}

static int by_name(const void *a, const void *b) { return strcmp(((const struct wick_method *)a)->name, ((const struct wick_method *)b)->name); }

static wick_status read_list(struct wick_methods *m, const json_t *list, struct wick_arena *arena, wick_error *err)
{
    size_t count = json_array_size(list);
    if (count > METHODS_MAX) return wick_fail(err, WICK_INVALID_CONFIG, "multimethod.methods: %zu methods, at most %d", count, METHODS_MAX);
    m->list = WICK_NEW_ARRAY(arena, struct wick_method, count + 1);
    if (!m->list) return wick_fail_oom(err, count * sizeof *m->list, "methods");
    for (size_t i = 0; i < count; i++) WICK_TRY(name_method(&m->list[i], json_array_get(list, i), i, arena, err));
    qsort(m->list, count, sizeof *m->list, by_name);
    for (size_t i = 1; i < count; i++)
        if (strcmp(m->list[i - 1].name, m->list[i].name) == 0)
            return wick_fail(err, WICK_INVALID_CONFIG, "multimethod.methods: two methods are called %.80s", m->list[i].name);
    m->count = (uint32_t)count;
    m->several = count > 0;
    return WICK_OK;
}

static wick_status read_methods(struct wick_methods *m, const struct wick_config *config, struct wick_arena *arena, wick_error *err)
{
    const char *text = wick_config_text(config, WICK_KEY_MULTIMETHOD_METHODS), *adapter = wick_config_text(config, WICK_KEY_BASE_LORA_CONFIG);
    if (text && *text && !config->values[WICK_KEY_MULTIMETHOD_METHODS].null) {
        json_t *list;
        WICK_TRY(wick_json_parse(&list, text, strlen(text), "multimethod.methods", WICK_INVALID_CONFIG, err));
        wick_status status = read_list(m, list, arena, err);
        json_decref(list);
        if (status != WICK_OK || m->count) return status;
    }
    m->list = WICK_NEW(arena, struct wick_method);
    if (!m->list) return wick_fail_oom(err, sizeof *m->list, "methods");
    *m->list = (struct wick_method){.name = "forward", .adapter_key = "base.lora_config"};
    if (!config->values[WICK_KEY_BASE_LORA_CONFIG].null) m->list->adapter_text = adapter;
    m->count = 1;
    return WICK_OK;
}

wick_status wick_methods_init(struct wick_methods *m, const struct wick_config *config, const struct wick_opmeta_table *ops, struct wick_arena *arena,
                              wick_error *err)
{
    *m = (struct wick_methods){0};
    WICK_TRY(read_methods(m, config, arena, err));
    for (uint32_t i = 0; i < m->count; i++) wick_graph_init(&m->list[i].graph, ops);
    return WICK_OK;
}

void wick_methods_release(struct wick_methods *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        wick_graph_release(&m->list[i].graph);
        wick_adapter_release(&m->list[i].adapter);
    }
    m->count = 0;
}
