/* ukernel/ukernels.h - the table of micro-kernels: functions on raw pointers and sizes that know no tensor and no operator.
 *
 * wick_ukernels_init fills it with the portable kernels, then lets each level of isa.def that the processor has overwrite what it
 * can better. Immutable afterwards; shared by threads. Pointers need the alignment of their element only; nothing outside the
 * given ranges is read or written.
 *
 * ORDER OF ARITHMETIC. One order a kernel, obeyed bit for bit by every level, for any number of rows and any split of columns over
 * threads (tests/kernelcheck compares exactly). fma is the fused operation, rounded once; nothing else is contracted.
 *   f32:          acc = bias; for k ascending: acc = fma(a[k], w[k], acc); clamp. f16 and bf16 weights are converted first (exact).
 *   qd8 x qb4:    at packing S = 0; for k in steps of 16 ascending: S = S - float(sum of w over the step) * scale of its group (product
 *                 rounded, then difference). Then acc = S * float(zero_point); for groups ascending:
 *                 acc = fma(float(sum of a * w over the group), scale, acc); acc = acc * inv_scale; acc = acc + bias; clamp.
 *                 This is XNNPACK's order on AVX512-VNNI (its 16c8 kernels).
 *   qd8 x qc8/qc4: f = float(sum of (a - zero_point) * w); f = f * inv_scale; acc = fma(f, scale, bias); clamp.
 *   f32 x qc8/qc4: acc = 0; for k ascending: acc = fma(a[k], float(w), acc); acc = fma(acc, scale, bias); clamp.
 *   sums over a vector (sum, sum of squares, dot, exp sums): WICK_LANES partial sums, element i into lane i % WICK_LANES, then a
 *                 tree: lane l += lane l + 8, + 4, + 2, + 1. */
#ifndef WICK_UKERNEL_UKERNELS_H
#define WICK_UKERNEL_UKERNELS_H

#include "base/error.h"
#include "ukernel/experts.h"

enum { WICK_LANES = 16 };

/* A row quantized to 8 bits when the program runs: x is about (a - zero_point) * inv_scale, a unsigned. That is XNNPACK's
 * qdint8 with 128 added to values and zero point. */
struct wick_qd8_params {
    float inv_scale;
    int32_t zero_point; /* 0..255 */
};

/* A weight matrix W (n, k) as programs hold it. */
struct wick_gemm_weights {
    size_t n, k, group;   /* group: columns that share a scale (qb4), a multiple of 32 that divides k; else 0 */
    const void *w;        /* rows of k elements: f32, f16, bf16 or i8; 4 bits: ceil(k / 2) bytes a row, even k in the low nibble, value + 8 */
    bool transposed;      /* f32, f16, bf16, i8: (k, n) instead */
    const void *scales;   /* qb4: bf16 (n, k / group); qc8, qc4: f32 (n); else NULL */
    const float *bias;    /* (n) or NULL */
};

/* C (m, n) = A (m, k) x W^T, clamped. */
struct wick_gemm_call {
    size_t m, n, k, group;
    const void *a;                        /* f32, or u8 for qd8 */
    size_t a_stride;                      /* elements from row to row */
    const struct wick_qd8_params *params; /* (m) for qd8 */
    const void *packed;                   /* 64-aligned */
    float *c;
    size_t c_stride;
    float min, max;
};

/* Packing and kernel belong together. Columns are packed in blocks of nr, each block at block * (packed_size(nr, k, group)); so pack and run take ranges
 * of columns that begin at a multiple of nr, and threads can share both. */
struct wick_gemm {
    uint32_t mr, nr;
    size_t (*packed_size)(size_t n, size_t k, size_t group); /* bytes for n columns, a multiple of 64 */
    void (*pack)(const struct wick_gemm_weights *w, size_t n0, size_t n1, void *packed);
    void (*run)(const struct wick_gemm_call *call, size_t n0, size_t n1);
};

/* The gated delta rule over tokens, for `width` columns of a head's memory S (dim_k, dim_v). For every token S = decay S; S += key (beta (value - S^T key))^T;
 * out = S^T query, for each of `groups` queries. Sums are over dim_k ascending. */
enum { WICK_DELTA_WIDTH = 32 };
struct wick_delta_call {
    size_t tokens, dim_k, width, groups; /* width <= WICK_DELTA_WIDTH */
    const float *key, *query;            /* (tokens, dim_k); (groups, tokens, dim_k) */
    const float *decay, *beta;           /* (tokens, 1) or, channelwise, (tokens, dim_k); (tokens) */
    bool channelwise;
    const float *value;                  /* (tokens, width), rows value_stride apart */
    float *out;                          /* (groups, tokens, width), rows value_stride apart, groups tokens * value_stride */
    size_t value_stride;
    const float *before;                 /* (dim_k, WICK_DELTA_WIDTH): the columns of S; may be memory */
    float *memory;                       /* the same after the tokens */
    size_t before_stride, memory_stride; /* from row to row */
};

struct wick_ukernels {
    const char *level; /* of the best level taken */

    /* Matrix products, by weight format. */
    struct wick_gemm gemm_f32, gemm_f16, gemm_bf16;       /* f32 rows */
    struct wick_gemm gemm_qd8_qb4, gemm_qd8_qc4, gemm_qd8_qc8; /* qd8 rows */
    struct wick_gemm gemm_f32_qc8, gemm_f32_qc4;          /* f32 rows, weight-only */

    /* A row of k floats to qd8, exactly as XNNPACK's. */
    void (*quantize_qd8)(size_t k, const float *x, uint8_t *a, struct wick_qd8_params *params);

    /* y[i] = x[i] op z[i]. y may be x or z. */
    void (*add)(size_t n, const float *x, const float *z, float *y);
    void (*sub)(size_t n, const float *x, const float *z, float *y);
    void (*mul)(size_t n, const float *x, const float *z, float *y);
    void (*div)(size_t n, const float *x, const float *z, float *y);
    void (*min)(size_t n, const float *x, const float *z, float *y);
    void (*max)(size_t n, const float *x, const float *z, float *y);
    /* y[i] = x[i] op s. */
    void (*add_scalar)(size_t n, const float *x, float s, float *y);
    void (*mul_scalar)(size_t n, const float *x, float s, float *y);
    void (*clamp)(size_t n, const float *x, float low, float high, float *y);
    /* y[i] = f(x[i]); y may be x. exp within 2 ulp; sigmoid, tanh and gelu (exact erf form) within 1e-6. */
    void (*neg)(size_t n, const float *x, float *y);
    void (*abs)(size_t n, const float *x, float *y);
    void (*square)(size_t n, const float *x, float *y);
    void (*sqrt)(size_t n, const float *x, float *y);
    void (*rsqrt)(size_t n, const float *x, float *y); /* 1 / sqrt(x) */
    void (*exp)(size_t n, const float *x, float *y);
    void (*sigmoid)(size_t n, const float *x, float *y);
    void (*silu)(size_t n, const float *x, float *y);
    void (*tanh)(size_t n, const float *x, float *y);
    void (*gelu)(size_t n, const float *x, float *y);

    /* Reductions; n > 0 for max. */
    float (*reduce_sum)(size_t n, const float *x);
    float (*reduce_sum_squares)(size_t n, const float *x);
    float (*reduce_max)(size_t n, const float *x);
    float (*dot)(size_t n, const float *x, const float *z);
    void (*axpy)(size_t n, float s, const float *x, float *y); /* y = fma(s, x, y) */
    /* x[i] = exp(x[i] - max); returns their sum. A max of -inf gives NaN, as 0 * inf does. */
    float (*exp_sub_sum)(size_t n, float *x, float max);
    void (*softmax)(size_t n, const float *x, float *y);               /* y may be x */
    void (*rms_norm)(size_t n, const float *x, const float *w, float eps, float *y); /* x * rsqrt(mean(x^2) + eps) * w; w NULL: 1 */

    /* What a scale search needs of n weights (full profile): q = w / scale, clamped and rounded to even; num = sum of w q, den = sum of q q. */
    void (*scale_sums)(size_t n, const float *w, float scale, float low, float high, float *num, float *den);
    float (*reduce_max_abs)(size_t n, const float *x); /* 0 for none */
    /* q = w / scale, or w * inverse if that is not 0, clamped, rounded to even. low and high within a byte. */
    void (*quantize_i8)(size_t n, const float *w, float scale, float inverse, float low, float high, int8_t *q);

    /* Conversions, round to nearest even. */
    void (*f16_to_f32)(size_t n, const uint16_t *x, float *y);
    void (*f32_to_f16)(size_t n, const float *x, uint16_t *y);
    void (*bf16_to_f32)(size_t n, const uint16_t *x, float *y);
    void (*f32_to_bf16)(size_t n, const float *x, uint16_t *y);
    void (*i8_to_f32)(size_t n, const int8_t *x, float scale, int32_t zero_point, float *y); /* (x - zero_point) * scale */

    /* n pairs (y[2i], y[2i + 1]) = (x[2i] cos[i] - x[2i + 1] sin[i], x[2i] sin[i] + x[2i + 1] cos[i]), products rounded. */
    void (*rope_pairs)(size_t n, const float *x, const float *cos, const float *sin, float *y);

    /* Attention over n keys or values, `stride` elements apart, of d elements. scores[t] = scale * dot(q, k[t]); out = fma(p[t], v[t], out), t ascending. */
    void (*qk_dot)(size_t n, size_t d, const float *q, const float *k, size_t stride, float scale, float *scores);
    void (*pv_acc)(size_t n, size_t d, const float *p, const float *v, size_t stride, float *out);
    /* The same for m rows of queries or sums that share the keys and values, bit for bit. */
    void (*qk_rows)(size_t m, size_t n, size_t d, const float *q, size_t q_stride, const float *k, size_t k_stride, float scale, float *scores,
                    size_t scores_stride);
    void (*pv_rows)(size_t m, size_t n, size_t d, const float *p, size_t p_stride, const float *v, size_t v_stride, float *out, size_t out_stride);

    /* Does about `rounds` thousand multiply-adds of bytes on registers, by the level's best instruction, and returns how many: what a product could
     * reach if nothing had to be loaded. */
    uint64_t (*int8_peak)(uint64_t rounds);

    void (*delta_rule)(const struct wick_delta_call *call);

    /* A packed block of 8 rows (ukernel/experts.h) as f32 (8, columns); and times a row x (columns): sums[r] = dot(x, row r), bit for bit. */
    void (*expert_unpack)(const struct wick_expert_matrix *m, const void *block, float *out);
    void (*expert_dot)(const struct wick_expert_matrix *m, const void *block, const float *x, float *sums);
};

/* cap: NULL or "" for all the processor has; a level's name or its begin ("avx2", "avx512", "dotprod", "ref"), then features to leave out
 * (",-vnni"). INVALID_ARGUMENT lists the levels built. */
wick_status wick_ukernels_init(struct wick_ukernels *table, const char *cap, wick_error *err);

/* Levels in this build, the portable one first; and whether this processor has one. */
size_t wick_ukernels_level_count(void);
const char *wick_ukernels_level_name(size_t i);
bool wick_ukernels_level_found(size_t i);

/* One level. fill overwrites entries. */
struct wick_isa {
    const char *name;
    bool (*supported)(void);
    void (*fill)(struct wick_ukernels *table);
};

#endif
