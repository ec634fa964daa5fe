/* ukernel/generic/float_tile.h - products of float rows, on vectors: tiles of rows x blocks of NR columns whose sums stay in registers.
 *
 * A template, after gemm.h and gemm_quantized.h. The level gives `vec` of LANES floats (LANES divides NR), TILE_ROWS, and
 *   vec_load, vec_load_f16, vec_load_bf16, vec_load_i8 (LANES elements as floats), vec_set1, vec_fma(x, y, z) = x * y + z, vec_store,
 *   vec_clamp(x, min, max) as clamp_out.
 * TILE_ROWS * NR / LANES sums, NR / LANES vectors of weights and one of a row must fit the registers. A single row would wait for each of its
 * sums in turn, so it takes TILE_BLOCKS blocks at once. */

enum { VECTORS = NR / LANES, TILE_BLOCKS = 4 };
/* The small profiles do with fewer shapes of tiles. */
#ifdef WICK_PROFILE_full
enum { TILE_SMALL = false };
#else
enum { TILE_SMALL = true };
#endif

static inline __attribute__((always_inline)) void tile_store(const struct wick_gemm_call *c, size_t row, size_t column, const vec *sums)
{
    float *out = c->c + row * c->c_stride + column, part[NR];
    const vec min = vec_set1(c->min), max = vec_set1(c->max);
    if (c->n - column >= NR) {
        for (int v = 0; v < VECTORS; v++) vec_store(out + v * LANES, vec_clamp(sums[v], min, max));
        return;
    }
    for (int v = 0; v < VECTORS; v++) vec_store(part + v * LANES, vec_clamp(sums[v], min, max));
    memcpy(out, part, (c->n - column) * sizeof *out);
}

/* scaled: sums begin at 0 and end as sum * scale + bias (weights of one scale a column); else they begin at the bias. */
#define FLOAT_TILE(name, type, load, scaled, size)                                                                                                 \
    static inline __attribute__((always_inline)) void name##_tile(const struct wick_gemm_call *c, const char *packed, size_t block, size_t column, \
                                                                  size_t row, const int rows, const int blocks)                                    \
    {                                                                                                                                              \
        const float *a[TILE_ROWS], *begin[TILE_BLOCKS];                                                                                            \
        const type *w[TILE_BLOCKS];                                                                                                                \
        vec acc[TILE_ROWS][TILE_BLOCKS][VECTORS];                                                                                                  \
        for (int r = 0; r < rows; r++) a[r] = (const float *)c->a + (row + (size_t)r) * c->a_stride;                                               \
        for (int b = 0; b < blocks; b++) {                                                                                                         \
            begin[b] = (const float *)(const void *)(packed + (size_t)b * block);                                                                  \
            w[b] = (const type *)(const void *)(begin[b] + (scaled ? 3 : 1) * NR);                                                                 \
            for (int r = 0; r < rows; r++)                                                                                                         \
                for (int v = 0; v < VECTORS; v++) acc[r][b][v] = scaled ? vec_set1(0) : vec_load(begin[b] + v * LANES);                            \
        }                                                                                                                                          \
        for (size_t k = 0; k < c->k; k++)                                                                                                          \
            for (int b = 0; b < blocks; b++) {                                                                                                     \
                vec x[VECTORS];                                                                                                                    \
                for (int v = 0; v < VECTORS; v++) x[v] = load(w[b] + k * NR + v * LANES);                                                          \
                for (int r = 0; r < rows; r++)                                                                                                     \
                    for (int v = 0; v < VECTORS; v++) acc[r][b][v] = vec_fma(vec_set1(a[r][k]), x[v], acc[r][b][v]);                               \
            }                                                                                                                                      \
        for (int b = 0; b < blocks; b++)                                                                                                           \
            for (int r = 0; r < rows; r++) {                                                                                                       \
                for (int v = 0; scaled && v < VECTORS; v++)                                                                                        \
                    acc[r][b][v] = vec_fma(acc[r][b][v], vec_load(begin[b] + NR + v * LANES), vec_load(begin[b] + v * LANES));                     \
                tile_store(c, row + (size_t)r, column + (size_t)b * NR, acc[r][b]);                                                                \
            }                                                                                                                                      \
    }                                                                                                                                              \
    static inline __attribute__((always_inline)) void name##_columns(const struct wick_gemm_call *c, size_t n0, size_t n1, size_t row,             \
                                                                     const int rows, const int blocks)                                             \
    {                                                                                                                                              \
        const size_t block = size(NR, c->k, 0);                                                                                                    \
        size_t n = n0;                                                                                                                             \
        for (; n + (size_t)(blocks - 1) * NR < n1; n += (size_t)blocks * NR)                                                                       \
            name##_tile(c, (const char *)c->packed + n / NR * block, block, n, row, rows, blocks);                                                 \
        for (; n < n1; n += NR) name##_tile(c, (const char *)c->packed + n / NR * block, block, n, row, rows, 1);                                  \
    }                                                                                                                                              \
    static void name##_tiles(const struct wick_gemm_call *c, size_t n0, size_t n1)                                                                 \
    {                                                                                                                                              \
        const size_t block = size(NR, c->k, 0), whole = c->m / TILE_ROWS * TILE_ROWS;                                                              \
        size_t m = whole;                                                                                                                          \
        for (size_t n = n0; n < n1; n += NR)                                                                                                       \
            for (size_t row = 0; row < whole; row += TILE_ROWS)                                                                                    \
                name##_tile(c, (const char *)c->packed + n / NR * block, block, n, row, TILE_ROWS, 1);                                             \
        for (; !TILE_SMALL && m + TILE_ROWS / 2 <= c->m; m += TILE_ROWS / 2) name##_columns(c, n0, n1, m, TILE_ROWS / 2, 2);                       \
        for (; m < c->m; m++) name##_columns(c, n0, n1, m, 1, TILE_BLOCKS);                                                                        \
    }

FLOAT_TILE(gemm_f32, float, vec_load, false, gemm_f32_size)
FLOAT_TILE(gemm_f16, uint16_t, vec_load_f16, false, gemm_f16_size)
FLOAT_TILE(gemm_bf16, uint16_t, vec_load_bf16, false, gemm_bf16_size)

static void fill_float_tiles(struct wick_ukernels *t)
{
    t->gemm_f32 = (struct wick_gemm){TILE_ROWS, NR, gemm_f32_size, gemm_f32_pack, gemm_f32_tiles};
    t->gemm_f16 = (struct wick_gemm){TILE_ROWS, NR, gemm_f16_size, gemm_f16_pack, gemm_f16_tiles};
    t->gemm_bf16 = (struct wick_gemm){TILE_ROWS, NR, gemm_bf16_size, gemm_bf16_pack, gemm_bf16_tiles};
}

#ifndef WICK_NO_QUANTIZED_GEMM
FLOAT_TILE(gemm_f32_qc, int8_t, vec_load_i8, true, gemm_qc_size)

static void fill_quantized_tiles(struct wick_ukernels *t)
{
    t->gemm_f32_qc8 = (struct wick_gemm){TILE_ROWS, NR, gemm_qc_size, gemm_qc8_pack, gemm_f32_qc_tiles};
    t->gemm_f32_qc4 = (struct wick_gemm){TILE_ROWS, NR, gemm_qc_size, gemm_qc4_pack, gemm_f32_qc_tiles};
}
#endif
