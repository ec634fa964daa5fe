/* ukernel/generic/qb4_quads.h - packing of 4-bit groups for instructions that multiply four bytes at a time (maddubs, vpdpbusd, sdot).
 *
 * Block of QUAD_NR columns, rounded up to 64 bytes:
 *   QUAD_NR start f32 (S of ukernels.h), QUAD_NR bias f32; for each group:
 *     QUAD_NR bf16 scales
 *     QUAD_NR i16 sums of the group's weights, if QUAD_SUMS
 *     for each 8 columns of k: QUAD_NR x 4 bytes; byte 4 j + i holds k + i of column j in the low nibble, k + 4 + i in the high one; value + 8
 * A template: define QUAD_NR and QUAD_SUMS, and include generic/gemm.h and gemm_quantized.h (weight_i4, group_start, ...) before. */

static size_t quad_group_bytes(size_t group) { return QUAD_NR * sizeof(uint16_t) * (QUAD_SUMS ? 2 : 1) + group / 2 * QUAD_NR; }

static size_t quad_size(size_t n, size_t k, size_t group)
{
    return (n + QUAD_NR - 1) / QUAD_NR * round_block(2 * QUAD_NR * sizeof(float) + k / group * quad_group_bytes(group));
}

/* 16 nibbles of a row make two words of 8: even and odd columns of k are neighbours in the source. */
static inline void quad_bytes(const uint8_t *row, uint8_t *out)
{
    for (int i = 0; i < 4; i++) {
        uint8_t low = (uint8_t)(row[i / 2] >> (i % 2 * 4) & 15), high = (uint8_t)(row[2 + i / 2] >> (i % 2 * 4) & 15);
        out[i] = (uint8_t)(low | high << 4);
    }
}

static void quad_pack_group(const struct wick_gemm_weights *w, size_t n, size_t g, uint8_t *out)
{
    const size_t row_bytes = w->k / 2, first = g * w->group;
    for (size_t j = 0; j < QUAD_NR; j++) {
        uint16_t scale = group_scale(w, n + j, g);
        memcpy(out + 2 * j, &scale, 2);
    }
    out += QUAD_NR * 2;
#if QUAD_SUMS
    for (size_t j = 0; j < QUAD_NR; j++, out += 2) {
        int16_t sum = 0;
        for (size_t k = first; n + j < w->n && k < first + w->group; k++) sum = (int16_t)(sum + weight_i4(w, n + j, k));
        memcpy(out, &sum, 2);
    }
#endif
    for (size_t k = first; k < first + w->group; k += 8)
        for (size_t j = 0; j < QUAD_NR; j++, out += 4) {
            if (n + j < w->n) quad_bytes((const uint8_t *)w->w + (n + j) * row_bytes + k / 2, out);
            else memset(out, 0x88, 4);
        }
}

static void quad_pack(const struct wick_gemm_weights *w, size_t n0, size_t n1, void *packed)
{
    const size_t block = quad_size(QUAD_NR, w->k, w->group), group_bytes = quad_group_bytes(w->group);
    for (size_t n = n0; n < n1; n += QUAD_NR) {
        float *start = (float *)(void *)((char *)packed + n / QUAD_NR * block), *bias = start + QUAD_NR;
        for (size_t j = 0; j < QUAD_NR; j++) {
            start[j] = group_start(w, n + j);
            bias[j] = bias_of(w, n + j);
        }
        for (size_t g = 0; g < w->k / w->group; g++) quad_pack_group(w, n, g, (uint8_t *)(bias + QUAD_NR) + g * group_bytes);
    }
}
