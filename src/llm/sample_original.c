/* llm/sample_original.c - ExecuTorch's sampler (extension/llm/sampler/sampler.cpp, itself from llama2.c) as it computes: a coin of 24 bits, top-k
 * shuts out top-p, and the cut is taken after the token that passes it. Where it would read before its array (no candidate passes the first
 * cut), the best token is given. */
#include "llm/sample.h"

#include <math.h>

static float coin_of(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (float)((uint32_t)(*state * 0x2545F4914F6CDD1Dull >> 32) >> 8) / 16777216.0f;
}

/* The first whose cumulative sum passes the threshold; the last one if rounding leaves none. */
static int32_t pick(const struct wick_candidate *c, int32_t n, float threshold)
{
    float sum = 0;
    for (int32_t i = 0; i < n; i++) {
        sum += c[i].p;
        if (threshold < sum) return c[i].id;
    }
    return c[n - 1].id;
}

static int32_t pick_top_p(const struct wick_sampler *s, struct wick_candidate *c, int32_t n, int32_t best, float coin)
{
    float top_p = s->options.top_p, cut = (1.0f - top_p) / (float)(n - 1), sum = 0;
    int32_t kept = 0;
    for (int32_t i = 0; i < n; i++)
        if (c[i].p >= cut) c[kept++] = c[i];
    if (kept == 0) return best;
    wick_sample_sort(c, kept, kept);
    int32_t last = kept - 1;
    for (int32_t i = 0; i < kept; i++) {
        sum += c[i].p;
        if (sum > top_p) {
            last = i;
            break;
        }
    }
    return pick(c, last + 1, coin * sum);
}

int32_t wick_sample_original(struct wick_sampler *s, float *logits)
{
    struct wick_candidate *c = s->candidates;
    int32_t n = s->vocab_size, best = 0;
    float scale = 1.0f / s->options.temperature, sum = 0;
    for (int32_t i = 0; i < n; i++) {
        logits[i] *= scale;
        if (logits[i] > logits[best]) best = i;
    }
    for (int32_t i = 0; i < n; i++) {
        c[i] = (struct wick_candidate){expf(logits[i] - logits[best]), i};
        sum += c[i].p;
    }
    for (int32_t i = 0; i < n; i++) c[i].p /= sum;
    float coin = coin_of(&s->random);
    if (s->options.top_k > 0 && s->options.top_k < n) {
        float mass = 0;
        wick_sample_sort(c, n, s->options.top_k);
        for (int32_t i = 0; i < s->options.top_k; i++) mass += c[i].p;
        return pick(c, s->options.top_k, coin * mass);
    }
    return s->options.top_p > 0 && s->options.top_p < 1 ? pick_top_p(s, c, n, best, coin) : pick(c, n, coin);
}
