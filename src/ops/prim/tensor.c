/* ops/prim/tensor.c - numbers out of tensors, views without a copy, and rows into an accumulating tensor. */
#include "ops/copy/cast.h"
#include "ops/ops.h"

#define OP(id) const struct wick_op wick_op_##id = {.meta = &wick_opmeta_##id, .run = run_##id}

static wick_status run_aten_sym_size_int(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *self = wick_arg_tensor(args, 0);
    int64_t dim = wick_arg_int(args, 1);
    if (dim < 0 || dim >= self->shape.rank)
        return wick_fail(run->err, WICK_INVALID_ARGUMENT, "dim %lld is outside a tensor of rank %u", (long long)dim, self->shape.rank);
    *wick_arg(args, 2) = (struct wick_value){.tag = WICK_TAG_INT, .as.i = self->shape.sizes[dim]};
    return WICK_OK;
}

static wick_status run_aten_sym_numel(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state, (void)run;
    *wick_arg(args, 1) = (struct wick_value){.tag = WICK_TAG_INT, .as.i = (int64_t)wick_tensor_numel(wick_arg_tensor(args, 0))};
    return WICK_OK;
}

static wick_status run_aten__local_scalar_dense(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *self = wick_arg_tensor(args, 0);
    struct wick_value *out = wick_arg(args, 1);
    if (wick_tensor_numel(self) == 0) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "the tensor has no elements");
    switch (self->shape.dtype) {
    case WICK_DTYPE_U8:
    case WICK_DTYPE_I8:
    case WICK_DTYPE_I16:
    case WICK_DTYPE_I32:
    case WICK_DTYPE_I64: *out = (struct wick_value){.tag = WICK_TAG_INT, .as.i = wick_element_int(self->data, self->shape.dtype, 0)}; return WICK_OK;
    case WICK_DTYPE_F32:
    case WICK_DTYPE_F64:
        *out = (struct wick_value){.tag = WICK_TAG_DOUBLE, .as.d = wick_element_double(self->data, self->shape.dtype, 0)};
        return WICK_OK;
    case WICK_DTYPE_BOOL:
        *out = (struct wick_value){.tag = WICK_TAG_BOOL, .as.b = wick_element_int(self->data, self->shape.dtype, 0) != 0};
        return WICK_OK;
    default: return wick_fail(run->err, WICK_INVALID_TYPE, "a number cannot be made from %s", wick_dtype_name(self->shape.dtype));
    }
}

/* Sizes are set by the rule; here the out takes over the bytes. */
static wick_status run_executorch_prim_et_view_default(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *self = wick_arg_tensor(args, 0);
    struct wick_tensor *out = wick_arg_tensor(args, 2);
    if (self->shape.dtype != out->shape.dtype)
        return wick_fail(run->err, WICK_INVALID_TYPE, "out is %s, the input %s", wick_dtype_name(out->shape.dtype),
                         wick_dtype_name(self->shape.dtype));
    if (wick_tensor_nbytes(out) != wick_tensor_nbytes(self))
        return wick_fail(run->err, WICK_INVALID_ARGUMENT, "out has %zu bytes, the input %zu", wick_tensor_nbytes(out), wick_tensor_nbytes(self));
    out->data = self->data;
    out->capacity = self->capacity;
    return WICK_OK;
}

/* to[index] = from, with `to` cut or grown to end there: how map and scan collect their results. */
static wick_status run_executorch_prim_et_copy_index_tensor(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    struct wick_tensor *to = wick_arg_tensor(args, 0);
    const struct wick_tensor *from = wick_arg_tensor(args, 1);
    int64_t index = wick_arg_int(args, 2);
    int rank = to->shape.rank;
    bool fits = rank == from->shape.rank + 1 && to->shape.dtype == from->shape.dtype && index >= 0 && index < INT32_MAX;
    for (int d = 1; fits && d < rank; d++) fits = to->shape.sizes[d] == from->shape.sizes[d - 1];
    if (!fits) {
        char a[128], b[128];
        wick_shape_text(&to->shape, a);
        wick_shape_text(&from->shape, b);
        return wick_fail(run->err, WICK_INVALID_ARGUMENT, "%s cannot be row %lld of %s", b, (long long)index, a);
    }
    if (!wick_shape_is_contiguous(&to->shape) || !wick_shape_is_contiguous(&from->shape))
        return wick_fail(run->err, WICK_NOT_SUPPORTED, "tensors are not in contiguous dim order");
    int32_t sizes[WICK_RANK_MAX];
    memcpy(sizes, to->shape.sizes, sizeof sizes);
    sizes[0] = (int32_t)index + 1;
    WICK_TRY(wick_tensor_resize(to, sizes, rank, run->err));
    size_t bytes = wick_tensor_nbytes(from);
    if (bytes > 0) memcpy((char *)to->data + (size_t)index * bytes, from->data, bytes);
    return WICK_OK;
}

OP(aten_sym_size_int);
OP(aten_sym_numel);
OP(aten__local_scalar_dense);
OP(executorch_prim_et_view_default);
OP(executorch_prim_et_copy_index_tensor);
