/* ukernel/arm/dotprod/dotprod.h - the hand-written parts of the level. */
#ifndef WICK_UKERNEL_ARM_DOTPROD_DOTPROD_H
#define WICK_UKERNEL_ARM_DOTPROD_DOTPROD_H

#include "ukernel/ukernels.h"

void wick_dotprod_fill_float(struct wick_ukernels *t);
void wick_dotprod_fill_qb4(struct wick_ukernels *t);
void wick_dotprod_fill_qc(struct wick_ukernels *t);

/* peak.c: wick_ukernels.int8_peak. */
uint64_t wick_dotprod_int8_peak(uint64_t rounds);

#endif
