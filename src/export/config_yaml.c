/* export/config_yaml.c - YAML files into a configuration, through libyaml; scalars are typed as the original's reader types them (YAML 1.1). */
#include "export/config_set.h"

#include "base/os.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <yaml.h>

enum { NODES_MAX = 100000, FILES_MAX = 16 };

struct loader {
    struct wick_config *config;
    const char *path;
    yaml_document_t *doc;
    size_t nodes; /* visited: aliases may name the same ones again and again */
    int files;    /* open: a file and those that it is a default of */
    bool located, elsewhere; /* the error says its line; is one of another file */
    wick_error *err;
};

static const char *text_of(const yaml_node_t *node) { return (const char *)node->data.scalar.value; }
static size_t line_of(const yaml_node_t *node) { return node->start_mark.line + 1; }

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(text, *words) == 0) return true;
    return false;
}

/* ---- scalars ---- */

/* Digits of the base, underscores left out. */
static json_t *integer(const char *text, int base)
{
    char digits[80], *end;
    size_t n = 0;
    for (; *text && n < sizeof digits - 1; text++)
        if (*text != '_') digits[n++] = *text;
    digits[n] = 0;
    errno = 0;
    long long i = strtoll(digits, &end, base);
    return *text || !n || *end || errno ? NULL : json_integer(i);
}

static json_t *number(const char *text)
{
    static const char *const infinities[] = {".inf", ".Inf", ".INF", NULL}, *const nans[] = {".nan", ".NaN", ".NAN", NULL};
    bool minus = *text == '-';
    const char *bare = text + (minus || *text == '+');
    if (is_one_of(bare, infinities)) return json_string(minus ? "-inf" : "inf");
    if (is_one_of(text, nans)) return json_string("nan");
    if (bare[0] == '0' && bare[1] == 'x') return strspn(bare + 2, "0123456789abcdefABCDEF_") == strlen(bare + 2) ? integer(minus ? text : bare, 16) : NULL;
    if (bare[0] == '0' && bare[1] == 'b') return NULL; /* in base 2: nobody writes lengths so */
    if (strspn(bare, "0123456789_") == strlen(bare) && *bare != '_' && *bare) {
        if (bare[0] == '0' && bare[1]) return strspn(bare, "01234567_") == strlen(bare) ? integer(text, 8) : NULL;
        return integer(text, 10);
    }
    bool digits = false;
    for (const char *c = bare; *c; c++) {
        if (!strchr("0123456789_.eE+-", *c)) return NULL;
        digits = digits || (*c >= '0' && *c <= '9');
    }
    char plain[80], *end;
    size_t n = 0;
    for (const char *c = text; *c && n < sizeof plain - 1; c++)
        if (*c != '_') plain[n++] = *c;
    plain[n] = 0;
    double d = strtod(plain, &end);
    return digits && !*end ? json_real(d) : NULL;
}

static json_t *scalar(struct loader *l, const yaml_node_t *node)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL}, *const yes[] = {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", NULL},
                      *const no[] = {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", NULL};
    const char *text = text_of(node);
    if (strlen(text) != node->data.scalar.length) {
        wick_fail(l->err, WICK_INVALID_CONFIG, "line %zu: a text with a NUL in it", line_of(node));
        return NULL;
    }
    if (node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
        if (is_one_of(text, nulls)) return json_null();
        if (is_one_of(text, yes)) return json_true();
        if (is_one_of(text, no)) return json_false();
        json_t *found = number(text);
        if (found) return found;
    }
    return json_string(text);
}

/* ---- trees ---- */

static json_t *tree(struct loader *l, int index, int depth);

/* Is it the key of `<<: *other`? */
static bool is_merge(const yaml_node_t *key) { return key->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && strcmp(text_of(key), "<<") == 0; }

/* Fields of the mappings that `<<` names, under those that are there. */
static bool merge_in(struct loader *l, json_t *map, int index, int depth)
{
    json_t *from = tree(l, index, depth), *one = from;
    if (!from) return false;
    size_t count = json_is_array(from) ? json_array_size(from) : 1;
    bool good = true;
    for (size_t i = 0; good && i < count; i++) {
        if (json_is_array(from)) one = json_array_get(from, i);
        good = json_is_object(one) && json_object_update_missing(map, one) == 0;
    }
    json_decref(from);
    return good || (wick_fail(l->err, WICK_INVALID_CONFIG, "<<: takes a mapping"), false);
}

static json_t *mapping(struct loader *l, const yaml_node_t *node, int depth)
{
    json_t *map = json_object();
    for (int round = 0; map && round < 2; round++) /* what is written here comes before what is merged in */
        for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
            const yaml_node_t *key = yaml_document_get_node(l->doc, pair->key);
            bool good = key && key->type == YAML_SCALAR_NODE && strlen(text_of(key)) == key->data.scalar.length;
            if (!good) wick_fail(l->err, WICK_INVALID_CONFIG, "line %zu: a key is no text", line_of(node));
            else if (is_merge(key)) good = round == 0 || merge_in(l, map, pair->value, depth + 1);
            else if (round == 0) {
                if (json_object_get(map, text_of(key))) good = (wick_fail(l->err, WICK_INVALID_CONFIG, "line %zu: found duplicate key %s", line_of(key), text_of(key)), false);
                json_t *value = good ? tree(l, pair->value, depth + 1) : NULL;
                good = value && json_object_set_new(map, text_of(key), value) == 0;
            }
            if (good) continue;
            json_decref(map);
            return NULL;
        }
    return map;
}

/* A new reference, or NULL with the error set. */
static json_t *tree(struct loader *l, int index, int depth)
{
    static const char *const kinds[] = {"str", "int", "float", "bool", "null", "map", "seq", NULL};
    const yaml_node_t *node = yaml_document_get_node(l->doc, index);
    if (!node || depth > WICK_CONFIG_DEPTH_MAX || ++l->nodes > NODES_MAX) {
        wick_fail(l->err, WICK_INVALID_CONFIG, "nested deeper than %d, or longer than a configuration is", WICK_CONFIG_DEPTH_MAX);
        return NULL;
    }
    const char *tag = (const char *)node->tag;
    if (tag && (strncmp(tag, "tag:yaml.org,2002:", 18) != 0 || !is_one_of(tag + 18, kinds))) {
        wick_fail(l->err, WICK_NOT_SUPPORTED, "line %zu: the tag %.60s is not supported", line_of(node), tag);
        return NULL;
    }
    if (node->type == YAML_SCALAR_NODE) return scalar(l, node);
    if (node->type == YAML_MAPPING_NODE) return mapping(l, node, depth);
    json_t *list = json_array();
    for (const yaml_node_item_t *item = node->data.sequence.items.start; list && item < node->data.sequence.items.top; item++) {
        json_t *made = tree(l, *item, depth + 1);
        if (made && json_array_append_new(list, made) == 0) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

/* ---- sections ---- */

static wick_status load(struct wick_config *config, const char *path, int files, wick_error *err);

/* A section that is no mapping. Nothing under it (comments only) is a section left alone; "key='value'" is a slip that shipped files have. */
static wick_status not_a_section(const char *name, const yaml_node_t *node, wick_error *err)
{
    const char *text = node->type == YAML_SCALAR_NODE ? text_of(node) : "a list";
    const char *equals = strchr(text, '=');
    if (node->type == YAML_SCALAR_NODE && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && (!*text || strcmp(text, "null") == 0 || strcmp(text, "~") == 0)) return WICK_OK;
    if (equals) return wick_fail(err, WICK_INVALID_CONFIG, "%s: takes a mapping, not the text %.60s; write '%.*s: ' for '%.*s='", name, text, (int)(equals - text), text, (int)(equals - text), text);
    return wick_fail(err, WICK_INVALID_CONFIG, "%s: takes a mapping of keys, not %.60s", name, text);
}

/* One key of a section: a key of the configuration, or a section below it. */
static wick_status set_entry(struct loader *l, const char *name, int index)
{
    const yaml_node_t *node = yaml_document_get_node(l->doc, index);
    json_t *value = tree(l, index, 0);
    if (!value) return l->err->status;
    wick_status status = wick_config_set(l->config, name, value, node->type == YAML_SCALAR_NODE ? text_of(node) : NULL, l->err);
    json_decref(value);
    return status;
}

static wick_status section(struct loader *l, int index, const char *prefix, int depth);

/* "- name" loads name.yaml beside the file; "_self_" is the file itself; the built-in configuration and the framework's own groups say nothing here. */
static wick_status load_default(struct loader *l, const json_t *item, bool *self)
{
    const char *name = json_string_value(item);
    if (json_is_object(item) && json_object_iter((json_t *)(uintptr_t)item)) {
        const char *group = json_object_iter_key(json_object_iter((json_t *)(uintptr_t)item));
        if (strncmp(group, "override hydra/", 15) == 0 || strncmp(group, "hydra/", 6) == 0) return WICK_OK;
    }
    if (!name) return wick_fail(l->err, WICK_NOT_SUPPORTED, "defaults: groups are not supported; name files: - other");
    if (strcmp(name, "_self_") == 0) return *self = true, section(l, 1, "", 0);
    if (strcmp(name, "llm_config") == 0) return WICK_OK;
    char path[1024];
    const char *slash = strrchr(l->path, '/');
    int size = snprintf(path, sizeof path, "%.*s%s%s", slash ? (int)(slash - l->path + 1) : 0, l->path, name, strstr(name, ".yaml") ? "" : ".yaml");
    if (size < 0 || (size_t)size >= sizeof path) return wick_fail(l->err, WICK_INVALID_CONFIG, "defaults: %.60s: path too long", name);
    wick_status status = load(l->config, path, l->files + 1, l->err);
    l->elsewhere = status != WICK_OK;
    return status;
}

/* The files of the `defaults` list in order; the file itself comes last unless the list says where. */
static wick_status load_defaults(struct loader *l, int index, bool *self)
{
    json_t *list = tree(l, index, 0);
    wick_status status = list ? WICK_OK : l->err->status;
    if (list && !json_is_array(list)) status = wick_fail(l->err, WICK_INVALID_CONFIG, "defaults: takes a list");
    for (size_t i = 0; status == WICK_OK && i < json_array_size(list); i++) status = load_default(l, json_array_get(list, i), self);
    json_decref(list);
    return status;
}

static wick_status section_entry(struct loader *l, const yaml_node_pair_t *pair, const char *prefix, int depth)
{
    const yaml_node_t *key = yaml_document_get_node(l->doc, pair->key), *value = yaml_document_get_node(l->doc, pair->value);
    char name[WICK_CONFIG_NAME_BYTES];
    if (!key || !value || key->type != YAML_SCALAR_NODE) return wick_fail(l->err, WICK_INVALID_CONFIG, "a key is no text");
    if (is_merge(key)) return value->type == YAML_MAPPING_NODE && depth < WICK_CONFIG_DEPTH_MAX ? WICK_OK : wick_fail(l->err, WICK_INVALID_CONFIG, "<<: takes a mapping");
    int size = snprintf(name, sizeof name, "%s%s%s", prefix, *prefix ? "." : "", text_of(key));
    if (size < 0 || (size_t)size >= sizeof name) return wick_fail(l->err, WICK_INVALID_CONFIG, "key too long");
    if (depth == 0 && (strcmp(name, "defaults") == 0 || strcmp(name, "hydra") == 0)) return WICK_OK;
    if (!wick_config_is_section(name)) return set_entry(l, name, pair->value);
    return value->type == YAML_MAPPING_NODE ? section(l, pair->value, name, depth + 1) : not_a_section(name, value, l->err);
}

static wick_status section(struct loader *l, int index, const char *prefix, int depth)
{
    const yaml_node_t *map = yaml_document_get_node(l->doc, index);
    if (depth > WICK_CONFIG_DEPTH_MAX || ++l->nodes > NODES_MAX) return wick_fail(l->err, WICK_INVALID_CONFIG, "nested deeper than %d", WICK_CONFIG_DEPTH_MAX);
    const yaml_node_pair_t *top = map->data.mapping.pairs.top;
    for (const yaml_node_pair_t *pair = map->data.mapping.pairs.start; pair < top; pair++) { /* merged in first: what is written here goes over it */
        const yaml_node_t *key = yaml_document_get_node(l->doc, pair->key);
        if (!key || key->type != YAML_SCALAR_NODE || !is_merge(key)) continue;
        const yaml_node_t *from = yaml_document_get_node(l->doc, pair->value);
        if (from && from->type == YAML_MAPPING_NODE) WICK_TRY(section(l, pair->value, prefix, depth + 1));
    }
    for (const yaml_node_pair_t *pair = map->data.mapping.pairs.start; pair < top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(l->doc, pair->key);
        for (const yaml_node_pair_t *other = map->data.mapping.pairs.start; key && key->type == YAML_SCALAR_NODE && other < pair; other++) {
            const yaml_node_t *first = yaml_document_get_node(l->doc, other->key);
            if (first && first->type == YAML_SCALAR_NODE && strcmp(text_of(first), text_of(key)) == 0)
                return wick_fail(l->err, WICK_INVALID_CONFIG, "line %zu: found duplicate key %.80s", line_of(key), text_of(key));
        }
        wick_status status = section_entry(l, pair, prefix, depth);
        if (status == WICK_OK) continue;
        if (!l->located && strncmp(l->err->message, "line ", 5) != 0) wick_fail_in(l->err, status, "line %zu", key ? line_of(key) : line_of(map));
        l->located = true;
        return status;
    }
    return WICK_OK;
}

/* ---- files ---- */

static wick_status read_document(struct loader *l)
{
    const yaml_node_t *root = yaml_document_get_root_node(l->doc);
    bool self = false;
    if (!root) return WICK_OK;
    if (root->type != YAML_MAPPING_NODE) return wick_fail(l->err, WICK_INVALID_CONFIG, "the top is no mapping of sections");
    for (const yaml_node_pair_t *pair = root->data.mapping.pairs.start; pair < root->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(l->doc, pair->key);
        if (key && key->type == YAML_SCALAR_NODE && strcmp(text_of(key), "defaults") == 0) WICK_TRY(load_defaults(l, pair->value, &self));
    }
    return self ? WICK_OK : section(l, 1, "", 0);
}

static wick_status bad_syntax(struct loader *l, const yaml_parser_t *parser)
{
    return wick_fail(l->err, WICK_INVALID_CONFIG, "line %zu, column %zu: %s", parser->problem_mark.line + 1, parser->problem_mark.column + 1, parser->problem ? parser->problem : "no YAML");
}

/* One document, and no second one. */
static wick_status read_all(struct loader *l, yaml_parser_t *parser)
{
    yaml_document_t doc, second;
    if (!yaml_parser_load(parser, &doc)) return bad_syntax(l, parser);
    l->doc = &doc;
    wick_status status = read_document(l);
    bool ended = yaml_document_get_root_node(&doc) == NULL;
    yaml_document_delete(&doc);
    if (status != WICK_OK || ended) return status;
    if (!yaml_parser_load(parser, &second)) return bad_syntax(l, parser);
    ended = yaml_document_get_root_node(&second) == NULL;
    yaml_document_delete(&second);
    return ended ? WICK_OK : wick_fail(l->err, WICK_INVALID_CONFIG, "a second document; expected a single one");
}

static wick_status load(struct wick_config *config, const char *path, int files, wick_error *err)
{
    struct wick_map map;
    yaml_parser_t parser;
    if (files > FILES_MAX) return wick_fail(err, WICK_INVALID_CONFIG, "%s: defaults of defaults go round", path);
    WICK_TRY(wick_map_open(&map, path, err));
    if (!yaml_parser_initialize(&parser)) {
        wick_map_close(&map);
        return wick_fail_oom(err, sizeof parser, path);
    }
    yaml_parser_set_input_string(&parser, map.data ? map.data : (const uint8_t *)"", map.size);
    wick_error here = {WICK_OUT_OF_MEMORY, "no memory"};
    struct loader l = {.config = config, .path = path, .files = files, .err = &here};
    wick_status status = read_all(&l, &parser);
    if (status != WICK_OK) wick_fail(err, status, "%s%s%s", l.elsewhere ? "" : path, l.elsewhere ? "" : ": ", here.message);
    yaml_parser_delete(&parser);
    wick_map_close(&map);
    return status;
}

wick_status wick_config_load(struct wick_config *config, const char *path, wick_error *err) { return load(config, path, 0, err); }
