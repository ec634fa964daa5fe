/* ukernel/x86/avx2/quads.tmpl.h - what the products of 8-bit rows share: maddubs on four bytes at a time, 8 columns a vector.
 *
 * a is at most 255. With |w| <= 8 a pair of products is within 4080 and eight of them, 32 columns of k, within 32640; with w of 0..15 it is
 * within 7650 and four of them within 30600. So many fit the 16-bit sums that maddubs makes before they are widened to 32 bits. */
#include <immintrin.h>
#include <string.h>

#include "ukernel/ukernels.h"

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

/* The 16-bit sums of `quads` times 4 columns of k, of rows x vectors. w: (quad, vector), `stride` vectors from quad to quad. The empty asm keeps
 * weights in registers and the order of additions: else the compiler reads weights again for each row, makes a tree of the additions and spills
 * its leaves. */
static inline __attribute__((always_inline)) void multiply_quads(const uint8_t *const a[4], size_t k, const __m256i *w, size_t stride,
                                                                 __m256i part[4][2], const int quads, const int rows, const int vectors)
{
#pragma GCC unroll 8
    for (int q = 0; q < quads; q++, w += stride) {
        __m256i quad[2];
        for (int v = 0; v < vectors; v++) {
            quad[v] = w[v];
            __asm__ volatile("" : "+x"(quad[v]));
        }
        for (int r = 0; r < rows; r++) {
            __m256i x = quad_at(a[r] + k + 4 * q);
            for (int v = 0; v < vectors; v++) {
                __m256i product = _mm256_maddubs_epi16(x, quad[v]);
                part[r][v] = q == 0 ? product : _mm256_add_epi16(part[r][v], product);
                __asm__ volatile("" : "+x"(part[r][v]));
            }
        }
    }
}
