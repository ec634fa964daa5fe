/* xnnpack/rt/matmul.c - BatchMatrixMultiply of two computed matrices, and the retired ScaledDotProductAttention node made of it.
 *
 * y[.., m, n] = sum_k a[.., m, k] b[.., k, n], batch dims broadcast. Rows of y are split over threads; k ascends, one fma a step. */
#include "backends/xnnpack/rt/expand.h"
#include "backends/xnnpack/rt/sizes.h"

#include <math.h>

enum { TRANSPOSE_B = 1, TRANSPOSE_A = 2, MATMUL_GRAIN = 32 * 1024 };

struct matmul {
    const float *a, *b;
    float *y;
    struct wick_xnn_sizes da, db, dy;
    size_t m, n, k;
    uint32_t flags;
};

static uint32_t flags_of(const struct wick_args *args) { return (uint32_t)((const int32_t *)wick_arg_tensor(args, 2)->data)[0]; }

static wick_status infer_matmul(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    struct wick_xnn_sizes a = wick_xnn_sizes_of(wick_arg_tensor(args, 0)), b = wick_xnn_sizes_of(wick_arg_tensor(args, 1)), y;
    uint32_t flags = flags_of(args);
    char ta[128], tb[128];
    if (a.rank < 2 || b.rank < 2) goto wrong;
    y.rank = WICK_MAX(a.rank, b.rank);
    for (int i = 0; i < y.rank - 2; i++) {
        int ia = i - (y.rank - a.rank), ib = i - (y.rank - b.rank);
        int64_t na = ia >= 0 ? a.size[ia] : 1, nb = ib >= 0 ? b.size[ib] : 1;
        if (na != nb && na != 1 && nb != 1) goto wrong;
        y.size[i] = na == 1 ? nb : na;
    }
    int64_t m = a.size[a.rank - (flags & TRANSPOSE_A ? 1 : 2)], ka = a.size[a.rank - (flags & TRANSPOSE_A ? 2 : 1)];
    int64_t n = b.size[b.rank - (flags & TRANSPOSE_B ? 2 : 1)], kb = b.size[b.rank - (flags & TRANSPOSE_B ? 1 : 2)];
    if (ka != kb) goto wrong;
    y.size[y.rank - 2] = m;
    y.size[y.rank - 1] = n;
    return wick_xnn_sizes_out(args, 3, &y, outs, "xnn::batch_matrix_multiply", err);
wrong:
    wick_xnn_sizes_text(&a, ta);
    wick_xnn_sizes_text(&b, tb);
    return wick_fail(err, WICK_INVALID_PROGRAM, "xnn::batch_matrix_multiply: %s and %s do not fit", ta, tb);
}

/* Where the matrix of batch `batch` of y begins in an operand. */
static size_t batch_offset(const struct wick_xnn_sizes *y, const struct wick_xnn_sizes *d, size_t batch)
{
    size_t offset = 0, step = (size_t)(d->size[d->rank - 1] * d->size[d->rank - 2]);
    for (int i = y->rank - 3; i >= 0; i--) {
        int id = i - (y->rank - d->rank);
        size_t at = batch % (size_t)y->size[i];
        batch /= (size_t)y->size[i];
        if (id < 0) continue;
        if (d->size[id] != 1) offset += at * step;
        step *= (size_t)d->size[id];
    }
    return offset;
}

static void matmul_row(const struct matmul *t, const float *a, size_t a_step, const float *b, float *y)
{
    if (t->flags & TRANSPOSE_B) {
        for (size_t n = 0; n < t->n; n++) {
            float sum = 0;
            for (size_t k = 0; k < t->k; k++) sum = fmaf(a[k * a_step], b[n * t->k + k], sum);
            y[n] = sum;
        }
        return;
    }
    memset(y, 0, t->n * sizeof *y);
    for (size_t k = 0; k < t->k; k++) {
        const float x = a[k * a_step], *row = b + k * t->n;
        for (size_t n = 0; n < t->n; n++) y[n] = fmaf(x, row[n], y[n]);
    }
}

static void matmul_rows(void *user, size_t begin, size_t end, unsigned thread)
{
    (void)thread;
    const struct matmul *t = user;
    for (size_t r = begin; r < end; r++) {
        size_t batch = r / t->m, m = r % t->m, a_step = t->flags & TRANSPOSE_A ? t->m : 1;
        const float *a = t->a + batch_offset(&t->dy, &t->da, batch) + (t->flags & TRANSPOSE_A ? m : m * t->k);
        matmul_row(t, a, a_step, t->b + batch_offset(&t->dy, &t->db, batch), t->y + r * t->n);
    }
}

/* Operands that are stored as halves are read as float32. */
static wick_status as_floats(const struct wick_tensor *x, struct wick_run *run, const float **out)
{
    *out = x->data;
    if (x->shape.dtype == WICK_DTYPE_F32) return WICK_OK;
    size_t count = wick_tensor_numel(x);
    float *copy = wick_arena_array(run->temp, count, sizeof(float), 64);
    if (!copy) return wick_fail_oom(run->err, count * sizeof(float), "xnn::batch_matrix_multiply");
    struct wick_xnn_lane lane = wick_xnn_lane_of(x->shape.dtype);
    wick_xnn_lane_load(&lane, run->ukernels, x->data, 0, count, copy);
    *out = copy;
    return WICK_OK;
}

static wick_status run_matmul(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *a = wick_arg_tensor(args, 0), *b = wick_arg_tensor(args, 1), *y = wick_arg_tensor(args, 3);
    struct matmul t = {.y = y->data, .da = wick_xnn_sizes_of(a), .db = wick_xnn_sizes_of(b), .dy = wick_xnn_sizes_of(y), .flags = flags_of(args)};
    size_t count = wick_tensor_numel(y);
    if (count == 0) return WICK_OK;
    t.m = (size_t)t.dy.size[t.dy.rank - 2];
    t.n = (size_t)t.dy.size[t.dy.rank - 1];
    t.k = (size_t)t.da.size[t.da.rank - (t.flags & TRANSPOSE_A ? 2 : 1)];
    WICK_TRY(as_floats(a, run, &t.a));
    WICK_TRY(as_floats(b, run, &t.b));
    bool halves = y->shape.dtype != WICK_DTYPE_F32;
    if (halves && !(t.y = wick_arena_array(run->temp, count, sizeof(float), 64))) return wick_fail_oom(run->err, count * sizeof(float), "xnn::batch_matrix_multiply");
    wick_xnn_ranges(run->pool, count / t.n, MATMUL_GRAIN / (t.n * t.k + 1) + 1, matmul_rows, &t);
    struct wick_xnn_lane lane = wick_xnn_lane_of(y->shape.dtype);
    if (halves) wick_xnn_lane_store(&lane, run->ukernels, y->data, 0, count, t.y);
    return WICK_OK;
}

static const struct wick_opmeta matmul_meta = {"xnn::batch_matrix_multiply", "TTT>T", WICK_ALIAS_NONE, infer_matmul};
const struct wick_op wick_xnn_op_batch_matrix_multiply = {.meta = &matmul_meta, .run = run_matmul};

/* ---- emitters ---- */

static wick_status add_matmul(struct wick_xnn_expand *e, const struct wick_op *op, uint32_t a, uint32_t b, int32_t flags, struct wick_xnn_slot *y)
{
    uint32_t ids[3] = {a, b, 0};
    WICK_TRY(wick_xnn_params(e, &flags, 1, &ids[2]));
    return wick_xnn_add(e, op, ids, 3, &y, 1, NULL);
}

wick_status wick_xnn_emit_matmul(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    struct wick_xnn_slot *a, *b, *y;
    WICK_TRY(wick_xnn_lane_input(e, node->slots[XNN_NODE_2X1_INPUT1_ID], &a));
    WICK_TRY(wick_xnn_lane_input(e, node->slots[XNN_NODE_2X1_INPUT2_ID], &b));
    WICK_TRY(wick_xnn_output(e, node->slots[XNN_NODE_2X1_OUTPUT_ID], &y));
    if (wick_xnn_is_quantized(a) || wick_xnn_is_quantized(b) || !wick_dtype_is_float(y->lane.dtype) || y->is_dynamic)
        return wick_xnn_refuse(e, WICK_NOT_SUPPORTED, "operands that are not float: not supported");
    return add_matmul(e, op, a->id, b->id, (int32_t)(node->slots[XNN_NODE_2X1_FLAGS] & (TRANSPOSE_A | TRANSPOSE_B)), y);
}

/* softmax(q * scale . k^T + mask) . v, the scale a vector over the head dim. */
wick_status wick_xnn_emit_attention(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    static const uint32_t inputs[5] = {XNN_ATTENTION_QUERY_ID, XNN_ATTENTION_KEY_ID, XNN_ATTENTION_VALUE_ID, XNN_ATTENTION_SCALE_ID, XNN_ATTENTION_MASK_ID};
    struct wick_xnn_slot *x[5], *y, steps[4];
    for (int i = 0; i < 5; i++) WICK_TRY(wick_xnn_lane_input(e, node->slots[inputs[i]], &x[i]));
    WICK_TRY(wick_xnn_output(e, node->slots[XNN_ATTENTION_OUTPUT_ID], &y));
    for (int i = 0; i < 5; i++) WICK_TRY(wick_xnn_need_same(e, x[i], y));
    for (int i = 0; i < 4; i++) steps[i] = wick_xnn_internal(y->lane.dtype);
    struct wick_xnn_slot *step;
    step = &steps[0];
    WICK_TRY(wick_xnn_add(e, &wick_xnn_op_multiply, (uint32_t[]){x[0]->id, x[3]->id}, 2, &step, 1, NULL));
    WICK_TRY(add_matmul(e, op, steps[0].id, x[1]->id, TRANSPOSE_B, &steps[1]));
    step = &steps[2];
    WICK_TRY(wick_xnn_add(e, &wick_xnn_op_add, (uint32_t[]){steps[1].id, x[4]->id}, 2, &step, 1, NULL));
    step = &steps[3];
    WICK_TRY(wick_xnn_add(e, &wick_xnn_op_softmax, &steps[2].id, 1, &step, 1, NULL));
    return add_matmul(e, op, steps[3].id, x[2]->id, 0, y);
}
