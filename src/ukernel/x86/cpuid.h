/* ukernel/x86/cpuid.h - what the processor has and the system saves. Smaller than the compiler's table of all processors, which the core
 * profile would carry along. Source: Intel 64 and IA-32 manual, volume 2, CPUID; volume 1, 13.3 (XCR0). */
#ifndef WICK_UKERNEL_X86_CPUID_H
#define WICK_UKERNEL_X86_CPUID_H

#include <cpuid.h>
#include <stdbool.h>
#include <stdint.h>

/* Bits of leaf 1 ecx, leaf 7 ebx and ecx that a level needs, all of them. */
struct wick_x86_needs {
    uint32_t leaf1_ecx, leaf7_ebx, leaf7_ecx;
    uint32_t saved; /* parts of the state that the system must save: bits of XCR0 */
};

enum {
    WICK_X86_FMA = 1u << 12, WICK_X86_OSXSAVE = 1u << 27, WICK_X86_F16C = 1u << 29,                     /* leaf 1 ecx */
    WICK_X86_BMI = 1u << 3, WICK_X86_AVX2 = 1u << 5, WICK_X86_BMI2 = 1u << 8, WICK_X86_AVX512F = 1u << 16, /* leaf 7 ebx */
    WICK_X86_AVX512DQ = 1u << 17, WICK_X86_AVX512BW = 1u << 30,
    WICK_X86_AVX512VNNI = 1u << 11,                                                                      /* leaf 7 ecx */
    WICK_X86_SAVES_YMM = 0x06, WICK_X86_SAVES_ZMM = 0xe6,                                                /* XCR0 */
};
#define WICK_X86_AVX512VL (1u << 31) /* leaf 7 ebx; does not fit an int */

static inline bool wick_x86_has(const struct wick_x86_needs *needs)
{
    uint32_t a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & (needs->leaf1_ecx | WICK_X86_OSXSAVE)) != (needs->leaf1_ecx | WICK_X86_OSXSAVE)) return false;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (b & needs->leaf7_ebx) != needs->leaf7_ebx || (c & needs->leaf7_ecx) != needs->leaf7_ecx) return false;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & needs->saved) == needs->saved;
}

#endif
