/* tools/cli/eval.h - how well a program predicts a text, and how near it is to another one. */
#ifndef WICK_EVAL_H
#define WICK_EVAL_H

#include "cli.h"

#include "wick/llm.h"

/* Tokens are taken in windows: each begins `stride` after the one before, with a fresh sequence, and scores the tokens that none before it scored. */
struct eval_plan {
    const int64_t *ids;
    size_t count, context, stride;
    int64_t bos; /* before every window; -1: none */
};

/* Sums over the tokens scored. */
struct eval_sums {
    size_t scored, windows, hits;   /* hits: the most likely token is the one that comes */
    double nll;                     /* natural logarithms */
    /* Against a reference, if there is one: */
    double reference_nll, kl, kl_most, difference_most, difference_squares; /* kl: of the reference's distribution from this one's */
    size_t agreements;              /* the same most likely token */
    double rows_values;             /* logits compared, for the mean of squares */
};

/* reference NULL: none. on_progress: tokens done; false stops (CANCELLED). */
wick_status eval_run(const struct eval_plan *plan, wick_session *session, wick_session *reference, bool (*on_progress)(size_t done, size_t total),
                     struct eval_sums *sums, wick_error *err);

#endif
