/* checkpoint/blocks.h - decoding stored elements to float32. */
#ifndef WICK_CHECKPOINT_BLOCKS_H
#define WICK_CHECKPOINT_BLOCKS_H

#include "checkpoint/checkpoint.h"

enum { WICK_CKPT_BLOCK_MAX = 256 }; /* elements of the largest block */

/* Decodes `blocks` consecutive blocks (elements of a plain type) at src into blocks * wick_ckpt_storage_block() floats.
 * src may be unaligned. */
void wick_ckpt_decode(enum wick_ckpt_storage storage, const uint8_t *src, size_t blocks, float *out);

#endif
