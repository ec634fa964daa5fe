/* ukernel/x86/avx2/attention.c - scores and weighted sums of attention, several query rows at a time, so that a key or value
 * is loaded once for all of them. Also used by the AVX-512 level.
 *
 * The order of arithmetic is that of qk_dot and pv_acc: 16 lanes and their tree; values in ascending order. */
#include "ukernel/x86/avx2/avx2.h"

#include <immintrin.h>
#include <math.h>

/* Rows this far ahead are asked for while one is worked on: a head's rows lie apart, where no prefetcher sees them coming. */
enum { AHEAD = 8 };

static inline void prefetch_row(const float *row, size_t d)
{
    for (size_t i = 0; i < d; i += 16) _mm_prefetch((const char *)(row + i), _MM_HINT_T0);
}

/* ---- scores ---- */

/* The tree over 16 lanes (l += l + 8, + 4, + 2, + 1) of two sums at once; stores scale times each. */
static inline void store_pair(float *out, __m256 low0, __m256 high0, __m256 low1, __m256 high1, float scale)
{
    __m256 a = _mm256_add_ps(low0, high0), b = _mm256_add_ps(low1, high1);
    __m256 four = _mm256_add_ps(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
    __m256 two = _mm256_add_ps(four, _mm256_permute_ps(four, 0x4e));
    __m256 one = _mm256_add_ps(two, _mm256_movehdup_ps(two));
    __m128 pair = _mm_unpacklo_ps(_mm256_castps256_ps128(one), _mm256_extractf128_ps(one, 1));
    _mm_storel_pi((__m64 *)(void *)out, _mm_mul_ps(pair, _mm_set1_ps(scale)));
}

/* One score of any length: the elements beyond the last whole 16 go to their lanes one by one. */
static float dot(size_t d, const float *q, const float *k, float scale)
{
    __m256 low = _mm256_setzero_ps(), high = _mm256_setzero_ps();
    float lanes[16], out[2];
    size_t i = 0;
    for (; i + 16 <= d; i += 16) {
        low = _mm256_fmadd_ps(_mm256_loadu_ps(q + i), _mm256_loadu_ps(k + i), low);
        high = _mm256_fmadd_ps(_mm256_loadu_ps(q + i + 8), _mm256_loadu_ps(k + i + 8), high);
    }
    _mm256_storeu_ps(lanes, low);
    _mm256_storeu_ps(lanes + 8, high);
    for (size_t l = 0; i < d; i++, l++) lanes[l] = fmaf(q[i], k[i], lanes[l]);
    low = _mm256_loadu_ps(lanes);
    high = _mm256_loadu_ps(lanes + 8);
    store_pair(out, low, high, low, high, scale);
    return out[0];
}

struct queries {
    size_t d;
    const float *q;
    size_t stride;
    float scale;
    float *scores;
    size_t scores_stride;
};

/* `rows` queries, a constant where this is inlined so that the sums stay in registers, against keys t and t + 1; d is a multiple of 16. */
static inline __attribute__((always_inline)) void qk_block(const int rows, const struct queries *c, size_t row, const float *k, size_t k_stride,
                                                           size_t t)
{
    const float *q = c->q + row * c->stride;
    __m256 low[3][2], high[3][2];
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < 2; j++) low[r][j] = high[r][j] = _mm256_setzero_ps();
    for (size_t i = 0; i < c->d; i += 16)
        for (int j = 0; j < 2; j++) {
            const float *key = k + (t + (size_t)j) * k_stride + i;
            __m256 k0 = _mm256_loadu_ps(key), k1 = _mm256_loadu_ps(key + 8);
            for (int r = 0; r < rows; r++) {
                low[r][j] = _mm256_fmadd_ps(_mm256_loadu_ps(q + (size_t)r * c->stride + i), k0, low[r][j]);
                high[r][j] = _mm256_fmadd_ps(_mm256_loadu_ps(q + (size_t)r * c->stride + i + 8), k1, high[r][j]);
            }
        }
    for (int r = 0; r < rows; r++)
        store_pair(c->scores + (row + (size_t)r) * c->scores_stride + t, low[r][0], high[r][0], low[r][1], high[r][1], c->scale);
}

/* All rows against a pair of keys: the keys are loaded once, the queries stay in the first-level cache. */
static void qk_rows(size_t m, size_t n, size_t d, const float *q, size_t q_stride, const float *k, size_t k_stride, float scale, float *scores,
                    size_t scores_stride)
{
    const struct queries c = {d, q, q_stride, scale, scores, scores_stride};
    size_t t = 0;
    for (; d % 16 == 0 && t + 2 <= n; t += 2) {
        for (size_t j = t + AHEAD; j < t + AHEAD + 2 && j < n; j++) prefetch_row(k + j * k_stride, d);
        size_t r = 0;
        for (; r + 3 <= m && m - r != 4; r += 3) qk_block(3, &c, r, k, k_stride, t);
        for (; r + 2 <= m; r += 2) qk_block(2, &c, r, k, k_stride, t);
        if (r < m) qk_block(1, &c, r, k, k_stride, t);
    }
    for (; t < n; t++)
        for (size_t r = 0; r < m; r++) scores[r * scores_stride + t] = dot(d, q + r * q_stride, k + t * k_stride, scale);
}

static void qk_dot(size_t n, size_t d, const float *q, const float *k, size_t stride, float scale, float *scores)
{
    qk_rows(1, n, d, q, d, k, stride, scale, scores, n);
}

/* ---- weighted sums ---- */

struct values {
    size_t n, d;
    const float *p;
    size_t p_stride;
    const float *v;
    size_t stride;
    float *out;
    size_t out_stride;
};

/* Elements [i, i + 8 * wide) of `rows` sums. */
static inline __attribute__((always_inline)) void pv_block(const int rows, const int wide, const struct values *c, size_t row, size_t i)
{
    const float *p = c->p + row * c->p_stride, *v = c->v + i;
    float *out = c->out + row * c->out_stride + i;
    __m256 acc[3][4];
    for (int r = 0; r < rows; r++)
        for (int w = 0; w < wide; w++) acc[r][w] = _mm256_loadu_ps(out + (size_t)r * c->out_stride + 8 * w);
    for (size_t t = 0; t < c->n; t++, v += c->stride) {
        if (row == 0 && i == 0 && t + AHEAD < c->n) prefetch_row(v + AHEAD * c->stride, c->d);
        for (int r = 0; r < rows; r++) {
            __m256 weight = _mm256_broadcast_ss(p + (size_t)r * c->p_stride + t);
            for (int w = 0; w < wide; w++) acc[r][w] = _mm256_fmadd_ps(weight, _mm256_loadu_ps(v + 8 * w), acc[r][w]);
        }
    }
    for (int r = 0; r < rows; r++)
        for (int w = 0; w < wide; w++) _mm256_storeu_ps(out + (size_t)r * c->out_stride + 8 * w, acc[r][w]);
}

/* Elements from i on, one row and 8 or fewer at a time. */
static void pv_rest(const struct values *c, size_t row, size_t i)
{
    for (; i + 8 <= c->d; i += 8) pv_block(1, 1, c, row, i);
    for (; i < c->d; i++) {
        float *out = c->out + row * c->out_stride + i;
        for (size_t t = 0; t < c->n; t++) *out = fmaf(c->p[row * c->p_stride + t], c->v[t * c->stride + i], *out);
    }
}

static void pv_rows(size_t m, size_t n, size_t d, const float *p, size_t p_stride, const float *v, size_t v_stride, float *out, size_t out_stride)
{
    const struct values c = {n, d, p, p_stride, v, v_stride, out, out_stride};
    size_t whole = d / 32 * 32;
    for (size_t r = 0, rows; r < m; r += rows) {
        rows = m - r == 1 ? 1 : m - r == 2 || m - r == 4 ? 2 : 3;
        for (size_t i = 0; i < whole; i += 32) {
            if (rows == 3) pv_block(3, 4, &c, r, i);
            else if (rows == 2) pv_block(2, 4, &c, r, i);
            else pv_block(1, 4, &c, r, i);
        }
        for (size_t k = r; whole < d && k < r + rows; k++) pv_rest(&c, k, whole);
    }
}

static void pv_acc(size_t n, size_t d, const float *p, const float *v, size_t stride, float *out) { pv_rows(1, n, d, p, n, v, stride, out, d); }

void wick_avx2_fill_attention(struct wick_ukernels *t)
{
    t->qk_dot = qk_dot;
    t->pv_acc = pv_acc;
    t->qk_rows = qk_rows;
    t->pv_rows = pv_rows;
}
