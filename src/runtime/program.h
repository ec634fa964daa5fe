/* runtime/program.h - an open program: the file and its data files, mapped and verified once.
 *
 * Immutable after opening; any number of threads may read it. */
#ifndef WICK_RUNTIME_PROGRAM_H
#define WICK_RUNTIME_PROGRAM_H

#include "base/arena.h"
#include "base/log.h"
#include "tensor/value.h"

/* Bytes that stay valid and unchanged while the program is open; 16-byte aligned. */
struct wick_bytes {
    const uint8_t *data;
    size_t size;
};

struct wick_program;

/* Maps `path` and the data files (.ptd), verifies them, and merges the data files into one key space. Structures go into
 * `arena`, which must outlive the program; the files are unmapped by wick_program_close. Errors name the file: NOT_FOUND,
 * ACCESS_FAILED, INVALID_PROGRAM, INVALID_EXTERNAL_DATA, INVALID_ARGUMENT (a key twice). */
wick_status wick_program_open(struct wick_program **program, const char *path, const char *const *data_paths, size_t data_path_count,
                              struct wick_arena *arena, wick_error *err) WICK_MUST_CHECK;
/* The same from memory of the caller's. */
wick_status wick_program_open_memory(struct wick_program **program, struct wick_bytes file, const struct wick_bytes *data_files,
                                     size_t data_file_count, struct wick_arena *arena, wick_error *err) WICK_MUST_CHECK;
void wick_program_close(struct wick_program *program); /* NULL allowed */

uint32_t wick_program_method_count(const struct wick_program *program);
struct wick_str wick_program_method_name(const struct wick_program *program, uint32_t index);
/* INVALID_ARGUMENT naming the methods there are. */
wick_status wick_program_method_find(const struct wick_program *program, struct wick_str name, uint32_t *index, wick_error *err) WICK_MUST_CHECK;

/* A constant method ("getter": no inputs, no instructions): how many values it has; 0 if there is none of that name. */
uint32_t wick_program_constant_count(const struct wick_program *program, struct wick_str name);
/* Its i-th value: INT, DOUBLE, BOOL or STRING (borrowed). NOT_FOUND if there is no such constant method or value,
 * INVALID_TYPE if the value is of another kind (a tensor: load the method). */
wick_status wick_program_constant(const struct wick_program *program, struct wick_str name, uint32_t i, struct wick_value *value,
                                  wick_error *err) WICK_MUST_CHECK;

/* A blob by key, in the program first, then in the data files. NOT_FOUND names the key. */
wick_status wick_program_named_data(const struct wick_program *program, struct wick_str key, const uint8_t **data, size_t *size,
                                    wick_error *err) WICK_MUST_CHECK;
/* Says that bytes of the program or a data file have been copied: their pages may go. They stay readable. */
void wick_program_release(const struct wick_program *program, const uint8_t *data, size_t size);
/* Bytes of the program file and the data files. */
size_t wick_program_bytes(const struct wick_program *program);

#endif
