/* Windows over images against direct loops in double. */
#include "backends/xnnpack/rt/rig_test.h"

struct window {
    int h, w, c, top, right, bottom, left, kh, kw, sh, sw, dh, dw;
};

static int out_size(int size, int before, int after, int kernel, int dilation, int stride)
{
    return (size + before + after - ((kernel - 1) * dilation + 1)) / stride + 1;
}

static double ref_pool(const float *x, const struct window *p, int oy, int ox, int c, bool average)
{
    double sum = 0, max = -INFINITY;
    int taps = 0;
    for (int ky = 0; ky < p->kh; ky++)
        for (int kx = 0; kx < p->kw; kx++) {
            int iy = oy * p->sh - p->top + ky * p->dh, ix = ox * p->sw - p->left + kx * p->dw;
            if (iy < 0 || iy >= p->h || ix < 0 || ix >= p->w) continue;
            double v = x[(iy * p->w + ix) * p->c + c];
            sum += v, max = fmax(max, v), taps++;
        }
    return average ? sum / taps : max;
}

static void check_pool(const struct window *p, bool average)
{
    struct rig *r = rig_open(NULL, 2);
    uint64_t seed = 5;
    int oh = out_size(p->h, p->top, p->bottom, p->kh, p->dh, p->sh), ow = out_size(p->w, p->left, p->right, p->kw, p->dw, p->sw);
    uint32_t x = rig_input(r, XNN_DATATYPE_FP32, RIG_DIMS(2, p->h, p->w, p->c)), y = rig_output(r, XNN_DATATYPE_FP32, RIG_DIMS(2, oh, ow, p->c));
    struct wick_xnn_node *node = rig_node(r, average ? XNN_NODE_AVG_POOLING_2D : XNN_NODE_MAX_POOLING_2D);
    const int fields[] = {p->top, p->right, p->bottom, p->left, p->kh, p->kw, p->sh, p->sw, average ? 0 : p->dh, average ? 0 : p->dw};
    for (int i = 0; i < 10; i++) node->slots[i] = (uint32_t)fields[i];
    node->slots[XNN_POOLING_INPUT_ID] = x;
    node->slots[XNN_POOLING_OUTPUT_ID] = y;
    WICK_ASSERT_OK(rig_expand(r), &r->err);
    rig_fill(r, 0, &seed, 3);
    WICK_ASSERT_OK(rig_run(r), &r->err);
    for (int n = 0; n < 2; n++)
        for (int i = 0; i < oh * ow * p->c; i++) {
            double want = ref_pool(rig_f32(r, 0) + n * p->h * p->w * p->c, p, i / p->c / ow, i / p->c % ow, i % p->c, average);
            assert_true(fabs(rig_f32(r, 1)[n * oh * ow * p->c + i] - want) < 1e-5);
        }
    rig_close(r);
}

static void pools(void **state)
{
    (void)state;
    const struct window cases[] = {{9, 7, 5, 0, 0, 0, 0, 2, 2, 2, 2, 1, 1},
                                   {9, 7, 600, 1, 1, 1, 1, 3, 3, 2, 1, 1, 1},
                                   {6, 6, 1, 1, 0, 2, 1, 3, 2, 1, 2, 1, 1},
                                   {5, 5, 3, 0, 0, 0, 0, 5, 5, 1, 1, 1, 1}};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cases); i++) check_pool(&cases[i], true), check_pool(&cases[i], false);
    const struct window dilated = {11, 9, 4, 1, 1, 1, 1, 3, 2, 2, 1, 2, 3};
    check_pool(&dilated, false);
}

static void global_average(void **state)
{
    (void)state;
    for (int keep = 0; keep < 2; keep++) {
        struct rig *r = rig_open(NULL, 2);
        uint64_t seed = 5;
        uint32_t x = rig_input(r, XNN_DATATYPE_FP32, RIG_DIMS(3, 4, 5, 700));
        uint32_t y = rig_output(r, XNN_DATATYPE_FP32, keep ? RIG_DIMS(3, 1, 1, 700) : RIG_DIMS(3, 700));
        rig_1x1(r, XNN_NODE_GLOBAL_AVG_POOLING_2D, x, y)->slots[XNN_NODE_1X1_FLAGS] = keep ? 0x40 : 0;
        WICK_ASSERT_OK(rig_expand(r), &r->err);
        rig_fill(r, 0, &seed, 1);
        WICK_ASSERT_OK(rig_run(r), &r->err);
        for (int n = 0; n < 3; n++)
            for (int c = 0; c < 700; c++) {
                double sum = 0;
                for (int i = 0; i < 20; i++) sum += rig_f32(r, 0)[(n * 20 + i) * 700 + c];
                assert_true(fabs(rig_f32(r, 1)[n * 700 + c] - sum / 20) < 1e-6);
            }
        rig_close(r);
    }
}

static void arg_max(void **state)
{
    (void)state;
    struct rig *r = rig_open(NULL, 1);
    uint32_t x = rig_input(r, XNN_DATATYPE_FP32, RIG_DIMS(1, 1, 6, 2)), v = rig_output(r, XNN_DATATYPE_FP32, RIG_DIMS(1, 1, 2, 2));
    uint32_t at = rig_output(r, XNN_DATATYPE_INT32, RIG_DIMS(1, 1, 2, 2));
    struct wick_xnn_node *node = rig_node(r, XNN_NODE_ARG_MAX_POOLING_2D);
    node->slots[XNN_ARG_MAX_POOLING_POOLING_HEIGHT] = 1;
    node->slots[XNN_ARG_MAX_POOLING_POOLING_WIDTH] = 3;
    node->slots[XNN_ARG_MAX_POOLING_INPUT_ID] = x;
    node->slots[XNN_ARG_MAX_POOLING_OUTPUT_VALUE_ID] = v;
    node->slots[XNN_ARG_MAX_POOLING_OUTPUT_INDEX_ID] = at;
    WICK_ASSERT_OK(rig_expand(r), &r->err);
    const float in[] = {1, -1, 3, -3, 2, -2, 9, 0, 8, 5, 7, 4};
    const float want[] = {3, -1, 9, 5};
    const int32_t where[] = {1, 0, 0, 1};
    memcpy(r->tensors[0].data, in, sizeof in);
    WICK_ASSERT_OK(rig_run(r), &r->err);
    assert_memory_equal(r->tensors[1].data, want, sizeof want);
    assert_memory_equal(r->tensors[2].data, where, sizeof where);
    rig_close(r);
}

static void resizes(void **state)
{
    (void)state;
    for (int align = 0; align < 2; align++) {
        struct rig *r = rig_open(NULL, 2);
        uint64_t seed = 5;
        enum { H = 5, W = 7, OH = 9, OW = 4, C = 3 };
        uint32_t x = rig_input(r, XNN_DATATYPE_FP32, RIG_DIMS(1, H, W, C)), y = rig_output(r, XNN_DATATYPE_FP32, RIG_DIMS(1, OH, OW, C));
        struct wick_xnn_node *node = rig_node(r, XNN_NODE_STATIC_RESIZE_BILINEAR_2D);
        node->slots[XNN_RESIZE_NEW_HEIGHT] = OH;
        node->slots[XNN_RESIZE_NEW_WIDTH] = OW;
        node->slots[XNN_RESIZE_INPUT_ID] = x;
        node->slots[XNN_RESIZE_OUTPUT_ID] = y;
        node->slots[XNN_RESIZE_FLAGS] = align ? 8 : 0;
        WICK_ASSERT_OK(rig_expand(r), &r->err);
        rig_fill(r, 0, &seed, 1);
        WICK_ASSERT_OK(rig_run(r), &r->err);
        for (int oy = 0; oy < OH; oy++)
            for (int ox = 0; ox < OW; ox++)
                for (int c = 0; c < C; c++) {
                    double fy = align ? oy * (H - 1.0) / (OH - 1) : (oy + 0.5) * H / OH - 0.5,
                           fx = align ? ox * (W - 1.0) / (OW - 1) : (ox + 0.5) * W / OW - 0.5;
                    fy = fmin(fmax(fy, 0), H - 1), fx = fmin(fmax(fx, 0), W - 1);
                    int y0 = (int)fy, x0 = (int)fx, y1 = WICK_MIN(y0 + 1, H - 1), x1 = WICK_MIN(x0 + 1, W - 1);
                    const float *in = rig_f32(r, 0);
                    double top = in[(y0 * W + x0) * C + c] * (1 - fx + x0) + in[(y0 * W + x1) * C + c] * (fx - x0);
                    double bottom = in[(y1 * W + x0) * C + c] * (1 - fx + x0) + in[(y1 * W + x1) * C + c] * (fx - x0);
                    assert_true(fabs(rig_f32(r, 1)[(oy * OW + ox) * C + c] - (top * (1 - fy + y0) + bottom * (fy - y0))) < 1e-5);
                }
        rig_close(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pools), cmocka_unit_test(global_average), cmocka_unit_test(arg_max),
                                       cmocka_unit_test(resizes)};
    return WICK_TEST_MAIN(tests);
}
