/* llm/sample.h - choosing the next token. */
#ifndef WICK_LLM_SAMPLE_H
#define WICK_LLM_SAMPLE_H

#include "base/arena.h"
#include "base/error.h"

/* The chain, in this order: repetition penalty, temperature, top-k, top-p, min-p, one draw. */
struct wick_sampler {
    float temperature;        /* 0: greedy, the lowest id wins a tie */
    float top_p;              /* (0, 1]; 1: off */
    float min_p;              /* [0, 1); 0: off. Keeps p >= min_p * the best p */
    int32_t top_k;            /* 0: off */
    float repetition_penalty; /* 1: off. Positive logits of seen tokens are divided by it, negative ones multiplied (Keskar et al., CTRL, 2019) */
    uint64_t random;          /* xorshift64* state, never 0; goes on from token to token */
    int32_t vocab_size;
    struct wick_candidate {
        float p;
        int32_t id;
    } *candidates; /* (vocab_size): scratch */
};

/* vocab_size candidates from the arena. The other fields are the caller's to set; seed any number. */
wick_status wick_sampler_init(struct wick_sampler *s, int32_t vocab_size, uint64_t seed, struct wick_arena *arena, wick_error *err);
/* Chooses from a row of logits, which is overwritten when a penalty is on. history: the sequence so far. INVALID_ARGUMENT if a logit is
 * NaN or all are -inf; +inf wins at once. */
wick_status wick_sampler_choose(struct wick_sampler *s, float *logits, const int64_t *history, int32_t history_count, int32_t *id, wick_error *err);

#endif
