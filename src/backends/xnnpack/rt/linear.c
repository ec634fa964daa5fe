/* xnnpack/rt/linear.c - fully connected nodes: columns are split over threads, each thread streams its own part of the
 * packed weights. Rows that are stored as halves or static bytes pass through the kernels' types in temporary memory. */
#include "backends/xnnpack/rt/linear.h"

#include "backends/xnnpack/rt/sizes.h"

/* MULTIPLY_GRAIN: multiply-adds a task should at least have. ROWS_BYTES: rows of A that a task takes at a time, so that
 * they stay in the core's second-level cache while its columns pass. */
enum { MULTIPLY_GRAIN = 64 * 1024, ROWS_BYTES = 128 * 1024, TRANSFER_GRAIN = 16 * 1024 };

/* ---- packing and multiplying ---- */

static size_t blocks_of(const struct wick_gemm *gemm, size_t n) { return (n + gemm->nr - 1) / gemm->nr; }

struct packing {
    const struct wick_gemm *gemm;
    const struct wick_gemm_weights *w;
    void *packed;
    size_t first; /* block */
};

static void pack_blocks(void *user, size_t begin, size_t end, unsigned thread)
{
    (void)thread;
    const struct packing *p = user;
    p->gemm->pack(p->w, (p->first + begin) * p->gemm->nr, WICK_MIN((p->first + end) * p->gemm->nr, p->w->n), p->packed);
}

void wick_xnn_pack(const struct wick_gemm *gemm, const struct wick_gemm_weights *w, size_t row_bytes, void *packed, const struct wick_bind *bind)
{
    enum { PIECE = 4 << 20 };
    size_t blocks = blocks_of(gemm, w->n), step = w->transposed ? blocks : WICK_MAX(PIECE / (row_bytes * gemm->nr + 1), (size_t)1);
    struct packing p = {gemm, w, packed, 0};
    for (; p.first < blocks; p.first += step) {
        size_t count = WICK_MIN(step, blocks - p.first), from = p.first * gemm->nr;
        wick_xnn_ranges(bind->pool, count, MULTIPLY_GRAIN / (gemm->nr * w->k + 1) + 1, pack_blocks, &p);
        /* The rows that were read are not needed again. */
        if (!w->transposed)
            wick_bind_copied(bind, (const char *)w->w + from * row_bytes, (WICK_MIN(from + count * gemm->nr, w->n) - from) * row_bytes);
    }
}

struct product {
    const struct wick_gemm *gemm;
    const struct wick_gemm_call *call;
    size_t rows; /* at a time */
};

static void multiply_blocks(void *user, size_t begin, size_t end, unsigned thread)
{
    (void)thread;
    const struct product *p = user;
    size_t n0 = begin * p->gemm->nr, n1 = WICK_MIN(end * p->gemm->nr, p->call->n), element = p->call->params ? 1 : sizeof(float);
    for (size_t m = 0; m < p->call->m; m += p->rows) {
        struct wick_gemm_call part = *p->call;
        part.m = WICK_MIN(p->rows, p->call->m - m);
        part.a = (const char *)p->call->a + m * p->call->a_stride * element;
        if (part.params) part.params += m;
        part.c += m * p->call->c_stride;
        p->gemm->run(&part, n0, n1);
    }
}

void wick_xnn_multiply(const struct wick_gemm *gemm, const struct wick_gemm_call *call, struct wick_pool *pool)
{
    size_t row_bytes = call->k * (call->params ? 1 : sizeof(float)), rows = ROWS_BYTES / (row_bytes + 1);
    struct product p = {gemm, call, WICK_MAX(rows / 8 * 8, (size_t)8)};
    wick_xnn_ranges(pool, blocks_of(gemm, call->n), MULTIPLY_GRAIN / (gemm->nr * call->k * call->m + 1) + 1, multiply_blocks, &p);
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

static wick_status infer_plain(const struct wick_args *args, struct wick_shape *outs, wick_error *err) { return infer_linear(args, 1, outs, err); }
static wick_status infer_dynamic(const struct wick_args *args, struct wick_shape *outs, wick_error *err) { return infer_linear(args, 2, outs, err); }

/* ---- rows in and out ---- */

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

void wick_xnn_to_unsigned(const int8_t *from, uint8_t *to, size_t count)
{
    for (size_t i = 0; i < count; i++) to[i] = (uint8_t)((uint8_t)from[i] ^ 0x80);
}

static void *take_temp(struct wick_run *run, size_t count, size_t element)
{
    void *memory = wick_arena_array(run->temp, count, element, 64);
    if (!memory) wick_fail_oom(run->err, count * element, "xnn::fully_connected");
    return memory;
}

/* The product of rows that are as the kernel takes them. */
static wick_status run_rows(const struct wick_xnn_linear *s, struct wick_gemm_call *call, const struct wick_tensor *y, struct wick_run *run)
{
    size_t count = call->m * s->n;
    bool floats = s->y.dtype == WICK_DTYPE_F32;
    call->c = floats ? y->data : take_temp(run, count, sizeof(float));
    if (!call->c) return WICK_OUT_OF_MEMORY;
    call->n = s->n, call->k = s->k, call->group = s->group;
    call->a_stride = s->k, call->c_stride = s->n;
    call->packed = s->packed;
    call->min = s->min, call->max = s->max;
    wick_xnn_multiply(&s->gemm, call, run->pool);
    if (floats) return WICK_OK;
    struct transfer t = {run->ukernels, s->y, call->c, y->data};
    wick_xnn_ranges(run->pool, count, TRANSFER_GRAIN, store_range, &t);
    return WICK_OK;
}

static wick_status run_float(const struct wick_args *args, const void *state, struct wick_run *run)
{
    const struct wick_xnn_linear *s = state;
    const struct wick_tensor *x = wick_arg_tensor(args, 0);
    size_t count = wick_tensor_numel(x);
    struct wick_gemm_call call = {.m = count / s->k, .a = x->data};
    if (count == 0) return WICK_OK;
    if (s->x.dtype != WICK_DTYPE_F32) {
        float *rows = take_temp(run, count, sizeof(float));
        if (!rows) return WICK_OUT_OF_MEMORY;
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
    struct wick_gemm_call call = {.m = count / s->k, .a = a->data, .params = rows->data};
    if (count == 0) return WICK_OK;
    if (wick_tensor_nbytes(rows) != call.m * sizeof *call.params)
        return wick_fail(run->err, WICK_INVALID_PROGRAM, "xnn::fully_connected: %zu bytes of parameters for %zu rows", wick_tensor_nbytes(rows),
                         call.m);
    return run_rows(s, &call, wick_arg_tensor(args, 3), run);
}

/* All rows share the zero point; what 1 is in the result is folded into the weights' scales. */
static wick_status run_static(const struct wick_args *args, const void *state, struct wick_run *run)
{
    const struct wick_xnn_linear *s = state;
    const struct wick_tensor *x = wick_arg_tensor(args, 0);
    size_t count = wick_tensor_numel(x), m = count / s->k;
    if (count == 0) return WICK_OK;
    bool is_signed = s->x.dtype == WICK_DTYPE_I8;
    struct wick_qd8_params *params = take_temp(run, m, sizeof *params);
    uint8_t *bytes = is_signed ? take_temp(run, count, 1) : x->data;
    if (!params || !bytes) return WICK_OUT_OF_MEMORY;
    for (size_t i = 0; i < m; i++) params[i] = (struct wick_qd8_params){1.0f, s->x.zero_point + (is_signed ? 128 : 0)};
    if (is_signed) wick_xnn_to_unsigned(x->data, bytes, count);
    struct wick_gemm_call call = {.m = m, .a = bytes, .params = params};
    return run_rows(s, &call, wick_arg_tensor(args, 2), run);
}

static void count_linear(const struct wick_args *args, const void *state, struct wick_work *work)
{
    const struct wick_xnn_linear *s = state;
    work->multiply_adds = wick_tensor_numel(wick_arg_tensor(args, 0)) * s->n;
    work->bytes = s->gemm.packed_size(s->n, s->k, s->group);
}

static const struct wick_opmeta float_meta = {"xnn::fully_connected", "TT>T", WICK_ALIAS_NONE, infer_plain};
static const struct wick_opmeta dynamic_meta = {"xnn::dynamic_fully_connected", "TTT>T", WICK_ALIAS_NONE, infer_dynamic};
static const struct wick_opmeta static_meta = {"xnn::static_fully_connected", "TT>T", WICK_ALIAS_NONE, infer_plain};
const struct wick_op wick_xnn_op_fully_connected = {.meta = &float_meta, .run = run_float, .work = count_linear};
const struct wick_op wick_xnn_op_dynamic_fully_connected = {.meta = &dynamic_meta, .run = run_dynamic, .work = count_linear};
const struct wick_op wick_xnn_op_static_fully_connected = {.meta = &static_meta, .run = run_static, .work = count_linear};
