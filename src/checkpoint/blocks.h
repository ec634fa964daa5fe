/* checkpoint/blocks.h - decoding stored elements to float32. */
#ifndef WICK_CHECKPOINT_BLOCKS_H
#define WICK_CHECKPOINT_BLOCKS_H

#include "checkpoint/checkpoint.h"

enum { WICK_CKPT_BLOCK_MAX = 256 }; /* elements of the largest block */

/* Decodes `blocks` consecutive blocks (elements of a plain type) at src into blocks * wick_ckpt_storage_block() floats.
 * src may be unaligned. */
void wick_ckpt_decode(enum wick_ckpt_storage storage, const uint8_t *src, size_t blocks, float *out);

/* One block each; blocks_low.c. */
void wick_ckpt_q2_k(const uint8_t *p, float *out);
void wick_ckpt_q3_k(const uint8_t *p, float *out);
void wick_ckpt_q8_k(const uint8_t *p, float *out);
void wick_ckpt_iq4_nl(const uint8_t *p, float *out);
void wick_ckpt_iq4_xs(const uint8_t *p, float *out);
void wick_ckpt_tq1_0(const uint8_t *p, float *out);
void wick_ckpt_tq2_0(const uint8_t *p, float *out);
void wick_ckpt_mxfp4(const uint8_t *p, float *out);
/* 8-bit floats. */
float wick_ckpt_f8_e4m3(uint8_t byte);
float wick_ckpt_f8_e5m2(uint8_t byte);

#endif
