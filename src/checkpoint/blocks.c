/* checkpoint/blocks.c - owns the meaning of stored elements: plain numbers and GGUF's block types, to float32.
 *
 * Block types hold scales as f16. The products and sums are float32 in the order written here, which is llama.cpp's, so
 * that the values equal its dequantisation bit for bit. Values go on to read.c. */
#include "checkpoint/blocks.h"

#include "checkpoint/table.h"
#include "tensor/half.h"

static float half_at(const uint8_t *p) { return wick_f32_from_f16(wick_ckpt_u16(p)); }

/* d f16, 32 x i8 */
static void q8_0(const uint8_t *p, float *out)
{
    float d = half_at(p);
    for (int i = 0; i < 32; i++) out[i] = (float)(int8_t)p[2 + i] * d;
}

/* d f16, 16 bytes: low nibbles are elements 0-15, high nibbles 16-31 */
static void q4_0(const uint8_t *p, float *out)
{
    float d = half_at(p);
    for (int i = 0; i < 16; i++) {
        out[i] = (float)((p[2 + i] & 15) - 8) * d;
        out[i + 16] = (float)((p[2 + i] >> 4) - 8) * d;
    }
}

/* d f16, m f16, 16 bytes of nibbles as in q4_0 */
static void q4_1(const uint8_t *p, float *out)
{
    float d = half_at(p), m = half_at(p + 2);
    for (int i = 0; i < 16; i++) {
        out[i] = (float)(p[4 + i] & 15) * d + m;
        out[i + 16] = (float)(p[4 + i] >> 4) * d + m;
    }
}

/* d f16, u32 with the fifth bit of each element, 16 bytes of nibbles */
static void q5_0(const uint8_t *p, float *out)
{
    float d = half_at(p);
    uint32_t high = wick_ckpt_u32(p + 2);
    for (int i = 0; i < 16; i++) {
        int low = (p[6 + i] & 15) | (int)(high >> i & 1) << 4, up = p[6 + i] >> 4 | (int)(high >> (i + 16) & 1) << 4;
        out[i] = (float)(low - 16) * d;
        out[i + 16] = (float)(up - 16) * d;
    }
}

/* d f16, m f16, then as q5_0 */
static void q5_1(const uint8_t *p, float *out)
{
    float d = half_at(p), m = half_at(p + 2);
    uint32_t high = wick_ckpt_u32(p + 4);
    for (int i = 0; i < 16; i++) {
        int low = (p[8 + i] & 15) | (int)(high >> i & 1) << 4, up = p[8 + i] >> 4 | (int)(high >> (i + 16) & 1) << 4;
        out[i] = (float)low * d + m;
        out[i + 16] = (float)up * d + m;
    }
}

/* Scale and minimum (6 bits each) of group `i` of 8, packed in 12 bytes: groups 0-3 in the low 6 bits of bytes i and
 * i + 4; groups 4-7 in the nibbles of byte i + 4 with their upper 2 bits on top of bytes i - 4 and i. */
static void group_scales(const uint8_t *packed, int i, float *scale, float *minimum)
{
    int s, m;
    if (i < 4) {
        s = packed[i] & 63;
        m = packed[i + 4] & 63;
    } else {
        s = (packed[i + 4] & 15) | packed[i - 4] >> 6 << 4;
        m = packed[i + 4] >> 4 | packed[i] >> 6 << 4;
    }
    *scale = (float)s;
    *minimum = (float)m;
}

/* d f16, dmin f16, 12 bytes of scales, 128 bytes: each 32 bytes are two groups of 32, low nibbles first */
static void q4_k(const uint8_t *p, float *out)
{
    float d = half_at(p), dmin = half_at(p + 2), scale, minimum;
    for (int group = 0; group < 8; group++) {
        const uint8_t *q = p + 16 + group / 2 * 32;
        int shift = group % 2 * 4;
        group_scales(p + 4, group, &scale, &minimum);
        scale *= d;
        minimum *= dmin;
        for (int i = 0; i < 32; i++) out[group * 32 + i] = scale * (float)(q[i] >> shift & 15) - minimum;
    }
}

/* d f16, dmin f16, 12 bytes of scales, 32 bytes whose bit g is the fifth bit of group g, 128 bytes as in q4_k */
static void q5_k(const uint8_t *p, float *out)
{
    float d = half_at(p), dmin = half_at(p + 2), scale, minimum;
    const uint8_t *high = p + 16;
    for (int group = 0; group < 8; group++) {
        const uint8_t *q = p + 48 + group / 2 * 32;
        int shift = group % 2 * 4;
        group_scales(p + 4, group, &scale, &minimum);
        scale *= d;
        minimum *= dmin;
        for (int i = 0; i < 32; i++) out[group * 32 + i] = scale * (float)((q[i] >> shift & 15) | (high[i] >> group & 1) << 4) - minimum;
    }
}

/* 128 bytes of low nibbles, 64 bytes of upper 2 bits, 16 x i8 scales (one for 16 elements), d f16. Each half of 128
 * elements is four runs of 32: run r takes nibble r/2 of bytes (r%2)*32.. and bits 2r of the upper bytes. */
static void q6_k(const uint8_t *p, float *out)
{
    float d = half_at(p + 208);
    for (int half = 0; half < 2; half++) {
        const uint8_t *low = p + half * 64, *high = p + 128 + half * 32;
        const uint8_t *scales = p + 192 + half * 8;
        for (int run = 0; run < 4; run++) {
            for (int i = 0; i < 32; i++) {
                int q = (low[run % 2 * 32 + i] >> (run / 2 * 4) & 15) | (high[i] >> (run * 2) & 3) << 4;
                float scale = d * (float)(int8_t)scales[run * 2 + i / 16];
                out[half * 128 + run * 32 + i] = scale * (float)(q - 32);
            }
        }
    }
}

static double f64_at(const uint8_t *p)
{
    uint64_t bits = wick_ckpt_u64(p);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void wick_ckpt_decode(enum wick_ckpt_storage storage, const uint8_t *src, size_t blocks, float *out)
{
    switch (storage) {
#define EACH(name, bytes, expression)                                                              \
    case WICK_CKPT_##name:                                                                         \
        for (size_t i = 0; i < blocks; i++) {                                                      \
            const uint8_t *p = src + i * (bytes);                                                  \
            out[i] = expression;                                                                   \
        }                                                                                          \
        return;
    EACH(F32, 4, wick_f32_from_bits(wick_ckpt_u32(p)))
    EACH(F16, 2, half_at(p))
    EACH(BF16, 2, wick_f32_from_bf16(wick_ckpt_u16(p)))
    EACH(F64, 8, (float)f64_at(p))
    EACH(I64, 8, (float)(int64_t)wick_ckpt_u64(p))
    EACH(I32, 4, (float)(int32_t)wick_ckpt_u32(p))
    EACH(I16, 2, (float)(int16_t)wick_ckpt_u16(p))
    EACH(I8, 1, (float)(int8_t)*p)
    EACH(U64, 8, (float)wick_ckpt_u64(p))
    EACH(U32, 4, (float)wick_ckpt_u32(p))
    EACH(U16, 2, (float)wick_ckpt_u16(p))
    EACH(U8, 1, (float)*p)
    EACH(BOOL, 1, (float)(*p != 0))
    EACH(F8_E4M3, 1, wick_ckpt_f8_e4m3(*p))
    EACH(F8_E5M2, 1, wick_ckpt_f8_e5m2(*p))
#undef EACH
#define BLOCK(name, decode, elements, bytes)                                                       \
    case WICK_CKPT_##name:                                                                         \
        for (size_t i = 0; i < blocks; i++) decode(src + i * (bytes), out + i * (elements));       \
        return;
    BLOCK(Q8_0, q8_0, 32, 34)
    BLOCK(Q4_0, q4_0, 32, 18)
    BLOCK(Q4_1, q4_1, 32, 20)
    BLOCK(Q5_0, q5_0, 32, 22)
    BLOCK(Q5_1, q5_1, 32, 24)
    BLOCK(Q4_K, q4_k, 256, 144)
    BLOCK(Q5_K, q5_k, 256, 176)
    BLOCK(Q6_K, q6_k, 256, 210)
    BLOCK(Q2_K, wick_ckpt_q2_k, 256, 84)
    BLOCK(Q3_K, wick_ckpt_q3_k, 256, 110)
    BLOCK(Q8_K, wick_ckpt_q8_k, 256, 292)
    BLOCK(IQ4_NL, wick_ckpt_iq4_nl, 32, 18)
    BLOCK(IQ4_XS, wick_ckpt_iq4_xs, 256, 136)
    BLOCK(TQ1_0, wick_ckpt_tq1_0, 256, 54)
    BLOCK(TQ2_0, wick_ckpt_tq2_0, 256, 66)
    BLOCK(MXFP4, wick_ckpt_mxfp4, 32, 17)
#undef BLOCK
    case WICK_CKPT_STORAGE_COUNT: return;
    }
}
