/* ops/llama/rows.h - rows of keys and values of any type, as f32. */
#ifndef WICK_OPS_LLAMA_ROWS_H
#define WICK_OPS_LLAMA_ROWS_H

#include "tensor/tensor.h"

struct wick_ukernels;

/* dim adjacent elements a row; stride in elements from row to row. i8 rows have a scale and a zero point each: element x
 * stands for (x - zero point) * scale. */
struct wick_rows {
    const void *data;
    int dtype; /* f32, f16, bf16, i8 */
    size_t dim, stride;
    const float *scales;
    const int8_t *zero_points;
    size_t param_stride;
};

/* n rows as f32, [n, dim]. */
void wick_rows_load(const struct wick_ukernels *ukernels, float *out, const struct wick_rows *rows, size_t n);
/* Unless they are f32 already, converts n rows into tile [n, dim] and points rows at that. */
void wick_rows_stage(const struct wick_ukernels *ukernels, struct wick_rows *rows, size_t n, float *tile);
/* Rounds x to f16 or bf16 values. */
void wick_rows_round(const struct wick_ukernels *ukernels, float *x, size_t n, int dtype);

#endif
