/* Arithmetic and functions of elements: values, types, edge cases of IEEE and of integers, what is refused. */
#include "ops/call_test.h"

static void unary_values(void **state)
{
    static const struct {
        const struct wick_op *op;
        double in[4], want[4];
    } cases[] = {
        {&wick_op_aten_abs_out, {-2, 0, 3.5, -INFINITY}, {2, 0, 3.5, INFINITY}},
        {&wick_op_aten_neg_out, {-2, 0, 3.5, INFINITY}, {2, 0, -3.5, -INFINITY}},
        {&wick_op_aten_relu_out, {-2, 0, 3.5, NAN}, {0, 0, 3.5, NAN}},
        {&wick_op_aten_round_out, {0.5, 1.5, -2.5, 2.4}, {0, 2, -2, 2}},
        {&wick_op_aten_trunc_out, {-1.7, 1.7, 0, -0.2}, {-1, 1, 0, 0}},
        {&wick_op_aten_sign_out, {-3, 0, 9, NAN}, {-1, 0, 1, 0}},
        {&wick_op_aten_rsqrt_out, {4, 0, 0.25, -1}, {0.5, INFINITY, 2, NAN}},
        {&wick_op_aten_sigmoid_out, {0, 100, -100, 1}, {0.5, 1, 0, 0.731058578}},
        {&wick_op_aten_exp_out, {0, 1, -INFINITY, INFINITY}, {1, 2.718281828, 0, INFINITY}},
        {&wick_op_aten_tanh_out, {0, 1, -50, 50}, {0, 0.761594156, -1, 1}},
        {&wick_op_aten_erf_out, {0, 1, -1, 9}, {0, 0.842700793, -0.842700793, 1}},
        {&wick_op_aten_log_out, {1, 0, -1, 2.718281828}, {0, -INFINITY, NAN, 1}},
        {&wick_op_aten_reciprocal_out, {2, 0, -4, INFINITY}, {0.5, INFINITY, -0.25, 0}},
        {&wick_op_aten_isinf_out, {1, INFINITY, -INFINITY, NAN}, {0, 1, 1, 0}},
        {&wick_op_aten_isnan_out, {1, INFINITY, -INFINITY, NAN}, {0, 0, 0, 1}},
    };
    static const int dtypes[] = {WICK_DTYPE_F32, WICK_DTYPE_F64, WICK_DTYPE_F16, WICK_DTYPE_BF16};
    static const double tolerances[] = {1e-6, 1e-9, 1e-3, 1e-2};
    (void)state;
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cases); i++)
        for (size_t d = 0; d < 4; d++) {
            struct call *c = call_new();
            call_tensor(c, dtypes[d], 1, CALL_SIZES(4), cases[i].in);
            call_run(c, cases[i].op, NULL);
            call_expect(c, 0, 1, CALL_SIZES(4), cases[i].want, tolerances[d]);
            call_free(c);
        }
}

/* Integers into a float function give f32; rank 0 and empty tensors pass. */
static void unary_types(void **state)
{
    (void)state;
    struct call *c = call_new();
    call_tensor(c, WICK_DTYPE_I64, 1, CALL_SIZES(3), CALL_DOUBLES(0, 1, 4));
    call_run(c, &wick_op_aten_sqrt_out, NULL);
    assert_int_equal(call_out(c, 0)->shape.dtype, WICK_DTYPE_F32);
    CALL_EXPECT_VECTOR(c, 0, 0, 1, 2);
    call_free(c);
    c = call_new();
    call_tensor(c, WICK_DTYPE_F32, 0, NULL, CALL_DOUBLES(9));
    call_run(c, &wick_op_aten_sqrt_out, NULL);
    call_expect(c, 0, 0, NULL, CALL_DOUBLES(3), 0);
    call_free(c);
    c = call_new();
    call_shape(c, WICK_DTYPE_F32, 2, CALL_SIZES(0, 4), NULL);
    call_run(c, &wick_op_aten_exp_out, NULL);
    call_expect(c, 0, 2, CALL_SIZES(0, 4), NULL, 0);
    call_free(c);
    c = call_new(); /* -INT64_MIN wraps instead of being undefined */
    *(int64_t *)call_shape(c, WICK_DTYPE_I64, 0, NULL, NULL)->data = INT64_MIN;
    WICK_ASSERT_OK(call_run(c, &wick_op_aten_abs_out, NULL), &c->err);
    assert_true(*(int64_t *)call_out(c, 0)->data == INT64_MIN);
    call_free(c);
}

static void pair(const struct wick_op *op, int dtype, double a, double b, int extra, double alpha, double want)
{
    struct call *c = call_new();
    call_tensor(c, dtype, 1, CALL_SIZES(1), &a);
    call_tensor(c, dtype, 1, CALL_SIZES(1), &b);
    if (extra) call_double(c, alpha);
    call_run(c, op, NULL);
    call_expect(c, 0, 1, CALL_SIZES(1), &want, 1e-6);
    call_free(c);
}

static void arithmetic(void **state)
{
    (void)state;
    pair(&wick_op_aten_add_out, WICK_DTYPE_F32, 1, 2, 1, 1, 3);
    pair(&wick_op_aten_add_out, WICK_DTYPE_F32, 1, 2, 1, -2.5, -4);
    pair(&wick_op_aten_sub_out, WICK_DTYPE_I32, 1, 2, 1, 3, -5);
    pair(&wick_op_aten_add_out, WICK_DTYPE_U8, 250, 10, 1, 1, 4);
    pair(&wick_op_aten_mul_out, WICK_DTYPE_I8, 100, 3, 0, 0, 44);
    pair(&wick_op_aten_div_out, WICK_DTYPE_I32, 7, 2, 0, 0, 3.5);
    pair(&wick_op_aten_floor_divide_out, WICK_DTYPE_I32, -7, 2, 0, 0, -4);
    pair(&wick_op_aten_floor_divide_out, WICK_DTYPE_F32, 1, 0.1, 0, 0, 9);
    pair(&wick_op_aten_fmod_Tensor_out, WICK_DTYPE_I64, -7, 3, 0, 0, -1);
    pair(&wick_op_aten_remainder_Tensor_out, WICK_DTYPE_I64, -7, 3, 0, 0, 2);
    pair(&wick_op_aten_remainder_Tensor_out, WICK_DTYPE_F64, 7, -3, 0, 0, -2);
    pair(&wick_op_aten_maximum_out, WICK_DTYPE_F32, NAN, 1, 0, 0, NAN);
    pair(&wick_op_aten_minimum_out, WICK_DTYPE_F32, 1, NAN, 0, 0, NAN);
    pair(&wick_op_aten_pow_Tensor_Tensor_out, WICK_DTYPE_I32, 3, 4, 0, 0, 81);
    pair(&wick_op_aten_pow_Tensor_Tensor_out, WICK_DTYPE_I32, -1, -3, 0, 0, -1);
    pair(&wick_op_aten_pow_Tensor_Tensor_out, WICK_DTYPE_F32, 2, -1, 0, 0, 0.5);
    pair(&wick_op_aten_atan2_out, WICK_DTYPE_F32, 1, 1, 0, 0, 0.785398163);
}

static void scalars(void **state)
{
    (void)state;
    struct call *c = call_new(); /* an integer tensor with a float Scalar becomes f32 */
    call_tensor(c, WICK_DTYPE_I32, 1, CALL_SIZES(3), CALL_DOUBLES(1, 2, 3));
    call_double(c, 0.5);
    call_run(c, &wick_op_aten_mul_Scalar_out, NULL);
    assert_int_equal(call_out(c, 0)->shape.dtype, WICK_DTYPE_F32);
    CALL_EXPECT_VECTOR(c, 0, 0.5, 1, 1.5);
    call_free(c);
    c = call_new();
    call_int(c, 2);
    CALL_VECTOR(c, 0, 3, -1);
    call_run(c, &wick_op_aten_pow_Scalar_out, NULL);
    CALL_EXPECT_VECTOR(c, 1e-6, 1, 8, 0.5);
    call_free(c);
    c = call_new();
    CALL_VECTOR(c, 5, 1);
    call_int(c, 10);
    call_int(c, 2);
    call_run(c, &wick_op_aten_rsub_Scalar_out, NULL);
    CALL_EXPECT_VECTOR(c, 0, 0, 8);
    call_free(c);
    c = call_new();
    call_tensor(c, WICK_DTYPE_F32, 1, CALL_SIZES(2), CALL_DOUBLES(-7, 7));
    call_double(c, 2);
    call_text(c, "floor");
    call_run(c, &wick_op_aten_div_Scalar_mode_out, NULL);
    CALL_EXPECT_VECTOR(c, 0, -4, 3);
    call_free(c);
}

static void activations(void **state)
{
    (void)state;
    struct call *c = call_new();
    CALL_VECTOR(c, -1, 0, 2);
    call_text(c, "none");
    call_run(c, &wick_op_aten_gelu_out, NULL);
    CALL_EXPECT_VECTOR(c, 1e-6, -0.158655254, 0, 1.954499736);
    call_free(c);
    c = call_new();
    CALL_VECTOR(c, -1, 0, 2);
    call_text(c, "tanh");
    call_run(c, &wick_op_aten_gelu_out, NULL);
    CALL_EXPECT_VECTOR(c, 1e-6, -0.158808009, 0, 1.954597694);
    call_free(c);
    c = call_new(); /* halves of dim 1: x * sigmoid(y) */
    call_tensor(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 2), CALL_DOUBLES(1, 0, 3, 0));
    call_int(c, -1);
    call_run(c, &wick_op_aten_glu_out, NULL);
    call_expect(c, 0, 2, CALL_SIZES(2, 1), CALL_DOUBLES(0.5, 1.5), 1e-6);
    call_free(c);
    c = call_new();
    CALL_VECTOR(c, -3, 0.5, NAN, 9);
    call_double(c, -1);
    call_int(c, 6);
    call_run(c, &wick_op_aten_hardtanh_out, NULL);
    CALL_EXPECT_VECTOR(c, 0, -1, 0.5, NAN, 6);
    call_free(c);
    c = call_new();
    CALL_VECTOR(c, -2, 3);
    call_double(c, 0.25);
    call_bool(c, true);
    call_run(c, &wick_op_aten_native_dropout_out, NULL);
    for (size_t i = 0; i < 2; i++) assert_true(call_get(call_out(c, 0), i) == (call_get(call_out(c, 1), i) ? (i ? 4 : -2 / 0.75f) : 0));
    call_free(c);
}

static void refusals(void **state)
{
    (void)state;
    struct call *c = call_new();
    call_tensor(c, WICK_DTYPE_I32, 1, CALL_SIZES(2), CALL_DOUBLES(1, 2));
    call_tensor(c, WICK_DTYPE_I32, 1, CALL_SIZES(2), CALL_DOUBLES(1, 0));
    call_run(c, &wick_op_aten_remainder_Tensor_out, NULL);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "division by zero");
    call_free(c);
    c = call_new();
    call_tensor(c, WICK_DTYPE_I32, 1, CALL_SIZES(1), CALL_DOUBLES(1));
    call_tensor(c, WICK_DTYPE_I32, 1, CALL_SIZES(1), CALL_DOUBLES(1));
    call_double(c, 1.5);
    call_run(c, &wick_op_aten_add_out, NULL);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "alpha");
    call_free(c);
    c = call_new();
    CALL_VECTOR(c, 1);
    CALL_VECTOR(c, 1);
    call_text(c, "up");
    call_run(c, &wick_op_aten_div_out_mode, NULL);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "\"up\"");
    call_free(c);
    c = call_new();
    CALL_VECTOR(c, 1, 2, 3);
    call_int(c, 0);
    call_run(c, &wick_op_aten_glu_out, NULL);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "halved");
    call_free(c);
    c = call_new();
    CALL_VECTOR(c, 1, 2);
    call_int(c, 3);
    call_run(c, &wick_op_aten_glu_out, NULL);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "dim 3");
    call_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(unary_values), cmocka_unit_test(unary_types), cmocka_unit_test(arithmetic),
                                       cmocka_unit_test(scalars),      cmocka_unit_test(activations), cmocka_unit_test(refusals)};
    return WICK_TEST_MAIN(tests);
}
