/* devtools/machine.h - the limits of this machine: reading memory, multiplying bytes. */
#ifndef WICK_DEVTOOLS_MACHINE_H
#define WICK_DEVTOOLS_MACHINE_H

#include "base/os.h"

struct wick_ukernels;

/* Bytes a second that all threads of the pool read together, summing a block much larger than the last cache: the best of a few passes. */
wick_status wick_machine_read(struct wick_pool *pool, double *bytes_per_second, wick_error *err);
/* Multiply-adds of bytes a second that all threads do together on registers. */
double wick_machine_int8(struct wick_pool *pool, const struct wick_ukernels *ukernels);

#endif
