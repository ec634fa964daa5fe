/* ops/copy/view.h - what view-and-copy operators show of their input: sizes and strides over its bytes.
 *
 * One function an operator, used by its rule (sizes only) and by its kernel. Views read arguments 0.. of the call as the
 * operator's schema has them, check them, and never look at data. */
#ifndef WICK_OPS_COPY_VIEW_H
#define WICK_OPS_COPY_VIEW_H

#include "tensor/value.h"

/* repeat splits every dim in two. */
enum { WICK_VIEW_RANK = 2 * WICK_RANK_MAX };

struct wick_view {
    int rank;
    int32_t sizes[WICK_VIEW_RANK];
    int64_t strides[WICK_VIEW_RANK]; /* elements of the input; 0 repeats, negative runs backwards */
    int64_t offset;                  /* elements from the input's first one */
};

typedef wick_status wick_view_fn(const struct wick_args *args, struct wick_view *view, wick_error *err);

/* The whole tensor. */
void wick_view_of(const struct wick_tensor *t, struct wick_view *view);

wick_view_fn wick_view_identity;       /* (T self, ...) */
wick_view_fn wick_view_t;              /* (T self): rank <= 2, dims exchanged */
wick_view_fn wick_view_transpose;      /* (T self, int dim0, int dim1) */
wick_view_fn wick_view_permute;        /* (T self, int[] dims) */
wick_view_fn wick_view_expand;         /* (T self, int[] size, bool implicit) */
wick_view_fn wick_view_select;         /* (T self, int dim, int index) */
wick_view_fn wick_view_slice;          /* (T self, int dim, int? start, int? end, int step) */
wick_view_fn wick_view_narrow;         /* (T self, int dim, int start, int length) */
wick_view_fn wick_view_squeeze;        /* (T self, int dim) */
wick_view_fn wick_view_squeeze_dims;   /* (T self, int[] dims) */
wick_view_fn wick_view_unsqueeze;      /* (T self, int dim) */
wick_view_fn wick_view_diagonal;       /* (T self, int offset, int dim1, int dim2) */
wick_view_fn wick_view_unfold;         /* (T self, int dimension, int size, int step) */
wick_view_fn wick_view_flip;           /* (T self, int[] dims) */
wick_view_fn wick_view_as_strided;     /* (T self, int[] size, int[] stride, int? storage_offset) */
wick_view_fn wick_view_repeat;         /* (T self, int[] repeats): each out dim is two view dims, repeat and size */
wick_view_fn wick_view_shuffle;        /* (T self, int upscale_factor): pixel_shuffle, rank + 2 */
wick_view_fn wick_view_unshuffle;      /* (T self, int downscale_factor): pixel_unshuffle, rank + 2 */
wick_view_fn wick_view_select_scatter; /* (T self, T src, int dim, int index): what src replaces */
wick_view_fn wick_view_slice_scatter;  /* (T self, T src, int dim, int? start, int? end, int step) */

/* slice bounds after ExecuTorch's rules: negative values count from the end, then both are clamped to [0, size].
 * start none: 0; end none: size. Returns the number of elements. step >= 1. */
int64_t wick_slice_bounds(int64_t size, int64_t *start, int64_t end, int64_t step);

/* Sizes with one -1 resolved for `numel` elements: view, et_view. */
wick_status wick_view_sizes(const struct wick_args *args, uint32_t list, size_t numel, struct wick_shape *out, wick_error *err);

/* The k-th piece of a tensor that an operator cuts along a dim; outs: how many pieces the call has room for. */
enum wick_cut {
    WICK_CUT_EVERY /* (T self, int split_size, int dim) */,
    WICK_CUT_SIZES /* (T self, int[] sizes, int dim) */,
    WICK_CUT_UNBIND /* (T self, int dim) */
};
wick_status wick_view_piece(const struct wick_args *args, enum wick_cut cut, uint32_t k, uint32_t outs, struct wick_view *view, wick_error *err);

#endif
