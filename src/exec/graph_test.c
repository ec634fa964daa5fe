/* Binding: payloads become nodes, equal work is shared, programs that would write where they must not are refused. */
#include "exec/toy_test.h"

static const float one = 1, two = 2, three = 3;

/* out0 = 2x * 2, out1 = 2x * 3: values only; instructions follow. */
static void two_payloads(struct toy *toy, uint32_t *x, uint32_t *y0, uint32_t *y1)
{
    toy_new(toy);
    *x = toy_tensor(toy, 4, 0);
    *y0 = toy_tensor(toy, 4, 64);
    *y1 = toy_tensor(toy, 4, 128);
    toy_input(toy, *x);
    toy_output(toy, *y0);
    toy_output(toy, *y1);
}

static void run_and_check(struct toy *toy, float a, float b)
{
    float x[4] = {1, 2, 3, 4};
    WICK_ASSERT_OK(toy_open(toy), &toy->err);
    WICK_ASSERT_OK(toy_set(toy, 0, 4, x), &toy->err);
    WICK_ASSERT_OK(wick_instance_run(toy->it, NULL, &toy->err), &toy->err);
    for (int i = 0; i < 4; i++) {
        assert_float_equal(toy_result(toy, 0)[i], a * x[i], 0);
        assert_float_equal(toy_result(toy, 1)[i], b * x[i], 0);
    }
}

static void payloads_share_equal_nodes(void **state)
{
    (void)state;
    struct toy toy;
    uint32_t x, y0, y1;
    for (int no_fuse = 0; no_fuse < 2; no_fuse++) {
        two_payloads(&toy, &x, &y0, &y1);
        toy_delegate(&toy, "toy", &two, x, y0);
        toy_delegate(&toy, "toy", &three, x, y1);
        WICK_ASSERT_OK(toy_bind_with(&toy, &wick_allocator_heap, no_fuse), &toy.err);
        assert_int_equal(toy.graph->node_count, no_fuse ? 4 : 3);
        assert_int_equal(toy.graph->fused, no_fuse ? 0 : 1);
        assert_int_equal(toy_prepared, 2);
        for (uint32_t i = 0; i < toy.graph->node_count; i++) assert_true(toy.graph->nodes[i].settled);
        run_and_check(&toy, 4, 6);
        assert_int_equal(toy_ran, no_fuse ? 2 : 1);
        toy_close(&toy);
    }
}

static void nothing_is_shared_across_a_write(void **state)
{
    (void)state;
    struct toy toy;
    uint32_t x, y0, y1;
    two_payloads(&toy, &x, &y0, &y1);
    uint32_t overlapping = toy_tensor(&toy, 4, 8), apart = toy_tensor(&toy, 4, 256), k = toy_constant(&toy, 1, &one);
    toy_delegate(&toy, "toy", &two, x, y0);
    toy_call(&toy, &toy_add, apart, k, apart); /* does not matter */
    toy_delegate(&toy, "toy", &two, x, y1);
    WICK_ASSERT_OK(toy_bind_with(&toy, &wick_allocator_heap, false), &toy.err);
    assert_int_equal(toy.graph->fused, 1);
    toy_close(&toy);

    two_payloads(&toy, &x, &y0, &y1);
    overlapping = toy_tensor(&toy, 4, 8);
    apart = toy_tensor(&toy, 4, 256);
    toy_delegate(&toy, "toy", &two, x, y0);
    toy_call(&toy, &toy_poke, overlapping, apart, 0); /* planned over a part of x */
    toy_delegate(&toy, "toy", &two, x, y1);
    WICK_ASSERT_OK(toy_bind_with(&toy, &wick_allocator_heap, false), &toy.err);
    assert_int_equal(toy.graph->fused, 0);
    toy_close(&toy);
}

static void nothing_is_shared_across_a_jump(void **state)
{
    (void)state;
    struct toy toy;
    uint32_t x, y0, y1;
    two_payloads(&toy, &x, &y0, &y1);
    uint32_t yes = toy_bool(&toy, true), no = toy_bool(&toy, false);
    toy_jump_false(&toy, yes, 3); /* not taken */
    toy_delegate(&toy, "toy", &two, x, y0);
    toy_jump_false(&toy, no, 3); /* taken, to the next instruction */
    toy_delegate(&toy, "toy", &three, x, y1);
    WICK_ASSERT_OK(toy_bind_with(&toy, &wick_allocator_heap, false), &toy.err);
    assert_int_equal(toy.graph->fused, 0);
    assert_int_equal(toy.graph->nodes[0].target, 4);
    assert_int_equal(toy.graph->nodes[3].target, 4);
    run_and_check(&toy, 4, 6);
    toy_close(&toy);
}

static void opaque_backends_stay_one_node(void **state)
{
    (void)state;
    struct toy toy;
    uint32_t x, y0, y1;
    two_payloads(&toy, &x, &y0, &y1);
    toy_delegate(&toy, "opaque", &two, x, y0);
    toy_delegate(&toy, "toy", &three, x, y1);
    WICK_ASSERT_OK(toy_bind_with(&toy, &wick_allocator_heap, false), &toy.err);
    assert_int_equal(toy.graph->node_count, 3);
    assert_string_equal(wick_node_name(&toy.graph->nodes[0]), "opaque");
    assert_int_equal(toy_open_handles, 1);
    run_and_check(&toy, 2, 6);
    toy_close(&toy);
    assert_int_equal(toy_open_handles, 0);
}

static void failures_close_what_was_opened(void **state)
{
    (void)state;
    struct toy toy;
    uint32_t x, y0, y1;
    two_payloads(&toy, &x, &y0, &y1);
    toy_delegate(&toy, "opaque", &two, x, y0);
    toy_delegate(&toy, "absent", &three, x, y1);
    assert_int_equal(toy_bind_with(&toy, &wick_allocator_heap, false), WICK_NOT_FOUND);
    assert_non_null(strstr(toy.err.message, "absent"));
    assert_non_null(strstr(toy.err.message, "toy, opaque"));
    assert_int_equal(toy_open_handles, 0);
    toy_close(&toy);

    two_payloads(&toy, &x, &y0, &y1);
    toy_delegate(&toy, "toy", &two, x, y0);
    toy.delegates[0].size = 3;
    assert_int_equal(toy_bind_with(&toy, &wick_allocator_heap, false), WICK_DELEGATE_INCOMPATIBLE);
    assert_non_null(strstr(toy.err.message, "instruction 0, delegate 0 (toy)"));
    toy_close(&toy);
}

static void bad_writes_are_refused(void **state)
{
    (void)state;
    struct toy toy;
    toy_new(&toy);
    uint32_t a = toy_tensor(&toy, 4, 0), k = toy_constant(&toy, 1, &one);
    toy_call(&toy, &toy_poke, k, a, 0);
    assert_int_equal(toy_bind_with(&toy, &wick_allocator_heap, false), WICK_INVALID_PROGRAM);
    assert_non_null(strstr(toy.err.message, "toy::poke"));
    toy_close(&toy);

    toy_new(&toy);
    a = toy_tensor(&toy, 4, 0);
    uint32_t half_over = toy_tensor(&toy, 4, 8), exactly_over = toy_tensor(&toy, 4, 0);
    toy_call(&toy, &toy_add, a, a, exactly_over); /* elementwise in place: fine */
    WICK_ASSERT_OK(toy_bind_with(&toy, &wick_allocator_heap, false), &toy.err);
    toy_close(&toy);
    toy_call(&toy, &toy_add, a, a, half_over);
    assert_int_equal(toy_bind_with(&toy, &wick_allocator_heap, false), WICK_INVALID_PROGRAM);
    toy_close(&toy);

    toy_new(&toy);
    a = toy_tensor(&toy, 4, 0);
    exactly_over = toy_tensor(&toy, 4, 0);
    toy_call(&toy, &toy_double, a, exactly_over, 0); /* this operator does not say that it may */
    assert_int_equal(toy_bind_with(&toy, &wick_allocator_heap, false), WICK_INVALID_PROGRAM);
    toy_close(&toy);
}

static void moves_join_equals_only(void **state)
{
    (void)state;
    struct toy toy;
    toy_new(&toy);
    uint32_t a = toy_tensor(&toy, 4, 0), b = toy_tensor(&toy, 4, 64), i = toy_int(&toy, 1);
    toy_move(&toy, a, i);
    assert_int_equal(toy_bind_with(&toy, &wick_allocator_heap, false), WICK_INVALID_PROGRAM);
    toy_close(&toy);
    toy.ids[0][1] = b;
    toy.tensors[1].shape.dtype = WICK_DTYPE_I32;
    assert_int_equal(toy_bind_with(&toy, &wick_allocator_heap, false), WICK_INVALID_PROGRAM);
    toy_close(&toy);
}

static void a_moved_constant_is_not_prepared_for(void **state)
{
    (void)state;
    struct toy toy;
    toy_new(&toy);
    uint32_t x = toy_tensor(&toy, 1, 0), y = toy_tensor(&toy, 1, 64), k = toy_constant(&toy, 1, &two), other = toy_constant(&toy, 1, &three);
    toy_move(&toy, other, k);
    toy_call(&toy, &toy_scale, x, k, y);
    assert_int_equal(toy_bind_with(&toy, &wick_allocator_heap, false), WICK_NOT_SUPPORTED);
    toy_close(&toy);
}

/* Allocation number `left` fails. */
static void *failing_alloc(void *user, size_t bytes)
{
    int *left = user;
    return (*left)-- > 0 ? wick_allocator_heap.alloc(NULL, bytes) : NULL;
}

static void failing_free(void *user, void *memory, size_t bytes)
{
    (void)user;
    wick_allocator_heap.free(NULL, memory, bytes);
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    bool done = false;
    for (int n = 0; n < 100 && !done; n++) {
        struct toy toy;
        uint32_t x, y0, y1;
        int left = n;
        struct wick_allocator allocator = {failing_alloc, failing_free, &left};
        two_payloads(&toy, &x, &y0, &y1);
        toy.planned[1] = 1 << 20;
        toy_delegate(&toy, "toy", &two, x, y0);
        toy_delegate(&toy, "opaque", &three, x, y1);
        wick_status status = toy_bind_with(&toy, &allocator, false);
        if (status == WICK_OK) status = toy_open(&toy);
        done = status == WICK_OK;
        if (!done) assert_int_equal(status, WICK_OUT_OF_MEMORY);
        if (!done) assert_true(toy.err.message[0] != 0);
        toy_close(&toy);
    }
    assert_true(done);
    assert_int_equal(toy_open_handles, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(payloads_share_equal_nodes),
        cmocka_unit_test(nothing_is_shared_across_a_write),
        cmocka_unit_test(nothing_is_shared_across_a_jump),
        cmocka_unit_test(opaque_backends_stay_one_node),
        cmocka_unit_test(failures_close_what_was_opened),
        cmocka_unit_test(bad_writes_are_refused),
        cmocka_unit_test(moves_join_equals_only),
        cmocka_unit_test(a_moved_constant_is_not_prepared_for),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return WICK_TEST_MAIN(tests);
}
