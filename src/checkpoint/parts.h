/* checkpoint/parts.h - checkpoints of several files that no index lists. Internal to the folder. */
#ifndef WICK_CHECKPOINT_PARTS_H
#define WICK_CHECKPOINT_PARTS_H

#include "checkpoint/table.h"

/* Opens what belongs to the first file of the checkpoint, which was opened from `path`: the other parts of a split GGUF, the other shards of
 * "consolidated.00.pth". Whole checkpoints stay as they are. */
wick_status wick_ckpt_open_parts(struct wick_checkpoint *ckpt, const char *path, wick_error *err) WICK_MUST_CHECK;
/* Whether a name is that of a part of a split GGUF after the first. */
bool wick_ckpt_is_later_part(struct wick_str name);

#endif
