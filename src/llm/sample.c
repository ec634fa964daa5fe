/* llm/sample.c - the sampling chain; see sample.h. */
#include "llm/sample.h"

#include <math.h>

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545F4914F6CDD1Dull;
}

wick_status wick_sampler_init(struct wick_sampler *s, int32_t vocab_size, uint64_t seed, struct wick_arena *arena, wick_error *err)
{
    *s = (struct wick_sampler){.temperature = 0, .top_p = 1, .repetition_penalty = 1, .vocab_size = vocab_size};
    s->candidates = WICK_NEW_ARRAY(arena, struct wick_candidate, (size_t)vocab_size);
    /* splitmix64 spreads small seeds over all bits (Steele, Lea, Flood, 2014). */
    uint64_t z = seed + 0x9E3779B97F4A7C15ull;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    s->random = (z ^ z >> 31) | 1;
    return s->candidates ? WICK_OK : wick_fail_oom(err, (size_t)vocab_size * sizeof *s->candidates, "sampler");
}

static wick_status find_best(const float *logits, int32_t n, int32_t *best, wick_error *err)
{
    int32_t top = 0;
    bool nan = false;
    for (int32_t i = 0; i < n; i++) {
        nan |= logits[i] != logits[i];
        if (logits[i] > logits[top]) top = i;
    }
    if (nan) return wick_fail(err, WICK_INVALID_ARGUMENT, "the model gave a logit that is not a number");
    if (logits[top] == -INFINITY) return wick_fail(err, WICK_INVALID_ARGUMENT, "the model gave no possible token: all logits are -inf");
    *best = top;
    return WICK_OK;
}

static void penalize(const struct wick_sampler *s, float *logits, const int64_t *history, int32_t count)
{
    /* A token counts once however often it occurred: mark it by its place in the candidates. */
    for (int32_t i = 0; i < s->vocab_size; i++) s->candidates[i].id = 0;
    for (int32_t i = 0; i < count; i++) {
        int64_t id = history[i];
        if (id < 0 || id >= s->vocab_size || s->candidates[id].id) continue;
        s->candidates[id].id = 1;
        logits[id] = logits[id] > 0 ? logits[id] / s->repetition_penalty : logits[id] * s->repetition_penalty;
    }
}

static bool before(struct wick_candidate a, struct wick_candidate b) { return a.p > b.p || (a.p == b.p && a.id < b.id); }

/* Heap with the best candidate at the root. */
static void sift_down(struct wick_candidate *heap, int32_t n, int32_t i)
{
    struct wick_candidate moving = heap[i];
    for (int32_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && before(heap[child + 1], heap[child])) child++;
        if (!before(heap[child], moving)) break;
        heap[i] = heap[child];
    }
    heap[i] = moving;
}

/* Moves candidates off the heap, best first, to the array's end, until `enough`. Returns how many were taken. */
static int32_t take_best(const struct wick_sampler *s, int32_t n, float best, double total)
{
    struct wick_candidate *heap = s->candidates;
    int32_t limit = s->top_k > 0 ? WICK_MIN(s->top_k, n) : n, taken = 0;
    double kept = 0, mass = total;
    for (int32_t i = n / 2 - 1; i >= 0; i--) sift_down(heap, n, i);
    if (s->top_k > 0 && s->top_k < n && s->top_p < 1) {
        /* top-p looks at what top-k left: its mass is needed first. */
        mass = 0;
        for (int32_t i = 0; i < limit; i++) {
            struct wick_candidate top = heap[0];
            heap[0] = heap[n - 1 - i];
            heap[n - 1 - i] = top;
            mass += top.p;
            sift_down(heap, n - 1 - i, 0);
        }
        for (int32_t i = 0; i < limit; i++) {
            struct wick_candidate c = heap[n - 1 - i];
            if (taken > 0 && (c.p < s->min_p * best || kept >= s->top_p * mass)) break;
            kept += c.p;
            taken++;
        }
        return taken;
    }
    while (taken < limit) {
        struct wick_candidate top = heap[0];
        if (taken > 0 && (top.p < s->min_p * best || (s->top_p < 1 && kept >= s->top_p * mass))) break;
        heap[0] = heap[n - 1 - taken];
        heap[n - 1 - taken] = top;
        kept += top.p;
        taken++;
        sift_down(heap, n - taken, 0);
    }
    return taken;
}

/* Draws from p's that need not sum to 1. */
static int32_t draw(struct wick_sampler *s, const struct wick_candidate *c, int32_t n, int32_t step)
{
    double sum = 0, at;
    for (int32_t i = 0; i < n; i++) sum += c[i * step].p;
    at = (double)(next_random(&s->random) >> 11) * 0x1p-53 * sum;
    for (int32_t i = 0; i < n; i++) {
        at -= c[i * step].p;
        if (at < 0) return c[i * step].id;
    }
    /* Rounding left nothing over: the last that is possible. */
    for (int32_t i = n - 1; i > 0; i--)
        if (c[i * step].p > 0) return c[i * step].id;
    return c[0].id;
}

wick_status wick_sampler_choose(struct wick_sampler *s, float *logits, const int64_t *history, int32_t history_count, int32_t *id, wick_error *err)
{
    int32_t n = s->vocab_size;
    if (s->repetition_penalty != 1 && s->repetition_penalty > 0) penalize(s, logits, history, history_count);
    WICK_TRY(find_best(logits, n, id, err));
    if (s->temperature <= 0 || s->top_k == 1 || logits[*id] == INFINITY) return WICK_OK;
    float best = logits[*id];
    double total = 0;
    for (int32_t i = 0; i < n; i++) {
        float p = expf((logits[i] - best) / s->temperature);
        s->candidates[i] = (struct wick_candidate){p, i};
        total += p;
    }
    bool all = (s->top_k <= 0 || s->top_k >= n) && s->top_p >= 1 && s->min_p <= 0;
    if (all) {
        *id = draw(s, s->candidates, n, 1);
        return WICK_OK;
    }
    /* What top-p could keep has at least (1 - top_p) / (n - 1) of the mass, unless nothing else is left: most of a large vocabulary
     * goes before any ordering. */
    int32_t kept = 0;
    double floor = s->top_k <= 0 && s->top_p < 1 ? total * (1 - s->top_p) / (n > 1 ? n - 1 : 1) : 0;
    floor = WICK_MAX(floor, (double)s->min_p); /* the best p is exp(0) = 1 */
    for (int32_t i = 0; i < n; i++)
        if (s->candidates[i].p >= floor || i == *id) s->candidates[kept++] = s->candidates[i];
    int32_t taken = take_best(s, kept, 1, total);
    *id = draw(s, s->candidates + kept - 1, taken, -1);
    return WICK_OK;
}
