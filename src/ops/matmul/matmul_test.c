/* Matrix products of all types against sums in double; packed and unpacked ways agree bit for bit, as do any number of
 * rows and threads. */
#include "ops/call_test.h"

static void fill(struct wick_tensor *t, uint64_t *seed)
{
    bool floats = wick_dtype_is_float(t->shape.dtype);
    for (size_t i = 0; i < wick_tensor_numel(t); i++) call_set(t, i, floats ? wick_test_uniform(seed) : (double)(wick_test_random(seed) % 5) - 2);
}

/* Checks out [m, n] = a [m, k] x w, where w is [k, n] or (straight) [n, k], plus a row. */
static void expect_product(const struct wick_tensor *out, const struct wick_tensor *a, const struct wick_tensor *w, bool straight,
                           const struct wick_tensor *bias, double tolerance)
{
    size_t k = (size_t)a->shape.sizes[a->shape.rank - 1], n = (size_t)out->shape.sizes[out->shape.rank - 1], m = wick_tensor_numel(out) / (n ? n : 1);
    for (size_t i = 0; i < m * n; i++) {
        double sum = bias ? call_get(bias, wick_tensor_numel(bias) == 1 ? 0 : i % n) : 0;
        for (size_t j = 0; j < k; j++) sum += call_get(a, i / n * k + j) * call_get(w, straight ? i % n * k + j : j * n + i % n);
        double off = fabs(call_get(out, i) - sum);
        if (!(off <= tolerance * (1 + fabs(sum)))) fail_msg("element %zu: %g, want %g", i, call_get(out, i), sum);
    }
}

static const int dtypes[] = {WICK_DTYPE_F32, WICK_DTYPE_F64, WICK_DTYPE_F16, WICK_DTYPE_BF16, WICK_DTYPE_I32};
static const double tolerances[] = {1e-5, 1e-12, 3e-3, 3e-2, 0};

static void products(void **state)
{
    static const int32_t shapes[][3] = {{1, 1, 1}, {3, 5, 7}, {1, 64, 33}, {17, 33, 300}, {2, 0, 3}, {0, 2, 3}, {2, 3, 0}};
    uint64_t seed = 1;
    (void)state;
    for (size_t s = 0; s < WICK_ARRAY_SIZE(shapes); s++)
        for (size_t d = 0; d < WICK_ARRAY_SIZE(dtypes); d++) {
            int32_t m = shapes[s][0], k = shapes[s][1], n = shapes[s][2];
            struct call *c = call_new();
            struct wick_tensor *a = call_shape(c, dtypes[d], 2, CALL_SIZES(m, k), NULL), *w = call_shape(c, dtypes[d], 2, CALL_SIZES(k, n), NULL);
            fill(a, &seed);
            fill(w, &seed);
            WICK_ASSERT_OK(call_run(c, &wick_op_aten_mm_out, NULL), &c->err);
            expect_product(call_out(c, 0), a, w, false, NULL, tolerances[d]);
            call_free(c);
        }
}

/* A batch: each matrix is what mm gives for it alone. */
static void batches(void **state)
{
    (void)state;
    for (int32_t m = 1; m <= 6; m += 5) {
        struct call *c = call_new(), *one = call_new();
        uint64_t seed = 3;
        struct wick_tensor *a = call_shape(c, WICK_DTYPE_F32, 3, CALL_SIZES(3, m, 20), NULL),
                           *w = call_shape(c, WICK_DTYPE_F32, 3, CALL_SIZES(3, 20, 9), NULL);
        fill(a, &seed);
        fill(w, &seed);
        WICK_ASSERT_OK(call_run(c, &wick_op_aten_bmm_out, NULL), &c->err);
        struct wick_tensor *a2 = call_shape(one, WICK_DTYPE_F32, 2, CALL_SIZES(m, 20), NULL),
                           *w2 = call_shape(one, WICK_DTYPE_F32, 2, CALL_SIZES(20, 9), NULL);
        memcpy(a2->data, (float *)a->data + 2 * m * 20, wick_tensor_nbytes(a2));
        memcpy(w2->data, (float *)w->data + 2 * 180, wick_tensor_nbytes(w2));
        WICK_ASSERT_OK(call_run(one, &wick_op_aten_mm_out, NULL), &one->err);
        assert_memory_equal((float *)call_out(c, 0)->data + 2 * m * 9, call_out(one, 0)->data, (size_t)m * 9 * sizeof(float));
        call_free(c);
        call_free(one);
    }
}

/* rows of `input` through aten::linear; constant: the weight and the bias are packed at bind. */
static struct call *linear(int dtype, int32_t m, int32_t k, int32_t n, int32_t bias, bool constant, struct wick_pool *pool)
{
    struct call *c = call_new();
    uint64_t seed = 9;
    c->pool = pool;
    struct wick_tensor *a = call_shape(c, dtype, 3, CALL_SIZES(1, m, k), NULL), *w = call_shape(c, dtype, 2, CALL_SIZES(n, k), NULL), *b = NULL;
    fill(w, &seed);
    if (bias) fill(b = call_shape(c, dtype, 1, CALL_SIZES(bias), NULL), &seed);
    else call_none(c);
    fill(a, &seed);
    w->constant = constant;
    if (b) b->constant = constant;
    WICK_ASSERT_OK(call_run(c, &wick_op_aten_linear_out, NULL), &c->err);
    return c;
}

static void linears(void **state)
{
    (void)state;
    for (size_t d = 0; d < WICK_ARRAY_SIZE(dtypes); d++)
        for (int constant = 0; constant < 2; constant++)
            for (int32_t bias = 0; bias < 3; bias++) {
                struct call *c = linear(dtypes[d], 5, 33, 19, bias == 2 ? 19 : bias, constant, NULL);
                expect_product(call_out(c, 0), &c->tensors[0], &c->tensors[1], true, bias ? &c->tensors[2] : NULL, tolerances[d]);
                call_free(c);
            }
}

/* Row 0 of many rows is what the row alone gives, on any number of threads. */
static void rows_agree(void **state)
{
    struct wick_pool *pool;
    wick_error err;
    (void)state;
    WICK_ASSERT_OK(wick_pool_create(&pool, 3, &err), &err);
    struct call *one = linear(WICK_DTYPE_F32, 1, 300, 700, 700, true, NULL);
    for (int constant = 0; constant < 2; constant++)
        for (int threads = 0; threads < 2; threads++)
            for (int32_t m = 1; m <= 33; m += 8) {
                struct call *many = linear(WICK_DTYPE_F32, m, 300, 700, 700, constant, threads ? pool : NULL);
                assert_memory_equal(call_out(one, 0)->data, call_out(many, 0)->data, 700 * sizeof(float));
                call_free(many);
            }
    call_free(one);
    wick_pool_destroy(pool);
}

static void sums_with_products(void **state)
{
    (void)state;
    struct call *c = call_new(); /* 2 * self + 3 * product */
    call_tensor(c, WICK_DTYPE_F32, 0, NULL, CALL_DOUBLES(10));
    call_tensor(c, WICK_DTYPE_F32, 2, CALL_SIZES(1, 2), CALL_DOUBLES(1, 2));
    call_tensor(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 2), CALL_DOUBLES(1, 0, 0, 1));
    call_int(c, 2);
    call_int(c, 3);
    call_run(c, &wick_op_aten_addmm_out, NULL);
    call_expect(c, 0, 2, CALL_SIZES(1, 2), CALL_DOUBLES(23, 26), 1e-6);
    call_free(c);
    c = call_new(); /* beta 0 hides what self is */
    call_tensor(c, WICK_DTYPE_F32, 1, CALL_SIZES(2), CALL_DOUBLES(NAN, NAN));
    call_tensor(c, WICK_DTYPE_F32, 2, CALL_SIZES(1, 2), CALL_DOUBLES(1, 2));
    call_tensor(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 2), CALL_DOUBLES(1, 0, 0, 1));
    call_int(c, 0);
    call_int(c, 1);
    call_run(c, &wick_op_aten_addmm_out, NULL);
    call_expect(c, 0, 2, CALL_SIZES(1, 2), CALL_DOUBLES(1, 2), 1e-6);
    call_free(c);
}

static void refusals(void **state)
{
    (void)state;
    struct call *c = call_new();
    call_shape(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 3), NULL);
    call_shape(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 3), NULL);
    call_run(c, &wick_op_aten_mm_out, NULL);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "do not multiply");
    call_free(c);
    c = call_new();
    call_shape(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 3), NULL);
    call_shape(c, WICK_DTYPE_F32, 2, CALL_SIZES(4, 3), NULL);
    call_shape(c, WICK_DTYPE_F32, 1, CALL_SIZES(3), NULL);
    call_run(c, &wick_op_aten_linear_out, NULL);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "bias");
    call_free(c);
    c = call_new();
    call_shape(c, WICK_DTYPE_F32, 3, CALL_SIZES(2, 2, 3), NULL);
    call_shape(c, WICK_DTYPE_F32, 3, CALL_SIZES(1, 3, 3), NULL);
    call_run(c, &wick_op_aten_bmm_out, NULL);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "do not multiply");
    call_free(c);
    c = call_new();
    call_shape(c, WICK_DTYPE_F32, 0, NULL, NULL);
    call_shape(c, WICK_DTYPE_F32, 2, CALL_SIZES(1, 1), NULL);
    call_none(c);
    call_run(c, &wick_op_aten_linear_out, NULL);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "do not multiply");
    call_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),           cmocka_unit_test(batches), cmocka_unit_test(linears), cmocka_unit_test(rows_agree),
        cmocka_unit_test(sums_with_products), cmocka_unit_test(refusals)};
    return WICK_TEST_MAIN(tests);
}
