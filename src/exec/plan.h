/* exec/plan.h - where values of known lifetimes go in one block of memory. */
#ifndef WICK_EXEC_PLAN_H
#define WICK_EXEC_PLAN_H

#include "base/arena.h"

enum { WICK_PLAN_ALIGNMENT = 64 };

/* A value needed from step `first` to step `last`, both included. */
struct wick_interval {
    uint64_t bytes;
    uint32_t first, last;
    uint64_t offset; /* result: a multiple of WICK_PLAN_ALIGNMENT */
};

/* Greedy best fit in order of steps: a value takes the smallest gap that holds it. Values whose intervals share a step
 * never share a byte. total: bytes of the block. Steps are below `steps`. OUT_OF_MEMORY if temp or 2^63 bytes do not suffice. */
wick_status wick_plan_offsets(struct wick_interval *intervals, uint32_t count, uint32_t steps, struct wick_arena *temp, uint64_t *total,
                              wick_error *err) WICK_MUST_CHECK;

#endif
