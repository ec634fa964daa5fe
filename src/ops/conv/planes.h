/* ops/conv/planes.h - the planes of a tensor, one by one, as double: for operators that work on each alone. */
#ifndef WICK_OPS_CONV_PLANES_H
#define WICK_OPS_CONV_PLANES_H

#include "runtime/op.h"

/* Runs of the last `spatial` dims, one at a time, whatever the tensors' types and dim orders: in and outs share the dims
 * before those. `in` is gathered as double (integers above 2^53 are rounded), outs are converted back to their types. */
struct wick_planes {
    const struct wick_tensor *in;
    struct wick_tensor *outs[2]; /* the second may be NULL */
    int spatial;
    /* plane counts the leading dims in row-major order; outs[1] is NULL if there is none. */
    void (*compute)(const void *user, size_t plane, const double *in, double *const *outs);
    const void *user;
};
wick_status wick_planes_run(const struct wick_planes *planes, struct wick_run *run);

#endif
