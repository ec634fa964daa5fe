/* llm/sample_penalty.c - what changes logits by what has been said: bias, penalties, DRY. */
#include "llm/sample.h"

#include <float.h>
#include <math.h>

void wick_sample_bias(const struct wick_sampler *s, float *logits)
{
    for (size_t i = 0; i < s->options.bias_count; i++) {
        const wick_logit_bias *bias = &s->options.biases[i];
        if (bias->id >= 0 && bias->id < s->vocab_size) logits[bias->id] += bias->bias;
    }
}

/* The last tokens that penalties look at. */
static int32_t window_of(int32_t last, int32_t count) { return last < 0 ? count : WICK_MIN(last, count); }

/* Repetition: positive logits of seen tokens are divided by it, negative ones multiplied (Keskar et al., CTRL, 2019). Presence once a token,
 * frequency as often as it occurs, as OpenAI's API has them. */
void wick_sample_penalize(const struct wick_sampler *s, float *logits, const int64_t *history, int32_t count)
{
    const wick_sampling *o = &s->options;
    int32_t window = window_of(o->penalty_last_n, count);
    const int64_t *recent = history + (count - window);
    for (int32_t i = 0; i < window; i++)
        if (recent[i] >= 0 && recent[i] < s->vocab_size) s->counts[recent[i]]++;
    for (int32_t i = 0; i < window; i++) {
        int64_t id = recent[i];
        if (id < 0 || id >= s->vocab_size || !s->counts[id]) continue;
        float logit = logits[id] > 0 ? logits[id] / o->repetition_penalty : logits[id] * o->repetition_penalty;
        logits[id] = logit - (o->presence_penalty + o->frequency_penalty * (float)s->counts[id]);
        s->counts[id] = 0;
    }
}

static bool is_breaker(const struct wick_sampler *s, int64_t id) { return s->breakers && id >= 0 && id < s->vocab_size && s->breakers[id]; }

/* matches[i]: how many tokens before and with position i, read backwards, are those that the sequence ends with. Z-algorithm (Gusfield, 1997) on
 * the window read backwards: linear. */
static void match_suffix(int32_t *matches, const int64_t *recent, int32_t n)
{
    int32_t left = 0, right = 0; /* the match that reaches furthest back: [left, right) */
    for (int32_t i = 1; i < n; i++) {
        int32_t z = i < right ? WICK_MIN(right - i, matches[i - left]) : 0;
        while (i + z < n && recent[n - 1 - z] == recent[n - 1 - i - z]) z++;
        matches[i] = z;
        if (i + z > right) left = i, right = i + z;
    }
}

/* p-e-w, "DRY: a modern repetition penalty", 2024. The token after each earlier occurrence of the end of the sequence is the one to punish, by
 * the longest such end; a breaker is never part of it. */
void wick_sample_dry(const struct wick_sampler *s, float *logits, const int64_t *history, int32_t count)
{
    const wick_sampling *o = &s->options;
    int32_t n = WICK_MIN(window_of(o->dry_last_n, count), s->match_capacity), reach = 0;
    const int64_t *recent = history + (count - n);
    while (reach < n && !is_breaker(s, recent[n - 1 - reach])) reach++;
    if (reach < 1 || n < 2) return;
    match_suffix(s->matches, recent, n);
    for (int32_t i = 1; i < n; i++) {
        int64_t next = recent[n - i];
        int32_t length = WICK_MIN(s->matches[i], reach);
        if (length >= WICK_MAX(o->dry_allowed_length, 1) && next >= 0 && next < s->vocab_size) s->counts[next] = WICK_MAX(s->counts[next], length);
    }
    /* The power stays a number. */
    float most = o->dry_base > 1 ? logf(FLT_MAX / WICK_MAX(o->dry_multiplier, 1.0f)) / logf(o->dry_base) : FLT_MAX;
    for (int32_t i = 1; i < n; i++) {
        int64_t next = recent[n - i];
        if (next < 0 || next >= s->vocab_size || !s->counts[next]) continue;
        logits[next] -= o->dry_multiplier * powf(o->dry_base, WICK_MIN((float)(s->counts[next] - o->dry_allowed_length), most));
        s->counts[next] = 0;
    }
}
