/* export/config_resolve.c - interpolations, ${oc.env:NAME} and ${section.key}, once every value is known; defaults of structured values. */
#include "export/config_set.h"

#include <stdio.h>
#include <stdlib.h>

struct resolver {
    struct wick_config *config;
    enum wick_key key; /* whose value it is */
    wick_error *err;
};

static json_t *resolve_text(struct resolver *r, const char *text, size_t size, int depth);

bool wick_config_is_pending(const json_t *value)
{
    const char *text = json_string_value(value), *name;
    json_t *item;
    if (text) return strcmp(text, "???") == 0 || strstr(text, "${") != NULL;
    for (size_t i = 0; i < json_array_size(value); i++)
        if (wick_config_is_pending(json_array_get(value, i))) return true;
    json_object_foreach((json_t *)(uintptr_t)value, name, item) {
        if (wick_config_is_pending(item)) return true;
    }
    return false;
}

static json_t *wrong(struct resolver *r, const char *what, const char *text, size_t size)
{
    wick_fail(r->err, WICK_INVALID_CONFIG, "%s: %s '%.*s'", wick_config_key_name(r->key), what, (int)WICK_MIN(size, (size_t)80), text);
    return NULL;
}

/* Bytes of "${...}" at text, nested ones included; 0: it does not end. */
static size_t interpolation_size(const char *text, size_t size)
{
    int open = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '$' && i + 1 < size && text[i + 1] == '{') open++;
        else if (text[i] == '}' && --open == 0) return i + 1;
    }
    return 0;
}

/* "NAME" or "NAME,default" of oc.env. */
static json_t *environment(struct resolver *r, const char *text, size_t size, int depth)
{
    const char *comma = memchr(text, ',', size);
    size_t n = comma ? (size_t)(comma - text) : size;
    char name[256];
    while (n && *text == ' ') text++, n--, size--;
    while (n && text[n - 1] == ' ') n--;
    if (n == 0 || n >= sizeof name) return wrong(r, "no name of an environment variable", text, n);
    memcpy(name, text, n);
    name[n] = 0;
    const char *value = getenv(name);
    if (value) return json_stringn_nocheck(value, strlen(value));
    if (!comma) {
        wick_fail(r->err, WICK_INVALID_CONFIG, "%s: Environment variable '%s' not found; set it, or give a default: ${oc.env:%s,default}", wick_config_key_name(r->key), name, name);
        return NULL;
    }
    const char *begin = comma + 1, *end = text + size;
    while (begin < end && *begin == ' ') begin++;
    while (end > begin && end[-1] == ' ') end--;
    if (end - begin >= 2 && (*begin == '"' || *begin == '\'') && end[-1] == *begin) return json_stringn_nocheck(begin + 1, (size_t)(end - begin) - 2);
    if (end - begin == 4 && strncmp(begin, "null", 4) == 0) return json_null();
    return resolve_text(r, begin, (size_t)(end - begin), depth + 1);
}

/* The value of another key, itself resolved. */
static json_t *other_key(struct resolver *r, const char *text, size_t size, int depth)
{
    char name[WICK_CONFIG_NAME_BYTES];
    enum wick_key key;
    const char *own = wick_config_key_name(r->key);
    size_t up = 0, prefix = 0;
    while (up < size && text[up] == '.') up++;
    if (up) { /* relative: one dot is the section of the key itself */
        prefix = strlen(own);
        for (size_t i = 0; i < up; i++)
            while (prefix && own[--prefix] != '.') continue;
        if (prefix) prefix++;
    }
    if (prefix + size - up >= sizeof name) return wrong(r, "no key", text, size);
    memcpy(name, own, prefix);
    memcpy(name + prefix, text + up, size - up);
    name[prefix + size - up] = 0;
    if (!wick_config_find(name, &key)) return wrong(r, "Interpolation key not found:", text, size);
    const struct wick_config_value *v = &r->config->values[key];
    if (v->null) return json_null();
    if (v->pending) {
        json_t *raw = json_loads(v->text, JSON_DECODE_ANY, NULL);
        const char *inner = json_string_value(raw);
        struct resolver of = {r->config, key, r->err};
        json_t *value = inner ? resolve_text(&of, inner, strlen(inner), depth + 1) : wrong(r, "leads to a value that is not known yet:", text, size);
        json_decref(raw);
        return value;
    }
    switch (wick_config_info(key)->type) {
    case WICK_TYPE_BOOL: return json_boolean(v->b);
    case WICK_TYPE_INT: return json_integer(v->i);
    case WICK_TYPE_FLOAT: return json_real(v->d);
    case WICK_TYPE_LIST:
    case WICK_TYPE_OBJECT: return json_loads(v->text, JSON_DECODE_ANY, NULL);
    default: return json_stringn_nocheck(v->text, strlen(v->text));
    }
}

/* What stands between ${ and }. */
static json_t *interpolate(struct resolver *r, const char *text, size_t size, int depth)
{
    const char *colon = memchr(text, ':', size);
    if (depth > WICK_CONFIG_DEPTH_MAX) return wrong(r, "interpolations go round in", text, size);
    if (!colon) return other_key(r, text, size, depth);
    if ((size_t)(colon - text) == 6 && strncmp(text, "oc.env", 6) == 0) return environment(r, colon + 1, size - 7, depth);
    wick_fail(r->err, WICK_NOT_SUPPORTED, "%s: the interpolation ${%.*s:...} is not supported; ${oc.env:NAME} and ${section.key} are", wick_config_key_name(r->key),
              (int)WICK_MIN(colon - text, 40), text);
    return NULL;
}

static bool append_text(struct wick_buf *out, const json_t *value)
{
    if (json_is_string(value)) wick_buf_append(out, json_string_value(value), json_string_length(value));
    else if (json_is_boolean(value)) wick_buf_text(out, json_is_true(value) ? "True" : "False");
    else if (json_is_null(value)) wick_buf_text(out, "None");
    else if (json_is_integer(value)) wick_buf_printf(out, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value)) wick_buf_printf(out, "%.16g", json_real_value(value));
    else return false;
    return true;
}

/* A text that is one interpolation has its value's type; others are joined to text. "\${" is no interpolation. */
static json_t *resolve_text(struct resolver *r, const char *text, size_t size, int depth)
{
    struct wick_buf out = {0};
    wick_buf_reserve(&out, size + 1);
    for (size_t i = 0; i < size;) {
        if (text[i] == '\\' && i + 2 < size && text[i + 1] == '$' && text[i + 2] == '{') {
            wick_buf_append(&out, "${", 2);
            i += 3;
            continue;
        }
        if (text[i] != '$' || i + 1 >= size || text[i + 1] != '{') {
            wick_buf_append(&out, text + i++, 1);
            continue;
        }
        size_t inner = interpolation_size(text + i, size - i);
        json_t *value = inner ? interpolate(r, text + i + 2, inner - 3, depth) : wrong(r, "an interpolation without its } in", text, size);
        if (value && inner == size) {
            wick_buf_free(&out);
            return value;
        }
        bool good = value && (append_text(&out, value) || wrong(r, "no text:", text + i, inner));
        json_decref(value);
        if (!good) {
            wick_buf_free(&out);
            return NULL;
        }
        i += inner;
    }
    json_t *joined = out.failed ? wrong(r, "no memory for", text, size) : json_stringn_nocheck(out.size ? out.data : "", out.size);
    wick_buf_free(&out);
    return joined;
}

/* A new reference with every text of value resolved. */
static json_t *resolve(struct resolver *r, const json_t *value)
{
    const char *text = json_string_value(value), *name;
    json_t *item, *out;
    if (text && strcmp(text, "???") == 0) return wrong(r, "Missing mandatory value:", text, 3);
    if (text) return resolve_text(r, text, json_string_length(value), 0);
    if (json_is_array(value)) {
        out = json_array();
        for (size_t i = 0; out && i < json_array_size(value); i++) {
            json_t *made = resolve(r, json_array_get(value, i));
            if (made && json_array_append_new(out, made) == 0) continue;
            json_decref(out);
            return NULL;
        }
        return out;
    }
    if (!json_is_object(value)) return json_deep_copy(value);
    out = json_object();
    json_object_foreach((json_t *)(uintptr_t)value, name, item) {
        json_t *made = out ? resolve(r, item) : NULL;
        if (made && json_object_set_new_nocheck(out, name, made) == 0) continue;
        json_decref(out);
        return NULL;
    }
    return out;
}

static wick_status resolve_key(struct wick_config *config, enum wick_key key, wick_error *err)
{
    struct wick_config_value *v = &config->values[key];
    bool structured = wick_config_is_structured(key);
    if (v->null || (!v->pending && !structured)) return WICK_OK;
    struct resolver r = {config, key, err};
    json_t *raw = json_loads(v->text, JSON_DECODE_ANY, NULL);
    if (!raw) return wick_fail(err, WICK_INVALID_CONFIG, "%s: cannot be read back", wick_config_key_name(key));
    json_t *value = v->pending ? resolve(&r, raw) : json_incref(raw);
    json_decref(raw);
    if (!value) return err && err->status != WICK_OK ? err->status : WICK_INVALID_CONFIG;
    json_t *whole = NULL;
    bool given = v->given;
    wick_status status = structured && !json_is_null(value) ? wick_config_shape(key, value, true, &whole, err) : WICK_OK;
    if (status == WICK_OK) {
        *v = (struct wick_config_value){.null = true};
        config->resolved = true;
        status = wick_config_set_key(config, key, whole ? whole : value, NULL, err);
        config->resolved = false;
        v->given = given;
    }
    json_decref(whole);
    json_decref(value);
    return status;
}

wick_status wick_config_resolve(struct wick_config *config, wick_error *err)
{
    wick_error unused = {WICK_OK, ""};
    if (!err) err = &unused;
    err->status = WICK_OK;
    for (int i = 0; i < WICK_KEY_COUNT; i++) WICK_TRY(resolve_key(config, (enum wick_key)i, err));
    return WICK_OK;
}
