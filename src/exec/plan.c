/* exec/plan.c - greedy best-fit placement of values by lifetime; see plan.h. Used by memory.c. */
#include "exec/plan.h"

#include "base/checked.h"

#include <string.h>

struct gap {
    uint64_t offset, bytes;
};

/* Free space below `top`, ordered by offset, never two gaps side by side. */
struct heap {
    struct gap *gaps;
    uint32_t count;
    uint64_t top;
};

static void remove_gap(struct heap *heap, uint32_t at)
{
    heap->count--;
    memmove(&heap->gaps[at], &heap->gaps[at + 1], (heap->count - at) * sizeof heap->gaps[0]);
}

static bool take(struct heap *heap, uint64_t bytes, uint64_t *offset)
{
    *offset = 0;
    if (bytes == 0) return true;
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < heap->count; i++)
        if (heap->gaps[i].bytes >= bytes && (best == UINT32_MAX || heap->gaps[i].bytes < heap->gaps[best].bytes)) best = i;
    if (best != UINT32_MAX) {
        *offset = heap->gaps[best].offset;
        heap->gaps[best].offset += bytes;
        heap->gaps[best].bytes -= bytes;
        if (heap->gaps[best].bytes == 0) remove_gap(heap, best);
        return true;
    }
    /* Grow the block; a gap at its end becomes the beginning of the value. */
    struct gap *last = heap->count ? &heap->gaps[heap->count - 1] : NULL;
    bool joins = last && last->offset + last->bytes == heap->top;
    *offset = joins ? last->offset : heap->top;
    if (joins) heap->count--;
    return !wick_add_ovf(*offset, bytes, &heap->top) && heap->top <= INT64_MAX;
}

static void give(struct heap *heap, uint64_t offset, uint64_t bytes)
{
    uint32_t at = 0;
    while (at < heap->count && heap->gaps[at].offset < offset) at++;
    bool joins_before = at > 0 && heap->gaps[at - 1].offset + heap->gaps[at - 1].bytes == offset;
    bool joins_after = at < heap->count && offset + bytes == heap->gaps[at].offset;
    if (joins_before) {
        heap->gaps[at - 1].bytes += bytes;
        if (!joins_after) return;
        heap->gaps[at - 1].bytes += heap->gaps[at].bytes;
        remove_gap(heap, at);
    } else if (joins_after) {
        heap->gaps[at].offset = offset;
        heap->gaps[at].bytes += bytes;
    } else {
        memmove(&heap->gaps[at + 1], &heap->gaps[at], (heap->count - at) * sizeof heap->gaps[0]);
        heap->gaps[at] = (struct gap){offset, bytes};
        heap->count++;
    }
}

/* Intervals chained by the step they begin (or end) at: head[step] is the first, next[i] the following; ids from 1. */
static void chain(const struct wick_interval *intervals, uint32_t count, bool ends, uint32_t *head, uint32_t *next)
{
    for (uint32_t i = count; i-- > 0;) {
        uint32_t step = ends ? intervals[i].last : intervals[i].first;
        next[i] = head[step];
        head[step] = i + 1;
    }
}

wick_status wick_plan_offsets(struct wick_interval *intervals, uint32_t count, uint32_t steps, struct wick_arena *temp, uint64_t *total,
                              wick_error *err)
{
    *total = 0;
    if (count == 0) return WICK_OK;
    struct heap heap = {.gaps = WICK_NEW_ARRAY(temp, struct gap, (size_t)count + 1)};
    uint32_t *begins = WICK_NEW_ARRAY(temp, uint32_t, steps), *next_begin = WICK_NEW_ARRAY(temp, uint32_t, count);
    uint32_t *ends = WICK_NEW_ARRAY(temp, uint32_t, steps), *next_end = WICK_NEW_ARRAY(temp, uint32_t, count);
    if (!heap.gaps || !begins || !next_begin || !ends || !next_end) return wick_fail_oom(err, count * sizeof(struct gap), "memory plan");
    chain(intervals, count, false, begins, next_begin);
    chain(intervals, count, true, ends, next_end);
    for (uint32_t step = 0; step < steps; step++) {
        for (uint32_t i = begins[step]; i; i = next_begin[i - 1]) {
            struct wick_interval *interval = &intervals[i - 1];
            if (interval->bytes > INT64_MAX - WICK_PLAN_ALIGNMENT ||
                !take(&heap, wick_align_up(interval->bytes, WICK_PLAN_ALIGNMENT), &interval->offset))
                return wick_fail(err, WICK_OUT_OF_MEMORY, "memory plan: internal values need more than 2^63 bytes");
        }
        for (uint32_t i = ends[step]; i; i = next_end[i - 1])
            if (intervals[i - 1].bytes) give(&heap, intervals[i - 1].offset, wick_align_up(intervals[i - 1].bytes, WICK_PLAN_ALIGNMENT));
    }
    *total = heap.top;
    return WICK_OK;
}
