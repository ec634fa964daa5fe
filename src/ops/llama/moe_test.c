/* llama::quantized_moe_ffn against a plain computation in double: both score functions, both widths of weights, ties, threads, cut sequences, and blobs
 * that must be refused. */
#include "ops/call_test.h"
#include "ukernel/experts.h"
#include "ops/ops.h"

#include <math.h>

enum { EXPERTS = 5, DIM = 48, HIDDEN = 32, GROUP = 16, MOST = 9 };

struct model {
    int bits, active;
    bool sigmoid, biased;
    double route_scale;
    double gate[EXPERTS][DIM], bias[EXPERTS], x[MOST][DIM];
    double w13[EXPERTS][2 * HIDDEN][DIM], w2[EXPERTS][DIM][HIDDEN]; /* as quantized */
    int8_t q13[EXPERTS][2 * HIDDEN][DIM], q2[EXPERTS][DIM][HIDDEN];
    float s13[EXPERTS][2 * HIDDEN][DIM / GROUP], s2[EXPERTS][DIM][HIDDEN / GROUP];
};

static int8_t random_value(const struct model *m, uint64_t *seed) { return (int8_t)((int)(wick_test_random(seed) % (1u << m->bits)) - (1 << (m->bits - 1))); }

static struct model *make(int bits, bool sigmoid, bool biased, int active)
{
    struct model *m = calloc(1, sizeof *m);
    uint64_t seed = 7;
    assert_non_null(m);
    *m = (struct model){.bits = bits, .active = active, .sigmoid = sigmoid, .biased = biased, .route_scale = sigmoid ? 2.5 : 1};
    for (int e = 0; e < EXPERTS; e++) {
        m->bias[e] = biased ? wick_test_uniform(&seed) : 0;
        for (int d = 0; d < DIM; d++) m->gate[e][d] = wick_test_uniform(&seed) / 4;
        for (int r = 0; r < 2 * HIDDEN; r++)
            for (int c = 0; c < DIM; c++) {
                if (c % GROUP == 0) m->s13[e][r][c / GROUP] = (float)fabs(wick_test_uniform(&seed)) / (float)(1 << bits);
                m->q13[e][r][c] = random_value(m, &seed);
                m->w13[e][r][c] = (double)((float)m->q13[e][r][c] * m->s13[e][r][c / GROUP]);
            }
        for (int r = 0; r < DIM; r++)
            for (int c = 0; c < HIDDEN; c++) {
                if (c % GROUP == 0) m->s2[e][r][c / GROUP] = (float)fabs(wick_test_uniform(&seed)) / (float)(1 << bits);
                m->q2[e][r][c] = random_value(m, &seed);
                m->w2[e][r][c] = (double)((float)m->q2[e][r][c] * m->s2[e][r][c / GROUP]);
            }
    }
    for (int t = 0; t < MOST; t++)
        for (int d = 0; d < DIM; d++) m->x[t][d] = (double)(float)wick_test_uniform(&seed);
    return m;
}

static void pack(const struct wick_expert_matrix *matrix, const int8_t *values, const float *scales, uint8_t *blob)
{
    wick_expert_pack_header(matrix, blob);
    for (size_t r = 0; r < matrix->rows; r += 8)
        wick_expert_pack_block(matrix, values + r * matrix->columns, scales + r * (matrix->columns / matrix->group), WICK_MIN(matrix->rows - r, (size_t)8),
                               blob + WICK_EXPERT_HEADER + r / 8 * wick_expert_block_bytes(matrix));
}

/* Tokens [from, to). */
static struct call *prepare(const struct model *m, int from, int to)
{
    struct call *c = call_new();
    struct wick_expert_matrix up = {2 * HIDDEN, DIM, GROUP, m->bits}, down = {DIM, HIDDEN, GROUP, m->bits};
    call_tensor(c, WICK_DTYPE_F32, 2, CALL_SIZES(to - from, DIM), m->x[from]);
    call_tensor(c, WICK_DTYPE_F32, 2, CALL_SIZES(EXPERTS, DIM), m->gate[0]);
    call_tensor(c, WICK_DTYPE_F32, 1, CALL_SIZES(m->biased ? EXPERTS : 0), m->bias);
    int32_t bytes = (int32_t)wick_expert_blob_bytes(&up), bytes2 = (int32_t)wick_expert_blob_bytes(&down);
    struct wick_tensor *w13 = call_shape(c, WICK_DTYPE_U8, 2, CALL_SIZES(EXPERTS, bytes), NULL), *w2 = call_shape(c, WICK_DTYPE_U8, 2, CALL_SIZES(EXPERTS, bytes2), NULL);
    for (int e = 0; e < EXPERTS; e++) {
        pack(&up, m->q13[e][0], m->s13[e][0], (uint8_t *)w13->data + e * bytes);
        pack(&down, m->q2[e][0], m->s2[e][0], (uint8_t *)w2->data + e * bytes2);
    }
    const int64_t numbers[] = {m->active, EXPERTS, HIDDEN, DIM, GROUP, m->bits};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(numbers); i++) call_int(c, numbers[i]);
    call_text(c, m->sigmoid ? "sigmoid" : "softmax");
    call_double(c, m->route_scale);
    return c;
}

static void reference(const struct model *m, const double *x, double *out)
{
    double score[EXPERTS], weight[EXPERTS], sum = 0;
    int chosen[EXPERTS];
    bool taken[EXPERTS] = {false};
    for (int e = 0; e < EXPERTS; e++) {
        score[e] = 0;
        for (int d = 0; d < DIM; d++) score[e] += x[d] * (double)(float)m->gate[e][d];
        if (m->sigmoid) score[e] = 1 / (1 + exp(-score[e]));
    }
    for (int k = 0; k < m->active; k++) {
        chosen[k] = -1;
        for (int e = 0; e < EXPERTS; e++)
            if (!taken[e] && (chosen[k] < 0 || score[e] + m->bias[e] > score[chosen[k]] + m->bias[chosen[k]])) chosen[k] = e;
        taken[chosen[k]] = true;
        weight[k] = m->sigmoid ? score[chosen[k]] : exp(score[chosen[k]]);
        sum += weight[k];
    }
    memset(out, 0, DIM * sizeof *out);
    for (int k = 0; k < m->active; k++) {
        int e = chosen[k];
        double middle[HIDDEN];
        for (int f = 0; f < HIDDEN; f++) {
            double gate = 0, up = 0;
            for (int d = 0; d < DIM; d++) {
                gate += m->w13[e][f][d] * x[d];
                up += m->w13[e][HIDDEN + f][d] * x[d];
            }
            middle[f] = gate / (1 + exp(-gate)) * up;
        }
        for (int d = 0; d < DIM; d++)
            for (int f = 0; f < HIDDEN; f++) out[d] += weight[k] / sum * m->route_scale * m->w2[e][d][f] * middle[f];
    }
}

static void check(const struct model *m, const struct call *c, int tokens)
{
    WICK_ASSERT_OK(c->status, &c->err);
    for (int t = 0; t < tokens; t++) {
        double want[DIM], largest = 0;
        reference(m, m->x[t], want);
        for (int d = 0; d < DIM; d++) largest = fmax(largest, fabs(want[d]));
        for (int d = 0; d < DIM; d++) {
            double got = call_get(call_out(c, 0), (size_t)(t * DIM + d));
            if (!(fabs(got - want[d]) <= 2e-5 * fmax(largest, 0.1))) fail_msg("token %d, %d: %g, want %g", t, d, got, want[d]);
        }
    }
}

static void values(void **state)
{
    (void)state;
    for (int form = 0; form < 12; form++) {
        struct model *m = make(form % 2 ? 8 : 4, form % 3 > 0, form % 3 == 2, form < 6 ? 2 : EXPERTS);
        struct call *c = prepare(m, 0, MOST);
        call_run(c, &wick_op_llama_quantized_moe_ffn_out, NULL);
        check(m, c, MOST);
        call_free(c);
        free(m);
    }
}

/* One token, several, and threads give the same bits. */
static void order(void **state)
{
    (void)state;
    struct model *m = make(4, true, true, 3);
    struct call *whole = prepare(m, 0, MOST), *threaded = prepare(m, 0, MOST);
    WICK_ASSERT_OK(call_run(whole, &wick_op_llama_quantized_moe_ffn_out, NULL), &whole->err);
    wick_error err;
    WICK_ASSERT_OK(wick_pool_create(&threaded->pool, 3, &err), &err);
    WICK_ASSERT_OK(call_run(threaded, &wick_op_llama_quantized_moe_ffn_out, NULL), &threaded->err);
    assert_memory_equal(call_out(whole, 0)->data, call_out(threaded, 0)->data, MOST * DIM * sizeof(float));
    wick_pool_destroy(threaded->pool);
    for (int t = 0; t < MOST; t++) {
        struct call *one = prepare(m, t, t + 1);
        WICK_ASSERT_OK(call_run(one, &wick_op_llama_quantized_moe_ffn_out, NULL), &one->err);
        assert_memory_equal((float *)call_out(whole, 0)->data + t * DIM, call_out(one, 0)->data, DIM * sizeof(float));
        call_free(one);
    }
    call_free(whole);
    call_free(threaded);
    free(m);
}

/* Scores that are no numbers still choose experts that are there. */
static void not_numbers(void **state)
{
    (void)state;
    struct model *m = make(4, false, false, 4);
    struct call *c = prepare(m, 0, 2);
    for (size_t i = 0; i < DIM; i++) call_set(&c->tensors[0], i, NAN);
    WICK_ASSERT_OK(call_run(c, &wick_op_llama_quantized_moe_ffn_out, NULL), &c->err);
    for (size_t d = 0; d < DIM; d++) {
        assert_true(isnan(call_get(call_out(c, 0), d)));
        assert_true(isfinite(call_get(call_out(c, 0), DIM + d)));
    }
    call_free(c);
    free(m);
}

static void refused(void **state)
{
    (void)state;
    const struct {
        int at; /* argument, or word of every expert's header when negative */
        int64_t value;
        wick_status status;
        const char *says;
    } cases[] = {
        {5, 6, WICK_INVALID_ARGUMENT, "6 of 5 experts"}, {5, 0, WICK_INVALID_ARGUMENT, "not in 1.."}, {9, 24, WICK_INVALID_ARGUMENT, "multiple of 16"},
        {9, 32, WICK_INVALID_ARGUMENT, "do not divide"}, {10, 5, WICK_INVALID_ARGUMENT, "5 bits"},    {10, 8, WICK_INVALID_ARGUMENT, "takes"},
        {6, 4, WICK_INVALID_ARGUMENT, "go together"},    {7, 1 << 20, WICK_INVALID_ARGUMENT, "takes"}, {-1, 0, WICK_INVALID_ARGUMENT, "begin with 0"},
        {-2, 3, WICK_NOT_SUPPORTED, "kind 3"},           {-3, 8, WICK_INVALID_ARGUMENT, "8 bits"},     {-6, 4, WICK_NOT_SUPPORTED, "4 x 16"},
    };
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cases); i++) {
        struct model *m = make(4, true, false, 2);
        struct call *c = prepare(m, 0, 2);
        if (cases[i].at >= 0) c->values[cases[i].at].as.i = cases[i].value;
        else
            for (int e = 0; e < EXPERTS; e++) {
                int32_t word = (int32_t)cases[i].value;
                memcpy((uint8_t *)c->tensors[3].data + e * c->tensors[3].shape.sizes[1] + (-cases[i].at - 1) * 4, &word, 4);
            }
        call_run(c, &wick_op_llama_quantized_moe_ffn_out, NULL);
        call_expect_error(c, cases[i].status, cases[i].says);
        call_free(c);
        free(m);
    }
    struct model *m = make(4, true, false, 2);
    struct call *c = prepare(m, 0, 2);
    c->values[11].as.string = wick_str_of("softmax_all");
    call_run(c, &wick_op_llama_quantized_moe_ffn_out, NULL);
    call_expect_error(c, WICK_NOT_SUPPORTED, "softmax_all");
    call_free(c);
    free(m);
}

/* Packing and unpacking undo each other, also with fewer rows than a block. */
static void packing(void **state)
{
    (void)state;
    for (int bits = 4; bits <= 8; bits += 4) {
        struct wick_expert_matrix m = {3, 64, 32, bits};
        int8_t values[3 * 64];
        float scales[3 * 2], out[8 * 64];
        uint8_t block[8 * 64 + 8 * 8 * 2];
        uint64_t seed = 3;
        for (size_t i = 0; i < WICK_ARRAY_SIZE(values); i++) values[i] = (int8_t)((int)(wick_test_random(&seed) % (1u << bits)) - (1 << (bits - 1)));
        for (size_t i = 0; i < WICK_ARRAY_SIZE(scales); i++) scales[i] = (float)(i + 1);
        assert_int_equal(wick_expert_block_bytes(&m), 64 * bits + 8 * 8 * 2);
        assert_int_equal(wick_expert_blob_bytes(&m), 64 + 64 * bits + 8 * 8 * 2);
        wick_expert_pack_block(&m, values, scales, 3, block);
        wick_expert_unpack_block(&m, block, out);
        for (size_t i = 0; i < WICK_ARRAY_SIZE(out); i++) assert_true(out[i] == (i < WICK_ARRAY_SIZE(values) ? (float)values[i] * scales[i / 32] : 0));
    }
    assert_true(wick_expert_blob_bytes(&(struct wick_expert_matrix){SIZE_MAX, 64, 32, 4}) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(values), cmocka_unit_test(order), cmocka_unit_test(not_numbers), cmocka_unit_test(refused),
                                       cmocka_unit_test(packing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
