/* llm/logprobs.c - log softmax of a row, and its best few by insertion: one comparison for most tokens. */
#include "llm/logprobs.h"

#include <math.h>
#include <string.h>

wick_status wick_logprobs_init(struct wick_logprobs *l, int32_t vocab_size, int32_t wanted, struct wick_arena *arena, wick_error *err)
{
    *l = (struct wick_logprobs){.vocab_size = vocab_size, .wanted = WICK_MIN(wanted, WICK_MOST_LOGPROBS), .logits = WICK_NEW_ARRAY(arena, float, (size_t)vocab_size)};
    return l->logits ? WICK_OK : wick_fail_oom(err, (size_t)vocab_size * sizeof *l->logits, "log probabilities");
}

static void insert(struct wick_logprobs *l, int32_t id, float logit)
{
    size_t full = (size_t)l->wanted;
    if (l->top_count == full && (full == 0 || !(logit > l->top[full - 1].logprob))) return;
    size_t at = l->top_count < full ? l->top_count++ : full - 1;
    for (; at > 0 && logit > l->top[at - 1].logprob; at--) l->top[at] = l->top[at - 1];
    l->top[at] = (wick_logprob){id, logit};
}

void wick_logprobs_take(struct wick_logprobs *l, const float *logits)
{
    float best = -INFINITY;
    double sum = 0;
    memcpy(l->logits, logits, (size_t)l->vocab_size * sizeof *logits);
    l->top_count = 0;
    for (int32_t i = 0; i < l->vocab_size; i++) {
        best = WICK_MAX(best, logits[i]);
        insert(l, i, logits[i]);
    }
    for (int32_t i = 0; i < l->vocab_size; i++) sum += expf(logits[i] - best);
    l->log_sum = best + log(sum);
    for (size_t i = 0; i < l->top_count; i++) l->top[i].logprob = (float)(l->top[i].logprob - l->log_sum);
}

wick_logprob wick_logprobs_of(const struct wick_logprobs *l, int64_t id)
{
    return (wick_logprob){id, id >= 0 && id < l->vocab_size ? (float)(l->logits[id] - l->log_sum) : -INFINITY};
}
