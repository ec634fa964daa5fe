/* export/describe.h - a planned graph as the description that src/pte renders. */
#ifndef WICK_EXPORT_DESCRIBE_H
#define WICK_EXPORT_DESCRIBE_H

#include "export/external.h"
#include "export/metadata.h"
#include "export/methods.h"
#include "pte/program.h"

/* A program whose bytes are not written yet. Segment 0 holds the constants, then come the payloads of delegates, method after method, then the
 * blobs of named data, as the original orders them. All memory is the arena's. */
struct wick_description {
    const struct wick_methods *methods;
    struct wick_pte_program program;
    struct wick_pte_segment *segments;
    uint32_t *alignments;              /* by segment */
    uint32_t segment_count, payload_first, named_first;
    struct wick_source **constants;    /* of segment 0, in order */
    uint64_t *constant_offsets;        /* [0] is reserved */
    uint32_t constant_count;
    struct wick_named_constant **blobs; /* by named data */
    struct wick_pte_named *named;
    uint32_t blob_count;
    struct wick_external *external; /* what is in files of its own */
    uint64_t segment_bytes;
    uint32_t call_count; /* of all methods */
};

/* Payload sizes come from rendering each payload with keys of the right length. */
wick_status wick_describe(struct wick_description *d, const struct wick_methods *methods, const struct wick_metadata *metadata,
                          struct wick_external *external, struct wick_arena *arena, wick_error *err);

#endif
