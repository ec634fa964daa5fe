/* Convolutions against the definition in double, over random geometries; pools, pads and resampling against known values. */
#include "ops/call_test.h"
#include "ops/ops.h"

#include <math.h>

static struct wick_tensor *random_tensor(struct call *c, int dtype, int rank, const int32_t *sizes, const uint8_t *order, uint64_t *seed)
{
    struct wick_tensor *t = call_shape(c, dtype, rank, sizes, order);
    for (size_t i = 0; i < wick_tensor_numel(t); i++) call_set(t, i, wick_test_uniform(seed));
    return t;
}

struct geometry {
    int64_t n, in, out, groups, size[2], kernel[2], stride[2], pad[2], dilation[2], extra[2];
    bool transposed;
    int spatial;
};

/* out[n, o, y, x] by the definition; for a transposed one: the sum over all input elements that reach it. */
static double reference(const struct geometry *g, const struct wick_tensor *in, const struct wick_tensor *weight, size_t n, size_t o,
                        const int64_t *at)
{
    int64_t in_group = g->in / g->groups, out_group = g->out / g->groups, group = (int64_t)o / out_group;
    double sum = 0;
    for (int64_t c = 0; c < in_group; c++)
        for (int64_t ky = 0; ky < g->kernel[0]; ky++)
            for (int64_t kx = 0; kx < g->kernel[1]; kx++) {
                int64_t k[2] = {ky, kx}, from[2], channel = group * in_group + c;
                bool inside = true;
                for (int d = 0; d < 2; d++) {
                    int64_t reach = at[d] + (g->transposed ? g->pad[d] - k[d] * g->dilation[d] : k[d] * g->dilation[d] - g->pad[d]);
                    if (g->transposed) inside = inside && reach >= 0 && reach % g->stride[d] == 0, from[d] = reach / g->stride[d];
                    else from[d] = reach + at[d] * (g->stride[d] - 1);
                    inside = inside && from[d] >= 0 && from[d] < g->size[d];
                }
                if (!inside) continue;
                size_t w = (size_t)(((g->transposed ? channel * out_group + (int64_t)o % out_group : (int64_t)o * in_group + c) * g->kernel[0] + ky) *
                                        g->kernel[1] +
                                    kx);
                size_t i = (size_t)((((int64_t)n * g->in + channel) * g->size[0] + from[0]) * g->size[1] + from[1]);
                sum += call_get(in, i) * call_get(weight, w);
            }
    return sum;
}

static void dims_list(struct call *c, const struct geometry *g, const int64_t *values)
{
    call_ints(c, (uint32_t)g->spatial, values + 2 - g->spatial);
}

static void check_convolution(const struct geometry *g, int dtype, bool bias, bool channels_last, unsigned threads, uint64_t *seed)
{
    struct call *c = call_new();
    if (threads > 1) WICK_ASSERT_OK(wick_pool_create(&c->pool, threads, &c->err), &c->err);
    int32_t sizes[4] = {(int32_t)g->n, (int32_t)g->in, (int32_t)g->size[0], (int32_t)g->size[1]}, kernel[4];
    kernel[0] = (int32_t)(g->transposed ? g->in : g->out), kernel[1] = (int32_t)((g->transposed ? g->out : g->in) / g->groups);
    kernel[2] = (int32_t)g->kernel[0], kernel[3] = (int32_t)g->kernel[1];
    if (g->spatial == 1) sizes[2] = sizes[3], kernel[2] = kernel[3];
    const uint8_t *order = channels_last && g->spatial == 2 ? (const uint8_t[]){0, 2, 3, 1} : NULL;
    const struct wick_tensor *in = random_tensor(c, dtype, g->spatial + 2, sizes, order, seed),
                             *weight = random_tensor(c, dtype, g->spatial + 2, kernel, order, seed);
    const struct wick_tensor *offset = NULL;
    if (bias) offset = random_tensor(c, dtype, 1, CALL_SIZES((int32_t)g->out), NULL, seed);
    else call_none(c);
    dims_list(c, g, g->stride);
    dims_list(c, g, g->pad);
    dims_list(c, g, g->dilation);
    call_bool(c, g->transposed);
    dims_list(c, g, g->extra);
    call_int(c, g->groups);
    WICK_ASSERT_OK(call_run(c, &wick_op_aten_convolution_out, NULL), &c->err);
    const struct wick_tensor *out = call_out(c, 0);
    int64_t height = g->spatial == 2 ? out->shape.sizes[2] : 1, width = out->shape.sizes[g->spatial + 1], at[2];
    double tolerance = dtype == WICK_DTYPE_F64 ? 1e-12 : dtype == WICK_DTYPE_F32 ? 1e-5 : dtype == WICK_DTYPE_F16 ? 6e-3 : 5e-2;
    for (size_t n = 0; n < (size_t)g->n; n++)
        for (size_t o = 0; o < (size_t)g->out; o++)
            for (at[0] = 0; at[0] < height; at[0]++)
                for (at[1] = 0; at[1] < width; at[1]++) {
                    double want = reference(g, in, weight, n, o, at) + (offset ? call_get(offset, o) : 0);
                    double got = call_get(out, ((n * (size_t)g->out + o) * (size_t)height + (size_t)at[0]) * (size_t)width + (size_t)at[1]);
                    if (!(fabs(got - want) <= tolerance * (1 + fabs(want)))) fail_msg("type %d: %g, want %g", dtype, got, want);
                }
    wick_pool_destroy(c->pool);
    call_free(c);
}

static void convolutions(void **state)
{
    (void)state;
    static const int dtypes[] = {WICK_DTYPE_F32, WICK_DTYPE_F64, WICK_DTYPE_F16, WICK_DTYPE_BF16};
    uint64_t seed = 41;
    for (int round = 0; round < 400; round++) {
        struct geometry g = {.n = 1 + round % 2, .spatial = 1 + (round / 2) % 2, .transposed = round / 4 % 3 == 2};
        g.groups = (int64_t[]){1, 1, 2, 3}[wick_test_random(&seed) % 4];
        g.in = g.groups * (int64_t)(1 + wick_test_random(&seed) % 3), g.out = g.groups * (int64_t)(1 + wick_test_random(&seed) % 3);
        bool fits = true;
        for (int d = 0; d < 2; d++) {
            bool flat = d == 0 && g.spatial == 1;
            g.size[d] = flat ? 1 : (int64_t)(1 + wick_test_random(&seed) % 9);
            g.kernel[d] = flat ? 1 : (int64_t)(1 + wick_test_random(&seed) % 4);
            g.stride[d] = flat ? 1 : (int64_t)(1 + wick_test_random(&seed) % 3);
            g.dilation[d] = flat ? 1 : (int64_t)(1 + wick_test_random(&seed) % 2);
            g.pad[d] = flat ? 0 : (int64_t)(wick_test_random(&seed) % 3);
            g.extra[d] = g.transposed && !flat && g.stride[d] > 1 ? (int64_t)(wick_test_random(&seed) % 2) : 0;
            int64_t reach = g.dilation[d] * (g.kernel[d] - 1) + 1;
            fits = fits && (g.transposed ? (g.size[d] - 1) * g.stride[d] - 2 * g.pad[d] + reach + g.extra[d] > 0 : g.size[d] + 2 * g.pad[d] >= reach);
        }
        if (fits) check_convolution(&g, dtypes[round % 11 < 7 ? 0 : round % 4], round % 3 != 0, round % 5 == 0, round % 7 == 0 ? 3 : 1, &seed);
    }
}

/* Arguments of a call on 1 x 2 x 4 x 4 with weight 2 x 2 x 3 x 3, one of them wrong. */
static void refused(void **state)
{
    (void)state;
    static const struct {
        int64_t stride, pad, dilation, groups;
        int32_t channels;
    } cases[] = {{0, 0, 1, 1, 2}, {1, -1, 1, 1, 2}, {1, 0, 2, 1, 2},         {1, 0, 1, 2, 2},
                 {1, 0, 1, 0, 2}, {1, 0, 1, 1, 3},  {1, INT64_MAX, 1, 1, 2}, {INT64_MAX, 0, INT64_MAX, 1, 2},
                 {1, 0, 1, -1, 2}};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cases); i++) {
        struct call *c = call_new();
        call_shape(c, WICK_DTYPE_F32, 4, CALL_SIZES(1, 2, 4, 4), NULL);
        call_shape(c, WICK_DTYPE_F32, 4, CALL_SIZES(2, cases[i].channels, 3, 3), NULL);
        call_none(c);
        call_ints(c, 1, &cases[i].stride);
        call_ints(c, 1, &cases[i].pad);
        call_ints(c, 1, &cases[i].dilation);
        call_bool(c, false);
        call_ints(c, 1, CALL_INTS(0));
        call_int(c, cases[i].groups);
        assert_int_equal(call_run(c, &wick_op_aten_convolution_out, NULL), WICK_INVALID_ARGUMENT);
        call_free(c);
    }
}

/* ---- pools on 1..9 as 3 x 3 ---- */

static struct call *pool(const struct wick_op *op, int64_t kernel, int64_t stride, int64_t pad, bool ceil_mode, bool count_padding, int64_t divisor)
{
    struct call *c = call_new();
    bool maximum = op == &wick_op_aten_max_pool2d_with_indices_out;
    call_tensor(c, WICK_DTYPE_F32, 3, CALL_SIZES(1, 3, 3), CALL_DOUBLES(1, 2, 3, 4, 5, 6, 7, 8, 9));
    call_ints(c, 1, &kernel);
    call_ints(c, stride ? 1 : 0, &stride);
    call_ints(c, 1, &pad);
    if (maximum) call_ints(c, 1, CALL_INTS(1));
    call_bool(c, ceil_mode);
    if (!maximum) call_bool(c, count_padding);
    if (!maximum && divisor != 0) call_int(c, divisor);
    else if (!maximum) call_none(c);
    call_run(c, op, NULL);
    return c;
}

static void pools(void **state)
{
    (void)state;
    const struct wick_op *mean = &wick_op_aten_avg_pool2d_out, *max = &wick_op_aten_max_pool2d_with_indices_out;
    struct call *c = pool(mean, 2, 1, 0, false, true, 0);
    call_expect(c, 0, 3, CALL_SIZES(1, 2, 2), CALL_DOUBLES(3, 4, 6, 7), 1e-6);
    call_free(c);
    c = pool(mean, 2, 0, 1, false, true, 0);
    call_expect(c, 0, 3, CALL_SIZES(1, 2, 2), CALL_DOUBLES(0.25, 1.25, 2.75, 7), 1e-6);
    call_free(c);
    c = pool(mean, 2, 0, 1, false, false, 0);
    call_expect(c, 0, 3, CALL_SIZES(1, 2, 2), CALL_DOUBLES(1, 2.5, 5.5, 7), 1e-6);
    call_free(c);
    c = pool(mean, 2, 2, 0, true, true, -2);
    call_expect(c, 0, 3, CALL_SIZES(1, 2, 2), CALL_DOUBLES(-6, -4.5, -7.5, -4.5), 1e-6);
    call_free(c);
    c = pool(mean, 2, 1, 2, false, true, 0);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "more than half");
    call_free(c);
    c = pool(max, 2, 2, 0, true, false, 0);
    call_expect(c, 0, 3, CALL_SIZES(1, 2, 2), CALL_DOUBLES(5, 6, 8, 9), 0);
    call_expect(c, 1, 3, CALL_SIZES(1, 2, 2), CALL_DOUBLES(4, 5, 7, 8), 0);
    call_free(c);
    c = pool(max, 3, 2, 1, false, false, 0);
    call_expect(c, 1, 3, CALL_SIZES(1, 2, 2), CALL_DOUBLES(4, 5, 7, 8), 0);
    call_free(c);
    c = pool(max, 4, 1, 0, false, false, 0);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "does not fit");
    call_free(c);
    c = call_new();
    call_tensor(c, WICK_DTYPE_F16, 4, CALL_SIZES(1, 1, 3, 3), CALL_DOUBLES(1, 2, 3, 4, 5, 6, 7, 8, 9));
    call_ints(c, 2, CALL_INTS(2, 1));
    call_run(c, &wick_op_aten__adaptive_avg_pool2d_out, NULL);
    call_expect(c, 0, 4, CALL_SIZES(1, 1, 2, 1), CALL_DOUBLES(3.5, 6.5), 0);
    call_free(c);
}

/* ---- pads ---- */

static struct call *pad(const struct wick_op *op, int rank, uint32_t count, const int64_t *amounts)
{
    struct call *c = call_new();
    static const int32_t sizes[4] = {1, 1, 2, 3};
    call_tensor(c, WICK_DTYPE_I32, rank, sizes + 4 - rank, CALL_DOUBLES(1, 2, 3, 4, 5, 6));
    call_ints(c, count, amounts);
    if (op == &wick_op_aten_constant_pad_nd_out) call_double(c, -7.9);
    call_run(c, op, NULL);
    return c;
}

static void pads(void **state)
{
    (void)state;
    const struct wick_op *constant = &wick_op_aten_constant_pad_nd_out;
    struct call *c = pad(constant, 2, 2, CALL_INTS(1, 0));
    call_expect(c, 0, 2, CALL_SIZES(2, 4), CALL_DOUBLES(-7, 1, 2, 3, -7, 4, 5, 6), 0);
    call_free(c);
    c = pad(constant, 2, 4, CALL_INTS(-1, 1, 1, -1));
    call_expect(c, 0, 2, CALL_SIZES(2, 3), CALL_DOUBLES(-7, -7, -7, 2, 3, -7), 0);
    call_free(c);
    c = pad(constant, 2, 2, CALL_INTS(-3, 2)); /* nothing of the input is left */
    call_expect(c, 0, 2, CALL_SIZES(2, 2), CALL_DOUBLES(-7, -7, -7, -7), 0);
    call_free(c);
    static const int64_t wrong[][2] = {{-4, 0}, {INT64_MAX, 1}, {INT64_MIN, 0}, {INT32_MAX, INT32_MAX}};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(wrong); i++) {
        c = pad(constant, 2, 2, wrong[i]);
        assert_int_equal(c->status, WICK_INVALID_ARGUMENT);
        call_free(c);
    }
    c = pad(constant, 2, 3, CALL_INTS(1, 1, 1));
    call_expect_error(c, WICK_INVALID_ARGUMENT, "3 paddings");
    call_free(c);
    c = pad(&wick_op_aten_reflection_pad1d_out, 2, 2, CALL_INTS(2, 1));
    call_expect(c, 0, 2, CALL_SIZES(2, 6), CALL_DOUBLES(3, 2, 1, 2, 3, 2, 6, 5, 4, 5, 6, 5), 0);
    call_free(c);
    c = pad(&wick_op_aten_reflection_pad1d_out, 2, 2, CALL_INTS(3, 0));
    call_expect_error(c, WICK_INVALID_ARGUMENT, "padded by 3");
    call_free(c);
    c = pad(&wick_op_aten_replication_pad1d_out, 2, 2, CALL_INTS(2, 1));
    call_expect(c, 0, 2, CALL_SIZES(2, 6), CALL_DOUBLES(1, 1, 1, 2, 3, 3, 4, 4, 4, 5, 6, 6), 0);
    call_free(c);
    c = pad(&wick_op_aten_reflection_pad2d_out, 4, 4, CALL_INTS(1, 0, 1, 1));
    call_expect(c, 0, 4, CALL_SIZES(1, 1, 4, 4), CALL_DOUBLES(5, 4, 5, 6, 2, 1, 2, 3, 5, 4, 5, 6, 2, 1, 2, 3), 0);
    call_free(c);
    c = pad(&wick_op_aten_replication_pad2d_out, 3, 4, CALL_INTS(0, 1, 2, 0));
    call_expect(c, 0, 3, CALL_SIZES(1, 4, 4), CALL_DOUBLES(1, 2, 3, 3, 1, 2, 3, 3, 1, 2, 3, 3, 4, 5, 6, 6), 0);
    call_free(c);
    c = pad(&wick_op_aten_replication_pad3d_out, 4, 6, CALL_INTS(0, 0, 0, 0, 1, 0));
    call_expect(c, 0, 4, CALL_SIZES(1, 2, 2, 3), CALL_DOUBLES(1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6), 0);
    call_free(c);
    c = pad(&wick_op_aten_replication_pad2d_out, 3, 2, CALL_INTS(1, 1));
    call_expect_error(c, WICK_INVALID_ARGUMENT, "paddings of 1 dims");
    call_free(c);
}

/* ---- resampling of 1 2 / 3 4 ---- */

static struct call *upsample(const struct wick_op *op, const int64_t *size, const double *factors, bool align_corners)
{
    struct call *c = call_new();
    call_tensor(c, WICK_DTYPE_F32, 4, CALL_SIZES(1, 1, 2, 2), CALL_DOUBLES(1, 2, 3, 4));
    if (size) call_ints(c, 2, size);
    else call_none(c);
    if (op != &wick_op_aten_upsample_nearest2d_vec_out) call_bool(c, align_corners);
    if (op == &wick_op_aten__upsample_bilinear2d_aa_out) {
        call_none(c);
        call_none(c);
    } else if (factors) {
        call_value(c, (struct wick_value){.tag = WICK_TAG_DOUBLE_LIST, .as.list = {.doubles = factors, .count = 2}});
    } else {
        call_none(c);
    }
    call_run(c, op, NULL);
    return c;
}

static void resampling(void **state)
{
    (void)state;
    static const double up[2] = {1.5, 2}, bad[2] = {NAN, 1}, huge[2] = {1e300, 1}, zero[2] = {0, 1};
    struct call *c = upsample(&wick_op_aten_upsample_bilinear2d_vec_out, CALL_INTS(3, 3), NULL, true);
    call_expect(c, 0, 4, CALL_SIZES(1, 1, 3, 3), CALL_DOUBLES(1, 1.5, 2, 2, 2.5, 3, 3, 3.5, 4), 1e-6);
    call_free(c);
    c = upsample(&wick_op_aten_upsample_bilinear2d_vec_out, CALL_INTS(2, 4), NULL, false);
    call_expect(c, 0, 4, CALL_SIZES(1, 1, 2, 4), CALL_DOUBLES(1, 1.25, 1.75, 2, 3, 3.25, 3.75, 4), 1e-6);
    call_free(c);
    c = upsample(&wick_op_aten_upsample_nearest2d_vec_out, NULL, up, false);
    call_expect(c, 0, 4, CALL_SIZES(1, 1, 3, 4), CALL_DOUBLES(1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4), 0);
    call_free(c);
    c = upsample(&wick_op_aten__upsample_bilinear2d_aa_out, CALL_INTS(1, 2), NULL, false);
    call_expect(c, 0, 4, CALL_SIZES(1, 1, 1, 2), CALL_DOUBLES(2, 3), 1e-6);
    call_free(c);
    const double *wrong[] = {bad, huge, zero};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(wrong); i++) {
        c = upsample(&wick_op_aten_upsample_nearest2d_vec_out, NULL, wrong[i], false);
        assert_int_equal(c->status, WICK_INVALID_ARGUMENT);
        call_free(c);
    }
    c = upsample(&wick_op_aten_upsample_nearest2d_vec_out, CALL_INTS(2, 2), up, false);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "either");
    call_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(convolutions), cmocka_unit_test(refused), cmocka_unit_test(pools), cmocka_unit_test(pads),
                                       cmocka_unit_test(resampling)};
    return WICK_TEST_MAIN(tests);
}
