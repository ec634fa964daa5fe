/* llm/sample_mirostat.c - Basu et al., "Mirostat: a neural text decoding algorithm that directly controls perplexity", ICLR 2021: the surprise of
 * what is drawn, in bits, is steered towards tau. Version 1 cuts at a rank that a fitted Zipf law gives, version 2 at a surprise. */
#include "llm/sample.h"

#include <math.h>

enum { FITTED = 100 }; /* best candidates that the exponent is estimated from, as in the paper */

/* Zipf's exponent: least squares of log(p[i] / p[i+1]) over log((i + 2) / (i + 1)). */
static double zipf_exponent(const struct wick_candidate *c, int32_t n)
{
    double products = 0, squares = 0;
    for (int32_t i = 0; i + 1 < n && i < FITTED - 1 && c[i + 1].p > 0; i++) {
        double t = log((i + 2.0) / (i + 1.0));
        products += t * log((double)c[i].p / c[i + 1].p);
        squares += t * t;
    }
    return squares > 0 ? products / squares : 1;
}

static int32_t rank_cut(const struct wick_sampler *s, const struct wick_candidate *c, int32_t n)
{
    double exponent = zipf_exponent(c, n), epsilon = exponent - 1;
    if (!(exponent > 0) || fabs(epsilon) < 1e-9) return n;
    double k = pow(epsilon * pow(2, s->surprise) / (1 - pow((double)s->vocab_size, -epsilon)), 1 / exponent);
    return k >= 1 && k < n ? (int32_t)k : k >= n ? n : 1;
}

static int32_t surprise_cut(const struct wick_sampler *s, const struct wick_candidate *c, int32_t n, double mass)
{
    int32_t kept = 1;
    while (kept < n && c[kept].p > 0 && -log2(c[kept].p / mass) <= s->surprise) kept++;
    return kept;
}

int32_t wick_sample_mirostat(struct wick_sampler *s, struct wick_candidate *c, int32_t n)
{
    double mass = 0, p = 0;
    wick_sample_sort(c, n, n);
    for (int32_t i = 0; i < n; i++) mass += c[i].p;
    n = s->options.mirostat == 1 ? rank_cut(s, c, n) : surprise_cut(s, c, n, mass);
    int32_t id = wick_sample_draw(s, c, n);
    double kept = 0;
    for (int32_t i = 0; i < n; i++) {
        kept += c[i].p;
        if (c[i].id == id) p = c[i].p;
    }
    if (p > 0) s->surprise -= s->options.mirostat_eta * (float)(-log2(p / kept) - s->options.mirostat_tau);
    return id;
}
