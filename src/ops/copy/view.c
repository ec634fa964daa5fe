/* ops/copy/view.c - the views of view-and-copy operators: pure arithmetic on sizes and strides. */
#include "ops/copy/view.h"

#include "base/checked.h"

void wick_view_of(const struct wick_tensor *t, struct wick_view *view)
{
    view->rank = t->shape.rank;
    view->offset = 0;
    for (int i = 0; i < view->rank; i++) {
        view->sizes[i] = t->shape.sizes[i];
        view->strides[i] = t->strides[i];
    }
}

/* The tensor of argument 0 with the dim of argument k, wrapped; rank 0 is refused. */
static wick_status open_dim(const struct wick_args *args, uint32_t k, struct wick_view *view, int *dim, wick_error *err)
{
    wick_view_of(wick_arg_tensor(args, 0), view);
    *dim = wick_dim_wrap(wick_arg_int(args, k), view->rank);
    if (*dim < 0 || view->rank == 0)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "dim %lld is outside a tensor of rank %d", (long long)wick_arg_int(args, k), view->rank);
    return WICK_OK;
}

static void remove_dim(struct wick_view *view, int dim)
{
    view->rank--;
    for (int i = dim; i < view->rank; i++) {
        view->sizes[i] = view->sizes[i + 1];
        view->strides[i] = view->strides[i + 1];
    }
}

/* A wrapped dim list without repetitions. count <= WICK_RANK_MAX. */
static wick_status dim_list(const struct wick_args *args, uint32_t k, int rank, int *dims, uint32_t *count, wick_error *err)
{
    uint32_t seen = 0;
    *count = wick_arg_count(args, k);
    for (uint32_t i = 0; i < *count; i++) {
        int64_t want = wick_arg_int_at(args, k, i);
        int dim = wick_dim_wrap(want, rank);
        if (dim < 0) return wick_fail(err, WICK_INVALID_ARGUMENT, "dim %lld is outside a tensor of rank %d", (long long)want, rank);
        if (seen >> dim & 1) return wick_fail(err, WICK_INVALID_ARGUMENT, "dim %d is named twice", dim);
        seen |= 1u << dim;
        dims[i] = dim;
    }
    return WICK_OK;
}

wick_status wick_view_identity(const struct wick_args *args, struct wick_view *view, wick_error *err)
{
    (void)err;
    wick_view_of(wick_arg_tensor(args, 0), view);
    return WICK_OK;
}

static void exchange(struct wick_view *view, int a, int b)
{
    int32_t size = view->sizes[a];
    int64_t stride = view->strides[a];
    view->sizes[a] = view->sizes[b];
    view->strides[a] = view->strides[b];
    view->sizes[b] = size;
    view->strides[b] = stride;
}

wick_status wick_view_t(const struct wick_args *args, struct wick_view *view, wick_error *err)
{
    wick_view_of(wick_arg_tensor(args, 0), view);
    if (view->rank > 2) return wick_fail(err, WICK_INVALID_ARGUMENT, "the input has rank %d, more than 2", view->rank);
    if (view->rank == 2) exchange(view, 0, 1);
    return WICK_OK;
}

wick_status wick_view_transpose(const struct wick_args *args, struct wick_view *view, wick_error *err)
{
    wick_view_of(wick_arg_tensor(args, 0), view);
    int a = wick_dim_wrap(wick_arg_int(args, 1), view->rank), b = wick_dim_wrap(wick_arg_int(args, 2), view->rank);
    if (a < 0 || b < 0)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "dims %lld and %lld do not both lie in a tensor of rank %d", (long long)wick_arg_int(args, 1),
                         (long long)wick_arg_int(args, 2), view->rank);
    if (view->rank > 0) exchange(view, a, b);
    return WICK_OK;
}

wick_status wick_view_permute(const struct wick_args *args, struct wick_view *view, wick_error *err)
{
    struct wick_view self;
    int dims[WICK_RANK_MAX];
    uint32_t count;
    wick_view_of(wick_arg_tensor(args, 0), &self);
    if (wick_arg_count(args, 1) != (uint32_t)self.rank)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "%u dims for a tensor of rank %d", wick_arg_count(args, 1), self.rank);
    WICK_TRY(dim_list(args, 1, self.rank, dims, &count, err));
    view->rank = self.rank;
    view->offset = 0;
    for (int i = 0; i < self.rank; i++) {
        view->sizes[i] = self.sizes[dims[i]];
        view->strides[i] = self.strides[dims[i]];
    }
    return WICK_OK;
}

wick_status wick_view_expand(const struct wick_args *args, struct wick_view *view, wick_error *err)
{
    struct wick_view self;
    wick_view_of(wick_arg_tensor(args, 0), &self);
    int rank = (int)wick_arg_count(args, 1), lead = rank - self.rank;
    if (wick_arg_bool(args, 2)) return wick_fail(err, WICK_INVALID_ARGUMENT, "implicit expansion is not supported");
    if (wick_arg_count(args, 1) > WICK_RANK_MAX || lead < 0)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "%u sizes for a tensor of rank %d", wick_arg_count(args, 1), self.rank);
    view->rank = rank;
    view->offset = 0;
    for (int i = 0; i < rank; i++) {
        int64_t want = wick_arg_int_at(args, 1, (uint32_t)i);
        int32_t have = i >= lead ? self.sizes[i - lead] : 1;
        if (want == -1 && i >= lead) want = have;
        if (want < 0 || want > INT32_MAX || (have != 1 && want != have))
            return wick_fail(err, WICK_INVALID_ARGUMENT, "dim %d of size %d cannot expand to %lld", i, have, (long long)want);
        view->sizes[i] = (int32_t)want;
        view->strides[i] = i >= lead && have == want ? self.strides[i - lead] : 0;
    }
    return WICK_OK;
}

wick_status wick_view_select(const struct wick_args *args, struct wick_view *view, wick_error *err)
{
    int dim;
    WICK_TRY(open_dim(args, 1, view, &dim, err));
    int64_t index = wick_arg_int(args, 2), size = view->sizes[dim];
    if (index < -size || index >= size)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "index %lld is outside dim %d of size %lld", (long long)index, dim, (long long)size);
    view->offset = (index < 0 ? index + size : index) * view->strides[dim];
    remove_dim(view, dim);
    return WICK_OK;
}

int64_t wick_slice_bounds(int64_t size, int64_t *start, int64_t end, int64_t step)
{
    int64_t from = *start < 0 ? *start + size : *start, to = end < 0 ? end + size : end;
    from = from < 0 ? 0 : WICK_MIN(from, size);
    to = to < 0 ? 0 : WICK_MIN(to, size);
    *start = from;
    return from < to ? (to - 1 - from) / step + 1 : 0;
}

wick_status wick_view_slice(const struct wick_args *args, struct wick_view *view, wick_error *err)
{
    int dim;
    WICK_TRY(open_dim(args, 1, view, &dim, err));
    int64_t start = wick_arg_int_or(args, 2, 0), step = wick_arg_int(args, 4);
    if (step < 1) return wick_fail(err, WICK_INVALID_ARGUMENT, "slice step %lld is below 1", (long long)step);
    int64_t count = wick_slice_bounds(view->sizes[dim], &start, wick_arg_int_or(args, 3, view->sizes[dim]), step);
    view->offset = count ? start * view->strides[dim] : 0;
    view->sizes[dim] = (int32_t)count;
    view->strides[dim] = count > 1 ? view->strides[dim] * step : view->strides[dim];
    return WICK_OK;
}

/* The view operators' arguments without src: (T self, T src, int dim, ...) as (T self, int dim, ...). */
static wick_status replaced_view(const struct wick_args *args, wick_view_fn *view_fn, struct wick_view *view, wick_error *err)
{
    uint32_t ids[6];
    struct wick_args rest = {.values = args->values, .ids = ids};
    for (uint32_t k = 0; k < args->count && rest.count < WICK_ARRAY_SIZE(ids); k++) {
        if (k != 1) ids[rest.count++] = args->ids[k];
    }
    return view_fn(&rest, view, err);
}

wick_status wick_view_select_scatter(const struct wick_args *args, struct wick_view *view, wick_error *err)
{
    return replaced_view(args, wick_view_select, view, err);
}

wick_status wick_view_slice_scatter(const struct wick_args *args, struct wick_view *view, wick_error *err)
{
    return replaced_view(args, wick_view_slice, view, err);
}

wick_status wick_view_narrow(const struct wick_args *args, struct wick_view *view, wick_error *err)
{
    int dim;
    WICK_TRY(open_dim(args, 1, view, &dim, err));
    int64_t start = wick_arg_int(args, 2), length = wick_arg_int(args, 3), size = view->sizes[dim];
    if (start < -size || start > size || length < 0 || length > size - (start < 0 ? start + size : start))
        return wick_fail(err, WICK_INVALID_ARGUMENT, "[%lld, +%lld) is outside dim %d of size %lld", (long long)start, (long long)length, dim,
                         (long long)size);
    if (start < 0) start += size;
    view->offset = length ? start * view->strides[dim] : 0;
    view->sizes[dim] = (int32_t)length;
    return WICK_OK;
}

wick_status wick_view_squeeze(const struct wick_args *args, struct wick_view *view, wick_error *err)
{
    wick_view_of(wick_arg_tensor(args, 0), view);
    int dim = wick_dim_wrap(wick_arg_int(args, 1), view->rank);
    if (dim < 0)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "dim %lld is outside a tensor of rank %d", (long long)wick_arg_int(args, 1), view->rank);
    if (view->rank > 0 && view->sizes[dim] == 1) remove_dim(view, dim);
    return WICK_OK;
}

wick_status wick_view_squeeze_dims(const struct wick_args *args, struct wick_view *view, wick_error *err)
{
    int dims[WICK_RANK_MAX];
    uint32_t count, drop = 0;
    wick_view_of(wick_arg_tensor(args, 0), view);
    WICK_TRY(dim_list(args, 1, view->rank, dims, &count, err));
    for (uint32_t i = 0; i < count; i++) drop |= 1u << dims[i];
    for (int i = view->rank - 1; i >= 0; i--) {
        if ((drop >> i & 1) && view->sizes[i] == 1) remove_dim(view, i);
    }
    return WICK_OK;
}

wick_status wick_view_unsqueeze(const struct wick_args *args, struct wick_view *view, wick_error *err)
{
    wick_view_of(wick_arg_tensor(args, 0), view);
    int dim = wick_dim_wrap(wick_arg_int(args, 1), view->rank + 1);
    if (dim < 0 || view->rank >= WICK_RANK_MAX)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "no place for a new dim %lld in rank %d", (long long)wick_arg_int(args, 1), view->rank);
    for (int i = view->rank++; i > dim; i--) {
        view->sizes[i] = view->sizes[i - 1];
        view->strides[i] = view->strides[i - 1];
    }
    view->sizes[dim] = 1;
    view->strides[dim] = 0;
    return WICK_OK;
}

wick_status wick_view_diagonal(const struct wick_args *args, struct wick_view *view, wick_error *err)
{
    wick_view_of(wick_arg_tensor(args, 0), view);
    int64_t offset = wick_arg_int(args, 1);
    int a = wick_dim_wrap(wick_arg_int(args, 2), view->rank), b = wick_dim_wrap(wick_arg_int(args, 3), view->rank);
    if (a < 0 || b < 0 || a == b || view->rank < 2)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "dims %lld and %lld are no two dims of a tensor of rank %d", (long long)wick_arg_int(args, 2),
                         (long long)wick_arg_int(args, 3), view->rank);
    int64_t rows = view->sizes[a], columns = view->sizes[b];
    /* Clamped first: beyond the block the diagonal is empty whatever the offset. */
    offset = offset > columns ? columns : offset < -rows ? -rows : offset;
    int64_t length = offset >= 0 ? WICK_MIN(rows, columns - offset) : WICK_MIN(rows + offset, columns);
    int64_t step = view->strides[a] + view->strides[b];
    if (length > 0) view->offset = offset >= 0 ? offset * view->strides[b] : -offset * view->strides[a];
    remove_dim(view, WICK_MAX(a, b));
    remove_dim(view, WICK_MIN(a, b));
    view->sizes[view->rank] = (int32_t)WICK_MAX(length, 0);
    view->strides[view->rank++] = step;
    return WICK_OK;
}

wick_status wick_view_unfold(const struct wick_args *args, struct wick_view *view, wick_error *err)
{
    int dim;
    WICK_TRY(open_dim(args, 1, view, &dim, err));
    int64_t size = wick_arg_int(args, 2), step = wick_arg_int(args, 3);
    if (size < 0 || size > view->sizes[dim] || step < 1 || view->rank >= WICK_RANK_MAX)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "windows of %lld, step %lld, do not fit dim %d of size %d", (long long)size, (long long)step,
                         dim, view->sizes[dim]);
    int64_t count = (view->sizes[dim] - size) / step + 1;
    view->sizes[view->rank] = (int32_t)size;
    view->strides[view->rank++] = view->strides[dim];
    view->sizes[dim] = (int32_t)count;
    view->strides[dim] = count > 1 ? view->strides[dim] * step : view->strides[dim];
    return WICK_OK;
}

wick_status wick_view_flip(const struct wick_args *args, struct wick_view *view, wick_error *err)
{
    int dims[WICK_RANK_MAX];
    uint32_t count;
    wick_view_of(wick_arg_tensor(args, 0), view);
    WICK_TRY(dim_list(args, 1, view->rank, dims, &count, err));
    for (uint32_t i = 0; i < count && view->rank > 0; i++) {
        int d = dims[i];
        if (view->sizes[d] > 0) view->offset += (view->sizes[d] - 1) * view->strides[d];
        view->strides[d] = -view->strides[d];
    }
    return WICK_OK;
}

wick_status wick_view_as_strided(const struct wick_args *args, struct wick_view *view, wick_error *err)
{
    uint32_t rank = wick_arg_count(args, 1);
    int64_t offset = wick_arg_int_or(args, 3, 0);
    if (rank > WICK_RANK_MAX || rank != wick_arg_count(args, 2) || offset < 0)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "%u sizes, %u strides, offset %lld", rank, wick_arg_count(args, 2), (long long)offset);
    uint64_t last = (uint64_t)offset;
    bool empty = false, wrong = false;
    view->rank = (int)rank;
    view->offset = offset;
    for (uint32_t i = 0; i < rank; i++) {
        int64_t size = wick_arg_int_at(args, 1, i), stride = wick_arg_int_at(args, 2, i);
        uint64_t reach;
        if (size < 0 || size > INT32_MAX || stride < 0)
            return wick_fail(err, WICK_INVALID_ARGUMENT, "dim %u: size %lld, stride %lld", i, (long long)size, (long long)stride);
        empty = empty || size == 0;
        wrong = wrong || wick_mul_ovf((uint64_t)(size ? size - 1 : 0), (uint64_t)stride, &reach) || wick_add_ovf(last, reach, &last);
        view->sizes[i] = (int32_t)size;
        view->strides[i] = stride;
    }
    if (!empty && (wrong || last >= wick_tensor_numel(wick_arg_tensor(args, 0))))
        return wick_fail(err, WICK_INVALID_ARGUMENT, "element %llu lies beyond the input's %zu", (unsigned long long)last,
                         wick_tensor_numel(wick_arg_tensor(args, 0)));
    return WICK_OK;
}

wick_status wick_view_repeat(const struct wick_args *args, struct wick_view *view, wick_error *err)
{
    const struct wick_tensor *self = wick_arg_tensor(args, 0);
    int count = (int)wick_arg_count(args, 1), lead = count - self->shape.rank;
    if (wick_arg_count(args, 1) > WICK_RANK_MAX || lead < 0)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "%u repeats for a tensor of rank %d", wick_arg_count(args, 1), self->shape.rank);
    view->rank = 2 * count;
    view->offset = 0;
    for (int i = 0; i < count; i++) {
        int64_t repeat = wick_arg_int_at(args, 1, (uint32_t)i);
        int32_t size = i >= lead ? self->shape.sizes[i - lead] : 1;
        if (repeat < 0 || repeat > INT32_MAX || repeat * size > INT32_MAX)
            return wick_fail(err, WICK_INVALID_ARGUMENT, "dim %d: %d elements repeated %lld times", i, size, (long long)repeat);
        view->sizes[2 * i] = (int32_t)repeat;
        view->strides[2 * i] = 0;
        view->sizes[2 * i + 1] = size;
        view->strides[2 * i + 1] = i >= lead ? self->strides[i - lead] : 0;
    }
    return WICK_OK;
}

/* [.., C*f*f, H, W] as [.., C, H, f, W, f]: in contiguous order the elements of [.., C, H*f, W*f]. */
wick_status wick_view_shuffle(const struct wick_args *args, struct wick_view *view, wick_error *err)
{
    wick_view_of(wick_arg_tensor(args, 0), view);
    int64_t factor = wick_arg_int(args, 1);
    int c = view->rank - 3;
    if (c < 0 || factor < 1 || factor > INT16_MAX || view->sizes[c] % (factor * factor) != 0 || view->sizes[c + 1] * factor > INT32_MAX ||
        view->sizes[c + 2] * factor > INT32_MAX)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "factor %lld does not fit the input", (long long)factor);
    int32_t f = (int32_t)factor, height = view->sizes[c + 1], width = view->sizes[c + 2];
    int64_t plane = view->strides[c], row = view->strides[c + 1], column = view->strides[c + 2];
    const int32_t sizes[5] = {view->sizes[c] / (f * f), height, f, width, f};
    const int64_t strides[5] = {plane * f * f, row, plane * f, column, plane};
    memcpy(view->sizes + c, sizes, sizeof sizes);
    memcpy(view->strides + c, strides, sizeof strides);
    view->rank += 2;
    return WICK_OK;
}

/* [.., C, H*f, W*f] as [.., C, f, f, H, W]. */
wick_status wick_view_unshuffle(const struct wick_args *args, struct wick_view *view, wick_error *err)
{
    wick_view_of(wick_arg_tensor(args, 0), view);
    int64_t factor = wick_arg_int(args, 1);
    int c = view->rank - 3;
    if (c < 0 || factor < 1 || factor > INT16_MAX || view->sizes[c + 1] % factor != 0 || view->sizes[c + 2] % factor != 0 ||
        view->sizes[c] * factor * factor > INT32_MAX)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "factor %lld does not fit the input", (long long)factor);
    int32_t f = (int32_t)factor;
    int64_t row = view->strides[c + 1], column = view->strides[c + 2];
    const int32_t sizes[5] = {view->sizes[c], f, f, view->sizes[c + 1] / f, view->sizes[c + 2] / f};
    const int64_t strides[5] = {view->strides[c], row, column, row * f, column * f};
    memcpy(view->sizes + c, sizes, sizeof sizes);
    memcpy(view->strides + c, strides, sizeof strides);
    view->rank += 2;
    return WICK_OK;
}

wick_status wick_view_sizes(const struct wick_args *args, uint32_t list, size_t numel, struct wick_shape *out, wick_error *err)
{
    uint32_t count = wick_arg_count(args, list);
    if (count > WICK_RANK_MAX) return wick_fail(err, WICK_INVALID_ARGUMENT, "a view of %u dims", count);
    uint64_t known = 1;
    int open = -1;
    out->rank = (uint8_t)count;
    for (uint32_t i = 0; i < count; i++) {
        int64_t size = wick_arg_int_at(args, list, i);
        if (size < -1 || size > INT32_MAX || (size == -1 && open >= 0))
            return wick_fail(err, WICK_INVALID_ARGUMENT, "size %lld of dim %u%s", (long long)size, i,
                             size == -1 ? " is a second -1" : " is out of range");
        if (size == -1) open = (int)i;
        else if (wick_mul_ovf(known, (uint64_t)size, &known)) return wick_fail(err, WICK_INVALID_ARGUMENT, "the view's size overflows at dim %u", i);
        out->sizes[i] = (int32_t)size;
    }
    if (open >= 0) {
        if (known == 0 || numel % known != 0 || numel / known > INT32_MAX)
            return wick_fail(err, WICK_INVALID_ARGUMENT, "dim %d cannot be inferred: %zu elements in rows of %llu", open, numel,
                             (unsigned long long)known);
        out->sizes[open] = (int32_t)(numel / known);
    } else if (known != numel) {
        return wick_fail(err, WICK_INVALID_ARGUMENT, "%zu elements viewed as %llu", numel, (unsigned long long)known);
    }
    return WICK_OK;
}

wick_status wick_view_piece(const struct wick_args *args, enum wick_cut cut, uint32_t k, uint32_t outs, struct wick_view *view, wick_error *err)
{
    int dim;
    WICK_TRY(open_dim(args, cut == WICK_CUT_UNBIND ? 1 : 2, view, &dim, err));
    int64_t size = view->sizes[dim], start = 0, length = 1, pieces = size;
    if (cut == WICK_CUT_EVERY) {
        int64_t every = wick_arg_int(args, 1);
        if (every < 0 || (every == 0 && size > 0)) return wick_fail(err, WICK_INVALID_ARGUMENT, "pieces of %lld", (long long)every);
        pieces = every && size ? (size - 1) / every + 1 : 1;
        start = pieces > 1 ? k * every : 0;
        length = WICK_MIN(every, size - start);
    } else if (cut == WICK_CUT_SIZES) {
        int64_t total = 0;
        pieces = wick_arg_count(args, 1);
        for (uint32_t i = 0; i < pieces; i++) {
            int64_t piece = wick_arg_int_at(args, 1, i);
            if (piece < 0 || piece > size - total)
                return wick_fail(err, WICK_INVALID_ARGUMENT, "piece %u of %lld does not fit dim %d of size %lld", i, (long long)piece, dim,
                                 (long long)size);
            if (i == k) start = total, length = piece;
            total += piece;
        }
        if (total != size)
            return wick_fail(err, WICK_INVALID_ARGUMENT, "pieces of %lld elements for dim %d of size %lld", (long long)total, dim, (long long)size);
    } else {
        start = k;
    }
    if (pieces != outs) return wick_fail(err, WICK_INVALID_ARGUMENT, "%u outs for %lld pieces", outs, (long long)pieces);
    view->offset = length ? start * view->strides[dim] : 0;
    view->sizes[dim] = (int32_t)length;
    if (cut == WICK_CUT_UNBIND) remove_dim(view, dim);
    return WICK_OK;
}
