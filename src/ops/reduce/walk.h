/* ops/reduce/walk.h - an input seen as positions (kept dims) times elements (reduced dims).
 *
 * Reductions, scans along a dim and softmax all go this way. Positions and elements are in row-major order of the
 * dims, whatever the layout. */
#ifndef WICK_OPS_REDUCE_WALK_H
#define WICK_OPS_REDUCE_WALK_H

#include "ops/elementwise.h"

struct wick_walk {
    const struct wick_tensor *in;
    uint32_t mask;              /* reduced dims */
    size_t positions, elements; /* of kept dims; a position */
    int rank;                   /* of the reduced dims, merged where they are one run; at least 1 */
    int64_t sizes[WICK_RANK_MAX], strides[WICK_RANK_MAX];
};

void wick_walk_make(struct wick_walk *walk, const struct wick_tensor *in, uint32_t mask);
/* The walk along one dim (rank 0 counts as one element). */
wick_status wick_walk_along(struct wick_walk *walk, const struct wick_tensor *in, int64_t dim, wick_error *err);

/* Elements from t's first one to where `position` is; t has the walk's kept dims, or all dims of its input (the reduced
 * ones then count as 0). */
int64_t wick_walk_offset(const struct wick_walk *walk, const struct wick_tensor *t, size_t position);
static inline const char *wick_walk_at(const struct wick_walk *walk, size_t position)
{
    return (const char *)walk->in->data + wick_walk_offset(walk, walk->in, position) * (int64_t)wick_dtype_size(walk->in->shape.dtype);
}
/* Stride of the reduced dim in t, for a walk along one dim. */
int64_t wick_walk_stride(const struct wick_walk *walk, const struct wick_tensor *t);

/* Feeds the elements of a position to step, in order, in runs of the compute type. */
typedef void wick_step_fn(void *state, const void *x, size_t n);
void wick_walk_visit(const struct wick_walk *walk, size_t position, enum wick_compute compute, wick_step_fn *step, void *state);

/* Stores one value of the compute type where `position` is in out. */
void wick_walk_store(const struct wick_walk *walk, struct wick_tensor *out, size_t position, enum wick_compute compute, const void *value);
/* INTERNAL unless out has the walk's positions (times elements when `full`): its rule was not applied. */
wick_status wick_walk_check_out(const struct wick_walk *walk, const struct wick_tensor *out, bool full, wick_error *err);

#endif
