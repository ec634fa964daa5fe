/* tools/cli/tokenize.c - wick tokenize. */
#include "cli.h"

#include "wick/llm.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tokenize_text(const wick_tokenizer *tokenizer, const char *text, size_t size, bool special, wick_error *err)
{
    wick_id_list ids = {0};
    wick_status status = wick_tokenizer_encode(tokenizer, text, size, special, &ids, err);
    for (size_t i = 0; status == WICK_OK && i < ids.count; i++) {
        size_t length;
        const char *piece = wick_tokenizer_piece(tokenizer, ids.data[i], &length);
        printf("%lld\t%.*s\n", (long long)ids.data[i], (int)length, piece ? piece : "");
    }
    wick_id_list_free(&ids);
    return status == WICK_OK ? CLI_DONE : cli_fail(err);
}

static json_t *ids_to_json(const wick_id_list *ids)
{
    json_t *list = json_array();
    for (size_t i = 0; i < ids->count; i++) json_array_append_new(list, json_integer(ids->data[i]));
    return list;
}

/* Standard input: an array of strings. Output: an array of arrays of ids. */
static int tokenize_json(const wick_tokenizer *tokenizer, const char *data, size_t size, bool special, wick_error *err)
{
    json_error_t at;
    json_t *texts = json_loadb(data, size, JSON_ALLOW_NUL, &at), *result = json_array();
    int code = CLI_DONE;
    if (!json_is_array(texts)) code = cli_usage_error("standard input: not a JSON array of strings (line %d: %s)", at.line, texts ? "another kind" : at.text);
    for (size_t i = 0; code == CLI_DONE && i < json_array_size(texts); i++) {
        const json_t *text = json_array_get(texts, i);
        wick_id_list ids = {0};
        if (!json_is_string(text)) code = cli_usage_error("standard input: item %zu is no string", i);
        else if (wick_tokenizer_encode(tokenizer, json_string_value(text), json_string_length(text), special, &ids, err) != WICK_OK) code = cli_fail(err);
        else json_array_append_new(result, ids_to_json(&ids));
        wick_id_list_free(&ids);
    }
    if (code == CLI_DONE) json_dumpf(result, stdout, JSON_COMPACT);
    if (code == CLI_DONE) printf("\n");
    json_decref(result);
    json_decref(texts);
    return code;
}

int wick_command_tokenize(int argc, char **argv)
{
    const char *path = NULL;
    bool special = false;
    struct cli_list texts = {0};
    const struct cli_option options[] = {
        {"--tokenizer", 0, CLI_TEXT, &path, "FILE", "tokenizer.json, tokenizer.model, .bin ... (told by content)"},
        {"--special", 0, CLI_FLAG, &special, NULL, "let the text name special tokens"},
    };
    int code = cli_parse(cli_find("tokenize"), options, sizeof options / sizeof options[0], argc, argv, &texts, "wick tokenize --tokenizer tokenizer.json 'Hello world'");
    if (code >= 0) return code;
    if (!path) return cli_usage_error("tokenize: --tokenizer FILE is missing");
    wick_tokenizer *tokenizer;
    wick_error err = {0};
    if (wick_tokenizer_open(path, &tokenizer, &err) != WICK_OK) return cli_fail(&err);
    code = CLI_DONE;
    for (size_t i = 0; i < texts.count && code == CLI_DONE && !cli_settings.json; i++) code = tokenize_text(tokenizer, texts.items[i], strlen(texts.items[i]), special, &err);
    if (texts.count == 0 || cli_settings.json) {
        size_t size;
        char *data = cli_read_file("-", &size, &err);
        if (!data) code = cli_fail(&err);
        else code = cli_settings.json ? tokenize_json(tokenizer, data, size, special, &err) : tokenize_text(tokenizer, data, size, special, &err);
        free(data);
    }
    wick_tokenizer_close(tokenizer);
    cli_list_free(&texts);
    return code;
}
