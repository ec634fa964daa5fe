/* Attention against a reference in double; results that do not depend on how a prompt is cut or on threads; masks,
 * quantized caches, and calls that must fail. */
#include "ops/call_test.h"
#include "ops/ops.h"

#include <math.h>

/* One attention problem; layouts as in the operator: [B, S, H, D]. */
struct problem {
    int32_t batch, queries, heads, kv_heads, dim, length;
    int64_t start;
    bool causal;
    int dtype;
    bool heads_first;
};

static struct wick_tensor *random_tensor(struct call *c, int dtype, int32_t a, int32_t b, int32_t d, int32_t e, uint64_t seed)
{
    struct wick_tensor *t = call_shape(c, dtype, 4, CALL_SIZES(a, b, d, e), NULL);
    size_t numel = wick_tensor_numel(t);
    for (size_t i = 0; i < numel; i++)
        call_set(t, i, dtype == WICK_DTYPE_I8 ? (double)(int)(wick_test_random(&seed) % 256) - 128 : wick_test_uniform(&seed));
    return t;
}

/* softmax(scale * q k^T + mask) v of one (batch, position, head), in double. value(t, b, position, head, d) reads an element. */
typedef double element_fn(const void *user, int which, int32_t b, int32_t s, int32_t h, int32_t d);

static void reference(const struct problem *p, element_fn *element, const void *user, const float *mask, double scale, int32_t b, int32_t s,
                      int32_t h, double *out)
{
    int32_t kv = h / (p->heads / p->kv_heads), n = mask ? p->length : (int32_t)(p->causal ? p->start + s + 1 : p->start + p->queries);
    double *score = calloc((size_t)n, sizeof *score), max = -INFINITY, sum = 0;
    for (int32_t t = 0; t < n; t++) {
        for (int32_t d = 0; d < p->dim; d++) score[t] += element(user, 0, b, s, h, d) * element(user, 1, b, t, kv, d);
        score[t] = score[t] * scale + (mask ? mask[s * p->length + t] : 0);
        max = score[t] > max ? score[t] : max;
    }
    for (int32_t t = 0; t < n; t++) sum += score[t] = exp(score[t] - max);
    for (int32_t d = 0; d < p->dim; d++) {
        out[d] = 0;
        for (int32_t t = 0; t < n; t++) out[d] += score[t] / sum * element(user, 2, b, t, kv, d);
    }
    free(score);
}

static double plain_element(const void *user, int which, int32_t b, int32_t s, int32_t h, int32_t d)
{
    const struct wick_tensor *t = ((const struct wick_tensor *const *)user)[which];
    const int32_t *n = t->shape.sizes;
    return call_get(t, (((size_t)b * (size_t)n[1] + (size_t)s) * (size_t)n[2] + (size_t)h) * (size_t)n[3] + (size_t)d);
}

static void compare(const struct problem *p, const struct wick_tensor *out, element_fn *element, const void *user, const float *mask, double scale,
                    double tolerance)
{
    double *want = calloc((size_t)p->dim, sizeof *want), worst = 0;
    for (int32_t b = 0; b < p->batch; b++)
        for (int32_t s = 0; s < p->queries; s++)
            for (int32_t h = 0; h < p->heads; h++) {
                reference(p, element, user, mask, scale, b, s, h, want);
                for (int32_t d = 0; d < p->dim; d++) {
                    int32_t x = p->heads_first ? h : s, y = p->heads_first ? s : h, ny = p->heads_first ? p->queries : p->heads,
                            nx = p->heads_first ? p->heads : p->queries;
                    double got = call_get(out, (((size_t)b * (size_t)nx + (size_t)x) * (size_t)ny + (size_t)y) * (size_t)p->dim + (size_t)d);
                    double off = fabs(got - want[d]);
                    worst = off > worst || isnan(off) ? off : worst;
                }
            }
    free(want);
    if (!(worst <= tolerance))
        fail_msg("S %d H %d/%d D %d L %d start %lld: off by %g, allowed %g", p->queries, p->heads, p->kv_heads, p->dim, p->length,
                 (long long)p->start, worst, tolerance);
}

static void sdpa_args(struct call *c, const struct problem *p, const float *mask, double scale)
{
    random_tensor(c, p->dtype, p->batch, p->queries, p->heads, p->dim, 11);
    random_tensor(c, p->dtype, p->batch, p->length, p->kv_heads, p->dim, 22);
    random_tensor(c, p->dtype, p->batch, p->length, p->kv_heads, p->dim, 33);
    call_int(c, p->start);
    if (mask) {
        struct wick_tensor *t = call_shape(c, WICK_DTYPE_F32, 2, CALL_SIZES(p->queries, p->length), NULL);
        memcpy(t->data, mask, wick_tensor_nbytes(t));
    } else {
        call_none(c);
    }
    call_double(c, 0.0);
    call_bool(c, p->causal);
    if (scale != 0) call_double(c, scale);
    else call_none(c);
}

static void check_problem(const struct problem *p, const float *mask, double scale, unsigned threads, double tolerance)
{
    struct call *c = call_new();
    if (threads > 1) WICK_ASSERT_OK(wick_pool_create(&c->pool, threads, &c->err), &c->err);
    sdpa_args(c, p, mask, scale);
    WICK_ASSERT_OK(call_run(c, &wick_op_llama_custom_sdpa_out, NULL), &c->err);
    const struct wick_tensor *tensors[3] = {&c->tensors[0], &c->tensors[1], &c->tensors[2]};
    compare(p, call_out(c, 0), plain_element, tensors, mask, scale != 0 ? scale : 1 / sqrt(p->dim), tolerance);
    wick_pool_destroy(c->pool);
    call_free(c);
}

static void matches_reference(void **state)
{
    (void)state;
    static const struct problem problems[] = {
        {1, 1, 1, 1, 1, 1, 0, true, WICK_DTYPE_F32, false},        {1, 5, 4, 2, 16, 64, 0, true, WICK_DTYPE_F32, false},
        {1, 1, 9, 3, 64, 300, 299, true, WICK_DTYPE_F32, false},   {2, 33, 6, 2, 7, 70, 31, true, WICK_DTYPE_F32, false},
        {1, 130, 2, 1, 80, 600, 400, true, WICK_DTYPE_F32, false}, {1, 17, 8, 8, 32, 257, 240, false, WICK_DTYPE_F32, false},
        {1, 1, 40, 1, 8, 1100, 1030, true, WICK_DTYPE_F32, false}, {3, 2, 2, 2, 33, 9, 7, false, WICK_DTYPE_F32, false},
        {1, 64, 4, 4, 64, 513, 449, true, WICK_DTYPE_F32, false},
    };
    for (size_t i = 0; i < WICK_ARRAY_SIZE(problems); i++) {
        check_problem(&problems[i], NULL, 0, 1, 4e-7);
        check_problem(&problems[i], NULL, 0.37, 3, 6e-7);
    }
    const struct problem f16 = {1, 40, 4, 2, 64, 300, 260, true, WICK_DTYPE_F16, false},
                         bf16 = {1, 40, 4, 2, 64, 300, 260, true, WICK_DTYPE_BF16, false};
    check_problem(&f16, NULL, 0, 1, 3e-4);
    check_problem(&bf16, NULL, 0, 1, 3e-3);
}

static void masks(void **state)
{
    (void)state;
    enum { S = 6, L = 400 };
    struct problem p = {1, S, 4, 2, 24, L, 3, false, WICK_DTYPE_F32, false};
    static float mask[S * L];
    uint64_t seed = 5;
    for (int i = 0; i < S * L; i++) mask[i] = wick_test_random(&seed) % 3 ? wick_test_uniform(&seed) : -INFINITY;
    for (int i = 0; i < 300; i++) mask[L + i] = -INFINITY; /* a whole chunk hidden from row 1 */
    check_problem(&p, mask, 0, 1, 4e-7);
    check_problem(&p, mask, 0, 2, 4e-7);
    /* A row that sees nothing is NaN, the others are not touched by it. */
    for (int i = 0; i < L; i++) mask[2 * L + i] = -INFINITY;
    struct call *c = call_new();
    sdpa_args(c, &p, mask, 0);
    WICK_ASSERT_OK(call_run(c, &wick_op_llama_custom_sdpa_out, NULL), &c->err);
    const float *out = call_out(c, 0)->data;
    for (int i = 0; i < S * 4 * 24; i++) assert_int_equal(isnan(out[i]) != 0, i / (4 * 24) == 2);
    call_free(c);
}

/* A NaN among the keys shows in every row that sees it, even when its chunk has nothing else. */
static void nan_shows(void **state)
{
    (void)state;
    struct problem p = {1, 1, 1, 1, 8, 600, 599, true, WICK_DTYPE_F32, false};
    for (int whole = 0; whole < 2; whole++) {
        struct call *c = call_new();
        sdpa_args(c, &p, NULL, 0);
        float *keys = c->tensors[1].data;
        for (int t = 256; t < (whole ? 512 : 257); t++) keys[t * 8] = NAN;
        WICK_ASSERT_OK(call_run(c, &wick_op_llama_custom_sdpa_out, NULL), &c->err);
        assert_true(isnan(((float *)call_out(c, 0)->data)[0]));
        call_free(c);
    }
}

/* The whole prompt at once, and cut in pieces, with one thread and with three: the same bits. */
static void chunked_prefill(void **state)
{
    (void)state;
    enum { N = 1000, H = 3, D = 16 };
    static const int pieces[] = {1, 7, 32, 129, 512, N};
    float *whole = NULL;
    for (size_t i = WICK_ARRAY_SIZE(pieces); i-- > 0;) {
        struct call *c = call_new();
        WICK_ASSERT_OK(wick_pool_create(&c->pool, i % 2 ? 1 : 3, &c->err), &c->err);
        struct problem p = {1, N, H, 1, D, N, 0, true, WICK_DTYPE_F32, false};
        sdpa_args(c, &p, NULL, 0);
        struct wick_tensor *query = &c->tensors[0];
        struct wick_tensor *out = call_shape(c, WICK_DTYPE_F32, 4, query->shape.sizes, NULL);
        float *all_in = query->data, *all_out = out->data;
        struct wick_args args = {c->values, c->ids, c->count};
        struct wick_run run = {.ukernels = &c->ukernels, .temp = &c->temp, .pool = c->pool, .err = &c->err};
        for (int start = 0; start < N; start += pieces[i]) {
            const int32_t sizes[4] = {1, WICK_MIN(pieces[i], N - start), H, D};
            query->data = all_in + start * H * D;
            out->data = all_out + start * H * D;
            WICK_ASSERT_OK(wick_tensor_resize(query, sizes, 4, &c->err), &c->err);
            WICK_ASSERT_OK(wick_tensor_resize(out, sizes, 4, &c->err), &c->err);
            c->values[3].as.i = start;
            WICK_ASSERT_OK(wick_op_llama_custom_sdpa_out.run(&args, NULL, &run), &c->err);
            wick_arena_reset(&c->temp);
        }
        query->data = all_in, out->data = all_out;
        if (!whole) {
            whole = malloc(N * H * D * sizeof *whole);
            memcpy(whole, all_out, N * H * D * sizeof *whole);
        }
        assert_memory_equal(whole, all_out, N * H * D * sizeof *whole);
        wick_pool_destroy(c->pool);
        call_free(c);
    }
    free(whole);
}

/* ---- int8 ---- */

struct quantized {
    const struct problem *p;
    const struct wick_tensor *values[3], *zeros[3], *scales[3];
};

static double quantized_element(const void *user, int which, int32_t b, int32_t s, int32_t h, int32_t d)
{
    const struct quantized *q = user;
    const int32_t *n = q->values[which]->shape.sizes;
    size_t x = (size_t)(q->p->heads_first ? h : s), y = (size_t)(q->p->heads_first ? s : h);
    size_t row = ((size_t)b * (size_t)n[1] + x) * (size_t)n[2] + y;
    return (call_get(q->values[which], row * (size_t)n[3] + (size_t)d) - call_get(q->zeros[which], row)) * call_get(q->scales[which], row);
}

static void quantized_caches(void **state)
{
    (void)state;
    static const int32_t lengths[] = {1, 31, 33, 300, 513};
    for (size_t i = 0; i < 2 * WICK_ARRAY_SIZE(lengths); i++) {
        int32_t length = lengths[i / 2], queries = WICK_MIN(3, length);
        struct problem p = {2, queries, 4, 2, 40, length, length - queries, true, WICK_DTYPE_I8, i % 2};
        struct quantized q = {.p = &p};
        struct call *c = call_new();
        for (int k = 0; k < 3; k++) {
            int32_t positions = k == 0 ? queries : length, heads = k == 0 ? 4 : 2;
            q.values[k] =
                random_tensor(c, WICK_DTYPE_I8, 2, p.heads_first ? heads : positions, p.heads_first ? positions : heads, 40, (uint64_t)(7 + k));
        }
        call_int(c, p.start);
        call_none(c);
        call_double(c, 0);
        call_bool(c, true);
        call_none(c);
        for (int k = 0; k < 3; k++) {
            const int32_t *n = q.values[k]->shape.sizes;
            q.zeros[k] = random_tensor(c, WICK_DTYPE_I8, n[0], n[1], n[2], 1, (uint64_t)(17 + k));
            struct wick_tensor *scales = random_tensor(c, WICK_DTYPE_F32, n[0], n[1], n[2], 1, (uint64_t)(27 + k));
            for (size_t r = 0; r < wick_tensor_numel(scales); r++) ((float *)scales->data)[r] = 0.004f + 0.003f * ((float *)scales->data)[r];
            q.scales[k] = scales;
        }
        call_bool(c, p.heads_first);
        WICK_ASSERT_OK(call_run(c, &wick_op_llama_custom_quantized_sdpa_out, NULL), &c->err);
        compare(&p, call_out(c, 0), quantized_element, &q, NULL, 1 / sqrt(40), 1e-6);
        call_free(c);
    }
}

/* ---- with the cache written in one call ---- */

static void with_cache(void **state)
{
    (void)state;
    struct problem p = {1, 4, 4, 2, 16, 32, 10, true, WICK_DTYPE_F32, false};
    struct call *c = call_new();
    random_tensor(c, WICK_DTYPE_F32, 1, 4, 4, 16, 1);
    for (int k = 0; k < 2; k++) random_tensor(c, WICK_DTYPE_F32, 1, 4, 2, 16, (uint64_t)(2 + k));
    for (int k = 0; k < 2; k++) random_tensor(c, WICK_DTYPE_F32, 1, 32, 2, 16, (uint64_t)(4 + k));
    call_int(c, p.start);
    call_int(c, p.queries);
    call_none(c);
    call_double(c, 0);
    call_bool(c, true);
    call_none(c);
    WICK_ASSERT_OK(call_run(c, &wick_op_llama_sdpa_with_kv_cache_out, NULL), &c->err);
    for (int k = 0; k < 2; k++)
        assert_memory_equal((float *)c->tensors[3 + k].data + 10 * 32, c->tensors[1 + k].data, wick_tensor_nbytes(&c->tensors[1]));
    const struct wick_tensor *tensors[3] = {&c->tensors[0], &c->tensors[3], &c->tensors[4]};
    compare(&p, call_out(c, 0), plain_element, tensors, NULL, 0.25, 4e-7);
    c->values[5].as.i = 29; /* four rows from 29 do not fit 32 */
    c->count = c->inputs;
    assert_int_equal(call_run(c, &wick_op_llama_sdpa_with_kv_cache_out, NULL), WICK_INVALID_ARGUMENT);
    call_free(c);
}

static void refused(void **state)
{
    (void)state;
    static const struct {
        struct problem p;
        bool mask;
        const char *says;
    } cases[] = {
        {{1, 2, 2, 2, 8, 10, 9, true, WICK_DTYPE_F32, false}, false, "outside a cache"},
        {{1, 2, 2, 2, 8, 10, -1, true, WICK_DTYPE_F32, false}, false, "outside a cache"},
        {{1, 2, 2, 2, 8, 10, INT64_MAX, true, WICK_DTYPE_F32, false}, false, "outside a cache"},
        {{1, 2, 2, 2, 8, 10, INT64_MIN, false, WICK_DTYPE_F32, false}, false, "outside a cache"},
        {{1, 2, 2, 2, 8, 10, 0, true, WICK_DTYPE_F32, false}, true, "mask"},
        {{1, 2, 3, 2, 8, 10, 0, true, WICK_DTYPE_F32, false}, false, "do not fit"},
        {{1, 2, 2, 2, 8, 10, 0, true, WICK_DTYPE_F64, false}, false, "not a float tensor"},
        {{1, 2, 2, 2, 8, 10, 0, true, WICK_DTYPE_I8, false}, false, "not a float tensor"},
    };
    static const float mask[20];
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cases); i++) {
        struct call *c = call_new();
        sdpa_args(c, &cases[i].p, cases[i].mask ? mask : NULL, 0);
        call_run(c, &wick_op_llama_custom_sdpa_out, NULL);
        call_expect_error(c, WICK_INVALID_ARGUMENT, cases[i].says);
        call_free(c);
    }
}

/* No queries, or an empty batch, is no error. */
static void empty(void **state)
{
    (void)state;
    const struct problem p = {1, 0, 2, 2, 8, 10, 4, true, WICK_DTYPE_F32, false};
    struct call *c = call_new();
    sdpa_args(c, &p, NULL, 0);
    WICK_ASSERT_OK(call_run(c, &wick_op_llama_custom_sdpa_out, NULL), &c->err);
    call_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_reference), cmocka_unit_test(masks),      cmocka_unit_test(nan_shows), cmocka_unit_test(chunked_prefill),
        cmocka_unit_test(quantized_caches),  cmocka_unit_test(with_cache), cmocka_unit_test(refused),   cmocka_unit_test(empty),
    };
    return WICK_TEST_MAIN(tests);
}
