/* export/config_yaml.c - YAML files and command-line overrides into a configuration, through libyaml. An override's value
 * is itself read as YAML, as the original's command line does: lists, null, quotes. */
#include "export/config_set.h"

#include "base/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <yaml.h>

enum { DEPTH_MAX = 16, NAME_BYTES = 160 };

static bool is_null(const yaml_node_t *node)
{
    const char *text = (const char *)node->data.scalar.value;
    return node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && (*text == 0 || strcmp(text, "null") == 0 || strcmp(text, "~") == 0 || strcmp(text, "Null") == 0);
}

static bool is_json_number(const char *text)
{
    char *end;
    if (!*text || strpbrk(text, "xXnNiI")) return false;
    strtod(text, &end);
    return *end == 0;
}

/* A node as JSON text: how structured keys are kept. */
static wick_status to_json(yaml_document_t *doc, const yaml_node_t *node, struct wick_buf *out, int depth, wick_error *err)
{
    if (depth > DEPTH_MAX) return wick_fail(err, WICK_INVALID_CONFIG, "nested deeper than %d", DEPTH_MAX);
    if (node->type == YAML_SCALAR_NODE) {
        const char *text = (const char *)node->data.scalar.value;
        bool plain = node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        if (is_null(node)) wick_buf_text(out, "null");
        else if (plain && (strcasecmp(text, "true") == 0 || strcasecmp(text, "false") == 0)) wick_buf_text(out, strcasecmp(text, "true") == 0 ? "true" : "false");
        else if (plain && is_json_number(text)) wick_buf_text(out, text);
        else wick_buf_json_string(out, text, node->data.scalar.length);
        return WICK_OK;
    }
    bool map = node->type == YAML_MAPPING_NODE;
    wick_buf_text(out, map ? "{" : "[");
    size_t n = map ? (size_t)(node->data.mapping.pairs.top - node->data.mapping.pairs.start) : (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
    for (size_t i = 0; i < n; i++) {
        if (i) wick_buf_text(out, ",");
        int value = map ? node->data.mapping.pairs.start[i].value : node->data.sequence.items.start[i];
        if (map) {
            const yaml_node_t *key = yaml_document_get_node(doc, node->data.mapping.pairs.start[i].key);
            if (!key || key->type != YAML_SCALAR_NODE) return wick_fail(err, WICK_INVALID_CONFIG, "a key is no text");
            wick_buf_json_string(out, (const char *)key->data.scalar.value, key->data.scalar.length);
            wick_buf_text(out, ":");
        }
        const yaml_node_t *item = yaml_document_get_node(doc, value);
        if (!item) return wick_fail(err, WICK_INVALID_CONFIG, "an item is missing");
        WICK_TRY(to_json(doc, item, out, depth + 1, err));
    }
    wick_buf_text(out, map ? "}" : "]");
    return WICK_OK;
}

static wick_status set_node(struct wick_config *config, yaml_document_t *doc, const yaml_node_t *node, const char *name, wick_error *err)
{
    enum wick_key key;
    WICK_TRY(wick_config_find(name, &key, err));
    if (node->type == YAML_SCALAR_NODE) return wick_config_set(config, key, is_null(node) ? NULL : (const char *)node->data.scalar.value, err);
    if (!wick_config_is_structured(key)) return wick_fail(err, WICK_INVALID_CONFIG, "%s: takes one value, not a %s", name, node->type == YAML_MAPPING_NODE ? "mapping" : "list");
    struct wick_buf json = {0};
    wick_status status = to_json(doc, node, &json, 0, err);
    if (status != WICK_OK) wick_fail_in(err, status, "%s", name);
    else if (json.failed) status = wick_fail_oom(err, json.size, name);
    else status = wick_config_set(config, key, json.data, err);
    wick_buf_free(&json);
    return status;
}

/* prefix: "" at the top, else "section". Mappings go on until a name is a key. */
static wick_status merge(struct wick_config *config, yaml_document_t *doc, const yaml_node_t *map, const char *prefix, int depth, wick_error *err)
{
    for (const yaml_node_pair_t *pair = map->data.mapping.pairs.start; pair < map->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(doc, pair->key), *value = yaml_document_get_node(doc, pair->value);
        char name[NAME_BYTES];
        if (!key || !value || key->type != YAML_SCALAR_NODE) return wick_fail(err, WICK_INVALID_CONFIG, "line %zu: a key is no text", map->start_mark.line + 1);
        int size = snprintf(name, sizeof name, "%s%s%s", prefix, *prefix ? "." : "", (const char *)key->data.scalar.value);
        size_t line = key->start_mark.line + 1;
        wick_status status;
        if (size < 0 || (size_t)size >= sizeof name) status = wick_fail(err, WICK_INVALID_CONFIG, "key too long");
        else if (wick_config_is_section(name) && value->type == YAML_MAPPING_NODE && depth < DEPTH_MAX) {
            WICK_TRY(merge(config, doc, value, name, depth + 1, err));
            continue;
        } else if (wick_config_is_section(name) && value->type == YAML_SCALAR_NODE && is_null(value)) continue;
        else status = set_node(config, doc, value, name, err);
        if (status != WICK_OK) return wick_fail_in(err, status, "line %zu", line);
    }
    return WICK_OK;
}

wick_status wick_config_load(struct wick_config *config, const char *path, wick_error *err)
{
    struct wick_map map;
    yaml_parser_t parser;
    yaml_document_t doc;
    WICK_TRY(wick_map_open(&map, path, err));
    if (!yaml_parser_initialize(&parser)) {
        wick_map_close(&map);
        return wick_fail_oom(err, sizeof parser, path);
    }
    yaml_parser_set_input_string(&parser, map.data ? map.data : (const uint8_t *)"", map.size);
    wick_status status = WICK_OK;
    if (!yaml_parser_load(&parser, &doc))
        status = wick_fail(err, WICK_INVALID_CONFIG, "%s: line %zu, column %zu: %s", path, parser.problem_mark.line + 1, parser.problem_mark.column + 1,
                           parser.problem ? parser.problem : "no YAML");
    else {
        const yaml_node_t *root = yaml_document_get_root_node(&doc);
        if (root && root->type == YAML_MAPPING_NODE) status = merge(config, &doc, root, "", 0, err);
        else if (root) status = wick_fail(err, WICK_INVALID_CONFIG, "the top is no mapping of sections");
        if (status != WICK_OK) wick_fail_in(err, status, "%s", path);
        yaml_document_delete(&doc);
    }
    yaml_parser_delete(&parser);
    wick_map_close(&map);
    return status;
}

wick_status wick_config_override(struct wick_config *config, const char *text, wick_error *err)
{
    char name[NAME_BYTES];
    const char *start = text;
    while (*start == '+') start++;
    const char *equals = strchr(start, '=');
    if (!equals || equals == start || (size_t)(equals - start) >= sizeof name)
        return wick_fail(err, WICK_INVALID_CONFIG, "'%s': write overrides as section.key=value", text);
    memcpy(name, start, (size_t)(equals - start));
    name[equals - start] = 0;
    const char *raw = equals + 1;
    enum wick_key key;
    WICK_TRY(wick_config_find(name, &key, err));
    /* Free text that YAML would read as something else (JSON in base.metadata, "4,32") is taken as it stands. */
    if (!wick_config_is_structured(key) && *raw != '"' && *raw != '\'') return wick_config_set(config, key, strcmp(raw, "null") == 0 ? NULL : raw, err);
    yaml_parser_t parser;
    yaml_document_t doc;
    if (!yaml_parser_initialize(&parser)) return wick_fail_oom(err, sizeof parser, name);
    yaml_parser_set_input_string(&parser, (const unsigned char *)raw, strlen(raw));
    wick_status status;
    if (!yaml_parser_load(&parser, &doc)) {
        status = wick_fail(err, WICK_INVALID_CONFIG, "%s: column %zu of the value: %s", name, parser.problem_mark.column + 1, parser.problem ? parser.problem : "no YAML");
    } else {
        const yaml_node_t *root = yaml_document_get_root_node(&doc);
        status = root ? set_node(config, &doc, root, name, err) : wick_config_set(config, key, "", err);
        yaml_document_delete(&doc);
    }
    yaml_parser_delete(&parser);
    return status;
}
