/* ukernel/x86/avx512vnni/qc.c - 8-bit rows times 8- or 4-bit weights of one scale a column: vpdpbusd, 16 columns by up to 8 rows. */
#include "ukernel/x86/avx512vnni/avx512vnni.h"

#ifndef WICK_EMULATED_INTRINSICS
#include <immintrin.h>
#endif

enum { NR = 16 };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "ukernel/generic/gemm.h"
#include "ukernel/generic/gemm_quantized.h"
#pragma GCC diagnostic pop
#define QUAD_NR 16
#define QUAD_FLIP 0
#include "ukernel/generic/qc_quads.h"

static inline __m512i qc_quad_at(const uint8_t *a)
{
    int32_t quad;
    memcpy(&quad, a, sizeof quad);
    return _mm512_set1_epi32(quad);
}

static inline void qc_store(const struct wick_gemm_call *c, size_t row, size_t column, __m512 v)
{
    float *out = c->c + row * c->c_stride + column, part[16];
    size_t n = c->n - column;
    v = _mm512_min_ps(_mm512_set1_ps(c->max), _mm512_max_ps(_mm512_set1_ps(c->min), v));
    if (n >= 16) {
        _mm512_storeu_ps(out, v);
        return;
    }
    _mm512_storeu_ps(part, v);
    memcpy(out, part, n * sizeof *out);
}

/* `rows` and `four` are constants at each call. */
static inline __attribute__((always_inline)) void qc_rows(const struct wick_gemm_call *c, const char *block, size_t column, size_t row,
                                                          const int rows, const bool four)
{
    const __m512i low_nibbles = _mm512_set1_epi8(15), eight = _mm512_set1_epi8(8);
    const float *bias = (const float *)(const void *)block, *scale = bias + NR;
    const uint8_t *w = (const uint8_t *)(scale + 2 * NR);
    const size_t k_end = qc_steps(c->k) * QC_STEP;
    uint8_t tail[8][QC_STEP];
    __m512i sum[8];
    for (int r = 0; r < rows; r++)
        sum[r] = _mm512_mullo_epi32(_mm512_loadu_si512((const void *)(scale + NR)), _mm512_set1_epi32(-c->params[row + (size_t)r].zero_point));
    for (size_t k = 0; k < k_end; k += QC_STEP) {
        const uint8_t *a[8];
        for (int r = 0; r < rows; r++) a[r] = qc_row(c, row + (size_t)r, k, tail[r]);
        for (size_t i = 0; i < QC_STEP; i += 8, w += four ? 64 : 128) {
            __m512i first = _mm512_loadu_si512((const void *)w), second;
            if (four) {
                second = _mm512_sub_epi8(_mm512_and_si512(_mm512_srli_epi16(first, 4), low_nibbles), eight);
                first = _mm512_sub_epi8(_mm512_and_si512(first, low_nibbles), eight);
            } else {
                second = _mm512_loadu_si512((const void *)(w + 64));
            }
            for (int r = 0; r < rows; r++) {
                sum[r] = _mm512_dpbusd_epi32(sum[r], qc_quad_at(a[r] + i), first);
                sum[r] = _mm512_dpbusd_epi32(sum[r], qc_quad_at(a[r] + i + 4), second);
            }
        }
    }
    for (int r = 0; r < rows; r++) {
        __m512 f = _mm512_mul_ps(_mm512_cvtepi32_ps(sum[r]), _mm512_set1_ps(c->params[row + (size_t)r].inv_scale));
        qc_store(c, row + (size_t)r, column, _mm512_fmadd_ps(f, _mm512_loadu_ps(scale), _mm512_loadu_ps(bias)));
    }
}

static inline __attribute__((always_inline)) void qc_run(const struct wick_gemm_call *c, size_t n0, size_t n1, const bool four)
{
    const size_t block = qc_block(c->k, four);
    for (size_t n = n0; n < n1; n += NR) {
        const char *begin = (const char *)c->packed + n / NR * block;
        size_t m = 0;
        for (; m + 8 <= c->m; m += 8) qc_rows(c, begin, n, m, 8, four);
        if (c->m - m >= 4) {
            qc_rows(c, begin, n, m, 4, four);
            m += 4;
        }
        for (; m < c->m; m++) qc_rows(c, begin, n, m, 1, four);
    }
}

static void qc8_run(const struct wick_gemm_call *c, size_t n0, size_t n1) { qc_run(c, n0, n1, false); }
static void qc4_run(const struct wick_gemm_call *c, size_t n0, size_t n1) { qc_run(c, n0, n1, true); }

void wick_avx512vnni_fill_qc(struct wick_ukernels *t)
{
    t->gemm_qd8_qc8 = (struct wick_gemm){8, NR, qc8_size, qc8_pack, qc8_run};
    t->gemm_qd8_qc4 = (struct wick_gemm){8, NR, qc4_size, qc4_pack, qc4_run};
}
