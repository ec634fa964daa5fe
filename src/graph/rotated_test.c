/* Rotations of weights: they are orthogonal, and a turned source gives what the matrices say, whatever rows are asked for. */
#include "base/arena.h"
#include "fixture.h"
#include "graph/rotated.h"

#include <math.h>
#include <string.h>

enum { ROWS = 12, COLUMNS = 24 };

struct numbers {
    struct wick_source source;
    float values[ROWS * COLUMNS];
    unsigned done;
};

static wick_status read(struct wick_source *source, size_t first, size_t count, float *out, wick_error *err)
{
    (void)err;
    size_t columns = wick_source_columns(source);
    memcpy(out, ((const struct numbers *)source->data)->values + first * columns, count * columns * sizeof *out);
    return WICK_OK;
}

static void note_done(struct wick_source *source) { ((struct numbers *)source->data)->done++; }

static struct wick_source *numbers(struct numbers *n, int rank, int32_t rows, int32_t columns, uint64_t seed)
{
    *n = (struct numbers){.source = {.shape = wick_shape_make(WICK_DTYPE_F32, rank, (const int32_t[]){rows, columns}), .rows = read, .done = note_done,
                                     .stored_dtype = WICK_DTYPE_BF16, .data = n}};
    for (int i = 0; i < ROWS * COLUMNS; i++) n->values[i] = wick_test_uniform(&seed);
    return &n->source;
}

/* The rotator's matrix (n, n): row i is what becomes of unit vector i. */
static void matrix_of(const struct wick_rotator *r, size_t n, float *matrix)
{
    float scratch[64];
    memset(matrix, 0, n * n * sizeof *matrix);
    for (size_t i = 0; i < n; i++) {
        matrix[i * n + i] = 1;
        wick_rotator_apply(r, matrix + i * n, scratch);
    }
}

static void rotators_are_orthogonal(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 8, 12, 20, 24, 36, 40, 64};
    static float matrix[64 * 64];
    struct wick_arena arena;
    wick_arena_init(&arena, &wick_allocator_heap);
    for (size_t s = 0; s < WICK_ARRAY_SIZE(sizes); s++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            const struct wick_rotator *r, *again;
            wick_error err;
            size_t n = sizes[s];
            WICK_ASSERT_OK(wick_rotator_hadamard(&r, &arena, n, seed, &err), &err);
            matrix_of(r, n, matrix);
            WICK_ASSERT_OK(wick_rotator_given(&again, &arena, n, matrix, "R", &err), &err);
            for (size_t i = 0; n >= 8 && i < n * n; i++) assert_true(fabsf(matrix[i]) < 0.6f); /* no channel is kept as it is */
        }
    wick_arena_release(&arena);
}

static void turned_is_the_product(void **state)
{
    (void)state;
    struct wick_arena arena;
    wick_arena_init(&arena, &wick_allocator_heap);
    struct numbers inner, scale;
    struct wick_rotated_cache cache = {0};
    struct wick_rotation how = {.scale = numbers(&scale, 1, COLUMNS, 1, 5), .one_more = true, .cache = &cache};
    wick_error err;
    static float left[ROWS * ROWS], right[64];
    double wanted[ROWS * COLUMNS];
    struct wick_source *w = numbers(&inner, 2, ROWS, COLUMNS, 9);
    WICK_ASSERT_OK(wick_rotator_hadamard(&how.left, &arena, ROWS, 3, &err), &err);
    WICK_ASSERT_OK(wick_rotator_hadamard(&how.right, &arena, 8, 4, &err), &err);
    matrix_of(how.left, ROWS, left);
    matrix_of(how.right, 8, right);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            double sum = 0;
            for (int a = 0; a < ROWS; a++)
                for (int b = j / 8 * 8, k = 0; k < 8; k++) sum += (double)left[a * ROWS + i] * inner.values[a * COLUMNS + b + k] * (1.0 + scale.values[b + k]) * right[k * 8 + j % 8];
            wanted[i * COLUMNS + j] = sum;
        }
    struct wick_source *turned = wick_source_rotated(&arena, w, &how);
    assert_non_null(turned);
    assert_int_equal(turned->stored_dtype, WICK_DTYPE_BF16);
    for (size_t first = 0; first < ROWS; first += 5) {
        float out[ROWS * COLUMNS];
        size_t count = WICK_MIN((size_t)5, ROWS - first);
        WICK_ASSERT_OK(turned->rows(turned, first, count, out, &err), &err);
        for (size_t i = 0; i < count * COLUMNS; i++) assert_true(fabs(out[i] - wanted[first * COLUMNS + i]) < 1e-5);
    }
    assert_ptr_equal(cache.owner, turned);
    turned->done(turned);
    assert_null(cache.values);
    assert_int_equal(inner.done, 1);
    wick_rotated_cache_release(&cache);
    wick_arena_release(&arena);
}

static void misfits_are_refused(void **state)
{
    (void)state;
    struct wick_arena arena;
    wick_arena_init(&arena, &wick_allocator_heap);
    struct numbers inner, scale;
    struct wick_rotation how = {0};
    const struct wick_rotator *r;
    wick_error err;
    float skewed[4] = {1, 0, 0.5f, 1};
    assert_int_equal(wick_rotator_given(&r, &arena, 2, skewed, "R1", &err), WICK_INVALID_CHECKPOINT);
    assert_non_null(strstr(err.message, "R1 is not orthogonal"));
    skewed[0] = NAN;
    assert_int_equal(wick_rotator_given(&r, &arena, 2, skewed, "R1", &err), WICK_INVALID_CHECKPOINT);
    assert_int_equal(wick_rotator_hadamard(&r, &arena, 0, 0, &err), WICK_NOT_SUPPORTED);
    assert_int_equal(wick_rotator_hadamard(&r, &arena, 4098, 0, &err), WICK_NOT_SUPPORTED);
    WICK_ASSERT_OK(wick_rotator_hadamard(&how.right, &arena, 16, 0, &err), &err);
    assert_null(wick_source_rotated(&arena, numbers(&inner, 2, ROWS, COLUMNS, 1), &how));
    how = (struct wick_rotation){.left = how.right};
    assert_null(wick_source_rotated(&arena, &inner.source, &how));
    how = (struct wick_rotation){.scale = numbers(&scale, 1, COLUMNS - 1, 1, 2)};
    assert_null(wick_source_rotated(&arena, &inner.source, &how));
    assert_null(wick_source_rotated(&arena, NULL, &how));
    wick_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rotators_are_orthogonal), cmocka_unit_test(turned_is_the_product), cmocka_unit_test(misfits_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
