/* Arithmetic on single numbers, numbers out of tensors, views without a copy, rows of accumulating tensors. */
#include "ops/call_test.h"
#include "ops/ops.h"

#include <math.h>

static struct wick_value whole(int64_t i) { return (struct wick_value){.tag = WICK_TAG_INT, .as.i = i}; }
static struct wick_value real(double d) { return (struct wick_value){.tag = WICK_TAG_DOUBLE, .as.d = d}; }
static struct wick_value flag(bool b) { return (struct wick_value){.tag = WICK_TAG_BOOL, .as.b = b}; }
static struct wick_value nothing(void) { return (struct wick_value){.tag = WICK_TAG_NONE}; }

/* want of tag NONE: the call must fail. */
struct scalar_case {
    const struct wick_op *op;
    struct wick_value a, b, want;
};

static void check(const struct scalar_case *x, size_t at)
{
    struct call *c = call_new();
    call_value(c, x->a);
    if (wick_signature_inputs(x->op->meta->signature) > 1) call_value(c, x->b);
    call_value(c, whole(0)); /* the placeholder that files have */
    wick_status status = call_direct(c, x->op);
    const struct wick_value *got = &c->values[c->count - 1];
    if (x->want.tag == WICK_TAG_NONE) {
        if (status == WICK_OK) fail_msg("case %zu, %s, does not fail", at, x->op->meta->name);
    } else {
        if (status != WICK_OK) fail_msg("case %zu, %s: %s", at, x->op->meta->name, c->err.message);
        bool same = got->tag == x->want.tag && (got->tag == WICK_TAG_DOUBLE ? got->as.d == x->want.as.d
                                                : got->tag == WICK_TAG_INT  ? got->as.i == x->want.as.i
                                                                            : got->as.b == x->want.as.b);
        if (!same) fail_msg("case %zu, %s: tag %d, %lld or %g", at, x->op->meta->name, got->tag, (long long)got->as.i, got->as.d);
    }
    call_free(c);
}

#define PRIM(name) &wick_op_executorch_prim_##name##_Scalar

static void arithmetic(void **state)
{
    (void)state;
    const struct scalar_case cases[] = {
        {PRIM(add), whole(2), whole(3), whole(5)},
        {PRIM(add), whole(2), real(0.5), real(2.5)},
        {PRIM(add), whole(INT64_MAX), whole(1), whole(INT64_MIN)},
        {PRIM(add), flag(true), whole(1), nothing()},
        {PRIM(sub), whole(2), whole(3), whole(-1)},
        {PRIM(sub), real(2), whole(3), real(-1)},
        {PRIM(mul), whole(4), whole(-3), whole(-12)},
        {PRIM(mul), real(4), real(0.5), real(2)},
        {PRIM(floordiv), whole(7), whole(2), whole(3)},
        {PRIM(floordiv), whole(-7), whole(2), whole(-4)},
        {PRIM(floordiv), whole(7), whole(-2), whole(-4)},
        {PRIM(floordiv), whole(-8), whole(-2), whole(4)},
        {PRIM(floordiv), whole(1), whole(0), nothing()},
        {PRIM(floordiv), whole(INT64_MIN), whole(-1), whole(INT64_MIN)},
        {PRIM(floordiv), real(-7), whole(2), real(-4)},
        {PRIM(floordiv), real(7.5), real(-2), real(-4)},
        {PRIM(floordiv), real(1), real(0), real(INFINITY)},
        {PRIM(floordiv), real(-1), real(0), real(-INFINITY)},
        {PRIM(truediv), whole(1), whole(4), real(0.25)},
        {PRIM(truediv), real(1), whole(0), real(INFINITY)},
        {PRIM(mod), whole(7), whole(3), whole(1)},
        {PRIM(mod), whole(-7), whole(3), whole(-1)},
        {PRIM(mod), whole(7), whole(0), nothing()},
        {PRIM(mod), whole(INT64_MIN), whole(-1), whole(0)},
        {PRIM(mod), real(7), whole(3), nothing()},
        {&wick_op_executorch_prim_floordiv_int, whole(-7), whole(2), whole(-3)},
        {&wick_op_executorch_prim_mod_int, whole(-7), whole(2), whole(-1)},
        {&wick_op_executorch_prim_floordiv_int, whole(INT64_MIN), whole(-1), whole(INT64_MIN)},
        {&wick_op_executorch_prim_floordiv_int, whole(1), whole(0), nothing()},
        {PRIM(sym_max), whole(3), whole(4), whole(4)},
        {PRIM(sym_min), whole(3), whole(4), whole(3)},
        {PRIM(sym_max), real(3), whole(4), nothing()},
    };
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cases); i++) check(&cases[i], i);
}

static void comparisons(void **state)
{
    (void)state;
    const int64_t big = (int64_t)1 << 53;
    const struct scalar_case cases[] = {
        {PRIM(eq), whole(2), whole(2), flag(true)},          {PRIM(eq), whole(2), real(2), flag(true)},
        {PRIM(eq), whole(big + 1), whole(big), flag(false)}, {PRIM(eq), flag(true), flag(true), flag(true)},
        {PRIM(eq), flag(true), whole(1), nothing()},         {PRIM(eq), real(NAN), real(NAN), flag(false)},
        {PRIM(lt), whole(2), whole(3), flag(true)},          {PRIM(lt), real(3), whole(3), flag(false)},
        {PRIM(le), real(3), whole(3), flag(true)},           {PRIM(le), real(NAN), whole(3), flag(false)},
        {PRIM(gt), whole(4), whole(3), flag(true)},          {PRIM(ge), whole(3), whole(3), flag(true)},
        {PRIM(ge), flag(false), flag(true), flag(false)},
    };
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cases); i++) check(&cases[i], i);
}

static void one_operand(void **state)
{
    (void)state;
    const struct wick_value x = nothing();
    const struct scalar_case cases[] = {
        {PRIM(neg), whole(3), x, whole(-3)},
        {PRIM(neg), real(3), x, real(-3)},
        {PRIM(neg), flag(true), x, x},
        {PRIM(neg), whole(INT64_MIN), x, whole(INT64_MIN)},
        {PRIM(sym_float), whole(3), x, real(3)},
        {PRIM(sym_float), flag(true), x, real(1)},
        {PRIM(sym_int), real(-2.7), x, whole(-2)},
        {PRIM(sym_int), real(1e300), x, x},
        {PRIM(sym_int), real(NAN), x, x},
        {PRIM(sym_int), flag(true), x, whole(1)},
        {PRIM(sym_not), flag(true), x, flag(false)},
        {PRIM(sym_not), whole(1), x, x},
        {PRIM(ceil), real(1.2), x, whole(2)},
        {PRIM(trunc), real(-1.7), x, whole(-1)},
        {PRIM(round), real(2.5), x, whole(2)},
        {PRIM(round), real(3.5), x, whole(4)},
        {PRIM(round), real(-2.5), x, whole(-2)},
        {PRIM(round), real(-0.4), x, whole(0)},
        {PRIM(round), whole(3), x, x},
        {PRIM(ceil), real(INFINITY), x, x},
    };
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cases); i++) check(&cases[i], i);
}

static void either(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct call *c = call_new();
        call_value(c, i < 2 ? flag(i) : whole(1));
        call_double(c, 2.5);
        call_int(c, 7);
        call_int(c, 0);
        assert_int_equal(call_direct(c, PRIM(sym_ite)), i < 2 ? WICK_OK : WICK_INVALID_TYPE);
        const struct wick_value *got = &c->values[3];
        if (i == 0) assert_true(got->tag == WICK_TAG_INT && got->as.i == 7);
        if (i == 1) assert_true(got->tag == WICK_TAG_DOUBLE && got->as.d == 2.5);
        call_free(c);
    }
}

static void from_tensors(void **state)
{
    (void)state;
    static const struct {
        int dtype;
        double value;
        int tag;
    } cases[] = {{WICK_DTYPE_I64, -5, WICK_TAG_INT},     {WICK_DTYPE_U8, 200, WICK_TAG_INT},  {WICK_DTYPE_F32, 0.5, WICK_TAG_DOUBLE},
                 {WICK_DTYPE_F64, 0.1, WICK_TAG_DOUBLE}, {WICK_DTYPE_BOOL, 1, WICK_TAG_BOOL}, {WICK_DTYPE_F16, 1, WICK_TAG_NONE}};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cases); i++) {
        struct call *c = call_new();
        call_tensor(c, cases[i].dtype, 0, NULL, &cases[i].value);
        call_int(c, 0);
        wick_status status = call_direct(c, &wick_op_aten__local_scalar_dense);
        assert_int_equal(status, cases[i].tag == WICK_TAG_NONE ? WICK_INVALID_TYPE : WICK_OK);
        if (status == WICK_OK)
            assert_true(c->values[1].tag == cases[i].tag && wick_arg_scalar(&(struct wick_args){c->values, c->ids, 2}, 1) == cases[i].value);
        call_free(c);
    }
    struct call *c = call_new();
    call_shape(c, WICK_DTYPE_F32, 3, CALL_SIZES(2, 0, 5), NULL);
    call_int(c, 0);
    call_direct(c, &wick_op_aten__local_scalar_dense);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "no elements");
    WICK_ASSERT_OK(call_direct(c, &wick_op_aten_sym_numel), &c->err);
    assert_int_equal(c->values[1].as.i, 0);
    static const struct {
        int64_t dim, want;
    } dims[] = {{0, 2}, {1, 0}, {2, 5}, {3, -1}, {-1, -1}, {INT64_MIN, -1}};
    call_int(c, 0);
    for (size_t i = 0; i < WICK_ARRAY_SIZE(dims); i++) {
        c->values[1].as.i = dims[i].dim;
        assert_int_equal(call_direct(c, &wick_op_aten_sym_size_int), dims[i].want < 0 ? WICK_INVALID_ARGUMENT : WICK_OK);
        if (dims[i].want >= 0) assert_int_equal(c->values[2].as.i, dims[i].want);
    }
    call_free(c);
}

static void views(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct call *c = call_new();
        struct wick_tensor *self = call_tensor(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 3), CALL_DOUBLES(0, 1, 2, 3, 4, 5));
        call_ints(c, 2, i == 1 ? CALL_INTS(4, -1) : i == 2 ? CALL_INTS(-1, -1) : CALL_INTS(3, -1));
        struct wick_tensor *out = call_shape(c, i == 3 ? WICK_DTYPE_I32 : WICK_DTYPE_F32, 2, CALL_SIZES(6, 6), NULL);
        void *own = out->data;
        size_t room = out->capacity;
        wick_status status = call_direct(c, &wick_op_executorch_prim_et_view_default);
        assert_int_equal(status, i == 0 ? WICK_OK : i == 3 ? WICK_INVALID_TYPE : WICK_INVALID_ARGUMENT);
        if (i == 0) assert_true(out->data == self->data && out->capacity == self->capacity && out->shape.sizes[0] == 3 && out->shape.sizes[1] == 2);
        out->data = own, out->capacity = room;
        call_free(c);
    }
}

static void copied_rows(void **state)
{
    (void)state;
    struct call *c = call_new();
    struct wick_tensor *to = call_shape(c, WICK_DTYPE_F32, 2, CALL_SIZES(3, 2), NULL);
    CALL_VECTOR(c, 5, 6);
    call_int(c, 0);
    for (int i = 0; i < 3; i++) {
        c->values[2].as.i = i;
        call_set(&c->tensors[1], 0, 5 + 10 * i);
        WICK_ASSERT_OK(call_direct(c, &wick_op_executorch_prim_et_copy_index_tensor), &c->err);
        assert_int_equal(to->shape.sizes[0], i + 1);
    }
    for (size_t i = 0; i < 3; i++) assert_true(call_get(to, 2 * i) == 5 + 10 * (double)i && call_get(to, 2 * i + 1) == 6);
    static const int64_t wrong[] = {3, -1, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(wrong); i++) {
        c->values[2].as.i = wrong[i];
        assert_true(call_direct(c, &wick_op_executorch_prim_et_copy_index_tensor) != WICK_OK);
    }
    call_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(arithmetic), cmocka_unit_test(comparisons),  cmocka_unit_test(one_operand),
                                       cmocka_unit_test(either),     cmocka_unit_test(from_tensors), cmocka_unit_test(views),
                                       cmocka_unit_test(copied_rows)};
    return WICK_TEST_MAIN(tests);
}
