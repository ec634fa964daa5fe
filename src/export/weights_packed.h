/* export/weights_packed.h - weights that a checkpoint keeps as integers (or 8-bit floats) with scales, as float sources. */
#ifndef WICK_EXPORT_WEIGHTS_PACKED_H
#define WICK_EXPORT_WEIGHTS_PACKED_H

#include "export/weights.h"

/* Looks for what stands for the tensor `name` ("model.layers.0.self_attn.q_proj.weight") in a checkpoint of GPTQ or AWQ (.qweight, .qzeros, .scales,
 * .g_idx), of torchao (._weight_qdata, ._weight_scale, ._weight_zero_point), or of 8-bit floats with scales (.weight and .weight_scale_inv or
 * .weight_scale), and makes a source (rows, columns) of the numbers it means. *source stays NULL if there is nothing of the kind. half: rows of each head
 * of this many come in halves order and are wanted interleaved; 0: as they are. */
wick_status wick_weights_packed(struct wick_weights *w, const char *name, int64_t rows, int64_t columns, size_t half, struct wick_source **source, wick_error *err);
/* Whether there is something of the kind. */
bool wick_weights_has_packed(const struct wick_weights *w, const char *name);

#endif
