/* ops/matmul/gemm.h - the GEMM micro-kernels over a pool of threads. */
#ifndef WICK_OPS_MATMUL_GEMM_H
#define WICK_OPS_MATMUL_GEMM_H

#include "runtime/op.h"
#include "ukernel/ukernels.h"

/* Packs all columns into packed (gemm->packed_size bytes, 64-aligned). pool may be NULL. */
void wick_gemm_pack(const struct wick_gemm *gemm, const struct wick_gemm_weights *weights, void *packed, struct wick_pool *pool);
/* The same of constant weights, piece by piece, each of which is given back when it is packed. */
void wick_gemm_pack_constant(const struct wick_gemm *gemm, const struct wick_gemm_weights *weights, size_t element, void *packed, const struct wick_bind *bind);
/* All columns of call, shared among threads. An element's value does not depend on how. */
void wick_gemm_run(const struct wick_gemm *gemm, const struct wick_gemm_call *call, struct wick_pool *pool);

#endif
