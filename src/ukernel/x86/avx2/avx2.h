/* ukernel/x86/avx2/avx2.h - the hand-written parts of the level. */
#ifndef WICK_UKERNEL_X86_AVX2_AVX2_H
#define WICK_UKERNEL_X86_AVX2_AVX2_H

#include "ukernel/ukernels.h"

void wick_avx2_fill_float(struct wick_ukernels *t);
void wick_avx2_fill_qb4(struct wick_ukernels *t);
void wick_avx2_fill_qc(struct wick_ukernels *t);
void wick_avx2_fill_attention(struct wick_ukernels *t);

/* peak.c: wick_ukernels.int8_peak. */
uint64_t wick_avx2_int8_peak(uint64_t rounds);

#endif
