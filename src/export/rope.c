/* export/rope.c - rotation tables; the arithmetic follows torch's in float32 so that tables agree to the last bits. */
#include "export/rope.h"

#include <math.h>

static float scaled_frequency(const struct wick_hparams *h, float f)
{
    float wavelength = (float)(2 * 3.14159265358979323846) / f;
    float low = (float)(h->old_context / h->low_freq_factor), high = (float)(h->old_context / h->high_freq_factor);
    if (wavelength < high) return f;
    if (wavelength > low) return f / (float)h->rope_scale_factor;
    float s = ((float)h->old_context / wavelength - (float)h->low_freq_factor) / (float)(h->high_freq_factor - h->low_freq_factor);
    return (1 - s) * f / (float)h->rope_scale_factor + s * f;
}

void wick_rope_table(const struct wick_hparams *h, int rows, float *cos_table, float *sin_table)
{
    int half = (int)h->head_dim / 2;
    for (int i = 0; i < half; i++) {
        float f = 1.0f / powf((float)h->rope_theta, (float)(2 * i) / (float)h->head_dim);
        if (h->rope_factor_count) f /= h->rope_factors[i];
        else if (h->use_scaled_rope) f = scaled_frequency(h, f);
        for (int p = 0; p < rows; p++) {
            float angle = (float)p * f;
            cos_table[(long)p * half + i] = cosf(angle);
            sin_table[(long)p * half + i] = sinf(angle);
        }
    }
}
