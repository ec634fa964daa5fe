/* ukernel/arm/dotprod/level.c - Armv8.2 with the dot product: the generic kernels with these flags, and hand-written ones from this folder. */
#include "ukernel/ukernels.h"

enum { NR = 16 };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "ukernel/generic/gemm.h"
#include "ukernel/generic/gemm_quantized.h"
#pragma GCC diagnostic pop
#include "ukernel/generic/vector.h"
#include "ukernel/arm/dotprod/dotprod.h"

#if defined(__linux__) || defined(__ANDROID__)
#include <sys/auxv.h>
/* HWCAP_ASIMDDP of <asm/hwcap.h>. */
static bool supported(void) { return getauxval(AT_HWCAP) >> 20 & 1; }
#else
/* Every Apple core since 2019 has it, and only such builds come here. */
static bool supported(void) { return true; }
#endif

static void fill(struct wick_ukernels *t)
{
    fill_vector(t);
    fill_gemm_quantized(t);
    wick_dotprod_fill_float(t);
    t->int8_peak = wick_dotprod_int8_peak;
#ifndef WICK_NO_QUANTIZED_GEMM
    wick_dotprod_fill_qb4(t);
    wick_dotprod_fill_qc(t);
#endif
}

extern const struct wick_isa wick_isa_dotprod;
const struct wick_isa wick_isa_dotprod = {"dotprod", supported, fill};
