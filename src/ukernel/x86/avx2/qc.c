/* ukernel/x86/avx2/qc.c - 8-bit rows times 8- or 4-bit weights of one scale a column.
 *
 * A product of two bytes and its neighbour do not fit 16 bits, so an 8-bit weight goes in as two nibbles: w = 16 high + low, high in -8..7 and low
 * in 0..15, which two maddubs multiply exactly. Rows are taken 16 columns of k at a time, as far as sums of `low` reach. */
#include "ukernel/x86/avx2/avx2.h"
#include "ukernel/x86/avx2/quads.tmpl.h"

enum { NR = 8 };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "ukernel/generic/gemm.h"
#include "ukernel/generic/gemm_quantized.h"
#pragma GCC diagnostic pop
#define QUAD_NR 8
#define QUAD_FLIP 0x80
#include "ukernel/generic/qc_quads.h"

/* Rows of at most TILE_ROWS share weights that were spread to bytes, for STRETCH columns of k and up to two blocks. */
enum { TILE_ROWS = 64, STRETCH = 256, HALF = 16 };

struct tile {
    __m256i weights[STRETCH / HALF][2][4 * 2]; /* (step, low or high nibble, (quad, vector)); 4 bits have only the second */
    __m256i sums[TILE_ROWS * 2];               /* (row, vector) */
};

static inline __m256i load_32(const uint8_t *w) { return _mm256_loadu_si256((const __m256i *)(const void *)w); }
static inline __m256i low_nibbles(__m256i x) { return _mm256_and_si256(x, _mm256_set1_epi8(15)); }
static inline __m256i high_nibbles(__m256i x) { return low_nibbles(_mm256_srli_epi16(x, 4)); }
static inline __m256i less_8(__m256i x) { return _mm256_sub_epi8(x, _mm256_set1_epi8(8)); }

/* Spreads a step of 16 columns of k of one block; returns what follows. */
static inline const uint8_t *spread(const uint8_t *w, __m256i out[2][8], size_t v, size_t vectors, const bool four)
{
    for (size_t q = 0; q < 4; q += four ? 2 : 1, w += 32) {
        __m256i x = load_32(w);
        if (four) {
            out[1][q * vectors + v] = less_8(low_nibbles(x));
            out[1][(q + 1) * vectors + v] = less_8(high_nibbles(x));
        } else {
            out[0][q * vectors + v] = low_nibbles(x);
            out[1][q * vectors + v] = less_8(high_nibbles(x));
        }
    }
    return w;
}

/* Adds a step's products to the sums of rows x vectors. */
static inline __attribute__((always_inline)) void multiply_step(const uint8_t *const a[4], size_t k, __m256i (*w)[8], __m256i *sums, const int rows,
                                                                const int vectors, const bool four)
{
    const __m256i ones = _mm256_set1_epi16(1), sixteens = _mm256_set1_epi16(16);
    __m256i part[4][2];
    multiply_quads(a, k, w[1], (size_t)vectors, part, 4, rows, vectors);
    for (int i = 0; i < rows * vectors; i++)
        sums[i] = _mm256_add_epi32(sums[i], _mm256_madd_epi16(part[i / vectors][i % vectors], four ? ones : sixteens));
    if (four) return;
    multiply_quads(a, k, w[0], (size_t)vectors, part, 4, rows, vectors);
    for (int i = 0; i < rows * vectors; i++) sums[i] = _mm256_add_epi32(sums[i], _mm256_madd_epi16(part[i / vectors][i % vectors], ones));
}

static inline __attribute__((always_inline)) void tile_rows(const struct wick_gemm_call *c, struct tile *t, size_t first, size_t row, size_t k0,
                                                            size_t k1, const int rows, const int vectors, const bool four)
{
    uint8_t tail[4][QC_STEP];
    for (size_t k = k0; k < k1; k += QC_STEP) {
        const uint8_t *a[4];
        for (int r = 0; r < rows; r++) a[r] = qc_row(c, first + row + (size_t)r, k, tail[r]);
        for (size_t half = 0; half < QC_STEP; half += HALF)
            multiply_step(a, half, t->weights[(k - k0 + half) / HALF], t->sums + row * (size_t)vectors, rows, vectors, four);
    }
}

static inline void store_sums(const struct wick_gemm_call *c, const char *block, size_t row, size_t column, __m256i sums)
{
    const float *bias = (const float *)(const void *)block;
    __m256 f = _mm256_mul_ps(_mm256_cvtepi32_ps(sums), _mm256_set1_ps(c->params[row].inv_scale));
    store_columns(c, row, column, _mm256_fmadd_ps(f, _mm256_loadu_ps(bias + NR), _mm256_loadu_ps(bias)));
}

/* -zero_point times the sums of w. */
static inline __m256i first_sums(const struct wick_gemm_call *c, const char *block, size_t row)
{
    return _mm256_mullo_epi32(load_32((const uint8_t *)block + 2 * NR * sizeof(float)), _mm256_set1_epi32(-c->params[row].zero_point));
}

static inline __attribute__((always_inline)) void tile_run(const struct wick_gemm_call *c, struct tile *t, size_t n, size_t first, size_t count,
                                                           const int vectors, const bool four)
{
    const size_t block = qc_block(c->k, four), k_end = qc_steps(c->k) * QC_STEP;
    const char *begin = (const char *)c->packed + n / NR * block;
    const uint8_t *w[2];
    for (int v = 0; v < vectors; v++) w[v] = (const uint8_t *)begin + (size_t)v * block + 3 * NR * sizeof(float);
    for (size_t i = 0; i < count * (size_t)vectors; i++) t->sums[i] = first_sums(c, begin + i % (size_t)vectors * block, first + i / (size_t)vectors);
    for (size_t k = 0; k < k_end; k += STRETCH) {
        size_t end = k + STRETCH < k_end ? k + STRETCH : k_end, m = 0;
        for (size_t s = 0; s < (end - k) / HALF; s++)
            for (int v = 0; v < vectors; v++) w[v] = spread(w[v], t->weights[s], (size_t)v, (size_t)vectors, four);
        for (; m + 4 <= count; m += 4) tile_rows(c, t, first, m, k, end, 4, vectors, four);
        for (; m < count; m++) tile_rows(c, t, first, m, k, end, 1, vectors, four);
    }
    for (size_t i = 0; i < count * (size_t)vectors; i++)
        store_sums(c, begin + i % (size_t)vectors * block, first + i / (size_t)vectors, n + i % (size_t)vectors * NR, t->sums[i]);
}

/* One row, or two, straight from the packed weights. */
static inline __attribute__((always_inline)) void row_run(const struct wick_gemm_call *c, size_t n, size_t row, const int rows, const bool four)
{
    const size_t block = qc_block(c->k, four), k_end = qc_steps(c->k) * QC_STEP;
    const char *begin = (const char *)c->packed + n / NR * block;
    const uint8_t *w = (const uint8_t *)begin + 3 * NR * sizeof(float);
    uint8_t tail[4][QC_STEP];
    __m256i sums[4], spread_out[2][8];
    for (int r = 0; r < rows; r++) sums[r] = first_sums(c, begin, row + (size_t)r);
    for (size_t k = 0; k < k_end; k += QC_STEP) {
        const uint8_t *a[4];
        for (int r = 0; r < rows; r++) a[r] = qc_row(c, row + (size_t)r, k, tail[r]);
        for (size_t half = 0; half < QC_STEP; half += HALF) {
            w = spread(w, spread_out, 0, 1, four);
            multiply_step(a, half, spread_out, sums, rows, 1, four);
        }
    }
    for (int r = 0; r < rows; r++) store_sums(c, begin, row + (size_t)r, n, sums[r]);
}

static inline __attribute__((always_inline)) void qc_run(const struct wick_gemm_call *c, size_t n0, size_t n1, const bool four)
{
    if (c->m >= 4) {
        struct tile t;
        for (size_t n = n0; n < n1; n += 2 * NR)
            for (size_t m = 0; m < c->m; m += TILE_ROWS) {
                size_t count = c->m - m < TILE_ROWS ? c->m - m : TILE_ROWS;
                if (n1 - n > NR) tile_run(c, &t, n, m, count, 2, four);
                else tile_run(c, &t, n, m, count, 1, four);
            }
        return;
    }
    for (size_t n = n0; n < n1; n += NR) {
        size_t m = 0;
        for (; m + 2 <= c->m; m += 2) row_run(c, n, m, 2, four);
        if (m < c->m) row_run(c, n, m, 1, four);
    }
}

static void qc8_run(const struct wick_gemm_call *c, size_t n0, size_t n1) { qc_run(c, n0, n1, false); }
static void qc4_run(const struct wick_gemm_call *c, size_t n0, size_t n1) { qc_run(c, n0, n1, true); }

void wick_avx2_fill_qc(struct wick_ukernels *t)
{
    t->gemm_qd8_qc8 = (struct wick_gemm){4, NR, qc8_size, qc8_pack, qc8_run};
    t->gemm_qd8_qc4 = (struct wick_gemm){4, NR, qc4_size, qc4_pack, qc4_run};
}
