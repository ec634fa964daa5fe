/* ops/quantized/affine.h - rows of elements that share one scale and zero point. */
#ifndef WICK_OPS_QUANTIZED_AFFINE_H
#define WICK_OPS_QUANTIZED_AFFINE_H

#include "tensor/tensor.h"

/* Scale and zero point for values in [low, high], as ExecuTorch chooses them: range widened to contain 0, scales below
 * 6.1e-5 raised to it, the zero point taken from the end that it represents better. qmin < qmax. */
void wick_affine_choose(float low, float high, int32_t qmin, int32_t qmax, double *scale, int64_t *zero_point);

/* Whether rows of these types can be converted: floats f32, f16, f64 to u8, i8, i16, i32, u16, bits16; back to f32,
 * f16, bf16, f64. */
bool wick_affine_from(int dtype);
bool wick_affine_stored(int dtype);

/* q = clamp(zero_point + round_half_even(x * (1 / (float)scale)), qmin, qmax); n elements. NaN gives qmin. */
void wick_affine_quantize(void *q, int q_dtype, const void *x, int x_dtype, size_t n, double scale, int64_t zero_point, int64_t qmin, int64_t qmax);
/* x = (q - zero_point) * (float)scale. */
void wick_affine_dequantize(void *x, int x_dtype, const void *q, int q_dtype, size_t n, double scale, int64_t zero_point);

#endif
