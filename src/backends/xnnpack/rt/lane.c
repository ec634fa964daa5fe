/* xnnpack/rt/lane.c - stored elements to float32 and back; see lane.h. */
#include "backends/xnnpack/rt/lane.h"

#include "ukernel/ukernels.h"

#include <string.h>

bool wick_xnn_lane_known(int dtype)
{
    return dtype == WICK_DTYPE_F32 || dtype == WICK_DTYPE_F16 || dtype == WICK_DTYPE_BF16 || dtype == WICK_DTYPE_I8 || dtype == WICK_DTYPE_U8;
}

void wick_xnn_lane_load(const struct wick_xnn_lane *lane, const struct wick_ukernels *uk, const void *base, size_t first, size_t count, float *out)
{
    const uint8_t *bytes = (const uint8_t *)base + first;
    const float zero = (float)lane->zero_point, scale = lane->scale;
    switch (lane->dtype) {
    case WICK_DTYPE_F16: uk->f16_to_f32(count, (const uint16_t *)base + first, out); break;
    case WICK_DTYPE_BF16: uk->bf16_to_f32(count, (const uint16_t *)base + first, out); break;
    case WICK_DTYPE_I8: uk->i8_to_f32(count, (const int8_t *)base + first, scale, lane->zero_point, out); break;
    case WICK_DTYPE_U8:
        for (size_t i = 0; i < count; i++) out[i] = ((float)bytes[i] - zero) * scale;
        break;
    default: memcpy(out, (const float *)base + first, count * sizeof *out);
    }
}

/* rintf by adding and taking away 1.5 * 2^23: exact, to nearest even, for |x| < 2^22, where clamping has brought it. */
static inline int32_t round_clamped(float x, float low, float high)
{
    x = x > low ? x : low; /* a NaN becomes low */
    x = x < high ? x : high;
    return (int32_t)(x + 12582912.0f - 12582912.0f);
}

void wick_xnn_lane_store(const struct wick_xnn_lane *lane, const struct wick_ukernels *uk, void *base, size_t first, size_t count, const float *in)
{
    int8_t *bytes = (int8_t *)base + first;
    const int32_t zero = lane->zero_point;
    const float inverse = 1.0f / lane->scale;
    switch (lane->dtype) {
    case WICK_DTYPE_F16: uk->f32_to_f16(count, in, (uint16_t *)base + first); break;
    case WICK_DTYPE_BF16: uk->f32_to_bf16(count, in, (uint16_t *)base + first); break;
    case WICK_DTYPE_I8:
        for (size_t i = 0; i < count; i++) bytes[i] = (int8_t)(round_clamped(in[i] * inverse, (float)(-128 - zero), (float)(127 - zero)) + zero);
        break;
    case WICK_DTYPE_U8:
        for (size_t i = 0; i < count; i++) bytes[i] = (int8_t)(uint8_t)(round_clamped(in[i] * inverse, (float)-zero, (float)(255 - zero)) + zero);
        break;
    default: memcpy((float *)base + first, in, count * sizeof *in);
    }
}
