/* ukernel/arm/dotprod/qc.c - 8-bit rows times 8- or 4-bit weights of one scale a column: sdot, 8 columns by up to 4 rows.
 *
 * sdot wants signed rows: a - 128 is a with its top bit turned, so a sum begins at (128 - zero_point) times the sum of its column's weights. */
#include "ukernel/arm/dotprod/dotprod.h"

#include <arm_neon.h>

enum { NR = 8 };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "ukernel/generic/gemm.h"
#include "ukernel/generic/gemm_quantized.h"
#pragma GCC diagnostic pop
#define QUAD_NR 8
#define QUAD_FLIP 0
#include "ukernel/generic/qc_quads.h"

/* 8 columns (two vectors) of the quad at w, or of its nibbles. */
struct quad {
    int8x16_t v[2];
};

static inline struct quad whole_quad(const uint8_t *w)
{
    return (struct quad){{vreinterpretq_s8_u8(vld1q_u8(w)), vreinterpretq_s8_u8(vld1q_u8(w + 16))}};
}

static inline struct quad nibble_quad(const uint8_t *w, const bool high)
{
    struct quad q = whole_quad(w);
    for (int h = 0; h < 2; h++) {
        uint8x16_t x = vreinterpretq_u8_s8(q.v[h]);
        x = high ? vshrq_n_u8(x, 4) : vandq_u8(x, vdupq_n_u8(15));
        q.v[h] = vsubq_s8(vreinterpretq_s8_u8(x), vdupq_n_s8(8));
    }
    return q;
}

static inline __attribute__((always_inline)) void add_quad(int32x4_t sum[4][2], const int8x16_t x[4], struct quad q, const int lane, const int rows)
{
    for (int r = 0; r < rows; r++)
        for (int h = 0; h < 2; h++) {
            if (lane == 0) sum[r][h] = vdotq_laneq_s32(sum[r][h], q.v[h], x[r], 0);
            else if (lane == 1) sum[r][h] = vdotq_laneq_s32(sum[r][h], q.v[h], x[r], 1);
            else if (lane == 2) sum[r][h] = vdotq_laneq_s32(sum[r][h], q.v[h], x[r], 2);
            else sum[r][h] = vdotq_laneq_s32(sum[r][h], q.v[h], x[r], 3);
        }
}

/* `rows` and `four` are constants at each call. */
static inline __attribute__((always_inline)) void qc_rows(const struct wick_gemm_call *c, const char *block, size_t column, size_t row,
                                                          const int rows, const bool four)
{
    const float *bias = (const float *)(const void *)block, *scale = bias + NR;
    const int32_t *sums = (const int32_t *)(const void *)(scale + NR);
    const uint8_t *w = (const uint8_t *)(sums + NR);
    const size_t k_end = qc_steps(c->k) * QC_STEP;
    uint8_t tail[4][QC_STEP];
    int32x4_t sum[4][2];
    for (int r = 0; r < rows; r++)
        for (int h = 0; h < 2; h++) sum[r][h] = vmulq_n_s32(vld1q_s32(sums + 4 * h), 128 - c->params[row + (size_t)r].zero_point);
    for (size_t k = 0; k < k_end; k += QC_STEP) {
        const uint8_t *a[4];
        for (int r = 0; r < rows; r++) a[r] = qc_row(c, row + (size_t)r, k, tail[r]);
        for (size_t i = 0; i < QC_STEP; i += 16, w += four ? 64 : 128) {
            int8x16_t x[4];
            for (int r = 0; r < rows; r++) x[r] = vreinterpretq_s8_u8(veorq_u8(vld1q_u8(a[r] + i), vdupq_n_u8(128)));
            for (int q = 0; q < 4; q++) add_quad(sum, x, four ? nibble_quad(w + q / 2 * 32, q % 2) : whole_quad(w + q * 32), q, rows);
        }
    }
    for (int r = 0; r < rows; r++) {
        float *out = c->c + (row + (size_t)r) * c->c_stride + column, part[NR];
        for (int h = 0; h < 2; h++) {
            float32x4_t f = vmulq_n_f32(vcvtq_f32_s32(sum[r][h]), c->params[row + (size_t)r].inv_scale);
            vst1q_f32(part + 4 * h, vfmaq_f32(vld1q_f32(bias + 4 * h), f, vld1q_f32(scale + 4 * h)));
        }
        for (size_t j = 0; j < NR && column + j < c->n; j++) out[j] = clamp_out(c, part[j]);
    }
}

static inline __attribute__((always_inline)) void qc_run(const struct wick_gemm_call *c, size_t n0, size_t n1, const bool four)
{
    const size_t block = qc_block(c->k, four);
    for (size_t n = n0; n < n1; n += NR) {
        const char *begin = (const char *)c->packed + n / NR * block;
        size_t m = 0;
        for (; m + 4 <= c->m; m += 4) qc_rows(c, begin, n, m, 4, four);
        if (c->m - m >= 2) {
            qc_rows(c, begin, n, m, 2, four);
            m += 2;
        }
        if (m < c->m) qc_rows(c, begin, n, m, 1, four);
    }
}

static void qc8_run(const struct wick_gemm_call *c, size_t n0, size_t n1) { qc_run(c, n0, n1, false); }
static void qc4_run(const struct wick_gemm_call *c, size_t n0, size_t n1) { qc_run(c, n0, n1, true); }

void wick_dotprod_fill_qc(struct wick_ukernels *t)
{
    t->gemm_qd8_qc8 = (struct wick_gemm){4, NR, qc8_size, qc8_pack, qc8_run};
    t->gemm_qd8_qc4 = (struct wick_gemm){4, NR, qc4_size, qc4_pack, qc4_run};
}
