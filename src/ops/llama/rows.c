/* ops/llama/rows.c - see rows.h. */
#include "ops/llama/rows.h"

#include "ops/copy/cast.h"
#include "tensor/half.h"

#include <math.h>

enum { LANES = 16 };

void wick_rows_load(float *out, const struct wick_rows *rows, size_t n)
{
    size_t element = wick_dtype_size(rows->dtype), dim = rows->dim;
    for (size_t t = 0; t < n; t++) {
        const char *row = (const char *)rows->data + t * rows->stride * element;
        if (rows->dtype != WICK_DTYPE_I8) {
            wick_cast(out + t * dim, WICK_DTYPE_F32, row, rows->dtype, dim);
            continue;
        }
        float scale = rows->scales[t * rows->param_stride];
        int zero = rows->zero_points[t * rows->param_stride];
        for (size_t d = 0; d < dim; d++) out[t * dim + d] = (float)((const int8_t *)row)[d] - (float)zero;
        for (size_t d = 0; d < dim; d++) out[t * dim + d] *= scale;
    }
}

void wick_rows_stage(struct wick_rows *rows, size_t n, size_t users, float *tile)
{
    (void)users;
    if (rows->dtype == WICK_DTYPE_F32) return;
    wick_rows_load(tile, rows, n);
    *rows = (struct wick_rows){.data = tile, .dtype = WICK_DTYPE_F32, .dim = rows->dim, .stride = rows->dim};
}

/* Lane l sums elements l, l + 16, ..; then lanes are added pairwise. */
static float dot(const float *a, const float *b, size_t n)
{
    float lanes[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (size_t l = 0; l < LANES; l++) lanes[l] += a[i + l] * b[i + l];
    }
    for (size_t l = 0; i + l < n; l++) lanes[l] += a[i + l] * b[i + l];
    for (size_t half = LANES / 2; half > 0; half /= 2) {
        for (size_t l = 0; l < half; l++) lanes[l] += lanes[l + half];
    }
    return lanes[0];
}

void wick_rows_dot(const struct wick_ukernels *ukernels, float *scores, const float *query, const struct wick_rows *rows, size_t n, float scale)
{
    (void)ukernels;
    for (size_t t = 0; t < n; t++) scores[t] = scale * dot(query, (const float *)rows->data + t * rows->stride, rows->dim);
}

void wick_rows_accumulate(const struct wick_ukernels *ukernels, float *sums, const float *weights, const struct wick_rows *rows, size_t n)
{
    (void)ukernels;
    for (size_t t = 0; t < n; t++) {
        const float *row = (const float *)rows->data + t * rows->stride;
        float weight = weights[t];
        for (size_t d = 0; d < rows->dim; d++) sums[d] += weight * row[d];
    }
}

float wick_rows_max(const struct wick_ukernels *ukernels, const float *x, size_t n)
{
    (void)ukernels;
    float max = -INFINITY;
    for (size_t i = 0; i < n; i++) max = x[i] > max ? x[i] : max;
    return max;
}

float wick_rows_exp(const struct wick_ukernels *ukernels, float *x, size_t n, float max)
{
    (void)ukernels;
    float sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] = expf(x[i] - max);
    return sum;
}

void wick_rows_round(float *x, size_t n, int dtype)
{
    if (dtype == WICK_DTYPE_F16) {
        for (size_t i = 0; i < n; i++) x[i] = wick_f32_from_f16(wick_f16_from_f32(x[i]));
    } else {
        for (size_t i = 0; i < n; i++) x[i] = wick_f32_from_bf16(wick_bf16_from_f32(x[i]));
    }
}
