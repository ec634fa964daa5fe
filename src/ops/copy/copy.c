/* ops/copy/copy.c - operators that show their input through a view and copy that, and those that convert types. */
#include "ops/copy/cast.h"
#include "ops/copy/strided.h"
#include "ops/ops.h"

#define OP(id) const struct wick_op wick_op_##id = {.meta = &wick_opmeta_##id, .run = run_##id}

/* One kernel a view function. The view is made again rather than kept from the rule: it costs nanoseconds. */
#define VIEW_OP(id, view_fn, flat)                                                                               \
    static wick_status run_##id(const struct wick_args *args, const void *state, struct wick_run *run)           \
    {                                                                                                            \
        (void)state;                                                                                             \
        struct wick_view view;                                                                                   \
        WICK_TRY(view_fn(args, &view, run->err));                                                                \
        return wick_view_copy(out_of(args, &wick_opmeta_##id), &view, wick_arg_tensor(args, 0), flat, run->err); \
    }                                                                                                            \
    OP(id)

static struct wick_tensor *out_of(const struct wick_args *args, const struct wick_opmeta *meta)
{
    return wick_arg_tensor(args, wick_signature_inputs(meta->signature));
}

VIEW_OP(aten_alias_copy_out, wick_view_identity, false);
VIEW_OP(aten_detach_copy_out, wick_view_identity, false);
VIEW_OP(aten_lift_fresh_copy_out, wick_view_identity, false);
VIEW_OP(aten_clone_out, wick_view_identity, false);
VIEW_OP(et_copy__h2d_copy_out, wick_view_identity, false);
VIEW_OP(et_copy__d2h_copy_out, wick_view_identity, false);
VIEW_OP(dim_order_ops__clone_dim_order_out, wick_view_identity, false);
VIEW_OP(aten_t_copy_out, wick_view_t, false);
VIEW_OP(aten_transpose_copy_int_out, wick_view_transpose, false);
VIEW_OP(aten_permute_copy_out, wick_view_permute, false);
VIEW_OP(aten_expand_copy_out, wick_view_expand, false);
VIEW_OP(aten_select_copy_int_out, wick_view_select, false);
VIEW_OP(aten_slice_copy_Tensor_out, wick_view_slice, false);
VIEW_OP(aten_narrow_copy_out, wick_view_narrow, false);
VIEW_OP(aten_squeeze_copy_dim_out, wick_view_squeeze, false);
VIEW_OP(aten_squeeze_copy_dims_out, wick_view_squeeze_dims, false);
VIEW_OP(aten_unsqueeze_copy_out, wick_view_unsqueeze, false);
VIEW_OP(aten_diagonal_copy_out, wick_view_diagonal, false);
VIEW_OP(aten_unfold_copy_out, wick_view_unfold, false);
VIEW_OP(aten_flip_out, wick_view_flip, false);
VIEW_OP(aten_as_strided_copy_out, wick_view_as_strided, false);
VIEW_OP(aten_view_copy_out, wick_view_identity, true);
VIEW_OP(aten_repeat_out, wick_view_repeat, true);
VIEW_OP(aten_pixel_shuffle_out, wick_view_shuffle, true);
VIEW_OP(aten_pixel_unshuffle_out, wick_view_unshuffle, true);

/* ---- conversions ---- */

/* src, broadcast to out's sizes and cast to its type. The rule has checked that it fits. */
static wick_status cast_into(struct wick_tensor *out, const struct wick_tensor *src, wick_error *err)
{
    int64_t to[WICK_RANK_MAX], from[WICK_RANK_MAX];
    int lead = out->shape.rank - src->shape.rank;
    WICK_TRY(wick_cast_check(out->shape.dtype, src->shape.dtype, err));
    for (int i = 0; i < out->shape.rank; i++) {
        int32_t have = i >= lead ? src->shape.sizes[i - lead] : 1;
        if (lead < 0 || (have != 1 && have != out->shape.sizes[i]))
            return wick_fail(err, WICK_INVALID_ARGUMENT, "dim %d of size %d copied to size %d", i, have, out->shape.sizes[i]);
        from[i] = have == 1 ? 0 : src->strides[i - lead];
    }
    if (wick_tensor_numel(out) == 0) return WICK_OK;
    wick_strides_of(out, to);
    wick_strided_cast(out->data, out->shape.dtype, to, src->data, src->shape.dtype, from, out->shape.sizes, out->shape.rank);
    return WICK_OK;
}

static wick_status run_aten__to_copy_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    return cast_into(wick_arg_tensor(args, 3), wick_arg_tensor(args, 0), run->err);
}

static wick_status run_dim_order_ops__to_dim_order_copy_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    return cast_into(wick_arg_tensor(args, 3), wick_arg_tensor(args, 0), run->err);
}

static wick_status run_aten_copy_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    return cast_into(wick_arg_tensor(args, 3), wick_arg_tensor(args, 1), run->err);
}

static wick_status run_aten_copy_(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    return cast_into(wick_arg_tensor(args, 0), wick_arg_tensor(args, 1), run->err);
}

static wick_status run_dim_order_ops__empty_dim_order_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)args, (void)state, (void)run; /* its sizes are all that is asked for */
    return WICK_OK;
}

OP(aten__to_copy_out);
OP(dim_order_ops__to_dim_order_copy_out);
OP(aten_copy_out);
OP(aten_copy_);
OP(dim_order_ops__empty_dim_order_out);

static wick_status run_aten_view_as_real_copy_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *self = wick_arg_tensor(args, 0);
    struct wick_tensor *out = wick_arg_tensor(args, 1);
    size_t bytes = wick_tensor_nbytes(self);
    if (out->shape.dtype == self->shape.dtype || wick_tensor_nbytes(out) != bytes ||
        2 * wick_dtype_size(out->shape.dtype) != wick_dtype_size(self->shape.dtype))
        return wick_fail(run->err, WICK_INVALID_TYPE, "out is %s, the input %s", wick_dtype_name(out->shape.dtype),
                         wick_dtype_name(self->shape.dtype));
    if (!wick_shape_is_contiguous(&self->shape) || !wick_shape_is_contiguous(&out->shape))
        return wick_fail(run->err, WICK_NOT_SUPPORTED, "tensors are not in contiguous dim order");
    if (bytes > 0) memcpy(out->data, self->data, bytes);
    return WICK_OK;
}

OP(aten_view_as_real_copy_out);
