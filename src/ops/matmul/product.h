/* ops/matmul/product.h - the product of two matrices of any arithmetic type and layout. */
#ifndef WICK_OPS_MATMUL_PRODUCT_H
#define WICK_OPS_MATMUL_PRODUCT_H

#include "ops/elementwise.h"

/* out[b, i, j] = bias[j] + sum over k of a[b, i, k] * w[b, k, j]. Strides in elements. All of one dtype. */
struct wick_product {
    int dtype;
    size_t batch, m, n, k;
    const void *a, *w;
    void *out;
    int64_t a_batch, a_row, a_k, w_batch, w_k, w_column, out_batch, out_row, out_column;
    const void *bias; /* n elements with bias_stride between them (0: one for all); NULL: none */
    int64_t bias_stride;
};

/* The order of additions of an element is k ascending, whatever m, n and the number of threads. */
wick_status wick_product_run(const struct wick_product *product, struct wick_run *run);

#endif
