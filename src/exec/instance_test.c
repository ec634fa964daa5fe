/* Running: inputs, resizing, views, jumps and loops, state, cancelling, and that a steady state allocates nothing. */
#include "exec/toy_test.h"

static const float one = 1, two = 2;

static void expect(const struct toy *toy, uint32_t output, size_t n, const float *values)
{
    for (size_t i = 0; i < n; i++) assert_float_equal(toy_result(toy, output)[i], values[i], 0);
}

static void run_ok(struct toy *toy) { WICK_ASSERT_OK(wick_instance_run(toy->it, NULL, &toy->err), &toy->err); }

/* y = x + k; x planned, or unplanned and then aliased. */
static void adder(struct toy *toy, bool planned, bool dynamic)
{
    toy_new(toy);
    uint32_t x = planned ? toy_tensor(toy, 4, 0) : toy_unplanned(toy, 4), y = toy_tensor(toy, 4, 64), k = toy_constant(toy, 1, &one);
    if (dynamic) toy->values[x].as.tensor->dynamism = toy->values[y].as.tensor->dynamism = WICK_DYNAMIC_BOUND;
    toy_input(toy, x);
    toy_output(toy, y);
    toy_call(toy, &toy_add, x, k, y);
    toy_ready(toy);
}

static void inputs_are_copied_or_aliased(void **state)
{
    (void)state;
    struct toy toy;
    for (int planned = 0; planned < 2; planned++) {
        float x[4] = {1, 2, 3, 4};
        adder(&toy, planned, false);
        assert_int_equal(wick_instance_run(toy.it, NULL, &toy.err), WICK_INVALID_STATE);
        assert_non_null(strstr(toy.err.message, "input 0"));
        WICK_ASSERT_OK(toy_set(&toy, 0, 4, x), &toy.err);
        x[0] = 100;
        run_ok(&toy);
        expect(&toy, 0, 4, (float[]){planned ? 2 : 101, 3, 4, 5});
        toy_close(&toy);
    }
}

static void wrong_inputs_are_refused(void **state)
{
    (void)state;
    struct toy toy;
    float x[4] = {0};
    int32_t sizes[2] = {2, 2};
    adder(&toy, true, false);
    struct wick_shape wide = wick_shape_make(WICK_DTYPE_F64, 1, (int32_t[]){4}), square = wick_shape_make(WICK_DTYPE_F32, 2, sizes);
    struct wick_shape negative = wick_shape_make(WICK_DTYPE_F32, 1, (int32_t[]){-4});
    assert_int_equal(wick_instance_set_tensor(toy.it, 0, &wide, x, &toy.err), WICK_INVALID_ARGUMENT);
    assert_int_equal(wick_instance_set_tensor(toy.it, 0, &square, x, &toy.err), WICK_NOT_SUPPORTED);
    assert_int_equal(wick_instance_set_tensor(toy.it, 0, &negative, x, &toy.err), WICK_INVALID_ARGUMENT);
    assert_int_equal(wick_instance_set_tensor(toy.it, 1, &square, x, &toy.err), WICK_INVALID_ARGUMENT);
    assert_int_equal(toy_set(&toy, 0, 4, NULL), WICK_INVALID_ARGUMENT);
    assert_int_equal(toy_set(&toy, 0, 3, x), WICK_NOT_SUPPORTED); /* static */
    assert_int_equal(wick_instance_run(toy.it, NULL, &toy.err), WICK_INVALID_STATE);
    toy_close(&toy);
}

static void sizes_shrink_and_grow_within_the_bound(void **state)
{
    (void)state;
    struct toy toy;
    float x[5] = {1, 2, 3, 4, 5};
    for (int planned = 0; planned < 2; planned++) {
        adder(&toy, planned, true);
        static const int32_t counts[] = {1, 4, 2};
        for (size_t i = 0; i < WICK_ARRAY_SIZE(counts); i++) {
            WICK_ASSERT_OK(toy_set(&toy, 0, counts[i], x), &toy.err);
            run_ok(&toy);
            assert_int_equal(wick_instance_output(toy.it, 0)->as.tensor->shape.sizes[0], counts[i]);
            expect(&toy, 0, (size_t)counts[i], (float[]){2, 3, 4, 5});
        }
        assert_int_equal(toy_set(&toy, 0, 5, x), WICK_NOT_SUPPORTED);
        toy_close(&toy);
    }
}

/* The bound is on bytes: 2 x 8 takes 8 x 2 as well, but not 5 x 4. */
static void the_bound_is_on_bytes(void **state)
{
    (void)state;
    struct toy toy;
    static float x[20];
    toy_new(&toy);
    uint32_t id = toy_tensor(&toy, 16, 0);
    toy.values[id].as.tensor->shape = wick_shape_make(WICK_DTYPE_F32, 2, (int32_t[]){2, 8});
    toy.values[id].as.tensor->dynamism = WICK_DYNAMIC_BOUND;
    toy_input(&toy, id);
    toy_ready(&toy);
    const struct {
        int32_t sizes[2];
        wick_status status;
    } cases[] = {{{8, 2}, WICK_OK}, {{4, 4}, WICK_OK}, {{5, 4}, WICK_NOT_SUPPORTED}, {{0, 8}, WICK_OK}};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cases); i++) {
        struct wick_shape shape = wick_shape_make(WICK_DTYPE_F32, 2, cases[i].sizes);
        assert_int_equal(wick_instance_set_tensor(toy.it, 0, &shape, x, &toy.err), cases[i].status);
    }
    toy_close(&toy);
}

static void other_dim_orders_are_converted(void **state)
{
    (void)state;
    struct toy toy;
    float rows[6] = {0, 1, 2, 3, 4, 5}, columns[6] = {0, 3, 1, 4, 2, 5}; /* [2, 3], once by rows and once by columns */
    for (int planned = 0; planned < 2; planned++) {
        toy_new(&toy);
        uint32_t id = planned ? toy_tensor(&toy, 6, 0) : toy_unplanned(&toy, 6);
        struct wick_tensor *tensor = toy.values[id].as.tensor;
        tensor->shape = wick_shape_make(WICK_DTYPE_F32, 2, (int32_t[]){2, 3});
        wick_shape_strides(&tensor->shape, tensor->strides);
        toy_input(&toy, id);
        toy_output(&toy, id);
        toy_ready(&toy);
        struct wick_shape shape = tensor->shape;
        shape.dim_order[0] = 1;
        shape.dim_order[1] = 0;
        WICK_ASSERT_OK(wick_instance_set_tensor(toy.it, 0, &shape, columns, &toy.err), &toy.err);
        run_ok(&toy);
        expect(&toy, 0, 6, rows);
        toy_close(&toy);
    }
}

static void numbers_must_be_the_traced_ones(void **state)
{
    (void)state;
    struct toy toy;
    toy_new(&toy);
    toy_input(&toy, toy_int(&toy, 3));
    uint32_t d = toy_int(&toy, 0);
    toy.values[d] = (struct wick_value){.tag = WICK_TAG_DOUBLE, .as.d = 2.5};
    toy_input(&toy, d);
    toy_ready(&toy);
    struct wick_value three = {.tag = WICK_TAG_INT, .as.i = 3}, four = {.tag = WICK_TAG_INT, .as.i = 4};
    struct wick_value near = {.tag = WICK_TAG_DOUBLE, .as.d = 2.50005}, far = {.tag = WICK_TAG_DOUBLE, .as.d = 2.51};
    assert_int_equal(wick_instance_set_scalar(toy.it, 0, &four, &toy.err), WICK_INVALID_ARGUMENT);
    assert_int_equal(wick_instance_set_scalar(toy.it, 1, &three, &toy.err), WICK_INVALID_ARGUMENT);
    assert_int_equal(wick_instance_set_scalar(toy.it, 1, &far, &toy.err), WICK_INVALID_ARGUMENT);
    WICK_ASSERT_OK(wick_instance_set_scalar(toy.it, 0, &three, &toy.err), &toy.err);
    WICK_ASSERT_OK(wick_instance_set_scalar(toy.it, 1, &near, &toy.err), &toy.err);
    run_ok(&toy);
    toy_close(&toy);
}

/* A view of an aliased input grows again after a small call, and writes through to its source. */
static void views_follow_their_source(void **state)
{
    (void)state;
    struct toy toy;
    toy_new(&toy);
    uint32_t x = toy_unplanned(&toy, 4), view = toy_unplanned(&toy, 4), add = toy_constant(&toy, 1, &one);
    toy.values[x].as.tensor->dynamism = toy.values[view].as.tensor->dynamism = WICK_DYNAMIC_BOUND;
    toy_input(&toy, x);
    toy_output(&toy, view);
    toy_call(&toy, &toy_view, x, view, 0);
    toy_call(&toy, &toy_poke, view, add, 0);
    toy_ready(&toy);
    float few[1] = {10}, many[4] = {1, 2, 3, 4};
    WICK_ASSERT_OK(toy_set(&toy, 0, 1, few), &toy.err);
    run_ok(&toy);
    assert_float_equal(few[0], 11, 0);
    WICK_ASSERT_OK(toy_set(&toy, 0, 4, many), &toy.err);
    run_ok(&toy);
    assert_ptr_equal(toy_result(&toy, 0), many);
    expect(&toy, 0, 4, (float[]){2, 2, 3, 4});
    toy_close(&toy);
}

static void a_view_of_a_constant_cannot_be_written(void **state)
{
    (void)state;
    struct toy toy;
    toy_new(&toy);
    uint32_t k = toy_constant(&toy, 1, &one), view = toy_unplanned(&toy, 1);
    toy_call(&toy, &toy_view, k, view, 0);
    toy_call(&toy, &toy_poke, view, k, 0);
    toy_ready(&toy);
    assert_int_equal(wick_instance_run(toy.it, NULL, &toy.err), WICK_INVALID_PROGRAM);
    assert_non_null(strstr(toy.err.message, "node 1 (instruction 1, toy::poke)"));
    toy_close(&toy);
}

/* What an earlier run left in a view is gone: its source may be. */
static void stale_views_are_not_read(void **state)
{
    (void)state;
    struct toy toy;
    toy_new(&toy);
    uint32_t flag = toy_tensor(&toy, 1, 0), x = toy_unplanned(&toy, 1), view = toy_unplanned(&toy, 1), y = toy_tensor(&toy, 1, 64);
    toy.values[flag].as.tensor->shape.dtype = WICK_DTYPE_BOOL;
    toy.values[flag].as.tensor->capacity = 1;
    toy_input(&toy, flag);
    toy_input(&toy, x);
    toy_jump_false(&toy, flag, 2);
    toy_call(&toy, &toy_view, x, view, 0);
    toy_call(&toy, &toy_double, view, y, 0);
    toy_ready(&toy);
    struct wick_shape bool_shape = wick_shape_make(WICK_DTYPE_BOOL, 1, (int32_t[]){1});
    uint8_t yes = 1, no = 0;
    float value = 3;
    WICK_ASSERT_OK(wick_instance_set_tensor(toy.it, 0, &bool_shape, &yes, &toy.err), &toy.err);
    WICK_ASSERT_OK(toy_set(&toy, 1, 1, &value), &toy.err);
    run_ok(&toy);
    WICK_ASSERT_OK(wick_instance_set_tensor(toy.it, 0, &bool_shape, &no, &toy.err), &toy.err);
    assert_int_equal(wick_instance_run(toy.it, NULL, &toy.err), WICK_INVALID_STATE);
    toy_close(&toy);
}

static void unplanned_results_get_memory(void **state)
{
    (void)state;
    struct toy toy;
    float x[4] = {1, 2, 3, 4};
    toy_new(&toy);
    uint32_t in = toy_tensor(&toy, 4, 0), middle = toy_unplanned(&toy, 4), out = toy_unplanned(&toy, 4);
    toy_input(&toy, in);
    toy_output(&toy, out);
    toy_call(&toy, &toy_double, in, middle, 0);
    toy_delegate(&toy, "opaque", &two, middle, out);
    toy_ready(&toy);
    WICK_ASSERT_OK(toy_set(&toy, 0, 4, x), &toy.err);
    run_ok(&toy);
    expect(&toy, 0, 4, (float[]){4, 8, 12, 16});
    toy_close(&toy);
}

/* i = 0; do { acc += k; i += 1 } while (i != 5); i -= 5 */
static void loops_end(void **state)
{
    (void)state;
    struct toy toy;
    toy_new(&toy);
    uint32_t acc = toy_tensor(&toy, 1, 0), k = toy_constant(&toy, 1, &two), i = toy_int(&toy, 0), by = toy_int(&toy, 1), n = toy_int(&toy, 5);
    uint32_t minus = toy_int(&toy, -5), done = toy_bool(&toy, false);
    toy_output(&toy, acc);
    toy_output(&toy, i);
    toy_call(&toy, &toy_poke, acc, k, 0);
    toy_call(&toy, &toy_iadd, i, by, i);
    toy_call(&toy, &toy_ieq, i, n, done);
    toy_jump_false(&toy, done, 0);
    toy_call(&toy, &toy_iadd, i, minus, i);
    toy_ready(&toy);
    for (int round = 1; round <= 3; round++) {
        run_ok(&toy);
        assert_float_equal(toy_result(&toy, 0)[0], 10 * round, 0); /* kept between runs */
        assert_int_equal(wick_instance_output(toy.it, 1)->as.i, 0);
    }
    wick_instance_reset_state(toy.it);
    run_ok(&toy);
    assert_float_equal(toy_result(&toy, 0)[0], 10, 0);
    toy_close(&toy);
}

/* Values of a payload inside a loop keep their bytes for all of it. */
static void payload_values_in_a_loop_do_not_share(void **state)
{
    (void)state;
    struct toy toy;
    toy_new(&toy);
    uint32_t x = toy_tensor(&toy, 4, 0), y = toy_tensor(&toy, 4, 64), z = toy_tensor(&toy, 4, 128), stop = toy_bool(&toy, true);
    toy_delegate(&toy, "toy", &two, x, y);
    toy_delegate(&toy, "toy", &two, y, z);
    WICK_ASSERT_OK(toy_bind_with(&toy, &wick_allocator_heap, false), &toy.err);
    assert_int_equal(toy.graph->scratch_bytes, 64);
    toy_close(&toy);
    toy_jump_false(&toy, stop, 0);
    WICK_ASSERT_OK(toy_bind_with(&toy, &wick_allocator_heap, false), &toy.err);
    assert_int_equal(toy.graph->scratch_bytes, 128);
    toy_close(&toy);
}

static void endless_loops_are_stopped(void **state)
{
    (void)state;
    struct toy toy;
    toy_new(&toy);
    toy_jump_false(&toy, toy_bool(&toy, false), 0);
    toy_ready(&toy);
    assert_int_equal(wick_instance_run(toy.it, NULL, &toy.err), WICK_INVALID_PROGRAM);
    toy_close(&toy);
}

/* if (flag) r = a else r = b, as exported: both branches move their result. */
static void branches_move_their_result(void **state)
{
    (void)state;
    struct toy toy;
    for (int flag = 0; flag < 2; flag++) {
        toy_new(&toy);
        uint32_t a = toy_tensor(&toy, 1, 0), b = toy_tensor(&toy, 1, 64), r = toy_tensor(&toy, 1, 128), y = toy_tensor(&toy, 1, 192);
        uint32_t k1 = toy_constant(&toy, 1, &one), k2 = toy_constant(&toy, 1, &two), condition = toy_bool(&toy, flag), never = toy_bool(&toy, false);
        toy_output(&toy, y);
        toy_jump_false(&toy, condition, 4);
        toy_call(&toy, &toy_add, a, k1, a);
        toy_move(&toy, a, r);
        toy_jump_false(&toy, never, 6);
        toy_call(&toy, &toy_add, b, k2, b);
        toy_move(&toy, b, r);
        toy_call(&toy, &toy_double, r, y, 0);
        toy_ready(&toy);
        run_ok(&toy);
        assert_float_equal(toy_result(&toy, 0)[0], flag ? 2 : 4, 0);
        toy_close(&toy);
    }
}

static void timelines_are_their_own(void **state)
{
    (void)state;
    struct toy toy;
    static const float first[2] = {5, 6};
    toy_new(&toy);
    uint32_t acc = toy_tensor(&toy, 2, 0), k = toy_constant(&toy, 1, &one);
    toy.origins[0].initial = first;
    toy_output(&toy, acc);
    toy_call(&toy, &toy_poke, acc, k, 0);
    toy_ready(&toy);
    struct wick_instance *other, *mine = toy.it;
    WICK_ASSERT_OK(toy_open(&toy), &toy.err);
    other = toy.it;
    toy.it = mine;
    run_ok(&toy);
    run_ok(&toy);
    expect(&toy, 0, 2, (float[]){7, 6});
    WICK_ASSERT_OK(wick_instance_run(other, NULL, &toy.err), &toy.err);
    assert_float_equal(((const float *)wick_instance_output(other, 0)->as.tensor->data)[0], 6, 0);
    wick_instance_reset_state(toy.it);
    expect(&toy, 0, 2, first);
    toy_close(&toy);
}

static void cancel_stops_before_the_next_node(void **state)
{
    (void)state;
    struct toy toy;
    toy_new(&toy);
    uint32_t acc = toy_tensor(&toy, 1, 0), k = toy_constant(&toy, 1, &one);
    toy_output(&toy, acc);
    toy_call(&toy, &toy_poke, acc, k, 0);
    toy_call(&toy, &toy_stop, 0, 0, 0);
    toy_call(&toy, &toy_poke, acc, k, 0);
    toy_ready(&toy);
    toy_victim = toy.it;
    assert_int_equal(wick_instance_run(toy.it, NULL, &toy.err), WICK_CANCELLED);
    assert_float_equal(toy_result(&toy, 0)[0], 1, 0);
    wick_instance_cancel(toy.it); /* nothing runs: the next run does not start */
    assert_int_equal(wick_instance_run(toy.it, NULL, &toy.err), WICK_CANCELLED);
    assert_float_equal(toy_result(&toy, 0)[0], 1, 0);
    toy_close(&toy);
}

static int allocations;

static void *counting_alloc(void *user, size_t bytes)
{
    (void)user;
    allocations++;
    return wick_allocator_heap.alloc(NULL, bytes);
}

static void counting_free(void *user, void *memory, size_t bytes)
{
    (void)user;
    wick_allocator_heap.free(NULL, memory, bytes);
}

static void a_steady_state_does_not_allocate(void **state)
{
    (void)state;
    const struct wick_allocator counting = {counting_alloc, counting_free, NULL};
    struct toy toy;
    float x[4] = {1, 2, 3, 4};
    toy_new(&toy);
    uint32_t in = toy_unplanned(&toy, 4), out = toy_tensor(&toy, 4, 64);
    toy.values[in].as.tensor->dynamism = toy.values[out].as.tensor->dynamism = WICK_DYNAMIC_BOUND;
    toy_input(&toy, in);
    toy_output(&toy, out);
    toy_delegate(&toy, "toy", &two, in, out);
    WICK_ASSERT_OK(toy_bind_with(&toy, &counting, false), &toy.err);
    WICK_ASSERT_OK(toy_open(&toy), &toy.err);
    for (int n = 1; n <= 4; n++) {
        WICK_ASSERT_OK(toy_set(&toy, 0, n, x), &toy.err);
        run_ok(&toy);
        if (n == 1) allocations = 0;
    }
    assert_int_equal(allocations, 0);
    toy_close(&toy);
}

struct trace {
    uint32_t begun, ended;
    wick_status last;
};

static void trace_begin(void *user, const struct wick_instance *instance, uint32_t node)
{
    (void)instance;
    struct trace *trace = user;
    assert_int_equal(node, trace->begun++);
}

static void trace_end(void *user, const struct wick_instance *instance, uint32_t node, wick_status status)
{
    (void)instance;
    (void)node;
    struct trace *trace = user;
    trace->ended++;
    trace->last = status;
}

static void tracers_see_every_node(void **state)
{
    (void)state;
    struct toy toy;
    struct trace trace = {0};
    struct wick_tracer tracer = {trace_begin, trace_end, &trace};
    toy_new(&toy);
    uint32_t acc = toy_tensor(&toy, 1, 0), k = toy_constant(&toy, 1, &one), nothing = toy_unplanned(&toy, 1), view = toy_unplanned(&toy, 1);
    toy_call(&toy, &toy_poke, acc, k, 0);
    toy_call(&toy, &toy_view, nothing, view, 0);
    toy_ready(&toy);
    assert_int_equal(wick_instance_run(toy.it, &tracer, &toy.err), WICK_INVALID_STATE);
    assert_int_equal(trace.begun, 2);
    assert_int_equal(trace.ended, 2);
    assert_int_equal(trace.last, WICK_INVALID_STATE);
    toy_close(&toy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_are_copied_or_aliased),
        cmocka_unit_test(wrong_inputs_are_refused),
        cmocka_unit_test(sizes_shrink_and_grow_within_the_bound),
        cmocka_unit_test(the_bound_is_on_bytes),
        cmocka_unit_test(other_dim_orders_are_converted),
        cmocka_unit_test(numbers_must_be_the_traced_ones),
        cmocka_unit_test(views_follow_their_source),
        cmocka_unit_test(a_view_of_a_constant_cannot_be_written),
        cmocka_unit_test(stale_views_are_not_read),
        cmocka_unit_test(unplanned_results_get_memory),
        cmocka_unit_test(loops_end),
        cmocka_unit_test(payload_values_in_a_loop_do_not_share),
        cmocka_unit_test(endless_loops_are_stopped),
        cmocka_unit_test(branches_move_their_result),
        cmocka_unit_test(timelines_are_their_own),
        cmocka_unit_test(cancel_stops_before_the_next_node),
        cmocka_unit_test(a_steady_state_does_not_allocate),
        cmocka_unit_test(tracers_see_every_node),
    };
    return WICK_TEST_MAIN(tests);
}
