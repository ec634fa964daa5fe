/* chat/beside.c - see beside.h. */
#include "chat/beside.h"

#include "base/os.h"

#include <stdio.h>

enum { PATH_ROOM = 4096 };

const char *wick_chat_in_config(const json_t *json)
{
    const json_t *chat = json_object_get(json, "chat_template");
    const char *found = json_string_value(chat);
    for (size_t i = 0; json_is_array(chat) && i < json_array_size(chat); i++) {
        const json_t *item = json_array_get(chat, i);
        const char *name = json_string_value(json_object_get(item, "name"));
        if (name && strcmp(name, "default") == 0) found = json_string_value(json_object_get(item, "template"));
    }
    return found;
}

/* The tokenizer's own file of a kind, <name>.<kind> of <name>.tokenizer.<ending>; false: there is none. */
static bool own_file(const char *tokenizer_path, const char *kind, char out[PATH_ROOM])
{
    const char *dot = strrchr(tokenizer_path, '.');
    struct wick_str path = {tokenizer_path, dot ? (size_t)(dot - tokenizer_path) : 0};
    if (!wick_str_ends(path, WICK_STR(".tokenizer"))) return false;
    int size = snprintf(out, PATH_ROOM, "%.*s.%s", (int)(path.size - strlen(".tokenizer")), tokenizer_path, kind);
    return size > 0 && size < PATH_ROOM && wick_path_exists(out);
}

static bool folder_file(const char *tokenizer_path, const char *kind, char out[PATH_ROOM])
{
    const char *slash = strrchr(tokenizer_path, '/');
    int size = wick_path_is_folder(tokenizer_path)
                   ? snprintf(out, PATH_ROOM, "%s/%s", tokenizer_path, kind)
                   : snprintf(out, PATH_ROOM, "%.*s%s", slash ? (int)(slash - tokenizer_path) + 1 : 0, tokenizer_path, kind);
    return size > 0 && size < PATH_ROOM && wick_path_exists(out);
}

static wick_status compile_file(struct wick_chat_own *own, const char *path, wick_error *err)
{
    struct wick_map map;
    WICK_TRY(wick_map_open(&map, path, err));
    struct wick_str source = {map.data ? (const char *)map.data : "", map.size};
    if (wick_chat_compile(&own->chat, source, path, &own->why) != WICK_OK) own->chat = NULL; /* why says it */
    wick_map_close(&map);
    return WICK_OK;
}

/* The special tokens by the names of a configuration: strings, or objects with the content. */
static void take_tokens(struct wick_chat_own *own, const json_t *config)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)config, key, value)
    {
        const json_t *text = json_is_object(value) ? json_object_get(value, "content") : value;
        if (wick_str_ends(wick_str_of(key), WICK_STR("_token")) && json_is_string(text))
            json_object_set_new(own->tokens, key, json_stringn(json_string_value(text), json_string_length(text)));
    }
}

static void name_token(struct wick_chat_own *own, const char *key, struct wick_str piece)
{
    if (piece.data && !json_object_get(own->tokens, key)) json_object_set_new(own->tokens, key, json_stringn(piece.data, piece.size));
}

/* The template of a configuration, and the names in it. *found: it has one. */
static void take_config(struct wick_chat_own *own, const char *path, bool *found)
{
    json_t *config = NULL;
    /* One that cannot be read counts as the template's failure. */
    if (wick_json_load(&config, path, WICK_INVALID_TOKENIZER, &own->why) != WICK_OK) return;
    take_tokens(own, config);
    const char *source = *found ? NULL : wick_chat_in_config(config);
    *found = *found || source;
    if (source && wick_chat_compile(&own->chat, wick_str_of(source), path, &own->why) != WICK_OK) own->chat = NULL;
    json_decref(config);
}

wick_status wick_chat_own_open(struct wick_chat_own *own, const char *tokenizer_path, const struct wick_tok *tok, wick_error *err)
{
    static const char template_name[] = "chat_template.jinja", config_name[] = "tokenizer_config.json";
    char path[PATH_ROOM];
    size_t count = 0;
    *own = (struct wick_chat_own){.tokens = json_object()};
    if (!own->tokens) return wick_fail_oom(err, 64, "the names of special tokens");
    wick_status status = WICK_OK;
    bool found = own_file(tokenizer_path, template_name, path), own_config;
    if (found) status = compile_file(own, path, err);
    own_config = status == WICK_OK && own_file(tokenizer_path, config_name, path);
    if (own_config) take_config(own, path, &found);
    if (status == WICK_OK && !found && folder_file(tokenizer_path, template_name, path)) {
        found = true;
        status = compile_file(own, path, err);
    }
    if (status == WICK_OK && !own_config && folder_file(tokenizer_path, config_name, path)) take_config(own, path, &found);
    const int32_t *eos = wick_tok_eos(tok, &count);
    name_token(own, "bos_token", wick_tok_piece(tok, wick_tok_bos(tok)));
    if (count) name_token(own, "eos_token", wick_tok_piece(tok, eos[0]));
    if (status != WICK_OK) wick_chat_own_close(own);
    return status;
}

void wick_chat_own_close(struct wick_chat_own *own)
{
    wick_chat_free(own->chat);
    json_decref(own->tokens);
    *own = (struct wick_chat_own){0};
}

wick_status wick_chat_own_encode(const struct wick_chat_own *own, const struct wick_tok *tok, const json_t *messages, struct wick_ids *ids,
                                 wick_error *err)
{
    struct wick_chat_text text;
    if (!own->chat && own->why.status != WICK_OK) return wick_fail(err, own->why.status, "chat template: %s", own->why.message);
    if (!own->chat) return wick_fail(err, WICK_NOT_FOUND, "chat: the model brings no template");
    json_t *args = json_copy(own->tokens);
    bool ok = args && json_object_set(args, "messages", (json_t *)(uintptr_t)messages) == 0 && json_object_set_new(args, "tools", json_null()) == 0 &&
              json_object_set_new(args, "documents", json_null()) == 0 && json_object_set_new(args, "add_generation_prompt", json_true()) == 0;
    wick_status status = ok ? wick_chat_render(own->chat, args, &text, err) : wick_fail_oom(err, 64, "the arguments of a chat template");
    json_decref(args);
    if (status != WICK_OK) return ok ? wick_fail_in(err, status, "chat template") : status;
    status = wick_chat_text_encode(tok, &text, ids, err);
    wick_chat_text_free(&text);
    return status;
}

static bool add_message(json_t *messages, const char *role, const char *content)
{
    return json_array_append_new(messages, json_pack("{s:s, s:s}", "role", role, "content", content)) == 0;
}

wick_status wick_chat_own_turn(const struct wick_chat_own *own, const struct wick_tok *tok, const char *system, const char *user,
                               struct wick_ids *ids, wick_error *err)
{
    json_t *messages = json_array();
    bool ok = messages && (!system || add_message(messages, "system", system)) && add_message(messages, "user", user);
    wick_status status =
        ok ? wick_chat_own_encode(own, tok, messages, ids, err) : wick_fail(err, WICK_INVALID_ARGUMENT, "chat: the message is not UTF-8");
    json_decref(messages);
    return status;
}
