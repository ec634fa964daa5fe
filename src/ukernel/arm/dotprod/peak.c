/* ukernel/arm/dotprod/peak.c - sdot on sixteen accumulators. */
#include "ukernel/arm/dotprod/dotprod.h"

#include <arm_neon.h>

uint64_t wick_dotprod_int8_peak(uint64_t rounds)
{
    enum { CHAINS = 16, MULTIPLY_ADDS = CHAINS * 16, STEPS = 4 };
    int32x4_t acc[CHAINS];
    int8x16_t a = vdupq_n_s8(3), w = vdupq_n_s8(5);
    for (int r = 0; r < CHAINS; r++) acc[r] = vdupq_n_s32(0);
    for (uint64_t i = 0; i < rounds * STEPS; i++)
        for (int r = 0; r < CHAINS; r++) acc[r] = vdotq_s32(acc[r], a, w);
    int32x4_t all = acc[0];
    for (int r = 1; r < CHAINS; r++) all = veorq_s32(all, acc[r]);
    volatile int32_t kept = vaddvq_s32(all); /* so that no chain is left out */
    (void)kept;
    return rounds * STEPS * MULTIPLY_ADDS;
}
