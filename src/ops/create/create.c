/* ops/create/create.c - constants, ranges and random numbers. Layout of out does not matter except to ranges, which are
 * one-dimensional. */
#include "ops/elementwise.h"

/* Repeats out's first element, which is set, over the whole of it. */
static void repeat_first(struct wick_tensor *out)
{
    size_t element = wick_dtype_size(out->shape.dtype), bytes = wick_tensor_nbytes(out);
    char *data = out->data;
    for (size_t done = element; done < bytes;) {
        size_t n = WICK_MIN(done, bytes - done);
        memcpy(data + done, data, n);
        done += n;
    }
}

/* value: i64 or f64. */
static wick_status fill(struct wick_tensor *out, enum wick_compute compute, const void *value, wick_error *err)
{
    WICK_TRY(wick_element_check(out, "out", err));
    if (wick_tensor_numel(out) == 0) return WICK_OK;
    wick_storer(out->shape.dtype, compute)(out->data, 1, value, 1);
    repeat_first(out);
    return WICK_OK;
}

static wick_status fill_scalar(struct wick_tensor *out, const struct wick_value *scalar, wick_error *err)
{
    if (scalar->tag == WICK_TAG_DOUBLE) return fill(out, WICK_COMPUTE_F64, &scalar->as.d, err);
    int64_t value = scalar->tag == WICK_TAG_INT ? scalar->as.i : scalar->as.b;
    return fill(out, WICK_COMPUTE_I64, &value, err);
}

static wick_status run_constant(const struct wick_args *args, struct wick_run *run, int64_t value)
{
    return fill(wick_arg_tensor(args, 1), WICK_COMPUTE_I64, &value, run->err);
}
WICK_OP_RUN(aten_ones_out, run_constant, 1)
WICK_OP_RUN(aten_zeros_out, run_constant, 0)

static wick_status run_fill(const struct wick_args *args, struct wick_run *run, uint32_t scalar, uint32_t out)
{
    return fill_scalar(wick_arg_tensor(args, out), wick_arg(args, scalar), run->err);
}
WICK_OP_RUN(aten_full_out, run_fill, 1, 2)
WICK_OP_RUN(aten_full_like_out, run_fill, 1, 3)
WICK_OP_RUN(aten_fill_Scalar_out, run_fill, 1, 2)
WICK_OP_RUN(aten_scalar_tensor_out, run_fill, 0, 1)

static wick_status run_fill_tensor(const struct wick_args *args, const void *state, struct wick_run *run)
{
    const struct wick_tensor *value = wick_arg_tensor(args, 1);
    double storage; /* f64 or i64 */
    (void)state;
    WICK_TRY(wick_element_check(value, "value", run->err));
    if (wick_tensor_numel(value) != 1)
        return wick_fail(run->err, WICK_INVALID_ARGUMENT, "the value has %zu elements, not 1", wick_tensor_numel(value));
    enum wick_compute compute = wick_dtype_is_float(value->shape.dtype) ? WICK_COMPUTE_F64 : WICK_COMPUTE_I64;
    wick_loader(value->shape.dtype, compute)(&storage, value->data, 1, 1);
    return fill(wick_arg_tensor(args, 2), compute, &storage, run->err);
}
const struct wick_op wick_op_aten_fill_Tensor_out = {.meta = &wick_opmeta_aten_fill_Tensor_out, .run = run_fill_tensor};

/* Contents are anyone's guess; zeros are the safe one. */
static wick_status run_empty(const struct wick_args *args, const void *state, struct wick_run *run)
{
    struct wick_tensor *out = wick_arg_tensor(args, 2);
    (void)state;
    (void)run;
    if (wick_tensor_nbytes(out) > 0) memset(out->data, 0, wick_tensor_nbytes(out));
    return WICK_OK;
}
const struct wick_op wick_op_aten_empty_out = {.meta = &wick_opmeta_aten_empty_out, .run = run_empty};

/* out[i] = start + i * step: in integers if all are, else in double. */
static wick_status put_range(struct wick_tensor *out, const struct wick_value *start, const struct wick_value *step, wick_error *err)
{
    WICK_TRY(wick_element_check(out, "out", err));
    bool integral = (!start || start->tag != WICK_TAG_DOUBLE) && (!step || step->tag != WICK_TAG_DOUBLE);
    enum wick_compute compute = integral ? WICK_COMPUTE_I64 : WICK_COMPUTE_F64;
    wick_store_fn *store = wick_storer(out->shape.dtype, compute);
    size_t count = wick_tensor_numel(out), element = wick_dtype_size(out->shape.dtype);
    int64_t first_i = !start ? 0 : start->tag == WICK_TAG_INT ? start->as.i : start->tag == WICK_TAG_BOOL ? start->as.b : 0;
    int64_t step_i = !step ? 1 : step->tag == WICK_TAG_INT ? step->as.i : step->tag == WICK_TAG_BOOL ? step->as.b : 0;
    double first_d = start && start->tag == WICK_TAG_DOUBLE ? start->as.d : (double)first_i;
    double step_d = step && step->tag == WICK_TAG_DOUBLE ? step->as.d : (double)step_i;
    for (size_t i = 0; i < count; i++) {
        int64_t value_i = (int64_t)((uint64_t)first_i + (uint64_t)i * (uint64_t)step_i);
        double value_d = first_d + (double)i * step_d;
        store((char *)out->data + i * element, 1, integral ? (void *)&value_i : (void *)&value_d, 1);
    }
    return WICK_OK;
}

static wick_status run_arange(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    return put_range(wick_arg_tensor(args, 1), NULL, NULL, run->err);
}
const struct wick_op wick_op_aten_arange_out = {.meta = &wick_opmeta_aten_arange_out, .run = run_arange};

static wick_status run_arange_start(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    return put_range(wick_arg_tensor(args, 3), wick_arg(args, 0), wick_arg(args, 2), run->err);
}
const struct wick_op wick_op_aten_arange_start_out = {.meta = &wick_opmeta_aten_arange_start_out, .run = run_arange_start};
