/* tools/cli/eval_score.c - see eval.h. Rows of logits (vocabulary) are scored as they come; of the reference a few are kept at a time. */
#include "eval.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_BYTES = 16 << 20, KEPT_ROWS_MAX = 256 };

struct scorer {
    const struct eval_plan *plan;
    struct eval_sums *sums;
    wick_error *err;
    size_t vocab, target; /* id index that the next row predicts */
    float *kept;          /* (rows, vocab) of the reference; NULL: no reference */
    size_t kept_rows, at; /* row of `kept` to write or compare next */
    bool broken;          /* err says why the visit stopped */
};

static wick_status fail(wick_error *err, wick_status status, const char *what, size_t number)
{
    err->status = status;
    snprintf(err->message, sizeof err->message, what, number);
    return status;
}

/* Log of the sum of exponentials, and the most likely id (the lowest wins a tie). */
static double log_sum(const float *row, size_t count, size_t *best)
{
    double sum = 0;
    *best = 0;
    for (size_t i = 1; i < count; i++)
        if (row[i] > row[*best]) *best = i;
    for (size_t i = 0; i < count; i++) sum += exp((double)row[i] - (double)row[*best]);
    return (double)row[*best] + log(sum);
}

static bool keep_row(void *user, const float *logits, size_t count)
{
    struct scorer *s = user;
    memcpy(s->kept + s->at++ * s->vocab, logits, count * sizeof *logits);
    return true;
}

static void compare(struct scorer *s, const float *row, double row_sum, size_t row_best, size_t id)
{
    const float *reference = s->kept + s->at++ * s->vocab;
    size_t best;
    double sum = log_sum(reference, s->vocab, &best), kl = 0;
    for (size_t i = 0; i < s->vocab; i++) {
        double p = (double)reference[i] - sum, difference = fabs((double)reference[i] - (double)row[i]);
        kl += exp(p) * (p - ((double)row[i] - row_sum));
        if (difference > s->sums->difference_most) s->sums->difference_most = difference;
        s->sums->difference_squares += difference * difference;
    }
    if (kl < 0) kl = 0; /* of rounding */
    s->sums->kl += kl;
    if (kl > s->sums->kl_most) s->sums->kl_most = kl;
    s->sums->reference_nll += sum - (double)reference[id];
    s->sums->agreements += best == row_best;
    s->sums->rows_values += (double)s->vocab;
}

static bool score_row(void *user, const float *logits, size_t count)
{
    struct scorer *s = user;
    size_t id = (size_t)s->plan->ids[s->target], best;
    double sum = log_sum(logits, count, &best);
    if (!isfinite(sum)) {
        (void)fail(s->err, WICK_INVALID_PROGRAM, "the logits for token %zu are no finite numbers", s->target);
        s->broken = true;
        return false;
    }
    if (s->kept) compare(s, logits, sum, best, id);
    s->sums->nll += sum - (double)logits[id];
    s->sums->hits += best == id;
    s->sums->scored++;
    s->target++;
    return true;
}

static wick_status feed_each(struct scorer *s, wick_session *session, const int64_t *ids, size_t count, bool (*visit)(void *, const float *, size_t))
{
    wick_error here = {WICK_OK, ""};
    s->at = 0;
    wick_status status = wick_session_feed_each(session, ids, count, visit, s, &here);
    if (status != WICK_OK && !s->broken) *s->err = here;
    return s->broken ? s->err->status : status;
}

/* Context without a score: the begin-of-sequence token, and tokens that an earlier window scored. */
static wick_status feed_both(struct scorer *s, wick_session *session, wick_session *reference, const int64_t *ids, size_t count)
{
    wick_status status = count ? wick_session_feed(session, ids, count, s->err) : WICK_OK;
    if (status == WICK_OK && count && reference) status = wick_session_feed(reference, ids, count, s->err);
    return status;
}

/* Scores ids [first, end) of a window that begins at `begin`. */
static wick_status run_window(struct scorer *s, wick_session *session, wick_session *reference, size_t begin, size_t first, size_t end,
                              bool (*on_progress)(size_t, size_t))
{
    const int64_t *ids = s->plan->ids, *from = ids + first - 1;
    wick_status status = WICK_OK;
    wick_session_reset(session);
    if (reference) wick_session_reset(reference);
    if (first == begin) from = &s->plan->bos; /* that predicts the first one */
    else {
        if (s->plan->bos >= 0) status = feed_both(s, session, reference, &s->plan->bos, 1);
        if (status == WICK_OK) status = feed_both(s, session, reference, ids + begin, first - 1 - begin);
    }
    s->target = first;
    while (status == WICK_OK && s->target < end) {
        size_t rows = from == &s->plan->bos ? 1 : end - s->target;
        if (rows > s->kept_rows) rows = s->kept_rows;
        if (reference) status = feed_each(s, reference, from, rows, keep_row);
        if (status == WICK_OK) status = feed_each(s, session, from, rows, score_row);
        from = ids + s->target - 1;
        if (status == WICK_OK && !on_progress(s->target, s->plan->count)) status = fail(s->err, WICK_CANCELLED, "stopped at token %zu", s->target);
    }
    return status;
}

wick_status eval_run(const struct eval_plan *plan, wick_session *session, wick_session *reference, bool (*on_progress)(size_t done, size_t total), struct eval_sums *sums,
                     wick_error *err)
{
    wick_session_info info;
    wick_session_describe(session, &info);
    struct scorer s = {.plan = plan, .sums = sums, .err = err, .vocab = (size_t)info.vocab_size};
    size_t rows = KEPT_BYTES / (s.vocab * sizeof(float));
    s.kept_rows = rows < 1 ? 1 : rows > KEPT_ROWS_MAX ? KEPT_ROWS_MAX : rows;
    if (reference && !(s.kept = malloc(s.kept_rows * s.vocab * sizeof(float)))) return fail(err, WICK_OUT_OF_MEMORY, "no memory for %zu rows of logits", s.kept_rows);
    wick_status status = WICK_OK;
    for (size_t begin = 0, next = 0; status == WICK_OK && begin < plan->count; begin += plan->stride) {
        size_t end = plan->count - begin > plan->context ? begin + plan->context : plan->count;
        size_t first = plan->bos >= 0 ? begin : begin + 1; /* nothing predicts the first token of a window without one before it */
        if (first < next) first = next;
        if (first < end) status = run_window(&s, session, reference, begin, first, end, on_progress);
        sums->windows += first < end;
        next = end;
        if (end == plan->count) break;
    }
    free(s.kept);
    return status;
}
