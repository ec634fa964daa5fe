/* ukernel/x86/avx2/qb4.c - 8-bit rows times groups of 4-bit weights: maddubs on four bytes at a time, 8 columns by up to 4 rows. */
#include "ukernel/x86/avx2/avx2.h"
#include "ukernel/x86/avx2/quads.tmpl.h"

enum { NR = 8 };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "ukernel/generic/gemm.h"
#include "ukernel/generic/gemm_quantized.h"
#pragma GCC diagnostic pop
#define QUAD_NR 8
#define QUAD_SUMS 0
#include "ukernel/generic/qb4_quads.h"

/* `rows` is a constant at each call, so that the loops over it vanish. */
static inline __attribute__((always_inline)) void qb4_rows(const struct wick_gemm_call *c, const float *start, size_t column, size_t row,
                                                           const int rows)
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

/* ---- many rows: 16 columns of a stretch of k are spread to bytes once, in the first-level cache, and serve ROWS rows ---- */

enum { ROWS = 64, STRETCH = 256, STRETCH_MAX = 1024 };

struct tile {
    const struct wick_gemm_call *c;
    __m256i weights[STRETCH_MAX * 2 * NR / 32]; /* (k / 4, vector): bytes (8 columns, 4); one vector or two */
    __m256 scales[STRETCH_MAX / 32 * 2];        /* (group, vector) */
    __m256 acc[ROWS * 2];                       /* (row, vector) */
};

/* groups of a block from *w on, as vector v of `vectors`. */
static inline void spread(struct tile *t, const uint8_t *w, size_t groups, size_t v, size_t vectors)
{
    const __m256i low_nibbles = _mm256_set1_epi8(15), eight = _mm256_set1_epi8(8);
    __m256i *out = t->weights + v;
    for (size_t g = 0; g < groups; g++) {
        t->scales[g * vectors + v] = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)w)), 16));
        w += 16;
        for (size_t k = 0; k < t->c->group; k += 8, w += 32, out += 2 * vectors) {
            __m256i both = _mm256_loadu_si256((const __m256i *)w);
            _mm256_storeu_si256(out, _mm256_sub_epi8(_mm256_and_si256(both, low_nibbles), eight));
            _mm256_storeu_si256(out + vectors, _mm256_sub_epi8(_mm256_and_si256(_mm256_srli_epi16(both, 4), low_nibbles), eight));
        }
    }
}

static inline __attribute__((always_inline)) void tile_rows(struct tile *t, const uint8_t *from, size_t row, size_t groups, const int rows,
                                                            const int vectors, const bool single)
{
    const __m256i ones = _mm256_set1_epi16(1), *w = t->weights;
    const uint8_t *a[4];
    __m256 *acc = t->acc + row * (size_t)vectors;
    for (int r = 0; r < rows; r++) a[r] = from + (row + (size_t)r) * t->c->a_stride;
    for (size_t g = 0, k = 0; g < groups; g++) {
        __m256i sum[4][2], part[4][2];
        for (size_t end = k + t->c->group; k < end; k += 32, w += 8 * vectors) {
            bool first = single || k + t->c->group == end;
            multiply_quads(a, k, w, (size_t)vectors, part, 8, rows, vectors);
            for (int i = 0; i < rows * vectors; i++) {
                __m256i wide = _mm256_madd_epi16(part[i / vectors][i % vectors], ones), *to = &sum[i / vectors][i % vectors];
                *to = first ? wide : _mm256_add_epi32(*to, wide);
            }
        }
        for (int i = 0; i < rows * vectors; i++)
            acc[i] =
                _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum[i / vectors][i % vectors]), t->scales[g * (size_t)vectors + (size_t)(i % vectors)], acc[i]);
    }
}

static inline __attribute__((always_inline)) void tile_stretch(struct tile *t, const uint8_t *from, size_t count, size_t groups, const int vectors,
                                                               const bool single)
{
    size_t m = 0;
    for (; m + 4 <= count; m += 4) tile_rows(t, from, m, groups, 4, vectors, single);
    for (; m < count; m++) tile_rows(t, from, m, groups, 1, vectors, single);
}

static inline __attribute__((always_inline)) void tile_run(struct tile *t, size_t n, size_t first_row, size_t count, const int vectors)
{
    const struct wick_gemm_call *c = t->c;
    const size_t block = quad_size(NR, c->k, c->group), group_bytes = quad_group_bytes(c->group), all = c->k / c->group;
    const size_t most = c->group > STRETCH ? 1 : STRETCH / c->group;
    const char *start = (const char *)c->packed + n / NR * block;
    const uint8_t *a = (const uint8_t *)c->a + first_row * c->a_stride;
    for (size_t i = 0; i < count * (size_t)vectors; i++)
        t->acc[i] = _mm256_mul_ps(_mm256_loadu_ps((const float *)(const void *)(start + i % (size_t)vectors * block)),
                                  _mm256_set1_ps((float)c->params[first_row + i / (size_t)vectors].zero_point));
    for (size_t g = 0, groups; g < all; g += groups) {
        groups = all - g < most ? all - g : most;
        for (size_t v = 0; v < (size_t)vectors; v++) spread(t, (const uint8_t *)start + v * block + 64 + g * group_bytes, groups, v, (size_t)vectors);
        if (c->group == 32) tile_stretch(t, a + g * c->group, count, groups, vectors, true);
        else tile_stretch(t, a + g * c->group, count, groups, vectors, false);
    }
    for (size_t i = 0; i < count * (size_t)vectors; i++) {
        size_t row = first_row + i / (size_t)vectors, v = i % (size_t)vectors;
        __m256 bias = _mm256_loadu_ps((const float *)(const void *)(start + v * block + 32));
        store_columns(c, row, n + v * NR, _mm256_add_ps(_mm256_mul_ps(t->acc[i], _mm256_set1_ps(c->params[row].inv_scale)), bias));
    }
}

static void qb4_run(const struct wick_gemm_call *c, size_t n0, size_t n1)
{
    const size_t block = quad_size(NR, c->k, c->group);
    if (c->m >= 4 && c->group <= STRETCH_MAX) {
        struct tile t;
        t.c = c;
        for (size_t n = n0; n < n1; n += 2 * NR)
            for (size_t m = 0; m < c->m; m += ROWS) {
                size_t count = c->m - m < ROWS ? c->m - m : ROWS;
                if (n1 - n > NR) tile_run(&t, n, m, count, 2);
                else tile_run(&t, n, m, count, 1);
            }
        return;
    }
    for (size_t n = n0; n < n1; n += NR) {
        const float *start = (const float *)(const void *)((const char *)c->packed + n / NR * block);
        size_t m = 0;
        for (; c->m - m >= 2; m += 2) qb4_rows(c, start, n, m, 2);
        if (m < c->m) qb4_rows(c, start, n, m, 1);
    }
}

void wick_avx2_fill_qb4(struct wick_ukernels *t) { t->gemm_qd8_qb4 = (struct wick_gemm){4, NR, quad_size, quad_pack, qb4_run}; }
