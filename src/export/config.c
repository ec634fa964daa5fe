/* export/config.c - the table of keys; values by type. Readers: config_yaml.c, config_override.c. Next: config_resolve.c, config_check.c. */
#include "export/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "export/config_set.h"

static const struct wick_key_info keys[WICK_KEY_COUNT] = {
#define WICK_KEY(id, name, type, value, choices) {name, WICK_TYPE_##type, value, choices},
#include "export/config.def"
#undef WICK_KEY
};

static const struct {
    const char *path, *class_name;
} sections[] = {
#define WICK_SECTION(path, class_name) {path, class_name},
#include "export/config_sections.def"
#undef WICK_SECTION
};

/* ---- names ---- */

const struct wick_key_info *wick_config_info(enum wick_key key) { return &keys[key]; }
const char *wick_config_key_name(enum wick_key key) { return keys[key].name; }

bool wick_config_backend(const struct wick_config *c, const char *section, const char *name)
{
    char wanted[80];
    snprintf(wanted, sizeof wanted, "backend.%s.%s", section, name);
    for (int i = 0; i < WICK_KEY_COUNT; i++)
        if (keys[i].type == WICK_TYPE_BOOL && strcmp(keys[i].name, wanted) == 0) return c->values[i].b;
    return false;
}

bool wick_config_find(const char *name, enum wick_key *key)
{
    for (int i = 0; i < WICK_KEY_COUNT; i++)
        if (strcmp(keys[i].name, name) == 0) return *key = (enum wick_key)i, true;
    return false;
}

bool wick_config_is_section(const char *name)
{
    size_t size = strlen(name);
    for (int i = 0; i < WICK_KEY_COUNT; i++)
        if (strncmp(keys[i].name, name, size) == 0 && keys[i].name[size] == '.') return true;
    return false;
}

bool wick_config_is_structured(enum wick_key key) { return keys[key].type == WICK_TYPE_LIST || keys[key].type == WICK_TYPE_OBJECT; }

static const char *class_of(const char *path, size_t size)
{
    for (size_t i = 0; i < WICK_ARRAY_SIZE(sections); i++)
        if (strlen(sections[i].path) == size && strncmp(sections[i].path, path, size) == 0) return sections[i].class_name;
    return NULL;
}

static const char *last_name(const char *name) { return strrchr(name, '.') ? strrchr(name, '.') + 1 : name; }

/* The key that was meant: one of the same last name elsewhere, else the nearest as a whole, else the nearest section. */
static const char *meant(const char *name)
{
    const char *names[WICK_KEY_COUNT + 1], *paths[WICK_ARRAY_SIZE(sections)];
    for (int i = 0; i < WICK_KEY_COUNT; i++) names[i] = keys[i].name;
    names[WICK_KEY_COUNT] = NULL;
    const char *near = wick_nearest_name(name, names);
    for (int i = 0; i < WICK_KEY_COUNT; i++)
        if (strcmp(last_name(keys[i].name), last_name(name)) == 0 && strcmp(last_name(name), "enabled") != 0) return keys[i].name;
    if (near) return near;
    for (size_t i = 1; i < WICK_ARRAY_SIZE(sections); i++) paths[i - 1] = sections[i].path;
    paths[WICK_ARRAY_SIZE(sections) - 1] = NULL;
    return strchr(name, '.') ? NULL : wick_nearest_name(name, paths);
}

wick_status wick_config_unknown(const char *name, wick_error *err)
{
    const char *near = meant(name), *class_name = NULL, *key = name;
    /* The class of the longest beginning that is a section; the key is the name that it does not have. */
    for (size_t size = strlen(name); !class_name; size--) {
        bool edge = name[size] == '.' || size == 0;
        if (edge && (class_name = class_of(name, size))) key = size ? name + size + 1 : name;
    }
    return wick_fail(err, WICK_INVALID_CONFIG, "%s: Key '%.*s' not in '%s'%s%s%s", name, (int)strcspn(key, "."), key, class_name, near ? "; did you mean " : "", near ? near : "",
                     near ? "?" : "");
}

/* ---- values ---- */

static wick_status set_bool(const char *name, const json_t *value, bool *out, wick_error *err)
{
    static const char *const yes[] = {"true", "yes", "on", "y"}, *const no[] = {"false", "no", "off", "n"};
    if (json_is_boolean(value)) return *out = json_is_true(value), WICK_OK;
    if (json_is_integer(value)) return *out = json_integer_value(value) != 0, WICK_OK;
    const char *text = json_string_value(value);
    char *end = NULL;
    if (text && *text) {
        long long number = strtoll(text, &end, 10);
        if (!*end) return *out = number != 0, WICK_OK;
    }
    for (size_t i = 0; text && i < WICK_ARRAY_SIZE(yes); i++) {
        if (strcasecmp(text, yes[i]) == 0) return *out = true, WICK_OK;
        if (strcasecmp(text, no[i]) == 0) return *out = false, WICK_OK;
    }
    return wick_fail(err, WICK_INVALID_CONFIG, "%s: Value '%.80s' is not a valid bool (type %s); use true or false", name, text ? text : "...", wick_config_type_name(value));
}

/* "1_000": underscores between digits, as the original's language has them. */
static bool parse_int(const char *text, int64_t *out)
{
    char digits[32], *end;
    size_t n = 0;
    text += strspn(text, " \t");
    for (; *text && n < sizeof digits - 1; text++)
        if (*text != '_' || n == 0 || text[1] < '0' || text[1] > '9') digits[n++] = *text;
    while (n && (digits[n - 1] == ' ' || digits[n - 1] == '\t')) n--;
    digits[n] = 0;
    errno = 0;
    *out = strtoll(digits, &end, 10);
    return !*text && n && end != digits && !*end && !errno;
}

static wick_status set_number(const char *name, const json_t *value, const char *written, struct wick_config_value *out, bool whole, wick_error *err)
{
    const char *text = json_string_value(value);
    char *end = NULL;
    if (json_is_integer(value)) return out->i = json_integer_value(value), out->d = (double)out->i, WICK_OK;
    if (whole && text && parse_int(text, &out->i)) return WICK_OK;
    if (!whole && json_is_real(value)) return out->d = json_real_value(value), WICK_OK;
    if (!whole && text && *text) {
        out->d = strtod(text, &end);
        if (!*end) return WICK_OK;
    }
    return wick_fail(err, WICK_INVALID_CONFIG, "%s: Value '%.80s' of type '%s' could not be converted to %s", name, text ? text : written ? written : "...",
                     wick_config_type_name(value), whole ? "Integer" : "Float");
}

/* The choice that text names, with or without the name of the enumeration; NULL: none. */
static const char *choice(const char *choices, const char *text)
{
    const char *colon = strchr(choices, ':');
    size_t size = colon ? (size_t)(colon - choices) : 0;
    if (size && strncmp(text, choices, size) == 0 && text[size] == '.') text += size + 1;
    const char *at = colon ? colon + 1 : choices;
    size = strlen(text);
    if (!*at) return text;
    for (; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strcspn(at, "|") == size && strncmp(at, text, size) == 0) return text;
    return NULL;
}

/* Choices as the original lists them: [a, b]. */
static wick_status invalid_choice(const char *name, const char *text, const char *choices, wick_error *err)
{
    struct wick_buf list = {0};
    for (const char *c = choices; *c; c++) wick_buf_append(&list, *c == '|' ? ", " : c, *c == '|' ? 2 : 1);
    wick_status status = wick_fail(err, WICK_INVALID_CONFIG, "%s: Invalid value '%.80s', expected one of [%s]", name, text, list.failed || !list.size ? choices : list.data);
    wick_buf_free(&list);
    return status;
}

/* A number as the original turns it into text: the fewest digits that read back the same, with a point or an exponent. */
static const char *float_text(double d, char out[48])
{
    char digits[32];
    int precision = 0;
    do snprintf(digits, sizeof digits, "%.*e", precision, d);
    while (strtod(digits, NULL) != d && ++precision < 17);
    char *e = strchr(digits, 'e');
    int exponent = e ? atoi(e + 1) : 0;
    if (exponent < -4 || exponent >= 16) return snprintf(out, 48, "%s", digits), out;
    snprintf(out, 48, "%.*f", precision > exponent ? precision - exponent : 1, d);
    return out;
}

static wick_status set_text(struct wick_config *config, enum wick_key key, const json_t *value, wick_error *err)
{
    char number[48];
    const char *name = keys[key].name, *text = json_string_value(value), *choices = keys[key].choices;
    if (json_is_object(value) || json_is_array(value))
        return wick_fail(err, WICK_INVALID_CONFIG, "%s: Cannot convert '%s' to string: takes one value", name, wick_config_type_name(value));
    if (json_is_boolean(value)) text = json_is_true(value) ? "True" : "False";
    else if (json_is_integer(value)) snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value)), text = number;
    else if (json_is_real(value)) text = float_text(json_real_value(value), number);
    if (choices) {
        const char *chosen = choice(choices, text), *list = strchr(choices, ':') ? strchr(choices, ':') + 1 : choices;
        if (!chosen) return invalid_choice(name, text, list, err);
        text = chosen;
    }
    config->values[key].text = wick_arena_copy(&config->arena, text, strlen(text));
    return config->values[key].text ? WICK_OK : wick_fail_oom(err, strlen(text), name);
}

/* Keeps a value as JSON text. */
static wick_status set_json(struct wick_config *config, enum wick_key key, const json_t *value, wick_error *err)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
    config->values[key].text = text ? wick_arena_copy(&config->arena, text, strlen(text)) : NULL;
    free(text);
    return config->values[key].text ? WICK_OK : wick_fail_oom(err, 0, keys[key].name);
}

/* The mapping that is there, with the fields of `value` over its own. A new reference; NULL: no memory. */
static json_t *merged(const struct wick_config_value *there, const json_t *value)
{
    json_t *old = there->null || !there->text ? NULL : json_loads(there->text, JSON_DECODE_ANY, NULL);
    if (!json_is_object(old)) {
        json_decref(old);
        return json_deep_copy(value);
    }
    const char *name;
    json_t *field;
    json_object_foreach((json_t *)(uintptr_t)value, name, field) {
        if (json_object_set_new(old, name, json_deep_copy(field)) != 0) {
            json_decref(old);
            return NULL;
        }
    }
    return old;
}

static wick_status set_structured(struct wick_config *config, enum wick_key key, const json_t *value, wick_error *err)
{
    json_t *shaped = NULL, *whole = json_is_object(value) ? merged(&config->values[key], value) : json_incref((json_t *)(uintptr_t)value);
    if (!whole) return wick_fail_oom(err, 0, keys[key].name);
    wick_status status = wick_config_shape(key, whole, false, &shaped, err);
    config->values[key] = (struct wick_config_value){.given = true, .pending = !config->resolved && wick_config_is_pending(whole)};
    if (status == WICK_OK) status = set_json(config, key, shaped, err);
    json_decref(shaped);
    json_decref(whole);
    return status;
}

wick_status wick_config_set_key(struct wick_config *config, enum wick_key key, const json_t *value, const char *written, wick_error *err)
{
    const struct wick_key_info *info = &keys[key];
    struct wick_config_value *out = &config->values[key];
    if (json_is_string(value) && strcmp(json_string_value(value), "???") == 0) return WICK_OK; /* to be given: what is there stays */
    bool pending = !config->resolved && wick_config_is_pending(value);
    if (wick_config_is_structured(key) && !json_is_null(value) && !(json_is_string(value) && pending)) return set_structured(config, key, value, err);
    *out = (struct wick_config_value){.null = json_is_null(value), .given = true, .pending = pending};
    if (out->pending) return set_json(config, key, value, err);
    if (out->null && info->value && info->type != WICK_TYPE_OPTIONAL)
        return wick_fail(err, WICK_INVALID_CONFIG, "%s: field '%s' is not Optional: it cannot be null", info->name, last_name(info->name));
    if (out->null) return WICK_OK;
    switch (info->type) {
    case WICK_TYPE_BOOL: return set_bool(info->name, value, &out->b, err);
    case WICK_TYPE_INT: return set_number(info->name, value, written, out, true, err);
    case WICK_TYPE_FLOAT: return set_number(info->name, value, written, out, false, err);
    default: return set_text(config, key, value, err);
    }
}

wick_status wick_config_init(struct wick_config *config, wick_error *err)
{
    *config = (struct wick_config){0};
    wick_arena_init(&config->arena, &wick_allocator_heap);
    for (int i = 0; i < WICK_KEY_COUNT; i++) {
        struct wick_config_value *out = &config->values[i];
        const char *value = keys[i].value;
        *out = (struct wick_config_value){.null = !value};
        if (!value) continue;
        if (keys[i].type == WICK_TYPE_BOOL) out->b = strcmp(value, "true") == 0;
        else if (keys[i].type == WICK_TYPE_INT) out->i = strtoll(value, NULL, 10);
        else if (keys[i].type == WICK_TYPE_FLOAT) out->d = strtod(value, NULL);
        else if (!(out->text = wick_arena_copy(&config->arena, value, strlen(value)))) return wick_fail_oom(err, strlen(value), keys[i].name);
    }
    return WICK_OK;
}

void wick_config_release(struct wick_config *config) { wick_arena_release(&config->arena); }

/* ---- printing ---- */

static void print_value(const struct wick_key_info *info, const struct wick_config_value *v, struct wick_buf *out)
{
    if (v->null) wick_buf_text(out, "null");
    else if (v->pending) wick_buf_text(out, v->text);
    else if (info->type == WICK_TYPE_BOOL) wick_buf_text(out, v->b ? "true" : "false");
    else if (info->type == WICK_TYPE_INT) wick_buf_printf(out, "%lld", (long long)v->i);
    else if (info->type == WICK_TYPE_FLOAT) wick_buf_printf(out, "%.17g", v->d);
    else if (info->type == WICK_TYPE_LIST || info->type == WICK_TYPE_OBJECT) wick_buf_text(out, v->text);
    else wick_buf_json_string(out, v->text, strlen(v->text));
}

void wick_config_print(const struct wick_config *config, struct wick_buf *out)
{
    const char *before = "";
    for (int i = 0; i < WICK_KEY_COUNT; i++) {
        const char *name = keys[i].name;
        size_t same = 0; /* bytes of sections that the key before was in too */
        for (size_t n = 0; name[n] && name[n] == before[n]; n++)
            if (name[n] == '.') same = n + 1;
        int depth = 0;
        for (size_t n = 0, begin = 0; name[n]; n++) {
            if (name[n] != '.') continue;
            if (n >= same) wick_buf_printf(out, "%*s%.*s:\n", depth * 2, "", (int)(n - begin), name + begin);
            begin = n + 1;
            depth++;
        }
        wick_buf_printf(out, "%*s%s: ", depth * 2, "", last_name(name));
        print_value(&keys[i], &config->values[i], out);
        wick_buf_text(out, config->values[i].given ? "\n" : "  # default\n");
        before = name;
    }
}
