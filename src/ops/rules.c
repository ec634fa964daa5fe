/* ops/rules.c - the shape and type rules of rules.h. Families' meta.c name them in their operators' wick_opmeta. */
#include "ops/rules.h"

bool wick_dtype_is_arithmetic(int dtype)
{
    return (dtype >= WICK_DTYPE_U8 && dtype <= WICK_DTYPE_F64) || dtype == WICK_DTYPE_BOOL || dtype == WICK_DTYPE_BF16;
}

int wick_dtype_floating(int dtype) { return wick_dtype_is_float(dtype) ? dtype : WICK_DTYPE_F32; }

int wick_result_dtype(int promoted, enum wick_result result)
{
    return result == WICK_RESULT_BOOL ? WICK_DTYPE_BOOL : result == WICK_RESULT_FLOAT ? wick_dtype_floating(promoted) : promoted;
}

/* bool 0, integers 1, floats 2. */
static int category(int dtype) { return wick_dtype_is_float(dtype) ? 2 : dtype == WICK_DTYPE_BOOL ? 0 : 1; }

bool wick_dtype_can_cast(int from, int to) { return category(from) <= category(to); }

int wick_dtype_with_scalar(int dtype, const struct wick_value *scalar)
{
    if (scalar->tag == WICK_TAG_DOUBLE) return wick_dtype_floating(dtype);
    if (scalar->tag == WICK_TAG_INT && dtype == WICK_DTYPE_BOOL) return WICK_DTYPE_I64;
    return dtype;
}

int wick_dtype_of_pair(const struct wick_shape *a, const struct wick_shape *b)
{
    if (a->rank > 0 && b->rank == 0 && category(a->dtype) >= category(b->dtype)) return a->dtype;
    if (b->rank > 0 && a->rank == 0 && category(b->dtype) >= category(a->dtype)) return b->dtype;
    return wick_dtype_promote(a->dtype, b->dtype);
}

static wick_status like(const struct wick_args *args, enum wick_result result, struct wick_shape *outs)
{
    outs[0] = wick_arg_tensor(args, 0)->shape;
    outs[0].dtype = (uint8_t)wick_result_dtype(outs[0].dtype, result);
    return WICK_OK;
}

wick_status wick_infer_like(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    (void)err;
    return like(args, WICK_RESULT_SAME, outs);
}

wick_status wick_infer_like_float(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    (void)err;
    return like(args, WICK_RESULT_FLOAT, outs);
}

wick_status wick_infer_like_bool(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    (void)err;
    return like(args, WICK_RESULT_BOOL, outs);
}

wick_status wick_rule_broadcast(struct wick_shape *out, const struct wick_shape *b, wick_error *err)
{
    if (wick_shape_same_sizes(out, b)) return WICK_OK;
    struct wick_shape a = *out;
    if (!wick_shape_broadcast(&a, b, out)) {
        char text_a[128], text_b[128];
        wick_shape_text(&a, text_a);
        wick_shape_text(b, text_b);
        return wick_fail(err, WICK_INVALID_ARGUMENT, "shapes %s and %s do not broadcast", text_a, text_b);
    }
    /* The layout is that of the operand which has all dims. */
    if (out->rank == b->rank && out->rank != a.rank) memcpy(out->dim_order, b->dim_order, sizeof out->dim_order);
    return WICK_OK;
}

static wick_status pair(const struct wick_args *args, enum wick_result result, struct wick_shape *outs, wick_error *err)
{
    const struct wick_shape *a = &wick_arg_tensor(args, 0)->shape, *b = &wick_arg_tensor(args, 1)->shape;
    outs[0] = *a;
    outs[0].dtype = (uint8_t)wick_result_dtype(wick_dtype_of_pair(a, b), result);
    return wick_rule_broadcast(&outs[0], b, err);
}

wick_status wick_infer_pair(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    return pair(args, WICK_RESULT_SAME, outs, err);
}

wick_status wick_infer_pair_float(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    return pair(args, WICK_RESULT_FLOAT, outs, err);
}

wick_status wick_infer_pair_bool(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    return pair(args, WICK_RESULT_BOOL, outs, err);
}

wick_status wick_infer_scalar(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    (void)err;
    outs[0] = wick_arg_tensor(args, 0)->shape;
    outs[0].dtype = (uint8_t)wick_dtype_with_scalar(outs[0].dtype, wick_arg(args, 1));
    return WICK_OK;
}

wick_status wick_infer_scalar_float(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    wick_status status = wick_infer_scalar(args, outs, err);
    outs[0].dtype = (uint8_t)wick_dtype_floating(outs[0].dtype);
    return status;
}

wick_status wick_rule_dim(int64_t dim, int rank, int *wrapped, wick_error *err)
{
    *wrapped = wick_dim_wrap(dim, rank);
    if (*wrapped >= 0) return WICK_OK;
    return wick_fail(err, WICK_INVALID_ARGUMENT, "dim %lld is outside a tensor of rank %d", (long long)dim, rank);
}

wick_status wick_rule_sizes(const struct wick_args *args, uint32_t k, int dtype, struct wick_shape *out, wick_error *err)
{
    uint32_t rank = wick_arg_count(args, k);
    if (rank > WICK_RANK_MAX) return wick_fail(err, WICK_INVALID_ARGUMENT, "argument %u: %u dims, the limit is %d", k, rank, WICK_RANK_MAX);
    *out = wick_shape_make(dtype, 0, NULL);
    out->rank = (uint8_t)rank;
    for (uint32_t i = 0; i < rank; i++) {
        int64_t size = wick_arg_int_at(args, k, i);
        if (size < 0 || size > INT32_MAX) return wick_fail(err, WICK_INVALID_ARGUMENT, "argument %u: size %lld of dim %u", k, (long long)size, i);
        out->sizes[i] = (int32_t)size;
    }
    if (!wick_shape_valid(out, NULL)) return wick_fail(err, WICK_INVALID_ARGUMENT, "argument %u: a tensor of these sizes is too large", k);
    return WICK_OK;
}

wick_status wick_rule_dim_mask(const struct wick_args *args, uint32_t k, int rank, uint32_t *mask, wick_error *err)
{
    uint32_t count = wick_arg_count(args, k);
    *mask = 0;
    for (uint32_t i = 0; i < count; i++) {
        int dim;
        WICK_TRY(wick_rule_dim(wick_arg_int_at(args, k, i), rank, &dim, err));
        if (*mask >> dim & 1) return wick_fail(err, WICK_INVALID_ARGUMENT, "dim %d is named twice", dim);
        *mask |= 1u << dim;
    }
    if (count == 0) *mask = (1u << rank) - 1;
    return WICK_OK;
}

void wick_rule_reduce(const struct wick_shape *in, uint32_t mask, bool keepdim, struct wick_shape *out)
{
    struct wick_shape shape = wick_shape_make(in->dtype, 0, NULL);
    for (int i = 0; i < in->rank; i++) {
        bool reduced = mask >> i & 1;
        if (!reduced || keepdim) shape.sizes[shape.rank++] = reduced ? 1 : in->sizes[i];
    }
    /* With all dims kept the layout can stay, too. */
    if (keepdim) memcpy(shape.dim_order, in->dim_order, sizeof shape.dim_order);
    *out = shape;
}
