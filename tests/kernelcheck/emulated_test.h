/* tests/kernelcheck/emulated_test.h - SIMDe's portable intrinsics under AVX-512's names: emulated_*.c compile that level's sources over them, so that
 * their algorithm is checked on any processor. */
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>
#include <simde/x86/fma.h>

#include <math.h>
#include <string.h>

#include "tensor/half.h"

/* What SIMDe 0.7 does not have, or rounds twice. */
static inline simde__m512i widen_u16(simde__m256i x)
{
    uint16_t in[16];
    uint32_t out[16];
    memcpy(in, &x, sizeof in);
    for (int i = 0; i < 16; i++) out[i] = in[i];
    return simde_mm512_loadu_si512(out);
}

static inline simde__m512 to_float(simde__m512i x)
{
    int32_t in[16];
    float out[16];
    memcpy(in, &x, sizeof in);
    for (int i = 0; i < 16; i++) out[i] = (float)in[i];
    return simde_mm512_loadu_ps(out);
}

static inline simde__m512i widen_i8(simde__m128i x)
{
    int8_t in[16];
    int32_t out[16];
    memcpy(in, &x, sizeof in);
    for (int i = 0; i < 16; i++) out[i] = in[i];
    return simde_mm512_loadu_si512(out);
}

static inline simde__m512 widen_half(simde__m256i x)
{
    uint16_t in[16];
    float out[16];
    memcpy(in, &x, sizeof in);
    for (int i = 0; i < 16; i++) out[i] = wick_f32_from_f16(in[i]);
    return simde_mm512_loadu_ps(out);
}

static inline simde__m512 fused(simde__m512 x, simde__m512 y, simde__m512 z)
{
    float a[16], b[16], c[16];
    memcpy(a, &x, sizeof a), memcpy(b, &y, sizeof b), memcpy(c, &z, sizeof c);
    for (int i = 0; i < 16; i++) c[i] = fmaf(a[i], b[i], c[i]);
    return simde_mm512_loadu_ps(c);
}

#undef _mm512_cvtepu16_epi32
#undef _mm512_cvtepi32_ps
#undef _mm512_fmadd_ps
#define _mm512_cvtepu16_epi32 widen_u16
#define _mm512_cvtepi32_ps to_float
#define _mm512_cvtepi8_epi32 widen_i8
#define _mm512_fmadd_ps fused
#define _mm512_cvtph_ps widen_half

#define WICK_EMULATED_INTRINSICS 1
