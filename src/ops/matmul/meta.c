/* ops/matmul/meta.c - rules of matrix products. */
#include "ops/rules.h"

static wick_status mismatch(const struct wick_shape *a, const struct wick_shape *b, wick_error *err)
{
    char text_a[128], text_b[128];
    wick_shape_text(a, text_a);
    wick_shape_text(b, text_b);
    return wick_fail(err, WICK_INVALID_ARGUMENT, "matrices %s and %s do not multiply", text_a, text_b);
}

/* [.., M, K] x [.., K, N] of `rank` dims, args at and at + 1. */
static wick_status product(const struct wick_args *args, uint32_t at, int rank, struct wick_shape *out, wick_error *err)
{
    const struct wick_shape *a = &wick_arg_tensor(args, at)->shape, *b = &wick_arg_tensor(args, at + 1)->shape;
    if (a->rank != rank || b->rank != rank || a->sizes[rank - 1] != b->sizes[rank - 2] || a->dtype != b->dtype) return mismatch(a, b, err);
    if (rank == 3 && a->sizes[0] != b->sizes[0]) return mismatch(a, b, err);
    *out = wick_shape_make(a->dtype, rank, a->sizes);
    out->sizes[rank - 1] = b->sizes[rank - 1];
    return wick_shape_valid(out, NULL) ? WICK_OK : wick_fail(err, WICK_INVALID_ARGUMENT, "the product of matrices is too large");
}

static wick_status infer_mm(const struct wick_args *args, struct wick_shape *outs, wick_error *err) { return product(args, 0, 2, outs, err); }
static wick_status infer_bmm(const struct wick_args *args, struct wick_shape *outs, wick_error *err) { return product(args, 0, 3, outs, err); }

static wick_status infer_addmm(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    WICK_TRY(product(args, 1, 2, outs, err));
    struct wick_shape sum = outs[0];
    WICK_TRY(wick_rule_broadcast(&sum, &wick_arg_tensor(args, 0)->shape, err));
    if (wick_shape_same_sizes(&sum, &outs[0])) return WICK_OK;
    return wick_fail(err, WICK_INVALID_ARGUMENT, "self does not broadcast to the product");
}

/* (input [.., K], weight [N, K], bias [N] or [1]; out [.., N]) */
static wick_status infer_linear(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    const struct wick_shape *in = &wick_arg_tensor(args, 0)->shape, *weight = &wick_arg_tensor(args, 1)->shape;
    const struct wick_tensor *bias = wick_arg_tensor(args, 2);
    if (in->rank == 0 || weight->rank != 2 || in->sizes[in->rank - 1] != weight->sizes[1] || in->dtype != weight->dtype)
        return mismatch(in, weight, err);
    int32_t n = weight->sizes[0];
    if (bias && (bias->shape.rank != 1 || (bias->shape.sizes[0] != n && bias->shape.sizes[0] != 1) || bias->shape.dtype != in->dtype)) {
        char text[128];
        wick_shape_text(&bias->shape, text);
        return wick_fail(err, WICK_INVALID_ARGUMENT, "bias %s is not one vector of %d", text, n);
    }
    outs[0] = wick_shape_make(in->dtype, in->rank, in->sizes);
    outs[0].sizes[in->rank - 1] = n;
    return wick_shape_valid(&outs[0], NULL) ? WICK_OK : wick_fail(err, WICK_INVALID_ARGUMENT, "the product of matrices is too large");
}

WICK_META(aten_mm_out, "aten::mm.out", "TT>T", NONE, infer_mm)
WICK_META(aten_bmm_out, "aten::bmm.out", "TT>T", NONE, infer_bmm)
WICK_META(aten_addmm_out, "aten::addmm.out", "TTTSS>T", NONE, infer_addmm)
WICK_META(aten_linear_out, "aten::linear.out", "TTt>T", NONE, infer_linear)
