/* tensor/half.h - conversions between float32 and the 16-bit floats, round to nearest even (IEEE 754). */
#ifndef WICK_TENSOR_HALF_H
#define WICK_TENSOR_HALF_H

#include <stdint.h>
#include <string.h>

static inline float wick_f32_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t wick_bits_from_f32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float wick_f32_from_bf16(uint16_t half) { return wick_f32_from_bits((uint32_t)half << 16); }

static inline uint16_t wick_bf16_from_f32(float value)
{
    uint32_t bits = wick_bits_from_f32(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(bits >> 16 | 0x40u); /* a NaN stays one */
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

static inline float wick_f32_from_f16(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16, rest = half & 0x7fffu;
    if (rest >= 0x7c00u) return wick_f32_from_bits(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    if (rest >= 0x400u) return wick_f32_from_bits(sign | ((rest << 13) + (112u << 23)));
    /* Subnormal: rest * 2^-24, exact in float32. */
    float magnitude = (float)rest * 0x1p-24f;
    return wick_f32_from_bits(sign | wick_bits_from_f32(magnitude));
}

static inline uint16_t wick_f16_from_f32(float value)
{
    uint32_t bits = wick_bits_from_f32(value), sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
    if (rest > 0x7f800000u) return (uint16_t)(sign | 0x7e00u | (rest >> 13 & 0x3ffu));
    if (rest >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u); /* rounds to or is above 65520 */
    if (rest < 0x38800000u) {
        /* Below 2^-14: adding 0.5 puts the half's last bit at the float's last bit, rounding on the way. */
        float shifted = wick_f32_from_bits(rest) + 0.5f;
        return (uint16_t)(sign | (wick_bits_from_f32(shifted) - 0x3f000000u));
    }
    rest += 0xfffu + (rest >> 13 & 1u);
    return (uint16_t)(sign | (rest - (112u << 23)) >> 13);
}

#endif
