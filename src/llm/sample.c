/* llm/sample.c - the sampling chain; see sample.h. */
#include "llm/sample.h"

#include <math.h>

double wick_sample_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double)(*state * 0x2545F4914F6CDD1Dull >> 11) * 0x1p-53;
}

/* splitmix64 spreads small seeds over all bits (Steele, Lea, Flood, 2014). */
static uint64_t spread(uint64_t seed)
{
    uint64_t z = seed + 0x9E3779B97F4A7C15ull;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return (z ^ z >> 31) | 1;
}

static wick_status judge(const wick_sampling *o, wick_error *err)
{
    const struct {
        bool good;
        const char *rule;
    } rules[] = {
        {o->temperature >= 0 && o->temperature < INFINITY, "temperature must be 0 or more"},
        {o->top_k >= 0, "top-k must be 0 (off) or more"},
        {o->top_p > 0 && o->top_p <= 1, "top-p must be in (0, 1]"},
        {o->min_p >= 0 && o->min_p < 1, "min-p must be in [0, 1)"},
        {o->typical_p > 0 && o->typical_p <= 1, "typical-p must be in (0, 1]"},
        {o->top_n_sigma >= 0, "top-n-sigma must be 0 (off) or more"},
        {o->xtc_probability >= 0 && o->xtc_probability <= 1, "the probability of XTC must be in [0, 1]"},
        {o->xtc_threshold >= 0 && o->xtc_threshold <= 1, "the threshold of XTC must be in [0, 1]"},
        {o->dry_multiplier >= 0 && o->dry_base >= 1 && o->dry_allowed_length >= 0, "DRY wants a multiplier of 0 or more, a base of 1 or more and a length of 0 or more"},
        {o->mirostat >= 0 && o->mirostat <= 2, "mirostat must be 0 (off), 1 or 2"},
        {o->mirostat_tau >= 0 && o->mirostat_eta >= 0, "mirostat's tau and eta must be 0 or more"},
        {o->repetition_penalty > 0 && o->repetition_penalty < INFINITY, "the repetition penalty must be above 0 (1: off)"},
        {fabsf(o->presence_penalty) < INFINITY && fabsf(o->frequency_penalty) < INFINITY, "presence and frequency penalties must be numbers"},
        {o->bias_count == 0 || o->biases, "a count of biases without biases"},
    };
    for (size_t i = 0; i < WICK_ARRAY_SIZE(rules); i++)
        if (!rules[i].good) return wick_fail(err, WICK_INVALID_ARGUMENT, "sampling: %s", rules[i].rule);
    return WICK_OK;
}

wick_status wick_sampler_init(struct wick_sampler *s, const wick_sampling *options, int32_t vocab_size, int32_t context, struct wick_arena *arena, wick_error *err)
{
    bool penalties = options->repetition_penalty != 1 || options->presence_penalty != 0 || options->frequency_penalty != 0;
    WICK_TRY(judge(options, err));
    *s = (struct wick_sampler){.options = *options, .vocab_size = vocab_size, .random = options->original && options->seed ? options->seed : spread(options->seed), .surprise = 2 * options->mirostat_tau};
    s->candidates = WICK_NEW_ARRAY(arena, struct wick_candidate, (size_t)vocab_size);
    if (penalties) s->counts = WICK_NEW_ARRAY(arena, int32_t, (size_t)vocab_size);
    if (options->dry_multiplier > 0) {
        s->matches = WICK_NEW_ARRAY(arena, int32_t, (size_t)context + 1);
        s->counts = s->counts ? s->counts : WICK_NEW_ARRAY(arena, int32_t, (size_t)vocab_size);
        s->match_capacity = context;
    }
    if (!s->candidates || (penalties && !s->counts) || (options->dry_multiplier > 0 && (!s->matches || !s->counts)))
        return wick_fail_oom(err, (size_t)vocab_size * sizeof *s->candidates, "sampler");
    for (int32_t i = 0; s->counts && i < vocab_size; i++) s->counts[i] = 0;
    return WICK_OK;
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

/* ---- order ---- */

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

/* The best go from the heap to the array's end one by one, then to the front. */
void wick_sample_sort(struct wick_candidate *c, int32_t n, int32_t limit)
{
    limit = WICK_MIN(limit, n);
    for (int32_t i = n / 2 - 1; i >= 0; i--) sift_down(c, n, i);
    for (int32_t taken = 0; taken < limit; taken++) {
        struct wick_candidate top = c[0];
        c[0] = c[n - 1 - taken];
        c[n - 1 - taken] = top;
        sift_down(c, n - 1 - taken, 0);
    }
    for (int32_t i = 0, k = n - 1; i < k; i++, k--) {
        struct wick_candidate other = c[i];
        c[i] = c[k];
        c[k] = other;
    }
}

int32_t wick_sample_draw(struct wick_sampler *s, const struct wick_candidate *c, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++) sum += c[i].p;
    double at = wick_sample_random(&s->random) * sum;
    for (int32_t i = 0; i < n; i++) {
        at -= c[i].p;
        if (at < 0) return c[i].id;
    }
    for (int32_t i = n - 1; i > 0; i--)
        if (c[i].p > 0) return c[i].id;
    return c[0].id;
}

/* ---- the chain ---- */

/* Candidates with p of at least `floor` (and the best one), unordered; *total: the mass of all. */
static int32_t gather(struct wick_sampler *s, const float *logits, int32_t best, double *total)
{
    const wick_sampling *o = &s->options;
    float least = o->top_n_sigma > 0 ? wick_sample_sigma_floor(logits, s->vocab_size, logits[best], o->top_n_sigma) : -INFINITY;
    int32_t n = 0;
    *total = 0;
    for (int32_t i = 0; i < s->vocab_size; i++) {
        if (logits[i] < least || logits[i] == -INFINITY) continue;
        float p = expf((logits[i] - logits[best]) / o->temperature);
        s->candidates[n++] = (struct wick_candidate){p, i};
        *total += p;
    }
    return n;
}

/* What top-p could keep has at least (1 - top_p) / (n - 1) of the mass, unless nothing else is left: most of a large vocabulary goes before
 * any ordering. Not when another stage wants to see the tail. */
static int32_t drop_tail(struct wick_sampler *s, int32_t n, int32_t best, double total)
{
    const wick_sampling *o = &s->options;
    if (o->typical_p < 1 || o->min_keep > 1) return n;
    double floor = o->top_k <= 0 && o->top_p < 1 ? total * (1 - o->top_p) / (n > 1 ? n - 1 : 1) : 0;
    int32_t kept = 0;
    floor = WICK_MAX(floor, (double)o->min_p); /* the best p is exp(0) = 1 */
    for (int32_t i = 0; i < n; i++)
        if (s->candidates[i].p >= floor || s->candidates[i].id == best) s->candidates[kept++] = s->candidates[i];
    return kept;
}

static int32_t cut_and_draw(struct wick_sampler *s, int32_t n, int32_t best, double total)
{
    const wick_sampling *o = &s->options;
    struct wick_candidate *c = s->candidates;
    bool has_top_k = o->top_k > 0 && o->top_k < n;
    if (!has_top_k && o->top_p >= 1 && o->min_p <= 0 && o->typical_p >= 1 && o->xtc_probability <= 0) return wick_sample_draw(s, c, n);
    n = drop_tail(s, n, best, total);
    wick_sample_sort(c, n, has_top_k ? o->top_k : n);
    if (has_top_k) {
        n = WICK_MIN(n, o->top_k);
        total = 0;
        for (int32_t i = 0; i < n; i++) total += c[i].p;
    }
    if (o->typical_p < 1) {
        n = wick_sample_typical(s, c, n);
        total = 0;
        for (int32_t i = 0; i < n; i++) total += c[i].p;
    }
    n = wick_sample_top_p(s, c, n, total);
    n = wick_sample_min_p(s, c, n);
    if (o->xtc_probability > 0) n = wick_sample_xtc(s, c, n);
    return wick_sample_draw(s, c, n);
}

wick_status wick_sampler_choose(struct wick_sampler *s, float *logits, const int64_t *history, int32_t history_count, int32_t *id, wick_error *err)
{
    const wick_sampling *o = &s->options;
    double total;
    wick_sample_bias(s, logits);
    if (o->repetition_penalty != 1 || o->presence_penalty != 0 || o->frequency_penalty != 0) wick_sample_penalize(s, logits, history, history_count);
    if (o->dry_multiplier > 0) wick_sample_dry(s, logits, history, history_count);
    WICK_TRY(find_best(logits, s->vocab_size, id, err));
    if (o->temperature <= 0 || (o->top_k == 1 && !o->mirostat) || logits[*id] == INFINITY) return WICK_OK;
    if (o->original) {
        *id = wick_sample_original(s, logits);
        return WICK_OK;
    }
    int32_t n = gather(s, logits, *id, &total);
    *id = o->mirostat ? wick_sample_mirostat(s, s->candidates, n) : cut_and_draw(s, n, *id, total);
    return WICK_OK;
}
