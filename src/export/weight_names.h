/* export/weight_names.h - the same weight under the conventions of checkpoints. */
#ifndef WICK_EXPORT_WEIGHT_NAMES_H
#define WICK_EXPORT_WEIGHT_NAMES_H

#include "export/weights.h"

enum { WICK_WEIGHT_NAME_MAX = 160 };

/* The i-th name that the checkpoint's convention has for `name` (Meta's) of a layer (-1: of the whole model); some have several, by family. False: no
 * more. */
bool wick_weight_name(const struct wick_weights *w, int layer, const char *name, size_t i, char out[WICK_WEIGHT_NAME_MAX]);
/* Weights that a convention keeps as one: the `rows` rows of `name` are those from `first` on of `whole`, which has `total`. False: none. */
bool wick_weight_cut(const struct wick_weights *w, const char *name, int64_t rows, const char **whole, int64_t *first, int64_t *total);

#endif
