/* xnnpack/rt/linear.h - what a fully connected node is: packed weights and how rows come and go. */
#ifndef WICK_XNNPACK_RT_LINEAR_H
#define WICK_XNNPACK_RT_LINEAR_H

#include "backends/xnnpack/rt/lane.h"
#include "runtime/op.h"
#include "ukernel/ukernels.h"

/* State of both operators. y = clamp(x W^T + bias). */
struct wick_xnn_linear {
    struct wick_xnn_lane x, y; /* x: of the float form */
    struct wick_gemm gemm;
    size_t n, k, group;
    const void *packed;
    float min, max;
};

extern const struct wick_op wick_xnn_op_fully_connected;         /* (x [.., k], params: n, k) > y [.., n] */
extern const struct wick_op wick_xnn_op_dynamic_fully_connected; /* (bytes [.., k], rows, params: n, k) > y [.., n] */

/* Packs w into memory of bind->arena over the pool. */
wick_status wick_xnn_pack_linear(const struct wick_gemm *gemm, const struct wick_gemm_weights *w, struct wick_bind *bind, const void **packed);

#endif
