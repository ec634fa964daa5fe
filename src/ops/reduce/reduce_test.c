/* Reductions over any dims and layout, scans, sorting, softmax, normalisation, distances; refusals. */
#include "ops/call_test.h"

/* Sums over every subset of dims of a channels-last tensor agree with a walk over indices. */
static void sums_of_any_dims(void **state)
{
    const int32_t sizes[4] = {2, 3, 4, 5};
    (void)state;
    for (uint32_t mask = 1; mask < 16; mask++)
        for (int keep = 0; keep < 2; keep++) {
            struct call *c = call_new();
            struct wick_tensor *in = call_shape(c, mask & 1 ? WICK_DTYPE_F32 : WICK_DTYPE_F64, 4, sizes, (const uint8_t[]){0, 2, 3, 1});
            int64_t dims[4];
            int32_t kept[4];
            uint32_t count = 0;
            int rank = 0;
            for (int d = 0; d < 4; d++) {
                if (mask >> d & 1) dims[count++] = d % 2 ? d : d - 4;
                if (!(mask >> d & 1) || keep) kept[rank++] = mask >> d & 1 ? 1 : sizes[d];
            }
            double want[120] = {0};
            for (size_t i = 0; i < 120; i++) {
                size_t at = 0, rest = i, index[4];
                for (int d = 3; d >= 0; d--) {
                    index[d] = rest % (size_t)sizes[d];
                    rest /= (size_t)sizes[d];
                }
                for (int d = 0; d < 4; d++)
                    if (!(mask >> d & 1)) at = at * (size_t)sizes[d] + index[d];
                call_set(in, i, (double)(i * 7 % 31));
                want[at] += (double)(i * 7 % 31);
            }
            call_ints(c, count, dims);
            call_bool(c, keep);
            call_none(c);
            call_run(c, &wick_op_aten_sum_IntList_out, NULL);
            call_expect(c, 0, rank, kept, want, 0);
            call_free(c);
        }
}

static void means(void **state)
{
    (void)state;
    struct call *c = call_new(); /* the row of RMS normalisation */
    call_tensor(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 3), CALL_DOUBLES(1, 2, 6, -1, 0, 4));
    call_ints(c, 1, CALL_INTS(-1));
    call_bool(c, true);
    call_none(c);
    call_run(c, &wick_op_aten_mean_out, NULL);
    call_expect(c, 0, 2, CALL_SIZES(2, 1), CALL_DOUBLES(3, 1), 1e-7);
    call_free(c);
    c = call_new(); /* halves accumulate wider: 4096 ones */
    struct wick_tensor *ones = call_shape(c, WICK_DTYPE_F16, 1, CALL_SIZES(4096), NULL);
    for (size_t i = 0; i < 4096; i++) call_set(ones, i, 1);
    call_none(c);
    call_bool(c, false);
    call_none(c);
    call_run(c, &wick_op_aten_mean_out, NULL);
    call_expect(c, 0, 0, NULL, CALL_DOUBLES(1), 0);
    call_free(c);
    c = call_new(); /* nothing has no mean */
    call_shape(c, WICK_DTYPE_F32, 1, CALL_SIZES(0), NULL);
    call_none(c);
    call_bool(c, false);
    call_none(c);
    call_run(c, &wick_op_aten_mean_out, NULL);
    call_expect(c, 0, 0, NULL, CALL_DOUBLES(NAN), 0);
    call_free(c);
    c = call_new();
    call_tensor(c, WICK_DTYPE_I32, 1, CALL_SIZES(2), CALL_DOUBLES(1, 2));
    call_none(c);
    call_bool(c, false);
    call_none(c);
    call_run(c, &wick_op_aten_mean_out, NULL);
    call_expect_error(c, WICK_INVALID_TYPE, "float");
    call_free(c);
    c = call_new();
    CALL_VECTOR(c, 1);
    call_ints(c, 2, CALL_INTS(0, -1));
    call_bool(c, false);
    call_none(c);
    call_run(c, &wick_op_aten_mean_out, NULL);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "twice");
    call_free(c);
}

static void extremes(void **state)
{
    (void)state;
    struct call *c = call_new(); /* the first of equals, a NaN before all */
    call_tensor(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 4), CALL_DOUBLES(1, 7, 7, 0, 2, NAN, 9, NAN));
    call_int(c, 1);
    call_bool(c, false);
    call_run(c, &wick_op_aten_max_dim_max, NULL);
    call_expect(c, 0, 1, CALL_SIZES(2), CALL_DOUBLES(7, NAN), 0);
    call_expect(c, 1, 1, CALL_SIZES(2), CALL_DOUBLES(1, 1), 0);
    call_free(c);
    c = call_new();
    call_tensor(c, WICK_DTYPE_I64, 2, CALL_SIZES(2, 2), CALL_DOUBLES(5, 3, 4, 3));
    call_none(c);
    call_bool(c, true);
    call_run(c, &wick_op_aten_argmin_out, NULL);
    call_expect(c, 0, 2, CALL_SIZES(1, 1), CALL_DOUBLES(1), 0);
    call_free(c);
    c = call_new();
    call_shape(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 0), NULL);
    call_ints(c, 1, CALL_INTS(1));
    call_bool(c, false);
    call_run(c, &wick_op_aten_amax_out, NULL);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "no elements");
    call_free(c);
    c = call_new();
    call_tensor(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 2), CALL_DOUBLES(0, 0, 0, NAN));
    call_int(c, -1);
    call_bool(c, true);
    call_run(c, &wick_op_aten_any_out, NULL);
    call_expect(c, 0, 2, CALL_SIZES(2, 1), CALL_DOUBLES(0, 1), 0);
    call_free(c);
    c = call_new();
    CALL_VECTOR(c, 1, 2);
    call_int(c, 1);
    call_bool(c, false);
    call_run(c, &wick_op_aten_max_dim_max, NULL);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "dim 1");
    call_free(c);
}

static void scans(void **state)
{
    (void)state;
    struct call *c = call_new();
    call_tensor(c, WICK_DTYPE_U8, 2, CALL_SIZES(2, 3), CALL_DOUBLES(100, 100, 100, 1, 2, 3));
    call_int(c, 1);
    call_none(c);
    call_run(c, &wick_op_aten_cumsum_out, NULL);
    assert_int_equal(call_out(c, 0)->shape.dtype, WICK_DTYPE_I64);
    call_expect(c, 0, 2, CALL_SIZES(2, 3), CALL_DOUBLES(100, 200, 300, 1, 3, 6), 0);
    call_free(c);
    for (int largest = 0; largest < 2; largest++) {
        c = call_new();
        CALL_VECTOR(c, 3, -1, NAN, 3, 8, 0);
        call_int(c, 3);
        call_int(c, 0);
        call_bool(c, largest);
        call_bool(c, true);
        call_run(c, &wick_op_aten_topk_values, NULL);
        call_expect(c, 0, 1, CALL_SIZES(3), largest ? CALL_DOUBLES(NAN, 8, 3) : CALL_DOUBLES(-1, 0, 3), 0);
        call_expect(c, 1, 1, CALL_SIZES(3), largest ? CALL_DOUBLES(2, 4, 0) : CALL_DOUBLES(1, 5, 0), 0);
        call_free(c);
    }
    c = call_new();
    CALL_VECTOR(c, 1, 2);
    call_int(c, 3);
    call_int(c, 0);
    call_bool(c, true);
    call_bool(c, true);
    call_run(c, &wick_op_aten_topk_values, NULL);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "k is 3");
    call_free(c);
}

static void softmaxes(void **state)
{
    (void)state;
    for (int dim = 0; dim < 2; dim++) /* along columns by the general way, along rows by the micro-kernel */
        for (int logarithm = 0; logarithm < 2; logarithm++) {
            struct call *c = call_new();
            double values[4] = {0, 1, -2, 3}, want[4];
            call_tensor(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 2), values);
            for (int i = 0; i < 4; i++) {
                double other = values[dim ? i ^ 1 : i ^ 2];
                want[i] = 1 / (1 + exp(other - values[i]));
                if (logarithm) want[i] = log(want[i]);
            }
            call_int(c, dim - 2);
            call_bool(c, false);
            call_run(c, logarithm ? &wick_op_aten__log_softmax_out : &wick_op_aten__softmax_out, NULL);
            call_expect(c, 0, 2, CALL_SIZES(2, 2), want, 1e-6);
            call_free(c);
        }
    struct call *c = call_new(); /* masked scores */
    CALL_VECTOR(c, -INFINITY, 5, -INFINITY);
    call_int(c, 0);
    call_bool(c, false);
    call_run(c, &wick_op_aten__softmax_out, NULL);
    CALL_EXPECT_VECTOR(c, 0, 0, 1, 0);
    call_free(c);
}

static void variances_and_norms(void **state)
{
    (void)state;
    struct call *c = call_new();
    call_tensor(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 2), CALL_DOUBLES(1, 3, 5, 5));
    call_ints(c, 1, CALL_INTS(1));
    call_int(c, 1);
    call_bool(c, false);
    call_run(c, &wick_op_aten_var_mean_correction_out, NULL);
    call_expect(c, 0, 1, CALL_SIZES(2), CALL_DOUBLES(2, 0), 1e-6);
    call_expect(c, 1, 1, CALL_SIZES(2), CALL_DOUBLES(2, 5), 1e-6);
    call_free(c);
    c = call_new(); /* (x - 2) / 1, times weight, plus bias */
    call_tensor(c, WICK_DTYPE_F32, 2, CALL_SIZES(1, 2), CALL_DOUBLES(1, 3));
    call_ints(c, 1, CALL_INTS(2));
    CALL_VECTOR(c, 2, 3);
    CALL_VECTOR(c, 10, 20);
    call_double(c, 0);
    call_run(c, &wick_op_aten_native_layer_norm_out, NULL);
    call_expect(c, 0, 2, CALL_SIZES(1, 2), CALL_DOUBLES(8, 23), 1e-6);
    call_expect(c, 1, 2, CALL_SIZES(1, 1), CALL_DOUBLES(2), 1e-6);
    call_expect(c, 2, 2, CALL_SIZES(1, 1), CALL_DOUBLES(1), 1e-6);
    call_free(c);
    c = call_new(); /* a weight of another length is refused */
    call_tensor(c, WICK_DTYPE_F32, 2, CALL_SIZES(1, 2), CALL_DOUBLES(1, 3));
    call_ints(c, 1, CALL_INTS(2));
    CALL_VECTOR(c, 2);
    call_none(c);
    call_double(c, 0);
    call_run(c, &wick_op_aten_native_layer_norm_out, NULL);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "weight");
    call_free(c);
    c = call_new();
    call_tensor(c, WICK_DTYPE_F32, 2, CALL_SIZES(3, 2), CALL_DOUBLES(0, 0, 3, 4, 0, 0));
    call_double(c, 2);
    call_run(c, &wick_op_aten__pdist_forward_out, NULL);
    CALL_EXPECT_VECTOR(c, 1e-6, 5, 0, 5);
    call_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_of_any_dims), cmocka_unit_test(means),
                                       cmocka_unit_test(extremes),         cmocka_unit_test(scans),
                                       cmocka_unit_test(softmaxes),        cmocka_unit_test(variances_and_norms)};
    return WICK_TEST_MAIN(tests);
}
