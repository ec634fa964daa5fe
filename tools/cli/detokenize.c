/* tools/cli/detokenize.c - wick detokenize. */
#include "cli.h"

#include "wick/llm.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

/* Standard input: an array of arrays of ids. Output: an array of strings. */
static int detokenize_json(const wick_tokenizer *tokenizer, const char *data, size_t size, bool skip, wick_error *err)
{
    json_error_t at;
    json_t *lists = json_loadb(data, size, 0, &at), *result = json_array();
    int code = CLI_DONE;
    if (!json_is_array(lists)) code = cli_usage_error("standard input: not a JSON array of arrays of ids (line %d: %s)", at.line, lists ? "another kind" : at.text);
    for (size_t i = 0; code == CLI_DONE && i < json_array_size(lists); i++) {
        const json_t *list = json_array_get(lists, i);
        size_t count = json_array_size(list), length = 0;
        int64_t *ids = calloc(count + 1, sizeof *ids);
        char *text = NULL;
        for (size_t k = 0; ids && k < count; k++) ids[k] = json_is_integer(json_array_get(list, k)) ? json_integer_value(json_array_get(list, k)) : -1;
        if (!json_is_array(list) || !ids) code = cli_usage_error("standard input: item %zu is no array of ids", i);
        else if (wick_tokenizer_decode(tokenizer, ids, count, skip, &text, &length, err) != WICK_OK) code = cli_fail(err);
        else json_array_append_new(result, json_stringn(text, length));
        wick_text_free(text);
        free(ids);
    }
    if (code == CLI_DONE) json_dumpf(result, stdout, JSON_COMPACT);
    if (code == CLI_DONE) printf("\n");
    json_decref(result);
    json_decref(lists);
    return code;
}

static int detokenize_text(const wick_tokenizer *tokenizer, const char *data, bool skip, wick_error *err)
{
    size_t count, size;
    char *text;
    int64_t *ids = cli_read_ids(data, &count, err);
    if (!ids) return cli_fail(err);
    wick_status status = wick_tokenizer_decode(tokenizer, ids, count, skip, &text, &size, err);
    free(ids);
    if (status != WICK_OK) return cli_fail(err);
    fwrite(text, 1, size, stdout);
    printf("\n");
    wick_text_free(text);
    return CLI_DONE;
}

int wick_command_detokenize(int argc, char **argv)
{
    const char *path = NULL;
    bool skip = false;
    struct cli_list rest = {0};
    const struct cli_option options[] = {
        {"--tokenizer", 0, CLI_TEXT, &path, "FILE", "tokenizer.json, tokenizer.model, .bin ... (told by content)"},
        {"--skip-special", 0, CLI_FLAG, &skip, NULL, "leave special tokens out"},
    };
    int code = cli_parse(cli_find("detokenize"), options, sizeof options / sizeof options[0], argc, argv, &rest, "wick detokenize --tokenizer tokenizer.json 504,3575,282");
    if (code >= 0) return code;
    if (!path) return cli_usage_error("detokenize: --tokenizer FILE is missing");
    wick_tokenizer *tokenizer;
    wick_error err = {0};
    if (wick_tokenizer_open(path, &tokenizer, &err) != WICK_OK) return cli_fail(&err);
    code = CLI_DONE;
    for (size_t i = 0; i < rest.count && code == CLI_DONE && !cli_settings.json; i++) code = detokenize_text(tokenizer, rest.items[i], skip, &err);
    if (rest.count == 0 || cli_settings.json) {
        size_t size;
        char *data = cli_read_file("-", &size, &err);
        if (!data) code = cli_fail(&err);
        else code = cli_settings.json ? detokenize_json(tokenizer, data, size, skip, &err) : detokenize_text(tokenizer, data, skip, &err);
        free(data);
    }
    wick_tokenizer_close(tokenizer);
    cli_list_free(&rest);
    return code;
}
