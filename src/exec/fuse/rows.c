/* exec/fuse/rows.c - running fused operators over rows. */
#include "exec/fuse/rows.h"

enum { ROWS_GRAIN = 8 * 1024 }; /* elements a task should at least have */

struct rows {
    const struct wick_args *args;
    const struct wick_ukernels *uk;
    wick_row_fn fn;
    size_t n, count, per_task;
    float *y;      /* (rows, n), or NULL: quantized */
    float *buffer; /* (thread, n) then */
    uint8_t *bytes;
    struct wick_qd8_params *params;
};

static void run_task(void *user, size_t index, unsigned thread)
{
    const struct rows *r = user;
    size_t end = WICK_MIN((index + 1) * r->per_task, r->count);
    for (size_t row = index * r->per_task; row < end; row++) {
        float *y = r->y ? r->y + row * r->n : r->buffer + thread * r->n;
        r->fn(r->args, r->uk, row, r->n, y);
        if (!r->y) r->uk->quantize_qd8(r->n, y, r->bytes + row * r->n, &r->params[row]);
    }
}

wick_status wick_rows_run(const struct wick_args *args, uint32_t inputs, bool quantized, wick_row_fn fn, struct wick_run *run)
{
    const struct wick_tensor *x = wick_arg_tensor(args, 0);
    struct rows r = {.args = args, .uk = run->ukernels, .fn = fn, .n = (size_t)x->shape.sizes[x->shape.rank - 1]};
    if (wick_tensor_numel(x) == 0) return WICK_OK;
    r.count = wick_tensor_numel(x) / r.n;
    unsigned threads = wick_pool_threads(run->pool);
    if (quantized) {
        r.bytes = wick_arg_tensor(args, inputs)->data;
        r.params = wick_arg_tensor(args, inputs + 1)->data;
        r.buffer = wick_arena_array(run->temp, threads, r.n * sizeof(float), 64);
        if (!r.buffer) return wick_fail_oom(run->err, threads * r.n * sizeof(float), "a fused row");
    } else {
        r.y = wick_arg_tensor(args, inputs)->data;
    }
    size_t tasks = threads == 1 ? 1 : WICK_MIN((size_t)threads * 4, r.count * r.n / ROWS_GRAIN + 1);
    r.per_task = (r.count + tasks - 1) / tasks;
    wick_pool_run(run->pool, (r.count + r.per_task - 1) / r.per_task, run_task, &r);
    return WICK_OK;
}

const struct wick_op *wick_rows_quantized(const struct wick_op *op)
{
    if (op == &wick_rows_rms_norm) return &wick_rows_rms_norm_quantized;
    return op == &wick_rows_swiglu ? &wick_rows_swiglu_quantized : NULL;
}

wick_status wick_rows_infer(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    (void)err;
    outs[0] = wick_arg_tensor(args, 0)->shape;
    return WICK_OK;
}

wick_status wick_rows_infer_quantized(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    const struct wick_tensor *x = wick_arg_tensor(args, 0);
    size_t n = (size_t)x->shape.sizes[x->shape.rank - 1];
    WICK_TRY(wick_rows_infer(args, outs, err));
    outs[0].dtype = WICK_DTYPE_I8;
    outs[1] = (struct wick_shape){.dtype = WICK_DTYPE_F32, .rank = 2, .sizes = {n ? (int32_t)(wick_tensor_numel(x) / n) : 0, 2}};
    wick_shape_set_contiguous(&outs[1]);
    return WICK_OK;
}
