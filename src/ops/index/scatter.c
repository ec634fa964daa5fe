/* ops/index/scatter.c - element by element along one dim (gather, scatter, scatter_add), and parts of a tensor replaced
 * (select_scatter, slice_scatter). */
#include "ops/copy/cast.h"
#include "ops/copy/strided.h"
#include "ops/index/add.h"
#include "ops/ops.h"

#define OP(id) const struct wick_op wick_op_##id = {.meta = &wick_opmeta_##id, .run = run_##id}

static wick_status copy_whole(struct wick_tensor *out, const struct wick_tensor *self, wick_error *err)
{
    struct wick_view view;
    wick_view_of(self, &view);
    return wick_view_copy(out, &view, self, false, err);
}

/* A walk over all elements of index: position in it, and offsets (in elements) in a tensor that has the coordinate of
 * `dim` from the index (`far`) and one that has the walk's own coordinates (`near`). */
struct walk {
    const struct wick_tensor *index;
    int rank, dim;
    int64_t bound; /* of the values of index */
    int32_t sizes[WICK_RANK_MAX], at[WICK_RANK_MAX];
    int64_t far[WICK_RANK_MAX], near[WICK_RANK_MAX], own[WICK_RANK_MAX]; /* strides */
    bool done;
};

/* near NULL: the walk has no second tensor. The rule has checked ranks; sizes are checked here, since nothing may be trusted twice. */
static wick_status walk_open(struct walk *walk, const struct wick_tensor *far, int64_t dim, const struct wick_tensor *index,
                             const struct wick_tensor *near, wick_error *err)
{
    *walk = (struct walk){.index = index, .rank = index->shape.rank, .dim = wick_dim_wrap(dim, far->shape.rank), .bound = 1};
    if (index->shape.dtype != WICK_DTYPE_I64 && index->shape.dtype != WICK_DTYPE_I32)
        return wick_fail(err, WICK_INVALID_TYPE, "index is %s, not LONG or INT", wick_dtype_name(index->shape.dtype));
    if (far->shape.rank > 0) walk->bound = far->shape.sizes[walk->dim];
    walk->done = wick_tensor_numel(index) == 0;
    for (int d = 0; d < walk->rank; d++) {
        walk->sizes[d] = index->shape.sizes[d];
        walk->own[d] = index->strides[d];
        walk->far[d] = d < far->shape.rank ? far->strides[d] : 0;
        walk->near[d] = near && d < near->shape.rank ? near->strides[d] : 0;
        bool far_fits = d == walk->dim || (d < far->shape.rank && walk->sizes[d] <= far->shape.sizes[d]);
        bool near_fits = !near || (near->shape.rank == 0 && walk->sizes[d] == 1) || (d < near->shape.rank && walk->sizes[d] <= near->shape.sizes[d]);
        if (!walk->done && (!far_fits || !near_fits))
            return wick_fail(err, WICK_INVALID_ARGUMENT, "index has size %d in dim %d, too many", walk->sizes[d], d);
    }
    return WICK_OK;
}

/* The next element; false at the end or with *status set on an index out of range. */
static bool walk_next(struct walk *walk, int64_t *far, int64_t *near, wick_status *status, wick_error *err)
{
    *status = WICK_OK;
    if (walk->done) return false;
    int64_t own = 0;
    *far = *near = 0;
    for (int d = 0; d < walk->rank; d++) {
        own += walk->at[d] * walk->own[d];
        *near += walk->at[d] * walk->near[d];
        if (d != walk->dim) *far += walk->at[d] * walk->far[d];
    }
    int64_t place = wick_element_int(walk->index->data, walk->index->shape.dtype, (size_t)own);
    if (place < 0 || place >= walk->bound) {
        *status =
            wick_fail(err, WICK_INVALID_ARGUMENT, "index %lld is outside dim %d of size %lld", (long long)place, walk->dim, (long long)walk->bound);
        return false;
    }
    if (walk->rank > 0) *far += place * walk->far[walk->dim];
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

static wick_status run_aten_gather_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *self = wick_arg_tensor(args, 0);
    struct wick_tensor *out = wick_arg_tensor(args, 4);
    struct walk walk;
    int64_t far, near;
    wick_status status;
    WICK_TRY(same_type(self, out, run->err));
    WICK_TRY(walk_open(&walk, self, wick_arg_int(args, 1), wick_arg_tensor(args, 2), out, run->err));
    int64_t element = (int64_t)wick_dtype_size(self->shape.dtype);
    while (walk_next(&walk, &far, &near, &status, run->err))
        memcpy((char *)out->data + near * element, (const char *)self->data + far * element, (size_t)element);
    return status;
}

static wick_status run_aten_scatter_src_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *src = wick_arg_tensor(args, 3);
    struct wick_tensor *out = wick_arg_tensor(args, 4);
    struct walk walk;
    int64_t far, near;
    wick_status status;
    WICK_TRY(copy_whole(out, wick_arg_tensor(args, 0), run->err));
    WICK_TRY(same_type(src, out, run->err));
    WICK_TRY(walk_open(&walk, out, wick_arg_int(args, 1), wick_arg_tensor(args, 2), src, run->err));
    int64_t element = (int64_t)wick_dtype_size(src->shape.dtype);
    while (walk_next(&walk, &far, &near, &status, run->err))
        memcpy((char *)out->data + far * element, (const char *)src->data + near * element, (size_t)element);
    return status;
}

static wick_status run_aten_scatter_add_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *src = wick_arg_tensor(args, 3);
    struct wick_tensor *out = wick_arg_tensor(args, 4);
    struct walk walk;
    int64_t far, near;
    double zero = 0;
    wick_status status;
    WICK_TRY(copy_whole(out, wick_arg_tensor(args, 0), run->err));
    WICK_TRY(same_type(src, out, run->err));
    if (!wick_element_add(&zero, &zero, src->shape.dtype))
        return wick_fail(run->err, WICK_INVALID_TYPE, "%s does not accumulate", wick_dtype_name(src->shape.dtype));
    WICK_TRY(walk_open(&walk, out, wick_arg_int(args, 1), wick_arg_tensor(args, 2), src, run->err));
    int64_t element = (int64_t)wick_dtype_size(src->shape.dtype);
    while (walk_next(&walk, &far, &near, &status, run->err))
        wick_element_add((char *)out->data + far * element, (const char *)src->data + near * element, src->shape.dtype);
    return status;
}

static wick_status run_aten_scatter_value_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    struct wick_tensor *out = wick_arg_tensor(args, 4);
    struct walk walk;
    int64_t far, near;
    uint64_t value[2];
    wick_status status;
    WICK_TRY(copy_whole(out, wick_arg_tensor(args, 0), run->err));
    WICK_TRY(wick_scalar_element(wick_arg(args, 3), out->shape.dtype, value, run->err));
    WICK_TRY(walk_open(&walk, out, wick_arg_int(args, 1), wick_arg_tensor(args, 2), NULL, run->err));
    int64_t element = (int64_t)wick_dtype_size(out->shape.dtype);
    while (walk_next(&walk, &far, &near, &status, run->err)) memcpy((char *)out->data + far * element, value, (size_t)element);
    return status;
}

OP(aten_gather_out);
OP(aten_scatter_src_out);
OP(aten_scatter_add_out);
OP(aten_scatter_value_out);

/* out = self, with src in the part of it that the view shows. inputs: of the operator, at most 6. */
static wick_status replace(const struct wick_args *args, wick_view_fn *view_fn, uint32_t inputs, struct wick_run *run)
{
    struct wick_tensor *out = wick_arg_tensor(args, inputs);
    const struct wick_tensor *src = wick_arg_tensor(args, 1);
    struct wick_view view;
    int64_t whole[WICK_RANK_MAX];
    WICK_TRY(same_type(src, out, run->err));
    WICK_TRY(copy_whole(out, wick_arg_tensor(args, 0), run->err));
    /* The view is of self; out has its sizes but perhaps another dim order, so the view is made of out. */
    uint32_t ids[6];
    struct wick_args of_out = {.values = args->values, .ids = ids, .count = inputs};
    memcpy(ids, args->ids, inputs * sizeof *ids);
    ids[0] = args->ids[inputs];
    WICK_TRY(view_fn(&of_out, &view, run->err));
    for (int d = 0; d < view.rank; d++) {
        if (src->shape.rank != view.rank || src->shape.sizes[d] != view.sizes[d])
            return wick_fail(run->err, WICK_INVALID_ARGUMENT, "src has not the size of the part it replaces");
    }
    if (wick_tensor_numel(src) == 0) return WICK_OK;
    size_t element = wick_dtype_size(src->shape.dtype);
    wick_strides_of(src, whole);
    wick_strided_copy((char *)out->data + view.offset * (int64_t)element, view.strides, src->data, whole, view.sizes, view.rank, element);
    return WICK_OK;
}

static wick_status run_aten_select_scatter_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    return replace(args, wick_view_select_scatter, 4, run);
}

static wick_status run_aten_slice_scatter_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    return replace(args, wick_view_slice_scatter, 6, run);
}

OP(aten_select_scatter_out);
OP(aten_slice_scatter_out);
