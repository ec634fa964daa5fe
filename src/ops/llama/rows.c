/* ops/llama/rows.c - see rows.h. */
#include "ops/llama/rows.h"

#include "ukernel/ukernels.h"

#include <string.h>

void wick_rows_load(const struct wick_ukernels *ukernels, float *out, const struct wick_rows *rows, size_t n)
{
    size_t element = wick_dtype_size(rows->dtype), dim = rows->dim;
    for (size_t t = 0; t < n; t++, out += dim) {
        const void *row = (const char *)rows->data + t * rows->stride * element;
        switch (rows->dtype) {
        case WICK_DTYPE_F16: ukernels->f16_to_f32(dim, row, out); break;
        case WICK_DTYPE_BF16: ukernels->bf16_to_f32(dim, row, out); break;
        case WICK_DTYPE_I8:
            ukernels->i8_to_f32(dim, row, rows->scales[t * rows->param_stride], rows->zero_points[t * rows->param_stride], out);
            break;
        default: memcpy(out, row, dim * sizeof *out); break;
        }
    }
}

void wick_rows_stage(const struct wick_ukernels *ukernels, struct wick_rows *rows, size_t n, float *tile)
{
    if (rows->dtype == WICK_DTYPE_F32) return;
    wick_rows_load(ukernels, tile, rows, n);
    *rows = (struct wick_rows){.data = tile, .dtype = WICK_DTYPE_F32, .dim = rows->dim, .stride = rows->dim};
}

void wick_rows_round(const struct wick_ukernels *ukernels, float *x, size_t n, int dtype)
{
    enum { BLOCK = 64 };
    uint16_t half[BLOCK];
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t count = WICK_MIN(n - i, (size_t)BLOCK);
        if (dtype == WICK_DTYPE_F16) {
            ukernels->f32_to_f16(count, x + i, half);
            ukernels->f16_to_f32(count, half, x + i);
        } else {
            ukernels->f32_to_bf16(count, x + i, half);
            ukernels->bf16_to_f32(count, half, x + i);
        }
    }
}
