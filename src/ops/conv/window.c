/* ops/conv/window.c - the arithmetic of windows; shared with the rules. */
#include "ops/conv/window.h"

wick_status wick_window_pool(struct wick_window *w, int64_t in, int64_t kernel, int64_t stride, int64_t pad, int64_t dilation, bool ceil_mode,
                             int axis, wick_error *err)
{
    const int64_t limit = INT32_MAX;
    if (kernel < 1 || kernel > limit || stride < 1 || stride > limit || dilation < 1 || dilation > limit || pad < 0 || pad > limit)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "dim %d: kernel %lld, stride %lld, padding %lld, dilation %lld", axis, (long long)kernel,
                         (long long)stride, (long long)pad, (long long)dilation);
    int64_t reach = dilation * (kernel - 1) + 1, span = in + 2 * pad - reach;
    if (span < 0)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "dim %d: a window of %lld does not fit %lld elements padded by %lld", axis, (long long)reach,
                         (long long)in, (long long)pad);
    int64_t out = (span + (ceil_mode ? stride - 1 : 0)) / stride + 1;
    if (ceil_mode && (out - 1) * stride >= in + pad) out--;
    if (out > limit) return wick_fail(err, WICK_INVALID_ARGUMENT, "dim %d: the result has %lld elements", axis, (long long)out);
    *w = (struct wick_window){in, out, kernel, stride, pad, dilation};
    return WICK_OK;
}

int64_t wick_window_item(const struct wick_args *args, uint32_t k, int dim, int64_t absent)
{
    uint32_t count = wick_arg_count(args, k);
    return count == 0 ? absent : wick_arg_int_at(args, k, count == 1 ? 0 : (uint32_t)dim);
}

wick_status wick_window_list(const struct wick_args *args, uint32_t k, int dims, bool may_be_empty, const char *name, wick_error *err)
{
    uint32_t count = wick_arg_count(args, k);
    if (count == 1 || count == (uint32_t)dims || (count == 0 && may_be_empty)) return WICK_OK;
    return wick_fail(err, WICK_INVALID_ARGUMENT, "%s has %u entries for %d dims", name, count, dims);
}
