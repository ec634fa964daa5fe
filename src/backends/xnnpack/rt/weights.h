/* xnnpack/rt/weights.h - constant filters and biases of a payload on their way into packed form. */
#ifndef WICK_XNNPACK_RT_WEIGHTS_H
#define WICK_XNNPACK_RT_WEIGHTS_H

#include "backends/xnnpack/rt/expand.h"
#include "ukernel/ukernels.h"

/* How a product's input arrives: floats, quantized when the program runs, or quantized by constants. */
enum wick_xnn_input_kind { WICK_XNN_FLOAT, WICK_XNN_DYNAMIC, WICK_XNN_STATIC };

/* The kernel for a filter type; NULL if the two do not go together. */
const struct wick_gemm *wick_xnn_choose_gemm(const struct wick_ukernels *uk, enum wick_xnn_input_kind kind, int datatype);

/* A constant of `count` floats (fp32, or halves converted) as aligned float32; NULL for an absent one. Any other type or
 * length is refused. Borrowed from the file where it can be. */
wick_status wick_xnn_take_floats(struct wick_xnn_expand *e, uint32_t index, size_t count, const float **out) WICK_MUST_CHECK;

/* For statically quantized x, filter and y: scales [n] that turn sums of whole numbers into units of y, and the bias [n]
 * in those units. bias: index of a value, WICK_XNN_NO_ID for none. */
wick_status wick_xnn_take_requantization(struct wick_xnn_expand *e, const struct wick_xnn_slot *x, const struct wick_xnn_slot *filter, uint32_t bias,
                                         const struct wick_xnn_slot *y, size_t n, const float **scales, const float **floats) WICK_MUST_CHECK;

/* The node's bounds in units of y: divided by its scale if it is quantized. */
void wick_xnn_clamp_in(const struct wick_xnn_node *node, const struct wick_xnn_slot *y, float *min, float *max);

/* Packs `groups` matrices of w->n columns that follow each other in memory (filter, scales and bias alike), group i at
 * i * gemm->packed_size(n, k, group). The same request gets the same copy. */
wick_status wick_xnn_take_packed(struct wick_xnn_expand *e, const struct wick_gemm *gemm, const struct wick_gemm_weights *w, size_t groups,
                                 const void **packed) WICK_MUST_CHECK;

/* Says that the filter's bytes and scales are packed, so that their pages may go. */
void wick_xnn_release_filter(struct wick_xnn_expand *e, const struct wick_xnn_slot *filter);

#endif
