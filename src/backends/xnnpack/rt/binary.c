/* xnnpack/rt/binary.c - elementwise nodes of two inputs with numpy broadcasting: Add, Subtract, Multiply, Divide,
 * Minimum, Maximum, PReLU. Each is a float32 kernel between lanes (lane.h); the result is clamped where the node says.
 *
 * Neighbouring dims that both inputs walk alike are joined, so that kernels see long runs of a vector with a vector or
 * with one number. */
#include "backends/xnnpack/rt/sizes.h"
#include "backends/xnnpack/rt/expand.h"
#include "backends/xnnpack/rt/ops.h"
#include "ukernel/ukernels.h"

enum { BINARY_GRAIN = 8 * 1024 }; /* elements a task should at least have */

/* y[i] = a[i * sa] op b[i * sb] with sa, sb 0 or 1, not both 0; y may be a. */
typedef void (*pair_fn)(const struct wick_ukernels *uk, size_t n, const float *a, size_t sa, const float *b, size_t sb, float *y);

struct pairing {
    const struct wick_ukernels *uk;
    struct wick_xnn_lane lane_a, lane_b, lane_y;
    bool clamped, floats;
    float min, max;
    const void *a, *b;
    void *y;
    pair_fn pair;
    /* Joined dims of y, outermost first, and how far a step moves in a and b (0: broadcast). */
    int rank;
    size_t size[WICK_RANK_MAX], sa[WICK_RANK_MAX], sb[WICK_RANK_MAX];
};

/* Steps of x along the dims of y: x is aligned at the last dim and its dims of size 1 do not move. */
static void steps(const struct wick_xnn_sizes *x, const struct wick_xnn_sizes *y, size_t *step)
{
    size_t stride = 1;
    for (int i = y->rank - 1; i >= 0; i--) {
        int k = i - (y->rank - x->rank);
        step[i] = k < 0 || x->size[k] == 1 ? 0 : stride;
        if (k >= 0) stride *= (size_t)x->size[k];
    }
}

static void join_dims(struct pairing *p, const struct wick_xnn_sizes *a, const struct wick_xnn_sizes *b, const struct wick_xnn_sizes *y)
{
    size_t sa[WICK_RANK_MAX], sb[WICK_RANK_MAX];
    steps(a, y, sa);
    steps(b, y, sb);
    int rank = 0;
    for (int i = 0; i < y->rank; i++) {
        size_t n = (size_t)y->size[i];
        if (n == 1) continue;
        if (rank > 0 && p->sa[rank - 1] == sa[i] * n && p->sb[rank - 1] == sb[i] * n) rank--, n *= p->size[rank];
        p->size[rank] = n;
        p->sa[rank] = sa[i];
        p->sb[rank++] = sb[i];
    }
    if (rank == 0) {
        p->size[0] = 1;
        p->sa[0] = p->sb[0] = 1;
        rank = 1;
    }
    p->rank = rank;
}

/* One run of n elements: y from `to`, a from `ia`, b from `ib`. */
static void pair_run(const struct pairing *p, size_t to, size_t ia, size_t ib, size_t n)
{
    size_t sa = p->sa[p->rank - 1], sb = p->sb[p->rank - 1];
    if (p->floats) {
        float *y = (float *)p->y + to;
        p->pair(p->uk, n, (const float *)p->a + ia, sa, (const float *)p->b + ib, sb, y);
        if (p->clamped) p->uk->clamp(n, y, p->min, p->max, y);
        return;
    }
    float a[WICK_XNN_BLOCK], b[WICK_XNN_BLOCK];
    for (size_t i = 0; i < n; i += WICK_XNN_BLOCK) {
        size_t m = WICK_MIN(n - i, (size_t)WICK_XNN_BLOCK);
        wick_xnn_lane_load(&p->lane_a, p->uk, p->a, ia + i * sa, sa ? m : 1, a);
        wick_xnn_lane_load(&p->lane_b, p->uk, p->b, ib + i * sb, sb ? m : 1, b);
        p->pair(p->uk, m, a, sa, b, sb, a);
        if (p->clamped) p->uk->clamp(m, a, p->min, p->max, a);
        wick_xnn_lane_store(&p->lane_y, p->uk, p->y, to + i, m, a);
    }
}

static void pair_range(void *user, size_t begin, size_t end, unsigned thread)
{
    (void)thread;
    const struct pairing *p = user;
    size_t inner = p->size[p->rank - 1];
    for (size_t pos = begin; pos < end;) {
        size_t in_run = pos % inner, rest = pos / inner, n = WICK_MIN(inner - in_run, end - pos);
        size_t ia = in_run * p->sa[p->rank - 1], ib = in_run * p->sb[p->rank - 1];
        for (int i = p->rank - 2; i >= 0; i--) {
            size_t index = rest % p->size[i];
            rest /= p->size[i];
            ia += index * p->sa[i];
            ib += index * p->sb[i];
        }
        pair_run(p, pos, ia, ib, n);
        pos += n;
    }
}

/* An input whose place y was given, and which is broadcast this time, would be overwritten while it is still read. */
static wick_status keep(const void **data, const struct wick_tensor *x, const struct wick_tensor *y, struct wick_run *run)
{
    if (x->data != y->data || wick_tensor_numel(x) == wick_tensor_numel(y)) return WICK_OK;
    void *copy = wick_arena_alloc(run->temp, wick_tensor_nbytes(x), 64);
    if (!copy) return wick_fail_oom(run->err, wick_tensor_nbytes(x), "xnn: broadcast input");
    memcpy(copy, x->data, wick_tensor_nbytes(x));
    *data = copy;
    return WICK_OK;
}

static wick_status run_pair(const struct wick_args *args, const void *state, struct wick_run *run, pair_fn pair)
{
    const struct wick_xnn_binary *s = state;
    const struct wick_tensor *a = wick_arg_tensor(args, 0), *b = wick_arg_tensor(args, 1), *y = wick_arg_tensor(args, 2);
    struct wick_xnn_sizes da = wick_xnn_sizes_of(a), db = wick_xnn_sizes_of(b), dy = wick_xnn_sizes_of(y);
    struct pairing p = {.uk = run->ukernels, .a = a->data, .b = b->data, .y = y->data, .pair = pair};
    p.lane_a = s ? s->a : wick_xnn_lane_of(a->shape.dtype);
    p.lane_b = s ? s->b : wick_xnn_lane_of(b->shape.dtype);
    p.lane_y = s ? s->y : wick_xnn_lane_of(y->shape.dtype);
    if (s) p.clamped = s->clamped, p.min = s->min, p.max = s->max;
    p.floats = p.lane_a.dtype == WICK_DTYPE_F32 && p.lane_b.dtype == WICK_DTYPE_F32 && p.lane_y.dtype == WICK_DTYPE_F32;
    size_t count = wick_xnn_sizes_numel(&dy);
    if (count == 0) return WICK_OK;
    WICK_TRY(keep(&p.a, a, y, run));
    WICK_TRY(keep(&p.b, b, y, run));
    join_dims(&p, &da, &db, &dy);
    wick_xnn_ranges(run->pool, count, BINARY_GRAIN, pair_range, &p);
    return WICK_OK;
}

static wick_status infer_pair(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    struct wick_xnn_sizes a = wick_xnn_sizes_of(wick_arg_tensor(args, 0)), b = wick_xnn_sizes_of(wick_arg_tensor(args, 1)), y = {0};
    y.rank = WICK_MAX(a.rank, b.rank);
    for (int i = 0; i < y.rank; i++) {
        int ka = i - (y.rank - a.rank), kb = i - (y.rank - b.rank);
        int64_t na = ka < 0 ? 1 : a.size[ka], nb = kb < 0 ? 1 : b.size[kb];
        if (na != nb && na != 1 && nb != 1) {
            char ta[128], tb[128];
            wick_xnn_sizes_text(&a, ta);
            wick_xnn_sizes_text(&b, tb);
            return wick_fail(err, WICK_INVALID_PROGRAM, "elementwise node: sizes %s and %s do not broadcast", ta, tb);
        }
        y.size[i] = na == 1 ? nb : na;
    }
    return wick_xnn_sizes_out(args, 2, &y, outs, "elementwise node", err);
}

/* ---- the kernels ---- */

/* Vectors of one length go to the micro-kernel `vectors`; a number with a vector is a loop here. x: an element of a, w: of b. */
#define PAIR(name, vectors, expression)                                                                                               \
    static void pair_##name(const struct wick_ukernels *uk, size_t n, const float *a, size_t sa, const float *b, size_t sb, float *y) \
    {                                                                                                                                 \
        const float x0 = a[0], w0 = b[0];                                                                                             \
        if (sa && sb) vectors;                                                                                                        \
        else if (sa)                                                                                                                  \
            for (size_t i = 0; i < n; i++) {                                                                                          \
                const float x = a[i], w = w0;                                                                                         \
                y[i] = (expression);                                                                                                  \
            }                                                                                                                         \
        else                                                                                                                          \
            for (size_t i = 0; i < n; i++) {                                                                                          \
                const float x = x0, w = b[i];                                                                                         \
                y[i] = (expression);                                                                                                  \
            }                                                                                                                         \
    }

static void prelu_vectors(size_t n, const float *a, const float *b, float *y)
{
    for (size_t i = 0; i < n; i++) y[i] = a[i] < 0 ? a[i] * b[i] : a[i];
}

PAIR(add, uk->add(n, a, b, y), x + w)
PAIR(subtract, uk->sub(n, a, b, y), x - w)
PAIR(multiply, uk->mul(n, a, b, y), x *w)
PAIR(divide, uk->div(n, a, b, y), x / w)
PAIR(minimum, uk->min(n, a, b, y), x < w ? x : w)
PAIR(maximum, uk->max(n, a, b, y), x > w ? x : w)
PAIR(prelu, ((void)uk, prelu_vectors(n, a, b, y)), x < 0 ? x * w : x)

#define BINARY_OP(name)                                                                                    \
    static wick_status run_##name(const struct wick_args *args, const void *state, struct wick_run *run)   \
    {                                                                                                      \
        return run_pair(args, state, run, pair_##name);                                                    \
    }                                                                                                      \
    static const struct wick_opmeta name##_meta = {"xnn::" #name, "TT>T", WICK_ALIAS_INPLACE, infer_pair}; \
    const struct wick_op wick_xnn_op_##name = {.meta = &name##_meta, .run = run_##name};
WICK_XNN_BINARY_LIST(BINARY_OP)
