/* ops/llama/rows.h - what attention does to rows of keys and values of any type: dot products, weighted sums,
 * exponentials. Passes on to the micro-kernels where they know the type, else converts a tile first. */
#ifndef WICK_OPS_LLAMA_ROWS_H
#define WICK_OPS_LLAMA_ROWS_H

#include "tensor/tensor.h"

struct wick_ukernels;

/* dim adjacent elements a row; stride in elements from row to row. i8 rows have a scale and a zero point each. */
struct wick_rows {
    const void *data;
    int dtype; /* f32, f16, bf16, i8 */
    size_t dim, stride;
    const float *scales;
    const int8_t *zero_points;
    size_t param_stride;
};

/* n rows as f32, [n, dim]. */
void wick_rows_load(float *out, const struct wick_rows *rows, size_t n);
/* If it pays for `users` passes over the rows, or nothing reads the type directly, converts n rows into tile [n, dim] and
 * points rows at that. */
void wick_rows_stage(struct wick_rows *rows, size_t n, size_t users, float *tile);

/* scores[t] = scale * (query . row t), t < n. */
void wick_rows_dot(const struct wick_ukernels *ukernels, float *scores, const float *query, const struct wick_rows *rows, size_t n, float scale);
/* sums[d] += sum_t weights[t] * row t [d], t ascending. */
void wick_rows_accumulate(const struct wick_ukernels *ukernels, float *sums, const float *weights, const struct wick_rows *rows, size_t n);
/* The largest of n > 0 numbers; NaNs are passed over. */
float wick_rows_max(const struct wick_ukernels *ukernels, const float *x, size_t n);
/* x[i] = exp(x[i] - max); returns their sum. */
float wick_rows_exp(const struct wick_ukernels *ukernels, float *x, size_t n, float max);
/* Rounds x to f16 or bf16 values. */
void wick_rows_round(float *x, size_t n, int dtype);

#endif
