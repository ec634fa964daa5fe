/* export/rope.c - rotation tables; the arithmetic follows torch's so that tables agree to the last bits. Sources: Meta's llama3 reference,
 * transformers' modeling_rope_utils (linear, dynamic, yarn, longrope), executorch examples/models/llama/rope.py. */
#include "export/rope.h"

#include <math.h>

#define PI 3.14159265358979323846

struct wick_rope_spec wick_rope_spec_of(const struct wick_hparams *h, int rows, int context)
{
    return (struct wick_rope_spec){.theta = h->rope_theta, .scaling = h->rope_scaling, .rows = rows, .context = context};
}

static float llama3_frequency(const struct wick_hparams *h, float f)
{
    double context = h->old_context > 0 ? h->old_context : 8192;
    float wavelength = (float)(2 * PI) / f;
    float low = (float)(context / h->low_freq_factor), high = (float)(context / h->high_freq_factor);
    if (wavelength < high) return f;
    if (wavelength > low) return f / (float)h->rope_scale_factor;
    float s = ((float)context / wavelength - (float)h->low_freq_factor) / (float)(h->high_freq_factor - h->low_freq_factor);
    return (1 - s) * f / (float)h->rope_scale_factor + s * f;
}

/* Positions that the model was trained on: of the scaling itself, else of the model. */
static double trained_context(const struct wick_hparams *h)
{
    return h->old_context > 0 ? h->old_context : h->max_position_embeddings > 0 ? (double)h->max_position_embeddings : 2048;
}

/* The channel pair that turns `turns` times over the trained context. */
static double yarn_pair(const struct wick_hparams *h, double theta, int rotated, double turns)
{
    return rotated * log(trained_context(h) / (turns * 2 * PI)) / (2 * log(theta));
}

/* Fast pairs keep their frequency, slow ones are divided by the factor, a ramp between. */
static void yarn_frequencies(const struct wick_hparams *h, double theta, int rotated, float *f)
{
    double low = yarn_pair(h, theta, rotated, h->yarn_beta_fast), high = yarn_pair(h, theta, rotated, h->yarn_beta_slow);
    if (h->yarn_truncate) low = floor(low), high = ceil(high);
    low = fmax(low, 0);
    high = fmin(high, rotated - 1);
    if (low == high) high += 0.001;
    for (int i = 0; i < rotated / 2; i++) {
        float ramp = ((float)i - (float)low) / (float)(high - low);
        float kept = 1 - (ramp < 0 ? 0 : ramp > 1 ? 1 : ramp);
        f[i] = f[i] / (float)h->rope_scale_factor * (1 - kept) + f[i] * kept;
    }
}

static double yarn_mscale(double factor, double mscale) { return factor <= 1 ? 1 : 0.1 * mscale * log(factor) + 1; }

/* What cos and sin are multiplied by. */
static double attention_factor(const struct wick_hparams *h, const struct wick_rope_spec *spec)
{
    if (h->rope_attention_factor > 0 && spec->scaling != WICK_ROPE_PLAIN) return h->rope_attention_factor;
    if (spec->scaling == WICK_ROPE_YARN) {
        double factor = h->rope_scale_factor;
        if (h->yarn_mscale > 0 && h->yarn_mscale_all_dim > 0) return yarn_mscale(factor, h->yarn_mscale) / yarn_mscale(factor, h->yarn_mscale_all_dim);
        return yarn_mscale(factor, 1);
    }
    if (spec->scaling != WICK_ROPE_LONG || !(h->old_context > 0)) return 1;
    double scale = (h->max_position_embeddings > 0 ? (double)h->max_position_embeddings : spec->context) / h->old_context;
    return scale <= 1 ? 1 : sqrt(1 + log(scale) / log(h->old_context));
}

/* The base that spreads the frequencies over a longer context; a program has one context, so one base. */
static double dynamic_base(const struct wick_hparams *h, double theta, int rotated, int context)
{
    double trained = trained_context(h), seen = fmax(context, trained), factor = h->rope_scale_factor;
    return rotated > 2 ? theta * pow(factor * seen / trained - (factor - 1), (double)rotated / (rotated - 2)) : theta;
}

/* The divisors of longrope: long ones when the program's context is longer than the trained one; what is missing is replaced by the other. */
static const float *long_factors(const struct wick_hparams *h, int context)
{
    bool longer = h->old_context > 0 && context > h->old_context;
    if (longer ? h->rope_long_count > 0 : h->rope_factor_count == 0) return h->rope_long_factors;
    return h->rope_factors;
}

static void long_table(const struct wick_hparams *h, const struct wick_rope_spec *spec, float *cos_table, float *sin_table)
{
    int rotated = wick_hparams_rotated(h), half = rotated / 2;
    const float *factors = long_factors(h, spec->context);
    double amplitude = attention_factor(h, spec);
    for (int i = 0; i < half; i++) {
        double f = 1.0 / pow(spec->theta, (double)(2 * i) / rotated) / (double)factors[i];
        for (int p = 0; p < spec->rows; p++) {
            cos_table[(long)p * half + i] = (float)(cos(p * f) * amplitude);
            sin_table[(long)p * half + i] = (float)(sin(p * f) * amplitude);
        }
    }
}

void wick_rope_table(const struct wick_hparams *h, const struct wick_rope_spec *spec, float *cos_table, float *sin_table)
{
    int rotated = wick_hparams_rotated(h), half = rotated / 2;
    float f[4096 / 2];
    if (spec->scaling == WICK_ROPE_LONG) {
        long_table(h, spec, cos_table, sin_table);
        return;
    }
    double theta = spec->scaling == WICK_ROPE_DYNAMIC ? dynamic_base(h, spec->theta, rotated, spec->context) : spec->theta;
    float amplitude = (float)attention_factor(h, spec);
    for (int i = 0; i < half; i++) {
        f[i] = 1.0f / powf((float)theta, (float)(2 * i) / (float)rotated);
        if (spec->scaling == WICK_ROPE_LLAMA3) f[i] = llama3_frequency(h, f[i]);
        if (spec->scaling == WICK_ROPE_LINEAR) f[i] /= (float)h->rope_scale_factor;
        if (spec->scaling == WICK_ROPE_FACTORS) f[i] /= h->rope_factors[i];
    }
    if (spec->scaling == WICK_ROPE_YARN) yarn_frequencies(h, theta, rotated, f);
    for (int p = 0; p < spec->rows; p++)
        for (int i = 0; i < half; i++) {
            float angle = (float)p * f[i];
            cos_table[(long)p * half + i] = cosf(angle) * amplitude;
            sin_table[(long)p * half + i] = sinf(angle) * amplitude;
        }
}
