/* tests/kernelcheck/kernelcheck.c - every level's kernels against the portable ones, bit for bit, on odd shapes, worst cases and guard pages.
 *
 *   kernelcheck [LEVEL]            check one level (default: all found); exit 77 if this processor has none of it
 *   kernelcheck --bench [FILTER]   speed of each level's entries */
#define _GNU_SOURCE
#include "fixture.h"
#include "base/os.h"
#include "tensor/half.h"
#include "ukernel/ukernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 0x9E3779B97F4A7C15ull;
static unsigned failures, checks;

static float uniform(void) { return wick_test_uniform(&seed); }
static unsigned below(unsigned n) { return (unsigned)(wick_test_random(&seed) >> 33) % n; }

static void judge(bool same, const char *what, size_t m, size_t n, size_t k)
{
    checks++;
    if (same) return;
    if (failures++ < 20) printf("FAILED: %s m=%zu n=%zu k=%zu\n", what, m, n, k);
}

/* ---- matrix products ---- */

enum format { F32, F16, BF16, QB4, QC4, QC8, WEIGHT_QC8, WEIGHT_QC4, FORMATS };
static const char *const format_names[FORMATS] = {"gemm_f32", "gemm_f16", "gemm_bf16", "gemm_qd8_qb4", "gemm_qd8_qc4", "gemm_qd8_qc8", "gemm_f32_qc8", "gemm_f32_qc4"};

static const struct wick_gemm *gemm_of(const struct wick_ukernels *t, enum format f)
{
    const struct wick_gemm *all[FORMATS] = {&t->gemm_f32, &t->gemm_f16, &t->gemm_bf16, &t->gemm_qd8_qb4, &t->gemm_qd8_qc4, &t->gemm_qd8_qc8, &t->gemm_f32_qc8, &t->gemm_f32_qc4};
    return all[f];
}

static bool is_qd8(enum format f) { return f == QB4 || f == QC4 || f == QC8; }

/* worst: extremes only, the case in which integer sums are largest. */
static void make_row(size_t k, float *x, bool worst)
{
    int kind = worst ? 3 : (int)below(4);
    for (size_t i = 0; i < k; i++) x[i] = kind == 0 ? 0.0f : kind == 1 ? uniform() : kind == 2 ? uniform() * 1000.0f : (i % 7 ? 1.0f : -0.001f);
}

struct problem {
    enum format format;
    struct wick_gemm_weights w;
    struct wick_gemm_call call;
    void *weights, *scales, *bias, *a, *params;
    size_t weight_bytes, scale_bytes, a_bytes;
};

static void make_weights(struct problem *p, bool worst)
{
    size_t n = p->w.n, k = p->w.k;
    bool four = p->format == QB4 || p->format == QC4 || p->format == WEIGHT_QC4;
    p->weight_bytes = p->format == F32 ? n * k * 4 : p->format == F16 || p->format == BF16 ? n * k * 2 : four ? n * ((k + 1) / 2) : n * k;
    p->scale_bytes = p->format == QB4 ? n * (k / p->w.group) * 2 : n * 4;
    p->weights = wick_test_guarded(p->weight_bytes);
    p->scales = wick_test_guarded(p->scale_bytes);
    for (size_t i = 0; i < p->weight_bytes; i++) ((uint8_t *)p->weights)[i] = worst ? (p->format == QC8 || p->format == WEIGHT_QC8 ? 0x80 : 0x00) : (uint8_t)below(256);
    for (size_t i = 0; p->format == F32 && i < n * k; i++) ((float *)p->weights)[i] = uniform();
    for (size_t i = 0; (p->format == F16 || p->format == BF16) && i < n * k; i++)
        ((uint16_t *)p->weights)[i] = p->format == F16 ? wick_f16_from_f32(uniform()) : wick_bf16_from_f32(uniform());
    for (size_t i = 0; p->format == QB4 && i < n * (k / p->w.group); i++) ((uint16_t *)p->scales)[i] = wick_bf16_from_f32(0.01f + 0.02f * fabsf(uniform()));
    for (size_t i = 0; p->format != QB4 && i < n; i++) ((float *)p->scales)[i] = 0.01f + 0.02f * fabsf(uniform());
    p->w.w = p->weights;
    p->w.scales = p->scales;
}

static void make_activations(struct problem *p, const struct wick_ukernels *ref, size_t m, bool worst)
{
    size_t k = p->w.k;
    float *row = malloc(k * sizeof *row + 1);
    p->a_bytes = m * k * (is_qd8(p->format) ? 1 : 4);
    p->a = wick_test_guarded(p->a_bytes);
    p->params = wick_test_guarded(m * sizeof(struct wick_qd8_params));
    for (size_t i = 0; i < m; i++) {
        make_row(k, row, worst);
        if (is_qd8(p->format)) ref->quantize_qd8(k, row, (uint8_t *)p->a + i * k, (struct wick_qd8_params *)p->params + i);
        else memcpy((float *)p->a + i * k, row, k * sizeof *row);
        for (size_t j = 0; worst && is_qd8(p->format) && j < k; j++) ((uint8_t *)p->a)[i * k + j] = 255;
    }
    free(row);
    p->call = (struct wick_gemm_call){.m = m, .n = p->w.n, .k = k, .group = p->w.group, .a = p->a, .a_stride = k, .params = p->params, .c_stride = p->w.n, .min = -INFINITY, .max = INFINITY};
}

/* Packs in two ranges, runs in one, two or row by row: all must be the same bits. */
static void product(const struct wick_gemm *gemm, const struct problem *p, float *out, int split)
{
    size_t bytes = gemm->packed_size(p->w.n, p->w.k, p->w.group), columns = (p->w.n + gemm->nr - 1) / gemm->nr, half = columns / 2 * gemm->nr;
    void *packed = NULL;
    if (posix_memalign(&packed, 64, bytes) != 0) abort();
    memset(packed, 0x5a, bytes);
    gemm->pack(&p->w, 0, half, packed);
    gemm->pack(&p->w, half, p->w.n, packed);
    struct wick_gemm_call call = p->call;
    call.packed = packed;
    call.c = out;
    if (split == 0) gemm->run(&call, 0, p->w.n);
    else if (split == 1) {
        gemm->run(&call, 0, half);
        gemm->run(&call, half, p->w.n);
    } else
        for (size_t i = 0; i < p->call.m; i++) {
            struct wick_gemm_call one = call;
            one.m = 1;
            one.a = (const char *)p->a + i * p->w.k * (is_qd8(p->format) ? 1 : 4);
            one.params = (const struct wick_qd8_params *)p->params + i;
            one.c = out + i * p->w.n;
            gemm->run(&one, 0, p->w.n);
        }
    free(packed);
}

static void check_gemm(const struct wick_ukernels *ref, const struct wick_ukernels *t, enum format f, size_t m, size_t n, size_t k, size_t group, bool worst)
{
    struct problem p = {.format = f, .w = {.n = n, .k = k, .group = f == QB4 ? group : 0}};
    float *bias = wick_test_guarded(n * 4), *want = wick_test_guarded(m * n * 4), *got = wick_test_guarded(m * n * 4);
    for (size_t i = 0; i < n; i++) bias[i] = uniform();
    p.w.bias = below(2) ? bias : NULL;
    p.w.transposed = (f == F32 || f == BF16 || f == QC8) && below(2);
    make_weights(&p, worst);
    make_activations(&p, ref, m, worst);
    if (below(3) == 0) p.call.min = -0.5f, p.call.max = 0.75f;
    product(gemm_of(ref, f), &p, want, 0);
    for (int split = 0; split < 3; split++) {
        memset(got, 0xee, m * n * 4);
        product(gemm_of(t, f), &p, got, split);
        judge(memcmp(want, got, m * n * 4) == 0, format_names[f], m, n, k);
    }
    wick_test_guarded_free(bias, n * 4), wick_test_guarded_free(want, m * n * 4), wick_test_guarded_free(got, m * n * 4);
    wick_test_guarded_free(p.weights, p.weight_bytes), wick_test_guarded_free(p.scales, p.scale_bytes);
    wick_test_guarded_free(p.a, p.a_bytes), wick_test_guarded_free(p.params, m * sizeof(struct wick_qd8_params));
}

static void check_gemms(const struct wick_ukernels *ref, const struct wick_ukernels *t)
{
    static const size_t ms[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 33}, ns[] = {1, 7, 8, 9, 17, 64}, ks[] = {1, 3, 32, 40, 96, 256};
    for (int f = 0; f < FORMATS; f++)
        for (size_t i = 0; i < WICK_ARRAY_SIZE(ms); i++)
            for (size_t j = 0; j < WICK_ARRAY_SIZE(ns); j++)
                for (size_t l = 0; l < WICK_ARRAY_SIZE(ks); l++) {
                    size_t k = f == QB4 ? (ks[l] + 31) / 32 * 32 : ks[l], group = k % 128 == 0 && below(2) ? 128 : k % 64 == 0 && below(2) ? 64 : below(2) ? 32 : k;
                    check_gemm(ref, t, (enum format)f, ms[i], ns[j], k, group, below(8) == 0);
                }
}

/* The product in double precision: the portable kernels are right, not only equal. */
static void check_reference(const struct wick_ukernels *ref)
{
    enum { M = 3, N = 5, K = 96, GROUP = 32 };
    struct problem p = {.format = QB4, .w = {.n = N, .k = K, .group = GROUP}};
    float got[M * N];
    make_weights(&p, false);
    make_activations(&p, ref, M, false);
    product(&ref->gemm_qd8_qb4, &p, got, 0);
    for (size_t m = 0; m < M; m++)
        for (size_t n = 0; n < N; n++) {
            const struct wick_qd8_params *q = (const struct wick_qd8_params *)p.params + m;
            double sum = 0, size = 0;
            for (size_t k = 0; k < K; k++) {
                double w = (((uint8_t *)p.weights)[n * K / 2 + k / 2] >> (k % 2 * 4) & 15) - 8.0, s = wick_f32_from_bf16(((uint16_t *)p.scales)[n * (K / GROUP) + k / GROUP]);
                double x = ((double)((uint8_t *)p.a)[m * K + k] - q->zero_point) * q->inv_scale;
                sum += x * w * s;
                size += fabs(x * w * s) + fabs((double)q->zero_point * q->inv_scale * w * s);
            }
            judge(fabs(sum - got[m * N + n]) <= 1e-6 * size + 1e-30, "qb4 against double", m, n, K);
        }
    wick_test_guarded_free(p.weights, p.weight_bytes), wick_test_guarded_free(p.scales, p.scale_bytes);
    wick_test_guarded_free(p.a, p.a_bytes), wick_test_guarded_free(p.params, M * sizeof(struct wick_qd8_params));
}

/* ---- vectors ---- */

static void fill_floats(float *x, size_t n)
{
    static const float special[] = {0.0f, -0.0f, 1.0f, -88.0f, 89.5f, -104.5f, 1e-30f, 3e38f, INFINITY, -INFINITY};
    for (size_t i = 0; i < n; i++) x[i] = below(10) == 0 ? special[below(WICK_ARRAY_SIZE(special))] : uniform() * 12.0f;
}

static bool same_floats(const float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&a[i], &b[i], 4) != 0 && !(isnan(a[i]) && isnan(b[i]))) return false;
    return true;
}

typedef void (*unary_fn)(size_t n, const float *x, float *y);
typedef void (*binary_fn)(size_t n, const float *x, const float *z, float *y);

static void check_vector(const struct wick_ukernels *ref, const struct wick_ukernels *t, size_t n)
{
    float *x = wick_test_guarded(n * 4), *z = wick_test_guarded(n * 4), *want = wick_test_guarded(n * 4), *got = wick_test_guarded(n * 4);
    fill_floats(x, n), fill_floats(z, n);
    const unary_fn unary[][2] = {{ref->neg, t->neg}, {ref->abs, t->abs}, {ref->square, t->square}, {ref->sqrt, t->sqrt}, {ref->rsqrt, t->rsqrt}, {ref->exp, t->exp},
                                 {ref->sigmoid, t->sigmoid}, {ref->silu, t->silu}, {ref->tanh, t->tanh}, {ref->gelu, t->gelu}, {ref->softmax, t->softmax}};
    const binary_fn binary[][2] = {{ref->add, t->add}, {ref->sub, t->sub}, {ref->mul, t->mul}, {ref->div, t->div}, {ref->min, t->min}, {ref->max, t->max}};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(unary); i++) {
        unary[i][0](n, x, want), unary[i][1](n, x, got);
        judge(same_floats(want, got, n), "unary", i, n, 0);
    }
    for (size_t i = 0; i < WICK_ARRAY_SIZE(binary); i++) {
        binary[i][0](n, x, z, want), binary[i][1](n, x, z, got);
        judge(same_floats(want, got, n), "binary", i, n, 0);
    }
    for (size_t i = 0; i < n; i++) x[i] = uniform(), z[i] = uniform();
    float a[5] = {ref->reduce_sum(n, x), ref->reduce_sum_squares(n, x), ref->reduce_max(n, x), ref->dot(n, x, z), 0}, b[5] = {t->reduce_sum(n, x), t->reduce_sum_squares(n, x), t->reduce_max(n, x), t->dot(n, x, z), 0};
    judge(memcmp(a, b, sizeof a) == 0, "reductions", 0, n, 0);
    ref->rms_norm(n, x, z, 1e-5f, want), t->rms_norm(n, x, z, 1e-5f, got);
    judge(same_floats(want, got, n), "rms_norm", 0, n, 0);
    struct wick_qd8_params pa, pb;
    uint8_t *qa = wick_test_guarded(n), *qb = wick_test_guarded(n);
    ref->quantize_qd8(n, x, qa, &pa), t->quantize_qd8(n, x, qb, &pb);
    judge(memcmp(qa, qb, n) == 0 && memcmp(&pa, &pb, sizeof pa) == 0, "quantize_qd8", 0, n, 0);
    float s = ref->qk_dot ? 0.125f : 0;
    ref->qk_dot(1, n, x, z, n, s, want), t->qk_dot(1, n, x, z, n, s, got);
    memcpy(want + (n > 1), want, 0);
    judge(want[0] == got[0], "qk_dot", 0, n, 0);
    memcpy(want, x, n * 4), memcpy(got, x, n * 4);
    ref->pv_acc(1, n, z, z, n, want), t->pv_acc(1, n, z, z, n, got);
    judge(same_floats(want, got, n), "pv_acc", 0, n, 0);
    float ea = ref->exp_sub_sum(n, want, 1.0f), eb = t->exp_sub_sum(n, got, 1.0f);
    judge(ea == eb && same_floats(want, got, n), "exp_sub_sum", 0, n, 0);
    wick_test_guarded_free(qa, n), wick_test_guarded_free(qb, n);
    wick_test_guarded_free(x, n * 4), wick_test_guarded_free(z, n * 4), wick_test_guarded_free(want, n * 4), wick_test_guarded_free(got, n * 4);
}

/* m rows of n keys or values of d elements; the last row ends before a guard page. Rows at once and one by one are the same bits. */
/* What a scale search computes with: a group of weights, some far out, with and without an inverse. */
static void check_scales(const struct wick_ukernels *ref, const struct wick_ukernels *t, size_t n)
{
    float *w = wick_test_guarded(n * 4), num[2], den[2];
    int8_t *want = wick_test_guarded(n), *got = wick_test_guarded(n);
    for (size_t i = 0; i < n; i++) w[i] = below(16) ? uniform() : uniform() * 100;
    for (int bits = 2; bits <= 8; bits++) {
        const float low = -(float)(1 << (bits - 1)), scale = (1 + uniform()) / -low + 1e-6f, inverse = below(2) ? 1 / scale : 0;
        ref->scale_sums(n, w, scale, low, -low - 1, &num[0], &den[0]);
        t->scale_sums(n, w, scale, low, -low - 1, &num[1], &den[1]);
        judge(memcmp(&num[0], &num[1], 4) == 0 && memcmp(&den[0], &den[1], 4) == 0, "scale_sums", 1, n, 1);
        ref->quantize_i8(n, w, scale, inverse, low, -low - 1, want);
        t->quantize_i8(n, w, scale, inverse, low, -low - 1, got);
        judge(memcmp(want, got, n) == 0, "quantize_i8", 1, n, 1);
    }
    judge(ref->reduce_max_abs(n, w) == t->reduce_max_abs(n, w), "reduce_max_abs", 1, n, 1);
    float odd = NAN;
    t->quantize_i8(1, &odd, 1, 0, -8, 7, got);
    judge(got[0] == -8, "quantize_i8 of NaN", 1, 1, 1);
    wick_test_guarded_free(w, n * 4), wick_test_guarded_free(want, n), wick_test_guarded_free(got, n);
}

static void check_ropes(const struct wick_ukernels *ref, const struct wick_ukernels *t, size_t n)
{
    float *x = wick_test_guarded(n * 8), *angles[2] = {wick_test_guarded(n * 4), wick_test_guarded(n * 4)}, *want = wick_test_guarded(n * 8), *got = wick_test_guarded(n * 8);
    for (size_t i = 0; i < 2 * n; i++) x[i] = uniform();
    for (size_t i = 0; i < n; i++) angles[0][i] = uniform(), angles[1][i] = uniform();
    ref->rope_pairs(n, x, angles[0], angles[1], want);
    t->rope_pairs(n, x, angles[0], angles[1], got);
    judge(memcmp(want, got, n * 8) == 0, "rope_pairs", 1, n, 1);
    wick_test_guarded_free(x, n * 8), wick_test_guarded_free(want, n * 8), wick_test_guarded_free(got, n * 8);
    for (int i = 0; i < 2; i++) wick_test_guarded_free(angles[i], n * 4);
}

static void check_attention_of(const struct wick_ukernels *ref, const struct wick_ukernels *t, size_t m, size_t n, size_t d)
{
    size_t stride = d + 5, keys = (n - 1) * stride + d, rows = (m - 1) * (d + 3) + d, table = (m - 1) * (n + 2) + n;
    float *q = wick_test_guarded(rows * 4), *k = wick_test_guarded(keys * 4), *p = wick_test_guarded(table * 4);
    float *want = wick_test_guarded(table * 4), *got = wick_test_guarded(table * 4), *sum = wick_test_guarded(rows * 4), *sums = wick_test_guarded(rows * 4);
    for (size_t i = 0; i < keys; i++) k[i] = uniform();
    for (size_t i = 0; i < rows; i++) q[i] = uniform(), sum[i] = sums[i] = uniform();
    for (size_t i = 0; i < table; i++) p[i] = uniform(), want[i] = got[i] = 0;
    for (size_t r = 0; r < m; r++) ref->qk_dot(n, d, q + r * (d + 3), k, stride, 0.37f, want + r * (n + 2));
    t->qk_rows(m, n, d, q, d + 3, k, stride, 0.37f, got, n + 2);
    judge(same_floats(want, got, table), "qk_rows", m, n, d);
    for (size_t r = 0; r < m; r++) ref->pv_acc(n, d, p + r * (n + 2), k, stride, sum + r * (d + 3));
    t->pv_rows(m, n, d, p, n + 2, k, stride, sums, d + 3);
    judge(same_floats(sum, sums, rows), "pv_rows", m, n, d);
    wick_test_guarded_free(q, rows * 4), wick_test_guarded_free(k, keys * 4), wick_test_guarded_free(p, table * 4), wick_test_guarded_free(want, table * 4);
    wick_test_guarded_free(got, table * 4), wick_test_guarded_free(sum, rows * 4), wick_test_guarded_free(sums, rows * 4);
}

static void check_attention(const struct wick_ukernels *ref, const struct wick_ukernels *t)
{
    static const size_t ms[] = {1, 2, 3, 4, 5, 7, 12}, ns[] = {1, 2, 3, 4, 5, 17, 64}, ds[] = {1, 7, 8, 16, 33, 40, 64, 80, 128};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(ms); i++)
        for (size_t j = 0; j < WICK_ARRAY_SIZE(ns); j++)
            for (size_t l = 0; l < WICK_ARRAY_SIZE(ds); l++) check_attention_of(ref, t, ms[i], ns[j], ds[l]);
}

/* Some columns of a memory: rows that are no whole vector, several queries a key, decay by channel. */
static void check_delta_of(const struct wick_ukernels *ref, const struct wick_ukernels *t, size_t dim_k, size_t width, size_t groups, bool channelwise)
{
    enum { TOKENS = 3 };
    size_t stride = width + 3, keys = TOKENS * dim_k, queries = groups * keys, values = (TOKENS - 1) * stride + width, outs = (groups * TOKENS - 1) * stride + width;
    size_t memory = dim_k * WICK_DELTA_WIDTH;
    float *k = wick_test_guarded(keys * 4), *q = wick_test_guarded(queries * 4), *v = wick_test_guarded(values * 4), *decay = wick_test_guarded(keys * 4);
    float *beta = wick_test_guarded(TOKENS * 4), *out[2] = {wick_test_guarded(outs * 4), wick_test_guarded(outs * 4)};
    float *s[2] = {wick_test_guarded(memory * 4), wick_test_guarded(memory * 4)}, *before = wick_test_guarded(memory * 4);
    for (size_t i = 0; i < keys; i++) k[i] = uniform(), decay[i] = fabsf(uniform());
    for (size_t i = 0; i < queries; i++) q[i] = uniform();
    for (size_t i = 0; i < values; i++) v[i] = uniform();
    for (size_t i = 0; i < TOKENS; i++) beta[i] = fabsf(uniform());
    for (size_t i = 0; i < outs; i++) out[0][i] = out[1][i] = 0;
    for (size_t i = 0; i < memory; i++) s[0][i] = s[1][i] = before[i] = uniform();
    for (int i = 0; i < 2; i++) {
        struct wick_delta_call call = {.tokens = TOKENS, .dim_k = dim_k, .width = width, .groups = groups, .key = k, .query = q,
                                       .decay = channelwise ? decay : decay + keys - TOKENS, .beta = beta, .channelwise = channelwise, .value = v, .out = out[i],
                                       .value_stride = stride, .before = groups > 1 ? before : s[i], .memory = s[i],
                                       .before_stride = WICK_DELTA_WIDTH, .memory_stride = WICK_DELTA_WIDTH};
        (i ? t : ref)->delta_rule(&call);
    }
    judge(same_floats(out[0], out[1], outs) && same_floats(s[0], s[1], memory), "delta_rule", groups, width, dim_k);
    wick_test_guarded_free(k, keys * 4), wick_test_guarded_free(q, queries * 4), wick_test_guarded_free(v, values * 4), wick_test_guarded_free(decay, keys * 4);
    wick_test_guarded_free(beta, TOKENS * 4), wick_test_guarded_free(before, memory * 4);
    for (int i = 0; i < 2; i++) wick_test_guarded_free(out[i], outs * 4), wick_test_guarded_free(s[i], memory * 4);
}

static void check_delta(const struct wick_ukernels *ref, const struct wick_ukernels *t)
{
    static const size_t dims[] = {1, 5, 16, 128}, widths[] = {1, 7, 31, 32};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(dims); i++)
        for (size_t j = 0; j < WICK_ARRAY_SIZE(widths); j++)
            for (size_t form = 0; form < 4; form++) check_delta_of(ref, t, dims[i], widths[j], 1 + form / 2, form % 2);
}

/* A packed block unpacked, and times a row: the same bits as dot of the unpacked rows. */
static void check_experts(const struct wick_ukernels *ref, const struct wick_ukernels *t)
{
    static const size_t groups[] = {16, 32, 48, 80, 320};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(groups) * 2; i++) {
        struct wick_expert_matrix m = {8, 2 * groups[i / 2], groups[i / 2], i % 2 ? 4 : 8};
        size_t bytes = (size_t)wick_expert_block_bytes(&m), values = 8 * m.columns;
        uint8_t *block = wick_test_guarded(bytes);
        int8_t *q = wick_test_guarded(values);
        float *x = wick_test_guarded(m.columns * 4), *want = wick_test_guarded(values * 4), *got = wick_test_guarded(values * 4), scales[16], sums[8], dots[8];
        for (size_t k = 0; k < values; k++) q[k] = (int8_t)(uniform() * (m.bits == 4 ? 7.9f : 127.0f));
        for (size_t k = 0; k < 16; k++) scales[k] = fabsf(uniform()) / (float)(1 << m.bits);
        for (size_t k = 0; k < m.columns; k++) x[k] = uniform();
        wick_expert_pack_block(&m, q, scales, 8, block);
        wick_expert_unpack_block(&m, block, want);
        t->expert_unpack(&m, block, got);
        judge(same_floats(want, got, values), "expert_unpack", 0, (size_t)m.bits, m.group);
        for (size_t k = 0; k < 8; k++) dots[k] = ref->dot(m.columns, x, want + k * m.columns);
        t->expert_dot(&m, block, x, sums);
        judge(same_floats(dots, sums, 8), "expert_dot", 0, (size_t)m.bits, m.group);
        wick_test_guarded_free(block, bytes), wick_test_guarded_free(q, values), wick_test_guarded_free(x, m.columns * 4);
        wick_test_guarded_free(want, values * 4), wick_test_guarded_free(got, values * 4);
    }
}

/* Accuracy against libm, as the header promises. */
static void check_accuracy(const struct wick_ukernels *t)
{
    for (float x = -20.0f; x < 20.0f; x += 0.0037f) {
        float y;
        t->exp(1, &x, &y);
        judge(fabs(y - exp(x)) <= 2.5e-7 * exp(x), "exp accuracy", 0, 1, 0);
        t->sigmoid(1, &x, &y);
        judge(fabs(y - 1 / (1 + exp(-(double)x))) <= 2e-7, "sigmoid accuracy", 0, 1, 0);
        t->tanh(1, &x, &y);
        judge(fabs(y - tanh(x)) <= 3e-7, "tanh accuracy", 0, 1, 0);
        t->gelu(1, &x, &y);
        judge(fabs(y - 0.5 * x * (1 + erf(x * M_SQRT1_2))) <= 1e-6, "gelu accuracy", 0, 1, 0);
    }
}

static void check_halves(const struct wick_ukernels *ref, const struct wick_ukernels *t)
{
    enum { N = 0x10000 };
    static uint16_t half[N], back[N];
    static float a[N], b[N];
    for (int i = 0; i < N; i++) half[i] = (uint16_t)i;
    ref->f16_to_f32(N, half, a), t->f16_to_f32(N, half, b);
    judge(same_floats(a, b, N), "f16_to_f32", 0, N, 0);
    for (int i = 0; i < N; i++) judge(isnan(b[i]) || b[i] == wick_f32_from_f16((uint16_t)i), "f16_to_f32 value", 0, (size_t)i, 0);
    t->f32_to_f16(N, b, back);
    for (int i = 0; i < N; i++) judge(isnan(b[i]) || back[i] == half[i], "f32_to_f16", 0, (size_t)i, 0);
    t->bf16_to_f32(N, half, b);
    t->f32_to_bf16(N, b, back);
    for (int i = 0; i < N; i++) judge(isnan(b[i]) || back[i] == half[i], "bf16", 0, (size_t)i, 0);
}

static void check_level(const struct wick_ukernels *ref, const struct wick_ukernels *t)
{
    check_gemms(ref, t);
    for (size_t n = 1; n < 70; n++) check_vector(ref, t, n);
    check_vector(ref, t, 1000);
    check_accuracy(t);
    check_halves(ref, t);
    for (size_t n = 1; n < 70; n++) check_scales(ref, t, n), check_ropes(ref, t, n);
    check_attention(ref, t);
    check_delta(ref, t);
    check_experts(ref, t);
}

/* ---- bench ---- */

static void bench_gemm(const struct wick_ukernels *ref, const struct wick_ukernels *t, enum format f, size_t m, size_t size)
{
    struct problem p = {.format = f, .w = {.n = size, .k = size, .group = f == QB4 ? 32 : 0}};
    const struct wick_gemm *gemm = gemm_of(t, f);
    make_weights(&p, false);
    make_activations(&p, ref, m, false);
    size_t bytes = gemm->packed_size(size, size, p.w.group);
    float *out = malloc(m * size * 4);
    void *packed;
    if (!out || posix_memalign(&packed, 64, bytes) != 0) abort();
    gemm->pack(&p.w, 0, size, packed);
    p.call.packed = packed;
    p.call.c = out;
    uint64_t best = UINT64_MAX, stop = wick_now_ns() + 200000000u;
    while (wick_now_ns() < stop) {
        uint64_t begin = wick_now_ns();
        gemm->run(&p.call, 0, size);
        best = WICK_MIN(best, wick_now_ns() - begin);
    }
    printf("%-12s %-13s m=%-3zu k=n=%-5zu %8.1f us %7.2f GB/s %8.2f GMAC/s\n", t->level, format_names[f], m, size, (double)best * 1e-3, (double)bytes / (double)best,
           (double)(m * size * size) / (double)best);
    free(out), free(packed);
    wick_test_guarded_free(p.weights, p.weight_bytes), wick_test_guarded_free(p.scales, p.scale_bytes);
    wick_test_guarded_free(p.a, p.a_bytes), wick_test_guarded_free(p.params, m * sizeof(struct wick_qd8_params));
}

static void bench(const struct wick_ukernels *ref, const struct wick_ukernels *t, const char *filter)
{
    static const size_t sizes[] = {576, 1536, 4096}, ms[] = {1, 4, 64};
    for (int f = 0; f < FORMATS; f++)
        for (size_t i = 0; i < WICK_ARRAY_SIZE(sizes); i++)
            for (size_t j = 0; j < WICK_ARRAY_SIZE(ms); j++)
                if (!filter || strstr(format_names[f], filter)) bench_gemm(ref, t, (enum format)f, ms[j], sizes[i]);
}

#ifdef WICK_EMULATED
void wick_emulated_fill_float(struct wick_ukernels *table);
void wick_emulated_fill_qb4(struct wick_ukernels *table);
void wick_emulated_fill_qc(struct wick_ukernels *table);
#endif

int main(int argc, char **argv)
{
    bool timing = argc > 1 && strcmp(argv[1], "--bench") == 0, found = false;
    const char *only = !timing && argc > 1 ? argv[1] : NULL;
    struct wick_ukernels ref, t;
    wick_error err;
    if (wick_ukernels_init(&ref, "ref", &err) != WICK_OK) return 1;
    if (!timing && (!only || strcmp(only, "ref") == 0)) check_reference(&ref);
    for (size_t i = 0; i < wick_ukernels_level_count(); i++) {
        const char *name = wick_ukernels_level_name(i);
        if ((only && strcmp(only, name) != 0) || !wick_ukernels_level_found(i)) continue;
        if (wick_ukernels_init(&t, name, &err) != WICK_OK) return 1;
        found = true;
        if (timing) bench(&ref, &t, argc > 2 ? argv[2] : NULL);
        else check_level(&ref, &t);
    }
#ifdef WICK_EMULATED
    if (only && strcmp(only, "emulated") == 0) {
        found = true;
        t = ref;
        wick_emulated_fill_float(&t);
        wick_emulated_fill_qb4(&t);
        wick_emulated_fill_qc(&t);
        check_gemms(&ref, &t);
    }
#endif
    if (timing) return 0;
    if (!found) {
        printf("SKIP: this processor has no level %s\n", only ? only : "");
        return 77;
    }
    printf("%u checks, %u failed\n", checks, failures);
    return failures || checks == 0;
}
