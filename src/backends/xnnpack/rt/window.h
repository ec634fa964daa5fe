/* xnnpack/rt/window.h - the geometry of windows that slide over [N, H, W, C] images: pooling and convolutions. */
#ifndef WICK_XNNPACK_RT_WINDOW_H
#define WICK_XNNPACK_RT_WINDOW_H

#include "backends/xnnpack/rt/sizes.h"

/* Order of a window's params: all nodes have the first ten, convolutions the rest. */
enum {
    WICK_XNN_TOP,
    WICK_XNN_RIGHT,
    WICK_XNN_BOTTOM,
    WICK_XNN_LEFT,
    WICK_XNN_KERNEL_H,
    WICK_XNN_KERNEL_W,
    WICK_XNN_STRIDE_H,
    WICK_XNN_STRIDE_W,
    WICK_XNN_DILATION_H,
    WICK_XNN_DILATION_W,
    WICK_XNN_WINDOW_PARAMS,
    WICK_XNN_CHANNELS_IN = WICK_XNN_WINDOW_PARAMS, /* of the whole image */
    WICK_XNN_CHANNELS_OUT,
    WICK_XNN_TRANSPOSED, /* 1: the window spreads an input pixel over the result */
    WICK_XNN_ADJUST_H,   /* rows and columns added at the end of a transposed result */
    WICK_XNN_ADJUST_W,
    WICK_XNN_CONV_PARAMS
};

/* Output size along one dim of `size`, padding included: floor, at least 1. */
int64_t wick_xnn_window_slide(int64_t size, int64_t kernel, int64_t dilation, int64_t stride);
/* Taps [begin, end) of a window that begins at `start` and lie within [0, size). */
void wick_xnn_window_taps(int64_t start, int64_t dilation, int64_t kernel, int64_t size, int64_t *begin, int64_t *end);
/* Shape rule of convolutions: image is argument 0, params argument `k_params`, the result argument `k_out`. */
wick_status wick_xnn_window_infer(const struct wick_args *args, uint32_t k_params, uint32_t k_out, struct wick_shape *outs, wick_error *err,
                                  const char *node);
/* Checks that an image is a [N, H, W, C] that is not empty, and the first ten params. */
wick_status wick_xnn_window_check(const struct wick_xnn_sizes *x, const int32_t *params, wick_error *err, const char *node);

#endif
