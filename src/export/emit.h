/* export/emit.h - writing a described program. */
#ifndef WICK_EXPORT_EMIT_H
#define WICK_EXPORT_EMIT_H

#include "export/describe.h"

struct wick_emission {
    struct wick_pool *pool;
    const struct wick_ukernels *ukernels;
    wick_progress_fn progress; /* NULL allowed */
    void *progress_user;
};

/* Writes the file: weights are produced and hashed as they go by, one tensor at a time, then the payloads that name them by hash, then the tables.
 * The file appears under `path` only when complete. CANCELLED when progress says so. */
wick_status wick_emit(struct wick_description *d, const char *path, const struct wick_emission *how, uint64_t *file_bytes, wick_error *err);

#endif
