/* graph/rotated.h - weights turned by orthogonal matrices, so that no column of what they multiply stands out.
 *
 * A rotator R is n x n, orthogonal. Right: each row of a weight, in blocks of n columns, times R. Left: R^T times each block of n rows. */
#ifndef WICK_GRAPH_ROTATED_H
#define WICK_GRAPH_ROTATED_H

#include "graph/source.h"

struct wick_rotator;

/* Hadamard of 2^k over the powers of two in n, and a fixed orthogonal matrix over what is left (n = odd * 2^k, odd at most 1024); seed != 0: rows are first
 * given random signs. NOT_SUPPORTED for other n. */
wick_status wick_rotator_hadamard(const struct wick_rotator **r, struct wick_arena *arena, size_t n, uint64_t seed, wick_error *err);
/* A given matrix (n, n), row-major, kept by pointer. INVALID_CHECKPOINT if it is not orthogonal to 1e-3; name: for messages. */
wick_status wick_rotator_given(const struct wick_rotator **r, struct wick_arena *arena, size_t n, const float *matrix, const char *name, wick_error *err);
/* x (n) becomes x R; scratch: n floats. */
void wick_rotator_apply(const struct wick_rotator *r, float *x, float *scratch);

/* Matrices that were turned whole, of which the last is kept. One for all sources of an export; zero-initialise. */
struct wick_rotated_cache {
    const struct wick_source *owner;
    float *values;
    size_t count;
};
void wick_rotated_cache_release(struct wick_rotated_cache *cache);

/* W becomes L^T (W * scale) R, each of them NULL for nothing. scale: a vector (columns), W's columns are multiplied by it, or by 1 + it. */
struct wick_rotation {
    struct wick_source *scale;
    bool one_more;
    const struct wick_rotator *right, *left;
    struct wick_rotated_cache *cache;
};
/* inner: (rows, columns), or a vector (rows), which only `left` turns. NULL: no memory, or blocks that do not divide it. */
struct wick_source *wick_source_rotated(struct wick_arena *arena, struct wick_source *inner, const struct wick_rotation *how);

#endif
