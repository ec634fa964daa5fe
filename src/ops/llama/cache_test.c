/* Caches, the Hadamard transform, the gated delta rule, tiles. */
#include "ops/call_test.h"
#include "ops/ops.h"

#include <math.h>

static struct wick_tensor *random_tensor(struct call *c, int dtype, int rank, const int32_t *sizes, uint64_t seed)
{
    struct wick_tensor *t = call_shape(c, dtype, rank, sizes, NULL);
    for (size_t i = 0; i < wick_tensor_numel(t); i++) call_set(t, i, wick_test_uniform(&seed));
    return t;
}

static void writing(void **state)
{
    (void)state;
    static const int dtypes[] = {WICK_DTYPE_F32, WICK_DTYPE_F16, WICK_DTYPE_I8};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(dtypes); i++) {
        struct call *c = call_new();
        struct wick_tensor *value = call_shape(c, dtypes[i], 4, CALL_SIZES(2, 3, 2, 4), NULL),
                           *cache = call_shape(c, dtypes[i], 4, CALL_SIZES(2, 8, 2, 4), NULL);
        for (size_t k = 0; k < 48; k++) call_set(value, k, (double)k);
        memset(cache->data, 0, cache->capacity);
        call_int(c, 5);
        WICK_ASSERT_OK(call_run(c, &wick_op_llama_update_cache_out, NULL), &c->err);
        for (size_t k = 0; k < 128; k++) {
            size_t batch = k / 64, row = k % 64 / 8;
            assert_true(call_get(cache, k) == (row < 5 ? 0 : (double)(batch * 24 + (row - 5) * 8 + k % 8)));
        }
        static const int64_t wrong[] = {6, 8, -1, INT64_MAX, INT64_MIN};
        for (size_t k = 0; k < WICK_ARRAY_SIZE(wrong); k++) {
            c->values[2].as.i = wrong[k];
            c->count = c->inputs;
            assert_int_equal(call_run(c, &wick_op_llama_update_cache_out, NULL), WICK_INVALID_ARGUMENT);
        }
        call_free(c);
    }
    struct call *c = call_new(); /* one float more a row than the cache has */
    call_shape(c, WICK_DTYPE_F32, 4, CALL_SIZES(1, 1, 2, 5), NULL);
    call_shape(c, WICK_DTYPE_F32, 4, CALL_SIZES(1, 8, 2, 4), NULL);
    call_int(c, 0);
    call_run(c, &wick_op_llama_update_cache_out, NULL);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "differ in size");
    call_free(c);
}

static void writing_by_index(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct call *c = call_new();
        struct wick_tensor *value = call_shape(c, WICK_DTYPE_F32, 4, CALL_SIZES(1, 3, 1, 2), NULL),
                           *cache = call_shape(c, WICK_DTYPE_F32, 4, CALL_SIZES(1, 4, 1, 2), NULL);
        for (size_t k = 0; k < 6; k++) call_set(value, k, (double)k + 1);
        memset(cache->data, 0, cache->capacity);
        call_int(c, 99); /* not looked at */
        call_tensor(c, WICK_DTYPE_I64, 2, CALL_SIZES(1, 3), i == 0 ? CALL_DOUBLES(3, 0, 2) : i == 1 ? CALL_DOUBLES(3, 4, 2) : CALL_DOUBLES(3, -1, 2));
        call_run(c, &wick_op_llama_update_cache_with_indices_out, NULL);
        if (i) {
            call_expect_error(c, WICK_INVALID_ARGUMENT, "is outside 4");
        } else {
            WICK_ASSERT_OK(c->status, &c->err);
            const double want[] = {3, 4, 0, 0, 5, 6, 1, 2};
            for (size_t k = 0; k < 8; k++) assert_true(call_get(cache, k) == want[k]);
        }
        call_free(c);
    }
}

static struct call *hadamard(int dtype, int32_t rows, int32_t n, uint64_t seed)
{
    struct call *c = call_new();
    random_tensor(c, dtype, 2, CALL_SIZES(rows, n), seed);
    call_run(c, &wick_op_llama_fast_hadamard_transform_out, NULL);
    return c;
}

/* H[i][j] = (-1)^popcount(i & j) / sqrt(n). */
static void powers_of_two(void **state)
{
    (void)state;
    for (int32_t n = 1; n <= 512; n *= 2) {
        struct call *c = hadamard(WICK_DTYPE_F32, 3, n, 9);
        WICK_ASSERT_OK(c->status, &c->err);
        for (int32_t r = 0; r < 3; r++)
            for (int32_t i = 0; i < n; i++) {
                double want = 0;
                for (int32_t j = 0; j < n; j++)
                    want += (__builtin_popcount((unsigned)(i & j)) % 2 ? -1 : 1) * call_get(&c->tensors[0], (size_t)(r * n + j));
                assert_true(fabs(call_get(call_out(c, 0), (size_t)(r * n + i)) - want / sqrt(n)) < 2e-6);
            }
        call_free(c);
    }
}

/* The 28-point matrix is orthogonal: rows have length sqrt(28) and are perpendicular, so that lengths are kept. */
static void twenty_eight(void **state)
{
    (void)state;
    double matrix[28][28];
    for (int k = 0; k < 28; k++) {
        struct call *c = call_new();
        struct wick_tensor *unit = call_shape(c, WICK_DTYPE_F32, 1, CALL_SIZES(28), NULL);
        for (size_t i = 0; i < 28; i++) call_set(unit, i, i == (size_t)k);
        WICK_ASSERT_OK(call_run(c, &wick_op_llama_fast_hadamard_transform_out, NULL), &c->err);
        for (size_t i = 0; i < 28; i++) {
            matrix[i][k] = call_get(call_out(c, 0), i);
            assert_true(fabs(matrix[i][k]) == 1);
        }
        call_free(c);
    }
    for (int i = 0; i < 28; i++)
        for (int j = 0; j < 28; j++) {
            double product = 0;
            for (int k = 0; k < 28; k++) product += matrix[i][k] * matrix[j][k];
            assert_true(product == (i == j ? 28 : 0));
        }
    static const int32_t sizes[] = {28, 56, 28 * 64};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(sizes); i++)
        for (int half = 0; half < 2; half++) {
            struct call *c = hadamard(half ? WICK_DTYPE_F16 : WICK_DTYPE_F32, 2, sizes[i], 4);
            double before = 0, after = 0;
            WICK_ASSERT_OK(c->status, &c->err);
            for (size_t k = 0; k < (size_t)sizes[i]; k++) {
                before += call_get(&c->tensors[0], k) * call_get(&c->tensors[0], k);
                after += call_get(call_out(c, 0), k) * call_get(call_out(c, 0), k);
            }
            assert_true(fabs(after / before - 28) < (half ? 0.05 : 1e-4));
            call_free(c);
        }
    static const int32_t wrong[] = {3, 12, 40, 28 * 3, 0};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(wrong); i++) {
        struct call *c = hadamard(WICK_DTYPE_F32, 1, wrong[i], 1);
        assert_int_equal(c->status, WICK_INVALID_ARGUMENT);
        call_free(c);
    }
}

/* ---- gated delta rule ---- */

enum { B = 2, HQ = 4, HKV = 2, T = 37, K = 5, V = 7 };

/* Tokens [from, to) from state; channelwise decay [.., K] or one a token. */
static struct call *delta(bool channelwise, int32_t from, int32_t to, const float *memory)
{
    struct call *whole = call_new(), *c = call_new();
    const int32_t shapes[5][4] = {{B, HQ, T, K}, {B, HKV, T, K}, {B, HKV, T, V}, {B, HKV, T, K}, {B, HKV, T, 1}};
    for (int i = 0; i < 5; i++) {
        int32_t width = i == 3 && !channelwise ? 1 : shapes[i][3];
        const struct wick_tensor *all = random_tensor(whole, WICK_DTYPE_F32, 4, CALL_SIZES(B, shapes[i][1], T, width), (uint64_t)(3 + i));
        int rank = i == 4 || (i == 3 && !channelwise) ? 3 : 4;
        struct wick_tensor *part = call_shape(c, WICK_DTYPE_F32, rank, CALL_SIZES(B, shapes[i][1], to - from, width), NULL);
        for (int32_t h = 0; h < B * shapes[i][1]; h++)
            memcpy((float *)part->data + h * (to - from) * width, (float *)all->data + (h * T + from) * width,
                   (size_t)((to - from) * width) * sizeof(float));
        if (i == 3) /* decays lie in [0, 1) */
            for (size_t k = 0; k < wick_tensor_numel(part); k++) ((float *)part->data)[k] = fabsf(((float *)part->data)[k]);
    }
    struct wick_tensor *start = random_tensor(c, WICK_DTYPE_F32, 4, CALL_SIZES(B, HKV, K, V), 8);
    if (memory) memcpy(start->data, memory, wick_tensor_nbytes(start));
    call_free(whole);
    WICK_ASSERT_OK(call_run(c, channelwise ? &wick_op_llama_channelwise_gated_delta_rule_out : &wick_op_llama_gated_delta_rule_out, NULL), &c->err);
    return c;
}

static void delta_reference(const struct call *c, bool channelwise)
{
    const struct wick_tensor *t = c->tensors;
    for (size_t head = 0; head < B * HKV; head++) {
        double s[K][V];
        for (size_t k = 0; k < K; k++)
            for (size_t v = 0; v < V; v++) s[k][v] = call_get(&t[5], (head * K + k) * V + v);
        for (size_t i = 0; i < T; i++) {
            size_t token = head * T + i;
            double change[V];
            for (size_t v = 0; v < V; v++) {
                double read = 0;
                for (size_t k = 0; k < K; k++) {
                    s[k][v] *= call_get(&t[3], channelwise ? token * K + k : token);
                    read += s[k][v] * call_get(&t[1], token * K + k);
                }
                change[v] = (call_get(&t[2], token * V + v) - read) * call_get(&t[4], token);
            }
            for (size_t v = 0; v < V; v++)
                for (size_t k = 0; k < K; k++) s[k][v] += call_get(&t[1], token * K + k) * change[v];
            for (size_t g = 0; g < HQ / HKV; g++) {
                size_t row = ((head / HKV * HQ) + head % HKV * (HQ / HKV) + g) * T + i;
                for (size_t v = 0; v < V; v++) {
                    double want = 0;
                    for (size_t k = 0; k < K; k++) want += s[k][v] * call_get(&t[0], row * K + k);
                    assert_true(fabs(call_get(call_out(c, 0), row * V + v) - want) < 2e-5);
                }
            }
        }
        for (size_t k = 0; k < K * V; k++) assert_true(fabs(call_get(call_out(c, 1), head * K * V + k) - s[k / V][k % V]) < 2e-5);
    }
}

/* Right, and the same bits when the sequence is cut. */
static void delta_rule(void **state)
{
    (void)state;
    for (int channelwise = 0; channelwise < 2; channelwise++) {
        struct call *whole = delta(channelwise, 0, T, NULL), *first = delta(channelwise, 0, 20, NULL),
                    *second = delta(channelwise, 20, T, call_out(first, 1)->data);
        delta_reference(whole, channelwise);
        assert_memory_equal(call_out(whole, 1)->data, call_out(second, 1)->data, wick_tensor_nbytes(call_out(whole, 1)));
        assert_memory_equal((float *)call_out(whole, 0)->data + 20 * V, call_out(second, 0)->data, (T - 20) * V * sizeof(float));
        /* Final over initial state is refused. */
        whole->values[7].as.tensor = whole->values[5].as.tensor;
        assert_int_equal(call_direct(whole, &wick_op_llama_gated_delta_rule_out), WICK_INVALID_ARGUMENT);
        call_free(whole);
        call_free(first);
        call_free(second);
    }
}

static void tiles(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct call *c = call_new();
        struct wick_tensor *picture = call_shape(c, WICK_DTYPE_U8, 3, CALL_SIZES(2, 4, 6), NULL);
        for (size_t k = 0; k < 48; k++) call_set(picture, k, (double)k);
        call_int(c, (const int64_t[]){2, 3, 0}[i]);
        call_run(c, &wick_op_preprocess_tile_crop_out, NULL);
        if (i) {
            call_expect_error(c, WICK_INVALID_ARGUMENT, "tiles of");
        } else {
            WICK_ASSERT_OK(c->status, &c->err);
            assert_int_equal(call_out(c, 0)->shape.sizes[0], 6);
            /* tile 4 (row 1, column 1), channel 1, element (1, 0): place (3, 2) of the picture */
            assert_true(call_get(call_out(c, 0), ((4 * 2 + 1) * 2 + 1) * 2) == 24 + 3 * 6 + 2);
        }
        call_free(c);
    }
    struct call *c = call_new();
    CALL_VECTOR(c, 1, 2, 3);
    call_run(c, &wick_op_llama_fallback_out, NULL);
    CALL_EXPECT_VECTOR(c, 0, 1, 2, 3);
    call_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(writing),      cmocka_unit_test(writing_by_index), cmocka_unit_test(powers_of_two),
                                       cmocka_unit_test(twenty_eight), cmocka_unit_test(delta_rule),       cmocka_unit_test(tiles)};
    return WICK_TEST_MAIN(tests);
}
