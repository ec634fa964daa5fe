/* ukernel/experts.c - packing and unpacking of experts.h, for the exporter and the kernel. */
#include "ukernel/experts.h"

#include <string.h>

enum { MAGIC = 6712, UNIVERSAL = 1, VALUES = WICK_EXPERT_ROWS * WICK_EXPERT_STEP, RUN = 32 };

wick_status wick_expert_matrix_check(const struct wick_expert_matrix *m, wick_error *err)
{
    if (m->bits != 4 && m->bits != 8) return wick_fail(err, WICK_INVALID_ARGUMENT, "expert weights of %d bits, not 4 or 8", m->bits);
    if (m->group == 0 || m->group % WICK_EXPERT_STEP) return wick_fail(err, WICK_INVALID_ARGUMENT, "expert weights: group size %zu is no multiple of 16", m->group);
    if (m->columns == 0 || m->rows == 0 || m->columns % m->group)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "expert weights: %zu columns do not divide into groups of %zu", m->columns, m->group);
    return WICK_OK;
}

static size_t step_bytes(const struct wick_expert_matrix *m) { return (size_t)m->bits * VALUES / 8; }

uint64_t wick_expert_block_bytes(const struct wick_expert_matrix *m)
{
    uint64_t steps = m->columns / WICK_EXPERT_STEP, groups = m->columns / m->group;
    if (m->columns > UINT32_MAX) return UINT64_MAX;
    return steps * step_bytes(m) + groups * WICK_EXPERT_ROWS * 8;
}

uint64_t wick_expert_blob_bytes(const struct wick_expert_matrix *m)
{
    uint64_t blocks = ((uint64_t)m->rows + WICK_EXPERT_ROWS - 1) / WICK_EXPERT_ROWS, block = wick_expert_block_bytes(m);
    if (m->rows > UINT32_MAX || block > (UINT64_MAX - WICK_EXPERT_HEADER) / (blocks ? blocks : 1)) return UINT64_MAX;
    return WICK_EXPERT_HEADER + blocks * block;
}

wick_status wick_expert_blob_check(const struct wick_expert_matrix *m, const void *blob, size_t size, wick_error *err)
{
    int32_t header[WICK_EXPERT_HEADER / 4];
    uint64_t wanted = wick_expert_blob_bytes(m);
    if (size < wanted) return wick_fail(err, WICK_INVALID_ARGUMENT, "packed expert weights: %zu bytes, [%zu, %zu] takes %llu", size, m->rows, m->columns, (unsigned long long)wanted);
    memcpy(header, blob, sizeof header);
    if (header[0] != MAGIC) return wick_fail(err, WICK_INVALID_ARGUMENT, "packed expert weights begin with %d, not %d", header[0], MAGIC);
    if (header[1] != UNIVERSAL || header[5] != WICK_EXPERT_ROWS || header[6] != WICK_EXPERT_STEP || header[7] != 2)
        return wick_fail(err, WICK_NOT_SUPPORTED, "expert weights packed as kind %d, %d x %d x %d: not supported (the universal packing, 1, 8 x 16 x 2, is)", header[1],
                         header[5], header[6], header[7]);
    if (header[2] != m->bits || header[3] != 0 || header[4] != 0)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "packed expert weights of %d bits, zero points %d, bias %d; wanted are %d bits and neither", header[2], header[3],
                         header[4], m->bits);
    return WICK_OK;
}

void wick_expert_pack_header(const struct wick_expert_matrix *m, void *blob)
{
    const int32_t header[WICK_EXPERT_HEADER / 4] = {MAGIC, UNIVERSAL, m->bits, 0, 0, WICK_EXPERT_ROWS, WICK_EXPERT_STEP, 2};
    memcpy(blob, header, sizeof header);
}

/* 128 values in their order: [half][row][column of the half]. */
static void order_step(const struct wick_expert_matrix *m, const int8_t *values, size_t rows, size_t column, int8_t ordered[VALUES])
{
    memset(ordered, 0, VALUES);
    for (size_t half = 0; half < 2; half++)
        for (size_t r = 0; r < rows; r++) memcpy(ordered + (half * 8 + r) * 8, values + r * m->columns + column + half * 8, 8);
}

void wick_expert_pack_block(const struct wick_expert_matrix *m, const int8_t *values, const float *scales, size_t rows, void *block)
{
    uint8_t *out = block;
    size_t groups = m->columns / m->group;
    for (size_t g = 0; g < groups; g++) {
        int32_t sums[WICK_EXPERT_ROWS] = {0};
        float of_rows[WICK_EXPERT_ROWS] = {0};
        for (size_t c = g * m->group; c < (g + 1) * m->group; c += WICK_EXPERT_STEP, out += step_bytes(m)) {
            int8_t ordered[VALUES];
            order_step(m, values, rows, c, ordered);
            for (size_t i = 0; i < VALUES; i++) sums[i / 8 % 8] += ordered[i];
            if (m->bits == 8) memcpy(out, ordered, VALUES);
            else
                for (size_t i = 0; i < VALUES / 2; i++) {
                    const int8_t *run = ordered + i / 16 * RUN + i % 16;
                    out[i] = (uint8_t)((uint8_t)(run[0] + 8) | (uint8_t)(run[16] + 8) << 4);
                }
        }
        for (size_t r = 0; r < rows; r++) of_rows[r] = scales[r * groups + g];
        memcpy(out, of_rows, sizeof of_rows);
        memcpy(out + sizeof of_rows, sums, sizeof sums);
        out += sizeof of_rows + sizeof sums;
    }
}

void wick_expert_unpack_block(const struct wick_expert_matrix *m, const void *block, float *out)
{
    const uint8_t *in = block;
    for (size_t first = 0; first < m->columns; first += m->group) {
        const uint8_t *end = in + m->group / WICK_EXPERT_STEP * step_bytes(m);
        float scales[WICK_EXPERT_ROWS];
        memcpy(scales, end, sizeof scales);
        for (size_t c = first; c < first + m->group; c += WICK_EXPERT_STEP, in += step_bytes(m)) {
            int8_t ordered[VALUES];
            if (m->bits == 8) memcpy(ordered, in, VALUES);
            else
                for (size_t run = 0; run < VALUES / RUN; run++)
                    for (size_t i = 0; i < 16; i++) {
                        ordered[run * RUN + i] = (int8_t)((in[run * 16 + i] & 15) - 8);
                        ordered[run * RUN + 16 + i] = (int8_t)((in[run * 16 + i] >> 4) - 8);
                    }
            for (size_t half = 0; half < 2; half++)
                for (size_t r = 0; r < WICK_EXPERT_ROWS; r++) {
                    float *to = out + r * m->columns + c + half * 8;
                    for (size_t k = 0; k < 8; k++) to[k] = (float)ordered[(half * 8 + r) * 8 + k] * scales[r];
                }
        }
        in = end + WICK_EXPERT_ROWS * 8;
    }
}
