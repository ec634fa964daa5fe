/* ops/copy/strided.h - copying blocks between any two strided layouts, by element size. */
#ifndef WICK_OPS_COPY_STRIDED_H
#define WICK_OPS_COPY_STRIDED_H

#include "ops/copy/view.h"

/* Copies a block of sizes[0..rank) from `in` to `out`; strides are in elements and may be 0 (in: broadcast) or negative.
 * element: 1, 2, 4, 8 or 16 bytes. The two must not overlap, unless they are the same bytes in the same layout. rank <= WICK_VIEW_RANK. */
void wick_strided_copy(void *out, const int64_t *out_strides, const void *in, const int64_t *in_strides, const int32_t *sizes, int rank,
                       size_t element);

/* Copies what a view of `self` shows into `out`, whose sizes are the view's (any dim order) or, with `flat`, whose
 * elements in contiguous order are the view's. INVALID_TYPE if element types differ. */
wick_status wick_view_copy(struct wick_tensor *out, const struct wick_view *view, const struct wick_tensor *self, bool flat, wick_error *err);

/* int64 copies of a tensor's strides. */
void wick_strides_of(const struct wick_tensor *t, int64_t *strides);
/* Strides of a contiguous block of these sizes. */
void wick_strides_contiguous(const int32_t *sizes, int rank, int64_t *strides);

#endif
