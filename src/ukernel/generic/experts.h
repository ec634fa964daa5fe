/* ukernel/generic/experts.h - a block of packed expert weights: unpacked, or times a row (ukernel/experts.h), in plain C for the compiler to vectorise; part of vector.h.
 *
 * Values are unpacked to numbers (value * scale), some columns at a time. Order of sums: that of dot, 16 lanes, column c in lane c % 16, so that a row here and
 * rows by the unpacked block (qk_rows) are the same bits. */

enum { EXPERT_STRETCH = 256 };

/* Values [2 halves][8 rows][8 columns] of 16 columns into rows, EXPERT_STRETCH apart. */
static inline void unpack_step4(const uint8_t *restrict in, const float *restrict scales, float *restrict out)
{
    for (size_t run = 0; run < 4; run++)
        for (size_t pair = 0; pair < 2; pair++) {
            size_t row = run % 2 * 4 + pair;
            float *restrict low = out + row * EXPERT_STRETCH + run / 2 * 8, *restrict high = low + 2 * EXPERT_STRETCH, a = scales[row], b = scales[row + 2];
            for (size_t i = 0; i < 8; i++) {
                int32_t both = in[run * 16 + pair * 8 + i];
                low[i] = (float)((both & 15) - 8) * a;
                high[i] = (float)((both >> 4) - 8) * b;
            }
        }
}

static inline void unpack_step8(const uint8_t *restrict in, const float *restrict scales, float *restrict out)
{
    for (size_t half = 0; half < 2; half++)
        for (size_t r = 0; r < WICK_EXPERT_ROWS; r++)
            for (size_t i = 0; i < 8; i++) out[r * EXPERT_STRETCH + half * 8 + i] = (float)(int8_t)in[(half * WICK_EXPERT_ROWS + r) * 8 + i] * scales[r];
}

/* Four rows of values by one of x; sums (4, 16) go on. A function of its own, with restrict: else GCC unrolls this before it could use vectors. */
__attribute__((noinline)) static void multiply_four(size_t columns, const float *restrict x, const float *restrict v, float *restrict sums)
{
    float a[WICK_LANES], b[WICK_LANES], c[WICK_LANES], d[WICK_LANES];
    const float *restrict v1 = v + EXPERT_STRETCH, *restrict v2 = v1 + EXPERT_STRETCH, *restrict v3 = v2 + EXPERT_STRETCH;
    for (int l = 0; l < WICK_LANES; l++) a[l] = sums[l];
    for (int l = 0; l < WICK_LANES; l++) b[l] = sums[WICK_LANES + l];
    for (int l = 0; l < WICK_LANES; l++) c[l] = sums[2 * WICK_LANES + l];
    for (int l = 0; l < WICK_LANES; l++) d[l] = sums[3 * WICK_LANES + l];
    for (size_t i = 0; i < columns; i += WICK_LANES) {
        for (int l = 0; l < WICK_LANES; l++) a[l] = fmaf(x[i + (size_t)l], v[i + (size_t)l], a[l]);
        for (int l = 0; l < WICK_LANES; l++) b[l] = fmaf(x[i + (size_t)l], v1[i + (size_t)l], b[l]);
        for (int l = 0; l < WICK_LANES; l++) c[l] = fmaf(x[i + (size_t)l], v2[i + (size_t)l], c[l]);
        for (int l = 0; l < WICK_LANES; l++) d[l] = fmaf(x[i + (size_t)l], v3[i + (size_t)l], d[l]);
    }
    for (int l = 0; l < WICK_LANES; l++) sums[l] = a[l];
    for (int l = 0; l < WICK_LANES; l++) sums[WICK_LANES + l] = b[l];
    for (int l = 0; l < WICK_LANES; l++) sums[2 * WICK_LANES + l] = c[l];
    for (int l = 0; l < WICK_LANES; l++) sums[3 * WICK_LANES + l] = d[l];
}

/* `columns` columns from `first` on into values, rows EXPERT_STRETCH apart. */
static void unpack_stretch(const struct wick_expert_matrix *m, const void *restrict block, size_t first, size_t columns, float *restrict values)
{
    size_t step = (size_t)m->bits * WICK_EXPERT_ROWS * WICK_EXPERT_STEP / 8, group_bytes = m->group / WICK_EXPERT_STEP * step + WICK_EXPERT_ROWS * 8;
    float scales[WICK_EXPERT_ROWS];
    for (size_t c = 0; c < columns; c += WICK_EXPERT_STEP) {
        size_t group = (first + c) / m->group, inside = (first + c) % m->group;
        const uint8_t *in = (const uint8_t *)block + group * group_bytes;
        if (inside == 0 || c == 0) memcpy(scales, in + group_bytes - WICK_EXPERT_ROWS * 8, sizeof scales);
        if (m->bits == 4) unpack_step4(in + inside / WICK_EXPERT_STEP * step, scales, values + c);
        else unpack_step8(in + inside / WICK_EXPERT_STEP * step, scales, values + c);
    }
}

static void k_expert_unpack(const struct wick_expert_matrix *m, const void *block, float *out)
{
    float values[WICK_EXPERT_ROWS * EXPERT_STRETCH];
    for (size_t first = 0; first < m->columns; first += EXPERT_STRETCH) {
        size_t columns = WICK_MIN(m->columns - first, (size_t)EXPERT_STRETCH);
        unpack_stretch(m, block, first, columns, values);
        for (size_t r = 0; r < WICK_EXPERT_ROWS; r++) memcpy(out + r * m->columns + first, values + r * EXPERT_STRETCH, columns * sizeof *out);
    }
}

static void k_expert_dot(const struct wick_expert_matrix *m, const void *block, const float *x, float *sums)
{
    float values[WICK_EXPERT_ROWS * EXPERT_STRETCH], lanes[WICK_EXPERT_ROWS * WICK_LANES] = {0};
    for (size_t first = 0; first < m->columns; first += EXPERT_STRETCH) {
        size_t columns = WICK_MIN(m->columns - first, (size_t)EXPERT_STRETCH);
        unpack_stretch(m, block, first, columns, values);
        for (size_t r = 0; r < WICK_EXPERT_ROWS; r += 4) multiply_four(columns, x + first, values + r * EXPERT_STRETCH, lanes + r * WICK_LANES);
    }
    for (size_t r = 0; r < WICK_EXPERT_ROWS; r++) sums[r] = tree(lanes + r * WICK_LANES);
}
