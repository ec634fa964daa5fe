/* The engine: any broadcast, layout and mixture of types agrees with a walk over indices, in place too, whatever the threads. */
#include "ops/call_test.h"

/* Value of element `at` (row-major) of out that t broadcasts to. */
static double broadcast_get(const struct wick_tensor *t, const struct wick_tensor *out, size_t at)
{
    int64_t offset = 0;
    for (int d = out->shape.rank - 1, own = t->shape.rank - 1; own >= 0; d--, own--) {
        size_t index = at % (size_t)out->shape.sizes[d];
        at /= (size_t)out->shape.sizes[d];
        if (t->shape.sizes[own] != 1) offset += (int64_t)index * t->strides[own];
    }
    double value;
    int64_t bytes = (int64_t)wick_dtype_size(t->shape.dtype);
    wick_loader(t->shape.dtype, WICK_COMPUTE_F64)(&value, (const char *)t->data + offset * bytes, 1, 1);
    return value;
}

/* A tensor of small integers (exact in every type) whose dims are out's or 1, with leading dims left out. */
static struct wick_tensor *random_operand(struct call *c, uint64_t *seed, int dtype, int rank, const int32_t *sizes, bool full)
{
    static const uint8_t orders[2][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}};
    int32_t own[4];
    int drop = full ? 0 : (int)(wick_test_random(seed) % (uint64_t)(rank + 1)), own_rank = rank - drop;
    for (int d = 0; d < own_rank; d++) own[d] = !full && wick_test_random(seed) % 3 == 0 ? 1 : sizes[drop + d];
    const uint8_t *order = own_rank == 4 && full ? orders[wick_test_random(seed) % 2] : NULL;
    struct wick_tensor *t = call_shape(c, dtype, own_rank, own, order);
    for (size_t i = 0; i < wick_tensor_numel(t); i++) call_set(t, i, (double)(wick_test_random(seed) % 8));
    return t;
}

static void any_layout(void **state)
{
    static const int dtypes[] = {WICK_DTYPE_F32, WICK_DTYPE_F64, WICK_DTYPE_F16, WICK_DTYPE_BF16,
                                 WICK_DTYPE_I64, WICK_DTYPE_I32, WICK_DTYPE_U8,  WICK_DTYPE_I16};
    static const int32_t bounds[4] = {3, 5, 7, 300};
    uint64_t seed = 42;
    (void)state;
    for (int round = 0; round < 400; round++) {
        struct call *c = call_new();
        int rank = (int)(wick_test_random(&seed) % 5);
        int32_t sizes[4];
        for (int d = 0; d < rank; d++) sizes[d] = (int32_t)(wick_test_random(&seed) % (uint64_t)(bounds[d] + 1));
        const struct wick_tensor *a = random_operand(c, &seed, dtypes[wick_test_random(&seed) % 8], rank, sizes, true);
        const struct wick_tensor *b = random_operand(c, &seed, dtypes[wick_test_random(&seed) % 8], rank, sizes, false);
        WICK_ASSERT_OK(call_run(c, &wick_op_aten_mul_out, NULL), &c->err);
        const struct wick_tensor *out = call_out(c, 0);
        for (size_t i = 0; i < wick_tensor_numel(out); i++) assert_true(call_get(out, i) == broadcast_get(a, out, i) * broadcast_get(b, out, i));
        call_free(c);
    }
}

static void threads_agree(void **state)
{
    const int32_t sizes[2] = {130, 1000}, row[1] = {1000};
    struct call *c[2] = {call_new(), call_new()};
    struct wick_pool *pool;
    (void)state;
    WICK_ASSERT_OK(wick_pool_create(&pool, 3, &c[0]->err), &c[0]->err);
    c[1]->pool = pool;
    for (int k = 0; k < 2; k++) {
        uint64_t seed = 7;
        struct wick_tensor *a = call_shape(c[k], WICK_DTYPE_F32, 2, sizes, NULL), *b = call_shape(c[k], WICK_DTYPE_F16, 1, row, NULL);
        for (size_t i = 0; i < wick_tensor_numel(a); i++) call_set(a, i, wick_test_uniform(&seed));
        for (size_t i = 0; i < wick_tensor_numel(b); i++) call_set(b, i, wick_test_uniform(&seed));
        call_double(c[k], 0.5);
        WICK_ASSERT_OK(call_run(c[k], &wick_op_aten_add_out, NULL), &c[k]->err);
    }
    assert_memory_equal(call_out(c[0], 0)->data, call_out(c[1], 0)->data, wick_tensor_nbytes(call_out(c[0], 0)));
    wick_pool_destroy(pool);
    call_free(c[0]);
    call_free(c[1]);
}

static void in_place(void **state)
{
    struct call *c = call_new();
    const int32_t sizes[2] = {3, 400};
    double want[1200];
    (void)state;
    struct wick_tensor *a = call_shape(c, WICK_DTYPE_BF16, 2, sizes, NULL), *b = call_shape(c, WICK_DTYPE_BF16, 1, sizes + 1, NULL);
    for (size_t i = 0; i < 1200; i++) call_set(a, i, (double)(i % 13));
    for (size_t i = 0; i < 400; i++) call_set(b, i, (double)(i % 5));
    for (size_t i = 0; i < 1200; i++) want[i] = (double)(i % 13 + i % 400 % 5);
    call_int(c, 1);
    call_value(c, (struct wick_value){.tag = WICK_TAG_TENSOR, .as.tensor = a}); /* out is arg 0 */
    struct wick_args args = {c->values, c->ids, c->count};
    struct wick_run run = {.ukernels = &c->ukernels, .temp = &c->temp, .err = &c->err};
    WICK_ASSERT_OK(wick_op_aten_add_out.run(&args, NULL, &run), &c->err);
    for (size_t i = 0; i < 1200; i++) assert_true(call_get(a, i) == want[i]);
    call_free(c);
}

/* Converting out of an integer's range must not be undefined; in range, floats lose their fraction. */
static void conversions(void **state)
{
    const double in[] = {1e300, -1e300, NAN, 2.75, -2.75, 300};
    int64_t wide[6];
    int32_t middle[6];
    uint8_t narrow[6];
    uint8_t truth[6];
    (void)state;
    wick_storer(WICK_DTYPE_I64, WICK_COMPUTE_F64)(wide, 1, in, 6);
    wick_storer(WICK_DTYPE_I32, WICK_COMPUTE_F64)(middle, 1, in, 6);
    wick_storer(WICK_DTYPE_U8, WICK_COMPUTE_F64)(narrow, 1, in, 6);
    wick_storer(WICK_DTYPE_BOOL, WICK_COMPUTE_F64)(truth, 1, in, 6);
    assert_true(wide[0] == INT64_MIN && wide[1] == INT64_MIN && wide[2] == INT64_MIN && wide[3] == 2 && wide[4] == -2);
    assert_true(middle[0] == INT32_MIN && middle[2] == INT32_MIN && middle[3] == 2 && middle[5] == 300);
    assert_true(narrow[3] == 2 && narrow[5] == 44);
    for (int i = 0; i < 6; i++) assert_int_equal(truth[i], 1);
    assert_null(wick_loader(WICK_DTYPE_C64, WICK_COMPUTE_F32));
    assert_null(wick_storer(WICK_DTYPE_U64, WICK_COMPUTE_F32));
}

static void refusals(void **state)
{
    (void)state;
    struct call *c = call_new(); /* shapes that do not broadcast */
    call_shape(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 3), NULL);
    call_shape(c, WICK_DTYPE_F32, 1, CALL_SIZES(4), NULL);
    call_run(c, &wick_op_aten_mul_out, NULL);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "do not broadcast");
    call_free(c);
    c = call_new(); /* a float result does not go into integers */
    CALL_VECTOR(c, 1, 2);
    CALL_VECTOR(c, 1, 2);
    call_run(c, &wick_op_aten_mul_out, (const int[]){WICK_DTYPE_I32});
    call_expect_error(c, WICK_INVALID_TYPE, "FLOAT");
    call_free(c);
    c = call_new(); /* no arithmetic on complex numbers */
    call_shape(c, WICK_DTYPE_C64, 1, CALL_SIZES(2), NULL);
    call_shape(c, WICK_DTYPE_C64, 1, CALL_SIZES(2), NULL);
    call_run(c, &wick_op_aten_mul_out, NULL);
    call_expect_error(c, WICK_INVALID_TYPE, "COMPLEXFLOAT");
    call_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_layout), cmocka_unit_test(threads_agree), cmocka_unit_test(in_place),
                                       cmocka_unit_test(conversions), cmocka_unit_test(refusals)};
    return WICK_TEST_MAIN(tests);
}
