/* ops/index/layout.h - numpy-style indexing with several tensors: where its dims go. Used by the rules and the kernels. */
#ifndef WICK_OPS_INDEX_LAYOUT_H
#define WICK_OPS_INDEX_LAYOUT_H

#include "tensor/value.h"

enum { WICK_INDEX_SLICED = 0xff };

/* self[indices]: every dim of self is either kept whole ("sliced") or addressed by an index tensor. A mask of rank k
 * addresses k dims by the places of its true elements. The dims of the indices, broadcast together, stand in the result
 * at the first addressed dim if all of those are adjacent, else in front. */
struct wick_index_layout {
    int rank;                         /* of self */
    uint8_t item[WICK_RANK_MAX];      /* for a dim of self: which list item addresses it, or WICK_INDEX_SLICED */
    uint8_t component[WICK_RANK_MAX]; /* which dim of a mask that is; 0 for integers */
    int index_rank;
    int32_t index_sizes[WICK_RANK_MAX];
    int index_dim; /* of the result where the index dims begin */
    int out_rank;
    int32_t out_sizes[WICK_RANK_MAX];
    bool masked; /* the sizes depend on data */
};

/* List argument `list` over tensor argument 0. A mask without data (before a run) counts all its elements. Errors:
 * INVALID_ARGUMENT for too many indices or shapes that do not fit, INVALID_TYPE for an index that is no INT, LONG, BOOL or BYTE. */
wick_status wick_index_layout_make(struct wick_index_layout *layout, const struct wick_args *args, uint32_t list, wick_error *err);

static inline bool wick_index_is_mask(const struct wick_tensor *t) { return t->shape.dtype == WICK_DTYPE_BOOL || t->shape.dtype == WICK_DTYPE_U8; }
/* Elements of a BOOL or BYTE tensor that are not zero; 0 bytes of data: none. */
size_t wick_mask_count(const struct wick_tensor *mask);

#endif
