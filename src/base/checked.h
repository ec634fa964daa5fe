/* base/checked.h - arithmetic on sizes that come from outside. True means it overflowed. */
#ifndef WICK_BASE_CHECKED_H
#define WICK_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool wick_add_ovf(uint64_t a, uint64_t b, uint64_t *out) { return __builtin_add_overflow(a, b, out); }
static inline bool wick_mul_ovf(uint64_t a, uint64_t b, uint64_t *out) { return __builtin_mul_overflow(a, b, out); }
static inline bool wick_add_size(size_t a, size_t b, size_t *out) { return __builtin_add_overflow(a, b, out); }
static inline bool wick_mul_size(size_t a, size_t b, size_t *out) { return __builtin_mul_overflow(a, b, out); }

/* True if [offset, offset + size) lies within [0, limit). */
static inline bool wick_range_ok(uint64_t offset, uint64_t size, uint64_t limit)
{
    return offset <= limit && size <= limit - offset;
}

/* Rounds up to a power of two; the caller knows that it does not overflow. */
static inline uint64_t wick_align_up(uint64_t value, uint64_t alignment) { return (value + alignment - 1) & ~(alignment - 1); }

#endif
