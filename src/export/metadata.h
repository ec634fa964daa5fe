/* export/metadata.h - the constant methods of a program. */
#ifndef WICK_EXPORT_METADATA_H
#define WICK_EXPORT_METADATA_H

#include "checkpoint/checkpoint.h"
#include "export/config.h"
#include "export/hparams.h"
#include "pte/program.h"

struct wick_metadata {
    struct wick_pte_plan *plans;
    uint32_t count, capacity;
    struct wick_arena *arena;
    bool out_of_memory;
};

/* The methods the original writes, in its order, then the keys of base.metadata; get_bos_id and get_eos_ids from the
 * checkpoint (special_ids.h) when base.metadata does not give them. Invalid JSON in base.metadata is INVALID_CONFIG. */
wick_status wick_metadata_make(struct wick_metadata *m, const struct wick_config *config, const struct wick_hparams *h, const struct wick_checkpoint *ckpt,
                               struct wick_arena *arena, wick_error *err);

#endif
