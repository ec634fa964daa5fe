/* ukernel/x86/avx512vnni/float.c - products of float rows: 12 rows by 32 columns, 24 of the 32 registers. */
#include "ukernel/x86/avx512vnni/avx512vnni.h"

#ifndef WICK_EMULATED_INTRINSICS
#include <immintrin.h>
#endif

enum { NR = 32, LANES = 16, TILE_ROWS = 12 };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "ukernel/generic/gemm.h"
#include "ukernel/generic/gemm_quantized.h"
#pragma GCC diagnostic pop

typedef __m512 vec;
static inline vec vec_load(const float *x) { return _mm512_loadu_ps(x); }
static inline vec vec_load_f16(const uint16_t *x) { return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)x)); }
static inline vec vec_load_bf16(const uint16_t *x)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)x)), 16));
}
static inline vec vec_load_i8(const int8_t *x) { return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)x))); }
static inline vec vec_set1(float x) { return _mm512_set1_ps(x); }
static inline vec vec_fma(vec x, vec y, vec z) { return _mm512_fmadd_ps(x, y, z); }
static inline void vec_store(float *out, vec x) { _mm512_storeu_ps(out, x); }
static inline vec vec_clamp(vec x, vec min, vec max) { return _mm512_min_ps(max, _mm512_max_ps(min, x)); }
#include "ukernel/generic/float_tile.h"

void wick_avx512vnni_fill_float(struct wick_ukernels *t)
{
    fill_float_tiles(t);
#ifndef WICK_NO_QUANTIZED_GEMM
    fill_quantized_tiles(t);
#endif
}
