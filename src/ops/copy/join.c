/* ops/copy/join.c - putting tensors together (cat, stack), cutting one (split, unbind), and moving within one (roll,
 * tril, repeat_interleave). */
#include "ops/copy/cast.h"
#include "ops/copy/strided.h"
#include "ops/ops.h"

#define OP(id) const struct wick_op wick_op_##id = {.meta = &wick_opmeta_##id, .run = run_##id}

/* Writes `part` (sizes of out but for `dim`, where it has `length`) at position `start` of `dim`. strides: part's, in out's dims. */
static void place(struct wick_tensor *out, int dim, int64_t start, int32_t length, const struct wick_tensor *part, const int64_t *strides)
{
    int32_t sizes[WICK_RANK_MAX];
    int64_t to[WICK_RANK_MAX];
    memcpy(sizes, out->shape.sizes, sizeof sizes);
    sizes[dim] = length;
    wick_strides_of(out, to);
    char *data = (char *)out->data + start * to[dim] * (int64_t)wick_dtype_size(out->shape.dtype);
    wick_strided_cast(data, out->shape.dtype, to, part->data, part->shape.dtype, strides, sizes, out->shape.rank);
}

static wick_status run_aten_cat_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    struct wick_tensor *out = wick_arg_tensor(args, 2);
    int dim = wick_dim_wrap(wick_arg_int(args, 1), out->shape.rank);
    int64_t start = 0;
    for (uint32_t i = 0; i < wick_arg_count(args, 0); i++) {
        const struct wick_tensor *part = wick_arg_tensor_at(args, 0, i);
        WICK_TRY(wick_cast_check(out->shape.dtype, part->shape.dtype, run->err));
        if (wick_tensor_numel(part) == 0) continue;
        bool fits = part->shape.rank == out->shape.rank && dim >= 0 && start + part->shape.sizes[dim] <= out->shape.sizes[dim];
        for (int d = 0; fits && d < out->shape.rank; d++) fits = d == dim || part->shape.sizes[d] == out->shape.sizes[d];
        if (!fits) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "tensor %u does not fit into out", i);
        int64_t strides[WICK_RANK_MAX];
        wick_strides_of(part, strides);
        place(out, dim, start, part->shape.sizes[dim], part, strides);
        start += part->shape.sizes[dim];
    }
    return WICK_OK;
}

static wick_status run_aten_stack_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    struct wick_tensor *out = wick_arg_tensor(args, 2);
    int dim = wick_dim_wrap(wick_arg_int(args, 1), out->shape.rank);
    if (dim < 0 || wick_arg_count(args, 0) != (uint32_t)out->shape.sizes[dim])
        return wick_fail(run->err, WICK_INVALID_ARGUMENT, "out has other sizes");
    for (uint32_t i = 0; i < wick_arg_count(args, 0); i++) {
        const struct wick_tensor *part = wick_arg_tensor_at(args, 0, i);
        WICK_TRY(wick_cast_check(out->shape.dtype, part->shape.dtype, run->err));
        if (wick_tensor_numel(part) == 0) continue;
        int64_t strides[WICK_RANK_MAX] = {0};
        for (int d = 0; d < part->shape.rank; d++) strides[d < dim ? d : d + 1] = part->strides[d];
        place(out, dim, i, 1, part, strides);
    }
    return WICK_OK;
}

OP(aten_cat_out);
OP(aten_stack_out);

static wick_status cut(const struct wick_args *args, enum wick_cut kind, uint32_t out_list, struct wick_run *run)
{
    uint32_t count = wick_arg_count(args, out_list);
    for (uint32_t k = 0; k < count; k++) {
        struct wick_view view;
        WICK_TRY(wick_view_piece(args, kind, k, count, &view, run->err));
        WICK_TRY(wick_view_copy(wick_arg_tensor_at(args, out_list, k), &view, wick_arg_tensor(args, 0), false, run->err));
    }
    return WICK_OK;
}

static wick_status run_aten_split_copy_Tensor_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    return cut(args, WICK_CUT_EVERY, 3, run);
}

static wick_status run_aten_split_with_sizes_copy_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    return cut(args, WICK_CUT_SIZES, 3, run);
}

static wick_status run_aten_unbind_copy_int_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    return cut(args, WICK_CUT_UNBIND, 2, run);
}

OP(aten_split_copy_Tensor_out);
OP(aten_split_with_sizes_copy_out);
OP(aten_unbind_copy_int_out);

/* Rolls one dim: elements [0, n - shift) go to [shift, n), the rest to the front. Flat (no dims given): all elements as one dim. */
static void roll_dim(void *out, const void *in, const int32_t *sizes, int rank, int dim, int64_t shift, size_t element)
{
    int64_t strides[WICK_RANK_MAX];
    int32_t part[WICK_RANK_MAX];
    wick_strides_contiguous(sizes, rank, strides);
    memcpy(part, sizes, (size_t)rank * sizeof *part);
    int64_t n = sizes[dim], step = strides[dim] * (int64_t)element;
    shift = ((shift % n) + n) % n;
    part[dim] = (int32_t)(n - shift);
    wick_strided_copy((char *)out + shift * step, strides, in, strides, part, rank, element);
    part[dim] = (int32_t)shift;
    wick_strided_copy(out, strides, (const char *)in + (n - shift) * step, strides, part, rank, element);
}

static wick_status run_aten_roll_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *self = wick_arg_tensor(args, 0);
    struct wick_tensor *out = wick_arg_tensor(args, 3);
    size_t numel = wick_tensor_numel(self), element = wick_dtype_size(self->shape.dtype);
    if (self->shape.dtype != out->shape.dtype || numel != wick_tensor_numel(out))
        return wick_fail(run->err, WICK_INVALID_TYPE, "out differs from the input in type or size");
    if (!wick_shape_is_contiguous(&self->shape) || !wick_shape_is_contiguous(&out->shape))
        return wick_fail(run->err, WICK_NOT_SUPPORTED, "tensors are not in contiguous dim order");
    if (numel == 0) return WICK_OK;
    uint32_t dims = wick_arg_count(args, 2);
    if (dims == 0) {
        int32_t flat = (int32_t)WICK_MIN(numel, (size_t)INT32_MAX);
        if ((size_t)flat != numel) return wick_fail(run->err, WICK_NOT_SUPPORTED, "%zu elements rolled as one dim", numel);
        roll_dim(out->data, self->data, &flat, 1, 0, wick_arg_int_at(args, 1, 0), element);
        return WICK_OK;
    }
    /* Every dim but the last writes to a scratch block, which the next one reads. */
    const void *from = self->data;
    for (uint32_t i = 0; i < dims; i++) {
        void *to = i == dims - 1 ? out->data : wick_arena_array(run->temp, numel, element, 64);
        if (!to) return wick_fail_oom(run->err, numel * element, "rolled elements");
        int rank = WICK_MAX(self->shape.rank, 1), dim = wick_dim_wrap(wick_arg_int_at(args, 2, i), self->shape.rank);
        const int32_t one = 1;
        roll_dim(to, from, self->shape.rank ? self->shape.sizes : &one, rank, dim, wick_arg_int_at(args, 1, i), element);
        from = to;
    }
    return WICK_OK;
}

static wick_status run_aten_tril_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *self = wick_arg_tensor(args, 0);
    struct wick_tensor *out = wick_arg_tensor(args, 2);
    int64_t diagonal = wick_arg_int(args, 1);
    if (self->shape.dtype != out->shape.dtype || !wick_shape_same_sizes(&self->shape, &out->shape))
        return wick_fail(run->err, WICK_INVALID_TYPE, "out differs from the input in type or size");
    if (!wick_shape_is_contiguous(&self->shape) || !wick_shape_is_contiguous(&out->shape))
        return wick_fail(run->err, WICK_NOT_SUPPORTED, "tensors are not in contiguous dim order");
    int64_t rows = self->shape.sizes[self->shape.rank - 2], columns = self->shape.sizes[self->shape.rank - 1];
    size_t element = wick_dtype_size(self->shape.dtype), numel = wick_tensor_numel(self);
    diagonal = WICK_MAX(WICK_MIN(diagonal, columns), -rows);
    for (size_t at = 0, row = 0; at < numel; at += (size_t)columns, row++) {
        int64_t keep = (int64_t)(row % (size_t)rows) + diagonal + 1;
        keep = keep < 0 ? 0 : WICK_MIN(keep, columns);
        char *to = (char *)out->data + at * element;
        if (out->data != self->data) memcpy(to, (const char *)self->data + at * element, (size_t)keep * element);
        memset(to + (size_t)keep * element, 0, (size_t)(columns - keep) * element);
    }
    return WICK_OK;
}

/* out lists index i repeats[i] times. */
static wick_status run_aten_repeat_interleave_Tensor_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *repeats = wick_arg_tensor(args, 0);
    struct wick_tensor *out = wick_arg_tensor(args, 2);
    int dtype = repeats->shape.dtype;
    if (repeats->shape.rank != 1 || (dtype != WICK_DTYPE_I32 && dtype != WICK_DTYPE_I64) || out->shape.dtype != dtype)
        return wick_fail(run->err, WICK_INVALID_ARGUMENT, "repeats must be a list of INT or LONG, and out of the same type");
    size_t count = wick_tensor_numel(repeats);
    int64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t times = wick_element_int(repeats->data, dtype, i);
        if (times < 0 || times > INT32_MAX - total) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "repeats[%zu] is %lld", i, (long long)times);
        total += times;
    }
    if (wick_arg_int_or(args, 1, total) != total)
        return wick_fail(run->err, WICK_INVALID_ARGUMENT, "output_size is %lld, the repeats add up to %lld", (long long)wick_arg_int(args, 1),
                         (long long)total);
    int32_t size = (int32_t)total;
    WICK_TRY(wick_tensor_resize(out, &size, 1, run->err));
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        for (int64_t times = wick_element_int(repeats->data, dtype, i); times > 0; times--, at++) {
            if (dtype == WICK_DTYPE_I32) ((int32_t *)out->data)[at] = (int32_t)i;
            else ((int64_t *)out->data)[at] = (int64_t)i;
        }
    }
    return WICK_OK;
}

OP(aten_roll_out);
OP(aten_tril_out);
OP(aten_repeat_interleave_Tensor_out);
