/* ukernel/x86/avx512vnni/qb4.c - 8-bit rows times groups of 4-bit weights: vpdpbusd, 16 columns by up to 8 rows. */
#include "ukernel/x86/avx512vnni/avx512vnni.h"

#ifndef WICK_EMULATED_INTRINSICS /* kernelcheck compiles this file once more over an emulation, to check it on any processor */
#include <immintrin.h>
#endif

enum { NR = 16 };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "ukernel/generic/gemm.h"
#include "ukernel/generic/gemm_quantized.h"
#pragma GCC diagnostic pop
#define QUAD_NR 16
#define QUAD_SUMS 0
#include "ukernel/generic/qb4_quads.h"

static inline __m512i quad_at(const uint8_t *a)
{
    int32_t quad;
    memcpy(&quad, a, sizeof quad);
    return _mm512_set1_epi32(quad);
}

static inline void store_columns(const struct wick_gemm_call *c, size_t row, size_t column, __m512 v)
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

static inline __attribute__((always_inline)) void qb4_rows(const struct wick_gemm_call *c, const float *start, size_t column, size_t row, const int rows)
{
    const __m512i low_nibbles = _mm512_set1_epi8(15), eight = _mm512_set1_epi8(8);
    const uint8_t *w = (const uint8_t *)(start + 32), *a[8];
    __m512 acc[8];
    for (int r = 0; r < rows; r++) {
        a[r] = (const uint8_t *)c->a + (row + (size_t)r) * c->a_stride;
        acc[r] = _mm512_mul_ps(_mm512_loadu_ps(start), _mm512_set1_ps((float)c->params[row + (size_t)r].zero_point));
    }
    for (size_t k = 0; k < c->k; k += c->group) {
        __m512 scale = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)w)), 16));
        __m512i sum[8];
        for (int r = 0; r < rows; r++) sum[r] = _mm512_setzero_si512();
        w += 32;
        for (size_t end = k + c->group, i = k; i < end; i += 8, w += 64) {
            __m512i both = _mm512_loadu_si512((const void *)w);
            __m512i low = _mm512_sub_epi8(_mm512_and_si512(both, low_nibbles), eight);
            __m512i high = _mm512_sub_epi8(_mm512_and_si512(_mm512_srli_epi16(both, 4), low_nibbles), eight);
            for (int r = 0; r < rows; r++) {
                sum[r] = _mm512_dpbusd_epi32(sum[r], quad_at(a[r] + i), low);
                sum[r] = _mm512_dpbusd_epi32(sum[r], quad_at(a[r] + i + 4), high);
            }
        }
        for (int r = 0; r < rows; r++) acc[r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum[r]), scale, acc[r]);
    }
    for (int r = 0; r < rows; r++) {
        __m512 inv = _mm512_set1_ps(c->params[row + (size_t)r].inv_scale);
        store_columns(c, row + (size_t)r, column, _mm512_add_ps(_mm512_mul_ps(acc[r], inv), _mm512_loadu_ps(start + 16)));
    }
}

static void qb4_run(const struct wick_gemm_call *c, size_t n0, size_t n1)
{
    const size_t block = quad_size(QUAD_NR, c->k, c->group);
    for (size_t n = n0; n < n1; n += QUAD_NR) {
        const float *start = (const float *)(const void *)((const char *)c->packed + n / QUAD_NR * block);
        size_t m = 0;
        for (; m + 8 <= c->m; m += 8) qb4_rows(c, start, n, m, 8);
        if (c->m - m >= 4) {
            qb4_rows(c, start, n, m, 4);
            m += 4;
        }
        for (; m < c->m; m++) qb4_rows(c, start, n, m, 1);
    }
}

void wick_avx512vnni_fill_qb4(struct wick_ukernels *t) { t->gemm_qd8_qb4 = (struct wick_gemm){8, QUAD_NR, quad_size, quad_pack, qb4_run}; }
