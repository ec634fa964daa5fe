/* ops/copy/meta.c - rules of the shape, view and copy operators. */
#include "ops/copy/view.h"
#include "ops/rules.h"

#define OP(id, wire, sig, rule) const struct wick_opmeta wick_opmeta_##id = {.name = wire, .signature = sig, .infer = rule}

static struct wick_shape shape_of_view(const struct wick_view *view, const struct wick_tensor *self)
{
    return wick_shape_make(self->shape.dtype, view->rank, view->sizes);
}

/* One rule a view function: the result has the view's sizes in contiguous order and the input's type. */
#define VIEW_OP(id, wire, sig, view_fn)                                                                   \
    static wick_status infer_##id(const struct wick_args *args, struct wick_shape *outs, wick_error *err) \
    {                                                                                                     \
        struct wick_view view;                                                                            \
        WICK_TRY(view_fn(args, &view, err));                                                              \
        outs[0] = shape_of_view(&view, wick_arg_tensor(args, 0));                                         \
        return WICK_OK;                                                                                   \
    }                                                                                                     \
    OP(id, wire, sig, infer_##id)

VIEW_OP(aten_t_copy_out, "aten::t_copy.out", "T>T", wick_view_t);
VIEW_OP(aten_transpose_copy_int_out, "aten::transpose_copy.int_out", "TII>T", wick_view_transpose);
VIEW_OP(aten_permute_copy_out, "aten::permute_copy.out", "TN>T", wick_view_permute);
VIEW_OP(aten_expand_copy_out, "aten::expand_copy.out", "TNB>T", wick_view_expand);
VIEW_OP(aten_select_copy_int_out, "aten::select_copy.int_out", "TII>T", wick_view_select);
VIEW_OP(aten_slice_copy_Tensor_out, "aten::slice_copy.Tensor_out", "TIiiI>T", wick_view_slice);
VIEW_OP(aten_narrow_copy_out, "aten::narrow_copy.out", "TIII>T", wick_view_narrow);
VIEW_OP(aten_squeeze_copy_dim_out, "aten::squeeze_copy.dim_out", "TI>T", wick_view_squeeze);
VIEW_OP(aten_squeeze_copy_dims_out, "aten::squeeze_copy.dims_out", "TN>T", wick_view_squeeze_dims);
VIEW_OP(aten_unsqueeze_copy_out, "aten::unsqueeze_copy.out", "TI>T", wick_view_unsqueeze);
VIEW_OP(aten_diagonal_copy_out, "aten::diagonal_copy.out", "TIII>T", wick_view_diagonal);
VIEW_OP(aten_unfold_copy_out, "aten::unfold_copy.out", "TIII>T", wick_view_unfold);
VIEW_OP(aten_flip_out, "aten::flip.out", "TN>T", wick_view_flip);
VIEW_OP(aten_as_strided_copy_out, "aten::as_strided_copy.out", "TNNi>T", wick_view_as_strided);

/* ---- the input's sizes, type and dim order ---- */

/* memory_format none, contiguous (0) or preserve (1). */
static wick_status infer_format(const struct wick_args *args, uint32_t format, struct wick_shape *outs, wick_error *err)
{
    int64_t memory_format = wick_arg_int_or(args, format, 1);
    if (memory_format < 0 || memory_format > 1) return wick_fail(err, WICK_INVALID_ARGUMENT, "memory format %lld", (long long)memory_format);
    outs[0] = wick_arg_tensor(args, 0)->shape;
    if (memory_format == 0) wick_shape_set_contiguous(&outs[0]);
    return WICK_OK;
}

static wick_status infer_clone(const struct wick_args *args, struct wick_shape *outs, wick_error *err) { return infer_format(args, 1, outs, err); }

static wick_status blocking(const struct wick_args *args, uint32_t k, wick_error *err)
{
    return wick_arg_bool(args, k) ? wick_fail(err, WICK_INVALID_ARGUMENT, "non_blocking copies are not supported") : WICK_OK;
}

static wick_status infer_to_copy(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    WICK_TRY(blocking(args, 1, err));
    return infer_format(args, 2, outs, err);
}

/* dim_order none: the input's; else contiguous or channels-last (0, 2..n-1, 1). */
static wick_status read_dim_order(const struct wick_args *args, uint32_t k, struct wick_shape *out, wick_error *err)
{
    if (wick_arg_is_none(args, k)) return WICK_OK;
    uint32_t count = wick_arg_count(args, k);
    bool contiguous = true, channels_last = count == 4 || count == 5;
    if (count != out->rank) return wick_fail(err, WICK_INVALID_ARGUMENT, "dim order of %u entries for a tensor of rank %u", count, out->rank);
    for (uint32_t i = 0; i < count; i++) {
        int64_t dim = wick_arg_int_at(args, k, i);
        contiguous = contiguous && dim == i;
        channels_last = channels_last && dim == (i == 0 ? 0 : i == count - 1 ? 1 : (int64_t)i + 1);
    }
    if (!contiguous && !channels_last) return wick_fail(err, WICK_INVALID_ARGUMENT, "dim order is neither contiguous nor channels-last");
    for (uint32_t i = 0; i < count; i++) out->dim_order[i] = (uint8_t)wick_arg_int_at(args, k, i);
    return WICK_OK;
}

static wick_status infer_dim_order_copy(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    WICK_TRY(blocking(args, 1, err));
    outs[0] = wick_arg_tensor(args, 0)->shape;
    return read_dim_order(args, 2, &outs[0], err);
}

static wick_status infer_empty_dim_order(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    WICK_TRY(wick_rule_sizes(args, 0, WICK_DTYPE_F32, &outs[0], err));
    return read_dim_order(args, 1, &outs[0], err);
}

OP(aten_alias_copy_out, "aten::alias_copy.out", "T>T", wick_infer_like);
OP(aten_detach_copy_out, "aten::detach_copy.out", "T>T", wick_infer_like);
OP(aten_lift_fresh_copy_out, "aten::lift_fresh_copy.out", "T>T", wick_infer_like);
OP(aten_clone_out, "aten::clone.out", "Ti>T", infer_clone);
OP(aten__to_copy_out, "aten::_to_copy.out", "TBi>T", infer_to_copy);
OP(et_copy__h2d_copy_out, "et_copy::_h2d_copy.out", "T>T", wick_infer_like);
OP(et_copy__d2h_copy_out, "et_copy::_d2h_copy.out", "T>T", wick_infer_like);
OP(dim_order_ops__to_dim_order_copy_out, "dim_order_ops::_to_dim_order_copy.out", "TBn>T", infer_dim_order_copy);
OP(dim_order_ops__clone_dim_order_out, "dim_order_ops::_clone_dim_order.out", "TBn>T", infer_dim_order_copy);
OP(dim_order_ops__empty_dim_order_out, "dim_order_ops::_empty_dim_order.out", "Nn>T", infer_empty_dim_order);

/* src broadcasts to self. */
static wick_status copy_fits(const struct wick_args *args, wick_error *err)
{
    const struct wick_shape *self = &wick_arg_tensor(args, 0)->shape, *src = &wick_arg_tensor(args, 1)->shape;
    struct wick_shape both = {0};
    WICK_TRY(blocking(args, 2, err));
    if (!wick_shape_broadcast(self, src, &both) || !wick_shape_same_sizes(&both, self)) {
        char a[128], b[128];
        wick_shape_text(self, a);
        wick_shape_text(src, b);
        return wick_fail(err, WICK_INVALID_ARGUMENT, "%s does not expand to %s", b, a);
    }
    return WICK_OK;
}

static wick_status infer_copy(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    outs[0] = wick_arg_tensor(args, 0)->shape;
    return copy_fits(args, err);
}

static wick_status infer_copy_in_place(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    (void)outs;
    return copy_fits(args, err);
}

OP(aten_copy_out, "aten::copy.out", "TTB>T", infer_copy);
OP(aten_copy_, "aten::copy_", "MTB>", infer_copy_in_place);

/* ---- other shapes ---- */

static wick_status infer_view_copy(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    const struct wick_tensor *self = wick_arg_tensor(args, 0);
    outs[0] = (struct wick_shape){.dtype = self->shape.dtype};
    wick_shape_set_contiguous(&outs[0]);
    return wick_view_sizes(args, 1, wick_tensor_numel(self), &outs[0], err);
}

OP(aten_view_copy_out, "aten::view_copy.out", "TN>T", infer_view_copy);

static wick_status infer_repeat(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    struct wick_view view;
    WICK_TRY(wick_view_repeat(args, &view, err));
    outs[0] = (struct wick_shape){.dtype = wick_arg_tensor(args, 0)->shape.dtype, .rank = (uint8_t)(view.rank / 2)};
    wick_shape_set_contiguous(&outs[0]);
    for (int i = 0; i < view.rank / 2; i++) outs[0].sizes[i] = view.sizes[2 * i] * view.sizes[2 * i + 1];
    return WICK_OK;
}

OP(aten_repeat_out, "aten::repeat.out", "TN>T", infer_repeat);

static wick_status infer_shuffle(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    struct wick_view view;
    WICK_TRY(wick_view_shuffle(args, &view, err));
    const struct wick_tensor *self = wick_arg_tensor(args, 0);
    int c = self->shape.rank - 3;
    outs[0] = wick_shape_make(self->shape.dtype, self->shape.rank, self->shape.sizes);
    outs[0].sizes[c] = view.sizes[c];
    outs[0].sizes[c + 1] = view.sizes[c + 1] * view.sizes[c + 2];
    outs[0].sizes[c + 2] = view.sizes[c + 3] * view.sizes[c + 4];
    return WICK_OK;
}

static wick_status infer_unshuffle(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    struct wick_view view;
    WICK_TRY(wick_view_unshuffle(args, &view, err));
    const struct wick_tensor *self = wick_arg_tensor(args, 0);
    int c = self->shape.rank - 3;
    outs[0] = wick_shape_make(self->shape.dtype, self->shape.rank, self->shape.sizes);
    outs[0].sizes[c] = view.sizes[c] * view.sizes[c + 1] * view.sizes[c + 2];
    outs[0].sizes[c + 1] = view.sizes[c + 3];
    outs[0].sizes[c + 2] = view.sizes[c + 4];
    return WICK_OK;
}

OP(aten_pixel_shuffle_out, "aten::pixel_shuffle.out", "TI>T", infer_shuffle);
OP(aten_pixel_unshuffle_out, "aten::pixel_unshuffle.out", "TI>T", infer_unshuffle);

static wick_status infer_view_as_real(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    const struct wick_shape *self = &wick_arg_tensor(args, 0)->shape;
    int real = self->dtype == WICK_DTYPE_C32 ? WICK_DTYPE_F16 : self->dtype == WICK_DTYPE_C64 ? WICK_DTYPE_F32 : WICK_DTYPE_F64;
    if (self->dtype < WICK_DTYPE_C32 || self->dtype > WICK_DTYPE_C128)
        return wick_fail(err, WICK_INVALID_TYPE, "the input is %s, not complex", wick_dtype_name(self->dtype));
    if (self->rank >= WICK_RANK_MAX) return wick_fail(err, WICK_INVALID_ARGUMENT, "the input has rank %u", self->rank);
    outs[0] = wick_shape_make(real, self->rank, self->sizes);
    outs[0].sizes[outs[0].rank++] = 2;
    return WICK_OK;
}

OP(aten_view_as_real_copy_out, "aten::view_as_real_copy.out", "T>T", infer_view_as_real);

static wick_status infer_roll(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    uint32_t shifts = wick_arg_count(args, 1), dims = wick_arg_count(args, 2);
    outs[0] = wick_arg_tensor(args, 0)->shape;
    if (dims == 0 ? shifts != 1 : shifts != dims) return wick_fail(err, WICK_INVALID_ARGUMENT, "%u shifts for %u dims", shifts, dims);
    for (uint32_t i = 0; i < dims; i++) {
        if (wick_dim_wrap(wick_arg_int_at(args, 2, i), outs[0].rank) < 0)
            return wick_fail(err, WICK_INVALID_ARGUMENT, "dim %lld is outside a tensor of rank %u", (long long)wick_arg_int_at(args, 2, i),
                             outs[0].rank);
    }
    return WICK_OK;
}

static wick_status infer_tril(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    outs[0] = wick_arg_tensor(args, 0)->shape;
    return outs[0].rank < 2 ? wick_fail(err, WICK_INVALID_ARGUMENT, "the input has rank %u, below 2", outs[0].rank) : WICK_OK;
}

OP(aten_roll_out, "aten::roll.out", "TNN>T", infer_roll);
OP(aten_tril_out, "aten::tril.out", "TI>T", infer_tril);
/* The result's size is the sum of the repeats: the kernel resizes. */
OP(aten_repeat_interleave_Tensor_out, "aten::repeat_interleave.Tensor_out", "Ti>T", NULL);

/* ---- joining and cutting ---- */

/* A 1-D tensor without elements joins anything. */
static bool is_blank(const struct wick_shape *shape) { return shape->rank == 1 && shape->sizes[0] == 0; }

static wick_status infer_cat(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    uint32_t count = wick_arg_count(args, 0);
    const struct wick_shape *model = NULL;
    int64_t total = 0;
    int dim = 0, dtype = -1;
    if (count == 0) return wick_fail(err, WICK_INVALID_ARGUMENT, "no tensors to join");
    for (uint32_t i = 0; i < count; i++) {
        const struct wick_shape *shape = &wick_arg_tensor_at(args, 0, i)->shape;
        dtype = dtype < 0 ? shape->dtype : wick_dtype_promote(dtype, shape->dtype);
        if (is_blank(shape)) continue;
        if (!model) {
            model = shape;
            dim = wick_dim_wrap(wick_arg_int(args, 1), shape->rank);
            if (dim < 0 || shape->rank == 0)
                return wick_fail(err, WICK_INVALID_ARGUMENT, "dim %lld is outside a tensor of rank %u", (long long)wick_arg_int(args, 1),
                                 shape->rank);
        }
        bool fits = shape->rank == model->rank;
        for (int d = 0; fits && d < shape->rank; d++) fits = d == dim || shape->sizes[d] == model->sizes[d];
        if (!fits) {
            char a[128], b[128];
            wick_shape_text(model, a);
            wick_shape_text(shape, b);
            return wick_fail(err, WICK_INVALID_ARGUMENT, "tensor %u, %s, does not join %s along dim %d", i, b, a, dim);
        }
        total += shape->sizes[dim];
    }
    if (total > INT32_MAX) return wick_fail(err, WICK_INVALID_ARGUMENT, "dim %d of the result has %lld elements", dim, (long long)total);
    outs[0] = model ? *model : wick_arg_tensor_at(args, 0, 0)->shape;
    outs[0].dtype = (uint8_t)dtype;
    if (model) outs[0].sizes[dim] = (int32_t)total;
    return WICK_OK;
}

static wick_status infer_stack(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    uint32_t count = wick_arg_count(args, 0);
    if (count == 0 || count > INT32_MAX) return wick_fail(err, WICK_INVALID_ARGUMENT, "%u tensors to stack", count);
    const struct wick_shape *model = &wick_arg_tensor_at(args, 0, 0)->shape;
    int dim = wick_dim_wrap(wick_arg_int(args, 1), model->rank + 1), dtype = model->dtype;
    if (dim < 0 || model->rank >= WICK_RANK_MAX)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "no place for a new dim %lld in rank %u", (long long)wick_arg_int(args, 1), model->rank);
    for (uint32_t i = 1; i < count; i++) {
        const struct wick_shape *shape = &wick_arg_tensor_at(args, 0, i)->shape;
        if (!wick_shape_same_sizes(shape, model)) return wick_fail(err, WICK_INVALID_ARGUMENT, "tensor %u has other sizes than tensor 0", i);
        dtype = wick_dtype_promote(dtype, shape->dtype);
    }
    outs[0] = wick_shape_make(dtype, model->rank, model->sizes);
    for (int i = outs[0].rank++; i > dim; i--) outs[0].sizes[i] = outs[0].sizes[i - 1];
    outs[0].sizes[dim] = (int32_t)count;
    return WICK_OK;
}

OP(aten_cat_out, "aten::cat.out", "LI>T", infer_cat);
OP(aten_stack_out, "aten::stack.out", "LI>T", infer_stack);

static wick_status infer_pieces(const struct wick_args *args, enum wick_cut cut, uint32_t out_list, struct wick_shape *outs, wick_error *err)
{
    uint32_t count = wick_arg_count(args, out_list);
    for (uint32_t k = 0; k < count; k++) {
        struct wick_view view;
        WICK_TRY(wick_view_piece(args, cut, k, count, &view, err));
        outs[k] = shape_of_view(&view, wick_arg_tensor(args, 0));
    }
    return WICK_OK;
}

static wick_status infer_split(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    return infer_pieces(args, WICK_CUT_EVERY, 3, outs, err);
}

static wick_status infer_split_sizes(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    return infer_pieces(args, WICK_CUT_SIZES, 3, outs, err);
}

static wick_status infer_unbind(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    return infer_pieces(args, WICK_CUT_UNBIND, 2, outs, err);
}

OP(aten_split_copy_Tensor_out, "aten::split_copy.Tensor_out", "TII>L", infer_split);
OP(aten_split_with_sizes_copy_out, "aten::split_with_sizes_copy.out", "TNI>L", infer_split_sizes);
OP(aten_unbind_copy_int_out, "aten::unbind_copy.int_out", "TI>L", infer_unbind);
