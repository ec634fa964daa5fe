/* checkpoint/blocks_low.c - owns the meaning of GGUF's block types of few bits and of tables: q2_k, q3_k, q8_k, iq4_nl, iq4_xs,
 * tq1_0, tq2_0, mxfp4. As in blocks.c the float32 operations stand in llama.cpp's order. Values go on to read.c. */
#include "checkpoint/blocks.h"

#include "checkpoint/table.h"
#include "tensor/half.h"

static float half_at(const uint8_t *p) { return wick_f32_from_f16(wick_ckpt_u16(p)); }

/* 16 bytes (scale low, minimum high nibble, one for 16 elements), 64 bytes of 2 bits, d f16, dmin f16. Each half of 128
 * elements is four runs of 32: run r takes bits 2r of the half's 32 bytes. */
void wick_ckpt_q2_k(const uint8_t *p, float *out)
{
    float d = half_at(p + 80), dmin = half_at(p + 82);
    for (int i = 0; i < 256; i++) {
        int group = i / 16, half = i / 128, run = i / 32 % 4;
        float scale = d * (float)(p[group] & 15), minimum = dmin * (float)(p[group] >> 4);
        out[i] = scale * (float)(p[16 + half * 32 + i % 32] >> 2 * run & 3) - minimum;
    }
}

/* 32 bytes whose bit r is the third bit of run r of 32 elements (clear: 4 less), 64 bytes of 2 bits as in q2_k, 12 bytes
 * of 6-bit scales (low nibbles of 8 bytes, then high ones; upper 2 bits in the last 4 bytes), d f16. */
void wick_ckpt_q3_k(const uint8_t *p, float *out)
{
    float d = half_at(p + 108);
    const uint8_t *scales = p + 96;
    for (int i = 0; i < 256; i++) {
        int group = i / 16, half = i / 128, run = i / 32 % 4;
        int scale = (scales[group % 8] >> group / 8 * 4 & 15) | (scales[8 + group % 4] >> group / 4 * 2 & 3) << 4;
        int q = (p[32 + half * 32 + i % 32] >> 2 * run & 3) - (p[i % 32] >> i / 32 & 1 ? 0 : 4);
        out[i] = d * (float)(scale - 32) * (float)q;
    }
}

/* d f32, 256 x i8, 16 x i16 sums of 16 that only products with activations need */
void wick_ckpt_q8_k(const uint8_t *p, float *out)
{
    float d = wick_f32_from_bits(wick_ckpt_u32(p));
    for (int i = 0; i < 256; i++) out[i] = d * (float)(int8_t)p[4 + i];
}

static const int8_t iq4_values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

/* d f16, 16 bytes of nibbles that index a table: low ones are elements 0-15 */
void wick_ckpt_iq4_nl(const uint8_t *p, float *out)
{
    float d = half_at(p);
    for (int i = 0; i < 32; i++) out[i] = d * (float)iq4_values[p[2 + i % 16] >> i / 16 * 4 & 15];
}

/* d f16, u16 with the upper 2 bits of 8 scales, 4 bytes with their nibbles, 8 runs of 16 bytes as in iq4_nl */
void wick_ckpt_iq4_xs(const uint8_t *p, float *out)
{
    float d = half_at(p);
    const unsigned high = wick_ckpt_u16(p + 2);
    for (int group = 0; group < 8; group++) {
        int scale = (p[4 + group / 2] >> group % 2 * 4 & 15) | (int)(high >> 2 * group & 3) << 4;
        float dl = d * (float)(scale - 32);
        for (int i = 0; i < 32; i++) out[group * 32 + i] = dl * (float)iq4_values[p[8 + group * 16 + i % 16] >> i / 16 * 4 & 15];
    }
}

/* Digit `i` (0 the most significant) of a byte that holds five base-3 digits as the fraction byte/256. */
static float third(uint8_t byte, int i)
{
    static const uint8_t powers[5] = {1, 3, 9, 27, 81};
    return (float)(((uint8_t)(byte * powers[i]) * 3 >> 8) - 1);
}

/* 32 + 16 bytes of five digits, 4 bytes of four, d f16. Digit i of the 32 bytes are elements 32 i..; the others follow likewise. */
void wick_ckpt_tq1_0(const uint8_t *p, float *out)
{
    float d = half_at(p + 52);
    for (int i = 0; i < 160; i++) out[i] = d * third(p[i % 32], i / 32);
    for (int i = 0; i < 80; i++) out[160 + i] = d * third(p[32 + i % 16], i / 16);
    for (int i = 0; i < 16; i++) out[240 + i] = d * third(p[48 + i % 4], i / 4);
}

/* 64 bytes of 2 bits, 1 more than the value: 32 bytes hold four runs of 32 elements. d f16. */
void wick_ckpt_tq2_0(const uint8_t *p, float *out)
{
    float d = half_at(p + 64);
    for (int i = 0; i < 256; i++) out[i] = d * (float)((p[i / 128 * 32 + i % 32] >> i / 32 % 4 * 2 & 3) - 1);
}

/* Power of two of 8 bits, 16 bytes of nibbles: e2m1 floats, doubled to be whole; the power is halved for it */
void wick_ckpt_mxfp4(const uint8_t *p, float *out)
{
    static const int8_t values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
    float d = wick_f32_from_bits(p[0] < 2 ? UINT32_C(0x00200000) << p[0] : (uint32_t)(p[0] - 1) << 23);
    for (int i = 0; i < 32; i++) out[i] = d * (float)values[p[1 + i % 16] >> i / 16 * 4 & 15];
}

/* 1 sign, 4 exponent (bias 7), 3 mantissa bits; no infinities, all ones is NaN */
float wick_ckpt_f8_e4m3(uint8_t byte)
{
    const uint32_t sign = (uint32_t)(byte & 0x80) << 24;
    unsigned exponent = byte >> 3 & 15, mantissa = byte & 7;
    if ((byte & 0x7f) == 0x7f) return wick_f32_from_bits(sign | UINT32_C(0x7fc00000));
    if (exponent) return wick_f32_from_bits(sign | (exponent + 120) << 23 | mantissa << 20);
    float small = (float)mantissa * 0x1p-9f;
    return sign ? -small : small;
}

/* The upper byte of an f16 */
float wick_ckpt_f8_e5m2(uint8_t byte) { return wick_f32_from_f16((uint16_t)(byte << 8)); }
