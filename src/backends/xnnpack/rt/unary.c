/* xnnpack/rt/unary.c - elementwise nodes of one input, Clamp and Convert among them: each is a float32 kernel between
 * the two lanes of lane.h. Work is split over threads by ranges of elements. */
#include "backends/xnnpack/rt/sizes.h"
#include "backends/xnnpack/rt/expand.h"
#include "backends/xnnpack/rt/ops.h"
#include "ukernel/ukernels.h"

#include <math.h>

enum { UNARY_GRAIN = 8 * 1024 }; /* elements a task should at least have */

/* n elements; y may be x. */
typedef void (*map_fn)(const struct wick_ukernels *uk, size_t n, const float *x, float *y, const struct wick_xnn_unary *p);

struct mapping {
    const struct wick_ukernels *uk;
    const struct wick_xnn_unary *p;
    struct wick_xnn_lane lane_x, lane_y;
    const void *x;
    void *y;
    map_fn map;
};

static void map_range(void *user, size_t begin, size_t end, unsigned thread)
{
    (void)thread;
    const struct mapping *m = user;
    bool floats = m->lane_x.dtype == WICK_DTYPE_F32 && m->lane_y.dtype == WICK_DTYPE_F32;
    if (floats) {
        m->map(m->uk, end - begin, (const float *)m->x + begin, (float *)m->y + begin, m->p);
        return;
    }
    float block[WICK_XNN_BLOCK];
    for (size_t i = begin; i < end; i += WICK_XNN_BLOCK) {
        size_t n = WICK_MIN(end - i, (size_t)WICK_XNN_BLOCK);
        wick_xnn_lane_load(&m->lane_x, m->uk, m->x, i, n, block);
        m->map(m->uk, n, block, block, m->p);
        wick_xnn_lane_store(&m->lane_y, m->uk, m->y, i, n, block);
    }
}

static wick_status run_map(const struct wick_args *args, const void *state, struct wick_run *run, map_fn map)
{
    const struct wick_xnn_unary *p = state;
    const struct wick_tensor *x = wick_arg_tensor(args, 0), *y = wick_arg_tensor(args, 1);
    struct mapping m = {.uk = run->ukernels, .p = p, .x = x->data, .y = y->data, .map = map};
    m.lane_x = p ? p->x : wick_xnn_lane_of(x->shape.dtype);
    m.lane_y = p ? p->y : wick_xnn_lane_of(y->shape.dtype);
    wick_xnn_ranges(run->pool, wick_tensor_numel(y), UNARY_GRAIN, map_range, &m);
    return WICK_OK;
}

static wick_status infer_same(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    struct wick_xnn_sizes d = wick_xnn_sizes_of(wick_arg_tensor(args, 0));
    return wick_xnn_sizes_out(args, 1, &d, outs, "elementwise node", err);
}

/* ---- the kernels ---- */

#define MAP(name, expression)                                                                                                  \
    static void map_##name(const struct wick_ukernels *uk, size_t n, const float *x, float *y, const struct wick_xnn_unary *p) \
    {                                                                                                                          \
        (void)uk;                                                                                                              \
        (void)p;                                                                                                               \
        for (size_t i = 0; i < n; i++) {                                                                                       \
            float v = x[i];                                                                                                    \
            y[i] = (expression);                                                                                               \
        }                                                                                                                      \
    }

#define UKERNEL_MAP(name, kernel)                                                                                              \
    static void map_##name(const struct wick_ukernels *uk, size_t n, const float *x, float *y, const struct wick_xnn_unary *p) \
    {                                                                                                                          \
        (void)p;                                                                                                               \
        uk->kernel(n, x, y);                                                                                                   \
    }

static void map_convert(const struct wick_ukernels *uk, size_t n, const float *x, float *y, const struct wick_xnn_unary *p)
{
    (void)uk;
    (void)p;
    if (x != y) memcpy(y, x, n * sizeof *y);
}

static void map_clamp(const struct wick_ukernels *uk, size_t n, const float *x, float *y, const struct wick_xnn_unary *p)
{
    uk->clamp(n, x, p->a, p->b, y);
}

static inline float relu6(float v) { return v < 0 ? 0 : v > 6 ? 6 : v; }

UKERNEL_MAP(abs, abs)
MAP(ceiling, ceilf(v))
MAP(cos, cosf(v))
MAP(elu, v < 0 ? p->a * expm1f(v) : v)
UKERNEL_MAP(exp, exp)
MAP(floor, floorf(v))
UKERNEL_MAP(gelu, gelu)
MAP(hardswish, v *relu6(v + 3.0f) * (1.0f / 6.0f))
MAP(leaky_relu, v < 0 ? v * p->a : v)
MAP(log, logf(v))
UKERNEL_MAP(negate, neg)
UKERNEL_MAP(reciprocal_square_root, rsqrt)
UKERNEL_MAP(sigmoid, sigmoid)
MAP(sin, sinf(v))
UKERNEL_MAP(square, square)
UKERNEL_MAP(square_root, sqrt)
UKERNEL_MAP(tanh, tanh)

/* Convert changes the size of elements, so that its result cannot lie on its input. */
#define ALIAS_convert WICK_ALIAS_NONE
#define UNARY_OP(name)                                                                                    \
    static wick_status run_##name(const struct wick_args *args, const void *state, struct wick_run *run)  \
    {                                                                                                     \
        return run_map(args, state, run, map_##name);                                                     \
    }                                                                                                     \
    static const struct wick_opmeta name##_meta = {"xnn::" #name, "T>T", WICK_ALIAS_INPLACE, infer_same}; \
    const struct wick_op wick_xnn_op_##name = {.meta = &name##_meta, .run = run_##name};
WICK_XNN_UNARY_LIST(UNARY_OP)

/* Convert changes the size of elements, so that its result cannot lie on its input. */
static wick_status run_convert(const struct wick_args *args, const void *state, struct wick_run *run)
{
    return run_map(args, state, run, map_convert);
}
static const struct wick_opmeta convert_meta = {"xnn::convert", "T>T", WICK_ALIAS_NONE, infer_same};
const struct wick_op wick_xnn_op_convert = {.meta = &convert_meta, .run = run_convert};
