/* llm/sample.h - choosing the next token.
 *
 * One chain, in this order; a stage whose parameter is off does nothing:
 *   on the logits     bias, penalties (repetition, presence, frequency), DRY              sample_penalty.c
 *   greedy            temperature 0: the highest logit, the lowest id of equal ones
 *   cuts              top-n-sigma, temperature, top-k, typical, top-p, min-p, XTC         sample_cut.c
 *     or mirostat     temperature, then a cut that steers the surprise                    sample_mirostat.c
 *   draw              xorshift64*, one number a token, the state goes on from token to token
 * With `original` set, ExecuTorch's own sampler instead of all that (sample_original.c). */
#ifndef WICK_LLM_SAMPLE_H
#define WICK_LLM_SAMPLE_H

#include "base/arena.h"
#include "base/error.h"
#include "wick/llm.h"

struct wick_candidate {
    float p; /* not normalized: exp of the scaled logit less the best */
    int32_t id;
};

struct wick_sampler {
    wick_sampling options; /* pointers in it are borrowed */
    uint64_t random;       /* never 0 */
    float surprise;        /* mirostat's mu, in bits */
    int32_t vocab_size;
    struct wick_candidate *candidates; /* (vocab_size) scratch */
    int32_t *counts;                   /* (vocab_size) scratch: how often a token stands in the window; NULL until a penalty needs it */
    int32_t *matches;                  /* (history) scratch of DRY */
    int32_t match_capacity;
    bool *breakers;                    /* (vocab_size) tokens that end a repetition for DRY, or NULL */
};

/* Scratch from the arena: vocab_size candidates, and room for DRY over `context` tokens if it is on. INVALID_ARGUMENT names the parameter that is
 * out of its range. */
wick_status wick_sampler_init(struct wick_sampler *s, const wick_sampling *options, int32_t vocab_size, int32_t context, struct wick_arena *arena, wick_error *err);
/* Chooses from a row of logits, which the first stages overwrite. history: the sequence so far. INVALID_ARGUMENT if a logit is NaN or all are -inf;
 * +inf wins at once. */
wick_status wick_sampler_choose(struct wick_sampler *s, float *logits, const int64_t *history, int32_t history_count, int32_t *id, wick_error *err);

/* ---- stages; candidates are sorted, best first ---- */

/* In [0, 1). */
double wick_sample_random(uint64_t *state);
/* One candidate by its share of the mass; the last possible one if rounding leaves nothing. */
int32_t wick_sample_draw(struct wick_sampler *s, const struct wick_candidate *c, int32_t n);
/* Puts the `limit` best of n candidates in front, best first (of equal p the lower id). */
void wick_sample_sort(struct wick_candidate *c, int32_t n, int32_t limit);

void wick_sample_bias(const struct wick_sampler *s, float *logits);
void wick_sample_penalize(const struct wick_sampler *s, float *logits, const int64_t *history, int32_t count);
/* "Don't repeat yourself": a token that would lengthen a repetition of n tokens loses multiplier * base^(n - allowed_length). */
void wick_sample_dry(const struct wick_sampler *s, float *logits, const int64_t *history, int32_t count);

/* Each returns how many of the n candidates stay; mass: the sum that their shares refer to. */
int32_t wick_sample_typical(const struct wick_sampler *s, struct wick_candidate *c, int32_t n);
int32_t wick_sample_top_p(const struct wick_sampler *s, const struct wick_candidate *c, int32_t n, double mass);
int32_t wick_sample_min_p(const struct wick_sampler *s, const struct wick_candidate *c, int32_t n);
int32_t wick_sample_xtc(struct wick_sampler *s, struct wick_candidate *c, int32_t n);
/* The logit below which top-n-sigma cuts. */
float wick_sample_sigma_floor(const float *logits, int32_t n, float best, float sigmas);

int32_t wick_sample_mirostat(struct wick_sampler *s, struct wick_candidate *c, int32_t n);
int32_t wick_sample_original(struct wick_sampler *s, float *logits);

#endif
