/* Joining, cutting, rolling and masking triangles. */
#include "ops/call_test.h"
#include "ops/ops.h"

#include <math.h>

static void cats(void **state)
{
    (void)state;
    /* [2,1] i32 joined with an empty list and [2,2] f32 gives f32. */
    struct call *c = call_new();
    call_tensor(c, WICK_DTYPE_I32, 2, CALL_SIZES(2, 1), CALL_DOUBLES(1, 2));
    call_shape(c, WICK_DTYPE_F32, 1, CALL_SIZES(0), NULL);
    call_tensor(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 2), CALL_DOUBLES(3.5, 4, 5, 6));
    call_list(c, 3);
    call_int(c, -1);
    WICK_ASSERT_OK(call_run(c, &wick_op_aten_cat_out, NULL), &c->err);
    assert_int_equal(call_out(c, 0)->shape.dtype, WICK_DTYPE_F32);
    call_expect(c, 0, 2, CALL_SIZES(2, 3), CALL_DOUBLES(1, 3.5, 4, 2, 5, 6), 0);
    call_free(c);
    /* A channels-last out. */
    c = call_new();
    for (int i = 0; i < 2; i++) {
        struct wick_tensor *t = call_shape(c, WICK_DTYPE_F32, 4, CALL_SIZES(1, 1 + i, 2, 2), (const uint8_t[]){0, 2, 3, 1});
        for (size_t k = 0; k < wick_tensor_numel(t); k++) call_set(t, k, (double)(10 * i + (int)k));
    }
    call_list(c, 2);
    call_int(c, 1);
    WICK_ASSERT_OK(call_run(c, &wick_op_aten_cat_out, NULL), &c->err);
    assert_int_equal(call_out(c, 0)->strides[1], 1);
    call_expect(c, 0, 4, CALL_SIZES(1, 3, 2, 2), CALL_DOUBLES(0, 1, 2, 3, 10, 11, 12, 13, 14, 15, 16, 17), 0);
    call_free(c);
    static const int32_t wrong[][3] = {{3, 2, 0}, {2, 2, 2}, {2, 2, -3}};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(wrong); i++) {
        c = call_new();
        call_shape(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 1), NULL);
        call_shape(c, WICK_DTYPE_F32, 2, wrong[i], NULL);
        call_list(c, 2);
        call_int(c, wrong[i][2]);
        assert_int_equal(call_run(c, &wick_op_aten_cat_out, NULL), WICK_INVALID_ARGUMENT);
        call_free(c);
    }
}

static void stacks(void **state)
{
    (void)state;
    static const double along[3][4] = {{1, 2, 3, 4}, {1, 3, 2, 4}, {1, 3, 2, 4}};
    for (int dim = 0; dim < 3; dim++) {
        struct call *c = call_new();
        CALL_VECTOR(c, 1, 2);
        CALL_VECTOR(c, 3, 4);
        call_list(c, 2);
        call_int(c, dim == 2 ? -1 : dim);
        WICK_ASSERT_OK(call_run(c, &wick_op_aten_stack_out, NULL), &c->err);
        call_expect(c, 0, 2, CALL_SIZES(2, 2), along[dim], 0);
        call_free(c);
    }
}

/* A tensor 0..5 of [2, 3] cut along dim 1 into outs of the given widths (-1: no such dim in the out). */
static struct call *cut(const struct wick_op *op, int64_t every, uint32_t count, const int64_t *widths, bool unbind)
{
    struct call *c = call_new();
    call_tensor(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 3), CALL_DOUBLES(0, 1, 2, 3, 4, 5));
    if (!unbind && every >= 0) call_int(c, every);
    if (!unbind && every < 0) call_ints(c, count, widths);
    call_int(c, 1);
    for (uint32_t i = 0; i < count; i++) call_shape(c, WICK_DTYPE_F32, unbind ? 1 : 2, CALL_SIZES(2, (int32_t)widths[i]), NULL);
    call_list(c, count);
    call_direct(c, op);
    return c;
}

static struct wick_tensor *piece(struct call *c, int32_t i)
{
    const struct wick_value *list = &c->values[c->ids[c->count - 1]];
    return c->values[list->as.list.indices[i]].as.tensor;
}

static void cuts(void **state)
{
    (void)state;
    struct call *c = cut(&wick_op_aten_split_copy_Tensor_out, 2, 2, CALL_INTS(2, 1), false);
    WICK_ASSERT_OK(c->status, &c->err);
    assert_true(call_get(piece(c, 0), 2) == 3 && call_get(piece(c, 1), 1) == 5);
    call_free(c);
    c = cut(&wick_op_aten_split_with_sizes_copy_out, -1, 3, CALL_INTS(0, 1, 2), false);
    WICK_ASSERT_OK(c->status, &c->err);
    assert_true(call_get(piece(c, 1), 1) == 3 && call_get(piece(c, 2), 3) == 5);
    call_free(c);
    c = cut(&wick_op_aten_unbind_copy_int_out, 0, 3, CALL_INTS(1, 1, 1), true);
    WICK_ASSERT_OK(c->status, &c->err);
    assert_true(call_get(piece(c, 2), 0) == 2 && call_get(piece(c, 2), 1) == 5);
    call_free(c);
    c = cut(&wick_op_aten_split_copy_Tensor_out, 1, 2, CALL_INTS(1, 1), false);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "2 outs for 3 pieces");
    call_free(c);
    c = cut(&wick_op_aten_split_copy_Tensor_out, 0, 2, CALL_INTS(1, 1), false);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "pieces of 0");
    call_free(c);
    c = cut(&wick_op_aten_split_with_sizes_copy_out, -1, 2, CALL_INTS(1, 1), false);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "2 elements");
    call_free(c);
    c = cut(&wick_op_aten_unbind_copy_int_out, 0, 2, CALL_INTS(1, 1), true);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "3 pieces");
    call_free(c);
}

static struct call *roll(uint32_t shifts, const int64_t *shift, uint32_t dims, const int64_t *dim)
{
    struct call *c = call_new();
    call_tensor(c, WICK_DTYPE_I16, 2, CALL_SIZES(2, 3), CALL_DOUBLES(1, 2, 3, 4, 5, 6));
    call_ints(c, shifts, shift);
    call_ints(c, dims, dim);
    call_run(c, &wick_op_aten_roll_out, NULL);
    return c;
}

static void rolls(void **state)
{
    (void)state;
    struct call *c = roll(1, CALL_INTS(2), 0, NULL);
    call_expect(c, 0, 2, CALL_SIZES(2, 3), CALL_DOUBLES(5, 6, 1, 2, 3, 4), 0);
    call_free(c);
    c = roll(2, CALL_INTS(1, -1), 2, CALL_INTS(0, 1));
    call_expect(c, 0, 2, CALL_SIZES(2, 3), CALL_DOUBLES(5, 6, 4, 2, 3, 1), 0);
    call_free(c);
    c = roll(1, CALL_INTS(INT64_MIN), 1, CALL_INTS(1)); /* -2^63 is 1 modulo 3 */
    call_expect(c, 0, 2, CALL_SIZES(2, 3), CALL_DOUBLES(3, 1, 2, 6, 4, 5), 0);
    call_free(c);
    c = roll(2, CALL_INTS(1, 1), 1, CALL_INTS(1));
    call_expect_error(c, WICK_INVALID_ARGUMENT, "2 shifts");
    call_free(c);
}

static void triangles(void **state)
{
    (void)state;
    static const struct {
        int64_t diagonal;
        double want[6];
    } cases[] = {{0, {1, 0, 0, 4, 5, 0}}, {1, {1, 2, 0, 4, 5, 6}}, {-1, {0, 0, 0, 4, 0, 0}}, {INT64_MAX, {1, 2, 3, 4, 5, 6}}, {INT64_MIN, {0}}};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cases); i++) {
        struct call *c = call_new();
        call_tensor(c, WICK_DTYPE_BF16, 2, CALL_SIZES(2, 3), CALL_DOUBLES(1, 2, 3, 4, 5, 6));
        call_int(c, cases[i].diagonal);
        call_run(c, &wick_op_aten_tril_out, NULL);
        call_expect(c, 0, 2, CALL_SIZES(2, 3), cases[i].want, 0);
        call_free(c);
    }
}

static void repeats(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct call *c = call_new();
        call_tensor(c, WICK_DTYPE_I64, 1, CALL_SIZES(3), i == 1 ? CALL_DOUBLES(2, -1, 3) : CALL_DOUBLES(2, 0, 3));
        if (i == 2) call_int(c, 4);
        else call_none(c);
        struct wick_tensor *out = call_shape(c, WICK_DTYPE_I64, 1, CALL_SIZES(10), NULL);
        assert_int_equal(call_direct(c, &wick_op_aten_repeat_interleave_Tensor_out), i ? WICK_INVALID_ARGUMENT : WICK_OK);
        if (i) {
            call_free(c);
            continue;
        }
        assert_int_equal(out->shape.sizes[0], 5);
        for (size_t k = 0; k < 5; k++) assert_true(call_get(out, k) == (k < 2 ? 0 : 2));
        call_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cats),  cmocka_unit_test(stacks),    cmocka_unit_test(cuts),
                                       cmocka_unit_test(rolls), cmocka_unit_test(triangles), cmocka_unit_test(repeats)};
    return WICK_TEST_MAIN(tests);
}
