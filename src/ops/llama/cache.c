/* ops/llama/cache.c - llama::update_cache and update_cache_with_indices: rows of any type are copied as bytes; out is never written. */
#include "ops/llama/cache.h"

#include "ops/ops.h"

static wick_status refuse(struct wick_run *run, const char *why) { return wick_fail(run->err, WICK_INVALID_ARGUMENT, "cache: %s", why); }

wick_status wick_cache_write(const struct wick_tensor *value, const struct wick_tensor *cache, int64_t start, const struct wick_tensor *indices,
                             struct wick_run *run)
{
    const int32_t *nv = value->shape.sizes, *nc = cache->shape.sizes;
    if (value->shape.rank != 4 || cache->shape.rank != 4 || nv[0] != nc[0] || nv[2] != nc[2] || nv[3] != nc[3])
        return refuse(run, "rows of value and cache differ in size");
    if (wick_dtype_size(value->shape.dtype) != wick_dtype_size(cache->shape.dtype)) return refuse(run, "value and cache differ in type");
    if (!wick_shape_is_contiguous(&value->shape) || !wick_shape_is_contiguous(&cache->shape)) return refuse(run, "a tensor is not contiguous");
    if (!indices && (start < 0 || start >= nc[1] || nv[1] > nc[1] - start))
        return wick_fail(run->err, WICK_INVALID_ARGUMENT, "cache: %d rows from %lld do not fit %d", (int)nv[1], (long long)start, (int)nc[1]);
    if (indices &&
        (indices->shape.rank != 2 || indices->shape.dtype != WICK_DTYPE_I64 || indices->shape.sizes[0] != nv[0] || indices->shape.sizes[1] != nv[1]))
        return refuse(run, "indices are not an i64 matrix of batch x rows");
    size_t row = (size_t)nv[2] * (size_t)nv[3] * wick_dtype_size(value->shape.dtype);
    for (int32_t b = 0; b < nv[0]; b++) {
        const char *from = (const char *)value->data + (size_t)b * (size_t)nv[1] * row;
        char *to = (char *)cache->data + (size_t)b * (size_t)nc[1] * row;
        if (!indices) memcpy(to + (size_t)start * row, from, (size_t)nv[1] * row);
        for (int32_t s = 0; indices && s < nv[1]; s++) {
            int64_t at = ((const int64_t *)indices->data)[(int64_t)b * nv[1] + s];
            if (at < 0 || at >= nc[1]) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "cache: row %lld is outside %d", (long long)at, (int)nc[1]);
            memcpy(to + (size_t)at * row, from + (size_t)s * row, row);
        }
    }
    return WICK_OK;
}

static wick_status run_llama_update_cache_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    return wick_cache_write(wick_arg_tensor(args, 0), wick_arg_tensor(args, 1), wick_arg_int(args, 2), NULL, run);
}

static wick_status run_llama_update_cache_with_indices_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    return wick_cache_write(wick_arg_tensor(args, 0), wick_arg_tensor(args, 1), 0, wick_arg_tensor(args, 3), run);
}

#define OP(id) const struct wick_op wick_op_##id = {.meta = &wick_opmeta_##id, .run = run_##id}
OP(llama_update_cache_out);
OP(llama_update_cache_with_indices_out);
