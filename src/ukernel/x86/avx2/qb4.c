/* ukernel/x86/avx2/qb4.c - 8-bit rows times groups of 4-bit weights: maddubs on four bytes at a time, 8 columns by up to 4 rows.
 *
 * a is at most 255 and |w| at most 8, so a pair of products is within 4080 and eight of them, 32 columns of k, within 32640: they fit the
 * 16-bit sums that maddubs makes, and the widening to 32 bits is needed once in 32 columns only. */
#include "ukernel/x86/avx2/avx2.h"

#include <immintrin.h>

enum { NR = 8 };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "ukernel/generic/gemm.h"
#include "ukernel/generic/gemm_quantized.h"
#pragma GCC diagnostic pop
#define QUAD_NR 8
#define QUAD_SUMS 0
#include "ukernel/generic/qb4_quads.h"

static inline __m256i quad_at(const uint8_t *a)
{
    int32_t quad;
    memcpy(&quad, a, sizeof quad);
    return _mm256_set1_epi32(quad);
}

static inline void store_columns(const struct wick_gemm_call *c, size_t row, size_t column, __m256 v)
{
    float *out = c->c + row * c->c_stride + column;
    size_t n = c->n - column;
    /* max and min take the second operand when one is NaN: x < low ? low : x. */
    v = _mm256_min_ps(_mm256_set1_ps(c->max), _mm256_max_ps(_mm256_set1_ps(c->min), v));
    if (n >= 8) {
        _mm256_storeu_ps(out, v);
        return;
    }
    float part[8];
    _mm256_storeu_ps(part, v);
    memcpy(out, part, n * sizeof *out);
}

/* `rows` is a constant at each call, so that the loops over it vanish. */
static inline __attribute__((always_inline)) void qb4_rows(const struct wick_gemm_call *c, const float *start, size_t column, size_t row, const int rows)
{
    const __m256i low_nibbles = _mm256_set1_epi8(15), eight = _mm256_set1_epi8(8), ones = _mm256_set1_epi16(1);
    const uint8_t *w = (const uint8_t *)(start + 16), *a[4];
    __m256 acc[4];
    for (int r = 0; r < rows; r++) {
        a[r] = (const uint8_t *)c->a + (row + (size_t)r) * c->a_stride;
        acc[r] = _mm256_mul_ps(_mm256_loadu_ps(start), _mm256_set1_ps((float)c->params[row + (size_t)r].zero_point));
    }
    for (size_t k = 0; k < c->k; k += c->group) {
        __m256 scale = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)w)), 16));
        __m256i sum[4];
        for (int r = 0; r < rows; r++) sum[r] = _mm256_setzero_si256();
        w += 16;
        for (size_t end = k + c->group, i = k; i < end; i += 32) {
            __m256i part[4];
            for (int r = 0; r < rows; r++) part[r] = _mm256_setzero_si256();
            for (size_t q = 0; q < 32; q += 8, w += 32) {
                __m256i both = _mm256_loadu_si256((const __m256i *)w);
                __m256i low = _mm256_sub_epi8(_mm256_and_si256(both, low_nibbles), eight);
                __m256i high = _mm256_sub_epi8(_mm256_and_si256(_mm256_srli_epi16(both, 4), low_nibbles), eight);
                for (int r = 0; r < rows; r++) {
                    part[r] = _mm256_add_epi16(part[r], _mm256_maddubs_epi16(quad_at(a[r] + i + q), low));
                    part[r] = _mm256_add_epi16(part[r], _mm256_maddubs_epi16(quad_at(a[r] + i + q + 4), high));
                }
            }
            for (int r = 0; r < rows; r++) sum[r] = _mm256_add_epi32(sum[r], _mm256_madd_epi16(part[r], ones));
        }
        for (int r = 0; r < rows; r++) acc[r] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum[r]), scale, acc[r]);
    }
    for (int r = 0; r < rows; r++) {
        __m256 inv = _mm256_set1_ps(c->params[row + (size_t)r].inv_scale);
        store_columns(c, row + (size_t)r, column, _mm256_add_ps(_mm256_mul_ps(acc[r], inv), _mm256_loadu_ps(start + 8)));
    }
}

static void qb4_run(const struct wick_gemm_call *c, size_t n0, size_t n1)
{
    const size_t block = quad_size(QUAD_NR, c->k, c->group);
    for (size_t n = n0; n < n1; n += QUAD_NR) {
        const float *start = (const float *)(const void *)((const char *)c->packed + n / QUAD_NR * block);
        size_t m = 0;
        for (; m + 4 <= c->m; m += 4) qb4_rows(c, start, n, m, 4);
        if (c->m - m >= 2) {
            qb4_rows(c, start, n, m, 2);
            m += 2;
        }
        if (m < c->m) qb4_rows(c, start, n, m, 1);
    }
}

void wick_avx2_fill_qb4(struct wick_ukernels *t) { t->gemm_qd8_qb4 = (struct wick_gemm){4, QUAD_NR, quad_size, quad_pack, qb4_run}; }
