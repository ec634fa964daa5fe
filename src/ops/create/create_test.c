/* Constants, ranges, random tensors. */
#include "ops/call_test.h"

static void constants(void **state)
{
    static const int dtypes[] = {WICK_DTYPE_F32, WICK_DTYPE_I64, WICK_DTYPE_BOOL, WICK_DTYPE_BF16, WICK_DTYPE_U8};
    double want[700];
    (void)state;
    for (size_t d = 0; d < WICK_ARRAY_SIZE(dtypes); d++) {
        struct call *c = call_new();
        for (int i = 0; i < 700; i++) want[i] = dtypes[d] == WICK_DTYPE_BOOL ? 1 : 3;
        call_ints(c, 2, CALL_INTS(7, 100));
        call_int(c, 3);
        call_run(c, &wick_op_aten_full_out, &dtypes[d]);
        call_expect(c, 0, 2, CALL_SIZES(7, 100), want, 0);
        call_free(c);
    }
    struct call *c = call_new();
    call_double(c, -INFINITY);
    call_run(c, &wick_op_aten_scalar_tensor_out, NULL);
    call_expect(c, 0, 0, NULL, CALL_DOUBLES(-INFINITY), 0);
    call_free(c);
    c = call_new();
    call_ints(c, 2, CALL_INTS(0, 3));
    call_run(c, &wick_op_aten_ones_out, NULL);
    call_expect(c, 0, 2, CALL_SIZES(0, 3), NULL, 0);
    call_free(c);
    c = call_new();
    call_ints(c, 2, CALL_INTS(2, -1));
    call_run(c, &wick_op_aten_zeros_out, NULL);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "size -1 of dim 1");
    call_free(c);
    c = call_new();
    call_ints(c, 4, CALL_INTS(INT32_MAX, INT32_MAX, INT32_MAX, 2));
    call_run(c, &wick_op_aten_zeros_out, NULL);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "too large");
    call_free(c);
}

static void ranges(void **state)
{
    (void)state;
    struct call *c = call_new();
    call_int(c, 4);
    call_run(c, &wick_op_aten_arange_out, NULL);
    assert_int_equal(call_out(c, 0)->shape.dtype, WICK_DTYPE_I64);
    CALL_EXPECT_VECTOR(c, 0, 0, 1, 2, 3);
    call_free(c);
    c = call_new();
    call_int(c, 10);
    call_int(c, 3);
    call_int(c, -3);
    call_run(c, &wick_op_aten_arange_start_out, (const int[]){WICK_DTYPE_I32});
    CALL_EXPECT_VECTOR(c, 0, 10, 7, 4);
    call_free(c);
    c = call_new();
    call_double(c, 0);
    call_double(c, 1);
    call_double(c, 0.3);
    call_run(c, &wick_op_aten_arange_start_out, NULL);
    CALL_EXPECT_VECTOR(c, 1e-7, 0, 0.3, 0.6, 0.9);
    call_free(c);
    static const double bad[][3] = {{0, 5, 0}, {0, 5, -1}, {0, 1e300, 1}, {0, NAN, 1}, {0, 5, NAN}};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(bad); i++) {
        c = call_new();
        for (int k = 0; k < 3; k++) call_double(c, bad[i][k]);
        assert_int_equal(call_run(c, &wick_op_aten_arange_start_out, NULL), WICK_INVALID_ARGUMENT);
        call_free(c);
    }
}

static void randoms(void **state)
{
    (void)state;
    for (int normal = 0; normal < 2; normal++) {
        struct call *c = call_new();
        double sum = 0, squares = 0;
        call_ints(c, 1, CALL_INTS(20000));
        WICK_ASSERT_OK(call_run(c, normal ? &wick_op_aten_randn_out : &wick_op_aten_rand_out, NULL), &c->err);
        for (size_t i = 0; i < 20000; i++) {
            double x = call_get(call_out(c, 0), i);
            if (!normal) assert_true(x >= 0 && x < 1);
            sum += x;
            squares += x * x;
        }
        assert_true(fabs(sum / 20000 - (normal ? 0 : 0.5)) < 0.05);
        assert_true(fabs(squares / 20000 - (normal ? 1 : 1.0 / 3)) < 0.1);
        call_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(constants), cmocka_unit_test(ranges), cmocka_unit_test(randoms)};
    return WICK_TEST_MAIN(tests);
}
