/* xnnpack/rt/sizes.h - sizes as XNNPACK sees them, and splitting work over threads.
 *
 * A payload knows nothing of dim orders: it is handed external tensors with their sizes in memory order, outermost
 * first. A tensor whose dim order is NHWC therefore shows up as [N, H, W, C]. Every node of this folder computes with
 * such sizes; values inside a payload are always row-major. */
#ifndef WICK_XNNPACK_RT_SIZES_H
#define WICK_XNNPACK_RT_SIZES_H

#include "base/os.h"
#include "tensor/value.h"

struct wick_xnn_sizes {
    int rank;
    int64_t size[WICK_RANK_MAX];
};

struct wick_xnn_sizes wick_xnn_sizes_of(const struct wick_tensor *t);
/* Product of sizes [from, to); the tensor's shape was verified, so that it does not overflow. */
size_t wick_xnn_sizes_product(const struct wick_xnn_sizes *d, int from, int to);
static inline size_t wick_xnn_sizes_numel(const struct wick_xnn_sizes *d) { return wick_xnn_sizes_product(d, 0, d->rank); }

/* For a shape rule: the shape of out argument `k` when its memory has sizes d. Keeps the out's own type and dim order.
 * INVALID_PROGRAM when a size does not fit int32, naming `node`. */
wick_status wick_xnn_sizes_out(const struct wick_args *args, uint32_t k, const struct wick_xnn_sizes *d, struct wick_shape *out, const char *node,
                               wick_error *err) WICK_MUST_CHECK;
/* "[1, 2, 3]" into text. */
void wick_xnn_sizes_text(const struct wick_xnn_sizes *d, char text[128]);

/* Work on items [begin, end) by thread `thread`. */
typedef void (*wick_xnn_range_fn)(void *user, size_t begin, size_t end, unsigned thread);
/* Splits [0, count) into contiguous ranges of at least `grain` items, a few a thread so that a slow one is evened out;
 * runs in the caller when there is too little to split. */
void wick_xnn_ranges(struct wick_pool *pool, size_t count, size_t grain, wick_xnn_range_fn task, void *user);

#endif
