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
