/* ukernel/ref/level.c - the portable level: the generic kernels with the compiler's default instructions. What all others are held against. */
#include "ukernel/ukernels.h"

#include <string.h>

enum { NR = 16 };
#include "ukernel/generic/gemm.h"
#include "ukernel/generic/gemm_quantized.h"
#include "ukernel/generic/vector.h"

static bool supported(void) { return true; }

/* What the compiler makes of a loop over two rows that stay in the first-level cache. */
static uint64_t int8_peak(uint64_t rounds)
{
    enum { COLUMNS = 1024 };
    uint8_t a[COLUMNS];
    int8_t w[COLUMNS];
    int32_t sum = 0;
    memset(a, 3, sizeof a);
    memset(w, 5, sizeof w);
    for (uint64_t i = 0; i < rounds; i++) {
        __asm__ volatile("" : : "r"(a), "r"(w) : "memory");
        for (size_t k = 0; k < COLUMNS; k++) sum += a[k] * w[k];
        __asm__ volatile("" : "+r"(sum));
    }
    return rounds * COLUMNS;
}

static void fill(struct wick_ukernels *t)
{
    t->int8_peak = int8_peak;
    fill_vector(t);
    fill_gemm(t);
    fill_gemm_quantized(t);
}

extern const struct wick_isa wick_isa_ref;
const struct wick_isa wick_isa_ref = {"ref", supported, fill};
