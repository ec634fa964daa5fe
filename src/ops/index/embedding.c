/* ops/index/embedding.c - rows by number: embedding and index_select. */
#include "ops/copy/cast.h"
#include "ops/copy/strided.h"
#include "ops/index/layout.h"
#include "ops/ops.h"

#define OP(id) const struct wick_op wick_op_##id = {.meta = &wick_opmeta_##id, .run = run_##id}

static wick_status check_index_type(const struct wick_tensor *index, wick_error *err)
{
    int dtype = index->shape.dtype;
    if (dtype == WICK_DTYPE_I64 || dtype == WICK_DTYPE_I32) return WICK_OK;
    return wick_fail(err, WICK_INVALID_TYPE, "indices are %s, not LONG or INT", wick_dtype_name(dtype));
}

/* weight [V, D], indices any shape: out [indices..., D]. */
static wick_status run_aten_embedding_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *weight = wick_arg_tensor(args, 0), *indices = wick_arg_tensor(args, 1);
    struct wick_tensor *out = wick_arg_tensor(args, 5);
    WICK_TRY(check_index_type(indices, run->err));
    if (weight->shape.dtype != out->shape.dtype)
        return wick_fail(run->err, WICK_INVALID_TYPE, "out is %s, weight %s", wick_dtype_name(out->shape.dtype),
                         wick_dtype_name(weight->shape.dtype));
    if (!wick_shape_is_contiguous(&weight->shape) || !wick_shape_is_contiguous(&indices->shape) || !wick_shape_is_contiguous(&out->shape))
        return wick_fail(run->err, WICK_NOT_SUPPORTED, "tensors are not in contiguous dim order");
    size_t count = wick_tensor_numel(indices), row = (size_t)weight->shape.sizes[1] * wick_dtype_size(weight->shape.dtype);
    int64_t rows = weight->shape.sizes[0];
    if (wick_tensor_nbytes(out) != count * row) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "out has other sizes");
    for (size_t i = 0; i < count; i++) {
        int64_t index = wick_element_int(indices->data, indices->shape.dtype, i);
        if (index < 0 || index >= rows)
            return wick_fail(run->err, WICK_INVALID_ARGUMENT, "index %lld is outside a table of %lld rows", (long long)index, (long long)rows);
        if (row > 0) memcpy((char *)out->data + i * row, (const char *)weight->data + (size_t)index * row, row);
    }
    return WICK_OK;
}

static wick_status run_aten_index_select_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *self = wick_arg_tensor(args, 0), *index = wick_arg_tensor(args, 2);
    struct wick_tensor *out = wick_arg_tensor(args, 3);
    WICK_TRY(check_index_type(index, run->err));
    if (self->shape.dtype != out->shape.dtype || self->shape.rank != out->shape.rank)
        return wick_fail(run->err, WICK_INVALID_TYPE, "out differs from the input in type or rank");
    int dim = wick_dim_wrap(wick_arg_int(args, 1), self->shape.rank);
    size_t count = wick_tensor_numel(index), element = wick_dtype_size(self->shape.dtype);
    struct wick_view part;
    int64_t to[WICK_RANK_MAX] = {0};
    wick_view_of(self, &part);
    wick_strides_of(out, to);
    int64_t size = self->shape.rank ? self->shape.sizes[dim] : 1, step = self->shape.rank ? part.strides[dim] : 0;
    if (self->shape.rank == 0 && count != 1) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "%zu indices for a tensor of rank 0", count);
    if (self->shape.rank > 0) {
        if (count != (size_t)out->shape.sizes[dim]) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "out has other sizes");
        part.sizes[dim] = 1;
    }
    bool empty = wick_tensor_numel(out) == 0;
    for (size_t i = 0; i < count; i++) {
        int64_t at = wick_element_int(index->data, index->shape.dtype, i);
        if (at < 0 || at >= size)
            return wick_fail(run->err, WICK_INVALID_ARGUMENT, "index %lld is outside dim %d of size %lld", (long long)at, dim, (long long)size);
        if (empty) continue;
        char *target = (char *)out->data + (int64_t)i * to[dim] * (int64_t)element;
        wick_strided_copy(target, to, (const char *)self->data + at * step * (int64_t)element, part.strides, part.sizes, part.rank, element);
    }
    return WICK_OK;
}

OP(aten_embedding_out);
OP(aten_index_select_out);
