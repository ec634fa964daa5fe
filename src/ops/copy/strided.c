/* ops/copy/strided.c - the one loop nest behind every operator that moves elements without changing them.
 *
 * Dims are put in the order of the output's memory and merged where both sides allow it, so that a slice or a
 * concatenation becomes a few memcpys and a transpose becomes blocks that stay in the first-level cache. */
#include "ops/copy/strided.h"

struct nest {
    int rank;
    int64_t sizes[WICK_VIEW_RANK], out[WICK_VIEW_RANK], in[WICK_VIEW_RANK]; /* strides in elements */
};

static int64_t magnitude(int64_t stride) { return stride < 0 ? -stride : stride; }

/* False if there is nothing to copy. */
static bool nest_make(struct nest *nest, const int64_t *out, const int64_t *in, const int32_t *sizes, int rank)
{
    nest->rank = 0;
    for (int i = 0; i < rank; i++) {
        if (sizes[i] == 0) return false;
        if (sizes[i] == 1) continue;
        int at = nest->rank++;
        for (; at > 0 && magnitude(nest->out[at - 1]) < magnitude(out[i]); at--) {
            nest->sizes[at] = nest->sizes[at - 1];
            nest->out[at] = nest->out[at - 1];
            nest->in[at] = nest->in[at - 1];
        }
        nest->sizes[at] = sizes[i];
        nest->out[at] = out[i];
        nest->in[at] = in[i];
    }
    int last = 0;
    for (int i = 1; i < nest->rank; i++) {
        if (nest->out[last] == nest->out[i] * nest->sizes[i] && nest->in[last] == nest->in[i] * nest->sizes[i]) {
            nest->sizes[last] *= nest->sizes[i];
        } else {
            nest->sizes[++last] = nest->sizes[i];
        }
        nest->out[last] = nest->out[i];
        nest->in[last] = nest->in[i];
    }
    if (nest->rank > 0) nest->rank = last + 1;
    return true;
}

struct pair {
    uint64_t low, high;
};

/* One row: n elements, strides in elements. */
#define STRIDED_ROW(type)                                                         \
    do {                                                                          \
        type *to = out;                                                           \
        const type *from = in;                                                    \
        for (int64_t i = 0; i < n; i++) to[i * out_stride] = from[i * in_stride]; \
    } while (0)

static void copy_row(void *out, int64_t out_stride, const void *in, int64_t in_stride, int64_t n, size_t element)
{
    if (out_stride == 1 && in_stride == 1) {
        if (out != in) memcpy(out, in, (size_t)n * element);
        return;
    }
    switch (element) {
    case 1: STRIDED_ROW(uint8_t); break;
    case 2: STRIDED_ROW(uint16_t); break;
    case 4: STRIDED_ROW(uint32_t); break;
    case 8: STRIDED_ROW(uint64_t); break;
    default: STRIDED_ROW(struct pair); break;
    }
}

/* A [rows, columns] block whose columns are adjacent in out and whose rows are adjacent in `in`. */
#define TRANSPOSED(type)                                                                                \
    do {                                                                                                \
        type *to = out;                                                                                 \
        const type *from = in;                                                                          \
        for (int64_t r0 = 0; r0 < rows; r0 += TILE)                                                     \
            for (int64_t c0 = 0; c0 < columns; c0 += TILE) {                                            \
                int64_t r1 = WICK_MIN(r0 + TILE, rows), c1 = WICK_MIN(c0 + TILE, columns);              \
                for (int64_t r = r0; r < r1; r++)                                                       \
                    for (int64_t c = c0; c < c1; c++) to[r * out_stride + c] = from[c * in_stride + r]; \
            }                                                                                           \
    } while (0)

static void copy_transposed(void *out, int64_t out_stride, const void *in, int64_t in_stride, int64_t rows, int64_t columns, size_t element)
{
    enum { TILE = 16 };
    switch (element) {
    case 1: TRANSPOSED(uint8_t); break;
    case 2: TRANSPOSED(uint16_t); break;
    case 4: TRANSPOSED(uint32_t); break;
    case 8: TRANSPOSED(uint64_t); break;
    default: TRANSPOSED(struct pair); break;
    }
}

/* Moves the dim along which `in` is adjacent next to the last one, if the last one is not. Returns whether it did. */
static bool nest_transpose(struct nest *nest)
{
    int last = nest->rank - 1;
    if (last < 1 || nest->out[last] != 1 || nest->in[last] == 1) return false;
    for (int d = 0; d < last; d++) {
        if (nest->in[d] != 1) continue;
        int64_t size = nest->sizes[d], out = nest->out[d];
        for (; d < last - 1; d++) {
            nest->sizes[d] = nest->sizes[d + 1];
            nest->out[d] = nest->out[d + 1];
            nest->in[d] = nest->in[d + 1];
        }
        nest->sizes[d] = size;
        nest->out[d] = out;
        nest->in[d] = 1;
        return true;
    }
    return false;
}

void wick_strided_copy(void *out, const int64_t *out_strides, const void *in, const int64_t *in_strides, const int32_t *sizes, int rank,
                       size_t element)
{
    struct nest nest;
    if (!nest_make(&nest, out_strides, in_strides, sizes, rank)) return;
    if (nest.rank == 0) {
        memcpy(out, in, element);
        return;
    }
    bool transposed = nest_transpose(&nest);
    int outer = nest.rank - (transposed ? 2 : 1), last = nest.rank - 1;
    int64_t index[WICK_VIEW_RANK] = {0};
    char *to = out;
    const char *from = in;
    int64_t width = (int64_t)element;
    for (;;) {
        if (transposed) copy_transposed(to, nest.out[outer], from, nest.in[last], nest.sizes[outer], nest.sizes[last], element);
        else copy_row(to, nest.out[last], from, nest.in[last], nest.sizes[last], element);
        int d = outer - 1;
        for (; d >= 0; d--) {
            to += nest.out[d] * width;
            from += nest.in[d] * width;
            if (++index[d] < nest.sizes[d]) break;
            to -= nest.out[d] * nest.sizes[d] * width;
            from -= nest.in[d] * nest.sizes[d] * width;
            index[d] = 0;
        }
        if (d < 0) return;
    }
}

void wick_strides_of(const struct wick_tensor *t, int64_t *strides)
{
    for (int i = 0; i < t->shape.rank; i++) strides[i] = t->strides[i];
}

void wick_strides_contiguous(const int32_t *sizes, int rank, int64_t *strides)
{
    int64_t stride = 1;
    for (int i = rank - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= sizes[i] ? sizes[i] : 1;
    }
}

wick_status wick_view_copy(struct wick_tensor *out, const struct wick_view *view, const struct wick_tensor *self, bool flat, wick_error *err)
{
    if (out->shape.dtype != self->shape.dtype)
        return wick_fail(err, WICK_INVALID_TYPE, "out is %s, the input %s", wick_dtype_name(out->shape.dtype), wick_dtype_name(self->shape.dtype));
    int64_t strides[WICK_VIEW_RANK];
    size_t element = wick_dtype_size(self->shape.dtype), numel = 1;
    bool same = flat || view->rank == out->shape.rank;
    for (int i = 0; i < view->rank; i++) {
        numel *= (size_t)view->sizes[i];
        if (same && !flat) same = view->sizes[i] == out->shape.sizes[i];
    }
    if (!same || numel != wick_tensor_numel(out))
        return wick_fail(err, WICK_INVALID_ARGUMENT, "the sizes of out (%zu elements) are not those of the result (%zu)", wick_tensor_numel(out),
                         numel);
    if (numel == 0) return WICK_OK;
    if (flat) {
        if (!wick_shape_is_contiguous(&out->shape)) return wick_fail(err, WICK_NOT_SUPPORTED, "out is not in contiguous dim order");
        wick_strides_contiguous(view->sizes, view->rank, strides);
    } else {
        wick_strides_of(out, strides);
    }
    wick_strided_copy(out->data, strides, (const char *)self->data + view->offset * (int64_t)element, view->strides, view->sizes, view->rank,
                      element);
    return WICK_OK;
}
