/* xnnpack/rt/linear.c - fully connected nodes: columns are split over threads, each thread streams its own part of the packed weights. */
#include "backends/xnnpack/rt/linear.h"

#include "backends/xnnpack/rt/ops.h"
#include "backends/xnnpack/rt/sizes.h"

enum { LINEAR_GRAIN = 64 * 1024 }; /* multiply-adds a task should at least have */

/* ---- packing ---- */

struct packing {
    const struct wick_gemm *gemm;
    const struct wick_gemm_weights *w;
    void *packed;
};

static void pack_blocks(void *user, size_t begin, size_t end, unsigned thread)
{
    (void)thread;
    const struct packing *p = user;
    p->gemm->pack(p->w, begin * p->gemm->nr, WICK_MIN(end * p->gemm->nr, p->w->n), p->packed);
}

wick_status wick_xnn_pack_linear(const struct wick_gemm *gemm, const struct wick_gemm_weights *w, struct wick_bind *bind, const void **packed)
{
    size_t bytes = gemm->packed_size(w->n, w->k, w->group);
    struct packing p = {gemm, w, wick_arena_alloc(bind->arena, bytes, 64)};
    if (!p.packed) return wick_fail_oom(bind->err, bytes, "packed weights");
    wick_xnn_ranges(bind->pool, (w->n + gemm->nr - 1) / gemm->nr, 1, pack_blocks, &p);
    *packed = p.packed;
    return WICK_OK;
}

/* ---- shapes ---- */

static wick_status infer_linear(const struct wick_args *args, uint32_t k_params, struct wick_shape *outs, wick_error *err)
{
    struct wick_xnn_sizes d = wick_xnn_sizes_of(wick_arg_tensor(args, 0));
    const int32_t *p = wick_arg_tensor(args, k_params)->data;
    if (d.rank < 1 || d.size[d.rank - 1] != p[1]) {
        char text[128];
        wick_xnn_sizes_text(&d, text);
        return wick_fail(err, WICK_INVALID_PROGRAM, "xnn::fully_connected: rows of %s for a filter of %d columns", text, (int)p[1]);
    }
    d.size[d.rank - 1] = p[0];
    return wick_xnn_sizes_out(args, k_params + 1, &d, outs, "xnn::fully_connected", err);
}

static wick_status infer_float(const struct wick_args *args, struct wick_shape *outs, wick_error *err) { return infer_linear(args, 1, outs, err); }
static wick_status infer_dynamic(const struct wick_args *args, struct wick_shape *outs, wick_error *err) { return infer_linear(args, 2, outs, err); }

/* ---- running ---- */

struct product {
    const struct wick_gemm *gemm;
    struct wick_gemm_call call;
};

static void run_blocks(void *user, size_t begin, size_t end, unsigned thread)
{
    (void)thread;
    const struct product *p = user;
    p->gemm->run(&p->call, begin * p->gemm->nr, WICK_MIN(end * p->gemm->nr, p->call.n));
}

static void multiply(const struct wick_xnn_linear *s, const struct wick_gemm_call *call, struct wick_pool *pool)
{
    struct product p = {&s->gemm, *call};
    size_t block = s->gemm.nr * s->k * call->m;
    wick_xnn_ranges(pool, (s->n + s->gemm.nr - 1) / s->gemm.nr, LINEAR_GRAIN / (block + 1) + 1, run_blocks, &p);
}

struct transfer {
    const struct wick_ukernels *uk;
    struct wick_xnn_lane lane;
    const void *from;
    void *to;
};

static void load_range(void *user, size_t begin, size_t end, unsigned thread)
{
    (void)thread;
    const struct transfer *t = user;
    wick_xnn_lane_load(&t->lane, t->uk, t->from, begin, end - begin, (float *)t->to + begin);
}

static void store_range(void *user, size_t begin, size_t end, unsigned thread)
{
    (void)thread;
    const struct transfer *t = user;
    wick_xnn_lane_store(&t->lane, t->uk, t->to, begin, end - begin, (const float *)t->from + begin);
}

enum { TRANSFER_GRAIN = 16 * 1024 };

/* Rows that are stored as halves pass through float32. */
static wick_status run_rows(const struct wick_xnn_linear *s, struct wick_gemm_call *call, const struct wick_tensor *y, struct wick_run *run)
{
    float *out = y->data;
    size_t count = call->m * s->n;
    if (s->y.dtype != WICK_DTYPE_F32) {
        out = wick_arena_array(run->temp, count, sizeof(float), 64);
        if (!out) return wick_fail_oom(run->err, count * sizeof(float), "xnn::fully_connected");
    }
    call->c = out;
    call->c_stride = s->n;
    call->n = s->n, call->k = s->k, call->group = s->group;
    call->packed = s->packed;
    call->min = s->min, call->max = s->max;
    multiply(s, call, run->pool);
    if (s->y.dtype == WICK_DTYPE_F32) return WICK_OK;
    struct transfer t = {run->ukernels, s->y, out, y->data};
    wick_xnn_ranges(run->pool, count, TRANSFER_GRAIN, store_range, &t);
    return WICK_OK;
}

static wick_status run_float(const struct wick_args *args, const void *state, struct wick_run *run)
{
    const struct wick_xnn_linear *s = state;
    const struct wick_tensor *x = wick_arg_tensor(args, 0);
    size_t count = wick_tensor_numel(x);
    struct wick_gemm_call call = {.m = s->k ? count / s->k : 0, .a = x->data, .a_stride = s->k};
    if (count == 0) return WICK_OK;
    if (s->x.dtype != WICK_DTYPE_F32) {
        float *rows = wick_arena_array(run->temp, count, sizeof(float), 64);
        if (!rows) return wick_fail_oom(run->err, count * sizeof(float), "xnn::fully_connected");
        struct transfer t = {run->ukernels, s->x, x->data, rows};
        wick_xnn_ranges(run->pool, count, TRANSFER_GRAIN, load_range, &t);
        call.a = rows;
    }
    return run_rows(s, &call, wick_arg_tensor(args, 2), run);
}

static wick_status run_dynamic(const struct wick_args *args, const void *state, struct wick_run *run)
{
    const struct wick_xnn_linear *s = state;
    const struct wick_tensor *a = wick_arg_tensor(args, 0), *rows = wick_arg_tensor(args, 1);
    size_t count = wick_tensor_numel(a);
    struct wick_gemm_call call = {.m = s->k ? count / s->k : 0, .a = a->data, .a_stride = s->k, .params = rows->data};
    if (count == 0) return WICK_OK;
    if (wick_tensor_numel(rows) != 2 * call.m) return wick_fail(run->err, WICK_INVALID_PROGRAM, "xnn::fully_connected: parameters for %zu rows, not %zu", wick_tensor_numel(rows) / 2, call.m);
    return run_rows(s, &call, wick_arg_tensor(args, 3), run);
}

static const struct wick_opmeta float_meta = {"xnn::fully_connected", "TT>T", WICK_ALIAS_NONE, infer_float};
static const struct wick_opmeta dynamic_meta = {"xnn::dynamic_fully_connected", "TTT>T", WICK_ALIAS_NONE, infer_dynamic};
const struct wick_op wick_xnn_op_fully_connected = {.meta = &float_meta, .run = run_float};
const struct wick_op wick_xnn_op_dynamic_fully_connected = {.meta = &dynamic_meta, .run = run_dynamic};
