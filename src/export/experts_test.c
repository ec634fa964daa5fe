/* Packed experts hold their weights to half a step, whatever parts they come from; groups that do not divide are refused. */
#include "export/experts.h"
#include "ukernel/ukernels.h"
#include "fixture.h"
#include "ukernel/experts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXPERTS = 3, COLUMNS = 64, GROUP = 32 };

static float number(size_t row, size_t column) { return sinf((float)(row * 71 + column * 13)) * (1 + (float)(row % 5)); }

static wick_status rows_of(struct wick_source *source, size_t first, size_t count, float *out, wick_error *err)
{
    size_t offset = *(const size_t *)source->data;
    (void)err;
    for (size_t i = 0; i < count * COLUMNS; i++) out[i] = number(offset + first + i / COLUMNS, i % COLUMNS);
    return WICK_OK;
}

struct text {
    uint8_t *at, *end;
};

static wick_status gather(void *user, const void *data, size_t size, wick_error *err)
{
    struct text *text = user;
    (void)err;
    assert_true(size <= (size_t)(text->end - text->at));
    memcpy(text->at, data, size);
    text->at += size;
    return WICK_OK;
}

static struct wick_source matrix(size_t *offset, int32_t rows)
{
    return (struct wick_source){.shape = wick_shape_make(WICK_DTYPE_F32, 2, (const int32_t[]){rows, COLUMNS}), .rows = rows_of, .data = offset};
}

static void packed(void **state)
{
    (void)state;
    for (int bits = 4; bits <= 8; bits += 4) {
        struct wick_arena arena;
        struct wick_source *source, *parts[2];
        wick_error err;
        size_t offsets[2] = {0, 1000};
        struct wick_source first = matrix(&offsets[0], 8 * EXPERTS), second = matrix(&offsets[1], 12 * EXPERTS);
        wick_arena_init(&arena, &wick_allocator_heap);
        parts[0] = &first;
        parts[1] = &second;
        WICK_ASSERT_OK(wick_experts_pack(&source, &arena, parts, 2, EXPERTS, GROUP, bits, &err), &err);
        size_t bytes = wick_shape_nbytes(&source->shape);
        uint8_t *all = malloc(bytes);
        struct text text = {all, all + bytes};
        struct wick_ukernels ukernels;
        WICK_ASSERT_OK(wick_ukernels_init(&ukernels, NULL, &err), &err);
        struct wick_production to = {.sink = gather, .user = &text, .ukernels = &ukernels};
        WICK_ASSERT_OK(source->produce(source, &to, &err), &err);
        assert_ptr_equal(text.at, text.end);
        struct wick_expert_matrix m = {20, COLUMNS, GROUP, bits};
        for (size_t e = 0; e < EXPERTS; e++) {
            const uint8_t *blob = all + e * (bytes / EXPERTS);
            WICK_ASSERT_OK(wick_expert_blob_check(&m, blob, bytes / EXPERTS, &err), &err);
            for (size_t r = 0; r < m.rows; r++) {
                float block[8 * COLUMNS], largest = 0;
                size_t from = r < 8 ? e * 8 + r : 1000 + e * 12 + r - 8;
                wick_expert_unpack_block(&m, blob + WICK_EXPERT_HEADER + r / 8 * wick_expert_block_bytes(&m), block);
                for (size_t c = 0; c < COLUMNS; c++) largest = fmaxf(largest, fabsf(number(from, c)));
                for (size_t c = 0; c < COLUMNS; c++) assert_true(fabsf(block[r % 8 * COLUMNS + c] - number(from, c)) <= largest / (float)((1 << bits) - 1) * 1.001f);
            }
        }
        free(all);
        wick_arena_release(&arena);
    }
}

static void refused(void **state)
{
    (void)state;
    static const int groups[] = {0, -1, 8, 24, 128};
    struct wick_arena arena;
    size_t offset = 0;
    struct wick_source first = matrix(&offset, 24), *part = &first, *source;
    wick_error err;
    wick_arena_init(&arena, &wick_allocator_heap);
    for (size_t i = 0; i < WICK_ARRAY_SIZE(groups); i++)
        assert_int_equal(wick_experts_pack(&source, &arena, &part, 1, EXPERTS, groups[i], 4, &err), WICK_INVALID_CONFIG);
    assert_int_equal(wick_experts_pack(&source, &arena, &part, 1, 5, GROUP, 4, &err), WICK_INVALID_CHECKPOINT);
    wick_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(packed), cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
