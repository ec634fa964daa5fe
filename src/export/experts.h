/* export/experts.h - the weights of experts, quantized and packed for llama::quantized_moe_ffn: one blob an expert (ukernel/experts.h). */
#ifndef WICK_EXPORT_EXPERTS_H
#define WICK_EXPORT_EXPERTS_H

#include "graph/source.h"

/* (experts, bytes) u8. Each expert's matrix is its rows of all parts, one below the other: part i has experts * R_i rows of the same number of columns.
 * Values are rounded to nearest with scales of the largest magnitude, in groups along the columns, as the original does. INVALID_CONFIG if the group does not
 * divide. */
wick_status wick_experts_pack(struct wick_source **out, struct wick_arena *arena, struct wick_source *const *parts, size_t part_count, size_t experts, int group,
                              int bits, wick_error *err);

#endif
