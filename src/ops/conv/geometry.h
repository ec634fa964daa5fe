/* ops/conv/geometry.h - what a call of a windowed operator asks for, read and checked once by rule and kernel alike. */
#ifndef WICK_OPS_CONV_GEOMETRY_H
#define WICK_OPS_CONV_GEOMETRY_H

#include "ops/conv/window.h"

/* aten::convolution as 2-D: a 1-D one has height 1. */
struct wick_convolution {
    int spatial; /* 1 or 2 */
    int64_t batch, in_channels, out_channels, groups;
    bool transposed;
    struct wick_window height, width; /* transposed: `in` and `out` as of the operator, windows slide over the output */
};

/* (T input [N, C, (H,) W], T weight, T? bias, int[] stride, int[] padding, int[] dilation, bool transposed, int[] output_padding, int groups) */
wick_status wick_convolution_read(struct wick_convolution *c, const struct wick_args *args, wick_error *err);

/* (T self [.., H, W], int[2] kernel_size, int[2] stride, int[2] padding, [int[2] dilation,] bool ceil_mode, ..): dilation_at 0: none. */
wick_status wick_pool_read(struct wick_window windows[2], const struct wick_args *args, uint32_t dilation_at, uint32_t ceil_at, wick_error *err);

/* Left and right padding of the last `dims` dims, last dim first, as the pad operators have it. */
struct wick_padding {
    int dims;
    int64_t before[WICK_RANK_MAX], after[WICK_RANK_MAX]; /* by dim of the tensor */
};
wick_status wick_padding_read(struct wick_padding *padding, const struct wick_args *args, wick_error *err);

/* Output size of an upsampling: output_size (list argument 1) or scale factors (double list argument k); scales[i] > 0
 * only when factors are given. */
wick_status wick_upsample_read(const struct wick_args *args, uint32_t factors_at, int32_t out[2], double scales[2], wick_error *err);

#endif
