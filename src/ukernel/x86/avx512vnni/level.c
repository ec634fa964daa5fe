/* ukernel/x86/avx512vnni/level.c - AVX-512 with VNNI: the generic kernels with these flags, and hand-written ones from this folder. */
#include "ukernel/ukernels.h"

enum { NR = 32 };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "ukernel/generic/gemm.h"
#include "ukernel/generic/gemm_quantized.h"
#pragma GCC diagnostic pop
#include "ukernel/generic/vector.h"
#include "ukernel/x86/avx2/avx2.h"
#include "ukernel/x86/avx512vnni/avx512vnni.h"
#include "ukernel/x86/cpuid.h"

static bool supported(void)
{
    static const struct wick_x86_needs needs = {WICK_X86_FMA | WICK_X86_F16C,
                                                WICK_X86_BMI | WICK_X86_AVX2 | WICK_X86_BMI2 | WICK_X86_AVX512F | WICK_X86_AVX512DQ | WICK_X86_AVX512BW | WICK_X86_AVX512VL,
                                                WICK_X86_AVX512VNNI, WICK_X86_SAVES_ZMM};
    return wick_x86_has(&needs);
}

static void fill(struct wick_ukernels *t)
{
    fill_vector(t);
    fill_gemm_quantized(t);
    t->int8_peak = wick_avx512vnni_int8_peak;
    wick_avx2_fill_attention(t);
#ifdef WICK_NO_QUANTIZED_GEMM
    wick_avx2_fill_float(t);
#else
    wick_avx512vnni_fill_float(t);
    wick_avx512vnni_fill_qb4(t);
    wick_avx512vnni_fill_qc(t);
#endif
}

extern const struct wick_isa wick_isa_avx512vnni;
const struct wick_isa wick_isa_avx512vnni = {"avx512vnni", supported, fill};
