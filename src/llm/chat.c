/* llm/chat.c - see chat.h. */
#include "llm/chat.h"

static const struct {
    const char *name, *token, *begin, *before_system, *after_system, *before_user, *after_user;
} formats[] = {
#define WICK_CHAT(name, token, begin, before_system, after_system, before_user, after_user) {name, token, begin, before_system, after_system, before_user, after_user},
#include "llm/chat.def"
#undef WICK_CHAT
};

static wick_status put(const struct wick_tok *tok, const char *text, unsigned flags, struct wick_ids *ids, wick_error *err)
{
    return wick_tok_encode(tok, text, strlen(text), flags, ids, err);
}

wick_status wick_chat_encode(const struct wick_tok *tok, const char *system, const char *user, struct wick_ids *ids, wick_error *err)
{
    size_t f = 0;
    while (f < WICK_ARRAY_SIZE(formats) && wick_tok_id_of(tok, wick_str_of(formats[f].token)) < 0) f++;
    if (f == WICK_ARRAY_SIZE(formats)) return wick_fail(err, WICK_NOT_SUPPORTED, "chat: the tokenizer has no control tokens of a known chat format; give the whole prompt instead");
    WICK_TRY(put(tok, formats[f].begin, WICK_TOK_SPECIAL, ids, err));
    if (system) {
        WICK_TRY(put(tok, formats[f].before_system, WICK_TOK_SPECIAL, ids, err));
        WICK_TRY(put(tok, system, 0, ids, err));
        WICK_TRY(put(tok, formats[f].after_system, WICK_TOK_SPECIAL, ids, err));
    }
    WICK_TRY(put(tok, formats[f].before_user, WICK_TOK_SPECIAL, ids, err));
    WICK_TRY(put(tok, user, 0, ids, err));
    return put(tok, formats[f].after_user, WICK_TOK_SPECIAL, ids, err);
}
