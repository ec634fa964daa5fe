/* tests/kernelcheck/emulated.c - the AVX-512 VNNI sources over SIMDe's portable intrinsics, so that their algorithm is checked on any processor. */
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>
#include <simde/x86/fma.h>

#include <string.h>

/* Two that SIMDe 0.7 does not have. */
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

#undef _mm512_cvtepu16_epi32
#undef _mm512_cvtepi32_ps
#define _mm512_cvtepu16_epi32 widen_u16
#define _mm512_cvtepi32_ps to_float

#define WICK_EMULATED_INTRINSICS 1
#define wick_avx512vnni_fill_qb4 wick_emulated_fill
#include "ukernel/x86/avx512vnni/qb4.c"
