/* ukernel/generic/vector.h - vector kernels in plain C, compiled once a level with that level's flags. The compiler vectorises them; the order of
 * arithmetic is in the source (lanes, fma by name), so every level gives the same bits.
 *
 * A template: no include guard on purpose; include it once in a level's file. */
#include "tensor/half.h"
#include "ukernel/ukernels.h"

#include <math.h>

#include <string.h>

#define FOR(n) for (size_t i = 0; i < (n); i++)

static void k_add(size_t n, const float *x, const float *z, float *y) { FOR(n) y[i] = x[i] + z[i]; }
static void k_sub(size_t n, const float *x, const float *z, float *y) { FOR(n) y[i] = x[i] - z[i]; }
static void k_mul(size_t n, const float *x, const float *z, float *y) { FOR(n) y[i] = x[i] * z[i]; }
static void k_div(size_t n, const float *x, const float *z, float *y) { FOR(n) y[i] = x[i] / z[i]; }
static void k_min(size_t n, const float *x, const float *z, float *y) { FOR(n) y[i] = x[i] < z[i] ? x[i] : z[i]; }
static void k_max(size_t n, const float *x, const float *z, float *y) { FOR(n) y[i] = x[i] > z[i] ? x[i] : z[i]; }
static void k_add_scalar(size_t n, const float *x, float s, float *y) { FOR(n) y[i] = x[i] + s; }
static void k_mul_scalar(size_t n, const float *x, float s, float *y) { FOR(n) y[i] = x[i] * s; }
static void k_neg(size_t n, const float *x, float *y) { FOR(n) y[i] = -x[i]; }
static void k_abs(size_t n, const float *x, float *y) { FOR(n) y[i] = fabsf(x[i]); }
static void k_square(size_t n, const float *x, float *y) { FOR(n) y[i] = x[i] * x[i]; }
static void k_sqrt(size_t n, const float *x, float *y) { FOR(n) y[i] = sqrtf(x[i]); }
static void k_rsqrt(size_t n, const float *x, float *y) { FOR(n) y[i] = 1.0f / sqrtf(x[i]); }

static inline float clamp_one(float x, float low, float high)
{
    x = x < low ? low : x;
    return x > high ? high : x;
}

static void k_clamp(size_t n, const float *x, float low, float high, float *y) { FOR(n) y[i] = clamp_one(x[i], low, high); }

/* exp(x) = 2^j * e^r, j the nearest integer to x / ln 2, |r| <= ln(2) / 2; e^r by its Taylor polynomial to r^7 (error 2^-27 there). ln 2 in two
 * parts so that r is exact to float32. Rounding to an integer by adding 1.5 * 2^23 keeps it in the low bits of the sum. */
static inline float exp_one(float x)
{
    float in = x;
    x = x < -104.0f ? -104.0f : x;
    x = x > 89.0f ? 89.0f : x;
    float shifted = fmaf(x, 0x1.715476p+0f, 12582912.0f), j = shifted - 12582912.0f;
    float r = fmaf(j, -0x1.62e400p-1f, x);
    r = fmaf(j, -0x1.7f7d1cp-20f, r);
    float p = fmaf(r, 1.0f / 5040, 1.0f / 720);
    p = fmaf(p, r, 1.0f / 120);
    p = fmaf(p, r, 1.0f / 24);
    p = fmaf(p, r, 1.0f / 6);
    p = fmaf(p, r, 0.5f);
    p = fmaf(p, r, 1.0f);
    p = fmaf(p, r, 1.0f);
    /* 2^j as a product of two powers, each a normal number: j is in [-150, 129]. */
    int32_t e = (int32_t)j, half = e >> 1;
    float y = p * wick_f32_from_bits((uint32_t)(half + 127) << 23) * wick_f32_from_bits((uint32_t)(e - half + 127) << 23);
    return in != in ? in : y;
}

static inline float sigmoid_one(float x) { return 1.0f / (1.0f + exp_one(-x)); }

static inline float tanh_one(float x)
{
    float e = exp_one(-2.0f * fabsf(x)), t = (1.0f - e) / (1.0f + e), small = x * fmaf(x * x, -1.0f / 3, 1.0f);
    t = x < 0 ? -t : t;
    return fabsf(x) < 0x1p-6f ? small : t;
}

/* Abramowitz and Stegun 7.1.26: |error| <= 1.5e-7. */
static inline float erf_one(float x)
{
    float t = fabsf(x), k = 1.0f / fmaf(0.3275911f, t, 1.0f), p = fmaf(1.061405429f, k, -1.453152027f);
    p = fmaf(p, k, 1.421413741f);
    p = fmaf(p, k, -0.284496736f);
    p = fmaf(p, k, 0.254829592f);
    float y = 1.0f - p * k * exp_one(-t * t);
    return x < 0 ? -y : y;
}

static inline float gelu_one(float x) { return 0.5f * x * (1.0f + erf_one(x * 0.70710678f)); }

static void k_exp(size_t n, const float *x, float *y) { FOR(n) y[i] = exp_one(x[i]); }
static void k_sigmoid(size_t n, const float *x, float *y) { FOR(n) y[i] = sigmoid_one(x[i]); }
static void k_silu(size_t n, const float *x, float *y) { FOR(n) y[i] = x[i] * sigmoid_one(x[i]); }
static void k_tanh(size_t n, const float *x, float *y) { FOR(n) y[i] = tanh_one(x[i]); }
static void k_gelu(size_t n, const float *x, float *y) { FOR(n) y[i] = gelu_one(x[i]); }

/* ---- reductions over lanes ---- */

static inline float tree(float *lane)
{
    for (int step = WICK_LANES / 2; step; step /= 2)
        for (int l = 0; l < step; l++) lane[l] += lane[l + step];
    return lane[0];
}

static float k_reduce_sum(size_t n, const float *x)
{
    float lane[WICK_LANES] = {0};
    size_t i = 0;
    for (; i + WICK_LANES <= n; i += WICK_LANES)
        for (int l = 0; l < WICK_LANES; l++) lane[l] += x[i + (size_t)l];
    for (int l = 0; i < n; i++, l++) lane[l] += x[i];
    return tree(lane);
}

static float k_dot(size_t n, const float *x, const float *z)
{
    float lane[WICK_LANES] = {0};
    size_t i = 0;
    for (; i + WICK_LANES <= n; i += WICK_LANES)
        for (int l = 0; l < WICK_LANES; l++) lane[l] = fmaf(x[i + (size_t)l], z[i + (size_t)l], lane[l]);
    for (int l = 0; i < n; i++, l++) lane[l] = fmaf(x[i], z[i], lane[l]);
    return tree(lane);
}

static float k_reduce_sum_squares(size_t n, const float *x) { return k_dot(n, x, x); }

static float k_reduce_max(size_t n, const float *x)
{
    float lane[WICK_LANES], best = x[0];
    size_t i = 0;
    for (int l = 0; l < WICK_LANES; l++) lane[l] = x[0];
    for (; i + WICK_LANES <= n; i += WICK_LANES)
        for (int l = 0; l < WICK_LANES; l++) lane[l] = x[i + (size_t)l] > lane[l] ? x[i + (size_t)l] : lane[l];
    for (; i < n; i++) best = x[i] > best ? x[i] : best;
    for (int l = 0; l < WICK_LANES; l++) best = lane[l] > best ? lane[l] : best;
    return best;
}

static void k_axpy(size_t n, float s, const float *x, float *y) { FOR(n) y[i] = fmaf(s, x[i], y[i]); }

static float k_exp_sub_sum(size_t n, float *x, float max)
{
    FOR(n) x[i] = exp_one(x[i] - max);
    return k_reduce_sum(n, x);
}

static void k_softmax(size_t n, const float *x, float *y)
{
    if (n == 0) return;
    float max = k_reduce_max(n, x);
    FOR(n) y[i] = exp_one(x[i] - max);
    float inv = 1.0f / k_reduce_sum(n, y);
    FOR(n) y[i] = y[i] * inv;
}

static void k_rms_norm(size_t n, const float *x, const float *w, float eps, float *y)
{
    float scale = 1.0f / sqrtf(k_reduce_sum_squares(n, x) / (float)n + eps);
    if (w) FOR(n) y[i] = x[i] * scale * w[i];
    else FOR(n) y[i] = x[i] * scale;
}

#ifdef WICK_PROFILE_full
/* Rounds by pushing the fraction out of the mantissa: |q| is within 2^22. */
static inline float round_within(float q) { return (q + 12582912.0f) - 12582912.0f; }

static void k_scale_sums(size_t n, const float *w, float scale, float low, float high, float *num, float *den)
{
    float a[WICK_LANES] = {0}, b[WICK_LANES] = {0};
    size_t i = 0;
    for (; i + WICK_LANES <= n; i += WICK_LANES)
        for (int l = 0; l < WICK_LANES; l++) {
            float q = round_within(clamp_one(w[i + (size_t)l] / scale, low, high));
            a[l] += w[i + (size_t)l] * q;
            b[l] += q * q;
        }
    for (int l = 0; i < n; i++, l++) {
        float q = round_within(clamp_one(w[i] / scale, low, high));
        a[l] += w[i] * q;
        b[l] += q * q;
    }
    *num = tree(a);
    *den = tree(b);
}

/* NaN becomes low. */
static inline float within(float x, float low, float high)
{
    x = x > low ? x : low;
    return x < high ? x : high;
}

static void k_quantize_i8(size_t n, const float *w, float scale, float inverse, float low, float high, int8_t *q)
{
    if (inverse != 0) FOR(n) q[i] = (int8_t)(int32_t)round_within(within(w[i] * inverse, low, high));
    else FOR(n) q[i] = (int8_t)(int32_t)round_within(within(w[i] / scale, low, high));
}

static float k_reduce_max_abs(size_t n, const float *x)
{
    float top[WICK_LANES] = {0}, best = 0;
    size_t i = 0;
    for (; i + WICK_LANES <= n; i += WICK_LANES)
        for (int l = 0; l < WICK_LANES; l++) {
            const float a = fabsf(x[i + (size_t)l]);
            top[l] = a > top[l] ? a : top[l];
        }
    for (; i < n; i++) best = fabsf(x[i]) > best ? fabsf(x[i]) : best;
    for (int l = 0; l < WICK_LANES; l++) best = top[l] > best ? top[l] : best;
    return best;
}
#endif

static void k_rope_pairs(size_t n, const float *x, const float *cos, const float *sin, float *y)
{
    FOR(n)
    {
        const float re = x[2 * i], im = x[2 * i + 1];
        y[2 * i] = re * cos[i] - im * sin[i];
        y[2 * i + 1] = re * sin[i] + im * cos[i];
    }
}

/* ---- conversions ---- */

/* Without branches: the exponent is moved by a product, which is exact for subnormals too; infinities and NaNs keep theirs. */
static inline float from_f16(uint16_t h)
{
    uint32_t rest = (uint32_t)(h & 0x7fff) << 13, sign = (uint32_t)(h & 0x8000) << 16;
    uint32_t finite = wick_bits_from_f32(wick_f32_from_bits(rest) * 0x1p112f);
    return wick_f32_from_bits(((h & 0x7c00) == 0x7c00 ? rest | 0x7f800000u : finite) | sign);
}

static void k_f16_to_f32(size_t n, const uint16_t *x, float *y) { FOR(n) y[i] = from_f16(x[i]); }
static void k_f32_to_f16(size_t n, const float *x, uint16_t *y) { FOR(n) y[i] = wick_f16_from_f32(x[i]); }
static void k_bf16_to_f32(size_t n, const uint16_t *x, float *y) { FOR(n) y[i] = wick_f32_from_bf16(x[i]); }
static void k_f32_to_bf16(size_t n, const float *x, uint16_t *y) { FOR(n) y[i] = wick_bf16_from_f32(x[i]); }
static void k_i8_to_f32(size_t n, const int8_t *x, float scale, int32_t zero_point, float *y) { FOR(n) y[i] = (float)(x[i] - zero_point) * scale; }

static void k_quantize_qd8(size_t k, const float *x, uint8_t *a, struct wick_qd8_params *params)
{
    float low[WICK_LANES] = {0}, high[WICK_LANES] = {0}, min = 0, max = 0; /* the range always holds 0 */
    size_t i = 0;
    for (; i + WICK_LANES <= k; i += WICK_LANES)
        for (int l = 0; l < WICK_LANES; l++) {
            float v = x[i + (size_t)l];
            low[l] = v < low[l] ? v : low[l];
            high[l] = v > high[l] ? v : high[l];
        }
    for (; i < k; i++) {
        min = x[i] < min ? x[i] : min;
        max = x[i] > max ? x[i] : max;
    }
    for (int l = 0; l < WICK_LANES; l++) {
        min = low[l] < min ? low[l] : min;
        max = high[l] > max ? high[l] : max;
    }
    float s = min == max ? 1.0f : 255.0f / (max - min), dmin = min * s, dmax = max * s;
    float zero = (-128.0f + dmin) + (127.0f + dmax) > 0 ? -128.0f - dmin : 127.0f - dmax;
    int32_t zp = (int32_t)((clamp_one(zero, -128.0f, 127.0f) + 12582912.0f) - 12582912.0f);
    /* A row that is no number quantizes to something, never to an undefined conversion. */
    float offset = (float)zp + 128.0f;
    for (i = 0; i < k; i++) {
        float q = ((x[i] * s + 12582912.0f) - 12582912.0f) + offset;
        q = q > 0.0f ? q : 0.0f;
        a[i] = (uint8_t)(int32_t)(q < 255.0f ? q : 255.0f);
    }
    *params = (struct wick_qd8_params){1.0f / s, zp + 128};
}

/* ---- attention ---- */

static void k_qk_dot(size_t n, size_t d, const float *q, const float *k, size_t stride, float scale, float *scores)
{
    for (size_t t = 0; t < n; t++) scores[t] = scale * k_dot(d, q, k + t * stride);
}

static void k_pv_acc(size_t n, size_t d, const float *p, const float *v, size_t stride, float *out)
{
    for (size_t t = 0; t < n; t++) k_axpy(d, p[t], v + t * stride, out);
}

static void k_qk_rows(size_t m, size_t n, size_t d, const float *q, size_t q_stride, const float *k, size_t k_stride, float scale, float *scores,
                      size_t scores_stride)
{
    for (size_t r = 0; r < m; r++) k_qk_dot(n, d, q + r * q_stride, k, k_stride, scale, scores + r * scores_stride);
}

static void k_pv_rows(size_t m, size_t n, size_t d, const float *p, size_t p_stride, const float *v, size_t v_stride, float *out, size_t out_stride)
{
    for (size_t r = 0; r < m; r++) k_pv_acc(n, d, p + r * p_stride, v, v_stride, out + r * out_stride);
}

/* ---- linear attention ---- */

#define WIDE(l) for (size_t l = 0; l < WICK_DELTA_WIDTH; l++)

/* S += key change^T; sum = S^T query. */
static void delta_write(const struct wick_delta_call *c, const float *key, const float *query, const float *change, float *sum)
{
    float acc[WICK_DELTA_WIDTH] = {0}, add[WICK_DELTA_WIDTH];
    WIDE(l) add[l] = change[l];
    for (size_t k = 0; k < c->dim_k; k++) {
        float *row = c->memory + k * c->memory_stride, a = key[k], b = query[k];
        WIDE(l)
        {
            row[l] = fmaf(a, add[l], row[l]);
            acc[l] = fmaf(b, row[l], acc[l]);
        }
    }
    WIDE(l) sum[l] = acc[l];
}

/* S = decay S; read = S^T key. */
static void delta_read(const struct wick_delta_call *c, const float *key, const float *decay, float *read)
{
    float acc[WICK_DELTA_WIDTH] = {0};
    size_t step = c->channelwise ? 1 : 0;
    for (size_t k = 0; k < c->dim_k; k++) {
        float *row = c->memory + k * c->memory_stride, a = key[k], g = decay[k * step];
        WIDE(l)
        {
            row[l] = row[l] * g;
            acc[l] = fmaf(a, row[l], acc[l]);
        }
    }
    WIDE(l) read[l] = acc[l];
}

/* The same where S is read from another place than it is written to. */
static void delta_read_first(const struct wick_delta_call *c, const float *key, const float *decay, float *read)
{
    float acc[WICK_DELTA_WIDTH] = {0};
    size_t step = c->channelwise ? 1 : 0;
    for (size_t k = 0; k < c->dim_k; k++) {
        const float *restrict from = c->before + k * c->before_stride;
        float *restrict row = c->memory + k * c->memory_stride;
        float a = key[k], g = decay[k * step];
        WIDE(l)
        {
            row[l] = from[l] * g;
            acc[l] = fmaf(a, row[l], acc[l]);
        }
    }
    WIDE(l) read[l] = acc[l];
}

static void k_delta_rule(const struct wick_delta_call *c)
{
    static const float still[WICK_DELTA_WIDTH];
    for (size_t t = 0; t < c->tokens; t++) {
        const float *key = c->key + t * c->dim_k, *value = c->value + t * c->value_stride;
        float sum[WICK_DELTA_WIDTH], change[WICK_DELTA_WIDTH] = {0};
        (t == 0 && c->before != c->memory ? delta_read_first : delta_read)(c, key, c->decay + t * (c->channelwise ? c->dim_k : 1), sum);
        for (size_t l = 0; l < c->width; l++) change[l] = (value[l] - sum[l]) * c->beta[t];
        for (size_t g = 0; g < c->groups; g++) {
            size_t row = g * c->tokens + t;
            delta_write(c, key, c->query + row * c->dim_k, g == 0 ? change : still, sum);
            for (size_t l = 0; l < c->width; l++) c->out[row * c->value_stride + l] = sum[l];
        }
    }
}

#include "ukernel/generic/experts.h"

static void fill_vector(struct wick_ukernels *t)
{
    t->quantize_qd8 = k_quantize_qd8;
    t->add = k_add, t->sub = k_sub, t->mul = k_mul, t->div = k_div, t->min = k_min, t->max = k_max;
    t->add_scalar = k_add_scalar, t->mul_scalar = k_mul_scalar, t->clamp = k_clamp;
    t->neg = k_neg, t->abs = k_abs, t->square = k_square, t->sqrt = k_sqrt, t->rsqrt = k_rsqrt;
    t->exp = k_exp, t->sigmoid = k_sigmoid, t->silu = k_silu, t->tanh = k_tanh, t->gelu = k_gelu;
    t->reduce_sum = k_reduce_sum, t->reduce_sum_squares = k_reduce_sum_squares, t->reduce_max = k_reduce_max, t->dot = k_dot;
    t->axpy = k_axpy, t->exp_sub_sum = k_exp_sub_sum, t->softmax = k_softmax, t->rms_norm = k_rms_norm, t->rope_pairs = k_rope_pairs;
#ifdef WICK_PROFILE_full
    t->scale_sums = k_scale_sums, t->reduce_max_abs = k_reduce_max_abs, t->quantize_i8 = k_quantize_i8;
#endif
    t->f16_to_f32 = k_f16_to_f32, t->f32_to_f16 = k_f32_to_f16, t->bf16_to_f32 = k_bf16_to_f32, t->f32_to_bf16 = k_f32_to_bf16;
    t->i8_to_f32 = k_i8_to_f32, t->qk_dot = k_qk_dot, t->pv_acc = k_pv_acc;
    t->qk_rows = k_qk_rows, t->pv_rows = k_pv_rows, t->delta_rule = k_delta_rule;
    t->expert_unpack = k_expert_unpack, t->expert_dot = k_expert_dot;
}
