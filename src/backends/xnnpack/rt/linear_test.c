/* Fully connected nodes and products of computed matrices: every pair of types against double, whole-number parts and the
 * order of additions exactly, weights shared, threads and rows without influence. */
#include "backends/xnnpack/rt/rig_test.h"
#include "tensor/half.h"

enum { K_MAX = 512, N_MAX = 80, M_MAX = 40 };

/* A filter in the file's form, and what it stands for. */
struct filter {
    int datatype, n, k, group;
    uint8_t bytes[N_MAX * K_MAX * 4];
    size_t size;
    float scales[N_MAX];
    uint16_t group_scales[N_MAX * K_MAX / 32];
    float bias[N_MAX];
    double value[N_MAX * K_MAX]; /* (n, k) */
    int whole[N_MAX * K_MAX];    /* (n, k), of quantized ones */
};

static void put_nibble(struct filter *f, int n, int k, int value)
{
    uint8_t *byte = &f->bytes[n * ((f->k + 1) / 2) + k / 2];
    *byte = (uint8_t)(k % 2 ? (*byte & 15) | (value + 8) << 4 : (*byte & 0xf0) | (value + 8));
}

static void put_weight(struct filter *f, int n, int k, bool transposed, uint64_t *seed)
{
    float v = wick_test_uniform(seed);
    int at = transposed ? k * f->n + n : n * f->k + k;
    uint16_t half;
    switch (f->datatype) {
    case XNN_DATATYPE_FP32: memcpy(&f->bytes[4 * at], &v, 4); break;
    case XNN_DATATYPE_FP16:
        half = wick_f16_from_f32(v), v = wick_f32_from_f16(half);
        memcpy(&f->bytes[2 * at], &half, 2);
        break;
    case XNN_DATATYPE_BF16:
        half = wick_bf16_from_f32(v), v = wick_f32_from_bf16(half);
        memcpy(&f->bytes[2 * at], &half, 2);
        break;
    case XNN_DATATYPE_QCINT8:
        f->whole[n * f->k + k] = (int)lrintf(127 * v);
        f->bytes[at] = (uint8_t)f->whole[n * f->k + k];
        v = (float)f->whole[n * f->k + k] * f->scales[n];
        break;
    default:
        f->whole[n * f->k + k] = (int)lrintf(7.5f * v - 0.5f);
        put_nibble(f, n, k, f->whole[n * f->k + k]);
        v = (float)f->whole[n * f->k + k];
        v *= f->datatype == XNN_DATATYPE_QCINT4 ? f->scales[n] : wick_f32_from_bf16(f->group_scales[n * (f->k / f->group) + k / f->group]);
    }
    f->value[n * f->k + k] = v;
}

static struct filter *make_filter(int datatype, int n, int k, int group, bool transposed, uint64_t *seed)
{
    struct filter *f = calloc(1, sizeof *f);
    f->datatype = datatype, f->n = n, f->k = k, f->group = group;
    bool nibbles = datatype == XNN_DATATYPE_QCINT4 || datatype == XNN_DATATYPE_QBINT4;
    memset(f->bytes, 0x88, sizeof f->bytes); /* an odd row ends in a nibble that stands for 0 */
    f->size = (size_t)n * (nibbles ? (size_t)(k + 1) / 2 : (size_t)k * (datatype == XNN_DATATYPE_FP32 ? 4 : datatype == XNN_DATATYPE_QCINT8 ? 1 : 2));
    for (int i = 0; i < n; i++) f->scales[i] = 0.01f * (1.5f + wick_test_uniform(seed)), f->bias[i] = wick_test_uniform(seed);
    for (int i = 0; group && i < n * (k / group); i++) f->group_scales[i] = wick_bf16_from_f32(0.01f * (1.5f + wick_test_uniform(seed)));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < k; j++) put_weight(f, i, j, transposed, seed);
    return f;
}

static uint32_t add_filter(struct rig *r, struct filter *f, bool transposed)
{
    uint32_t index = rig_constant(r, f->datatype, transposed ? RIG_DIMS(f->k, f->n) : RIG_DIMS(f->n, f->k), f->bytes, f->size);
    struct wick_xnn_quant *q = &r->file_values[index].quant;
    if (f->datatype == XNN_DATATYPE_QBINT4) {
        uint32_t count = (uint32_t)(f->n * (f->k / f->group));
        *q = (struct wick_xnn_quant){.kind = XNN_QUANT_PER_GROUP, .group_size = f->group, .scale_count = count};
        q->scale_constant = rig_bytes(r, f->group_scales, count * 2);
    } else if (f->datatype == XNN_DATATYPE_QCINT8 || f->datatype == XNN_DATATYPE_QCINT4) {
        *q = (struct wick_xnn_quant){.kind = XNN_QUANT_PER_CHANNEL, .channel_dim = transposed, .scale_count = (uint32_t)f->n};
        q->scale_constant = rig_bytes(r, f->scales, (size_t)f->n * 4);
    }
    return index;
}

static uint32_t add_dynamic(struct rig *r, uint32_t x, struct wick_xnn_dims dims)
{
    uint32_t q = rig_value(r, XNN_DATATYPE_QDINT8, dims);
    r->file_values[q].quant = (struct wick_xnn_quant){.kind = XNN_QUANT_PER_TOKEN, .num_nonbatch_dims = 1};
    rig_1x1(r, XNN_NODE_CONVERT, x, q);
    return q;
}

static struct wick_xnn_node *add_linear(struct rig *r, uint32_t x, uint32_t filter, uint32_t bias, uint32_t y)
{
    struct wick_xnn_node *node = rig_node(r, XNN_NODE_FULLY_CONNECTED);
    node->slots[XNN_FULLY_CONNECTED_INPUT1_ID] = x;
    node->slots[XNN_FULLY_CONNECTED_FILTER_ID] = filter;
    node->slots[XNN_FULLY_CONNECTED_BIAS_ID] = bias;
    node->slots[XNN_FULLY_CONNECTED_OUTPUT_ID] = y;
    return node;
}

static double get(const struct wick_tensor *t, size_t i)
{
    if (t->shape.dtype == WICK_DTYPE_F16) return wick_f32_from_f16(((const uint16_t *)t->data)[i]);
    if (t->shape.dtype == WICK_DTYPE_BF16) return wick_f32_from_bf16(((const uint16_t *)t->data)[i]);
    return ((const float *)t->data)[i];
}

static void fill(struct wick_tensor *t, uint64_t *seed)
{
    for (size_t i = 0; i < wick_tensor_numel(t); i++) {
        float v = 3 * wick_test_uniform(seed) + 0.5f;
        if (t->shape.dtype == WICK_DTYPE_F16) ((uint16_t *)t->data)[i] = wick_f16_from_f32(v);
        else if (t->shape.dtype == WICK_DTYPE_BF16) ((uint16_t *)t->data)[i] = wick_bf16_from_f32(v);
        else ((float *)t->data)[i] = v;
    }
}

/* The row's parameters and whole numbers as XNNPACK makes them, in float32 throughout. */
static float quantize_row(const float *x, int k, int *q, int *zero_point)
{
    float low = 0, high = 0;
    for (int i = 0; i < k; i++) low = fminf(low, x[i]), high = fmaxf(high, x[i]);
    float scale = low == high ? 1 : 255.0f / (high - low), down = low * scale, up = high * scale;
    float zero = (-128 + down) + (127 + up) > 0 ? -128 - down : 127 - up;
    *zero_point = (int)lrintf(fminf(fmaxf(zero, -128), 127));
    for (int i = 0; i < k; i++) q[i] = (int)fminf(fmaxf(rintf(x[i] * scale) + (float)*zero_point, -128), 127);
    return 1 / scale;
}

/* qb4 rows in the documented order, bit for bit. */
static float exact_qb4(const struct filter *f, int n, const int *q, int zero_point, float inverse, const float *bias)
{
    float start = 0;
    for (int k0 = 0; k0 < f->k; k0 += 16) {
        int sum = 0;
        for (int k = k0; k < k0 + 16; k++) sum += f->whole[n * f->k + k];
        start -= (float)sum * wick_f32_from_bf16(f->group_scales[n * (f->k / f->group) + k0 / f->group]);
    }
    float acc = start * (float)(zero_point + 128);
    for (int g = 0; g < f->k / f->group; g++) {
        int sum = 0;
        for (int k = g * f->group; k < (g + 1) * f->group; k++) sum += (q[k] + 128) * f->whole[n * f->k + k];
        acc = fmaf((float)sum, wick_f32_from_bf16(f->group_scales[n * (f->k / f->group) + g]), acc);
    }
    return acc * inverse + (bias ? bias[n] : 0);
}

static float exact_qc(const struct filter *f, int n, const int *q, int zero_point, float inverse, const float *bias)
{
    int sum = 0;
    for (int k = 0; k < f->k; k++) sum += (q[k] - zero_point) * f->whole[n * f->k + k];
    return fmaf((float)sum * inverse, f->scales[n], bias ? bias[n] : 0);
}

struct pairing {
    int input, filter, output, m, k, n, group;
    bool transposed, bias, clamped;
};

static void check_dynamic(const struct rig *r, const struct pairing *c, const struct filter *f)
{
    const struct wick_tensor *x = &r->tensors[0], *y = &r->tensors[1];
    for (int m = 0; m < c->m; m++) {
        float row[K_MAX];
        int q[K_MAX], zero_point;
        for (int k = 0; k < c->k; k++) row[k] = (float)get(x, (size_t)(m * c->k + k));
        float inverse = quantize_row(row, c->k, q, &zero_point);
        for (int n = 0; n < c->n; n++) {
            const float *bias = c->bias ? f->bias : NULL;
            float want = c->group ? exact_qb4(f, n, q, zero_point, inverse, bias) : exact_qc(f, n, q, zero_point, inverse, bias);
            if (c->clamped) want = fminf(fmaxf(want, -0.25f), 0.5f);
            if (y->shape.dtype == WICK_DTYPE_F16) want = wick_f32_from_f16(wick_f16_from_f32(want));
            if (y->shape.dtype == WICK_DTYPE_BF16) want = wick_f32_from_bf16(wick_bf16_from_f32(want));
            double got = get(y, (size_t)(m * c->n + n));
            if ((float)got != want)
                fail_msg("filter %s, row %d, column %d: %.9g, want %.9g", wick_xnn_datatype_name(c->filter), m, n, got, (double)want);
        }
    }
}

static void check_float(const struct rig *r, const struct pairing *c, const struct filter *f)
{
    const struct wick_tensor *x = &r->tensors[0], *y = &r->tensors[1];
    double unit = y->shape.dtype == WICK_DTYPE_F16 ? 0x1p-11 : y->shape.dtype == WICK_DTYPE_BF16 ? 0x1p-8 : 0;
    for (int m = 0; m < c->m; m++)
        for (int n = 0; n < c->n; n++) {
            double want = c->bias ? f->bias[n] : 0, size = fabs(want);
            for (int k = 0; k < c->k; k++) {
                double term = get(x, (size_t)(m * c->k + k)) * f->value[n * c->k + k];
                want += term, size += fabs(term);
            }
            if (c->clamped) want = fmin(fmax(want, -0.25), 0.5);
            double got = get(y, (size_t)(m * c->n + n)), tolerance = 1e-6 * size + unit * fabs(want);
            if (!(fabs(got - want) <= tolerance))
                fail_msg("filter %s, row %d, column %d: %.9g, want %.9g", wick_xnn_datatype_name(c->filter), m, n, got, want);
        }
}

static void check_pairing(const struct pairing *c)
{
    struct rig *r = rig_open(NULL, 2);
    uint64_t seed = 11;
    struct filter *f = make_filter(c->filter, c->n, c->k, c->group, c->transposed, &seed);
    bool dynamic = c->input == XNN_DATATYPE_QDINT8;
    int stored = dynamic ? c->output : c->input; /* the float that is quantized is stored as the result is */
    r->graph.constant_count = 1;
    uint32_t x = rig_input(r, stored, RIG_DIMS(c->m, c->k)), y = rig_output(r, c->output, RIG_DIMS(c->m, c->n)), w = add_filter(r, f, c->transposed);
    uint32_t bias = c->bias ? rig_constant(r, XNN_DATATYPE_FP32, RIG_DIMS(c->n), f->bias, (size_t)c->n * 4) : WICK_XNN_NO_ID;
    struct wick_xnn_node *node = add_linear(r, dynamic ? add_dynamic(r, x, RIG_DIMS(c->m, c->k)) : x, w, bias, y);
    node->slots[XNN_FULLY_CONNECTED_FLAGS] = c->transposed;
    if (c->clamped) node->clamped = true, node->output_min = -0.25f, node->output_max = 0.5f;
    WICK_ASSERT_OK(rig_expand(r), &r->err);
    fill(&r->tensors[0], &seed);
    WICK_ASSERT_OK(rig_run(r), &r->err);
    if (dynamic) check_dynamic(r, c, f);
    else check_float(r, c, f);
    free(f);
    rig_close(r);
}

static void pairings(void **state)
{
    (void)state;
    enum { F32 = XNN_DATATYPE_FP32, F16 = XNN_DATATYPE_FP16, BF16 = XNN_DATATYPE_BF16, QD8 = XNN_DATATYPE_QDINT8 };
    enum { QB4 = XNN_DATATYPE_QBINT4, QC4 = XNN_DATATYPE_QCINT4, QC8 = XNN_DATATYPE_QCINT8 };
    static const struct {
        int input, filter, output;
    } types[] = {{QD8, QB4, F32}, {QD8, QB4, F16},   {QD8, QB4, BF16},   {QD8, QC4, F32}, {QD8, QC4, F16},
                 {QD8, QC8, F32}, {QD8, QC8, F16},   {F32, F32, F32},    {F32, F16, F32}, {F16, F16, F16},
                 {F16, F32, F16}, {BF16, BF16, F32}, {BF16, BF16, BF16}, {F32, QC8, F32}, {F32, QC4, F32}};
    static const int sizes[][3] = {{1, 64, 33}, {1, 256, 80}, {3, 128, 7}, {40, 96, 17}, {9, 32, 1}};
    for (size_t t = 0; t < WICK_ARRAY_SIZE(types); t++)
        for (size_t s = 0; s < WICK_ARRAY_SIZE(sizes); s++) {
            struct pairing c = {types[t].input, types[t].filter, types[t].output, sizes[s][0], sizes[s][1], sizes[s][2], 0, false, s % 2, s == 2};
            if (c.filter == QB4) c.group = s == 1 ? 64 : 32;
            else if (s == 3) c.k = 37; /* odd rows */
            check_pairing(&c);
            if (c.filter != QB4 && c.filter != QC4) c.transposed = true, check_pairing(&c);
        }
}

/* Rows and threads do not change a bit. */
static void rows_alone(void **state)
{
    (void)state;
    uint64_t seed = 3;
    struct filter *f = make_filter(XNN_DATATYPE_QBINT4, 80, 256, 32, false, &seed);
    float in[M_MAX * 256], all[M_MAX * 80];
    for (size_t i = 0; i < WICK_ARRAY_SIZE(in); i++) in[i] = wick_test_uniform(&seed);
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct rig *r = rig_open(NULL, threads);
        r->graph.constant_count = 1;
        uint32_t x = rig_input(r, XNN_DATATYPE_FP32, RIG_DIMS(M_MAX, 256)), y = rig_output(r, XNN_DATATYPE_FP32, RIG_DIMS(M_MAX, 80));
        add_linear(r, add_dynamic(r, x, RIG_DIMS(M_MAX, 256)), add_filter(r, f, false), WICK_XNN_NO_ID, y);
        WICK_ASSERT_OK(rig_expand(r), &r->err);
        memcpy(r->tensors[0].data, in, sizeof in);
        WICK_ASSERT_OK(rig_run(r), &r->err);
        if (threads == 1) memcpy(all, r->tensors[1].data, sizeof all);
        assert_memory_equal(all, r->tensors[1].data, sizeof all);
        rig_resize(r, 0, (int32_t[]){1, 256});
        for (int m = 0; m < M_MAX; m++) {
            memcpy(r->tensors[0].data, in + m * 256, 256 * sizeof *in);
            WICK_ASSERT_OK(rig_run(r), &r->err);
            assert_memory_equal(all + m * 80, r->tensors[1].data, 80 * sizeof *all);
        }
        rig_close(r);
    }
    free(f);
}

/* Equal converts are equal nodes; one filter in two nodes is packed once. */
static void shared(void **state)
{
    (void)state;
    uint64_t seed = 3;
    struct filter *f = make_filter(XNN_DATATYPE_QCINT8, 16, 32, 0, false, &seed);
    struct rig *r = rig_open(NULL, 1);
    r->graph.constant_count = 1;
    uint32_t x = rig_input(r, XNN_DATATYPE_FP32, RIG_DIMS(2, 32)), y0 = rig_output(r, XNN_DATATYPE_FP32, RIG_DIMS(2, 16)),
             y1 = rig_output(r, XNN_DATATYPE_FP32, RIG_DIMS(2, 16));
    uint32_t w = add_filter(r, f, false);
    add_linear(r, add_dynamic(r, x, RIG_DIMS(2, 32)), w, WICK_XNN_NO_ID, y0);
    add_linear(r, add_dynamic(r, x, RIG_DIMS(2, 32)), w, WICK_XNN_NO_ID, y1);
    WICK_ASSERT_OK(rig_expand(r), &r->err);
    assert_int_equal(r->node_count, 4);
    assert_ptr_equal(r->nodes[0].op, r->nodes[2].op);
    assert_ptr_equal(r->nodes[0].state, r->nodes[2].state);
    assert_int_equal(r->nodes[0].ids[0], r->nodes[2].ids[0]);
    assert_int_equal(r->nodes[0].ids[1], r->nodes[2].ids[1]);
    const struct wick_xnn_linear *a = r->nodes[1].state, *b = r->nodes[3].state;
    assert_ptr_equal(a->packed, b->packed);
    free(f);
    rig_close(r);
}

/* int8 in, int8 out, per-channel filter, int32 bias: rint of the exact sum in units of the result, give or take a tie. */
static void static_bytes(void **state)
{
    (void)state;
    enum { M = 5, K = 48, N = 21 };
    uint64_t seed = 9;
    struct filter *f = make_filter(XNN_DATATYPE_QCINT8, N, K, 0, false, &seed);
    int32_t bias[N];
    float bias_scales[N];
    struct rig *r = rig_open(NULL, 2);
    r->graph.constant_count = 1;
    uint32_t x = rig_input(r, XNN_DATATYPE_QINT8, RIG_DIMS(M, K)), y = rig_output(r, XNN_DATATYPE_QINT8, RIG_DIMS(M, N)), w = add_filter(r, f, false);
    r->file_values[x].quant = (struct wick_xnn_quant){.kind = XNN_QUANT_PER_TENSOR, .scale = 0.02f, .zero_point = -9};
    r->file_values[y].quant = (struct wick_xnn_quant){.kind = XNN_QUANT_PER_TENSOR, .scale = 0.9f, .zero_point = 12};
    for (int n = 0; n < N; n++) bias[n] = (int32_t)(4000 * wick_test_uniform(&seed)), bias_scales[n] = 0.02f * f->scales[n];
    uint32_t b = rig_constant(r, XNN_DATATYPE_QCINT32, RIG_DIMS(N), bias, sizeof bias);
    r->file_values[b].quant = (struct wick_xnn_quant){.kind = XNN_QUANT_PER_CHANNEL, .scale_count = N};
    r->file_values[b].quant.scale_constant = rig_bytes(r, bias_scales, sizeof bias_scales);
    struct wick_xnn_node *node = add_linear(r, x, w, b, y);
    node->clamped = true, node->output_min = -60, node->output_max = 70;
    WICK_ASSERT_OK(rig_expand(r), &r->err);
    int8_t *in = r->tensors[0].data, *out = r->tensors[1].data;
    for (int i = 0; i < M * K; i++) in[i] = (int8_t)(127 * wick_test_uniform(&seed));
    WICK_ASSERT_OK(rig_run(r), &r->err);
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            int sum = bias[n];
            for (int k = 0; k < K; k++) sum += (in[m * K + k] + 9) * f->whole[n * K + k];
            double real = fmin(fmax(sum * 0.02 * f->scales[n], -60), 70), want = fmin(fmax(real / 0.9 + 12, -128), 127);
            assert_true(fabs(out[m * N + n] - want) <= 0.5001);
        }
    free(f);
    rig_close(r);
}

/* a [B, M, K] x b, both computed, with the transposition flags; and a computed filter. */
static void products(void **state)
{
    (void)state;
    enum { B = 3, M = 5, K = 19, N = 23 };
    for (uint32_t flags = 0; flags < 4; flags++) {
        struct rig *r = rig_open(NULL, 2);
        uint64_t seed = 4;
        uint32_t a = rig_input(r, XNN_DATATYPE_FP32, flags & 2 ? RIG_DIMS(B, K, M) : RIG_DIMS(B, M, K));
        uint32_t b = rig_input(r, XNN_DATATYPE_FP32, flags & 1 ? RIG_DIMS(2, 1, N, K) : RIG_DIMS(2, 1, K, N)),
                 y = rig_output(r, XNN_DATATYPE_FP32, RIG_DIMS(2, B, M, N));
        rig_2x1(r, XNN_NODE_BATCH_MATRIX_MULTIPLY, a, b, y)->slots[XNN_NODE_2X1_FLAGS] = flags;
        WICK_ASSERT_OK(rig_expand(r), &r->err);
        fill(&r->tensors[0], &seed), fill(&r->tensors[1], &seed);
        WICK_ASSERT_OK(rig_run(r), &r->err);
        for (int i = 0; i < 2 * B * M * N; i++) {
            int n = i % N, m = i / N % M, batch = i / N / M % B, outer = i / N / M / B;
            double want = 0;
            for (int k = 0; k < K; k++)
                want += (double)rig_f32(r, 0)[flags & 2 ? (batch * K + k) * M + m : (batch * M + m) * K + k] *
                        rig_f32(r, 1)[flags & 1 ? (outer * N + n) * K + k : (outer * K + k) * N + n];
            assert_true(fabs(rig_f32(r, 2)[i] - want) < 1e-3);
        }
        rig_close(r);
    }
}

static void computed_filters(void **state)
{
    (void)state;
    enum { M = 4, K = 19, N = 23 };
    for (int with = 0; with < 4; with++) {
        struct rig *r = rig_open(NULL, 2);
        uint64_t seed = 4;
        bool transposed = with & 1;
        uint32_t x = rig_input(r, XNN_DATATYPE_FP32, RIG_DIMS(2, M / 2, K)),
                 w = rig_input(r, XNN_DATATYPE_FP32, transposed ? RIG_DIMS(K, N) : RIG_DIMS(N, K));
        uint32_t b = rig_input(r, XNN_DATATYPE_FP32, RIG_DIMS(N)), y = rig_output(r, XNN_DATATYPE_FP32, RIG_DIMS(2, M / 2, N));
        add_linear(r, x, w, with & 2 ? b : WICK_XNN_NO_ID, y)->slots[XNN_FULLY_CONNECTED_FLAGS] = transposed;
        WICK_ASSERT_OK(rig_expand(r), &r->err);
        for (uint32_t i = 0; i < 3; i++) fill(&r->tensors[i], &seed);
        WICK_ASSERT_OK(rig_run(r), &r->err);
        for (int m = 0; m < M; m++)
            for (int n = 0; n < N; n++) {
                double want = with & 2 ? rig_f32(r, 2)[n] : 0;
                for (int k = 0; k < K; k++) want += (double)rig_f32(r, 0)[m * K + k] * rig_f32(r, 1)[transposed ? k * N + n : n * K + k];
                assert_true(fabs(rig_f32(r, 3)[m * N + n] - want) < 1e-3);
            }
        rig_close(r);
    }
}

/* The retired attention node: softmax(q * scale . k^T + mask) . v. */
static void attention(void **state)
{
    (void)state;
    enum { H = 2, T = 3, S = 5, D = 8 };
    struct rig *r = rig_open(NULL, 1);
    uint64_t seed = 6;
    r->graph.constant_count = 1;
    float scale[D];
    for (int i = 0; i < D; i++) scale[i] = 1 / sqrtf(D);
    uint32_t q = rig_input(r, XNN_DATATYPE_FP32, RIG_DIMS(1, H, T, D)), k = rig_input(r, XNN_DATATYPE_FP32, RIG_DIMS(1, H, S, D));
    uint32_t v = rig_input(r, XNN_DATATYPE_FP32, RIG_DIMS(1, H, S, D)), mask = rig_input(r, XNN_DATATYPE_FP32, RIG_DIMS(T, S));
    uint32_t y = rig_output(r, XNN_DATATYPE_FP32, RIG_DIMS(1, H, T, D)), s = rig_constant(r, XNN_DATATYPE_FP32, RIG_DIMS(D), scale, sizeof scale);
    struct wick_xnn_node *node = rig_node(r, XNN_NODE_SCALED_DOT_PRODUCT_ATTENTION);
    const uint32_t ids[] = {q, k, v, s, mask, y};
    memcpy(node->slots, ids, sizeof ids);
    WICK_ASSERT_OK(rig_expand(r), &r->err);
    for (uint32_t i = 0; i < 4; i++) fill(&r->tensors[i], &seed);
    WICK_ASSERT_OK(rig_run(r), &r->err);
    for (int h = 0; h < H; h++)
        for (int t = 0; t < T; t++) {
            double p[S], sum = 0;
            for (int i = 0; i < S; i++) {
                double score = rig_f32(r, 3)[t * S + i];
                for (int d = 0; d < D; d++) score += rig_f32(r, 0)[(h * T + t) * D + d] / sqrt(D) * rig_f32(r, 1)[(h * S + i) * D + d];
                sum += p[i] = exp(score);
            }
            for (int d = 0; d < D; d++) {
                double want = 0;
                for (int i = 0; i < S; i++) want += p[i] / sum * rig_f32(r, 2)[(h * S + i) * D + d];
                assert_true(fabs(rig_f32(r, 4)[(h * T + t) * D + d] - want) < 1e-4);
            }
        }
    rig_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pairings),     cmocka_unit_test(rows_alone), cmocka_unit_test(shared),
                                       cmocka_unit_test(static_bytes), cmocka_unit_test(products),   cmocka_unit_test(computed_filters),
                                       cmocka_unit_test(attention)};
    return WICK_TEST_MAIN(tests);
}
