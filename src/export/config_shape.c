/* export/config_shape.c - the fields of keys that take mappings and lists, and names that lead into them. */
#include "export/config_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum field_type { FIELD_INT, FIELD_TEXT, FIELD_TEXTS, FIELD_ADAPTER };

struct field {
    const char *name;
    enum field_type type;
    bool required, optional; /* required: no default; optional: may be null, which is the default */
};

static const struct field adapter[] = {
    {"adapter_checkpoint", FIELD_TEXT, true, false}, {"adapter_config", FIELD_TEXT, false, true}, {"lora_rank", FIELD_INT, false, false},
    {"lora_alpha", FIELD_INT, false, false},         {"target_modules", FIELD_TEXTS, false, false}, {"adapter_quant", FIELD_TEXT, false, true},
    {NULL, FIELD_TEXT, false, false},
};
static const struct field method[] = {
    {"method_name", FIELD_TEXT, true, false}, {"lora_config", FIELD_ADAPTER, false, true}, {"export_seq_len", FIELD_INT, false, true}, {NULL, FIELD_TEXT, false, false},
};

/* What a structured key holds; one that is not here takes anything. */
static const struct {
    enum wick_key key;
    const struct field *fields; /* of the mapping, or of each item of the list; NULL: items are plain */
    enum field_type item;
    const char *class_name;
} shapes[] = {
    {WICK_KEY_BASE_LORA_CONFIG, adapter, FIELD_ADAPTER, "LoraConfig"},
    {WICK_KEY_MULTIMETHOD_METHODS, method, FIELD_TEXT, "MethodConfig"},
    {WICK_KEY_MODEL_LOCAL_GLOBAL_ATTENTION, NULL, FIELD_INT, NULL},
    {WICK_KEY_QUANTIZATION_CALIBRATION_TASKS, NULL, FIELD_TEXT, NULL},
    {WICK_KEY_BACKEND_ETHOSU_EXTRA_FLAGS, NULL, FIELD_TEXT, NULL},
    {WICK_KEY_BACKEND_VGF_COMPILER_FLAGS, NULL, FIELD_TEXT, NULL},
};

const char *wick_config_type_name(const json_t *value)
{
    switch (value ? json_typeof(value) : JSON_NULL) {
    case JSON_OBJECT: return "dict";
    case JSON_ARRAY: return "list";
    case JSON_STRING: return "str";
    case JSON_INTEGER: return "int";
    case JSON_REAL: return "float";
    case JSON_TRUE:
    case JSON_FALSE: return "bool";
    default: return "NoneType";
    }
}

/* ---- checking; each returns a new reference, or NULL with the error set ---- */

static json_t *shape_fields(const struct field *fields, const char *class_name, const char *at, const json_t *value, bool whole, wick_error *err);

static json_t *shape_scalar(enum field_type type, const char *at, const json_t *value, wick_error *err)
{
    const char *text = json_string_value(value);
    char *end = NULL, number[32];
    if (text && wick_config_is_pending(value)) return json_deep_copy(value);
    if (type == FIELD_INT) {
        if (json_is_integer(value)) return json_deep_copy(value);
        long long i = text && *text ? strtoll(text, &end, 10) : 0;
        if (end && !*end) return json_integer(i);
    } else {
        if (text) return json_deep_copy(value);
        if (json_is_boolean(value)) return json_string(json_is_true(value) ? "True" : "False");
        if (json_is_integer(value)) snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
        else if (json_is_real(value)) snprintf(number, sizeof number, "%.17g", json_real_value(value));
        if (json_is_number(value)) return json_string(number);
    }
    wick_fail(err, WICK_INVALID_CONFIG, "%s: Value '%.80s' of type '%s' could not be converted to %s", at, text ? text : "...", wick_config_type_name(value),
              type == FIELD_INT ? "Integer" : "String");
    return NULL;
}

static json_t *shape_list(enum field_type item, const struct field *fields, const char *class_name, const char *at, const json_t *value, bool whole, wick_error *err)
{
    if (!json_is_array(value)) {
        wick_fail(err, WICK_INVALID_CONFIG, "%s: '%s' is no list: write [a,b]", at, wick_config_type_name(value));
        return NULL;
    }
    json_t *out = json_array();
    for (size_t i = 0; out && i < json_array_size(value); i++) {
        char where[WICK_CONFIG_NAME_BYTES + 32];
        snprintf(where, sizeof where, "%.160s[%zu]", at, i);
        const json_t *from = json_array_get(value, i);
        json_t *made = fields ? shape_fields(fields, class_name, where, from, whole, err) : shape_scalar(item, where, from, err);
        if (!made || json_array_append_new(out, made) != 0) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

static json_t *shape_field(const struct field *field, const char *at, const json_t *value, bool whole, wick_error *err)
{
    if (json_is_null(value)) {
        if (field->optional) return json_null();
        wick_fail(err, WICK_INVALID_CONFIG, "%s: field '%s' is not Optional: it cannot be null", at, field->name);
        return NULL;
    }
    if (field->type == FIELD_ADAPTER) return shape_fields(adapter, "LoraConfig", at, value, whole, err);
    if (field->type == FIELD_TEXTS) return shape_list(FIELD_TEXT, NULL, NULL, at, value, whole, err);
    return shape_scalar(field->type, at, value, err);
}

static json_t *default_of(const struct field *field)
{
    return field->optional ? json_null() : field->type == FIELD_INT ? json_integer(0) : field->type == FIELD_TEXTS ? json_array() : json_string("");
}

static bool known_fields(const struct field *fields, const char *class_name, const char *at, const json_t *value, wick_error *err)
{
    const char *names[16], *name;
    json_t *item;
    size_t count = 0;
    for (const struct field *f = fields; f->name && count < WICK_ARRAY_SIZE(names) - 1; f++) names[count++] = f->name;
    names[count] = NULL;
    json_object_foreach((json_t *)(uintptr_t)value, name, item) {
        size_t i = 0;
        while (names[i] && strcmp(names[i], name) != 0) i++;
        if (names[i]) continue;
        const char *near = wick_nearest_name(name, names);
        wick_fail(err, WICK_INVALID_CONFIG, "%s: Key '%.80s' not in '%s'%s%s%s", at, name, class_name, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
        return false;
    }
    return true;
}

static json_t *shape_fields(const struct field *fields, const char *class_name, const char *at, const json_t *value, bool whole, wick_error *err)
{
    if (json_is_string(value) && wick_config_is_pending(value)) return json_deep_copy(value);
    if (!json_is_object(value)) {
        wick_fail(err, WICK_INVALID_CONFIG, "%s: '%s' is no mapping of %s", at, wick_config_type_name(value), class_name);
        return NULL;
    }
    if (!known_fields(fields, class_name, at, value, err)) return NULL;
    json_t *out = json_object();
    for (const struct field *f = fields; out && f->name; f++) {
        char where[WICK_CONFIG_NAME_BYTES + 32];
        const json_t *from = json_object_get(value, f->name);
        snprintf(where, sizeof where, "%.160s.%s", at, f->name);
        if (!from && !whole) continue;
        if (!from && f->required) wick_fail(err, WICK_INVALID_CONFIG, "%s: missing: %s needs it", where, class_name);
        json_t *made = from ? shape_field(f, where, from, whole, err) : f->required ? NULL : default_of(f);
        if (!made || json_object_set_new(out, f->name, made) != 0) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

wick_status wick_config_shape(enum wick_key key, const json_t *value, bool whole, json_t **out, wick_error *err)
{
    const char *name = wick_config_key_name(key);
    bool list = wick_config_info(key)->type == WICK_TYPE_LIST;
    wick_error here = {WICK_OUT_OF_MEMORY, "no memory"};
    *out = NULL;
    if (list ? !json_is_array(value) : !json_is_object(value))
        return wick_fail(err, WICK_INVALID_CONFIG, "%s: '%s' is no %s", name, wick_config_type_name(value), list ? "list: write [a,b]" : "mapping: write {name: value}");
    size_t i = 0;
    while (i < WICK_ARRAY_SIZE(shapes) && shapes[i].key != key) i++;
    if (i == WICK_ARRAY_SIZE(shapes)) *out = json_deep_copy(value);
    else if (list) *out = shape_list(shapes[i].item, shapes[i].fields, shapes[i].class_name, name, value, whole, &here);
    else *out = shape_fields(shapes[i].fields, shapes[i].class_name, name, value, whole, &here);
    return *out ? WICK_OK : wick_fail(err, here.status, "%s", here.message);
}

/* ---- names that lead into a structured key ---- */

/* Puts value at the dotted path below node, making mappings as it goes; numbers pick items of lists. */
static wick_status put(json_t *node, const char *path, const json_t *value, const char *name, int depth, wick_error *err)
{
    char step[WICK_CONFIG_NAME_BYTES];
    size_t size = strcspn(path, ".[]");
    const char *rest = path + size + strspn(path + size, ".[]");
    if (size == 0 || size >= sizeof step || depth > WICK_CONFIG_DEPTH_MAX) return wick_fail(err, WICK_INVALID_CONFIG, "%s: leads to no field", name);
    memcpy(step, path, size);
    step[size] = 0;
    if (json_is_array(node)) {
        char *end;
        unsigned long index = strtoul(step, &end, 10);
        if (*end || index >= json_array_size(node)) return wick_fail(err, WICK_INVALID_CONFIG, "%s: '%s' is no item of the list (%zu items)", name, step, json_array_size(node));
        if (*rest) return put(json_array_get(node, index), rest, value, name, depth + 1, err);
        return json_array_set_new(node, index, json_deep_copy(value)) == 0 ? WICK_OK : wick_fail_oom(err, 0, name);
    }
    if (!json_is_object(node)) return wick_fail(err, WICK_INVALID_CONFIG, "%s: '%s' is a %s, which has no fields", name, step, wick_config_type_name(node));
    if (!*rest) return json_object_set_new(node, step, json_deep_copy(value)) == 0 ? WICK_OK : wick_fail_oom(err, 0, name);
    json_t *next = json_object_get(node, step);
    if (!next || json_is_null(next)) {
        next = json_object();
        if (!next || json_object_set_new(node, step, next) != 0) return wick_fail_oom(err, 0, name);
    }
    return put(next, rest, value, name, depth + 1, err);
}

wick_status wick_config_set(struct wick_config *config, const char *name, const json_t *value, const char *written, wick_error *err)
{
    enum wick_key key;
    char head[WICK_CONFIG_NAME_BYTES];
    if (wick_config_find(name, &key)) return wick_config_set_key(config, key, value, written, err);
    for (size_t size = strlen(name); size > 0; size--) {
        if ((name[size] != '.' && name[size] != '[') || size >= sizeof head) continue;
        memcpy(head, name, size);
        head[size] = 0;
        if (!wick_config_find(head, &key)) continue;
        if (!wick_config_is_structured(key)) break;
        const struct wick_config_value *there = &config->values[key];
        json_t *whole = there->null ? NULL : json_loads(there->text, JSON_DECODE_ANY, NULL);
        if (!whole || json_is_null(whole)) whole = wick_config_info(key)->type == WICK_TYPE_LIST ? json_array() : json_object();
        wick_status status = whole ? put(whole, name + size + 1, value, name, 0, err) : wick_fail_oom(err, 0, name);
        if (status == WICK_OK) status = wick_config_set_key(config, key, whole, NULL, err);
        json_decref(whole);
        return status;
    }
    return wick_config_unknown(name, err);
}
