/* export/chat_template.c - see chat_template.h. Next: sidecar.c. */
#include "export/chat_template.h"

#include "base/json.h"
#include "base/os.h"
#include "export/beside.h"

static bool append(struct wick_buf *out, const char *data, size_t size)
{
    if (size > 0) wick_buf_append(out, data, size);
    return size > 0;
}

/* A text, or a list of {"name", "template"}. */
static bool from_value(struct wick_buf *out, const json_t *value)
{
    if (json_is_string(value)) return append(out, json_string_value(value), json_string_length(value));
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *item = json_array_get(value, i), *text = json_object_get(item, "template");
        const char *name = json_string_value(json_object_get(item, "name"));
        if (name && strcmp(name, "default") == 0 && json_is_string(text)) return append(out, json_string_value(text), json_string_length(text));
    }
    return false;
}

static wick_status from_json(struct wick_buf *out, bool *found, const char *path, wick_error *err)
{
    json_t *root;
    WICK_TRY(wick_json_load(&root, path, WICK_INVALID_CONFIG, err));
    *found = from_value(out, json_object_get(root, "chat_template"));
    json_decref(root);
    return WICK_OK;
}

wick_status wick_chat_template_find(struct wick_buf *out, bool *found, const struct wick_checkpoint *checkpoint, const char *path, wick_error *err)
{
    static const char *const files[] = {"chat_template.json", "tokenizer_config.json"};
    char beside[WICK_BESIDE_MAX];
    struct wick_str text;
    *found = false;
    if (wick_checkpoint_meta_str(checkpoint, "tokenizer.chat_template", &text, NULL) == WICK_OK) {
        *found = append(out, text.data, text.size);
        return WICK_OK;
    }
    if (!path) return WICK_OK;
    if (wick_beside(path, "chat_template.jinja", beside)) {
        struct wick_map map;
        WICK_TRY(wick_map_open(&map, beside, err));
        *found = append(out, (const char *)map.data, map.size);
        wick_map_close(&map);
    }
    for (size_t i = 0; i < WICK_ARRAY_SIZE(files) && !*found; i++)
        if (wick_beside(path, files[i], beside)) WICK_TRY(from_json(out, found, beside, err));
    return WICK_OK;
}
