/* xnnpack/rt/softmax.c - Softmax over the innermost dim. */
#include "backends/xnnpack/rt/expand.h"
#include "backends/xnnpack/rt/sizes.h"
#include "ukernel/ukernels.h"

enum { SOFTMAX_GRAIN = 4 * 1024 };

static wick_status infer_softmax(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    struct wick_xnn_sizes d = wick_xnn_sizes_of(wick_arg_tensor(args, 0));
    if (d.rank < 1) return wick_fail(err, WICK_INVALID_PROGRAM, "xnn::softmax: a number has no rows");
    return wick_xnn_sizes_out(args, 1, &d, outs, "xnn::softmax", err);
}

struct softmax {
    const struct wick_ukernels *uk;
    struct wick_xnn_lane x, y;
    const void *in;
    void *out;
    size_t n;
    float *rows; /* one a thread, for what is not f32 */
};

static void softmax_rows(void *user, size_t begin, size_t end, unsigned thread)
{
    const struct softmax *s = user;
    float *row = s->rows ? s->rows + thread * s->n : NULL;
    for (size_t r = begin; r < end; r++) {
        if (!row) {
            s->uk->softmax(s->n, (const float *)s->in + r * s->n, (float *)s->out + r * s->n);
            continue;
        }
        wick_xnn_lane_load(&s->x, s->uk, s->in, r * s->n, s->n, row);
        s->uk->softmax(s->n, row, row);
        wick_xnn_lane_store(&s->y, s->uk, s->out, r * s->n, s->n, row);
    }
}

static wick_status run_softmax(const struct wick_args *args, const void *state, struct wick_run *run)
{
    const struct wick_xnn_unary *p = state;
    const struct wick_tensor *x = wick_arg_tensor(args, 0), *y = wick_arg_tensor(args, 1);
    struct wick_xnn_sizes d = wick_xnn_sizes_of(x);
    struct softmax s = {.uk = run->ukernels,
                        .x = p ? p->x : wick_xnn_lane_of(x->shape.dtype),
                        .y = p ? p->y : wick_xnn_lane_of(y->shape.dtype),
                        .in = x->data,
                        .out = y->data,
                        .n = (size_t)d.size[d.rank - 1]};
    if (s.n == 0) return WICK_OK;
    if (s.x.dtype != WICK_DTYPE_F32 || s.y.dtype != WICK_DTYPE_F32) {
        s.rows = wick_arena_array(run->temp, wick_pool_threads(run->pool), s.n * sizeof(float), 64);
        if (!s.rows) return wick_fail_oom(run->err, s.n * sizeof(float), "xnn::softmax");
    }
    wick_xnn_ranges(run->pool, wick_xnn_sizes_product(&d, 0, d.rank - 1), SOFTMAX_GRAIN / (s.n + 1) + 1, softmax_rows, &s);
    return WICK_OK;
}

static const struct wick_opmeta softmax_meta = {"xnn::softmax", "T>T", WICK_ALIAS_NONE, infer_softmax};
const struct wick_op wick_xnn_op_softmax = {.meta = &softmax_meta, .run = run_softmax};
