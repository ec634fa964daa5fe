/* Elementwise nodes of one and two inputs against double arithmetic: every kind, every type, broadcasting, clamps. */
#include "backends/xnnpack/rt/rig_test.h"
#include "tensor/half.h"

static double ref_unary(int kind, double x)
{
    switch (kind) {
    case XNN_NODE_ABS: return fabs(x);
    case XNN_NODE_CEILING: return ceil(x);
    case XNN_NODE_COS: return cos(x);
    case XNN_NODE_EXP: return exp(x);
    case XNN_NODE_FLOOR: return floor(x);
    case XNN_NODE_GELU: return 0.5 * x * erfc(-x / sqrt(2.0));
    case XNN_NODE_HARDSWISH: return x * fmin(fmax(x + 3, 0), 6) / 6;
    case XNN_NODE_LOG: return log(x);
    case XNN_NODE_NEGATE: return -x;
    case XNN_NODE_RECIPROCAL_SQUARE_ROOT: return 1 / sqrt(x);
    case XNN_NODE_SIGMOID: return 1 / (1 + exp(-x));
    case XNN_NODE_SIN: return sin(x);
    case XNN_NODE_SQUARE: return x * x;
    case XNN_NODE_SQUARE_ROOT: return sqrt(x);
    case XNN_NODE_TANH: return tanh(x);
    case XNN_NODE_CLAMP: return fmin(fmax(x, -0.5), 2);
    case XNN_NODE_ELU: return x < 0 ? 0.75 * expm1(x) : x;
    case XNN_NODE_LEAKY_RELU: return x < 0 ? 0.125 * x : x;
    default: return x;
    }
}

static bool positive_only(int kind) { return kind == XNN_NODE_LOG || kind == XNN_NODE_SQUARE_ROOT || kind == XNN_NODE_RECIPROCAL_SQUARE_ROOT; }

static double get(const struct wick_tensor *t, size_t i)
{
    switch (t->shape.dtype) {
    case WICK_DTYPE_F16: return wick_f32_from_f16(((const uint16_t *)t->data)[i]);
    case WICK_DTYPE_BF16: return wick_f32_from_bf16(((const uint16_t *)t->data)[i]);
    case WICK_DTYPE_I8: return ((const int8_t *)t->data)[i];
    default: return ((const float *)t->data)[i];
    }
}

static void set(struct wick_tensor *t, size_t i, float v)
{
    switch (t->shape.dtype) {
    case WICK_DTYPE_F16: ((uint16_t *)t->data)[i] = wick_f16_from_f32(v); break;
    case WICK_DTYPE_BF16: ((uint16_t *)t->data)[i] = wick_bf16_from_f32(v); break;
    case WICK_DTYPE_I8: ((int8_t *)t->data)[i] = (int8_t)v; break;
    default: ((float *)t->data)[i] = v;
    }
}

/* Relative error that a type's rounding makes. */
static double unit(int dtype) { return dtype == WICK_DTYPE_F16 ? 0x1p-11 : dtype == WICK_DTYPE_BF16 ? 0x1p-8 : 1e-6; }

static void check_unary(int kind, int datatype)
{
    enum { N = 3 * 701 };
    struct rig *r = rig_open(NULL, 2);
    uint64_t seed = (uint64_t)kind + 1;
    uint32_t x = rig_input(r, datatype, RIG_DIMS(3, 701)), y = rig_output(r, datatype, RIG_DIMS(3, 701));
    struct wick_xnn_node *node = rig_node(r, kind);
    bool early = kind == XNN_NODE_ELU || kind == XNN_NODE_LEAKY_RELU; /* a number comes before the ids */
    node->slots[early] = x;
    node->slots[early + 1] = y;
    if (kind == XNN_NODE_CLAMP) node->clamped = true, node->output_min = -0.5f, node->output_max = 2;
    if (early) wick_xnn_slot_set_f32(node, 0, kind == XNN_NODE_ELU ? 0.75f : 0.125f);
    WICK_ASSERT_OK(rig_expand(r), &r->err);
    for (size_t i = 0; i < N; i++) {
        float v = 8 * wick_test_uniform(&seed);
        set(&r->tensors[0], i, positive_only(kind) ? fabsf(v) + 0.01f : v);
    }
    WICK_ASSERT_OK(rig_run(r), &r->err);
    for (size_t i = 0; i < N; i++) {
        double want = ref_unary(kind, get(&r->tensors[0], i)), got = get(&r->tensors[1], i);
        double tolerance = unit(r->tensors[1].shape.dtype) * fmax(1, fabs(want));
        if (!(fabs(want - got) <= tolerance))
            fail_msg("%s(%g) = %.9g, want %.9g", wick_xnn_node_name((uint8_t)kind), get(&r->tensors[0], i), got, want);
    }
    rig_close(r);
}

static void unary_kinds(void **state)
{
    (void)state;
    static const int kinds[] = {XNN_NODE_ABS,     XNN_NODE_CEILING,   XNN_NODE_COS,        XNN_NODE_EXP,         XNN_NODE_FLOOR,
                                XNN_NODE_GELU,    XNN_NODE_HARDSWISH, XNN_NODE_LOG,        XNN_NODE_NEGATE,      XNN_NODE_RECIPROCAL_SQUARE_ROOT,
                                XNN_NODE_SIGMOID, XNN_NODE_SIN,       XNN_NODE_SQUARE,     XNN_NODE_SQUARE_ROOT, XNN_NODE_TANH,
                                XNN_NODE_CLAMP,   XNN_NODE_ELU,       XNN_NODE_LEAKY_RELU, XNN_NODE_COPY};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(kinds); i++) {
        check_unary(kinds[i], XNN_DATATYPE_FP32);
        check_unary(kinds[i], XNN_DATATYPE_FP16);
        check_unary(kinds[i], XNN_DATATYPE_BF16);
    }
}

static double ref_binary(int kind, double a, double b)
{
    switch (kind) {
    case XNN_NODE_ADD: return a + b;
    case XNN_NODE_SUBTRACT: return a - b;
    case XNN_NODE_MULTIPLY: return a * b;
    case XNN_NODE_DIV: return a / b;
    case XNN_NODE_MINIMUM: return fmin(a, b);
    case XNN_NODE_MAXIMUM: return fmax(a, b);
    default: return a < 0 ? a * b : a;
    }
}

struct broadcast {
    struct wick_xnn_dims a, b, y;
};

/* Element of x that element i of y reads. */
static size_t source(const struct wick_xnn_dims *x, const struct wick_xnn_dims *y, size_t i)
{
    size_t index = 0, stride = 1;
    for (int d = (int)y->count - 1; d >= 0; d--) {
        size_t at = i % y->items[d];
        i /= y->items[d];
        int k = d - (int)(y->count - x->count);
        if (k < 0) continue;
        if (x->items[k] != 1) index += at * stride;
        stride *= x->items[k];
    }
    return index;
}

static void check_binary(int kind, int datatype, const struct broadcast *c, bool clamped, bool quantized)
{
    struct rig *r = rig_open(NULL, 2);
    uint64_t seed = 99;
    uint32_t a = rig_input(r, datatype, c->a), b = rig_input(r, datatype, c->b), y = rig_output(r, datatype, c->y);
    const float scales[] = {0.02f, 0.03f, 0.05f};
    const int32_t zeros[] = {3, -7, 11};
    for (uint32_t k = 0; quantized && k < 3; k++)
        r->file_values[k].quant = (struct wick_xnn_quant){.kind = XNN_QUANT_PER_TENSOR, .scale = scales[k], .zero_point = zeros[k]};
    struct wick_xnn_node *node = rig_2x1(r, kind, a, b, y);
    if (clamped) node->clamped = true, node->output_min = -0.5f, node->output_max = 0.75f;
    WICK_ASSERT_OK(rig_expand(r), &r->err);
    for (uint32_t k = 0; k < 2; k++)
        for (size_t i = 0; i < wick_tensor_numel(&r->tensors[k]); i++) {
            float v = wick_test_uniform(&seed);
            set(&r->tensors[k], i, quantized ? rintf(127 * v) : v + (v < 0 ? -0.1f : 0.1f));
        }
    WICK_ASSERT_OK(rig_run(r), &r->err);
    for (size_t i = 0; i < wick_tensor_numel(&r->tensors[2]); i++) {
        double va = get(&r->tensors[0], source(&c->a, &c->y, i)), vb = get(&r->tensors[1], source(&c->b, &c->y, i));
        if (quantized) va = (va - zeros[0]) * scales[0], vb = (vb - zeros[1]) * scales[1];
        double want = ref_binary(kind, va, vb), got = get(&r->tensors[2], i);
        if (clamped && kind != XNN_NODE_PRELU) want = fmin(fmax(want, -0.5), 0.75);
        double tolerance = unit(r->tensors[2].shape.dtype) * fmax(1, fabs(want));
        if (quantized) want = fmin(fmax(want / scales[2] + zeros[2], -128), 127), tolerance = 0.5001;
        if (!(fabs(want - got) <= tolerance)) fail_msg("%s, element %zu: %.9g, want %.9g", wick_xnn_node_name((uint8_t)kind), i, got, want);
    }
    rig_close(r);
}

static void binary_kinds(void **state)
{
    (void)state;
    static const int kinds[] = {XNN_NODE_ADD, XNN_NODE_SUBTRACT, XNN_NODE_MULTIPLY, XNN_NODE_DIV, XNN_NODE_MINIMUM, XNN_NODE_MAXIMUM, XNN_NODE_PRELU};
    const struct broadcast cases[] = {
        {RIG_DIMS(2, 3, 700), RIG_DIMS(2, 3, 700), RIG_DIMS(2, 3, 700)},
        {RIG_DIMS(2, 3, 700), RIG_DIMS(700), RIG_DIMS(2, 3, 700)},
        {RIG_DIMS(1), RIG_DIMS(2, 1, 5, 9), RIG_DIMS(2, 1, 5, 9)},
        {RIG_DIMS(4, 1, 9), RIG_DIMS(4, 7, 1), RIG_DIMS(4, 7, 9)},
        {RIG_DIMS(2, 3, 1, 1, 4, 1), RIG_DIMS(2, 1, 2, 1, 1, 3), RIG_DIMS(2, 3, 2, 1, 4, 3)},
        {RIG_DIMS(1), RIG_DIMS(1), RIG_DIMS(1)},
    };
    for (size_t k = 0; k < WICK_ARRAY_SIZE(kinds); k++)
        for (size_t i = 0; i < WICK_ARRAY_SIZE(cases); i++) {
            check_binary(kinds[k], XNN_DATATYPE_FP32, &cases[i], false, false);
            check_binary(kinds[k], XNN_DATATYPE_FP16, &cases[i], false, false);
            check_binary(kinds[k], XNN_DATATYPE_BF16, &cases[i], false, false);
            if (kinds[k] == XNN_NODE_DIV) continue; /* quantized divisors can be 0 */
            check_binary(kinds[k], XNN_DATATYPE_QINT8, &cases[i], false, true);
        }
    for (size_t k = 0; k < 4; k++) check_binary(kinds[k], XNN_DATATYPE_FP32, &cases[1], true, false);
}

/* Sizes of a call can be smaller than the bound, and results follow; sizes that do not broadcast are refused. */
static void sizes_follow(void **state)
{
    (void)state;
    struct rig *r = rig_open(NULL, 1);
    uint32_t a = rig_input(r, XNN_DATATYPE_FP32, RIG_DIMS(8, 4)), b = rig_input(r, XNN_DATATYPE_FP32, RIG_DIMS(8, 4));
    uint32_t y = rig_output(r, XNN_DATATYPE_FP32, RIG_DIMS(8, 4));
    rig_2x1(r, XNN_NODE_ADD, a, b, y);
    WICK_ASSERT_OK(rig_expand(r), &r->err);
    assert_null(r->nodes[0].state);
    rig_resize(r, 0, (int32_t[]){3, 4});
    rig_resize(r, 1, (int32_t[]){1, 4});
    for (int i = 0; i < 12; i++) rig_f32(r, 0)[i] = (float)i;
    for (int i = 0; i < 4; i++) rig_f32(r, 1)[i] = 100;
    WICK_ASSERT_OK(rig_run(r), &r->err);
    assert_int_equal(r->tensors[2].shape.sizes[0], 3);
    for (int i = 0; i < 12; i++) assert_true(rig_f32(r, 2)[i] == 100 + (float)i);
    rig_resize(r, 1, (int32_t[]){2, 4});
    assert_int_equal(rig_run(r), WICK_INVALID_PROGRAM);
    rig_close(r);
}

/* fp32 -> qint8 -> fp32: q = clamp(rint(x * (1 / scale)) + zp), halves to even. */
static void convert_static(void **state)
{
    (void)state;
    struct rig *r = rig_open(NULL, 1);
    uint32_t x = rig_input(r, XNN_DATATYPE_FP32, RIG_DIMS(6)), q = rig_output(r, XNN_DATATYPE_QINT8, RIG_DIMS(6)),
             y = rig_output(r, XNN_DATATYPE_FP32, RIG_DIMS(6));
    r->file_values[q].quant = (struct wick_xnn_quant){.kind = XNN_QUANT_PER_TENSOR, .scale = 0.5f, .zero_point = -3};
    rig_1x1(r, XNN_NODE_CONVERT, x, q);
    rig_1x1(r, XNN_NODE_CONVERT, q, y);
    WICK_ASSERT_OK(rig_expand(r), &r->err);
    const float in[] = {0.25f, 0.75f, -0.25f, 1000, -1000, 7.1f};
    const int8_t want[] = {-3, -1, -3, 127, -128, 11};
    memcpy(r->tensors[0].data, in, sizeof in);
    WICK_ASSERT_OK(rig_run(r), &r->err);
    for (int i = 0; i < 6; i++) assert_int_equal(((int8_t *)r->tensors[1].data)[i], want[i]);
    for (int i = 0; i < 6; i++) assert_true(rig_f32(r, 2)[i] == (float)(want[i] + 3) * 0.5f);
    rig_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(unary_kinds), cmocka_unit_test(binary_kinds), cmocka_unit_test(sizes_follow),
                                       cmocka_unit_test(convert_static)};
    return WICK_TEST_MAIN(tests);
}
