/* backends/xnnpack/aot/aot.h - the exporting half of the XNNPACK backend. */
#ifndef WICK_BACKENDS_XNNPACK_AOT_AOT_H
#define WICK_BACKENDS_XNNPACK_AOT_AOT_H

#include "graph/lower.h"

extern const struct wick_lowering wick_lowering_xnnpack;

#endif
