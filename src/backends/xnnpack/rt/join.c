/* xnnpack/rt/join.c - nodes whose result is larger than an input: Concatenate2..5 and StaticConstantPad.
 *
 * Both copy contiguous runs of an input to strided places of the result. Prescribed sizes arrive as a constant I32
 * tensor after the data arguments, so that the shape rule sees them. */
#include "backends/xnnpack/rt/sizes.h"
#include "backends/xnnpack/rt/expand.h"
#include "backends/xnnpack/rt/ops.h"

enum { JOIN_GRAIN = 16 * 1024 }; /* bytes a task should at least move */

static const int32_t *params_of(const struct wick_args *args, uint32_t k) { return wick_arg_tensor(args, k)->data; }

/* ---- ConcatenateN: (x0, .., x[n-1], axis) > y ---- */

static wick_status infer_concat(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    uint32_t n = args->count - 2;
    int32_t axis = params_of(args, n)[0];
    struct wick_xnn_sizes y = wick_xnn_sizes_of(wick_arg_tensor(args, 0));
    if (axis < 0 || axis >= y.rank) return wick_fail(err, WICK_INVALID_PROGRAM, "xnn::concatenate: axis %d of rank %d", (int)axis, y.rank);
    for (uint32_t k = 1; k < n; k++) {
        struct wick_xnn_sizes x = wick_xnn_sizes_of(wick_arg_tensor(args, k));
        bool fits = x.rank == y.rank;
        for (int i = 0; fits && i < x.rank; i++) fits = i == axis || x.size[i] == y.size[i];
        if (!fits) {
            char a[128], b[128];
            wick_xnn_sizes_text(&y, a);
            wick_xnn_sizes_text(&x, b);
            return wick_fail(err, WICK_INVALID_PROGRAM, "xnn::concatenate: input %u is %s beside %s, joined along dim %d", k, b, a, (int)axis);
        }
        y.size[axis] += x.size[axis];
    }
    return wick_xnn_sizes_out(args, n + 1, &y, outs, "xnn::concatenate", err);
}

struct joining {
    char *to;
    const char *from;
    size_t run, pitch; /* bytes: of an input's run, between runs of the result */
};

static void join_runs(void *user, size_t begin, size_t end, unsigned thread)
{
    (void)thread;
    const struct joining *j = user;
    for (size_t i = begin; i < end; i++) memcpy(j->to + i * j->pitch, j->from + i * j->run, j->run);
}

static wick_status run_concat(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    uint32_t n = args->count - 2;
    int32_t axis = params_of(args, n)[0];
    const struct wick_tensor *y = wick_arg_tensor(args, n + 1);
    struct wick_xnn_sizes out = wick_xnn_sizes_of(y);
    size_t outer = wick_xnn_sizes_product(&out, 0, axis), element = wick_dtype_size(y->shape.dtype);
    size_t pitch = wick_xnn_sizes_product(&out, axis, out.rank) * element, offset = 0;
    for (uint32_t k = 0; k < n; k++) {
        const struct wick_tensor *x = wick_arg_tensor(args, k);
        struct wick_xnn_sizes in = wick_xnn_sizes_of(x);
        struct joining j = {(char *)y->data + offset, x->data, wick_xnn_sizes_product(&in, axis, in.rank) * element, pitch};
        if (j.run == 0) continue;
        wick_xnn_ranges(run->pool, outer, JOIN_GRAIN / j.run + 1, join_runs, &j);
        offset += j.run;
    }
    return WICK_OK;
}

#define CONCATENATE(n, signature)                                                                                              \
    static const struct wick_opmeta concatenate##n##_meta = {"xnn::concatenate" #n, signature, WICK_ALIAS_NONE, infer_concat}; \
    const struct wick_op wick_xnn_op_concatenate##n = {.meta = &concatenate##n##_meta, .run = run_concat};
CONCATENATE(2, "TTT>T")
CONCATENATE(3, "TTTT>T")
CONCATENATE(4, "TTTTT>T")
CONCATENATE(5, "TTTTTT>T")

/* ---- StaticConstantPad: (x, pre then post) > y; state: wick_xnn_pad ---- */

static wick_status infer_pad(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    struct wick_xnn_sizes y = wick_xnn_sizes_of(wick_arg_tensor(args, 0));
    const int32_t *pads = params_of(args, 1);
    int count = wick_arg_tensor(args, 1)->shape.sizes[0] / 2;
    if (count != y.rank) return wick_fail(err, WICK_INVALID_PROGRAM, "xnn::static_constant_pad: paddings of %d dims on rank %d", count, y.rank);
    for (int i = 0; i < count; i++) {
        if (pads[i] < 0 || pads[count + i] < 0)
            return wick_fail(err, WICK_INVALID_PROGRAM, "xnn::static_constant_pad: padding %d of dim %d", (int)WICK_MIN(pads[i], pads[count + i]), i);
        y.size[i] += (int64_t)pads[i] + pads[count + i];
    }
    return wick_xnn_sizes_out(args, 2, &y, outs, "xnn::static_constant_pad", err);
}

static void fill(char *to, size_t count, size_t element, uint32_t bits)
{
    if (element == 4) {
        for (size_t i = 0; i < count; i++) memcpy(to + 4 * i, &bits, 4);
    } else if (element == 2) {
        uint16_t half = (uint16_t)bits;
        for (size_t i = 0; i < count; i++) memcpy(to + 2 * i, &half, 2);
    } else memset(to, (int)(bits & 0xff), count);
}

static wick_status run_pad(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)run;
    const struct wick_xnn_pad *pad = state;
    const struct wick_tensor *x = wick_arg_tensor(args, 0), *y = wick_arg_tensor(args, 2);
    struct wick_xnn_sizes in = wick_xnn_sizes_of(x), out = wick_xnn_sizes_of(y);
    const int32_t *pre = params_of(args, 1);
    size_t element = wick_dtype_size(y->shape.dtype);
    fill(y->data, wick_xnn_sizes_numel(&out), element, pad->bits);
    size_t run_bytes = (in.rank ? (size_t)in.size[in.rank - 1] : 1) * element, rows = wick_xnn_sizes_product(&in, 0, in.rank - 1);
    for (size_t row = 0; run_bytes > 0 && row < rows; row++) {
        /* Where row (i0, .., i[rank-2]) of x begins in y. */
        size_t rest = row, offset = in.rank ? (size_t)pre[in.rank - 1] : 0, stride = in.rank ? (size_t)out.size[out.rank - 1] : 1;
        for (int i = in.rank - 2; i >= 0; i--) {
            offset += (rest % (size_t)in.size[i] + (size_t)pre[i]) * stride;
            rest /= (size_t)in.size[i];
            stride *= (size_t)out.size[i];
        }
        memcpy((char *)y->data + offset * element, (const char *)x->data + row * run_bytes, run_bytes);
    }
    return WICK_OK;
}

static const struct wick_opmeta pad_meta = {"xnn::static_constant_pad", "TT>T", WICK_ALIAS_NONE, infer_pad};
const struct wick_op wick_xnn_op_static_constant_pad = {.meta = &pad_meta, .run = run_pad};
