/* Sources made of others: their numbers, whatever rows are asked for, and shapes that do not fit. */
#include "fixture.h"
#include "graph/derived.h"

#include <math.h>

struct numbers {
    struct wick_source source;
    float first;
    unsigned done;
};

static wick_status count_up(struct wick_source *source, size_t first, size_t count, float *out, wick_error *err)
{
    (void)err;
    const struct numbers *n = source->data;
    size_t columns = wick_source_columns(source);
    for (size_t i = 0; i < count * columns; i++) out[i] = n->first + (float)(first * columns + i);
    return WICK_OK;
}

static void count_done(struct wick_source *source) { ((struct numbers *)source->data)->done++; }

static struct wick_source *matrix(struct numbers *n, int32_t rows, int32_t columns, float first)
{
    *n = (struct numbers){.source = {.shape = wick_shape_make(WICK_DTYPE_F32, 2, (const int32_t[]){rows, columns}), .rows = count_up, .done = count_done,
                                     .stored_dtype = WICK_DTYPE_F16, .data = n}, .first = first};
    return &n->source;
}

/* Every range of rows gives these numbers. */
static void expect(struct wick_source *s, size_t rows, size_t columns, const float *want)
{
    float out[64];
    wick_error err;
    assert_non_null(s);
    assert_int_equal(s->shape.sizes[0], rows);
    assert_int_equal(wick_source_columns(s), columns);
    assert_int_equal(s->stored_dtype, WICK_DTYPE_F16);
    for (size_t first = 0; first < rows; first++)
        for (size_t count = 1; count <= rows - first; count++) {
            WICK_ASSERT_OK(s->rows(s, first, count, out, &err), &err);
            for (size_t i = 0; i < count * columns; i++) assert_true(out[i] == want[first * columns + i]);
        }
}

static float twice(float x) { return 2 * x; }

static void numbers(void **state)
{
    (void)state;
    struct wick_arena arena;
    struct numbers a, b;
    wick_arena_init(&arena, &wick_allocator_heap);
    struct wick_source *x = matrix(&a, 4, 3, 0), *y = matrix(&b, 2, 3, 100), *parts[2] = {x, y};
    struct wick_source *stacked = wick_source_stacked(&arena, parts, 2);
    expect(stacked, 6, 3, (const float[]){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 100, 101, 102, 103, 104, 105});
    stacked->done(stacked);
    assert_int_equal(a.done + b.done, 2);
    struct numbers c, d;
    struct wick_source *low = matrix(&c, 2, 3, 1), *high = matrix(&d, 4, 2, 0); /* (1 2 3; 4 5 6), (0 1; 2 3; 4 5; 6 7) */
    expect(wick_source_low_rank_sum(&arena, x, low, high, 2), 4, 3, (const float[]){8, 11, 14, 31, 42, 53, 54, 73, 92, 77, 104, 131});
    assert_null(wick_source_low_rank_sum(&arena, x, high, low, 2));
    expect(wick_source_column(&arena, x, 2), 4, 1, (const float[]){2, 5, 8, 11});
    expect(wick_source_transposed(&arena, x, 1), 3, 4, (const float[]){0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11});
    expect(wick_source_transposed(&arena, x, 2), 6, 2, (const float[]){0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11});
    expect(wick_source_row_range(&arena, x, 1, 2), 2, 3, (const float[]){3, 4, 5, 6, 7, 8});
    expect(wick_source_shaped(&arena, x, 3, (const int32_t[]){2, 2, 3}), 2, 6, (const float[]){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
    expect(wick_source_mapped(&arena, y, twice), 2, 3, (const float[]){200, 202, 204, 206, 208, 210});
    wick_arena_release(&arena);
}

static void misfits(void **state)
{
    (void)state;
    struct wick_arena arena;
    struct numbers a, b;
    wick_arena_init(&arena, &wick_allocator_heap);
    struct wick_source *x = matrix(&a, 4, 3, 0), *y = matrix(&b, 2, 4, 0), *parts[2] = {x, y};
    assert_null(wick_source_stacked(&arena, parts, 2));
    assert_null(wick_source_stacked(&arena, parts, 0));
    assert_null(wick_source_column(&arena, x, 3));
    assert_null(wick_source_column(&arena, NULL, 0));
    assert_null(wick_source_transposed(&arena, x, 3));
    assert_null(wick_source_row_range(&arena, x, 3, 2));
    assert_null(wick_source_row_range(&arena, x, 5, 0));
    assert_null(wick_source_shaped(&arena, x, 2, (const int32_t[]){6, 3}));
    assert_null(wick_source_shaped(&arena, x, 2, (const int32_t[]){6, 2}));
    wick_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers), cmocka_unit_test(misfits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
