/* checkpoint/limits.h - what a checkpoint may claim at most. Beyond it a file is refused by name of the limit. */
#ifndef WICK_CHECKPOINT_LIMITS_H
#define WICK_CHECKPOINT_LIMITS_H

#include <stdint.h>

#define WICK_CKPT_TENSORS_MAX (1u << 20)         /* tensors of a checkpoint */
#define WICK_CKPT_NUMEL_MAX (UINT64_C(1) << 40)  /* elements of a tensor; an expanded view can claim more than its file holds */
#define WICK_CKPT_NAME_MAX 1024u                 /* bytes of a tensor's name or of a metadata key */
#define WICK_CKPT_STRING_MAX (64u << 20)         /* bytes of one metadata string */
#define WICK_CKPT_METAS_MAX (1u << 16)           /* metadata keys of a file */
#define WICK_CKPT_SHARDS_MAX 4096u               /* files behind an index */
#define WICK_CKPT_INDEX_BYTES_MAX (64u << 20)    /* an index file */
#define WICK_CKPT_HEADER_MAX 100000000u          /* a safetensors header: the format's own limit */
#define WICK_CKPT_PICKLE_MAX (16u << 20)         /* data.pkl of a .pth; costs about 50 times as much memory while it is read */
#define WICK_CKPT_ENTRIES_MAX (1u << 20)         /* entries of a zip archive */

#endif
