/* ukernel/x86/avx2/peak.c - maddubs and a 16-bit addition, eight chains of them. */
#include "ukernel/x86/avx2/avx2.h"

#include <immintrin.h>

uint64_t wick_avx2_int8_peak(uint64_t rounds)
{
    enum { CHAINS = 8, MULTIPLY_ADDS = CHAINS * 32, STEPS = 4 };
    __m256i acc[CHAINS], a = _mm256_set1_epi8(3), w = _mm256_set1_epi8(5);
    for (int r = 0; r < CHAINS; r++) acc[r] = _mm256_setzero_si256();
    for (uint64_t i = 0; i < rounds; i++) {
        for (int s = 0; s < STEPS; s++) {
            for (int r = 0; r < CHAINS; r++) {
                __asm__ volatile("" : "+x"(a)); /* else the products are computed once */
                acc[r] = _mm256_add_epi16(acc[r], _mm256_maddubs_epi16(a, w));
            }
        }
    }
    for (int r = 0; r < CHAINS; r++) __asm__ volatile("" : : "x"(acc[r]));
    return rounds * STEPS * MULTIPLY_ADDS;
}
