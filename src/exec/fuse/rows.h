/* exec/fuse/rows.h - fused operators that make a result row by row, a row being the last dim of f32 tensors: what they share.
 *
 * Each has a form that quantizes the row while it is in the first-level cache (outs: bytes, parameters of each row as struct wick_qd8_params). The
 * fused kernels do what the calls they stand for did, with the same micro-kernels: the same bits. */
#ifndef WICK_EXEC_FUSE_ROWS_H
#define WICK_EXEC_FUSE_ROWS_H

#include "runtime/op.h"
#include "ukernel/ukernels.h"

/* Row `row` of the result, n elements. y may be used as scratch; it is no input. */
typedef void (*wick_row_fn)(const struct wick_args *args, const struct wick_ukernels *uk, size_t row, size_t n, float *y);

/* Runs over all rows of argument 0. inputs: arguments before the outs. */
wick_status wick_rows_run(const struct wick_args *args, uint32_t inputs, bool quantized, wick_row_fn fn, struct wick_run *run);

/* The operator that quantizes what `op` makes; NULL if there is none. */
const struct wick_op *wick_rows_quantized(const struct wick_op *op);

/* Rules: the out is like argument 0; and, quantized, the parameters are (rows, 2). */
wick_status wick_rows_infer(const struct wick_args *args, struct wick_shape *outs, wick_error *err);
wick_status wick_rows_infer_quantized(const struct wick_args *args, struct wick_shape *outs, wick_error *err);

extern const struct wick_op wick_rows_rms_norm, wick_rows_rms_norm_quantized; /* (x, weight (n), eps): x / sqrt(mean(x^2) + eps) * weight */
extern const struct wick_op wick_rows_swiglu, wick_rows_swiglu_quantized;     /* (gate, up): gate * sigmoid(gate) * up */

#endif
