/* tests/kernelcheck/emulated_qc.c */
#include "emulated_test.h"

#define wick_avx512vnni_fill_qc wick_emulated_fill_qc
#include "ukernel/x86/avx512vnni/qc.c"
