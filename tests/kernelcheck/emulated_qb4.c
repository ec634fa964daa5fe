/* tests/kernelcheck/emulated_qb4.c */
#include "emulated_test.h"

#define wick_avx512vnni_fill_qb4 wick_emulated_fill_qb4
#include "ukernel/x86/avx512vnni/qb4.c"
