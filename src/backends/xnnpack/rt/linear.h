/* xnnpack/rt/linear.h - products with constant weights: how they are packed, and the fully connected operators. */
#ifndef WICK_XNNPACK_RT_LINEAR_H
#define WICK_XNNPACK_RT_LINEAR_H

#include "backends/xnnpack/rt/lane.h"
#include "runtime/op.h"
#include "ukernel/ukernels.h"

/* State of the operators below. y = clamp(x W^T + bias). Statically quantized: the kernel computes in units of the
 * result, scales are folded into those of the weights; y is then rounded and moved by its zero point. */
struct wick_xnn_linear {
    struct wick_xnn_lane x, y;
    struct wick_gemm gemm;
    size_t n, k, group;
    const void *packed;
    float min, max;
};

extern const struct wick_op wick_xnn_op_fully_connected;         /* (x floats [.., k], params: n, k) > y [.., n] */
extern const struct wick_op wick_xnn_op_dynamic_fully_connected; /* (bytes [.., k], rows, params: n, k) > y [.., n] */
extern const struct wick_op wick_xnn_op_static_fully_connected;  /* (x I8 or U8 [.., k], params: n, k) > y [.., n] */

/* Packs the n columns of w into `packed` (gemm->packed_size bytes), split over the pool by blocks of columns. */
void wick_xnn_pack(const struct wick_gemm *gemm, const struct wick_gemm_weights *w, size_t row_bytes, void *packed, const struct wick_bind *bind);
/* C = A W^T for all columns, split over the pool by blocks of columns: a thread streams its own part of the weights. */
void wick_xnn_multiply(const struct wick_gemm *gemm, const struct wick_gemm_call *call, struct wick_pool *pool);

/* count signed bytes as the unsigned ones that kernels take: 128 added. */
void wick_xnn_to_unsigned(const int8_t *from, uint8_t *to, size_t count);

#endif
