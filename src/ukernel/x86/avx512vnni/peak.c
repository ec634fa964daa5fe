/* ukernel/x86/avx512vnni/peak.c - vpdpbusd on twelve accumulators. */
#include "ukernel/x86/avx512vnni/avx512vnni.h"

#include <immintrin.h>

uint64_t wick_avx512vnni_int8_peak(uint64_t rounds)
{
    enum { CHAINS = 12, MULTIPLY_ADDS = CHAINS * 64 };
    __m512i acc[CHAINS], a = _mm512_set1_epi8(3), w = _mm512_set1_epi8(5);
    for (int r = 0; r < CHAINS; r++) acc[r] = _mm512_setzero_si512();
    for (uint64_t i = 0; i < rounds; i++)
        for (int r = 0; r < CHAINS; r++) acc[r] = _mm512_dpbusd_epi32(acc[r], a, w);
    __m512i all = acc[0];
    for (int r = 1; r < CHAINS; r++) all = _mm512_xor_si512(all, acc[r]);
    volatile int32_t kept = _mm512_reduce_add_epi32(all); /* so that no chain is left out */
    (void)kept;
    return rounds * MULTIPLY_ADDS;
}
