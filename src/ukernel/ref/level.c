/* ukernel/ref/level.c - the portable level: the generic kernels with the compiler's default instructions. What all others are held against. */
#include "ukernel/ukernels.h"

enum { NR = 16 };
#include "ukernel/generic/gemm.h"
#include "ukernel/generic/gemm_quantized.h"
#include "ukernel/generic/vector.h"

static bool supported(void) { return true; }

static void fill(struct wick_ukernels *t)
{
    fill_vector(t);
    fill_gemm(t);
    fill_gemm_quantized(t);
}

extern const struct wick_isa wick_isa_ref;
const struct wick_isa wick_isa_ref = {"ref", supported, fill};
