/* ukernel/generic/gemm.h - matrix products in plain C, compiled once a level with that level's flags. Float weights
 * here, 8- and 4-bit ones in gemm_quantized.h.
 *
 * Packed block of NR columns, by format:
 *   float:  NR bias f32; k x NR elements (k outermost)
 *   qc8, qc4 (both as i8): NR bias f32, NR scale f32, NR sums of w i32; k x NR i8
 *   qb4:    NR start f32 (S of ukernels.h), NR bias f32; for each group: NR bf16 scales, then group / 2 x NR bytes: k and k + 1 in the
 *           nibbles of one byte, as they are (value + 8)
 * Blocks are rounded up to 64 bytes; columns past n are zero weights. A template: include after defining NR. */
#include "tensor/half.h"
#include "ukernel/ukernels.h"

#include <math.h>
#include <string.h>

enum { MR = 4 };

static size_t round_block(size_t bytes) { return (bytes + 63) & ~(size_t)63; }
static size_t block_count(size_t n) { return (n + NR - 1) / NR; }

static float bias_of(const struct wick_gemm_weights *w, size_t n) { return w->bias && n < w->n ? w->bias[n] : 0.0f; }

static inline float clamp_out(const struct wick_gemm_call *c, float x)
{
    x = x < c->min ? c->min : x;
    return x > c->max ? c->max : x;
}

/* Writes the valid columns of a block's row. */
static inline void store_row(const struct wick_gemm_call *c, size_t row, size_t column, const float *acc)
{
    float *out = c->c + row * c->c_stride + column;
    size_t n = c->n - column < NR ? c->n - column : NR;
    for (size_t j = 0; j < n; j++) out[j] = clamp_out(c, acc[j]);
}

/* ---- float weights ---- */

#define FLOAT_GEMM(name, type, convert)                                                                                                   \
    static size_t name##_size(size_t n, size_t k, size_t group)                                                                           \
    {                                                                                                                                     \
        (void)group;                                                                                                                      \
        return block_count(n) * round_block(NR * sizeof(float) + k * NR * sizeof(type));                                                  \
    }                                                                                                                                     \
    static void name##_pack(const struct wick_gemm_weights *w, size_t n0, size_t n1, void *packed)                                        \
    {                                                                                                                                     \
        const size_t block = name##_size(NR, w->k, 0);                                                                                    \
        for (size_t n = n0; n < n1; n += NR) {                                                                                            \
            float *bias = (float *)(void *)((char *)packed + n / NR * block);                                                             \
            type *out = (type *)(void *)(bias + NR);                                                                                      \
            for (size_t j = 0; j < NR; j++) bias[j] = bias_of(w, n + j);                                                                  \
            for (size_t k = 0; k < w->k; k++)                                                                                             \
                for (size_t j = 0; j < NR; j++) {                                                                                         \
                    size_t at = w->transposed ? k * w->n + n + j : (n + j) * w->k + k;                                                    \
                    type value = 0;                                                                                                       \
                    if (n + j < w->n) memcpy(&value, (const char *)w->w + at * sizeof(type), sizeof value);                               \
                    out[k * NR + j] = value;                                                                                              \
                }                                                                                                                         \
        }                                                                                                                                 \
    }                                                                                                                                     \
    static inline void name##_rows(const struct wick_gemm_call *c, const float *bias, size_t column, size_t row, const int rows)          \
    {                                                                                                                                     \
        const type *w = (const type *)(const void *)(bias + NR);                                                                          \
        const float *a[MR];                                                                                                               \
        float acc[MR][NR];                                                                                                                \
        for (int r = 0; r < rows; r++) a[r] = (const float *)c->a + (row + (size_t)r) * c->a_stride;                                      \
        for (int r = 0; r < rows; r++)                                                                                                    \
            for (int j = 0; j < NR; j++) acc[r][j] = bias[j];                                                                             \
        for (size_t k = 0; k < c->k; k++, w += NR)                                                                                        \
            for (int r = 0; r < rows; r++) {                                                                                              \
                const float x = a[r][k];                                                                                                  \
                for (int j = 0; j < NR; j++) acc[r][j] = fmaf(x, convert(w[j]), acc[r][j]);                                               \
            }                                                                                                                             \
        for (int r = 0; r < rows; r++) store_row(c, row + (size_t)r, column, acc[r]);                                                     \
    }                                                                                                                                     \
    static void name##_run(const struct wick_gemm_call *c, size_t n0, size_t n1)                                                          \
    {                                                                                                                                     \
        const size_t block = name##_size(NR, c->k, 0);                                                                                    \
        for (size_t n = n0; n < n1; n += NR) {                                                                                            \
            const float *bias = (const float *)(const void *)((const char *)c->packed + n / NR * block);                                  \
            size_t m = 0;                                                                                                                 \
            for (; m + MR <= c->m; m += MR) name##_rows(c, bias, n, m, MR);                                                               \
            for (; m < c->m; m++) name##_rows(c, bias, n, m, 1);                                                                          \
        }                                                                                                                                 \
    }

static inline float as_is(float x) { return x; }
static inline float from_half(uint16_t h)
{
    uint32_t rest = (uint32_t)(h & 0x7fff) << 13, sign = (uint32_t)(h & 0x8000) << 16;
    uint32_t finite = wick_bits_from_f32(wick_f32_from_bits(rest) * 0x1p112f);
    return wick_f32_from_bits(((h & 0x7c00) == 0x7c00 ? rest | 0x7f800000u : finite) | sign);
}
FLOAT_GEMM(gemm_f32, float, as_is)
FLOAT_GEMM(gemm_f16, uint16_t, from_half)
FLOAT_GEMM(gemm_bf16, uint16_t, wick_f32_from_bf16)

/* ---- one scale a column ---- */

static void fill_gemm(struct wick_ukernels *t)
{
    t->gemm_f32 = (struct wick_gemm){MR, NR, gemm_f32_size, gemm_f32_pack, gemm_f32_run};
    t->gemm_f16 = (struct wick_gemm){MR, NR, gemm_f16_size, gemm_f16_pack, gemm_f16_run};
    t->gemm_bf16 = (struct wick_gemm){MR, NR, gemm_bf16_size, gemm_bf16_pack, gemm_bf16_run};
}
