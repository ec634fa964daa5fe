/* checkpoint/torch.h - what the two layouts of a .pth share: the archive (torch.c) and what was written before PyTorch 1.6
 * (torch_legacy.c). Internal to the folder. */
#ifndef WICK_CHECKPOINT_TORCH_H
#define WICK_CHECKPOINT_TORCH_H

#include "checkpoint/pickle.h"
#include "checkpoint/table.h"
#include "checkpoint/zip.h"

enum { WICK_TORCH_KEY_MAX = 72 }; /* bytes of a storage's key */

/* A storage behind the pickles of a legacy file; sorted by key. */
struct wick_torch_record {
    struct wick_str key;
    const struct wick_pickle_value *reference;
    const uint8_t *data;
    uint64_t bytes;
};

struct wick_torch_file {
    struct wick_checkpoint *ckpt;
    uint32_t file;
    struct wick_zip zip;
    struct wick_str folder;    /* "archive/": what every entry's name starts with */
    struct wick_torch_record *records; /* legacy files: their storages; else NULL */
    size_t record_count;
    struct wick_arena scratch; /* directory and pickle; gone once the table is filled */
    char what[256];            /* "tensor 'name'": opens the error texts */
    wick_error *err;
};

/* A reference ("storage", class, key, location, count). */
struct wick_torch_storage_id {
    struct wick_str key;
    int type; /* enum wick_ckpt_storage, or -1: bytes */
    int64_t elements;
    uint64_t bytes;
};
wick_status wick_torch_storage_id(struct wick_torch_file *t, const struct wick_pickle_value *value, struct wick_torch_storage_id *out) WICK_MUST_CHECK;

/* Parses a pickle with the globals that a checkpoint may name. */
wick_status wick_torch_parse(struct wick_torch_file *t, const uint8_t *data, size_t size, struct wick_pickle *out) WICK_MUST_CHECK;
/* Adds the tensors of the dict on top of a pickle to the table. */
wick_status wick_torch_add(struct wick_torch_file *t, const struct wick_pickle_value *top) WICK_MUST_CHECK;
/* The data of a legacy storage; NULL if none of this key and size was stored, or it is empty. */
const uint8_t *wick_torch_record(const struct wick_torch_file *t, struct wick_str key, uint64_t bytes);

#endif
