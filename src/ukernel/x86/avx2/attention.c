/* ukernel/x86/avx2/attention.c - scores and weighted sums of attention, several query rows at a time, so that a key or value
 * is loaded once for all of them. Also used by the AVX-512 level.
 *
 * The order of arithmetic is that of qk_dot and pv_acc: 16 lanes and their tree; values in ascending order. */
#include "ukernel/x86/avx2/avx2.h"

#include <immintrin.h>
#include <math.h>

/* ---- scores ---- */

/* The tree over 16 lanes: l += l + 8, + 4, + 2, + 1. */
static inline float tree(__m256 low, __m256 high)
{
    __m256 eight = _mm256_add_ps(low, high);
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

/* Lanes of the elements beyond the last whole 16. */
static inline void add_tail(float *lanes, const float *q, const float *k, size_t from, size_t d)
{
    for (size_t l = 0; from + l < d; l++) lanes[l] = fmaf(q[from + l], k[from + l], lanes[l]);
}

/* `rows` queries against `keys` keys. Both are constants where this is inlined, so that the sums stay in registers. */
static inline __attribute__((always_inline)) void qk_block(const int rows, const int keys, size_t d, const float *q, size_t q_stride, const float *k, size_t k_stride,
                                                           float scale, float *scores, size_t scores_stride)
{
    __m256 low[4][4], high[4][4];
    for (int r = 0; r < rows; r++)
        for (int t = 0; t < keys; t++) low[r][t] = high[r][t] = _mm256_setzero_ps();
    size_t i = 0;
    for (; i + 16 <= d; i += 16) {
        for (int t = 0; t < keys; t++) {
            __m256 k0 = _mm256_loadu_ps(k + (size_t)t * k_stride + i), k1 = _mm256_loadu_ps(k + (size_t)t * k_stride + i + 8);
            for (int r = 0; r < rows; r++) {
                low[r][t] = _mm256_fmadd_ps(_mm256_loadu_ps(q + (size_t)r * q_stride + i), k0, low[r][t]);
                high[r][t] = _mm256_fmadd_ps(_mm256_loadu_ps(q + (size_t)r * q_stride + i + 8), k1, high[r][t]);
            }
        }
    }
    for (int r = 0; r < rows; r++)
        for (int t = 0; t < keys; t++) {
            float sum;
            if (i == d) {
                sum = tree(low[r][t], high[r][t]);
            } else {
                float lanes[16];
                _mm256_storeu_ps(lanes, low[r][t]);
                _mm256_storeu_ps(lanes + 8, high[r][t]);
                add_tail(lanes, q + (size_t)r * q_stride, k + (size_t)t * k_stride, i, d);
                sum = tree(_mm256_loadu_ps(lanes), _mm256_loadu_ps(lanes + 8));
            }
            scores[(size_t)r * scores_stride + (size_t)t] = scale * sum;
        }
}

static inline __attribute__((always_inline)) void qk_keys(const int rows, size_t n, size_t d, const float *q, size_t q_stride, const float *k, size_t k_stride, float scale,
                                                          float *scores, size_t scores_stride)
{
    size_t t = 0;
    for (; t + 2 <= n; t += 2) qk_block(rows, 2, d, q, q_stride, k + t * k_stride, k_stride, scale, scores + t, scores_stride);
    if (t < n) qk_block(rows, 1, d, q, q_stride, k + t * k_stride, k_stride, scale, scores + t, scores_stride);
}

static void qk_rows(size_t m, size_t n, size_t d, const float *q, size_t q_stride, const float *k, size_t k_stride, float scale, float *scores, size_t scores_stride)
{
    size_t r = 0;
    for (; r + 3 <= m; r += 3) qk_keys(3, n, d, q + r * q_stride, q_stride, k, k_stride, scale, scores + r * scores_stride, scores_stride);
    for (; r < m; r++) {
        size_t t = 0;
        for (; t + 4 <= n; t += 4)
            qk_block(1, 4, d, q + r * q_stride, q_stride, k + t * k_stride, k_stride, scale, scores + r * scores_stride + t, scores_stride);
        qk_keys(1, n - t, d, q + r * q_stride, q_stride, k + t * k_stride, k_stride, scale, scores + r * scores_stride + t, scores_stride);
    }
}

static void qk_dot(size_t n, size_t d, const float *q, const float *k, size_t stride, float scale, float *scores)
{
    qk_rows(1, n, d, q, d, k, stride, scale, scores, n);
}

/* ---- weighted sums ---- */

/* Elements [0, 8 * wide) of `rows` sums. */
static inline __attribute__((always_inline)) void pv_block(const int rows, const int wide, size_t n, const float *p, size_t p_stride, const float *v, size_t v_stride,
                                                           float *out, size_t out_stride)
{
    __m256 acc[4][4];
    for (int r = 0; r < rows; r++)
        for (int w = 0; w < wide; w++) acc[r][w] = _mm256_loadu_ps(out + (size_t)r * out_stride + 8 * w);
    for (size_t t = 0; t < n; t++, v += v_stride) {
        for (int r = 0; r < rows; r++) {
            __m256 weight = _mm256_broadcast_ss(p + (size_t)r * p_stride + t);
            for (int w = 0; w < wide; w++) acc[r][w] = _mm256_fmadd_ps(weight, _mm256_loadu_ps(v + 8 * w), acc[r][w]);
        }
    }
    for (int r = 0; r < rows; r++)
        for (int w = 0; w < wide; w++) _mm256_storeu_ps(out + (size_t)r * out_stride + 8 * w, acc[r][w]);
}

static inline __attribute__((always_inline)) void pv_elements(const int rows, size_t n, size_t d, const float *p, size_t p_stride, const float *v, size_t v_stride, float *out,
                                                              size_t out_stride)
{
    size_t i = 0;
    for (; i + 32 <= d; i += 32) pv_block(rows, 4, n, p, p_stride, v + i, v_stride, out + i, out_stride);
    for (; i + 8 <= d; i += 8) pv_block(rows, 1, n, p, p_stride, v + i, v_stride, out + i, out_stride);
    for (int r = 0; r < rows; r++)
        for (size_t j = i; j < d; j++) {
            float sum = out[(size_t)r * out_stride + j];
            for (size_t t = 0; t < n; t++) sum = fmaf(p[(size_t)r * p_stride + t], v[t * v_stride + j], sum);
            out[(size_t)r * out_stride + j] = sum;
        }
}

static void pv_rows(size_t m, size_t n, size_t d, const float *p, size_t p_stride, const float *v, size_t v_stride, float *out, size_t out_stride)
{
    size_t r = 0;
    for (; r + 3 <= m; r += 3) pv_elements(3, n, d, p + r * p_stride, p_stride, v, v_stride, out + r * out_stride, out_stride);
    for (; r < m; r++) pv_elements(1, n, d, p + r * p_stride, p_stride, v, v_stride, out + r * out_stride, out_stride);
}

static void pv_acc(size_t n, size_t d, const float *p, const float *v, size_t stride, float *out) { pv_rows(1, n, d, p, n, v, stride, out, d); }

void wick_avx2_fill_attention(struct wick_ukernels *t)
{
    t->qk_dot = qk_dot;
    t->pv_acc = pv_acc;
    t->qk_rows = qk_rows;
    t->pv_rows = pv_rows;
}
