/* chat/render.c - a template from its source, and one rendering of it. */
#include "chat/jinja.h"

#include "base/checked.h"

#include <stdlib.h>

/* ---- compiling ---- */

/* Line ends become "\n", and one at the very end goes. */
static struct wick_str plain_source(struct wick_arena *arena, struct wick_str source)
{
    char *text = wick_arena_alloc(arena, source.size + 1, 1);
    size_t size = 0;
    for (size_t i = 0; text && i < source.size; i++) {
        bool crlf = source.data[i] == '\r' && i + 1 < source.size && source.data[i + 1] == '\n';
        if (!crlf) text[size++] = source.data[i] == '\r' ? '\n' : source.data[i];
    }
    if (size && text[size - 1] == '\n') size--;
    return (struct wick_str){text, size};
}

static wick_status check_source(struct wick_str source, wick_error *err)
{
    if (source.size > CHAT_SOURCE_LIMIT)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "%zu bytes are more than the %zu allowed", source.size, CHAT_SOURCE_LIMIT);
    for (size_t i = 0, n; i < source.size; i += n) {
        n = wick_utf8_next(source.data + i, source.size - i, NULL);
        if (n == 0) return wick_fail(err, WICK_INVALID_ARGUMENT, "byte %zu: not UTF-8", i);
    }
    return WICK_OK;
}

wick_status wick_chat_compile(struct wick_chat_template **out, struct wick_str source, const char *name, wick_error *err)
{
    struct wick_chat_template *chat = calloc(1, sizeof *chat);
    struct chat_tokens tokens = {0};
    *out = NULL;
    if (!chat) return wick_fail_oom(err, sizeof *chat, "a template");
    wick_arena_init(&chat->arena, &wick_allocator_heap);
    wick_status status = check_source(source, err);
    struct wick_str plain = {NULL, 0};
    if (status == WICK_OK) plain = plain_source(&chat->arena, source);
    if (status == WICK_OK && !plain.data) status = wick_fail_oom(err, source.size, "a template");
    if (status == WICK_OK) status = wick_chat_lex(&chat->arena, plain, &tokens, err);
    if (status == WICK_OK) status = wick_chat_parse(&chat->arena, &tokens, &chat->root, err);
    if (status == WICK_OK) *out = chat;
    else wick_chat_free(chat);
    return status == WICK_OK ? status : wick_fail_in(err, status, "%s", name);
}

void wick_chat_free(struct wick_chat_template *chat)
{
    if (!chat) return;
    wick_arena_release(&chat->arena);
    free(chat);
}

/* ---- rendering ---- */

void wick_chat_text_free(struct wick_chat_text *text)
{
    wick_buf_free(&text->text);
    free(text->parts);
    *text = (struct wick_chat_text){0};
}

static bool add_part(struct wick_chat_text *text, size_t end, bool trusted)
{
    if (text->count && text->parts[text->count - 1].trusted == trusted) {
        text->parts[text->count - 1].end = end;
        return true;
    }
    if (text->count == text->capacity) {
        size_t capacity = text->capacity * 2 + 16, bytes;
        struct wick_chat_part *parts = wick_mul_size(capacity, sizeof *parts, &bytes) ? NULL : realloc(text->parts, bytes);
        if (!parts) return false;
        text->parts = parts;
        text->capacity = capacity;
    }
    text->parts[text->count++] = (struct wick_chat_part){end, trusted};
    return true;
}

static wick_status hand_out(const struct chat_build *build, struct wick_chat_text *out, wick_error *err)
{
    bool ok = true;
    wick_buf_append(&out->text, build->data ? build->data : "", build->size);
    for (size_t i = 0, end; ok && i < build->size; i = end) {
        bool tainted = build->tainted && build->taint[i];
        for (end = i + 1; end < build->size && (build->tainted && build->taint[end]) == tainted;) end++;
        ok = add_part(out, end, !tainted);
    }
    return ok && !out->text.failed ? WICK_OK : wick_fail_oom(err, build->size, "a rendered template");
}

static void take_args(struct chat_run *run, const json_t *args)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)args, key, value)
    {
        bool special = json_is_string(value) && wick_str_ends(wick_str_of(key), WICK_STR("_token"));
        struct chat_value made = wick_chat_from_json(run, value, !special, 0);
        wick_chat_dict_set(run, &run->frame->names, wick_chat_string(run, wick_str_of(key), false), made);
        if (chat_failed(run)) return;
    }
}

wick_status wick_chat_render(const struct wick_chat_template *chat, const json_t *args, struct wick_chat_text *out, wick_error *err)
{
    struct chat_run run = {.err = err};
    struct chat_build build;
    *out = (struct wick_chat_text){0};
    if (!json_is_object(args)) return wick_fail(err, WICK_INVALID_ARGUMENT, "chat: the arguments of a template are an object");
    wick_arena_init(&run.arena, &wick_allocator_heap);
    wick_chat_build_init(&build, &run);
    run.out = &build;
    run.frame = wick_chat_frame(&run, NULL);
    if (run.frame) take_args(&run, args);
    if (!chat_failed(&run)) wick_chat_exec(&run, chat->root);
    wick_status status = chat_failed(&run) ? run.status : hand_out(&build, out, err);
    if (status != WICK_OK) wick_chat_text_free(out);
    wick_arena_release(&run.arena);
    return status;
}

/* ---- ids ---- */

wick_status wick_chat_text_encode(const struct wick_tok *tok, const struct wick_chat_text *text, struct wick_ids *ids, wick_error *err)
{
    struct wick_tok_part *parts = calloc(text->count + 1, sizeof *parts);
    size_t begin = 0;
    if (!parts) return wick_fail_oom(err, text->count, "the parts of a text");
    for (size_t i = 0; i < text->count; begin = text->parts[i++].end)
        parts[i] = (struct wick_tok_part){text->text.data + begin, text->parts[i].end - begin, text->parts[i].trusted};
    wick_status status = wick_tok_encode_parts(tok, parts, text->count, ids, err);
    free(parts);
    return status;
}
