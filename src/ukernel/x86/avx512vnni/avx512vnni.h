/* ukernel/x86/avx512vnni/avx512vnni.h - the hand-written parts of the level. */
#ifndef WICK_UKERNEL_X86_AVX512VNNI_AVX512VNNI_H
#define WICK_UKERNEL_X86_AVX512VNNI_AVX512VNNI_H

#include "ukernel/ukernels.h"

void wick_avx512vnni_fill_float(struct wick_ukernels *t);
void wick_avx512vnni_fill_qb4(struct wick_ukernels *t);
void wick_avx512vnni_fill_qc(struct wick_ukernels *t);

/* peak.c: wick_ukernels.int8_peak. */
uint64_t wick_avx512vnni_int8_peak(uint64_t rounds);

#endif
