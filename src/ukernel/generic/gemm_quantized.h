/* ukernel/generic/gemm_quantized.h - a template of a level, after gemm.h: products with 8- and 4-bit weights. Only backends' payloads
 * use them, so a build without such backends (WICK_NO_QUANTIZED_GEMM) leaves these entries of the table empty. */
#ifdef WICK_NO_QUANTIZED_GEMM
static void fill_gemm_quantized(struct wick_ukernels *t) { (void)t; }
#else
static size_t gemm_qc_size(size_t n, size_t k, size_t group)
{
    (void)group;
    return block_count(n) * round_block(3 * NR * sizeof(float) + k * NR);
}

static int weight_i8(const struct wick_gemm_weights *w, size_t n, size_t k)
{
    return ((const int8_t *)w->w)[w->transposed ? k * w->n + n : n * w->k + k];
}

static int weight_i4(const struct wick_gemm_weights *w, size_t n, size_t k)
{
    return (((const uint8_t *)w->w)[n * ((w->k + 1) / 2) + k / 2] >> (k % 2 * 4) & 15) - 8;
}

static void pack_qc(const struct wick_gemm_weights *w, size_t n0, size_t n1, void *packed, int (*weight)(const struct wick_gemm_weights *, size_t, size_t))
{
    const size_t block = gemm_qc_size(NR, w->k, 0);
    for (size_t n = n0; n < n1; n += NR) {
        float *bias = (float *)(void *)((char *)packed + n / NR * block), *scale = bias + NR;
        int32_t *sum = (int32_t *)(void *)(scale + NR);
        int8_t *out = (int8_t *)(sum + NR);
        for (size_t j = 0; j < NR; j++) {
            bool valid = n + j < w->n;
            float s = 0;
            if (valid) memcpy(&s, (const char *)w->scales + (n + j) * sizeof s, sizeof s);
            bias[j] = bias_of(w, n + j);
            scale[j] = s;
            sum[j] = 0;
            for (size_t k = 0; k < w->k; k++) {
                int v = valid ? weight(w, n + j, k) : 0;
                out[k * NR + j] = (int8_t)v;
                sum[j] += v;
            }
        }
    }
}

static void gemm_qc8_pack(const struct wick_gemm_weights *w, size_t n0, size_t n1, void *packed) { pack_qc(w, n0, n1, packed, weight_i8); }
static void gemm_qc4_pack(const struct wick_gemm_weights *w, size_t n0, size_t n1, void *packed) { pack_qc(w, n0, n1, packed, weight_i4); }

static void gemm_qd8_qc_run(const struct wick_gemm_call *c, size_t n0, size_t n1)
{
    const size_t block = gemm_qc_size(NR, c->k, 0);
    for (size_t n = n0; n < n1; n += NR) {
        const float *bias = (const float *)(const void *)((const char *)c->packed + n / NR * block), *scale = bias + NR;
        const int32_t *sum = (const int32_t *)(const void *)(scale + NR);
        for (size_t m = 0; m < c->m; m++) {
            const uint8_t *a = (const uint8_t *)c->a + m * c->a_stride;
            const int8_t *w = (const int8_t *)(sum + NR);
            int32_t acc[NR];
            float out[NR];
            for (int j = 0; j < NR; j++) acc[j] = -c->params[m].zero_point * sum[j];
            for (size_t k = 0; k < c->k; k++, w += NR) {
                const int32_t x = a[k];
                for (int j = 0; j < NR; j++) acc[j] += x * w[j];
            }
            for (int j = 0; j < NR; j++) out[j] = fmaf((float)acc[j] * c->params[m].inv_scale, scale[j], bias[j]);
            store_row(c, m, n, out);
        }
    }
}

static void gemm_f32_qc_run(const struct wick_gemm_call *c, size_t n0, size_t n1)
{
    const size_t block = gemm_qc_size(NR, c->k, 0);
    for (size_t n = n0; n < n1; n += NR) {
        const float *bias = (const float *)(const void *)((const char *)c->packed + n / NR * block), *scale = bias + NR;
        for (size_t m = 0; m < c->m; m++) {
            const float *a = (const float *)c->a + m * c->a_stride;
            const int8_t *w = (const int8_t *)(const void *)(scale + 2 * NR);
            float acc[NR] = {0};
            for (size_t k = 0; k < c->k; k++, w += NR) {
                const float x = a[k];
                for (int j = 0; j < NR; j++) acc[j] = fmaf(x, (float)w[j], acc[j]);
            }
            for (int j = 0; j < NR; j++) acc[j] = fmaf(acc[j], scale[j], bias[j]);
            store_row(c, m, n, acc);
        }
    }
}

/* ---- groups of 4-bit weights ---- */

static size_t gemm_qb4_size(size_t n, size_t k, size_t group)
{
    return block_count(n) * round_block(2 * NR * sizeof(float) + k / group * NR * sizeof(uint16_t) + k / 2 * NR);
}

static uint16_t group_scale(const struct wick_gemm_weights *w, size_t n, size_t g)
{
    uint16_t scale = 0;
    if (n < w->n) memcpy(&scale, (const char *)w->scales + (n * (w->k / w->group) + g) * sizeof scale, sizeof scale);
    return scale;
}

/* S of column n: what the unsigned activations' zero point will be multiplied with. */
static float group_start(const struct wick_gemm_weights *w, size_t n)
{
    float start = 0;
    for (size_t k0 = 0; n < w->n && k0 < w->k; k0 += 16) {
        int sum = 0;
        for (size_t k = k0; k < k0 + 16 && k < w->k; k++) sum += weight_i4(w, n, k);
        start -= (float)sum * wick_f32_from_bf16(group_scale(w, n, k0 / w->group));
    }
    return start;
}

static inline uint8_t nibble(const struct wick_gemm_weights *w, size_t n, size_t k)
{
    return n < w->n ? (uint8_t)(weight_i4(w, n, k) + 8) : 8;
}

static void gemm_qb4_pack(const struct wick_gemm_weights *w, size_t n0, size_t n1, void *packed)
{
    const size_t block = gemm_qb4_size(NR, w->k, w->group);
    for (size_t n = n0; n < n1; n += NR) {
        float *start = (float *)(void *)((char *)packed + n / NR * block), *bias = start + NR;
        uint8_t *out = (uint8_t *)(bias + NR);
        for (size_t j = 0; j < NR; j++) {
            start[j] = group_start(w, n + j);
            bias[j] = bias_of(w, n + j);
        }
        for (size_t g = 0; g < w->k / w->group; g++) {
            for (size_t j = 0; j < NR; j++, out += 2) {
                uint16_t scale = group_scale(w, n + j, g);
                memcpy(out, &scale, 2);
            }
            for (size_t k = g * w->group; k < (g + 1) * w->group; k += 2)
                for (size_t j = 0; j < NR; j++) *out++ = (uint8_t)(nibble(w, n + j, k) | nibble(w, n + j, k + 1) << 4);
        }
    }
}

static void gemm_qd8_qb4_run(const struct wick_gemm_call *c, size_t n0, size_t n1)
{
    const size_t block = gemm_qb4_size(NR, c->k, c->group);
    for (size_t n = n0; n < n1; n += NR) {
        const float *start = (const float *)(const void *)((const char *)c->packed + n / NR * block), *bias = start + NR;
        for (size_t m = 0; m < c->m; m++) {
            const uint8_t *a = (const uint8_t *)c->a + m * c->a_stride, *w = (const uint8_t *)(bias + NR);
            float acc[NR];
            for (int j = 0; j < NR; j++) acc[j] = start[j] * (float)c->params[m].zero_point;
            for (size_t g = 0; g < c->k / c->group; g++) {
                int32_t sum[NR] = {0};
                float scale[NR];
                for (int j = 0; j < NR; j++, w += 2) {
                    uint16_t half;
                    memcpy(&half, w, 2);
                    scale[j] = wick_f32_from_bf16(half);
                }
                for (size_t k = 0; k < c->group; k += 2, a += 2, w += NR)
                    for (int j = 0; j < NR; j++) sum[j] += a[0] * ((w[j] & 15) - 8) + a[1] * ((w[j] >> 4) - 8);
                for (int j = 0; j < NR; j++) acc[j] = fmaf((float)sum[j], scale[j], acc[j]);
            }
            for (int j = 0; j < NR; j++) acc[j] = acc[j] * c->params[m].inv_scale + bias[j];
            store_row(c, m, n, acc);
        }
    }
}

static void fill_gemm_quantized(struct wick_ukernels *t)
{
    t->gemm_qd8_qc8 = (struct wick_gemm){1, NR, gemm_qc_size, gemm_qc8_pack, gemm_qd8_qc_run};
    t->gemm_qd8_qc4 = (struct wick_gemm){1, NR, gemm_qc_size, gemm_qc4_pack, gemm_qd8_qc_run};
    t->gemm_f32_qc8 = (struct wick_gemm){1, NR, gemm_qc_size, gemm_qc8_pack, gemm_f32_qc_run};
    t->gemm_f32_qc4 = (struct wick_gemm){1, NR, gemm_qc_size, gemm_qc4_pack, gemm_f32_qc_run};
    t->gemm_qd8_qb4 = (struct wick_gemm){1, NR, gemm_qb4_size, gemm_qb4_pack, gemm_qd8_qb4_run};
}
#endif
