/* api/build.c - what this build holds: for `wick --version` and bug reports. */
#include "api/tables.h"
#include "ukernel/ukernels.h"
#include "wick/runtime.h"

size_t wick_build_cpu_level_count(void) { return wick_ukernels_level_count(); }
const char *wick_build_cpu_level(size_t i) { return wick_ukernels_level_name(i); }

const char *wick_build_cpu(void)
{
    size_t best = 0;
    for (size_t i = 0; i < wick_ukernels_level_count(); i++)
        if (wick_ukernels_level_found(i)) best = i;
    return wick_ukernels_level_name(best);
}

size_t wick_build_backend_count(void) { return wick_default_backends.count; }
const char *wick_build_backend(size_t i) { return i < wick_default_backends.count ? wick_default_backends.backends[i]->id : NULL; }
size_t wick_build_op_count(void) { return wick_default_ops.count; }
const char *wick_build_op(size_t i) { return i < wick_default_ops.count ? wick_default_ops.ops[i]->meta->name : NULL; }
