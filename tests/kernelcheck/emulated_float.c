/* tests/kernelcheck/emulated_float.c */
#include "emulated_test.h"

#define wick_avx512vnni_fill_float wick_emulated_fill_float
#include "ukernel/x86/avx512vnni/float.c"
