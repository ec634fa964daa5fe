/* Rendered templates for chat_compare.py: reads JSON lines {"template", "args"}, writes {"text", "untrusted": [[begin, end], ...]} or {"error"}. */
#include "chat/chat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void render(const json_t *line)
{
    const json_t *source = json_object_get(line, "template");
    struct wick_chat_template *chat;
    struct wick_chat_text text = {0};
    wick_error err = {0};
    wick_status status = wick_chat_compile(&chat, (struct wick_str){json_string_value(source), json_string_length(source)}, "template", &err);
    if (status == WICK_OK) {
        status = wick_chat_render(chat, json_object_get(line, "args"), &text, &err);
        wick_chat_free(chat);
    }
    json_t *out = json_object(), *untrusted = json_array();
    size_t begin = 0;
    for (size_t i = 0; i < text.count; begin = text.parts[i++].end) {
        if (!text.parts[i].trusted) json_array_append_new(untrusted, json_pack("[i, i]", (int)begin, (int)text.parts[i].end));
    }
    if (status == WICK_OK) json_object_set_new(out, "text", json_stringn(text.text.data ? text.text.data : "", text.text.size));
    else json_object_set_new(out, "error", json_string(err.message));
    json_object_set_new(out, "untrusted", untrusted);
    char *written = json_dumps(out, JSON_COMPACT | JSON_ENSURE_ASCII);
    puts(written ? written : "{}");
    free(written);
    json_decref(out);
    wick_chat_text_free(&text);
}

int main(void)
{
    static char line[1 << 22];
    while (fgets(line, sizeof line, stdin)) {
        json_error_t error;
        json_t *parsed = json_loads(line, JSON_ALLOW_NUL, &error);
        if (!parsed) return fprintf(stderr, "not JSON: %s\n", error.text), 1;
        render(parsed);
        json_decref(parsed);
    }
    return 0;
}
