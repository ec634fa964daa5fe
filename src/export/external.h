/* export/external.h - weights outside of the program: .ptd files that several programs can share.
 *
 * export.lora_weights_file takes constants whose name says lora, export.foundation_weights_file all others, scalars aside; a file that is not asked
 * for leaves its part in the program. Weights that the program names are under their names there, those inside of payloads under their hashes. */
#ifndef WICK_EXPORT_EXTERNAL_H
#define WICK_EXPORT_EXTERNAL_H

#include "export/config.h"
#include "graph/graph.h"
#include "pte/write.h"

enum { WICK_EXTERNAL_FILES = 2 };

struct wick_external_entry {
    struct wick_source *source;
    struct wick_named_constant *blob; /* NULL: under a name */
};

struct wick_external_file {
    char path[1024]; /* "": not asked for */
    struct wick_external_entry *entries;
    struct wick_ptd_named *named; /* one an entry, and one a segment */
    struct wick_pte_segment *segments;
    uint32_t count, capacity;
    uint64_t bytes; /* of the segments */
};

struct wick_external {
    struct wick_external_file files[WICK_EXTERNAL_FILES];
};

/* Paths of the files: in export.output_dir if that is given, else beside the program; ".ptd" is added to a name without it. INVALID_CONFIG: one path
 * for both. */
wick_status wick_external_init(struct wick_external *x, const struct wick_config *config, const char *program_path, wick_error *err);
/* The file that a constant of this name goes to; NULL: the program. */
struct wick_external_file *wick_external_choose(struct wick_external *x, const char *name, const struct wick_source *source);
/* Appends an entry; under `key` if blob is NULL, which a second entry of the same source joins. Lists live in the arena. */
wick_status wick_external_add(struct wick_external_file *file, struct wick_arena *arena, struct wick_source *source, const char *key,
                              struct wick_named_constant *blob, wick_error *err);
/* Once all are added: offsets of the segments. */
wick_status wick_external_layout(struct wick_external *x, wick_error *err);

#endif
