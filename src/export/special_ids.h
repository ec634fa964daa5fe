/* export/special_ids.h - the ids that begin and end texts, as the checkpoint's own files give them. */
#ifndef WICK_EXPORT_SPECIAL_IDS_H
#define WICK_EXPORT_SPECIAL_IDS_H

#include "checkpoint/checkpoint.h"

enum { WICK_EOS_IDS_MAX = 16 };

struct wick_special_ids {
    bool has_bos;
    int64_t bos;
    int64_t eos[WICK_EOS_IDS_MAX];
    uint32_t eos_count;
};

/* From GGUF metadata; else from generation_config.json, then config.json, beside the checkpoint at `path` (every id that one of them says ends a text).
 * Files that are missing or say nothing give nothing; one that is no JSON is INVALID_CONFIG. */
wick_status wick_special_ids_find(struct wick_special_ids *ids, const struct wick_checkpoint *checkpoint, const char *path, wick_error *err);

#endif
