/* checkpoint/format.h - what a checkpoint format provides. One file each, one line in formats.def. */
#ifndef WICK_CHECKPOINT_FORMAT_H
#define WICK_CHECKPOINT_FORMAT_H

#include "checkpoint/table.h"

struct wick_ckpt_format {
    const char *name;
    /* Looks at the first bytes of a file (size > 0). Only one format should say yes to a sound file. */
    bool (*probe)(const uint8_t *data, size_t size);
    /* Verifies the description in ckpt->files[file] and adds its tensors and metadata to the table. Error texts name the
     * place; the caller puts the path before them. */
    wick_status (*open)(struct wick_checkpoint *ckpt, uint32_t file, wick_error *err);
};

#define WICK_CKPT_FORMAT(id, name)                                                                 \
    bool wick_ckpt_##id##_probe(const uint8_t *data, size_t size);                                 \
    wick_status wick_ckpt_##id##_open(struct wick_checkpoint *ckpt, uint32_t file, wick_error *err) WICK_MUST_CHECK;
#include "checkpoint/formats.def"
#undef WICK_CKPT_FORMAT

/* Maps one more file, finds its format and adds what it holds. For checkpoint.c and for an index of shards, which
 * itself may not be a shard. */
wick_status wick_ckpt_open_shard(struct wick_checkpoint *ckpt, const char *path, wick_error *err) WICK_MUST_CHECK;

#endif
