/* xnnpack/rt/matmul.c - products of two computed matrices: BatchMatrixMultiply, FullyConnected with a filter that is no
 * constant, and the retired ScaledDotProductAttention node made of the former.
 *
 * The right side is packed for the float kernel first, all its matrices at once; then every left matrix is multiplied.
 * Both steps are split over threads by blocks of columns, so that the order of additions is that of constant weights. */
#include "backends/xnnpack/rt/linear.h"
#include "backends/xnnpack/rt/expand.h"
#include "backends/xnnpack/rt/sizes.h"

#include <math.h>

enum { TRANSPOSE_B = 1, TRANSPOSE_A = 2, MATMUL_GRAIN = 32 * 1024 };

/* y[i] (m, n) = clamp(a (m, k) x b (k, n) + bias), i over `batches` of y. */
struct matmul {
    const struct wick_gemm *gemm;
    const float *a, *b, *bias;
    float *y;
    char *packed;
    size_t m, n, k, batches, b_count, block_count, packed_bytes;
    bool b_is_nk; /* b's matrices are (n, k) */
    float min, max;
    struct wick_xnn_sizes da, db, dy; /* for the batch dims */
};

/* Which matrix of an operand batch `batch` of y takes. */
static size_t matrix_of(const struct wick_xnn_sizes *y, const struct wick_xnn_sizes *d, size_t batch)
{
    size_t matrix = 0, step = 1;
    for (int i = y->rank - 3; i >= 0; i--) {
        int k = i - (y->rank - d->rank);
        size_t at = batch % (size_t)y->size[i];
        batch /= (size_t)y->size[i];
        if (k < 0) continue;
        if (d->size[k] != 1) matrix += at * step;
        step *= (size_t)d->size[k];
    }
    return matrix;
}

/* Calls of a range of (matrix, block) units: as many blocks of one matrix at a time as there are. */
static size_t blocks_from(const struct matmul *t, size_t unit, size_t end, size_t *n0, size_t *n1)
{
    size_t block = unit % t->block_count, count = WICK_MIN(t->block_count - block, end - unit);
    *n0 = block * t->gemm->nr;
    *n1 = WICK_MIN((block + count) * t->gemm->nr, t->n);
    return count;
}

static void pack_units(void *user, size_t begin, size_t end, unsigned thread)
{
    (void)thread;
    const struct matmul *t = user;
    for (size_t unit = begin, n0, n1; unit < end;) {
        size_t matrix = unit / t->block_count, count = blocks_from(t, unit, end, &n0, &n1);
        struct wick_gemm_weights w = {.n = t->n, .k = t->k, .w = t->b + matrix * t->n * t->k, .transposed = !t->b_is_nk, .bias = t->bias};
        t->gemm->pack(&w, n0, n1, t->packed + matrix * t->packed_bytes);
        unit += count;
    }
}

static void multiply_units(void *user, size_t begin, size_t end, unsigned thread)
{
    (void)thread;
    const struct matmul *t = user;
    for (size_t unit = begin, n0, n1; unit < end;) {
        size_t batch = unit / t->block_count, count = blocks_from(t, unit, end, &n0, &n1);
        struct wick_gemm_call call = {.m = t->m, .n = t->n, .k = t->k, .a_stride = t->k, .c_stride = t->n, .min = t->min, .max = t->max};
        call.a = t->a + matrix_of(&t->dy, &t->da, batch) * t->m * t->k;
        call.packed = t->packed + matrix_of(&t->dy, &t->db, batch) * t->packed_bytes;
        call.c = t->y + batch * t->m * t->n;
        t->gemm->run(&call, n0, n1);
        unit += count;
    }
}

static wick_status out_of_temp(struct wick_run *run, size_t bytes) { return wick_fail_oom(run->err, bytes, "xnn: product of computed matrices"); }

/* An operand as float32. */
static wick_status as_floats(const struct wick_tensor *x, struct wick_run *run, const float **out)
{
    *out = x->data;
    if (x->shape.dtype == WICK_DTYPE_F32) return WICK_OK;
    size_t count = wick_tensor_numel(x);
    float *copy = wick_arena_array(run->temp, count, sizeof(float), 64);
    if (!copy) return out_of_temp(run, count * sizeof(float));
    struct wick_xnn_lane lane = wick_xnn_lane_of(x->shape.dtype);
    wick_xnn_lane_load(&lane, run->ukernels, x->data, 0, count, copy);
    *out = copy;
    return WICK_OK;
}

/* t knows its operands and sizes; y may be stored as halves. */
static wick_status run_product(struct matmul *t, const struct wick_tensor *y, struct wick_run *run)
{
    size_t count = wick_tensor_numel(y), bytes;
    bool floats = y->shape.dtype == WICK_DTYPE_F32;
    if (count == 0) return WICK_OK;
    t->gemm = &run->ukernels->gemm_f32;
    t->block_count = (t->n + t->gemm->nr - 1) / t->gemm->nr;
    t->packed_bytes = t->gemm->packed_size(t->n, t->k, 0);
    bytes = t->packed_bytes * t->b_count;
    t->packed = wick_arena_array(run->temp, t->b_count, t->packed_bytes, 64);
    t->y = floats ? y->data : wick_arena_array(run->temp, count, sizeof(float), 64);
    if (!t->packed || !t->y) return out_of_temp(run, bytes + count * sizeof(float));
    size_t block_work = t->gemm->nr * t->k + 1;
    wick_xnn_ranges(run->pool, t->b_count * t->block_count, MATMUL_GRAIN / block_work + 1, pack_units, t);
    wick_xnn_ranges(run->pool, t->batches * t->block_count, MATMUL_GRAIN / (block_work * t->m) + 1, multiply_units, t);
    struct wick_xnn_lane lane = wick_xnn_lane_of(y->shape.dtype);
    if (!floats) wick_xnn_lane_store(&lane, run->ukernels, y->data, 0, count, t->y);
    return WICK_OK;
}

/* ---- BatchMatrixMultiply: (a [.., m, k], b [.., k, n], params: flags) > y [.., m, n] ---- */

static uint32_t flags_of(const struct wick_args *args) { return (uint32_t)((const int32_t *)wick_arg_tensor(args, 2)->data)[0]; }

/* Size of dim `from_end` (1: last, 2: before it) of a matrix, or of the other if it is transposed. */
static int64_t side(const struct wick_xnn_sizes *d, int from_end, bool transposed)
{
    return d->size[d->rank - (transposed ? 3 - from_end : from_end)];
}

static wick_status infer_matmul(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    struct wick_xnn_sizes a = wick_xnn_sizes_of(wick_arg_tensor(args, 0)), b = wick_xnn_sizes_of(wick_arg_tensor(args, 1)), y = {0};
    bool ta = flags_of(args) & TRANSPOSE_A, tb = flags_of(args) & TRANSPOSE_B;
    bool fits = a.rank >= 2 && b.rank >= 2;
    y.rank = WICK_MAX(a.rank, b.rank);
    for (int i = 0; fits && i < y.rank - 2; i++) {
        int ka = i - (y.rank - a.rank), kb = i - (y.rank - b.rank);
        int64_t na = ka >= 0 ? a.size[ka] : 1, nb = kb >= 0 ? b.size[kb] : 1;
        fits = na == nb || na == 1 || nb == 1;
        y.size[i] = na == 1 ? nb : na;
    }
    if (!fits || side(&a, 1, ta) != side(&b, 2, tb)) {
        char text_a[128], text_b[128];
        wick_xnn_sizes_text(&a, text_a);
        wick_xnn_sizes_text(&b, text_b);
        return wick_fail(err, WICK_INVALID_PROGRAM, "xnn::batch_matrix_multiply: %s%s and %s%s do not fit", text_a, ta ? " transposed" : "", text_b,
                         tb ? " transposed" : "");
    }
    y.size[y.rank - 2] = side(&a, 2, ta);
    y.size[y.rank - 1] = side(&b, 1, tb);
    return wick_xnn_sizes_out(args, 3, &y, outs, "xnn::batch_matrix_multiply", err);
}

/* Every (k, m) matrix of a as (m, k). */
static wick_status turn(struct matmul *t, struct wick_run *run)
{
    size_t count = wick_xnn_sizes_numel(&t->da);
    float *turned = wick_arena_array(run->temp, count, sizeof(float), 64);
    if (!turned) return out_of_temp(run, count * sizeof(float));
    for (size_t matrix = 0; matrix < count; matrix += t->m * t->k)
        for (size_t m = 0; m < t->m; m++)
            for (size_t k = 0; k < t->k; k++) turned[matrix + m * t->k + k] = t->a[matrix + k * t->m + m];
    t->a = turned;
    return WICK_OK;
}

static wick_status run_matmul(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *a = wick_arg_tensor(args, 0), *b = wick_arg_tensor(args, 1), *y = wick_arg_tensor(args, 3);
    struct matmul t = {.da = wick_xnn_sizes_of(a), .db = wick_xnn_sizes_of(b), .dy = wick_xnn_sizes_of(y), .min = -INFINITY, .max = INFINITY};
    t.m = (size_t)t.dy.size[t.dy.rank - 2];
    t.n = (size_t)t.dy.size[t.dy.rank - 1];
    t.k = (size_t)side(&t.da, 1, flags_of(args) & TRANSPOSE_A);
    t.batches = wick_xnn_sizes_product(&t.dy, 0, t.dy.rank - 2);
    t.b_count = wick_xnn_sizes_product(&t.db, 0, t.db.rank - 2);
    t.b_is_nk = flags_of(args) & TRANSPOSE_B;
    WICK_TRY(as_floats(a, run, &t.a));
    WICK_TRY(as_floats(b, run, &t.b));
    if (flags_of(args) & TRANSPOSE_A && wick_tensor_numel(a) > 0) WICK_TRY(turn(&t, run));
    return run_product(&t, y, run);
}

static const struct wick_opmeta matmul_meta = {"xnn::batch_matrix_multiply", "TTT>T", WICK_ALIAS_NONE, infer_matmul};
const struct wick_op wick_xnn_op_batch_matrix_multiply = {.meta = &matmul_meta, .run = run_matmul};

/* ---- FullyConnected with a computed filter: (x [.., k], filter, [bias,] params: filter is (k, n)) > y [.., n] ---- */

static wick_status infer_computed(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    struct wick_xnn_sizes x = wick_xnn_sizes_of(wick_arg_tensor(args, 0)), w = wick_xnn_sizes_of(wick_arg_tensor(args, 1));
    uint32_t params = args->count - 2;
    bool is_kn = ((const int32_t *)wick_arg_tensor(args, params)->data)[0];
    if (x.rank < 1 || w.rank != 2 || x.size[x.rank - 1] != w.size[!is_kn]) {
        char text_x[128], text_w[128];
        wick_xnn_sizes_text(&x, text_x);
        wick_xnn_sizes_text(&w, text_w);
        return wick_fail(err, WICK_INVALID_PROGRAM, "xnn::fully_connected: rows of %s for a computed filter %s", text_x, text_w);
    }
    x.size[x.rank - 1] = w.size[is_kn];
    if (params == 3 && wick_tensor_numel(wick_arg_tensor(args, 2)) != (size_t)w.size[is_kn])
        return wick_fail(err, WICK_INVALID_PROGRAM, "xnn::fully_connected: a bias of %zu numbers for %lld columns",
                         wick_tensor_numel(wick_arg_tensor(args, 2)), (long long)w.size[is_kn]);
    return wick_xnn_sizes_out(args, params + 1, &x, outs, "xnn::fully_connected", err);
}

static wick_status run_computed(const struct wick_args *args, const void *state, struct wick_run *run)
{
    const struct wick_xnn_bounds *bounds = state;
    uint32_t params = args->count - 2;
    const struct wick_tensor *x = wick_arg_tensor(args, 0), *w = wick_arg_tensor(args, 1), *y = wick_arg_tensor(args, params + 1);
    bool is_kn = ((const int32_t *)wick_arg_tensor(args, params)->data)[0];
    struct wick_xnn_sizes d = wick_xnn_sizes_of(w);
    struct matmul t = {.n = (size_t)d.size[is_kn], .k = (size_t)d.size[!is_kn], .batches = 1, .b_count = 1, .b_is_nk = !is_kn};
    t.min = bounds->min, t.max = bounds->max;
    t.m = t.n ? wick_tensor_numel(y) / t.n : 0;
    t.da.rank = t.db.rank = t.dy.rank = 2; /* one matrix each */
    WICK_TRY(as_floats(x, run, &t.a));
    WICK_TRY(as_floats(w, run, &t.b));
    if (params == 3) WICK_TRY(as_floats(wick_arg_tensor(args, 2), run, &t.bias));
    return run_product(&t, y, run);
}

static const struct wick_opmeta computed_meta = {"xnn::computed_fully_connected", "TTT>T", WICK_ALIAS_NONE, infer_computed};
static const struct wick_opmeta computed_bias_meta = {"xnn::computed_fully_connected.bias", "TTTT>T", WICK_ALIAS_NONE, infer_computed};
const struct wick_op wick_xnn_op_computed_fully_connected = {.meta = &computed_meta, .run = run_computed};
const struct wick_op wick_xnn_op_computed_fully_connected_bias = {.meta = &computed_bias_meta, .run = run_computed};

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
    if (wick_xnn_is_quantized(a) || wick_xnn_is_quantized(b) || !wick_dtype_is_float(y->lane.dtype))
        return wick_xnn_refuse(e, WICK_NOT_SUPPORTED, "operands of types %s and %s: only floats are supported",
                               wick_xnn_datatype_name(a->value->datatype), wick_xnn_datatype_name(b->value->datatype));
    return add_matmul(e, op, a->id, b->id, (int32_t)(node->slots[XNN_NODE_2X1_FLAGS] & (TRANSPOSE_A | TRANSPOSE_B)), y);
}

/* softmax(q * scale . k^T + mask) . v, the scale a vector over the head dim. */
wick_status wick_xnn_emit_attention(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    static const uint8_t inputs[] = {XNN_ATTENTION_QUERY_ID, XNN_ATTENTION_KEY_ID, XNN_ATTENTION_VALUE_ID, XNN_ATTENTION_SCALE_ID,
                                     XNN_ATTENTION_MASK_ID};
    struct wick_xnn_slot *x[5], *y, steps[4], *step;
    for (int i = 0; i < 5; i++) WICK_TRY(wick_xnn_lane_input(e, node->slots[inputs[i]], &x[i]));
    WICK_TRY(wick_xnn_output(e, node->slots[XNN_ATTENTION_OUTPUT_ID], &y));
    for (int i = 0; i < 5; i++) WICK_TRY(wick_xnn_need_same(e, x[i], y));
    if (!wick_dtype_is_float(y->lane.dtype)) return wick_xnn_refuse(e, WICK_NOT_SUPPORTED, "only floats are supported");
    for (int i = 0; i < 4; i++) steps[i] = wick_xnn_internal(y->lane.dtype);
    step = &steps[0];
    WICK_TRY(wick_xnn_add(e, &wick_xnn_op_multiply, (uint32_t[]){x[0]->id, x[3]->id}, 2, &step, 1, NULL));
    WICK_TRY(add_matmul(e, op, steps[0].id, x[1]->id, TRANSPOSE_B, &steps[1]));
    step = &steps[2];
    WICK_TRY(wick_xnn_add(e, &wick_xnn_op_add, (uint32_t[]){steps[1].id, x[4]->id}, 2, &step, 1, NULL));
    step = &steps[3];
    WICK_TRY(wick_xnn_add(e, &wick_xnn_op_softmax, &steps[2].id, 1, &step, 1, NULL));
    return add_matmul(e, op, steps[3].id, x[2]->id, 0, y);
}
