/* devtools/machine.c - upper bounds, measured: each thread reads, or multiplies, for itself. */
#include "devtools/machine.h"

#include "base/arena.h"
#include "ukernel/ukernels.h"

#include <stdlib.h>
#include <string.h>

/* 256 MiB: the largest last-level caches of small machines are a fifth of it. */
enum { READ_BYTES = 256 << 20, PIECE = 1 << 20, PASSES = 4, PEAK_ROUNDS = 400000 };

struct reading {
    const uint64_t *words;
    _Atomic uint64_t sum; /* so that nothing is left out */
};

static void read_piece(void *user, size_t item, unsigned thread)
{
    struct reading *r = user;
    const uint64_t *words = r->words + item * (PIECE / sizeof *words);
    uint64_t sums[8] = {0};
    (void)thread;
    for (size_t i = 0; i < PIECE / sizeof *words; i += 8)
        for (size_t k = 0; k < 8; k++) sums[k] += words[i + k];
    for (size_t k = 1; k < 8; k++) sums[0] += sums[k];
    r->sum += sums[0];
}

wick_status wick_machine_read(struct wick_pool *pool, double *bytes_per_second, wick_error *err)
{
    struct reading r = {.words = malloc(READ_BYTES)};
    *bytes_per_second = 0;
    if (!r.words) return wick_fail_oom(err, READ_BYTES, "block to read");
    memset((void *)(uintptr_t)r.words, 1, READ_BYTES); /* pages that nobody wrote are all the same zero page */
    for (int pass = 0; pass < PASSES; pass++) {
        uint64_t begin = wick_now_ns();
        wick_pool_run(pool, READ_BYTES / PIECE, read_piece, &r);
        double rate = READ_BYTES / ((double)(wick_now_ns() - begin) * 1e-9);
        *bytes_per_second = WICK_MAX(*bytes_per_second, rate);
    }
    free((void *)(uintptr_t)r.words);
    return WICK_OK;
}

struct multiplying {
    const struct wick_ukernels *ukernels;
    _Atomic uint64_t done;
};

static void multiply(void *user, size_t item, unsigned thread)
{
    struct multiplying *m = user;
    (void)item, (void)thread;
    m->done += m->ukernels->int8_peak(PEAK_ROUNDS / 8);
}

double wick_machine_int8(struct wick_pool *pool, const struct wick_ukernels *ukernels)
{
    double best = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        struct multiplying m = {.ukernels = ukernels};
        uint64_t begin = wick_now_ns();
        wick_pool_run(pool, 8u * wick_pool_threads(pool), multiply, &m);
        double rate = (double)m.done / ((double)(wick_now_ns() - begin) * 1e-9);
        best = WICK_MAX(best, rate);
    }
    return best;
}
