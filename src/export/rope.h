/* export/rope.h - rotation tables: the numbers of every kind of rotary positions. */
#ifndef WICK_EXPORT_ROPE_H
#define WICK_EXPORT_ROPE_H

#include "export/hparams.h"

/* One table of a model: some models turn some of their layers with another base, and without scaling. */
struct wick_rope_spec {
    double theta;
    enum wick_rope_scaling scaling;
    int rows;    /* positions 0 .. rows-1 */
    int context; /* positions that the program will see: what chooses between the factors of short and long contexts */
};

/* The spec of most layers, from the hyper-parameters. */
struct wick_rope_spec wick_rope_spec_of(const struct wick_hparams *h, int rows, int context);
/* Fills cos and sin, each (rows, rd / 2) float32, rd = wick_hparams_rotated(h). float32 throughout, as the original and Hugging Face compute
 * them, but for longrope and a given attention factor: float64 until the end, as they do. */
void wick_rope_table(const struct wick_hparams *h, const struct wick_rope_spec *spec, float *cos_table, float *sin_table);

#endif
