/* llm/logprobs.h - what the model itself thinks of tokens, before the sampling chain changes the logits. */
#ifndef WICK_LLM_LOGPROBS_H
#define WICK_LLM_LOGPROBS_H

#include "base/arena.h"
#include "base/error.h"
#include "wick/llm.h"

enum { WICK_MOST_LOGPROBS = 64 };

struct wick_logprobs {
    int32_t vocab_size, wanted;
    float *logits;   /* (vocab_size): a copy, as the chain overwrites them */
    double log_sum;  /* of the exponentials */
    wick_logprob top[WICK_MOST_LOGPROBS]; /* best first; of equal ones the lower id */
    size_t top_count;
};

wick_status wick_logprobs_init(struct wick_logprobs *l, int32_t vocab_size, int32_t wanted, struct wick_arena *arena, wick_error *err);
void wick_logprobs_take(struct wick_logprobs *l, const float *logits);
wick_logprob wick_logprobs_of(const struct wick_logprobs *l, int64_t id);

#endif
