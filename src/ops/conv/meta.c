/* ops/conv/meta.c - rules of convolution, pools, pads and resampling. */
#include "ops/conv/geometry.h"
#include "ops/rules.h"

#define OP(id, wire, sig, rule) const struct wick_opmeta wick_opmeta_##id = {.name = wire, .signature = sig, .infer = rule}

static wick_status infer_convolution(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    struct wick_convolution c;
    WICK_TRY(wick_convolution_read(&c, args, err));
    outs[0] = wick_arg_tensor(args, 0)->shape;
    outs[0].sizes[1] = (int32_t)c.out_channels;
    if (c.spatial == 2) outs[0].sizes[2] = (int32_t)c.height.out;
    outs[0].sizes[c.spatial + 1] = (int32_t)c.width.out;
    return WICK_OK;
}

OP(aten_convolution_out, "aten::convolution.out", "TTtNNNBNI>T", infer_convolution);

/* ---- pools ---- */

static wick_status infer_pool(const struct wick_args *args, uint32_t dilation_at, uint32_t ceil_at, struct wick_shape *outs, wick_error *err)
{
    struct wick_window windows[2];
    WICK_TRY(wick_pool_read(windows, args, dilation_at, ceil_at, err));
    outs[0] = wick_arg_tensor(args, 0)->shape;
    for (int i = 0; i < 2; i++) outs[0].sizes[outs[0].rank - 2 + i] = (int32_t)windows[i].out;
    return WICK_OK;
}

static wick_status infer_avg_pool(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    if (wick_arg_int_or(args, 6, 1) == 0) return wick_fail(err, WICK_INVALID_ARGUMENT, "divisor_override is 0");
    return infer_pool(args, 0, 4, outs, err);
}

static wick_status infer_max_pool(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    WICK_TRY(infer_pool(args, 4, 5, outs, err));
    outs[1] = outs[0];
    outs[1].dtype = WICK_DTYPE_I64;
    return WICK_OK;
}

static wick_status infer_adaptive_pool(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    outs[0] = wick_arg_tensor(args, 0)->shape;
    if (outs[0].rank != 3 && outs[0].rank != 4) return wick_fail(err, WICK_INVALID_ARGUMENT, "the input has rank %u", outs[0].rank);
    WICK_TRY(wick_window_list(args, 1, 2, false, "output_size", err));
    for (int i = 0; i < 2; i++) {
        int64_t size = wick_window_item(args, 1, i, 1);
        int axis = outs[0].rank - 2 + i;
        if (size < 1 || size > INT32_MAX || outs[0].sizes[axis] < 1)
            return wick_fail(err, WICK_INVALID_ARGUMENT, "dim %d of size %d pooled to %lld", axis, outs[0].sizes[axis], (long long)size);
        outs[0].sizes[axis] = (int32_t)size;
    }
    return WICK_OK;
}

OP(aten_avg_pool2d_out, "aten::avg_pool2d.out", "TNNNBBi>T", infer_avg_pool);
OP(aten_max_pool2d_with_indices_out, "aten::max_pool2d_with_indices.out", "TNNNNB>TT", infer_max_pool);
OP(aten__adaptive_avg_pool2d_out, "aten::_adaptive_avg_pool2d.out", "TN>T", infer_adaptive_pool);

/* ---- pads ---- */

static void pad_sizes(const struct wick_padding *padding, struct wick_shape *out)
{
    for (int d = 0; d < out->rank; d++) out->sizes[d] = (int32_t)(out->sizes[d] + padding->before[d] + padding->after[d]);
}

static wick_status infer_constant_pad(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    struct wick_padding padding;
    WICK_TRY(wick_padding_read(&padding, args, err));
    outs[0] = wick_arg_tensor(args, 0)->shape;
    pad_sizes(&padding, &outs[0]);
    return WICK_OK;
}

/* Mirrors and edges need something to show; a mirror does not repeat the edge and reaches no further than the other side. */
static wick_status infer_edge_pad(const struct wick_args *args, int dims, bool mirror, struct wick_shape *outs, wick_error *err)
{
    struct wick_padding padding;
    WICK_TRY(wick_padding_read(&padding, args, err));
    outs[0] = wick_arg_tensor(args, 0)->shape;
    if (padding.dims != dims || (outs[0].rank != dims + 1 && outs[0].rank != dims + 2))
        return wick_fail(err, WICK_INVALID_ARGUMENT, "paddings of %d dims for a tensor of rank %u", padding.dims, outs[0].rank);
    for (int d = outs[0].rank - dims; d < outs[0].rank; d++) {
        int64_t most = WICK_MAX(padding.before[d], padding.after[d]), size = outs[0].sizes[d];
        if (size < 1 || (mirror && most >= size))
            return wick_fail(err, WICK_INVALID_ARGUMENT, "dim %d of size %lld padded by %lld", d, (long long)size, (long long)most);
    }
    pad_sizes(&padding, &outs[0]);
    return WICK_OK;
}

#define EDGE_PAD(id, wire, dims, mirror)                                                                  \
    static wick_status infer_##id(const struct wick_args *args, struct wick_shape *outs, wick_error *err) \
    {                                                                                                     \
        return infer_edge_pad(args, dims, mirror, outs, err);                                             \
    }                                                                                                     \
    OP(id, wire, "TN>T", infer_##id)

OP(aten_constant_pad_nd_out, "aten::constant_pad_nd.out", "TNS>T", infer_constant_pad);
EDGE_PAD(aten_reflection_pad1d_out, "aten::reflection_pad1d.out", 1, true);
EDGE_PAD(aten_reflection_pad2d_out, "aten::reflection_pad2d.out", 2, true);
EDGE_PAD(aten_reflection_pad3d_out, "aten::reflection_pad3d.out", 3, true);
EDGE_PAD(aten_replication_pad1d_out, "aten::replication_pad1d.out", 1, false);
EDGE_PAD(aten_replication_pad2d_out, "aten::replication_pad2d.out", 2, false);
EDGE_PAD(aten_replication_pad3d_out, "aten::replication_pad3d.out", 3, false);

/* ---- resampling ---- */

static wick_status infer_upsample(const struct wick_args *args, uint32_t factors_at, struct wick_shape *outs, wick_error *err)
{
    int32_t size[2];
    double scales[2];
    WICK_TRY(wick_upsample_read(args, factors_at, size, scales, err));
    outs[0] = wick_arg_tensor(args, 0)->shape;
    outs[0].sizes[2] = size[0];
    outs[0].sizes[3] = size[1];
    return WICK_OK;
}

static wick_status infer_bilinear(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    return infer_upsample(args, 3, outs, err);
}
static wick_status infer_nearest(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    return infer_upsample(args, 2, outs, err);
}

static wick_status infer_bilinear_aa(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    outs[0] = wick_arg_tensor(args, 0)->shape;
    if (outs[0].rank != 4) return wick_fail(err, WICK_INVALID_ARGUMENT, "the input has rank %u, not 4", outs[0].rank);
    WICK_TRY(wick_window_list(args, 1, 2, false, "output_size", err));
    for (int i = 0; i < 2; i++) {
        int64_t size = wick_window_item(args, 1, i, 1);
        if (size < 1 || size > INT32_MAX || outs[0].sizes[2 + i] < 1)
            return wick_fail(err, WICK_INVALID_ARGUMENT, "dim %d of size %d resampled to %lld", 2 + i, outs[0].sizes[2 + i], (long long)size);
        outs[0].sizes[2 + i] = (int32_t)size;
    }
    return WICK_OK;
}

OP(aten_upsample_bilinear2d_vec_out, "aten::upsample_bilinear2d.vec_out", "TnBd>T", infer_bilinear);
OP(aten_upsample_nearest2d_vec_out, "aten::upsample_nearest2d.vec_out", "Tnd>T", infer_nearest);
OP(aten__upsample_bilinear2d_aa_out, "aten::_upsample_bilinear2d_aa.out", "TNBff>T", infer_bilinear_aa);
