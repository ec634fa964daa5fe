/* ops/index/meta.c - rules of the indexing and masking operators. */
#include "ops/copy/view.h"
#include "ops/index/layout.h"
#include "ops/rules.h"

#define OP(id, wire, sig, rule) const struct wick_opmeta wick_opmeta_##id = {.name = wire, .signature = sig, .infer = rule}

static wick_status infer_embedding(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    const struct wick_shape *weight = &wick_arg_tensor(args, 0)->shape, *indices = &wick_arg_tensor(args, 1)->shape;
    if (weight->rank != 2 || indices->rank >= WICK_RANK_MAX)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "weight has rank %u, the indices %u", weight->rank, indices->rank);
    outs[0] = wick_shape_make(weight->dtype, indices->rank, indices->sizes);
    outs[0].sizes[outs[0].rank++] = weight->sizes[1];
    return WICK_OK;
}

OP(aten_embedding_out, "aten::embedding.out", "TTIBB>T", infer_embedding);

static wick_status infer_index(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    struct wick_index_layout layout;
    WICK_TRY(wick_index_layout_make(&layout, args, 1, err));
    outs[0] = wick_shape_make(wick_arg_tensor(args, 0)->shape.dtype, layout.out_rank, layout.out_sizes);
    return WICK_OK;
}

/* values broadcast to what the indices address; a mask's share is known when it runs. */
static wick_status check_put(const struct wick_args *args, wick_error *err)
{
    struct wick_index_layout layout;
    WICK_TRY(wick_index_layout_make(&layout, args, 1, err));
    if (layout.masked) return WICK_OK;
    struct wick_shape place = wick_shape_make(WICK_DTYPE_F32, layout.out_rank, layout.out_sizes), both = {0};
    const struct wick_shape *values = &wick_arg_tensor(args, 2)->shape;
    if (!wick_shape_broadcast(&place, values, &both) || !wick_shape_same_sizes(&place, &both)) {
        char a[128], b[128];
        wick_shape_text(values, a);
        wick_shape_text(&place, b);
        return wick_fail(err, WICK_INVALID_ARGUMENT, "values %s do not expand to the indexed %s", a, b + 4);
    }
    return WICK_OK;
}

static wick_status infer_index_put(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    outs[0] = wick_arg_tensor(args, 0)->shape;
    return check_put(args, err);
}

static wick_status infer_index_put_in_place(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    (void)outs;
    return check_put(args, err);
}

OP(aten_index_Tensor_out, "aten::index.Tensor_out", "Tl>T", infer_index);
OP(aten_index_put_out, "aten::index_put.out", "TlTB>T", infer_index_put);
OP(aten_index_put_, "aten::index_put_", "MlTB>", infer_index_put_in_place);

static wick_status infer_index_select(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    const struct wick_shape *self = &wick_arg_tensor(args, 0)->shape, *index = &wick_arg_tensor(args, 2)->shape;
    int dim;
    WICK_TRY(wick_rule_dim(wick_arg_int(args, 1), self->rank, &dim, err));
    if (index->rank > 1) return wick_fail(err, WICK_INVALID_ARGUMENT, "index has rank %u", index->rank);
    outs[0] = wick_shape_make(self->dtype, self->rank, self->sizes);
    if (self->rank > 0) outs[0].sizes[dim] = index->rank ? index->sizes[0] : 1;
    return WICK_OK;
}

OP(aten_index_select_out, "aten::index_select.out", "TIT>T", infer_index_select);

/* index has self's rank (0 counts as 1) and, but for dim, is nowhere larger than `bound`. */
static wick_status check_gather(const struct wick_args *args, const struct wick_shape *bound, bool but_dim, wick_error *err)
{
    const struct wick_shape *index = &wick_arg_tensor(args, 2)->shape;
    int dim;
    WICK_TRY(wick_rule_dim(wick_arg_int(args, 1), bound->rank, &dim, err));
    if (WICK_MAX(index->rank, 1) != WICK_MAX(bound->rank, 1))
        return wick_fail(err, WICK_INVALID_ARGUMENT, "index has rank %u, not %u", index->rank, bound->rank);
    for (int d = 0; d < index->rank && d < bound->rank; d++) {
        if (!(but_dim && d == dim) && index->sizes[d] > bound->sizes[d] && wick_shape_numel(index) > 0)
            return wick_fail(err, WICK_INVALID_ARGUMENT, "index has size %d in dim %d, more than %d", index->sizes[d], d, bound->sizes[d]);
    }
    return WICK_OK;
}

static wick_status infer_gather(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    const struct wick_shape *self = &wick_arg_tensor(args, 0)->shape, *index = &wick_arg_tensor(args, 2)->shape;
    WICK_TRY(check_gather(args, self, true, err));
    outs[0] = wick_shape_make(self->dtype, index->rank, index->sizes);
    return WICK_OK;
}

static wick_status infer_scatter_value(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    outs[0] = wick_arg_tensor(args, 0)->shape;
    return check_gather(args, &outs[0], true, err);
}

static wick_status infer_scatter_src(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    WICK_TRY(infer_scatter_value(args, outs, err));
    return check_gather(args, &wick_arg_tensor(args, 3)->shape, false, err);
}

OP(aten_gather_out, "aten::gather.out", "TITB>T", infer_gather);
OP(aten_scatter_src_out, "aten::scatter.src_out", "TITT>T", infer_scatter_src);
OP(aten_scatter_value_out, "aten::scatter.value_out", "TITS>T", infer_scatter_value);
OP(aten_scatter_add_out, "aten::scatter_add.out", "TITT>T", infer_scatter_src);

/* src has the sizes of the view of self that it replaces. */
static wick_status infer_replace(const struct wick_args *args, const struct wick_view *view, struct wick_shape *outs, wick_error *err)
{
    const struct wick_shape *src = &wick_arg_tensor(args, 1)->shape;
    bool fits = src->rank == view->rank;
    for (int d = 0; fits && d < view->rank; d++) fits = src->sizes[d] == view->sizes[d];
    outs[0] = wick_arg_tensor(args, 0)->shape;
    if (fits) return WICK_OK;
    char text[128];
    wick_shape_text(src, text);
    return wick_fail(err, WICK_INVALID_ARGUMENT, "src %s has not the size of the part it replaces", text);
}

static wick_status infer_select_scatter(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    struct wick_view view;
    WICK_TRY(wick_view_select_scatter(args, &view, err));
    return infer_replace(args, &view, outs, err);
}

static wick_status infer_slice_scatter(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    struct wick_view view;
    WICK_TRY(wick_view_slice_scatter(args, &view, err));
    return infer_replace(args, &view, outs, err);
}

OP(aten_select_scatter_out, "aten::select_scatter.out", "TTII>T", infer_select_scatter);
OP(aten_slice_scatter_out, "aten::slice_scatter.out", "TTIiiI>T", infer_slice_scatter);

/* self and mask broadcast together. */
static wick_status infer_masked(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    outs[0] = wick_arg_tensor(args, 0)->shape;
    if (!wick_index_is_mask(wick_arg_tensor(args, 1)))
        return wick_fail(err, WICK_INVALID_TYPE, "mask is %s", wick_dtype_name(wick_arg_tensor(args, 1)->shape.dtype));
    return wick_rule_broadcast(&outs[0], &wick_arg_tensor(args, 1)->shape, err);
}

OP(aten_masked_fill_Scalar_out, "aten::masked_fill.Scalar_out", "TTS>T", infer_masked);
OP(aten_masked_scatter_out, "aten::masked_scatter.out", "TTT>T", infer_masked);
/* As many elements as the data says: the kernels resize. */
OP(aten_masked_select_out, "aten::masked_select.out", "TT>T", NULL);
OP(aten_nonzero_out, "aten::nonzero.out", "T>T", NULL);
