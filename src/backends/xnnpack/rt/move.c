/* xnnpack/rt/move.c - nodes that only move elements: StaticReshape, Copy, StaticTranspose, StaticSlice, Concatenate,
 * StaticConstantPad. Any element type; quantized values keep their parameters.
 *
 * Sizes that a node prescribes (permutation, offsets, ...) arrive as a constant I32 tensor after the data arguments, so
 * that the shape rule sees them. */
#include "backends/xnnpack/rt/sizes.h"
#include "backends/xnnpack/rt/expand.h"
#include "backends/xnnpack/rt/ops.h"

#include "base/checked.h"

enum { MOVE_GRAIN = 16 * 1024 }; /* bytes a task should at least move */

static const int32_t *params_of(const struct wick_args *args, uint32_t k) { return wick_arg_tensor(args, k)->data; }
static int params_count(const struct wick_args *args, uint32_t k) { return wick_arg_tensor(args, k)->shape.sizes[0]; }

/* ---- a strided view copied to row-major memory ---- */

/* Dims outermost first; the source element of index (i0, i1, ..) is at sum(i * stride), in elements. */
struct view {
    int rank;
    size_t size[WICK_RANK_MAX], stride[WICK_RANK_MAX];
    size_t element; /* bytes */
    const char *from;
    char *to;
};

/* Drops dims of size 1 and joins neighbours that lie behind each other in memory, so that the innermost run is long. */
static void view_join(struct view *v)
{
    int rank = 0;
    for (int i = 0; i < v->rank; i++) {
        if (v->size[i] == 1) continue;
        if (rank > 0 && v->stride[rank - 1] == v->stride[i] * v->size[i]) {
            v->size[rank - 1] *= v->size[i];
            v->stride[rank - 1] = v->stride[i];
        } else {
            v->size[rank] = v->size[i];
            v->stride[rank++] = v->stride[i];
        }
    }
    if (rank == 0) {
        v->size[0] = v->stride[0] = 1;
        rank = 1;
    }
    v->rank = rank;
}

#define COPY_STRIDED(type)                                         \
    do {                                                           \
        const type *from_ = (const type *)from;                    \
        type *to_ = (type *)to;                                    \
        for (size_t i = 0; i < n; i++) to_[i] = from_[i * stride]; \
    } while (0)

static void copy_run(char *to, const char *from, size_t n, size_t stride, size_t element)
{
    if (stride == 1) memcpy(to, from, n * element);
    else if (element == 4) COPY_STRIDED(uint32_t);
    else if (element == 1) COPY_STRIDED(uint8_t);
    else if (element == 2) COPY_STRIDED(uint16_t);
    else COPY_STRIDED(uint64_t);
}

/* Rows [begin, end): a row is one innermost run. */
static void copy_rows(void *user, size_t begin, size_t end, unsigned thread)
{
    (void)thread;
    const struct view *v = user;
    int last = v->rank - 1;
    size_t index[WICK_RANK_MAX] = {0}, offset = 0, rest = begin, row_bytes = v->size[last] * v->element;
    for (int i = last - 1; i >= 0; i--) {
        index[i] = rest % v->size[i];
        rest /= v->size[i];
        offset += index[i] * v->stride[i];
    }
    for (size_t row = begin; row < end; row++) {
        copy_run(v->to + row * row_bytes, v->from + offset * v->element, v->size[last], v->stride[last], v->element);
        for (int i = last - 1; i >= 0; i--) {
            offset += v->stride[i];
            if (++index[i] < v->size[i]) break;
            offset -= v->stride[i] * v->size[i];
            index[i] = 0;
        }
    }
}

static void view_copy(struct view *v, struct wick_pool *pool)
{
    size_t rows = 1;
    for (int i = 0; i < v->rank; i++) rows *= v->size[i];
    if (rows == 0) return;
    view_join(v);
    rows /= v->size[v->rank - 1];
    wick_xnn_ranges(pool, rows, MOVE_GRAIN / (v->size[v->rank - 1] * v->element) + 1, copy_rows, v);
}

static struct view view_of(const struct wick_tensor *x, const struct wick_tensor *y)
{
    struct wick_xnn_sizes d = wick_xnn_sizes_of(x);
    struct view v = {.rank = d.rank, .element = wick_dtype_size(x->shape.dtype), .from = x->data, .to = y->data};
    size_t stride = 1;
    for (int i = d.rank - 1; i >= 0; i--) {
        v.size[i] = (size_t)d.size[i];
        v.stride[i] = stride;
        stride *= v.size[i];
    }
    return v;
}

/* ---- StaticReshape, Copy: (x, [new shape]) > y ---- */

static wick_status run_copy(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *x = wick_arg_tensor(args, 0), *y = wick_arg_tensor(args, args->count - 1);
    if (x->data == y->data) return WICK_OK; /* the scheduler let them share */
    struct view v = view_of(x, y);
    view_copy(&v, run->pool);
    return WICK_OK;
}

static wick_status infer_copy(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    struct wick_xnn_sizes d = wick_xnn_sizes_of(wick_arg_tensor(args, 0));
    return wick_xnn_sizes_out(args, 1, &d, outs, "xnn::copy", err);
}

static wick_status infer_reshape(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    struct wick_xnn_sizes x = wick_xnn_sizes_of(wick_arg_tensor(args, 0)), y = {.rank = params_count(args, 1)};
    uint64_t have = wick_xnn_sizes_numel(&x), known = 1;
    int open = -1;
    for (int i = 0; i < y.rank; i++) {
        y.size[i] = params_of(args, 1)[i];
        if (y.size[i] == 0) open = i;
        else if (wick_mul_ovf(known, (uint64_t)y.size[i], &known))
            return wick_fail(err, WICK_INVALID_PROGRAM, "xnn::static_reshape: the new shape is too large");
    }
    if (open >= 0 && known && have % known == 0) y.size[open] = (int64_t)(have / known);
    else if (open >= 0 || known != have) {
        char from[128], to[128];
        wick_xnn_sizes_text(&x, from);
        wick_xnn_sizes_text(&y, to);
        return wick_fail(err, WICK_INVALID_PROGRAM, "xnn::static_reshape: %s does not fill %s (0: inferred)", from, to);
    }
    return wick_xnn_sizes_out(args, 2, &y, outs, "xnn::static_reshape", err);
}

static const struct wick_opmeta reshape_meta = {"xnn::static_reshape", "TT>T", WICK_ALIAS_VIEW, infer_reshape};
static const struct wick_opmeta copy_meta = {"xnn::copy", "T>T", WICK_ALIAS_VIEW, infer_copy};
static const struct wick_opmeta reshape_out_meta = {"xnn::static_reshape.out", "TT>T", WICK_ALIAS_NONE, infer_reshape};
static const struct wick_opmeta copy_out_meta = {"xnn::copy.out", "T>T", WICK_ALIAS_NONE, infer_copy};
const struct wick_op wick_xnn_op_static_reshape_out = {.meta = &reshape_out_meta, .run = run_copy};
const struct wick_op wick_xnn_op_copy_out = {.meta = &copy_out_meta, .run = run_copy};
const struct wick_op wick_xnn_op_static_reshape = {.meta = &reshape_meta, .run = run_copy};
const struct wick_op wick_xnn_op_copy = {.meta = &copy_meta, .run = run_copy};

/* ---- StaticTranspose: (x, perm) > y ---- */

static wick_status infer_transpose(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    struct wick_xnn_sizes x = wick_xnn_sizes_of(wick_arg_tensor(args, 0)), y = x;
    const int32_t *perm = params_of(args, 1);
    int count = params_count(args, 1);
    if (count != x.rank) return wick_fail(err, WICK_INVALID_PROGRAM, "xnn::static_transpose: permutation of %d dims on rank %d", count, x.rank);
    uint32_t seen = 0;
    for (int i = 0; i < count; i++) {
        if (perm[i] < 0 || perm[i] >= count || (seen >> perm[i] & 1))
            return wick_fail(err, WICK_INVALID_PROGRAM, "xnn::static_transpose: dim %d of the permutation is %d", i, (int)perm[i]);
        seen |= 1u << perm[i];
        y.size[i] = x.size[perm[i]];
    }
    return wick_xnn_sizes_out(args, 2, &y, outs, "xnn::static_transpose", err);
}

static wick_status run_transpose(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    struct view from = view_of(wick_arg_tensor(args, 0), wick_arg_tensor(args, 2)), v = from;
    const int32_t *perm = params_of(args, 1);
    for (int i = 0; i < v.rank; i++) {
        v.size[i] = from.size[perm[i]];
        v.stride[i] = from.stride[perm[i]];
    }
    view_copy(&v, run->pool);
    return WICK_OK;
}

static const struct wick_opmeta transpose_meta = {"xnn::static_transpose", "TT>T", WICK_ALIAS_NONE, infer_transpose};
const struct wick_op wick_xnn_op_static_transpose = {.meta = &transpose_meta, .run = run_transpose};

/* ---- StaticSlice: (x, offsets then sizes) > y ---- */

/* Offset 0 with size 0 is the whole dim; sizes are clipped to the input. */
static bool slice_dim(const int32_t *params, int rank, int i, int64_t have, int64_t *offset, int64_t *size)
{
    *offset = params[i];
    *size = params[rank + i];
    if (*offset == 0 && *size == 0) *size = have;
    if (*offset < 0 || *offset > have || *size < 0) return false;
    *size = WICK_MIN(*size, have - *offset);
    return true;
}

static wick_status infer_slice(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    struct wick_xnn_sizes x = wick_xnn_sizes_of(wick_arg_tensor(args, 0)), y = x;
    int count = params_count(args, 1) / 2;
    if (count != x.rank) return wick_fail(err, WICK_INVALID_PROGRAM, "xnn::static_slice: %d offsets on rank %d", count, x.rank);
    for (int i = 0; i < count; i++) {
        int64_t offset;
        if (!slice_dim(params_of(args, 1), count, i, x.size[i], &offset, &y.size[i]))
            return wick_fail(err, WICK_INVALID_PROGRAM, "xnn::static_slice: dim %d of size %lld sliced from %lld", i, (long long)x.size[i],
                             (long long)offset);
    }
    return wick_xnn_sizes_out(args, 2, &y, outs, "xnn::static_slice", err);
}

static wick_status run_slice(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    struct view v = view_of(wick_arg_tensor(args, 0), wick_arg_tensor(args, 2));
    for (int i = 0; i < v.rank; i++) {
        int64_t offset, size;
        slice_dim(params_of(args, 1), v.rank, i, (int64_t)v.size[i], &offset, &size);
        v.from += (size_t)offset * v.stride[i] * v.element;
        v.size[i] = (size_t)size;
    }
    view_copy(&v, run->pool);
    return WICK_OK;
}

static const struct wick_opmeta slice_meta = {"xnn::static_slice", "TT>T", WICK_ALIAS_NONE, infer_slice};
const struct wick_op wick_xnn_op_static_slice = {.meta = &slice_meta, .run = run_slice};
