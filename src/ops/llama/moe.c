/* ops/llama/moe.c - llama::quantized_moe_ffn: a gated feed-forward of which each token visits a few of many experts.
 *
 * T tokens, E experts, K of them a token, D model width, F expert width. The (token, expert) pairs are sorted by expert, so that an expert's weights are
 * read once for all its tokens; work is split over (expert, block of 8 rows of its matrix). Rows are summed over columns in one order whatever the number of
 * tokens, and a token's experts ascending. */
#include "base/checked.h"
#include "ukernel/experts.h"
#include "ops/ops.h"
#include "ukernel/ukernels.h"

#include <float.h>
#include <math.h>

enum { X, GATE, BIAS, W13, W2, ACTIVE, EXPERTS, HIDDEN, DIM, GROUP, BITS, SCORE, ROUTE_SCALE, OUT };

struct moe {
    const struct wick_ukernels *ukernels;
    struct wick_expert_matrix up, down; /* w1 over w3 (2F, D); w2 (D, F) */
    size_t tokens, experts, active, dim, hidden;
    const float *x, *gate, *bias;
    const uint8_t *w13, *w2;
    size_t w13_bytes, w2_bytes; /* of one expert */
    bool sigmoid;
    float route_scale, *out;
    float *scores;          /* (T, E) */
    uint32_t *chosen;       /* (T, K) experts */
    float *weights;         /* (T, K) */
    uint32_t *first;        /* (E + 1) first pair of each expert */
    uint32_t *visited;      /* experts that have pairs */
    size_t visited_count;
    uint32_t *pair_token;   /* (T K) by expert */
    float *pair_weight;
    float *rows, *middle, *results; /* (T K, D), (T K, F), (T K, D) */
    float *scratch;         /* (threads): a block of rows (8, D) or (8, F), and the sums of two (pairs of the largest expert, 8) */
    size_t scratch_floats, block_floats, most;
};

/* ---- routing ---- */

static bool is_taken(const uint32_t *chosen, size_t count, uint32_t expert)
{
    for (size_t i = 0; i < count; i++)
        if (chosen[i] == expert) return true;
    return false;
}

/* The best K, ties to the lower index; scores that are no numbers are taken last. */
static void choose(const struct moe *m, const float *scores, uint32_t *chosen)
{
    for (size_t k = 0; k < m->active; k++) {
        uint32_t best = UINT32_MAX, free_one = UINT32_MAX;
        float top = -INFINITY;
        for (uint32_t e = 0; e < m->experts; e++) {
            if (is_taken(chosen, k, e)) continue;
            if (free_one == UINT32_MAX) free_one = e;
            float score = scores[e] + (m->bias ? m->bias[e] : 0);
            if (score > top || (score == top && best == UINT32_MAX)) {
                top = score;
                best = e;
            }
        }
        chosen[k] = best != UINT32_MAX ? best : free_one;
    }
}

/* Item: one token. */
static void route(void *user, size_t token, unsigned thread)
{
    (void)thread;
    struct moe *m = user;
    const float *x = m->x + token * m->dim;
    float *scores = m->scores + token * m->experts, *weights = m->weights + token * m->active;
    uint32_t *chosen = m->chosen + token * m->active;
    m->ukernels->qk_dot(m->experts, m->dim, x, m->gate, m->dim, 1, scores);
    if (m->sigmoid) m->ukernels->sigmoid(m->experts, scores, scores);
    choose(m, scores, chosen);
    for (size_t k = 0; k < m->active; k++) weights[k] = scores[chosen[k]];
    if (!m->sigmoid) {
        m->ukernels->softmax(m->active, weights, weights);
        return;
    }
    float sum = 0;
    for (size_t k = 0; k < m->active; k++) sum += weights[k];
    float factor = m->route_scale / (sum < FLT_MIN ? FLT_MIN : sum);
    for (size_t k = 0; k < m->active; k++) weights[k] *= factor;
}

/* Counting sort of the pairs by expert, tokens ascending. */
static void sort_pairs(struct moe *m)
{
    size_t pairs = m->tokens * m->active;
    memset(m->first, 0, (m->experts + 1) * sizeof *m->first);
    for (size_t i = 0; i < pairs; i++) m->first[m->chosen[i] + 1]++;
    for (size_t e = 0; e < m->experts; e++) {
        size_t count = m->first[e + 1];
        if (count) m->visited[m->visited_count++] = (uint32_t)e;
        m->most = WICK_MAX(m->most, count);
        m->first[e + 1] += m->first[e];
    }
    /* first[e] moves up to the expert's end while its pairs are placed, and is moved back after. */
    for (size_t i = 0; i < pairs; i++) {
        size_t at = m->first[m->chosen[i]]++;
        m->pair_token[at] = (uint32_t)(i / m->active);
        m->pair_weight[at] = m->weights[i];
        memcpy(m->rows + at * m->dim, m->x + i / m->active * m->dim, m->dim * sizeof *m->rows);
    }
    memmove(m->first + 1, m->first, m->experts * sizeof *m->first);
    m->first[0] = 0;
}

/* ---- experts ---- */

static const uint8_t *block_of(const struct wick_expert_matrix *matrix, const uint8_t *blob, size_t block)
{
    return blob + WICK_EXPERT_HEADER + block * (size_t)wick_expert_block_bytes(matrix);
}

/* sums (n, 8) = rows (n, columns) x the block's 8 rows; the same bits for one row and for many. */
static void multiply(const struct moe *m, const struct wick_expert_matrix *matrix, const uint8_t *block, const float *rows, size_t n, float *unpacked, float *sums)
{
    if (n == 1) {
        m->ukernels->expert_dot(matrix, block, rows, sums);
        return;
    }
    m->ukernels->expert_unpack(matrix, block, unpacked);
    m->ukernels->qk_rows(n, WICK_EXPERT_ROWS, matrix->columns, rows, matrix->columns, unpacked, matrix->columns, 1, sums, WICK_EXPERT_ROWS);
}

/* Item: 8 columns of the middle, silu(w1 x) * (w3 x), of one expert's pairs. */
static void widen(void *user, size_t index, unsigned thread)
{
    struct moe *m = user;
    size_t blocks = m->hidden / WICK_EXPERT_ROWS, expert = m->visited[index / blocks], block = index % blocks;
    size_t first = m->first[expert], n = m->first[expert + 1] - first;
    const uint8_t *blob = m->w13 + expert * m->w13_bytes;
    float *unpacked = m->scratch + thread * m->scratch_floats, *gate = unpacked + m->block_floats, *up = gate + m->most * WICK_EXPERT_ROWS;
    multiply(m, &m->up, block_of(&m->up, blob, block), m->rows + first * m->dim, n, unpacked, gate);
    multiply(m, &m->up, block_of(&m->up, blob, blocks + block), m->rows + first * m->dim, n, unpacked, up);
    m->ukernels->silu(n * WICK_EXPERT_ROWS, gate, gate);
    m->ukernels->mul(n * WICK_EXPERT_ROWS, gate, up, gate);
    for (size_t i = 0; i < n; i++)
        memcpy(m->middle + (first + i) * m->hidden + block * WICK_EXPERT_ROWS, gate + i * WICK_EXPERT_ROWS, WICK_EXPERT_ROWS * sizeof *gate);
}

/* Item: 8 columns of the results of one expert's pairs. */
static void narrow(void *user, size_t index, unsigned thread)
{
    struct moe *m = user;
    size_t blocks = m->dim / WICK_EXPERT_ROWS, expert = m->visited[index / blocks], block = index % blocks;
    size_t first = m->first[expert], n = m->first[expert + 1] - first;
    float *unpacked = m->scratch + thread * m->scratch_floats, *sums = unpacked + m->block_floats;
    multiply(m, &m->down, block_of(&m->down, m->w2 + expert * m->w2_bytes, block), m->middle + first * m->hidden, n, unpacked, sums);
    for (size_t i = 0; i < n; i++)
        memcpy(m->results + (first + i) * m->dim + block * WICK_EXPERT_ROWS, sums + i * WICK_EXPERT_ROWS, WICK_EXPERT_ROWS * sizeof *sums);
}

/* ---- the call ---- */

static bool is_f32(const struct wick_tensor *t, int rank, size_t a, size_t b)
{
    return t->shape.dtype == WICK_DTYPE_F32 && t->shape.rank == rank && (size_t)t->shape.sizes[0] == a && (rank < 2 || (size_t)t->shape.sizes[1] == b) &&
           wick_shape_is_contiguous(&t->shape);
}

static bool is_packed(const struct wick_tensor *t, size_t experts)
{
    return t->shape.dtype == WICK_DTYPE_U8 && t->shape.rank == 2 && (size_t)t->shape.sizes[0] == experts && wick_shape_is_contiguous(&t->shape);
}

static wick_status read_numbers(struct moe *m, const struct wick_args *args, struct wick_run *run)
{
    const int positive[] = {ACTIVE, EXPERTS, HIDDEN, DIM, GROUP, BITS};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(positive); i++) {
        int64_t v = wick_arg_int(args, (uint32_t)positive[i]);
        if (v < 1 || v > 1 << 24) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "argument %d is %lld, not in 1..%d", positive[i], (long long)v, 1 << 24);
    }
    m->active = (size_t)wick_arg_int(args, ACTIVE);
    m->experts = (size_t)wick_arg_int(args, EXPERTS);
    m->hidden = (size_t)wick_arg_int(args, HIDDEN);
    m->dim = (size_t)wick_arg_int(args, DIM);
    m->route_scale = (float)wick_arg_double(args, ROUTE_SCALE);
    if (m->active > m->experts) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "%zu of %zu experts", m->active, m->experts);
    size_t group = (size_t)wick_arg_int(args, GROUP);
    int bits = (int)wick_arg_int(args, BITS);
    m->up = (struct wick_expert_matrix){2 * m->hidden, m->dim, group, bits};
    m->down = (struct wick_expert_matrix){m->dim, m->hidden, group, bits};
    WICK_TRY(wick_expert_matrix_check(&m->up, run->err));
    WICK_TRY(wick_expert_matrix_check(&m->down, run->err));
    struct wick_str score = wick_arg(args, SCORE)->as.string;
    m->sigmoid = wick_str_is(score, "sigmoid");
    if (!m->sigmoid && !wick_str_is(score, "softmax"))
        return wick_fail(run->err, WICK_NOT_SUPPORTED, "score function %.*s: not supported (sigmoid and softmax are)", (int)WICK_MIN(score.size, (size_t)32), score.data);
    return WICK_OK;
}

static wick_status read_tensors(struct moe *m, const struct wick_args *args, struct wick_run *run)
{
    const struct wick_tensor *x = wick_arg_tensor(args, X), *gate = wick_arg_tensor(args, GATE), *bias = wick_arg_tensor(args, BIAS), *w13 = wick_arg_tensor(args, W13),
                             *w2 = wick_arg_tensor(args, W2), *out = wick_arg_tensor(args, OUT);
    m->tokens = x->shape.rank == 2 ? (size_t)x->shape.sizes[0] : 0;
    if (!is_f32(x, 2, m->tokens, m->dim) || !is_f32(out, 2, m->tokens, m->dim) || !is_f32(gate, 2, m->experts, m->dim))
        return wick_fail(run->err, WICK_INVALID_ARGUMENT, "x, gate and out are not contiguous FLOAT of sizes that go together");
    bool biased = wick_tensor_numel(bias) > 0;
    if (biased && !is_f32(bias, 1, m->experts, 0)) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "expert_bias is no FLOAT vector of %zu", m->experts);
    if (biased && !m->sigmoid) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "expert_bias goes with the score function sigmoid only");
    if (!is_packed(w13, m->experts) || !is_packed(w2, m->experts))
        return wick_fail(run->err, WICK_INVALID_ARGUMENT, "the packed weights are no contiguous BYTE matrices of %zu rows", m->experts);
    m->x = x->data;
    m->gate = gate->data;
    m->bias = biased ? bias->data : NULL;
    m->w13 = w13->data;
    m->w2 = w2->data;
    m->w13_bytes = (size_t)w13->shape.sizes[1];
    m->w2_bytes = (size_t)w2->shape.sizes[1];
    m->out = out->data;
    if ((uint64_t)m->tokens * m->active > UINT32_MAX) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "%zu tokens are too many", m->tokens);
    return WICK_OK;
}

static void *part(struct wick_run *run, size_t a, size_t b)
{
    size_t count;
    return wick_mul_size(a, b, &count) ? NULL : wick_arena_array(run->temp, count ? count : 1, sizeof(float), 64);
}

static wick_status allocate(struct moe *m, struct wick_run *run)
{
    size_t pairs = m->tokens * m->active;
    m->scores = part(run, m->tokens, m->experts);
    m->chosen = part(run, pairs, 1);
    m->weights = part(run, pairs, 1);
    m->first = part(run, m->experts + 1, 1);
    m->visited = part(run, m->experts, 1);
    m->pair_token = part(run, pairs, 1);
    m->pair_weight = part(run, pairs, 1);
    m->rows = part(run, pairs, m->dim);
    m->middle = part(run, pairs, m->hidden);
    m->results = part(run, pairs, m->dim);
    bool there = m->scores && m->chosen && m->weights && m->first && m->visited && m->pair_token && m->pair_weight && m->rows && m->middle && m->results;
    return there ? WICK_OK : wick_fail(run->err, WICK_OUT_OF_MEMORY, "no memory for %zu pairs of tokens and experts", pairs);
}

static wick_status check_blobs(const struct moe *m, struct wick_run *run)
{
    for (size_t i = 0; i < m->visited_count; i++) {
        WICK_TRY(wick_expert_blob_check(&m->up, m->w13 + m->visited[i] * m->w13_bytes, m->w13_bytes, run->err));
        WICK_TRY(wick_expert_blob_check(&m->down, m->w2 + m->visited[i] * m->w2_bytes, m->w2_bytes, run->err));
    }
    return WICK_OK;
}

static wick_status run_llama_quantized_moe_ffn_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    struct moe m = {.ukernels = run->ukernels};
    WICK_TRY(read_numbers(&m, args, run));
    WICK_TRY(read_tensors(&m, args, run));
    WICK_TRY(allocate(&m, run));
    wick_pool_run(m.tokens > 1 ? run->pool : NULL, m.tokens, route, &m);
    sort_pairs(&m);
    WICK_TRY(check_blobs(&m, run));
    unsigned threads = wick_pool_threads(run->pool);
    m.block_floats = WICK_EXPERT_ROWS * WICK_MAX(m.dim, m.hidden);
    m.scratch_floats = m.block_floats + 2 * WICK_EXPERT_ROWS * m.most;
    m.scratch = part(run, threads, m.scratch_floats);
    if (!m.scratch) return wick_fail(run->err, WICK_OUT_OF_MEMORY, "no memory for %zu pairs of one expert", m.most);
    bool small = (uint64_t)m.tokens * m.active * m.dim * m.hidden < 32768;
    wick_pool_run(small ? NULL : run->pool, m.visited_count * (m.hidden / WICK_EXPERT_ROWS), widen, &m);
    wick_pool_run(small ? NULL : run->pool, m.visited_count * (m.dim / WICK_EXPERT_ROWS), narrow, &m);
    memset(m.out, 0, m.tokens * m.dim * sizeof *m.out);
    for (size_t i = 0; i < m.tokens * m.active; i++)
        run->ukernels->axpy(m.dim, m.pair_weight[i], m.results + i * m.dim, m.out + m.pair_token[i] * m.dim);
    return WICK_OK;
}

const struct wick_op wick_op_llama_quantized_moe_ffn_out = {.meta = &wick_opmeta_llama_quantized_moe_ffn_out, .run = run_llama_quantized_moe_ffn_out};
