/* Comparisons, logic, bits, where and clamp. */
#include "ops/call_test.h"

static void comparisons(void **state)
{
    static const struct {
        const struct wick_op *op;
        double want[4];
    } cases[] = {
        {&wick_op_aten_eq_Scalar_out, {0, 1, 0, 0}}, {&wick_op_aten_ne_Scalar_out, {1, 0, 1, 1}}, {&wick_op_aten_ge_Scalar_out, {0, 1, 1, 0}},
        {&wick_op_aten_gt_Scalar_out, {0, 0, 1, 0}}, {&wick_op_aten_le_Scalar_out, {1, 1, 0, 0}}, {&wick_op_aten_lt_Scalar_out, {1, 0, 0, 0}},
    };
    (void)state;
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cases); i++) {
        struct call *c = call_new();
        CALL_VECTOR(c, 1, 2, 3, NAN);
        call_int(c, 2);
        call_run(c, cases[i].op, NULL);
        assert_int_equal(call_out(c, 0)->shape.dtype, WICK_DTYPE_BOOL);
        call_expect(c, 0, 1, CALL_SIZES(4), cases[i].want, 0);
        call_free(c);
    }
    struct call *c = call_new(); /* i64 is compared exactly, beyond what a double tells apart */
    *(int64_t *)call_shape(c, WICK_DTYPE_I64, 0, NULL, NULL)->data = INT64_MAX;
    *(int64_t *)call_shape(c, WICK_DTYPE_I64, 0, NULL, NULL)->data = INT64_MAX - 1;
    call_run(c, &wick_op_aten_gt_Tensor_out, NULL);
    call_expect(c, 0, 0, NULL, CALL_DOUBLES(1), 0);
    call_free(c);
}

static void on_bits(const struct wick_op *op, int dtype, double a, double b, double want)
{
    struct call *c = call_new();
    call_tensor(c, dtype, 0, NULL, &a);
    call_tensor(c, dtype, 0, NULL, &b);
    call_run(c, op, NULL);
    call_expect(c, 0, 0, NULL, &want, 0);
    call_free(c);
}

static void logic_and_bits(void **state)
{
    (void)state;
    on_bits(&wick_op_aten_logical_xor_out, WICK_DTYPE_F32, 3, 0, 1);
    on_bits(&wick_op_aten_bitwise_and_Tensor_out, WICK_DTYPE_BOOL, 1, 0, 0);
    on_bits(&wick_op_aten_bitwise_or_Tensor_out, WICK_DTYPE_I32, 5, 8, 13);
    on_bits(&wick_op_aten_bitwise_left_shift_Tensor_out, WICK_DTYPE_I8, 1, 9, 0);
    on_bits(&wick_op_aten_bitwise_left_shift_Tensor_out, WICK_DTYPE_I32, 1, -1, 0);
    on_bits(&wick_op_aten_bitwise_right_shift_Tensor_out, WICK_DTYPE_I16, -3, 100, -1);
    struct call *c = call_new();
    call_tensor(c, WICK_DTYPE_BOOL, 1, CALL_SIZES(2), CALL_DOUBLES(1, 0));
    call_run(c, &wick_op_aten_bitwise_not_out, NULL);
    CALL_EXPECT_VECTOR(c, 0, 0, 1);
    call_free(c);
    c = call_new();
    call_tensor(c, WICK_DTYPE_U8, 1, CALL_SIZES(2), CALL_DOUBLES(1, 0));
    call_run(c, &wick_op_aten_bitwise_not_out, NULL);
    CALL_EXPECT_VECTOR(c, 0, 254, 255);
    call_free(c);
    c = call_new();
    CALL_VECTOR(c, 1);
    CALL_VECTOR(c, 1);
    call_run(c, &wick_op_aten_bitwise_and_Tensor_out, NULL);
    call_expect_error(c, WICK_INVALID_TYPE, "bits");
    call_free(c);
}

static void choice(void **state)
{
    (void)state;
    struct call *c = call_new(); /* [2, 1] ? scalar : [3] */
    call_tensor(c, WICK_DTYPE_BOOL, 2, CALL_SIZES(2, 1), CALL_DOUBLES(1, 0));
    call_tensor(c, WICK_DTYPE_F32, 0, NULL, CALL_DOUBLES(-INFINITY));
    call_tensor(c, WICK_DTYPE_F32, 1, CALL_SIZES(3), CALL_DOUBLES(1, 2, 3));
    call_run(c, &wick_op_aten_where_self_out, NULL);
    call_expect(c, 0, 2, CALL_SIZES(2, 3), CALL_DOUBLES(-INFINITY, -INFINITY, -INFINITY, 1, 2, 3), 0);
    call_free(c);
    c = call_new();
    CALL_VECTOR(c, 1);
    CALL_VECTOR(c, 1);
    CALL_VECTOR(c, 1);
    call_run(c, &wick_op_aten_where_self_out, NULL);
    call_expect_error(c, WICK_INVALID_TYPE, "condition");
    call_free(c);
    c = call_new();
    call_tensor(c, WICK_DTYPE_I32, 1, CALL_SIZES(3), CALL_DOUBLES(-5, 1, 9));
    call_none(c);
    call_double(c, 2.5);
    call_run(c, &wick_op_aten_clamp_out, NULL);
    CALL_EXPECT_VECTOR(c, 0, -5, 1, 2.5);
    call_free(c);
    c = call_new(); /* bounds that cross: the upper one wins */
    CALL_VECTOR(c, 0, NAN);
    CALL_VECTOR(c, 3, 3);
    CALL_VECTOR(c, 2, 2);
    call_run(c, &wick_op_aten_clamp_Tensor_out, NULL);
    CALL_EXPECT_VECTOR(c, 0, 2, NAN);
    call_free(c);
    c = call_new();
    CALL_VECTOR(c, 0);
    call_none(c);
    call_none(c);
    call_run(c, &wick_op_aten_clamp_out, NULL);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "neither");
    call_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(comparisons), cmocka_unit_test(logic_and_bits), cmocka_unit_test(choice)};
    return WICK_TEST_MAIN(tests);
}
