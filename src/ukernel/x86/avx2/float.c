/* ukernel/x86/avx2/float.c - products of float rows: 6 rows by 16 columns, 12 of the 16 registers. */
#include "ukernel/x86/avx2/avx2.h"

#include <immintrin.h>

enum { NR = 16, LANES = 8, TILE_ROWS = 6 };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "ukernel/generic/gemm.h"
#include "ukernel/generic/gemm_quantized.h"
#pragma GCC diagnostic pop

typedef __m256 vec;
static inline vec vec_load(const float *x) { return _mm256_loadu_ps(x); }
static inline vec vec_load_f16(const uint16_t *x) { return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)x)); }
static inline vec vec_load_bf16(const uint16_t *x)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)x)), 16));
}
static inline vec vec_load_i8(const int8_t *x) { return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)x))); }
static inline vec vec_set1(float x) { return _mm256_set1_ps(x); }
static inline vec vec_fma(vec x, vec y, vec z) { return _mm256_fmadd_ps(x, y, z); }
static inline void vec_store(float *out, vec x) { _mm256_storeu_ps(out, x); }
/* max and min take the second operand when one is NaN: x < min ? min : x. */
static inline vec vec_clamp(vec x, vec min, vec max) { return _mm256_min_ps(max, _mm256_max_ps(min, x)); }
#include "ukernel/generic/float_tile.h"

void wick_avx2_fill_float(struct wick_ukernels *t)
{
    fill_float_tiles(t);
#ifndef WICK_NO_QUANTIZED_GEMM
    fill_quantized_tiles(t);
#endif
}
