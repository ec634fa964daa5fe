/* export/rope.h - rotation tables. */
#ifndef WICK_EXPORT_ROPE_H
#define WICK_EXPORT_ROPE_H

#include "export/hparams.h"

/* Fills cos and sin, each (rows, head_dim / 2) float32, of positions 0..rows-1: f_i = theta^(-2i/head_dim), scaled as Llama 3.1
 * does when use_scaled_rope (float32 throughout, as the original computes them). */
void wick_rope_table(const struct wick_hparams *h, int rows, float *cos_table, float *sin_table);

#endif
