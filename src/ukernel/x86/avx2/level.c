/* ukernel/x86/avx2/level.c - AVX2, FMA and F16C: the generic kernels with these flags, and hand-written ones from this folder. */
#include "ukernel/ukernels.h"

enum { NR = 16 };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "ukernel/generic/gemm.h"
#include "ukernel/generic/gemm_quantized.h"
#pragma GCC diagnostic pop
#include "ukernel/generic/vector.h"
#include "ukernel/x86/avx2/avx2.h"
#include "ukernel/x86/cpuid.h"

static bool supported(void)
{
    static const struct wick_x86_needs needs = {WICK_X86_FMA | WICK_X86_F16C, WICK_X86_BMI | WICK_X86_AVX2 | WICK_X86_BMI2, 0, WICK_X86_SAVES_YMM};
    return wick_x86_has(&needs);
}

static void fill(struct wick_ukernels *t)
{
    fill_vector(t);
    fill_gemm_quantized(t);
    wick_avx2_fill_float(t);
    t->int8_peak = wick_avx2_int8_peak;
    wick_avx2_fill_attention(t);
#ifndef WICK_NO_QUANTIZED_GEMM
    wick_avx2_fill_qb4(t);
    wick_avx2_fill_qc(t);
#endif
}

extern const struct wick_isa wick_isa_avx2;
const struct wick_isa wick_isa_avx2 = {"avx2", supported, fill};
