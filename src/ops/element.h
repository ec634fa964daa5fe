/* ops/element.h - moving runs of elements between a tensor's type and the type a kernel computes with.
 *
 * Kernels are written once per compute type: f32 (f32, f16, bf16), f64, i64 (all integers and bool). */
#ifndef WICK_OPS_ELEMENT_H
#define WICK_OPS_ELEMENT_H

#include "ops/rules.h"

enum wick_compute { WICK_COMPUTE_F32, WICK_COMPUTE_F64, WICK_COMPUTE_I64, WICK_COMPUTE_COUNT };

static inline size_t wick_compute_size(enum wick_compute compute) { return compute == WICK_COMPUTE_F32 ? 4 : 8; }
/* The tensor type whose elements look like that, so that they need no conversion. */
static inline int wick_compute_dtype(enum wick_compute compute)
{
    return compute == WICK_COMPUTE_F32 ? WICK_DTYPE_F32 : compute == WICK_COMPUTE_F64 ? WICK_DTYPE_F64 : WICK_DTYPE_I64;
}
/* What operations on elements of an arithmetic dtype are computed in. */
enum wick_compute wick_compute_of(int dtype);

/* to[i] = from[i * stride], i in [0, n). `to` is an array of the compute type. */
typedef void wick_load_fn(void *to, const void *from, int64_t stride, size_t n);
/* to[i * stride] = from[i]. Integers keep their low bits, floats out of an integer's range become its minimum, any
 * number but 0 is true. */
typedef void wick_store_fn(void *to, int64_t stride, const void *from, size_t n);

/* NULL unless wick_dtype_is_arithmetic(dtype). */
wick_load_fn *wick_loader(int dtype, enum wick_compute compute);
wick_store_fn *wick_storer(int dtype, enum wick_compute compute);

/* INVALID_TYPE naming what and the type unless it is arithmetic. */
wick_status wick_element_check(const struct wick_tensor *t, const char *what, wick_error *err);

#endif
