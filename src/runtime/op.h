/* runtime/op.h - the contract of an operator that runs. Operators of a program and nodes that a backend expands its
 * payload into are the same thing to the scheduler. */
#ifndef WICK_RUNTIME_OP_H
#define WICK_RUNTIME_OP_H

#include "base/arena.h"
#include "base/log.h"
#include "base/os.h"
#include "tensor/value.h"

struct wick_ukernels; /* ukernel/ukernels.h */

/* fast: kernels may choose the order of float additions by shape. reproducible: one order, whatever the number of
 * threads, the chunking of a prompt, or the processor. */
enum wick_numerics_mode { WICK_MODE_FAST, WICK_MODE_REPRODUCIBLE };

/* What a bound call may use while it is prepared. Everything in it outlives the bound method, except pool and err. */
struct wick_bind {
    const struct wick_ukernels *ukernels;
    struct wick_arena *arena; /* lives as long as the bound method: states, packed weights */
    struct wick_pool *pool;   /* NULL: the calling thread only */
    enum wick_numerics_mode numerics;
    const struct wick_log *log;
    wick_error *err;
    /* Says that constant bytes have been copied into a packed form: pages of a mapped program may go. NULL allowed. */
    void (*copied)(void *user, const void *data, size_t size);
    void *user;
};

static inline void wick_bind_copied(const struct wick_bind *bind, const void *data, size_t size)
{
    if (bind && bind->copied) bind->copied(bind->user, data, size);
}

/* What a call may use while it runs. */
struct wick_run {
    const struct wick_ukernels *ukernels;
    struct wick_arena *temp; /* emptied after every call */
    struct wick_pool *pool;
    enum wick_numerics_mode numerics;
    wick_error *err;
};

/* What a call had to do, for reports: multiply-adds, and the bytes of weights or cache it had to read at least once. */
struct wick_work {
    uint64_t multiply_adds, bytes;
};

struct wick_op {
    const struct wick_opmeta *meta;
    /* At bind, once: tensors have their upper-bound shapes; only constant tensors have data. May judge what cannot
     * be supported and make an immutable state, shared by all sessions, from bind->arena. NULL: nothing to prepare. */
    wick_status (*prepare)(const struct wick_args *args, struct wick_bind *bind, void **state);
    /* Outs are already resized to what meta->infer said (when there is a rule). Never trusts values that change at run
     * time (indices, start positions): checks and fails. Elementwise operators tolerate out == arg 0. */
    wick_status (*run)(const struct wick_args *args, const void *state, struct wick_run *run);
    /* Counts the work of the call that has just run. NULL: next to none (no product). */
    void (*work)(const struct wick_args *args, const void *state, struct wick_work *work);
};

/* A set of operators, by name. Built from ops.def by whoever links (src/api); sorted is not required. */
struct wick_op_table {
    const struct wick_op *const *ops;
    size_t count;
};

#endif
