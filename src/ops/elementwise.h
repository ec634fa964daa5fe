/* ops/elementwise.h - running a function of elements over broadcast, strided tensors of any type.
 *
 * An operator gives up to three vector kernels (f32, f64, i64), each over plain arrays; this engine walks the
 * tensors in out's memory order, merges dims, converts chunks between tensor type and compute type, and shares large
 * work among the pool's threads. Operands whose elements already are of the compute type and contiguous are passed
 * in place, so that f32 kernels run at full length on contiguous data. */
#ifndef WICK_OPS_ELEMENTWISE_H
#define WICK_OPS_ELEMENTWISE_H

#include "ops/element.h"
#include "ukernel/ukernels.h"

#include <math.h>
#include <stdatomic.h>

enum {
    WICK_INPUTS_MAX = 5,
    WICK_CHUNK = 256,              /* elements converted at once */
    WICK_PARALLEL_MIN = 32 * 1024, /* elements from which work is shared among threads */
};

/* What vector kernels get beside their arrays. */
struct wick_params {
    double d[3];
    int64_t i[3];
    const struct wick_ukernels *ukernels;
    atomic_bool failed; /* set by a kernel that met a value it cannot treat (division by 0) */
};

/* out[i] = f(in[0][i], in[1][i], ...), i in [0, n); arrays of the compute type. out may be one of the ins. */
typedef void wick_vector_fn(void *out, const void *const *in, size_t n, struct wick_params *params);

/* One function of elements. NULL where there is none for that compute type. */
struct wick_vectors {
    wick_vector_fn *by_compute[WICK_COMPUTE_COUNT]; /* f32, f64, i64 */
};

/* Dims of one walk over several tensors; in elements; operand 0 is out. Outermost dim first. */
struct wick_loop {
    int rank, operands;
    int64_t sizes[WICK_RANK_MAX];
    int64_t strides[WICK_INPUTS_MAX + 1][WICK_RANK_MAX];
};

/* The walk over out in its memory order; ins broadcast to it. Dims of size 1 go, dims that are one for all operands merge.
 * INVALID_ARGUMENT if an input does not broadcast to out. */
wick_status wick_loop_make(struct wick_loop *loop, const struct wick_tensor *out, const struct wick_tensor *const *ins, int count, wick_error *err);

/* Runs the kernel for `compute`. NOT_SUPPORTED if there is none, INVALID_TYPE for types without arithmetic. */
wick_status wick_elementwise(const struct wick_vectors *vectors, enum wick_compute compute, const struct wick_tensor *const *ins, int count,
                             struct wick_tensor *out, struct wick_params *params, struct wick_run *run);

/* A tensor of rank 0 over a Scalar argument's value, in storage that the caller keeps. */
struct wick_scalar_tensor {
    struct wick_tensor tensor;
    union {
        double d;
        int64_t i;
        uint8_t b;
    } value;
};
/* dtype: the type of the operation, into which an integer is wrapped. */
const struct wick_tensor *wick_scalar_as_tensor(const struct wick_value *scalar, int dtype, struct wick_scalar_tensor *storage);

/* INVALID_TYPE unless out can hold a result of type `from` (wick_dtype_can_cast). */
wick_status wick_out_check(int from, const struct wick_tensor *out, wick_error *err);

/* Calls body(user, begin, end) over [0, count), split among threads when count * cost (elements an item) is large. */
typedef void wick_range_fn(void *user, size_t begin, size_t end);
void wick_for_range(struct wick_run *run, size_t count, size_t cost, wick_range_fn *body, void *user);

/* Kernels of one and two inputs: `expr` in terms of x (and y), of type `type`. */
#define WICK_KERNEL1(name, type, expr)                                                       \
    static void name(void *out, const void *const *in, size_t n, struct wick_params *params) \
    {                                                                                        \
        type *to = out;                                                                      \
        const type *x_ = in[0];                                                              \
        (void)params;                                                                        \
        for (size_t i = 0; i < n; i++) {                                                     \
            type x = x_[i];                                                                  \
            to[i] = (type)(expr);                                                            \
        }                                                                                    \
    }
#define WICK_KERNEL2(name, type, expr)                                                       \
    static void name(void *out, const void *const *in, size_t n, struct wick_params *params) \
    {                                                                                        \
        type *to = out;                                                                      \
        const type *x_ = in[0], *y_ = in[1];                                                 \
        (void)params;                                                                        \
        for (size_t i = 0; i < n; i++) {                                                     \
            type x = x_[i], y = y_[i];                                                       \
            (void)y;                                                                         \
            to[i] = (type)(expr);                                                            \
        }                                                                                    \
    }

/* The same for f32 with a kernel of the table. */
#define WICK_UKERNEL1(name, entry) \
    static void name(void *out, const void *const *in, size_t n, struct wick_params *params) { params->ukernels->entry(n, in[0], out); }
#define WICK_UKERNEL2(name, entry) \
    static void name(void *out, const void *const *in, size_t n, struct wick_params *params) { params->ukernels->entry(n, in[0], in[1], out); }

/* Defines wick_op_<id> whose run is a call of function(args, run, extra...). */
#define WICK_OP_RUN(id, function, ...)                                                                 \
    static wick_status run_##id(const struct wick_args *args, const void *state, struct wick_run *run) \
    {                                                                                                  \
        (void)state;                                                                                   \
        return function(args, run, __VA_ARGS__);                                                       \
    }                                                                                                  \
    const struct wick_op wick_op_##id = {.meta = &wick_opmeta_##id, .run = run_##id};

#endif
