/* xnnpack/rt/sizes.c - memory-order sizes and ranges of work; see sizes.h. */
#include "backends/xnnpack/rt/sizes.h"

#include <stdio.h>

struct wick_xnn_sizes wick_xnn_sizes_of(const struct wick_tensor *t)
{
    struct wick_xnn_sizes d = {.rank = t->shape.rank};
    for (int i = 0; i < d.rank; i++) d.size[i] = t->shape.sizes[t->shape.dim_order[i]];
    return d;
}

size_t wick_xnn_sizes_product(const struct wick_xnn_sizes *d, int from, int to)
{
    size_t product = 1;
    for (int i = from; i < to; i++) product *= (size_t)d->size[i];
    return product;
}

wick_status wick_xnn_sizes_out(const struct wick_args *args, uint32_t k, const struct wick_xnn_sizes *d, struct wick_shape *out, const char *node,
                               wick_error *err)
{
    const struct wick_tensor *t = wick_arg_tensor(args, k);
    out->dtype = t->shape.dtype;
    out->rank = (uint8_t)d->rank;
    if (t->shape.rank == d->rank) memcpy(out->dim_order, t->shape.dim_order, sizeof out->dim_order);
    else wick_shape_set_contiguous(out);
    for (int i = 0; i < d->rank; i++) {
        if (d->size[i] < 0 || d->size[i] > INT32_MAX)
            return wick_fail(err, WICK_INVALID_PROGRAM, "%s: dim %d of the result would be %lld", node, i, (long long)d->size[i]);
        out->sizes[out->dim_order[i]] = (int32_t)d->size[i];
    }
    return WICK_OK;
}

void wick_xnn_sizes_text(const struct wick_xnn_sizes *d, char text[128])
{
    int used = snprintf(text, 128, "[");
    for (int i = 0; i < d->rank && used < 100; i++) used += snprintf(text + used, 128 - (size_t)used, i ? ", %lld" : "%lld", (long long)d->size[i]);
    snprintf(text + used, 128 - (size_t)used, "]");
}

enum { RANGES_PER_THREAD = 4 };

struct ranges {
    wick_xnn_range_fn task;
    void *user;
    size_t count, ranges;
};

static void run_range(void *user, size_t index, unsigned thread)
{
    const struct ranges *r = user;
    /* Even ranges without a product of two large numbers: the first `rest` ranges are one longer. */
    size_t base = r->count / r->ranges, rest = r->count % r->ranges;
    size_t begin = index * base + WICK_MIN(index, rest), end = begin + base + (index < rest);
    r->task(r->user, begin, end, thread);
}

void wick_xnn_ranges(struct wick_pool *pool, size_t count, size_t grain, wick_xnn_range_fn task, void *user)
{
    if (count == 0) return;
    size_t threads = wick_pool_threads(pool);
    size_t ranges = threads == 1 ? 1 : WICK_MIN(threads * RANGES_PER_THREAD, count / WICK_MAX(grain, (size_t)1));
    if (ranges <= 1) {
        task(user, 0, count, 0);
        return;
    }
    struct ranges work = {task, user, count, ranges};
    wick_pool_run(pool, ranges, run_range, &work);
}
