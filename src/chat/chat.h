/* chat/chat.h - chat templates: the language models write theirs in (Jinja), run as Hugging Face sets it up: trim_blocks, lstrip_blocks, sandboxed,
 * with tojson, raise_exception, strftime_now, break, continue and generation blocks.
 *
 * A template is immutable once compiled: any number of threads may render with one. Rendered text says of every part where it comes from: what the
 * template itself (or a special token's name) says is trusted, what came with the messages is not, through all filters and slices, so that a message
 * that spells a control token stays text (wick_chat_encode). Nothing here recurses without a limit; steps, memory and output are limited too. */
#ifndef WICK_CHAT_CHAT_H
#define WICK_CHAT_CHAT_H

#include "base/json.h"
#include "base/str.h"
#include "tok/tok.h"

struct wick_chat_template;

/* Compiles a template; `name` opens the error texts, which give the line. INVALID_ARGUMENT: not a template; NOT_SUPPORTED: a tag, filter or test that
 * this library does not have, by name. */
wick_status wick_chat_compile(struct wick_chat_template **chat, struct wick_str source, const char *name, wick_error *err) WICK_MUST_CHECK;
void wick_chat_free(struct wick_chat_template *chat); /* NULL allowed */

/* Rendered text; parts are adjacent, in order, and cover it. Zero-initialise, free with wick_chat_text_free. */
struct wick_chat_part {
    size_t end; /* begins where the one before ends */
    bool trusted;
};
struct wick_chat_text {
    struct wick_buf text;
    struct wick_chat_part *parts;
    size_t count, capacity;
};
void wick_chat_text_free(struct wick_chat_text *text);

/* Renders with the members of the object `args` as variables ("messages", "tools", "add_generation_prompt", "bos_token", ...). Strings are not
 * trusted, but for those of members whose names end with "_token". On failure `out` holds nothing. INVALID_ARGUMENT: what the template raises
 * (raise_exception's message is the whole message), or what it does goes beyond the limits. */
wick_status wick_chat_render(const struct wick_chat_template *chat, const json_t *args, struct wick_chat_text *out, wick_error *err) WICK_MUST_CHECK;

/* Appends the ids of rendered text: one text for the tokenizer, but special tokens are only seen where they are wholly trusted. */
wick_status wick_chat_text_encode(const struct wick_tok *tok, const struct wick_chat_text *text, struct wick_ids *ids,
                                  wick_error *err) WICK_MUST_CHECK;

#endif
