/* ukernel/arm/dotprod/qb4.c - 8-bit rows times groups of 4-bit weights: sdot, 8 columns by up to 4 rows.
 *
 * sdot wants signed rows: a - 128 is a with its top bit turned. The order of arithmetic is that of unsigned rows, so 128 times the sum of the
 * group's weights, packed beside the scales, is where each sum begins. */
#include "ukernel/arm/dotprod/dotprod.h"

#include <arm_neon.h>

enum { NR = 8 };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "ukernel/generic/gemm.h"
#include "ukernel/generic/gemm_quantized.h"
#pragma GCC diagnostic pop
#define QUAD_NR 8
#define QUAD_SUMS 1
#include "ukernel/generic/qb4_quads.h"

static inline void store_columns(const struct wick_gemm_call *c, size_t row, size_t column, float32x4_t v0, float32x4_t v1)
{
    float *out = c->c + row * c->c_stride + column, part[8];
    size_t n = c->n - column < 8 ? c->n - column : 8;
    vst1q_f32(part, v0);
    vst1q_f32(part + 4, v1);
    for (size_t j = 0; j < n; j++) out[j] = clamp_out(c, part[j]);
}

static inline __attribute__((always_inline)) void qb4_rows(const struct wick_gemm_call *c, const float *start, size_t column, size_t row, const int rows)
{
    const uint8x16_t low_nibbles = vdupq_n_u8(15), top = vdupq_n_u8(128);
    const int8x16_t eight = vdupq_n_s8(8);
    const uint8_t *w = (const uint8_t *)(start + 16), *a[4];
    float32x4_t acc[4][2];
    for (int r = 0; r < rows; r++) {
        float zero_point = (float)c->params[row + (size_t)r].zero_point;
        a[r] = (const uint8_t *)c->a + (row + (size_t)r) * c->a_stride;
        for (int h = 0; h < 2; h++) acc[r][h] = vmulq_n_f32(vld1q_f32(start + 4 * h), zero_point);
    }
    for (size_t k = 0; k < c->k; k += c->group) {
        uint16x8_t half = vreinterpretq_u16_u8(vld1q_u8(w));
        int16x8_t sums = vreinterpretq_s16_u8(vld1q_u8(w + 16));
        const float32x4_t scale[2] = {vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(half), 16)), vreinterpretq_f32_u32(vshll_n_u16(vget_high_u16(half), 16))};
        const int32x4_t begin[2] = {vshll_n_s16(vget_low_s16(sums), 7), vshll_n_s16(vget_high_s16(sums), 7)};
        int32x4_t sum[4][2];
        for (int r = 0; r < rows; r++)
            for (int h = 0; h < 2; h++) sum[r][h] = begin[h];
        w += 32;
        for (size_t i = k; i < k + c->group; i += 16) {
            int8x16_t x[4];
            for (int r = 0; r < rows; r++) x[r] = vreinterpretq_s8_u8(veorq_u8(vld1q_u8(a[r] + i), top));
            for (int q = 0; q < 2; q++)
                for (int h = 0; h < 2; h++) {
                    uint8x16_t both = vld1q_u8(w + 32 * q + 16 * h);
                    int8x16_t low = vsubq_s8(vreinterpretq_s8_u8(vandq_u8(both, low_nibbles)), eight);
                    int8x16_t high = vsubq_s8(vreinterpretq_s8_u8(vshrq_n_u8(both, 4)), eight);
                    for (int r = 0; r < rows; r++) {
                        sum[r][h] = q == 0 ? vdotq_laneq_s32(sum[r][h], low, x[r], 0) : vdotq_laneq_s32(sum[r][h], low, x[r], 2);
                        sum[r][h] = q == 0 ? vdotq_laneq_s32(sum[r][h], high, x[r], 1) : vdotq_laneq_s32(sum[r][h], high, x[r], 3);
                    }
                }
            w += 64;
        }
        for (int r = 0; r < rows; r++)
            for (int h = 0; h < 2; h++) acc[r][h] = vfmaq_f32(acc[r][h], vcvtq_f32_s32(sum[r][h]), scale[h]);
    }
    for (int r = 0; r < rows; r++) {
        float inv = c->params[row + (size_t)r].inv_scale;
        store_columns(c, row + (size_t)r, column, vaddq_f32(vmulq_n_f32(acc[r][0], inv), vld1q_f32(start + 8)),
                      vaddq_f32(vmulq_n_f32(acc[r][1], inv), vld1q_f32(start + 12)));
    }
}

static void qb4_run(const struct wick_gemm_call *c, size_t n0, size_t n1)
{
    const size_t block = quad_size(QUAD_NR, c->k, c->group);
    for (size_t n = n0; n < n1; n += QUAD_NR) {
        const float *start = (const float *)(const void *)((const char *)c->packed + n / QUAD_NR * block);
        size_t m = 0;
        for (; m + 4 <= c->m; m += 4) qb4_rows(c, start, n, m, 4);
        for (; m < c->m; m++) qb4_rows(c, start, n, m, 1);
    }
}

void wick_dotprod_fill_qb4(struct wick_ukernels *t) { t->gemm_qd8_qb4 = (struct wick_gemm){4, QUAD_NR, quad_size, quad_pack, qb4_run}; }
