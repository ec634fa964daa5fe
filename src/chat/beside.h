/* chat/beside.h - the template a model brings along: found beside its tokenizer, with the names of its special tokens. */
#ifndef WICK_CHAT_BESIDE_H
#define WICK_CHAT_BESIDE_H

#include "chat/chat.h"

/* Zero-initialise. Immutable once open. */
struct wick_chat_own {
    struct wick_chat_template *chat; /* NULL: there is none, or it does not compile (why) */
    json_t *tokens;                  /* "bos_token", "eos_token", ...: what templates call them */
    wick_error why;                  /* WICK_OK: there is no template */
};

/* Looks beside the tokenizer file for <name>.chat_template.jinja and the chat_template of <name>.tokenizer_config.json (of
 * <name>.tokenizer.<ending>), then for the same without the name, in this order. Finding none, or one that does not compile, is no failure:
 * wick_chat_own_encode says it when it is wanted. */
wick_status wick_chat_own_open(struct wick_chat_own *own, const char *tokenizer_path, const struct wick_tok *tok, wick_error *err) WICK_MUST_CHECK;
void wick_chat_own_close(struct wick_chat_own *own);

/* Appends the ids of the messages (an array) with the prompt for an answer. NOT_FOUND: the model has no template. */
wick_status wick_chat_own_encode(const struct wick_chat_own *own, const struct wick_tok *tok, const json_t *messages, struct wick_ids *ids,
                                 wick_error *err) WICK_MUST_CHECK;
/* The same for one user turn; system NULL: none. */
wick_status wick_chat_own_turn(const struct wick_chat_own *own, const struct wick_tok *tok, const char *system, const char *user,
                               struct wick_ids *ids, wick_error *err) WICK_MUST_CHECK;

/* The template in a tokenizer_config.json, in `json`: a string, or the one called "default" of a list. NULL: none. */
const char *wick_chat_in_config(const json_t *json);

#endif
