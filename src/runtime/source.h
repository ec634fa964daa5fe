/* runtime/source.h - what an open program is made of, shared by program.c and method.c. Private to runtime. */
#ifndef WICK_RUNTIME_SOURCE_H
#define WICK_RUNTIME_SOURCE_H

#include "base/os.h"
#include "pte/pte.h"
#include "runtime/program.h"

struct wick_data_file;

/* A blob that is found by key. */
struct wick_blob_key {
    struct wick_str key;
    uint32_t file;  /* data file; unused for the program's own */
    uint32_t entry; /* index in the file's named_data */
};

struct wick_program {
    struct wick_pte_file file;
    struct wick_map map; /* data NULL: the caller's memory */
    struct wick_data_file *data_files;
    uint32_t data_file_count;
    struct wick_blob_key *own_keys; /* of the program, ordered by key */
    uint32_t own_key_count;
    struct wick_blob_key *data_keys; /* of all data files */
    uint32_t data_key_count;
};

/* Bytes of an external tensor, found by its name in the data files. INVALID_STATE without a data file, NOT_FOUND if none has
 * the name, INVALID_EXTERNAL_DATA if the layout there is not `shape`. */
wick_status wick_program_external(const struct wick_program *program, struct wick_str name, const struct wick_shape *shape, const uint8_t **data,
                                  wick_error *err) WICK_MUST_CHECK;

#endif
