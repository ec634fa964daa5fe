/* llm/generate.h - the loop: feed, sample, decode, stop. Over wick_llm_session; the public form is wick/llm.h. */
#ifndef WICK_LLM_GENERATE_H
#define WICK_LLM_GENERATE_H

#include "llm/session.h"
#include "tok/tok.h"
#include "wick/llm.h"

/* temp: for the sampler; reset by the caller. */
wick_status wick_llm_generate(struct wick_llm_session *s, const struct wick_tok *tok, const int64_t *prompt, size_t prompt_count,
                              const wick_generate_options *options, wick_generate_stats *stats, struct wick_arena *temp, wick_error *err);

#endif
