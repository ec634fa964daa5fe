/* llm/chat.h - one user turn in the chat format of a vocabulary. */
#ifndef WICK_LLM_CHAT_H
#define WICK_LLM_CHAT_H

#include "tok/tok.h"

/* Appends the ids. Texts are encoded without special tokens: whatever they hold, they cannot end their turn. system NULL: none.
 * NOT_SUPPORTED if no format of chat.def fits. */
wick_status wick_chat_encode(const struct wick_tok *tok, const char *system, const char *user, struct wick_ids *ids, wick_error *err);

#endif
