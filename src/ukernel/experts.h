/* ukernel/experts.h - a quantized matrix as torchao's packed "8-bit activations, x-bit weights" blob in its universal format: what
 * llama::quantized_moe_ffn has one of per expert.
 *
 * 64 bytes of header (int32 each: 6712, the kind of packing: 1, bits, has zero points, has bias, 8, 16, 2, then zeros), then blocks of 8 rows. A block
 * is, group by group: for every 16 columns 128 values, then 8 scales (f32) and 8 sums of the group's values (i32). The 128 values stand as
 * [2 halves][8 rows][8 columns]; of 4 bits each, they are 4 runs of 32 values in 16 bytes: value i (+ 8) in the low, i + 16 in the high nibble of byte
 * i. The last block is filled up with rows of zeros. */
#ifndef WICK_UKERNEL_EXPERTS_H
#define WICK_UKERNEL_EXPERTS_H

#include "base/error.h"

enum { WICK_EXPERT_HEADER = 64, WICK_EXPERT_ROWS = 8, WICK_EXPERT_STEP = 16 };

struct wick_expert_matrix {
    size_t rows, columns, group; /* group: a multiple of 16 that divides columns */
    int bits;                    /* 4 or 8 */
};

/* INVALID_ARGUMENT unless bits, group and columns go together. */
wick_status wick_expert_matrix_check(const struct wick_expert_matrix *m, wick_error *err);
/* Bytes of a block of 8 rows; of a whole blob, header included (checked arithmetic: UINT64_MAX if it does not fit). */
uint64_t wick_expert_block_bytes(const struct wick_expert_matrix *m);
uint64_t wick_expert_blob_bytes(const struct wick_expert_matrix *m);
/* Checks a blob's header and size. NOT_SUPPORTED names a packing for other kernels. */
wick_status wick_expert_blob_check(const struct wick_expert_matrix *m, const void *blob, size_t size, wick_error *err);
/* Writes the header. */
void wick_expert_pack_header(const struct wick_expert_matrix *m, void *blob);
/* Packs up to 8 rows of values (rows, columns) and scales (rows, columns / group) into one block. */
void wick_expert_pack_block(const struct wick_expert_matrix *m, const int8_t *values, const float *scales, size_t rows, void *block);
/* A block's 8 rows as f32 (8, columns); expert_unpack of ukernels.h is the fast one. */
void wick_expert_unpack_block(const struct wick_expert_matrix *m, const void *block, float *out);

#endif
