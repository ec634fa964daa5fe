/* xnnpack/rt/quantize.c - dynamic quantization: a Convert to qdint8 becomes a node with two results, the bytes of the
 * rows and the parameters of each row (struct wick_qd8_params as two words). Halves are quantized as the float32 they
 * are. Several Converts of one value are equal nodes, so the execution graph makes them once. */
#include "backends/xnnpack/rt/expand.h"
#include "backends/xnnpack/rt/sizes.h"
#include "ukernel/ukernels.h"

enum { QUANTIZE_GRAIN = 8 * 1024 }; /* elements a task should at least have */

static int32_t nonbatch_of(const struct wick_args *args) { return ((const int32_t *)wick_arg_tensor(args, 1)->data)[0]; }

/* (x, params: innermost dims that share parameters) > bytes like x, [rows, 2]. */
static wick_status infer_quantize(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    struct wick_xnn_sizes x = wick_xnn_sizes_of(wick_arg_tensor(args, 0)), rows = {.rank = 2};
    int32_t nonbatch = nonbatch_of(args);
    if (nonbatch < 0 || nonbatch > x.rank)
        return wick_fail(err, WICK_INVALID_PROGRAM, "xnn::quantize: %d dims of %d share parameters", (int)nonbatch, x.rank);
    rows.size[0] = (int64_t)wick_xnn_sizes_product(&x, 0, x.rank - nonbatch);
    rows.size[1] = 2;
    WICK_TRY(wick_xnn_sizes_out(args, 2, &x, &outs[0], "xnn::quantize", err));
    return wick_xnn_sizes_out(args, 3, &rows, &outs[1], "xnn::quantize", err);
}

struct quantize {
    const struct wick_ukernels *uk;
    struct wick_xnn_lane lane;
    const void *x;
    uint8_t *a;
    struct wick_qd8_params *params;
    size_t k;
    float *rows; /* one a thread, for halves */
};

static void quantize_rows(void *user, size_t begin, size_t end, unsigned thread)
{
    const struct quantize *q = user;
    for (size_t r = begin; r < end; r++) {
        const float *x = (const float *)q->x + r * q->k;
        if (q->lane.dtype != WICK_DTYPE_F32) {
            float *row = q->rows + thread * q->k;
            wick_xnn_lane_load(&q->lane, q->uk, q->x, r * q->k, q->k, row);
            x = row;
        }
        q->uk->quantize_qd8(q->k, x, q->a + r * q->k, &q->params[r]);
    }
}

static wick_status run_quantize(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *x = wick_arg_tensor(args, 0);
    struct wick_xnn_sizes d = wick_xnn_sizes_of(x);
    int batch = d.rank - nonbatch_of(args);
    struct quantize q = {.uk = run->ukernels,
                         .lane = wick_xnn_lane_of(x->shape.dtype),
                         .x = x->data,
                         .a = wick_arg_tensor(args, 2)->data,
                         .params = wick_arg_tensor(args, 3)->data,
                         .k = wick_xnn_sizes_product(&d, batch, d.rank)};
    if (q.lane.dtype != WICK_DTYPE_F32) {
        q.rows = wick_arena_array(run->temp, wick_pool_threads(run->pool), q.k * sizeof(float), 64);
        if (!q.rows) return wick_fail_oom(run->err, q.k * sizeof(float), "xnn::quantize");
    }
    wick_xnn_ranges(run->pool, wick_xnn_sizes_product(&d, 0, batch), QUANTIZE_GRAIN / (q.k + 1) + 1, quantize_rows, &q);
    return WICK_OK;
}

static const struct wick_opmeta quantize_meta = {"xnn::quantize", "TT>TT", WICK_ALIAS_NONE, infer_quantize};
static const struct wick_op quantize_op = {.meta = &quantize_meta, .run = run_quantize};

wick_status wick_xnn_add_quantize(struct wick_xnn_expand *e, const struct wick_xnn_slot *source, struct wick_xnn_slot *out)
{
    struct wick_xnn_slot *rows = WICK_NEW(e->bind->arena, struct wick_xnn_slot);
    uint32_t ids[2] = {source->id, 0};
    if (!rows) return wick_fail_oom(e->err, sizeof *rows, "values of an XNNPACK payload");
    if (!wick_xnn_lane_known(source->lane.dtype) || wick_xnn_is_quantized(source))
        return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "value %u is no float and cannot be quantized dynamically", source->value->id);
    *rows = wick_xnn_internal(WICK_DTYPE_F32);
    WICK_TRY(wick_xnn_params(e, &out->nonbatch_dims, 1, &ids[1]));
    WICK_TRY(wick_xnn_add(e, &quantize_op, ids, 2, (struct wick_xnn_slot *[]){out, rows}, 2, NULL));
    out->source = source;
    out->rows = rows->id;
    return WICK_OK;
}

wick_status wick_xnn_dynamic_input(struct wick_xnn_expand *e, uint32_t index, int32_t nonbatch, uint32_t *values, uint32_t *rows)
{
    const struct wick_xnn_slot *slot = index == WICK_XNN_NO_ID ? NULL : &e->slots[index];
    struct wick_xnn_slot again;
    if (!slot || !slot->is_dynamic || !slot->defined || slot->rows == WICK_XNN_NO_ID)
        return wick_xnn_refuse(e, WICK_INVALID_PROGRAM, "its input is not quantized by a Convert before it");
    if (slot->nonbatch_dims != nonbatch) {
        /* Products group parameters as they need them, whatever the Convert said. */
        again = wick_xnn_internal(WICK_DTYPE_I8);
        again.nonbatch_dims = nonbatch;
        WICK_TRY(wick_xnn_add_quantize(e, slot->source, &again));
        slot = &again;
    }
    *values = slot->id;
    *rows = slot->rows;
    return WICK_OK;
}
