/* ops/quantized/affine.c - the numerics of affine quantization, bit for bit those of ExecuTorch's kernels. */
#include "ops/quantized/affine.h"

#include "ops/copy/cast.h"
#include "tensor/half.h"

#include <float.h>
#include <math.h>

enum { BLOCK = 128 };

/* Below this a 16-bit float can no longer hold the scale well. */
static const float small_scale = 6.1e-5f;

void wick_affine_choose(float low, float high, int32_t qmin, int32_t qmax, double *scale_out, int64_t *zero_point)
{
    low = low < 0.0f ? low : 0.0f;
    high = high > 0.0f ? high : 0.0f;
    double range = (double)qmax - (double)qmin, scale = ((double)high - (double)low) / range;
    if ((float)scale == 0.0f || isinf(1.0f / (float)scale)) scale = 0.1;
    if (scale < (double)small_scale) {
        float before = (float)scale;
        scale = (double)small_scale;
        if (low == 0.0f) {
            high = small_scale * (float)range;
        } else if (high == 0.0f) {
            low = -small_scale * (float)range;
        } else {
            float wider = small_scale / before;
            low *= wider;
            high *= wider;
        }
    }
    double from_low = qmin - (double)low / scale, from_high = qmax - (double)high / scale;
    double error_low = fabs((double)qmin) - fabs((double)low / scale), error_high = fabs((double)qmax) - fabs((double)high / scale);
    double best = error_low < error_high ? from_low : from_high;
    *scale_out = scale;
    *zero_point = !(best >= qmin) ? qmin : best > qmax ? qmax : (int64_t)nearbyintf((float)best);
}

bool wick_affine_from(int dtype) { return dtype == WICK_DTYPE_F32 || dtype == WICK_DTYPE_F16 || dtype == WICK_DTYPE_BF16 || dtype == WICK_DTYPE_F64; }

bool wick_affine_stored(int dtype)
{
    return dtype == WICK_DTYPE_U8 || dtype == WICK_DTYPE_I8 || dtype == WICK_DTYPE_I16 || dtype == WICK_DTYPE_I32 || dtype == WICK_DTYPE_U16 ||
           dtype == WICK_DTYPE_BITS16;
}

/* The scaled values, each rounded to f32 once: x * inverse. */
static void scale_block(float *block, const void *x, int dtype, size_t at, size_t n, float inverse)
{
    switch (dtype) {
    case WICK_DTYPE_F32:
        for (size_t i = 0; i < n; i++) block[i] = ((const float *)x)[at + i] * inverse;
        break;
    case WICK_DTYPE_F16:
        for (size_t i = 0; i < n; i++) block[i] = wick_f32_from_f16(((const uint16_t *)x)[at + i]) * inverse;
        break;
    case WICK_DTYPE_BF16:
        for (size_t i = 0; i < n; i++) block[i] = wick_f32_from_bf16(((const uint16_t *)x)[at + i]) * inverse;
        break;
    default:
        for (size_t i = 0; i < n; i++) block[i] = (float)(((const double *)x)[at + i] * (double)inverse);
        break;
    }
}

/* Half to even for |x| < 2^22: the sum pushes the fraction out of the significand. */
static inline int32_t round_even(float x)
{
    const float push = 0x1.8p23f;
    return (int32_t)(wick_bits_from_f32(x + push) - wick_bits_from_f32(push));
}

/* Results that fit 16 bits: what lies beyond 2^21 is clamped in any case, and clamping first keeps it vectorisable. */
static void round_narrow(int32_t *out, const float *block, size_t n, int32_t zero_point, int32_t qmin, int32_t qmax)
{
    const float limit = 0x1p21f;
    for (size_t i = 0; i < n; i++) {
        float x = block[i] > -limit ? block[i] : -limit;
        int32_t q = round_even(x < limit ? x : limit) + zero_point;
        q = q > qmin ? q : qmin;
        out[i] = q < qmax ? q : qmax;
    }
}

static void round_wide(int32_t *out, const float *block, size_t n, int64_t zero_point, int64_t qmin, int64_t qmax)
{
    for (size_t i = 0; i < n; i++) {
        float x = block[i] > -0x1p40f ? block[i] : -0x1p40f;
        int64_t q = (int64_t)nearbyintf(x < 0x1p40f ? x : 0x1p40f) + zero_point;
        out[i] = (int32_t)(q < qmin ? qmin : q > qmax ? qmax : q);
    }
}

static int64_t clamp(int64_t x, int64_t low, int64_t high) { return x < low ? low : x > high ? high : x; }

void wick_affine_quantize(void *q, int q_dtype, const void *x, int x_dtype, size_t n, double scale, int64_t zero_point, int64_t qmin, int64_t qmax)
{
    float block[BLOCK], inverse = 1.0f / (float)scale;
    int32_t whole[BLOCK];
    bool narrow = zero_point >= -(1 << 16) && zero_point <= 1 << 16 && qmin >= -(1 << 16) && qmax <= 1 << 16;
    qmin = clamp(qmin, INT32_MIN, INT32_MAX);
    qmax = clamp(qmax, INT32_MIN, INT32_MAX);
    zero_point = clamp(zero_point, -((int64_t)1 << 40), (int64_t)1 << 40);
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t count = WICK_MIN(n - i, (size_t)BLOCK);
        scale_block(block, x, x_dtype, i, count, inverse);
        if (narrow) round_narrow(whole, block, count, (int32_t)zero_point, (int32_t)qmin, (int32_t)qmax);
        else round_wide(whole, block, count, zero_point, qmin, qmax);
        switch (q_dtype) {
        case WICK_DTYPE_U8:
        case WICK_DTYPE_I8:
            for (size_t k = 0; k < count; k++) ((uint8_t *)q)[i + k] = (uint8_t)whole[k];
            break;
        case WICK_DTYPE_I32: memcpy((int32_t *)q + i, whole, count * sizeof *whole); break;
        default:
            for (size_t k = 0; k < count; k++) ((uint16_t *)q)[i + k] = (uint16_t)whole[k];
            break;
        }
    }
}

void wick_affine_dequantize(void *x, int x_dtype, const void *q, int q_dtype, size_t n, double scale, int64_t zero_point)
{
    float block[BLOCK], factor = (float)scale;
    int32_t whole[BLOCK];
    size_t width = wick_dtype_size(x_dtype), stored = wick_dtype_size(q_dtype);
    zero_point = clamp(zero_point, INT32_MIN, INT32_MAX);
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t count = WICK_MIN(n - i, (size_t)BLOCK);
        float *to = x_dtype == WICK_DTYPE_F32 ? (float *)x + i : block;
        wick_cast(whole, WICK_DTYPE_I32, (const char *)q + i * stored, q_dtype, count);
        if (stored < 4) {
            for (size_t k = 0; k < count; k++) to[k] = (float)(int32_t)((uint32_t)whole[k] - (uint32_t)zero_point) * factor;
        } else {
            for (size_t k = 0; k < count; k++) to[k] = (float)(whole[k] - zero_point) * factor;
        }
        if (to == block) wick_cast((char *)x + i * width, x_dtype, block, WICK_DTYPE_F32, count);
    }
}
