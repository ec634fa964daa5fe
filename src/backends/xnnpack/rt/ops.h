/* xnnpack/rt/ops.h - the operators that payload nodes become, and what their states hold.
 *
 * Arguments are tensors only. What a shape rule must know beside its inputs' sizes (a permutation, a window, the number
 * of output channels) is a constant I32 tensor argument, called "params" below; all else is in the state, which is NULL
 * where that says "or NULL". States are immutable and equal requests within a payload share one pointer. */
#ifndef WICK_XNNPACK_RT_OPS_H
#define WICK_XNNPACK_RT_OPS_H

#include "backends/xnnpack/rt/lane.h"
#include "runtime/op.h"
#include "ukernel/ukernels.h"

/* ---- (x) > y; state: struct wick_xnn_unary, or NULL for float tensors without numbers of their own ---- */

struct wick_xnn_unary {
    struct wick_xnn_lane x, y;
    float a, b; /* clamp: min, max. elu: alpha. leaky_relu: slope */
};

#define WICK_XNN_UNARY_LIST(X)                                                                                                                 \
    X(abs)                                                                                                                                     \
    X(ceiling) X(clamp) X(cos) X(elu) X(exp) X(floor) X(gelu) X(hardswish) X(leaky_relu) X(log) X(negate) X(reciprocal_square_root) X(sigmoid) \
        X(sin) X(square) X(square_root) X(tanh)

#define WICK_XNN_DECLARE(name) extern const struct wick_op wick_xnn_op_##name;
WICK_XNN_UNARY_LIST(WICK_XNN_DECLARE)
WICK_XNN_DECLARE(convert) /* the one whose result has another type */

/* ---- (a, b) > y, sizes broadcast; state: struct wick_xnn_binary, or NULL for floats without a clamp ---- */

struct wick_xnn_binary {
    struct wick_xnn_lane a, b, y;
    float min, max;
    uint32_t clamped; /* 0: min and max do not bound */
};

#define WICK_XNN_BINARY_LIST(X) X(add) X(subtract) X(multiply) X(divide) X(minimum) X(maximum) X(prelu)
WICK_XNN_BINARY_LIST(WICK_XNN_DECLARE)

/* ---- moving elements ---- */

extern const struct wick_op wick_xnn_op_static_reshape;     /* (x, params: new sizes, 0 = inferred) > y, sharing its bytes */
extern const struct wick_op wick_xnn_op_static_reshape_out; /* the same, copying */
extern const struct wick_op wick_xnn_op_copy;               /* (x) > y, sharing its bytes */
extern const struct wick_op wick_xnn_op_copy_out;           /* the same, copying */
extern const struct wick_op wick_xnn_op_static_transpose;   /* (x, params: permutation) > y */
extern const struct wick_op wick_xnn_op_static_slice;       /* (x, params: offsets, sizes) > y */
extern const struct wick_op wick_xnn_op_concatenate2;       /* (x0, x1, params: axis) > y; and so on */
extern const struct wick_op wick_xnn_op_concatenate3;
extern const struct wick_op wick_xnn_op_concatenate4;
extern const struct wick_op wick_xnn_op_concatenate5;
extern const struct wick_op wick_xnn_op_static_constant_pad; /* (x, params: before, after) > y; state: struct wick_xnn_pad */

struct wick_xnn_pad {
    uint32_t bits; /* the padding element as it is stored */
};

/* ---- rows of the last dim ---- */

extern const struct wick_op wick_xnn_op_softmax; /* (x) > y; state: struct wick_xnn_unary or NULL */

/* ---- windows over [N, H, W, C], params as in window.h; state: struct wick_xnn_unary (a, b: clamp), or NULL for floats without a clamp ---- */

extern const struct wick_op wick_xnn_op_average_pooling;        /* (x, params) > y; padding does not count in the mean */
extern const struct wick_op wick_xnn_op_max_pooling;            /* (x, params) > y */
extern const struct wick_op wick_xnn_op_arg_max_pooling;        /* (x, params) > y, index in the window (I32 or I64) */
extern const struct wick_op wick_xnn_op_global_average_pooling; /* (x [.., H, W, C], params: keep dims) > y */
extern const struct wick_op wick_xnn_op_resize_bilinear;        /* (x, params: H, W, align corners) > y */

/* ---- convolutions over [N, H, W, C], params as in window.h ---- */

extern const struct wick_op wick_xnn_op_depthwise_convolution; /* (x, params) > y; state: struct wick_xnn_depthwise */

struct wick_xnn_depthwise {
    struct wick_xnn_lane x, y;
    size_t multiplier;    /* results a channel */
    const float *weights; /* [kernel h][kernel w][channels * multiplier] */
    const float *bias;    /* [channels * multiplier] */
    const float *scales;  /* [channels * multiplier]: what sums are multiplied by before the bias; NULL: 1 */
    float min, max;
};

extern const struct wick_op wick_xnn_op_convolution;         /* (x, params) > y; state: struct wick_xnn_convolution */
extern const struct wick_op wick_xnn_op_dynamic_convolution; /* (bytes, one pair of parameters an image, params) > y; the same */

/* Each pixel of the result is a row of kernel h * kernel w * group_in numbers (the window, gathered) times a filter. As in
 * struct wick_xnn_linear, a static quantization is folded into the weights. */
struct wick_xnn_convolution {
    struct wick_xnn_lane x, y;
    struct wick_gemm gemm;
    size_t groups, group_in, group_out;
    const void *packed; /* group i at i * packed_bytes */
    size_t packed_bytes;
    float min, max;
};

/* ---- products; those with constant weights are in linear.h ---- */

extern const struct wick_op wick_xnn_op_batch_matrix_multiply;         /* (a [.., m, k], b [.., k, n], params: flags) > y [.., m, n] */
extern const struct wick_op wick_xnn_op_computed_fully_connected;      /* (x [.., k], filter, params: 1 if it is [k, n]) > y [.., n] */
extern const struct wick_op wick_xnn_op_computed_fully_connected_bias; /* (x, filter, bias, params) > y; both with wick_xnn_bounds */

struct wick_xnn_bounds {
    float min, max;
};

#endif
