/* Views and copies: every operator against the element it should have fetched, for all element sizes and for channels-last inputs. */
#include "ops/call_test.h"
#include "ops/ops.h"

#include <math.h>

/* A tensor whose element at row-major place i holds i + 1, in contiguous or, for rank 4, channels-last order. */
static struct wick_tensor *counted(struct call *c, int dtype, int rank, const int32_t *sizes, bool channels_last)
{
    struct wick_tensor *t = call_shape(c, dtype, rank, sizes, channels_last ? (const uint8_t[]){0, 2, 3, 1} : NULL);
    for (size_t i = 0; i < wick_tensor_numel(t); i++) call_set(t, i, (double)(i % 100) + 1);
    return t;
}

static void expect(struct call *c, int rank, const int32_t *sizes, const double *want) { call_expect(c, 0, rank, sizes, want, 0); }

static const int types[] = {WICK_DTYPE_U8, WICK_DTYPE_I16, WICK_DTYPE_F32, WICK_DTYPE_I64, WICK_DTYPE_BF16, WICK_DTYPE_F64};

static void permutations(void **state)
{
    (void)state;
    const int32_t sizes[4] = {3, 5, 4, 7};
    static const int64_t orders[][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {0, 2, 1, 3}, {1, 0, 3, 2}, {0, 3, 1, 2}, {-1, 0, -3, 2}, {2, 0, 3, 1}};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(orders) * WICK_ARRAY_SIZE(types) * 2; i++) {
        const int64_t *order = orders[i / 2 % WICK_ARRAY_SIZE(orders)];
        struct call *c = call_new();
        const struct wick_tensor *self = counted(c, types[i / 2 / WICK_ARRAY_SIZE(orders)], 4, sizes, i % 2);
        call_ints(c, 4, order);
        WICK_ASSERT_OK(call_run(c, &wick_op_aten_permute_copy_out, NULL), &c->err);
        const struct wick_tensor *out = call_out(c, 0);
        for (int32_t at = 0; at < 420; at++) {
            int32_t rest = at, place[4], from = 0;
            for (int d = 3; d >= 0; d--) {
                int source = (int)(order[d] < 0 ? order[d] + 4 : order[d]);
                assert_int_equal(out->shape.sizes[d], sizes[source]);
                place[source] = rest % sizes[source];
                rest /= sizes[source];
            }
            for (int d = 0; d < 4; d++) from = from * sizes[d] + place[d];
            assert_true(call_get(out, (size_t)at) == call_get(self, (size_t)from));
        }
        call_free(c);
    }
}

/* A large transpose takes the blocked path; edges are not multiples of the block. */
static void large_transpose(void **state)
{
    (void)state;
    struct call *c = call_new();
    struct wick_tensor *self = call_shape(c, WICK_DTYPE_F32, 3, CALL_SIZES(2, 67, 131), NULL);
    for (size_t i = 0; i < wick_tensor_numel(self); i++) ((float *)self->data)[i] = (float)i;
    call_int(c, -1);
    call_int(c, 1);
    WICK_ASSERT_OK(call_run(c, &wick_op_aten_transpose_copy_int_out, NULL), &c->err);
    const float *out = call_out(c, 0)->data;
    for (int b = 0; b < 2; b++)
        for (int i = 0; i < 131; i++)
            for (int j = 0; j < 67; j++) assert_true(out[(b * 131 + i) * 67 + j] == (float)((b * 67 + j) * 131 + i));
    call_free(c);
}

static void slices(void **state)
{
    (void)state;
    static const struct {
        int64_t start, end, step;
        int32_t count;
        double first, second;
    } cases[] = {
        {0, INT64_MAX, 1, 5, 1, 2}, {1, 3, 1, 2, 2, 3}, {-2, INT64_MAX, 1, 2, 4, 5}, {-100, 100, 2, 3, 1, 3},    {4, 2, 1, 0, 0, 0},
        {1, -1, 2, 2, 2, 4},        {5, 9, 1, 0, 0, 0}, {INT64_MIN, 2, 1, 2, 1, 2},  {0, 5, INT64_MAX, 1, 1, 0},
    };
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cases); i++) {
        struct call *c = call_new();
        counted(c, WICK_DTYPE_I32, 2, CALL_SIZES(2, 5), false);
        call_int(c, -1);
        call_int(c, cases[i].start);
        call_int(c, cases[i].end);
        call_int(c, cases[i].step);
        WICK_ASSERT_OK(call_run(c, &wick_op_aten_slice_copy_Tensor_out, NULL), &c->err);
        const struct wick_tensor *out = call_out(c, 0);
        assert_int_equal(out->shape.sizes[1], cases[i].count);
        if (cases[i].count > 0) assert_true(call_get(out, 0) == cases[i].first && call_get(out, (size_t)cases[i].count) == cases[i].first + 5);
        if (cases[i].count > 1) assert_true(call_get(out, 1) == cases[i].second);
        call_free(c);
    }
    /* None for both ends takes all; a step of 0 and a dim outside are refused. */
    static const int64_t wrong[][2] = {{1, 0}, {1, -1}, {2, 1}, {-3, 1}};
    for (size_t i = 0; i <= WICK_ARRAY_SIZE(wrong); i++) {
        struct call *c = call_new();
        bool good = i == WICK_ARRAY_SIZE(wrong);
        counted(c, WICK_DTYPE_I32, 2, CALL_SIZES(2, 5), false);
        call_int(c, good ? 1 : wrong[i][0]);
        call_none(c);
        call_none(c);
        call_int(c, good ? 1 : wrong[i][1]);
        assert_int_equal(call_run(c, &wick_op_aten_slice_copy_Tensor_out, NULL), good ? WICK_OK : WICK_INVALID_ARGUMENT);
        call_free(c);
    }
}

/* Runs an operator of one tensor and up to four ints on the 2 x 3 tensor 1..6. */
static struct call *run_ints(const struct wick_op *op, uint32_t count, const int64_t *ints)
{
    struct call *c = call_new();
    counted(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 3), false);
    for (uint32_t i = 0; i < count; i++) call_int(c, ints[i]);
    call_run(c, op, NULL);
    return c;
}

static struct call *run_list(const struct wick_op *op, uint32_t count, const int64_t *ints)
{
    struct call *c = call_new();
    counted(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 3), false);
    call_ints(c, count, ints);
    if (strchr(op->meta->signature, 'B')) call_bool(c, false);
    call_run(c, op, NULL);
    return c;
}

#define GOOD(made, rank, sizes, ...)                          \
    do {                                                      \
        struct call *good = made;                             \
        expect(good, rank, sizes, CALL_DOUBLES(__VA_ARGS__)); \
        call_free(good);                                      \
    } while (0)
#define BAD(made, part)                                      \
    do {                                                     \
        struct call *bad = made;                             \
        call_expect_error(bad, WICK_INVALID_ARGUMENT, part); \
        call_free(bad);                                      \
    } while (0)

static void small_views(void **state)
{
    (void)state;
    GOOD(run_ints(&wick_op_aten_t_copy_out, 0, NULL), 2, CALL_SIZES(3, 2), 1, 4, 2, 5, 3, 6);
    GOOD(run_ints(&wick_op_aten_select_copy_int_out, 2, CALL_INTS(1, -1)), 1, CALL_SIZES(2), 3, 6);
    GOOD(run_ints(&wick_op_aten_select_copy_int_out, 2, CALL_INTS(0, 1)), 1, CALL_SIZES(3), 4, 5, 6);
    BAD(run_ints(&wick_op_aten_select_copy_int_out, 2, CALL_INTS(0, 2)), "index 2");
    BAD(run_ints(&wick_op_aten_select_copy_int_out, 2, CALL_INTS(0, INT64_MIN)), "outside dim 0");
    GOOD(run_ints(&wick_op_aten_narrow_copy_out, 3, CALL_INTS(1, 1, 2)), 2, CALL_SIZES(2, 2), 2, 3, 5, 6);
    GOOD(run_ints(&wick_op_aten_narrow_copy_out, 3, CALL_INTS(1, -2, 1)), 2, CALL_SIZES(2, 1), 2, 5);
    BAD(run_ints(&wick_op_aten_narrow_copy_out, 3, CALL_INTS(1, 1, 3)), "dim 1");
    BAD(run_ints(&wick_op_aten_narrow_copy_out, 3, CALL_INTS(1, 1, INT64_MAX)), "dim 1");
    GOOD(run_ints(&wick_op_aten_unsqueeze_copy_out, 1, CALL_INTS(-1)), 3, CALL_SIZES(2, 3, 1), 1, 2, 3, 4, 5, 6);
    GOOD(run_ints(&wick_op_aten_unsqueeze_copy_out, 1, CALL_INTS(0)), 3, CALL_SIZES(1, 2, 3), 1, 2, 3, 4, 5, 6);
    BAD(run_ints(&wick_op_aten_unsqueeze_copy_out, 1, CALL_INTS(3)), "dim 3");
    GOOD(run_ints(&wick_op_aten_squeeze_copy_dim_out, 1, CALL_INTS(1)), 2, CALL_SIZES(2, 3), 1, 2, 3, 4, 5, 6);
    GOOD(run_ints(&wick_op_aten_diagonal_copy_out, 3, CALL_INTS(0, 0, 1)), 1, CALL_SIZES(2), 1, 5);
    GOOD(run_ints(&wick_op_aten_diagonal_copy_out, 3, CALL_INTS(1, 0, 1)), 1, CALL_SIZES(2), 2, 6);
    GOOD(run_ints(&wick_op_aten_diagonal_copy_out, 3, CALL_INTS(-1, 0, 1)), 1, CALL_SIZES(1), 4);
    GOOD(run_ints(&wick_op_aten_diagonal_copy_out, 3, CALL_INTS(INT64_MIN, 0, 1)), 1, CALL_SIZES(0), 0);
    BAD(run_ints(&wick_op_aten_diagonal_copy_out, 3, CALL_INTS(0, 1, 1)), "no two dims");
    GOOD(run_ints(&wick_op_aten_unfold_copy_out, 3, CALL_INTS(1, 2, 1)), 3, CALL_SIZES(2, 2, 2), 1, 2, 2, 3, 4, 5, 5, 6);
    BAD(run_ints(&wick_op_aten_unfold_copy_out, 3, CALL_INTS(1, 4, 1)), "windows of 4");
    GOOD(run_list(&wick_op_aten_flip_out, 1, CALL_INTS(1)), 2, CALL_SIZES(2, 3), 3, 2, 1, 6, 5, 4);
    GOOD(run_list(&wick_op_aten_flip_out, 2, CALL_INTS(0, -1)), 2, CALL_SIZES(2, 3), 6, 5, 4, 3, 2, 1);
    BAD(run_list(&wick_op_aten_flip_out, 2, CALL_INTS(0, -2)), "named twice");
    GOOD(run_list(&wick_op_aten_squeeze_copy_dims_out, 2, CALL_INTS(0, 1)), 2, CALL_SIZES(2, 3), 1, 2, 3, 4, 5, 6);
    GOOD(run_list(&wick_op_aten_view_copy_out, 3, CALL_INTS(3, 1, -1)), 3, CALL_SIZES(3, 1, 2), 1, 2, 3, 4, 5, 6);
    BAD(run_list(&wick_op_aten_view_copy_out, 2, CALL_INTS(4, -1)), "cannot be inferred");
    BAD(run_list(&wick_op_aten_view_copy_out, 2, CALL_INTS(-1, -1)), "second -1");
    BAD(run_list(&wick_op_aten_view_copy_out, 2, CALL_INTS(0, -1)), "cannot be inferred");
    BAD(run_list(&wick_op_aten_view_copy_out, 1, CALL_INTS(5)), "viewed as 5");
    GOOD(run_list(&wick_op_aten_expand_copy_out, 3, CALL_INTS(2, -1, 3)), 3, CALL_SIZES(2, 2, 3), 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6);
    BAD(run_list(&wick_op_aten_expand_copy_out, 3, CALL_INTS(-1, 2, 3)), "dim 0");
    BAD(run_list(&wick_op_aten_expand_copy_out, 2, CALL_INTS(2, 4)), "dim 1");
    BAD(run_list(&wick_op_aten_expand_copy_out, 1, CALL_INTS(3)), "1 sizes");
    GOOD(run_list(&wick_op_aten_repeat_out, 3, CALL_INTS(2, 1, 2)), 3, CALL_SIZES(2, 2, 6), 1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6, 1, 2, 3, 1, 2, 3, 4,
         5, 6, 4, 5, 6);
    BAD(run_list(&wick_op_aten_repeat_out, 2, CALL_INTS(INT64_MAX, 2)), "repeated");
    BAD(run_list(&wick_op_aten_permute_copy_out, 2, CALL_INTS(0, 0)), "named twice");
    BAD(run_list(&wick_op_aten_permute_copy_out, 1, CALL_INTS(0)), "1 dims");
}

static void squeezing(void **state)
{
    (void)state;
    struct call *c = call_new();
    counted(c, WICK_DTYPE_F32, 5, CALL_SIZES(1, 2, 1, 3, 1), false);
    call_ints(c, 2, CALL_INTS(0, -1));
    WICK_ASSERT_OK(call_run(c, &wick_op_aten_squeeze_copy_dims_out, NULL), &c->err);
    expect(c, 3, CALL_SIZES(2, 1, 3), CALL_DOUBLES(1, 2, 3, 4, 5, 6));
    call_free(c);
}

static void strided(void **state)
{
    (void)state;
    static const struct {
        int64_t size[2], stride[2], offset;
        bool good;
    } cases[] = {{{2, 2}, {1, 2}, 1, true},          {{3, 2}, {2, 1}, 0, true},      {{3, 2}, {2, 1}, 1, false}, {{2, 2}, {-1, 1}, 3, false},
                 {{2, 2}, {INT64_MAX, 1}, 0, false}, {{0, 2}, {100, 100}, 50, true}, {{1, 1}, {0, 0}, 6, false}, {{1, 1}, {0, 0}, -1, false}};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cases); i++) {
        struct call *c = call_new();
        counted(c, WICK_DTYPE_I16, 1, CALL_SIZES(6), false);
        call_ints(c, 2, cases[i].size);
        call_ints(c, 2, cases[i].stride);
        call_int(c, cases[i].offset);
        assert_int_equal(call_run(c, &wick_op_aten_as_strided_copy_out, NULL), cases[i].good ? WICK_OK : WICK_INVALID_ARGUMENT);
        if (i == 0) expect(c, 2, CALL_SIZES(2, 2), CALL_DOUBLES(2, 4, 3, 5));
        call_free(c);
    }
}

/* pixel_shuffle and its inverse give the input back; one known value. */
static void shuffles(void **state)
{
    (void)state;
    struct call *a = call_new(), *b = call_new();
    const struct wick_tensor *self = counted(a, WICK_DTYPE_F32, 4, CALL_SIZES(2, 12, 2, 3), true);
    call_int(a, 2);
    WICK_ASSERT_OK(call_run(a, &wick_op_aten_pixel_shuffle_out, (const int[]){-1}), &a->err);
    call_free(a);
    a = call_new();
    self = counted(a, WICK_DTYPE_F32, 4, CALL_SIZES(2, 12, 2, 3), false);
    call_int(a, 2);
    WICK_ASSERT_OK(call_run(a, &wick_op_aten_pixel_shuffle_out, NULL), &a->err);
    const struct wick_tensor *shuffled = call_out(a, 0);
    assert_int_equal(shuffled->shape.sizes[1], 3);
    assert_int_equal(shuffled->shape.sizes[2], 4);
    /* out[0, 1, 3, 4] = in[0, 1 * 4 + (3 % 2) * 2 + 4 % 2, 1, 2] */
    assert_true(call_get(shuffled, (size_t)((1 * 4 + 3) * 6 + 4)) == call_get(self, (size_t)((6 * 2 + 1) * 3 + 2)));
    struct wick_tensor *again = call_shape(b, WICK_DTYPE_F32, 4, shuffled->shape.sizes, NULL);
    memcpy(again->data, shuffled->data, wick_tensor_nbytes(again));
    call_int(b, 2);
    WICK_ASSERT_OK(call_run(b, &wick_op_aten_pixel_unshuffle_out, NULL), &b->err);
    assert_memory_equal(call_out(b, 0)->data, self->data, wick_tensor_nbytes(self));
    call_free(a);
    call_free(b);
}

/* ---- copies and conversions ---- */

static void copies(void **state)
{
    (void)state;
    struct call *c = call_new();
    struct wick_tensor *self = counted(c, WICK_DTYPE_F32, 3, CALL_SIZES(2, 2, 3), false);
    call_tensor(c, WICK_DTYPE_I64, 2, CALL_SIZES(2, 1), CALL_DOUBLES(-7, 9));
    call_bool(c, false);
    WICK_ASSERT_OK(call_run(c, &wick_op_aten_copy_out, NULL), &c->err);
    expect(c, 3, CALL_SIZES(2, 2, 3), CALL_DOUBLES(-7, -7, -7, 9, 9, 9, -7, -7, -7, 9, 9, 9));
    c->count = c->inputs;
    WICK_ASSERT_OK(call_direct(c, &wick_op_aten_copy_), &c->err);
    for (size_t i = 0; i < 12; i++) assert_true(call_get(self, i) == (i / 3 % 2 ? 9 : -7));
    c->values[2].as.b = true;
    assert_int_equal(call_direct(c, &wick_op_aten_copy_), WICK_INVALID_ARGUMENT);
    call_free(c);
    c = call_new();
    counted(c, WICK_DTYPE_F32, 1, CALL_SIZES(3), false);
    counted(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 3), false);
    call_bool(c, false);
    call_run(c, &wick_op_aten_copy_out, NULL);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "does not expand");
    call_free(c);
}

/* Channels-last to contiguous and back, with and without a conversion. */
static void dim_orders(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct call *c = call_new();
        const struct wick_tensor *self = counted(c, WICK_DTYPE_F32, 4, CALL_SIZES(2, 3, 4, 5), i % 2);
        call_bool(c, false);
        if (i % 2) call_ints(c, 4, CALL_INTS(0, 1, 2, 3));
        else call_ints(c, 4, CALL_INTS(0, 2, 3, 1));
        WICK_ASSERT_OK(call_run(c, &wick_op_dim_order_ops__to_dim_order_copy_out, (const int[]){i < 2 ? -1 : WICK_DTYPE_F16}), &c->err);
        assert_int_equal(call_out(c, 0)->strides[1], i % 2 ? 20 : 1);
        for (size_t k = 0; k < 120; k++) assert_true(call_get(call_out(c, 0), k) == call_get(self, k));
        call_free(c);
    }
    struct call *c = call_new();
    counted(c, WICK_DTYPE_F32, 4, CALL_SIZES(2, 3, 4, 5), false);
    call_bool(c, false);
    call_ints(c, 4, CALL_INTS(3, 2, 1, 0));
    call_run(c, &wick_op_dim_order_ops__to_dim_order_copy_out, NULL);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "neither contiguous");
    call_free(c);
}

static void identities(void **state)
{
    (void)state;
    static const struct wick_op *const ops[] = {&wick_op_aten_alias_copy_out, &wick_op_aten_detach_copy_out,  &wick_op_aten_lift_fresh_copy_out,
                                                &wick_op_aten_clone_out,      &wick_op_et_copy__h2d_copy_out, &wick_op_et_copy__d2h_copy_out};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(ops) * WICK_ARRAY_SIZE(types); i++) {
        const struct wick_op *op = ops[i / WICK_ARRAY_SIZE(types)];
        struct call *c = call_new();
        const struct wick_tensor *self = counted(c, types[i % WICK_ARRAY_SIZE(types)], 4, CALL_SIZES(2, 3, 4, 5), i % 2);
        if (op == &wick_op_aten_clone_out) call_none(c);
        WICK_ASSERT_OK(call_run(c, op, NULL), &c->err);
        for (size_t k = 0; k < 120; k++) assert_true(call_get(call_out(c, 0), k) == call_get(self, k));
        call_free(c);
    }
    /* An out of another type is refused rather than overrun. */
    struct call *c = call_new();
    counted(c, WICK_DTYPE_F64, 1, CALL_SIZES(6), false);
    call_run(c, &wick_op_aten_alias_copy_out, (const int[]){WICK_DTYPE_F32});
    call_expect_error(c, WICK_INVALID_TYPE, "FLOAT");
    call_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(permutations), cmocka_unit_test(large_transpose), cmocka_unit_test(slices),   cmocka_unit_test(small_views),
        cmocka_unit_test(squeezing),    cmocka_unit_test(strided),         cmocka_unit_test(shuffles), cmocka_unit_test(copies),
        cmocka_unit_test(dim_orders),   cmocka_unit_test(identities),
    };
    return WICK_TEST_MAIN(tests);
}
