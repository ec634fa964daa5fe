/* llm/sample_cut.c - which candidates stay: top-n-sigma, typical, top-p, min-p, XTC. */
#include "llm/sample.h"

#include <math.h>
#include <string.h>

static int32_t at_least(const struct wick_sampler *s, int32_t kept, int32_t n) { return WICK_MIN(WICK_MAX(kept, WICK_MAX(s->options.min_keep, 1)), n); }

/* Tang et al., "Top-n-sigma: not all logits are you need", 2024: logits below the best less n standard deviations are noise. */
float wick_sample_sigma_floor(const float *logits, int32_t n, float best, float sigmas)
{
    double sum = 0, squares = 0;
    int32_t count = 0;
    for (int32_t i = 0; i < n; i++) {
        if (logits[i] == -INFINITY) continue;
        sum += logits[i];
        count++;
    }
    double mean = sum / count;
    for (int32_t i = 0; i < n; i++)
        if (logits[i] != -INFINITY) squares += ((double)logits[i] - mean) * ((double)logits[i] - mean);
    return best - sigmas * (float)sqrt(squares / count);
}

/* How far a candidate's surprise is from the expected one. */
static double strangeness(struct wick_candidate c, double mass, double entropy) { return c.p > 0 ? fabs(-log(c.p / mass) - entropy) : INFINITY; }

/* Meister et al., "Locally typical sampling", 2022: those whose surprise is nearest to the expected one, until they hold typical_p of the mass.
 * Surprise grows along the sorted candidates, so they are neighbours: [low, high) grows on the nearer side. */
int32_t wick_sample_typical(const struct wick_sampler *s, struct wick_candidate *c, int32_t n)
{
    double mass = 0, entropy = 0, sum = 0;
    int32_t low = 0, high;
    for (int32_t i = 0; i < n; i++) mass += c[i].p;
    for (int32_t i = 0; i < n; i++)
        if (c[i].p > 0) entropy -= c[i].p / mass * log(c[i].p / mass);
    while (low < n && c[low].p > 0 && -log(c[low].p / mass) < entropy) low++;
    for (high = low; high - low < n && (sum < s->options.typical_p * mass || high - low < s->options.min_keep || high == low);) {
        bool down = low > 0 && (high >= n || strangeness(c[low - 1], mass, entropy) <= strangeness(c[high], mass, entropy));
        sum += down ? c[--low].p : c[high++].p;
    }
    memmove(c, c + low, (size_t)(high - low) * sizeof *c);
    return high - low;
}

int32_t wick_sample_top_p(const struct wick_sampler *s, const struct wick_candidate *c, int32_t n, double mass)
{
    int32_t kept = 0;
    double sum = 0;
    if (s->options.top_p >= 1) return n;
    while (kept < n && (kept == 0 || sum < s->options.top_p * mass)) sum += c[kept++].p;
    return at_least(s, kept, n);
}

int32_t wick_sample_min_p(const struct wick_sampler *s, const struct wick_candidate *c, int32_t n)
{
    int32_t kept = 1;
    if (s->options.min_p <= 0) return n;
    while (kept < n && c[kept].p >= s->options.min_p * c[0].p) kept++;
    return at_least(s, kept, n);
}

/* p-e-w, "Exclude top choices", 2024: with some probability all but the least likely of the likely ones go. */
int32_t wick_sample_xtc(struct wick_sampler *s, struct wick_candidate *c, int32_t n)
{
    double mass = 0;
    int32_t likely = 0;
    if (wick_sample_random(&s->random) >= s->options.xtc_probability) return n;
    for (int32_t i = 0; i < n; i++) mass += c[i].p;
    while (likely < n && c[likely].p >= s->options.xtc_threshold * mass) likely++;
    int32_t gone = likely - 1;
    if (gone < 1 || n - gone < WICK_MAX(s->options.min_keep, 1)) return n;
    memmove(c, c + gone, (size_t)(n - gone) * sizeof *c);
    return n - gone;
}
