/* ops/conv/pad.c - padding with a constant, by mirroring, and by repeating the edge. */
#include "ops/conv/geometry.h"
#include "ops/copy/cast.h"
#include "ops/copy/strided.h"
#include "ops/ops.h"

#define OP(id) const struct wick_op wick_op_##id = {.meta = &wick_opmeta_##id, .run = run_##id}

static wick_status same_type(const struct wick_tensor *a, const struct wick_tensor *b, wick_error *err)
{
    if (a->shape.dtype == b->shape.dtype && a->shape.rank == b->shape.rank) return WICK_OK;
    return wick_fail(err, WICK_INVALID_TYPE, "out is %s of rank %u, the input %s of rank %u", wick_dtype_name(b->shape.dtype), b->shape.rank,
                     wick_dtype_name(a->shape.dtype), a->shape.rank);
}

/* Negative paddings cut. */
static wick_status run_aten_constant_pad_nd_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *self = wick_arg_tensor(args, 0);
    struct wick_tensor *out = wick_arg_tensor(args, 3);
    struct wick_padding padding;
    uint64_t value[2];
    int64_t from[WICK_RANK_MAX], to[WICK_RANK_MAX], zero[WICK_RANK_MAX] = {0};
    int32_t kept[WICK_RANK_MAX];
    WICK_TRY(same_type(self, out, run->err));
    WICK_TRY(wick_padding_read(&padding, args, run->err));
    WICK_TRY(wick_scalar_element(wick_arg(args, 2), out->shape.dtype, value, run->err));
    if (wick_tensor_numel(out) == 0) return WICK_OK;
    wick_strides_of(self, from);
    wick_strides_of(out, to);
    int64_t element = (int64_t)wick_dtype_size(out->shape.dtype), skip_in = 0, skip_out = 0;
    bool some = true;
    for (int d = 0; d < self->shape.rank; d++) {
        int64_t before = padding.before[d], cut = WICK_MAX(-before, 0) + WICK_MAX(-padding.after[d], 0), keep = self->shape.sizes[d] - cut;
        if (out->shape.sizes[d] != self->shape.sizes[d] + before + padding.after[d])
            return wick_fail(run->err, WICK_INVALID_ARGUMENT, "out has other sizes");
        skip_in += WICK_MAX(-before, 0) * from[d];
        skip_out += WICK_MAX(before, 0) * to[d];
        kept[d] = (int32_t)WICK_MAX(keep, 0);
        some = some && keep > 0;
    }
    wick_strided_copy(out->data, to, value, zero, out->shape.sizes, out->shape.rank, (size_t)element);
    if (some)
        wick_strided_copy((char *)out->data + skip_out * element, to, (const char *)self->data + skip_in * element, from, kept, self->shape.rank,
                          (size_t)element);
    return WICK_OK;
}

OP(aten_constant_pad_nd_out);

/* Fills `out` dim by dim: the input goes to its place, then the margins of each dim are copied from what is there. */
static void fill_margins(struct wick_tensor *out, const struct wick_padding *padding, int dim, bool mirror, int32_t *done, const int64_t *strides,
                         char *origin)
{
    int64_t element = (int64_t)wick_dtype_size(out->shape.dtype), n = done[dim], step = strides[dim] * element;
    done[dim] = 1;
    for (int64_t i = 1; i <= padding->before[dim]; i++)
        wick_strided_copy(origin - i * step, strides, origin + (mirror ? i : 0) * step, strides, done, out->shape.rank, (size_t)element);
    for (int64_t i = 0; i < padding->after[dim]; i++)
        wick_strided_copy(origin + (n + i) * step, strides, origin + (mirror ? n - 2 - i : n - 1) * step, strides, done, out->shape.rank,
                          (size_t)element);
    done[dim] = out->shape.sizes[dim];
}

static wick_status pad_edges(const struct wick_args *args, bool mirror, struct wick_run *run)
{
    const struct wick_tensor *self = wick_arg_tensor(args, 0);
    struct wick_tensor *out = wick_arg_tensor(args, 2);
    struct wick_padding padding;
    int64_t from[WICK_RANK_MAX], to[WICK_RANK_MAX];
    int32_t done[WICK_RANK_MAX];
    WICK_TRY(same_type(self, out, run->err));
    WICK_TRY(wick_padding_read(&padding, args, run->err));
    if (wick_tensor_numel(out) == 0) return WICK_OK;
    wick_strides_of(self, from);
    wick_strides_of(out, to);
    memcpy(done, self->shape.sizes, sizeof done);
    char *origin = out->data;
    for (int d = 0; d < self->shape.rank; d++) {
        if (padding.before[d] < 0 || padding.after[d] < 0 || out->shape.sizes[d] != self->shape.sizes[d] + padding.before[d] + padding.after[d])
            return wick_fail(run->err, WICK_NOT_SUPPORTED, "dim %d: paddings below 0, or an out of other sizes", d);
        origin += padding.before[d] * to[d] * (int64_t)wick_dtype_size(out->shape.dtype);
    }
    wick_strided_copy(origin, to, self->data, from, done, self->shape.rank, wick_dtype_size(out->shape.dtype));
    for (int d = self->shape.rank - 1; d >= self->shape.rank - padding.dims; d--) {
        fill_margins(out, &padding, d, mirror, done, to, origin);
        origin -= padding.before[d] * to[d] * (int64_t)wick_dtype_size(out->shape.dtype);
    }
    return WICK_OK;
}

#define EDGE_PAD(id, mirror)                                                                           \
    static wick_status run_##id(const struct wick_args *args, const void *state, struct wick_run *run) \
    {                                                                                                  \
        (void)state;                                                                                   \
        return pad_edges(args, mirror, run);                                                           \
    }                                                                                                  \
    OP(id)

EDGE_PAD(aten_reflection_pad1d_out, true);
EDGE_PAD(aten_reflection_pad2d_out, true);
EDGE_PAD(aten_reflection_pad3d_out, true);
EDGE_PAD(aten_replication_pad1d_out, false);
EDGE_PAD(aten_replication_pad2d_out, false);
EDGE_PAD(aten_replication_pad3d_out, false);
