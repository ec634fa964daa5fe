/* Indexing with numpy's rules: positions, masks, several index tensors, accumulation, and what must be refused. */
#include "ops/call_test.h"
#include "ops/ops.h"

#include <math.h>

static struct wick_tensor *counted(struct call *c, int dtype, int rank, const int32_t *sizes)
{
    struct wick_tensor *t = call_shape(c, dtype, rank, sizes, NULL);
    for (size_t i = 0; i < wick_tensor_numel(t); i++) call_set(t, i, (double)i);
    return t;
}

/* Index tensors (NULL values: absent) as the optional list; they are the last `count` tensors made. */
static void index_list(struct call *c, uint32_t count, const bool *absent)
{
    call_list(c, count);
    struct wick_value *list = &c->values[c->count - 1];
    list->tag = WICK_TAG_OPTIONAL_TENSOR_LIST;
    for (uint32_t i = 0; i < count; i++) {
        if (absent[i]) c->indices[c->items - count + i] = -1;
    }
}

static void embeddings(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct call *c = call_new();
        counted(c, i % 2 ? WICK_DTYPE_F16 : WICK_DTYPE_F32, 2, CALL_SIZES(4, 3));
        call_tensor(c, i % 2 ? WICK_DTYPE_I32 : WICK_DTYPE_I64, 2, CALL_SIZES(1, 2),
                    i < 2    ? CALL_DOUBLES(3, 0)
                    : i == 2 ? CALL_DOUBLES(0, 4)
                             : CALL_DOUBLES(-1, 0));
        call_int(c, -1);
        call_bool(c, false);
        call_bool(c, false);
        call_run(c, &wick_op_aten_embedding_out, NULL);
        if (i < 2) call_expect(c, 0, 3, CALL_SIZES(1, 2, 3), CALL_DOUBLES(9, 10, 11, 0, 1, 2), 0);
        else call_expect_error(c, WICK_INVALID_ARGUMENT, "table of 4 rows");
        call_free(c);
    }
}

static void selected(void **state)
{
    (void)state;
    struct call *c = call_new();
    counted(c, WICK_DTYPE_F64, 3, CALL_SIZES(2, 3, 2));
    call_int(c, -2);
    call_tensor(c, WICK_DTYPE_I64, 1, CALL_SIZES(2), CALL_DOUBLES(2, 2));
    call_run(c, &wick_op_aten_index_select_out, NULL);
    call_expect(c, 0, 3, CALL_SIZES(2, 2, 2), CALL_DOUBLES(4, 5, 4, 5, 10, 11, 10, 11), 0);
    call_set(&c->tensors[1], 1, 3);
    c->count = c->inputs;
    call_run(c, &wick_op_aten_index_select_out, NULL);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "index 3");
    call_free(c);
}

/* self [2, 3, 4] = 0..23 with each kind of index list. */
static void advanced(void **state)
{
    (void)state;
    const bool present[3] = {false, false, false};
    struct call *c = call_new();
    counted(c, WICK_DTYPE_F32, 3, CALL_SIZES(2, 3, 4));
    call_tensor(c, WICK_DTYPE_I64, 2, CALL_SIZES(2, 1), CALL_DOUBLES(0, -1));
    call_tensor(c, WICK_DTYPE_I32, 1, CALL_SIZES(2), CALL_DOUBLES(2, 0));
    index_list(c, 2, present);
    call_run(c, &wick_op_aten_index_Tensor_out, NULL);
    call_expect(c, 0, 3, CALL_SIZES(2, 2, 4), CALL_DOUBLES(8, 9, 10, 11, 0, 1, 2, 3, 20, 21, 22, 23, 12, 13, 14, 15), 0);
    call_free(c);
    /* Apart: the index dims come first. */
    c = call_new();
    counted(c, WICK_DTYPE_F32, 3, CALL_SIZES(2, 3, 4));
    call_tensor(c, WICK_DTYPE_I64, 1, CALL_SIZES(2), CALL_DOUBLES(1, 0));
    call_tensor(c, WICK_DTYPE_I64, 0, NULL, CALL_DOUBLES(0));
    call_tensor(c, WICK_DTYPE_I64, 1, CALL_SIZES(2), CALL_DOUBLES(3, 1));
    index_list(c, 3, (const bool[]){false, true, false});
    call_run(c, &wick_op_aten_index_Tensor_out, NULL);
    call_expect(c, 0, 2, CALL_SIZES(2, 3), CALL_DOUBLES(15, 19, 23, 1, 5, 9), 0);
    call_free(c);
    /* In the middle: they take the place of the dim they address. */
    c = call_new();
    counted(c, WICK_DTYPE_F32, 3, CALL_SIZES(2, 3, 4));
    call_tensor(c, WICK_DTYPE_I64, 0, NULL, CALL_DOUBLES(0));
    call_tensor(c, WICK_DTYPE_I64, 1, CALL_SIZES(1), CALL_DOUBLES(1));
    index_list(c, 2, (const bool[]){true, false});
    call_run(c, &wick_op_aten_index_Tensor_out, NULL);
    call_expect(c, 0, 3, CALL_SIZES(2, 1, 4), CALL_DOUBLES(4, 5, 6, 7, 16, 17, 18, 19), 0);
    call_free(c);
    /* A mask over the first two dims. */
    c = call_new();
    counted(c, WICK_DTYPE_F32, 3, CALL_SIZES(2, 3, 4));
    call_tensor(c, WICK_DTYPE_BOOL, 2, CALL_SIZES(2, 3), CALL_DOUBLES(0, 1, 0, 1, 0, 1));
    index_list(c, 1, present);
    call_run(c, &wick_op_aten_index_Tensor_out, NULL);
    call_expect(c, 0, 2, CALL_SIZES(3, 4), CALL_DOUBLES(4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23), 0);
    call_free(c);
    static const struct {
        int rank;
        int32_t sizes[3];
        int dtype;
        double value;
        const char *says;
    } wrong[] = {{1, {1}, WICK_DTYPE_I64, 2, "index 2"},
                 {1, {1}, WICK_DTYPE_I64, -3, "index -3"},
                 {1, {3}, WICK_DTYPE_BOOL, 1, "mask 0"},
                 {1, {1}, WICK_DTYPE_F32, 0, "FLOAT"}};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(wrong); i++) {
        c = call_new();
        counted(c, WICK_DTYPE_F32, 3, CALL_SIZES(2, 3, 4));
        struct wick_tensor *index = call_shape(c, wrong[i].dtype, wrong[i].rank, wrong[i].sizes, NULL);
        for (size_t k = 0; k < wick_tensor_numel(index); k++) call_set(index, k, wrong[i].value);
        index_list(c, 1, present);
        call_run(c, &wick_op_aten_index_Tensor_out, NULL);
        assert_true(c->status != WICK_OK && strstr(c->err.message, wrong[i].says));
        call_free(c);
    }
}

static void puts_(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        bool accumulate = i % 2, in_place = i / 2;
        struct call *c = call_new();
        struct wick_tensor *self = counted(c, WICK_DTYPE_F32, 2, CALL_SIZES(3, 2));
        call_tensor(c, WICK_DTYPE_I64, 1, CALL_SIZES(3), CALL_DOUBLES(2, -3, 2));
        index_list(c, 1, (const bool[]){false});
        call_tensor(c, WICK_DTYPE_F32, 2, CALL_SIZES(3, 1), CALL_DOUBLES(10, 20, 30));
        call_bool(c, accumulate);
        if (in_place) call_direct(c, &wick_op_aten_index_put_);
        else call_run(c, &wick_op_aten_index_put_out, NULL);
        WICK_ASSERT_OK(c->status, &c->err);
        const struct wick_tensor *out = in_place ? self : call_out(c, 0);
        const double put[] = {20, 20, 2, 3, 30, 30}, sum[] = {20, 21, 2, 3, 44, 45};
        for (size_t k = 0; k < 6; k++) assert_true(call_get(out, k) == (accumulate ? sum[k] : put[k]));
        call_free(c);
    }
    /* A mask with one value; then values that do not fit. */
    struct call *c = call_new();
    counted(c, WICK_DTYPE_I64, 2, CALL_SIZES(2, 2));
    call_tensor(c, WICK_DTYPE_BOOL, 2, CALL_SIZES(2, 2), CALL_DOUBLES(1, 0, 0, 1));
    index_list(c, 1, (const bool[]){false});
    call_tensor(c, WICK_DTYPE_I64, 0, NULL, CALL_DOUBLES(-5));
    call_bool(c, false);
    call_run(c, &wick_op_aten_index_put_out, NULL);
    call_expect(c, 0, 2, CALL_SIZES(2, 2), CALL_DOUBLES(-5, 1, 2, -5), 0);
    call_free(c);
    c = call_new();
    counted(c, WICK_DTYPE_F32, 2, CALL_SIZES(3, 2));
    call_tensor(c, WICK_DTYPE_I64, 1, CALL_SIZES(1), CALL_DOUBLES(0));
    index_list(c, 1, (const bool[]){false});
    call_tensor(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 2), CALL_DOUBLES(1, 2, 3, 4));
    call_bool(c, false);
    call_run(c, &wick_op_aten_index_put_out, NULL);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "do not expand");
    call_free(c);
}

/* gather and scatter along dim 1 of [2, 3]. */
static void gathers(void **state)
{
    (void)state;
    struct call *c = call_new();
    counted(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 3));
    call_int(c, 1);
    call_tensor(c, WICK_DTYPE_I64, 2, CALL_SIZES(2, 2), CALL_DOUBLES(2, 0, 1, 1));
    call_bool(c, false);
    call_run(c, &wick_op_aten_gather_out, NULL);
    call_expect(c, 0, 2, CALL_SIZES(2, 2), CALL_DOUBLES(2, 0, 4, 4), 0);
    call_set(&c->tensors[1], 3, 3);
    c->count = c->inputs;
    call_run(c, &wick_op_aten_gather_out, NULL);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "index 3");
    call_free(c);
    static const struct wick_op *const ops[] = {&wick_op_aten_scatter_src_out, &wick_op_aten_scatter_add_out, &wick_op_aten_scatter_value_out};
    static const double want[3][6] = {{8, 1, 7, 3, 10, 5}, {8, 1, 9, 3, 23, 5}, {-1, 1, -1, 3, -1, 5}};
    for (int i = 0; i < 3; i++) {
        c = call_new();
        counted(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 3));
        call_int(c, 1);
        call_tensor(c, WICK_DTYPE_I64, 2, CALL_SIZES(2, 2), CALL_DOUBLES(2, 0, 1, 1));
        if (i < 2) call_tensor(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 2), CALL_DOUBLES(7, 8, 9, 10));
        else call_double(c, -1);
        call_run(c, ops[i], NULL);
        call_expect(c, 0, 2, CALL_SIZES(2, 3), want[i], 0);
        call_set(&c->tensors[1], 0, -1);
        c->count = c->inputs;
        call_run(c, ops[i], NULL);
        call_expect_error(c, WICK_INVALID_ARGUMENT, "index -1");
        call_free(c);
    }
}

static void parts(void **state)
{
    (void)state;
    struct call *c = call_new();
    counted(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 3));
    CALL_VECTOR(c, 9, 8);
    call_int(c, 1);
    call_int(c, -1);
    call_run(c, &wick_op_aten_select_scatter_out, NULL);
    call_expect(c, 0, 2, CALL_SIZES(2, 3), CALL_DOUBLES(0, 1, 9, 3, 4, 8), 0);
    call_free(c);
    for (int i = 0; i < 2; i++) {
        c = call_new();
        counted(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 3));
        call_tensor(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 2), CALL_DOUBLES(-1, -2, -3, -4));
        call_int(c, 1);
        call_int(c, 0);
        call_none(c);
        call_int(c, i ? 1 : 2);
        call_run(c, &wick_op_aten_slice_scatter_out, NULL);
        if (i) call_expect_error(c, WICK_INVALID_ARGUMENT, "has not the size");
        else call_expect(c, 0, 2, CALL_SIZES(2, 3), CALL_DOUBLES(-1, 1, -2, -3, 4, -4), 0);
        call_free(c);
    }
}

static void masked(void **state)
{
    (void)state;
    struct call *c = call_new();
    counted(c, WICK_DTYPE_F16, 2, CALL_SIZES(2, 3));
    call_tensor(c, WICK_DTYPE_BOOL, 1, CALL_SIZES(3), CALL_DOUBLES(1, 0, 1));
    call_double(c, -INFINITY);
    call_run(c, &wick_op_aten_masked_fill_Scalar_out, NULL);
    call_expect(c, 0, 2, CALL_SIZES(2, 3), CALL_DOUBLES(-INFINITY, 1, -INFINITY, -INFINITY, 4, -INFINITY), 0);
    call_free(c);
    for (int i = 0; i < 2; i++) {
        c = call_new();
        counted(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 3));
        call_tensor(c, WICK_DTYPE_BOOL, 1, CALL_SIZES(3), CALL_DOUBLES(1, 0, 1));
        call_tensor(c, WICK_DTYPE_F32, 1, CALL_SIZES(5 - 2 * i), CALL_DOUBLES(9, 8, 7, 6, 5));
        call_run(c, &wick_op_aten_masked_scatter_out, NULL);
        if (i) call_expect_error(c, WICK_INVALID_ARGUMENT, "source has 3");
        else call_expect(c, 0, 2, CALL_SIZES(2, 3), CALL_DOUBLES(9, 1, 8, 7, 4, 6), 0);
        call_free(c);
    }
    c = call_new();
    counted(c, WICK_DTYPE_I32, 1, CALL_SIZES(3));
    call_tensor(c, WICK_DTYPE_BOOL, 2, CALL_SIZES(2, 3), CALL_DOUBLES(1, 0, 1, 0, 0, 1));
    struct wick_tensor *out = call_shape(c, WICK_DTYPE_I32, 1, CALL_SIZES(6), NULL);
    WICK_ASSERT_OK(call_direct(c, &wick_op_aten_masked_select_out), &c->err);
    call_expect(c, 0, 1, CALL_SIZES(3), CALL_DOUBLES(0, 2, 2), 0);
    out->dynamism = WICK_STATIC; /* three elements are there now, four would be selected */
    call_set(&c->tensors[1], 1, 1);
    call_direct(c, &wick_op_aten_masked_select_out);
    call_expect_error(c, WICK_NOT_SUPPORTED, "cannot resize");
    call_free(c);
}

static void nonzeros(void **state)
{
    (void)state;
    struct call *c = call_new();
    struct wick_tensor *self = call_shape(c, WICK_DTYPE_F32, 4, CALL_SIZES(1, 2, 1, 3), (const uint8_t[]){0, 2, 3, 1});
    for (size_t i = 0; i < 6; i++) call_set(self, i, (const double[]){0, NAN, -0.0, 2, 0, 1}[i]);
    call_shape(c, WICK_DTYPE_I64, 2, CALL_SIZES(6, 4), NULL);
    WICK_ASSERT_OK(call_direct(c, &wick_op_aten_nonzero_out), &c->err);
    call_expect(c, 0, 2, CALL_SIZES(3, 4), CALL_DOUBLES(0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 2), 0);
    for (size_t i = 0; i < 6; i++) call_set(self, i, 0);
    WICK_ASSERT_OK(call_direct(c, &wick_op_aten_nonzero_out), &c->err);
    assert_int_equal(call_out(c, 0)->shape.sizes[0], 0);
    call_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(embeddings), cmocka_unit_test(selected), cmocka_unit_test(advanced),
                                       cmocka_unit_test(puts_),      cmocka_unit_test(gathers),  cmocka_unit_test(parts),
                                       cmocka_unit_test(masked),     cmocka_unit_test(nonzeros)};
    return WICK_TEST_MAIN(tests);
}
