/* tensor/tensor.h - what a tensor is: element type, sizes, dim order, bytes. */
#ifndef WICK_TENSOR_TENSOR_H
#define WICK_TENSOR_TENSOR_H

#include "base/error.h"
#include "tensor/dtype.h"

enum { WICK_RANK_MAX = 16 };

/* Shape and layout without data. dim_order lists the dims from outermost to innermost in memory (0,1,2.. = contiguous). */
struct wick_shape {
    uint8_t dtype, rank;
    uint8_t dim_order[WICK_RANK_MAX];
    int32_t sizes[WICK_RANK_MAX];
};

enum wick_dynamism { WICK_STATIC, WICK_DYNAMIC_BOUND, WICK_DYNAMIC_UNBOUND };

/* strides are in elements; a size of 0 counts as 1 when strides are derived. data may be NULL only for 0 bytes or
 * before it is bound. capacity: bytes at data that a resize may use. */
struct wick_tensor {
    struct wick_shape shape;
    uint8_t dynamism;
    bool constant; /* data is read-only */
    int32_t strides[WICK_RANK_MAX];
    void *data;
    size_t capacity;
};

/* Product of the sizes; 1 for rank 0. The shape was verified, so that it does not overflow. */
size_t wick_shape_numel(const struct wick_shape *shape);
static inline size_t wick_shape_nbytes(const struct wick_shape *shape) { return wick_shape_numel(shape) * wick_dtype_size(shape->dtype); }
/* For outside data: false if rank > 16, a size < 0, dim_order no permutation, dtype unknown, or bytes overflow int64. */
bool wick_shape_valid(const struct wick_shape *shape, uint64_t *nbytes);
bool wick_shape_same_sizes(const struct wick_shape *a, const struct wick_shape *b);
bool wick_shape_is_contiguous(const struct wick_shape *shape); /* dim_order is 0,1,2,..  (dims of size 1 do not matter) */
void wick_shape_set_contiguous(struct wick_shape *shape);      /* sets dim_order */
/* A contiguous shape. */
struct wick_shape wick_shape_make(int dtype, int rank, const int32_t *sizes);
void wick_shape_strides(const struct wick_shape *shape, int32_t *strides);
/* "f32 [1, 2, 3]" into out (room for 128). */
void wick_shape_text(const struct wick_shape *shape, char out[128]);

static inline size_t wick_tensor_numel(const struct wick_tensor *t) { return wick_shape_numel(&t->shape); }
static inline size_t wick_tensor_nbytes(const struct wick_tensor *t) { return wick_shape_nbytes(&t->shape); }
static inline int wick_tensor_rank(const struct wick_tensor *t) { return t->shape.rank; }

/* Gives the tensor new sizes (same rank), the rule of ExecuTorch's resize_tensor: STATIC sizes must be equal
 * already, else the bytes must fit capacity; WICK_NOT_SUPPORTED otherwise. Strides follow. */
wick_status wick_tensor_resize(struct wick_tensor *t, const int32_t *sizes, int rank, wick_error *err);

#endif
