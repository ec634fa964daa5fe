/* ops/index/masked.c - operators led by a mask: masked_fill, masked_scatter, masked_select, nonzero. */
#include "ops/copy/cast.h"
#include "ops/copy/strided.h"
#include "ops/index/layout.h"
#include "ops/ops.h"

#define OP(id) const struct wick_op wick_op_##id = {.meta = &wick_opmeta_##id, .run = run_##id}

/* self and mask, broadcast together, as rows along the last dim. */
struct walk {
    int rank;
    int32_t sizes[WICK_RANK_MAX], at[WICK_RANK_MAX];
    int64_t self[WICK_RANK_MAX], mask[WICK_RANK_MAX], out[WICK_RANK_MAX]; /* strides */
    bool done;
};

/* out NULL: only self and mask are walked. */
static wick_status walk_open(struct walk *walk, const struct wick_tensor *self, const struct wick_tensor *mask, const struct wick_tensor *out,
                             wick_error *err)
{
    struct wick_shape both = {0};
    *walk = (struct walk){0};
    if (!wick_index_is_mask(mask)) return wick_fail(err, WICK_INVALID_TYPE, "mask is %s", wick_dtype_name(mask->shape.dtype));
    if (!wick_shape_broadcast(&self->shape, &mask->shape, &both))
        return wick_fail(err, WICK_INVALID_ARGUMENT, "mask does not broadcast with the input");
    if (out && !wick_shape_same_sizes(&both, &out->shape)) return wick_fail(err, WICK_INVALID_ARGUMENT, "out has other sizes");
    walk->rank = both.rank;
    walk->done = wick_shape_numel(&both) == 0;
    for (int d = 0; d < both.rank; d++) {
        int s = d - (both.rank - self->shape.rank), m = d - (both.rank - mask->shape.rank);
        walk->sizes[d] = both.sizes[d];
        walk->self[d] = s >= 0 && self->shape.sizes[s] != 1 ? self->strides[s] : 0;
        walk->mask[d] = m >= 0 && mask->shape.sizes[m] != 1 ? mask->strides[m] : 0;
        walk->out[d] = out ? out->strides[d] : 0;
    }
    return WICK_OK;
}

/* The next element's offsets, in contiguous order of the broadcast shape. */
static bool walk_next(struct walk *walk, int64_t *self, int64_t *mask, int64_t *out)
{
    if (walk->done) return false;
    *self = *mask = *out = 0;
    for (int d = 0; d < walk->rank; d++) {
        *self += walk->at[d] * walk->self[d];
        *mask += walk->at[d] * walk->mask[d];
        *out += walk->at[d] * walk->out[d];
    }
    int d = walk->rank - 1;
    for (; d >= 0 && ++walk->at[d] == walk->sizes[d]; d--) walk->at[d] = 0;
    walk->done = d < 0;
    return true;
}

static wick_status same_type(const struct wick_tensor *a, const struct wick_tensor *b, wick_error *err)
{
    if (a->shape.dtype == b->shape.dtype) return WICK_OK;
    return wick_fail(err, WICK_INVALID_TYPE, "tensors of %s and %s", wick_dtype_name(a->shape.dtype), wick_dtype_name(b->shape.dtype));
}

static wick_status run_aten_masked_fill_Scalar_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *self = wick_arg_tensor(args, 0), *mask = wick_arg_tensor(args, 1);
    struct wick_tensor *out = wick_arg_tensor(args, 3);
    struct walk walk;
    int64_t s, m, o;
    uint64_t value[2];
    WICK_TRY(same_type(self, out, run->err));
    WICK_TRY(wick_scalar_element(wick_arg(args, 2), out->shape.dtype, value, run->err));
    WICK_TRY(walk_open(&walk, self, mask, out, run->err));
    int64_t element = (int64_t)wick_dtype_size(out->shape.dtype);
    while (walk_next(&walk, &s, &m, &o)) {
        const void *from = ((const uint8_t *)mask->data)[m] ? (const void *)value : (const char *)self->data + s * element;
        memmove((char *)out->data + o * element, from, (size_t)element);
    }
    return WICK_OK;
}

/* The elements of source, in order, go where the mask is true. */
static wick_status run_aten_masked_scatter_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *self = wick_arg_tensor(args, 0), *mask = wick_arg_tensor(args, 1), *source = wick_arg_tensor(args, 2);
    struct wick_tensor *out = wick_arg_tensor(args, 3);
    struct walk walk;
    int64_t s, m, o;
    WICK_TRY(same_type(self, out, run->err));
    WICK_TRY(same_type(source, out, run->err));
    if (!wick_shape_is_contiguous(&source->shape)) return wick_fail(run->err, WICK_NOT_SUPPORTED, "source is not in contiguous dim order");
    WICK_TRY(walk_open(&walk, self, mask, out, run->err));
    size_t element = wick_dtype_size(out->shape.dtype), used = 0, have = wick_tensor_numel(source);
    while (walk_next(&walk, &s, &m, &o)) {
        const char *from = (const char *)self->data + s * (int64_t)element;
        if (((const uint8_t *)mask->data)[m]) {
            if (used == have) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "source has %zu elements, the mask wants more", have);
            from = (const char *)source->data + used++ * element;
        }
        memmove((char *)out->data + o * (int64_t)element, from, element);
    }
    return WICK_OK;
}

static wick_status run_aten_masked_select_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *self = wick_arg_tensor(args, 0), *mask = wick_arg_tensor(args, 1);
    struct wick_tensor *out = wick_arg_tensor(args, 2);
    struct walk walk;
    int64_t s, m, o;
    int32_t count = 0;
    WICK_TRY(same_type(self, out, run->err));
    WICK_TRY(walk_open(&walk, self, mask, NULL, run->err));
    struct walk again = walk;
    while (walk_next(&walk, &s, &m, &o)) {
        if (count == INT32_MAX) return wick_fail(run->err, WICK_NOT_SUPPORTED, "more than 2^31 elements are selected");
        count += ((const uint8_t *)mask->data)[m] != 0;
    }
    WICK_TRY(wick_tensor_resize(out, &count, 1, run->err));
    size_t element = wick_dtype_size(out->shape.dtype);
    char *to = out->data;
    while (walk_next(&again, &s, &m, &o)) {
        if (!((const uint8_t *)mask->data)[m]) continue;
        memcpy(to, (const char *)self->data + s * (int64_t)element, element);
        to += element;
    }
    return WICK_OK;
}

/* True for an element that is not zero; -0.0 is zero, NaN is not. */
static bool element_set(const struct wick_tensor *t, int64_t offset)
{
    if (wick_dtype_is_float(t->shape.dtype)) return wick_element_double(t->data, t->shape.dtype, (size_t)offset) != 0;
    return wick_element_int(t->data, t->shape.dtype, (size_t)offset) != 0;
}

/* out [n, rank]: the coordinates of the n elements that are not zero. */
static wick_status run_aten_nonzero_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *self = wick_arg_tensor(args, 0);
    struct wick_tensor *out = wick_arg_tensor(args, 1);
    size_t numel = wick_tensor_numel(self);
    int32_t found[2] = {0, self->shape.rank}, at[WICK_RANK_MAX] = {0};
    if (out->shape.dtype != WICK_DTYPE_I64) return wick_fail(run->err, WICK_INVALID_TYPE, "out is %s, not LONG", wick_dtype_name(out->shape.dtype));
    if (!wick_cast_known(self->shape.dtype)) return wick_fail(run->err, WICK_INVALID_TYPE, "the input is %s", wick_dtype_name(self->shape.dtype));
    if (!wick_shape_is_contiguous(&out->shape)) return wick_fail(run->err, WICK_NOT_SUPPORTED, "out is not in contiguous dim order");
    if (numel > INT32_MAX) return wick_fail(run->err, WICK_NOT_SUPPORTED, "the input has more than 2^31 elements");
    for (size_t i = 0; i < numel; i++) found[0] += element_set(self, (int64_t)i);
    WICK_TRY(wick_tensor_resize(out, found, 2, run->err));
    int64_t *to = out->data;
    for (size_t i = 0; i < numel; i++) {
        int64_t offset = 0;
        for (int d = 0; d < self->shape.rank; d++) offset += (int64_t)at[d] * self->strides[d];
        if (element_set(self, offset)) {
            for (int d = 0; d < self->shape.rank; d++) *to++ = at[d];
        }
        for (int d = self->shape.rank - 1; d >= 0 && ++at[d] == self->shape.sizes[d]; d--) at[d] = 0;
    }
    return WICK_OK;
}

OP(aten_masked_fill_Scalar_out);
OP(aten_masked_scatter_out);
OP(aten_masked_select_out);
OP(aten_nonzero_out);
