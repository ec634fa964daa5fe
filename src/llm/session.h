/* llm/session.h - one sequence of tokens over a bound model: prefill in chunks, decode, logits.
 *
 * Used by one thread at a time; wick_llm_session_cancel may come from any. */
#ifndef WICK_LLM_SESSION_H
#define WICK_LLM_SESSION_H

#include "exec/instance.h"
#include "llm/metadata.h"

struct wick_llm_session {
    struct wick_llm_metadata metadata;
    struct wick_instance *instance;
    const struct wick_tracer *tracer;
    int32_t position;    /* tokens in the sequence so far */
    float *logits;       /* (vocab_size): after the last token fed */
    int64_t *tokens;     /* (max_context_len): the sequence; what a program without cache is fed each time */
    void *token_input;   /* (tokens_bound) of the input's type */
    void *position_input; /* (tokens_bound or 1) likewise */
    uint64_t run_ns;     /* time in the model since the last reset */
};

/* arena: as long as the session. The instance is the caller's, opened on the graph the metadata was read from. */
wick_status wick_llm_session_init(struct wick_llm_session *s, const struct wick_llm_metadata *metadata, struct wick_instance *instance,
                                  struct wick_arena *arena, wick_error *err);

/* Appends count > 0 tokens and computes the logits that follow the last. Cut into chunks that the program takes. CONTEXT_FULL, before anything
 * ran, if they do not fit; INVALID_ARGUMENT for an id outside the vocabulary. After another failure (or CANCELLED) `position` counts the chunks
 * that were done. */
wick_status wick_llm_session_feed(struct wick_llm_session *s, const int64_t *ids, int32_t count, wick_error *err);

/* The same, and visit gets the logits (vocab_size) that follow each token, in order; returning false is CANCELLED. */
wick_status wick_llm_session_feed_each(struct wick_llm_session *s, const int64_t *ids, int32_t count, bool (*visit)(void *user, const float *logits, size_t count),
                                       void *user, wick_error *err);

/* A new sequence: position 0 and no state of the old one. */
void wick_llm_session_reset(struct wick_llm_session *s);

#endif
