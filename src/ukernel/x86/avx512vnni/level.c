/* ukernel/x86/avx512vnni/level.c - AVX-512 with VNNI: the generic kernels with these flags, and hand-written ones from this folder. */
#include "ukernel/ukernels.h"

enum { NR = 32 };
#include "ukernel/generic/gemm.h"
#include "ukernel/generic/gemm_quantized.h"
#include "ukernel/generic/vector.h"
#include "ukernel/x86/avx2/avx2.h"
#include "ukernel/x86/avx512vnni/avx512vnni.h"

static bool supported(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
}

static void fill(struct wick_ukernels *t)
{
    fill_vector(t);
    fill_gemm(t);
    fill_gemm_quantized(t);
    wick_avx2_fill_attention(t);
#ifndef WICK_NO_QUANTIZED_GEMM
    wick_avx512vnni_fill_qb4(t);
#endif
}

extern const struct wick_isa wick_isa_avx512vnni;
const struct wick_isa wick_isa_avx512vnni = {"avx512vnni", supported, fill};
