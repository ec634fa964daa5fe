/* ukernel/generic/qc_quads.h - packing of 8- and 4-bit weights with a scale a column, for instructions that multiply four bytes at a time.
 *
 * Block of QUAD_NR columns, rounded up to 64 bytes; k is rounded up to 32 with weights of 0:
 *   QUAD_NR bias f32, QUAD_NR scale f32, QUAD_NR sums of w i32;
 *   qc8: for each 4 columns of k: QUAD_NR x 4 bytes, w ^ QUAD_FLIP
 *   qc4: for each 8 columns of k: QUAD_NR x 4 bytes, k + i in the low nibble and k + 4 + i in the high one; value + 8
 * A template: define QUAD_NR and QUAD_FLIP, and include generic/gemm.h and gemm_quantized.h (weight_i8, weight_i4, bias_of) before. */

enum { QC_STEP = 32 };

static size_t qc_steps(size_t k) { return (k + QC_STEP - 1) / QC_STEP; }

static size_t qc_block(size_t k, bool four) { return round_block(3 * QUAD_NR * sizeof(float) + qc_steps(k) * QC_STEP * QUAD_NR / (four ? 2 : 1)); }
static size_t qc8_size(size_t n, size_t k, size_t group) { return (void)group, (n + QUAD_NR - 1) / QUAD_NR * qc_block(k, false); }
static size_t qc4_size(size_t n, size_t k, size_t group) { return (void)group, (n + QUAD_NR - 1) / QUAD_NR * qc_block(k, true); }

static inline int qc_weight(const struct wick_gemm_weights *w, size_t n, size_t k, bool four)
{
    if (n >= w->n || k >= w->k) return 0;
    return four ? weight_i4(w, n, k) : weight_i8(w, n, k);
}

static inline void qc_pack(const struct wick_gemm_weights *w, size_t n0, size_t n1, void *packed, const bool four)
{
    const size_t block = qc_block(w->k, four), k_end = qc_steps(w->k) * QC_STEP;
    for (size_t n = n0; n < n1; n += QUAD_NR) {
        float *bias = (float *)(void *)((char *)packed + n / QUAD_NR * block), *scale = bias + QUAD_NR;
        int32_t *sum = (int32_t *)(void *)(scale + QUAD_NR);
        uint8_t *out = (uint8_t *)(sum + QUAD_NR);
        for (size_t j = 0; j < QUAD_NR; j++) {
            scale[j] = 0, sum[j] = 0, bias[j] = bias_of(w, n + j);
            if (n + j < w->n) memcpy(&scale[j], (const char *)w->scales + (n + j) * sizeof(float), sizeof(float));
            for (size_t k = 0; k < w->k; k++) sum[j] += qc_weight(w, n + j, k, four);
        }
        for (size_t k = 0; k < k_end; k += four ? 8 : 4)
            for (size_t j = 0; j < QUAD_NR; j++)
                for (size_t i = 0; i < 4; i++) {
                    int low = qc_weight(w, n + j, k + i, four);
                    *out++ = (uint8_t)(four ? (low + 8) | (qc_weight(w, n + j, k + 4 + i, four) + 8) << 4 : low ^ QUAD_FLIP);
                }
    }
}

static void qc8_pack(const struct wick_gemm_weights *w, size_t n0, size_t n1, void *packed) { qc_pack(w, n0, n1, packed, false); }
static void qc4_pack(const struct wick_gemm_weights *w, size_t n0, size_t n1, void *packed) { qc_pack(w, n0, n1, packed, true); }

/* Rows from row k of a step on; the last step of a row whose k is no multiple of 32 is read from its copy in `tail`. */
static inline const uint8_t *qc_row(const struct wick_gemm_call *c, size_t row, size_t k, uint8_t tail[QC_STEP])
{
    const uint8_t *a = (const uint8_t *)c->a + row * c->a_stride + k;
    if (k + QC_STEP <= c->k) return a;
    memset(tail, 0, QC_STEP);
    memcpy(tail, a, c->k - k);
    return tail;
}
