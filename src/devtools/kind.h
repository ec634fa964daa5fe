/* devtools/kind.h - which format a file's bytes are, and the printer of a backend's payloads. Inside src/devtools only. */
#ifndef WICK_DEVTOOLS_KIND_H
#define WICK_DEVTOOLS_KIND_H

#include "devtools/inspect.h"

enum wick_file_kind { WICK_FILE_UNKNOWN, WICK_FILE_PTE, WICK_FILE_PTD, WICK_FILE_BPTE };

static inline enum wick_file_kind wick_inspect_kind(const void *data, size_t size)
{
    const char *ident = (const char *)data + 4;
    if (size < 8) return WICK_FILE_UNKNOWN;
    if (memcmp(ident, "ET", 2) == 0) return WICK_FILE_PTE;
    if (memcmp(ident, "FT01", 4) == 0) return WICK_FILE_PTD;
    return memcmp(ident, "BP08", 4) == 0 ? WICK_FILE_BPTE : WICK_FILE_UNKNOWN;
}

/* Delegates may share a payload, so a small file could ask for endless decoding: payload bytes are decoded up to a multiple of the
 * file's size. `left` begins as wick_inspect_budget; true if the payload still fits. */
enum { WICK_INSPECT_SHARING_MAX = 64 };

static inline uint64_t wick_inspect_budget(size_t file_size) { return (uint64_t)file_size * WICK_INSPECT_SHARING_MAX; }

static inline bool wick_inspect_spend(uint64_t *left, size_t payload_size)
{
    if (payload_size > *left) return false;
    *left -= payload_size;
    return true;
}

static inline const struct wick_payload_printer *wick_inspect_printer(const struct wick_payload_printers *printers, struct wick_str id)
{
    for (size_t i = 0; i < printers->count; i++)
        if (wick_str_is(id, printers->items[i].backend_id)) return &printers->items[i];
    return NULL;
}

#endif
