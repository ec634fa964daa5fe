/* ukernel/arm/dotprod/float.c - products of float rows: 4 rows by 16 columns, 16 of the 32 registers. */
#include "ukernel/arm/dotprod/dotprod.h"

#include <arm_neon.h>

enum { NR = 16, LANES = 4, TILE_ROWS = 4 };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "ukernel/generic/gemm.h"
#include "ukernel/generic/gemm_quantized.h"
#pragma GCC diagnostic pop

typedef float32x4_t vec;
static inline vec vec_load(const float *x) { return vld1q_f32(x); }
static inline vec vec_load_f16(const uint16_t *x) { return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(x))); }
static inline vec vec_load_bf16(const uint16_t *x) { return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(x), 16)); }
static inline vec vec_load_i8(const int8_t *x)
{
    int32_t four;
    memcpy(&four, x, sizeof four);
    return vcvtq_f32_s32(vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_s32(vdup_n_s32(four))))));
}
static inline vec vec_set1(float x) { return vdupq_n_f32(x); }
static inline vec vec_fma(vec x, vec y, vec z) { return vfmaq_f32(z, x, y); }
static inline void vec_store(float *out, vec x) { vst1q_f32(out, x); }
/* A NaN stays, as in clamp_out: comparisons with it are false. */
static inline vec vec_clamp(vec x, vec min, vec max)
{
    x = vbslq_f32(vcltq_f32(x, min), min, x);
    return vbslq_f32(vcgtq_f32(x, max), max, x);
}
#include "ukernel/generic/float_tile.h"

void wick_dotprod_fill_float(struct wick_ukernels *t)
{
    fill_float_tiles(t);
#ifndef WICK_NO_QUANTIZED_GEMM
    fill_quantized_tiles(t);
#endif
}
