/* Weights that a checkpoint holds quantized: the bytes are its integers and scales, and what does not fit is refused when they are made. */
#include "base/str.h"
#include "fixture.h"
#include "graph/quantized.h"
#include "ukernel/ukernels.h"

#include <math.h>

enum { ROWS = 3, COLUMNS = 8, GROUP = 4 };

struct numbers {
    struct wick_source source;
    const float *values;
};

static wick_status read(struct wick_source *source, size_t first, size_t count, float *out, wick_error *err)
{
    (void)err;
    size_t columns = wick_source_columns(source);
    memcpy(out, ((const struct numbers *)source->data)->values + first * columns, count * columns * sizeof *out);
    return WICK_OK;
}

static struct wick_source *source_of(struct numbers *n, int32_t rows, int32_t columns, const float *values)
{
    *n = (struct numbers){.source = {.shape = wick_shape_make(WICK_DTYPE_F32, columns ? 2 : 1, (const int32_t[]){rows, columns}), .rows = read,
                                     .stored_dtype = WICK_DTYPE_F32, .data = n}, .values = values};
    return &n->source;
}

static wick_status collect(void *user, const void *data, size_t size, wick_error *err)
{
    (void)err;
    struct wick_buf *all = user;
    wick_buf_append(all, data, size);
    return WICK_OK;
}

/* Integers -8..7 in order, then scales 1, 2, ..; `odd` replaces the first integer, `zero` the last zero point. */
struct given {
    float integers[ROWS * COLUMNS], scales[ROWS * COLUMNS / GROUP], zeros[ROWS * COLUMNS / GROUP];
    struct numbers parts[3];
    struct wick_arena arena;
    struct wick_quantized *q;
    wick_error err;
};

static wick_status make(struct given *g, int bits, int group, int32_t scales_columns, float odd, float zero)
{
    const struct wick_quant_spec spec = {.bits = bits, .group = group};
    for (int i = 0; i < ROWS * COLUMNS; i++) g->integers[i] = (float)(i % 16 - 8);
    for (int i = 0; i < ROWS * COLUMNS / GROUP; i++) g->scales[i] = (float)(i + 1), g->zeros[i] = 0;
    g->integers[0] = odd;
    g->zeros[ROWS * COLUMNS / GROUP - 1] = zero;
    wick_arena_init(&g->arena, &wick_allocator_heap);
    return wick_quantized_given(&g->q, &g->arena, source_of(&g->parts[0], ROWS, COLUMNS, g->integers), source_of(&g->parts[1], ROWS, scales_columns, g->scales),
                                scales_columns ? source_of(&g->parts[2], ROWS, scales_columns, g->zeros) : NULL, &spec, "layers.0.w", &g->err);
}

static wick_status produce(struct given *g, struct wick_source *source, struct wick_buf *bytes)
{
    struct wick_ukernels ukernels;
    WICK_ASSERT_OK(wick_ukernels_init(&ukernels, NULL, &g->err), &g->err);
    const struct wick_production to = {NULL, collect, bytes, &ukernels};
    assert_non_null(source);
    return source->produce(source, &to, &g->err);
}

static void bytes_are_the_checkpoints(void **state)
{
    (void)state;
    struct given g;
    struct wick_buf values = {0}, scales = {0};
    assert_int_equal(make(&g, 4, GROUP, COLUMNS / GROUP, -8, 0), WICK_OK);
    assert_int_equal(produce(&g, wick_quantized_values(g.q, &g.arena, WICK_PACK_LOW_NIBBLE), &values), WICK_OK);
    assert_int_equal(produce(&g, wick_quantized_scales(g.q, &g.arena, WICK_DTYPE_F32, false), &scales), WICK_OK);
    assert_int_equal(values.size, ROWS * COLUMNS / 2);
    assert_int_equal(scales.size, sizeof g.scales);
    assert_memory_equal(scales.data, g.scales, sizeof g.scales);
    for (int i = 0; i < ROWS * COLUMNS; i++) assert_int_equal(((uint8_t)values.data[i / 2] >> (i % 2 * 4)) & 15, i % 16);
    float floats[2 * COLUMNS];
    struct wick_source *back = wick_quantized_floats(g.q, &g.arena);
    assert_int_equal(back->rows(back, 1, 2, floats, &g.err), WICK_OK);
    for (int i = 0; i < 2 * COLUMNS; i++) assert_true(floats[i] == g.integers[COLUMNS + i] * g.scales[2 + i / GROUP]);
    wick_buf_free(&values), wick_buf_free(&scales);
    wick_arena_release(&g.arena);
}

static void refuse(int bits, int group, int32_t scales_columns, float odd, float zero, wick_status status, const char *text)
{
    struct given g;
    struct wick_buf bytes = {0};
    wick_status seen = make(&g, bits, group, scales_columns, odd, zero);
    if (seen == WICK_OK) seen = produce(&g, wick_quantized_values(g.q, &g.arena, WICK_PACK_INT8), &bytes);
    assert_int_equal(seen, status);
    assert_non_null(strstr(g.err.message, text));
    wick_buf_free(&bytes);
    wick_arena_release(&g.arena);
}

static void damage_is_refused(void **state)
{
    (void)state;
    refuse(4, GROUP, COLUMNS / GROUP, 8, 0, WICK_INVALID_CHECKPOINT, "layers.0.w holds integers that 4 bits do not");
    refuse(4, GROUP, COLUMNS / GROUP, NAN, 0, WICK_INVALID_CHECKPOINT, "integers");
    refuse(4, GROUP, COLUMNS / GROUP, 0, 1, WICK_NOT_SUPPORTED, "zero points");
    refuse(4, GROUP, 0, 0, 0, WICK_INVALID_CHECKPOINT, "3 scales or zero points, not 3 rows of 2 groups");
    refuse(4, 3, 1, 0, 0, WICK_INVALID_CONFIG, "do not divide");
    refuse(8, 0, COLUMNS / GROUP, 0, 0, WICK_INVALID_CHECKPOINT, "not 3 rows of 1 groups");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_are_the_checkpoints), cmocka_unit_test(damage_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
