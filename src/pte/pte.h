/* pte/pte.h - opening a .pte program: file layout, verification, and where bytes are.
 *
 * A program is read in place: wick_pte_open judges everything once (structure, then meaning), allocates nothing, and afterwards
 * the tables are read with flat/read.h and the ids of program_schema.h. What holds after a successful open:
 *
 * - every plan has name, values, inputs, outputs, at least one chain, delegates and buffer sizes; chains have instructions;
 * - every EValue has a known kind and a payload table (a Null may lack it), every list has items, every string its text;
 * - IntList items are indices of Int values, TensorList items of Tensor values, OptionalTensorList items -1 or indices of
 *   Tensor or Null values; inputs, outputs and call arguments are indices of values;
 * - operator and delegate indices are in range; a jump goes to [0, instructions of its chain] and its condition is a Bool or a
 *   Tensor; a move joins values of one kind; only Tensors are freed;
 * - operators have a name (the overload may be absent), delegates an id and a payload, compile specs a key and a value;
 * - tensors pass wick_shape_valid (rank, sizes, dim order, type, bytes), planned ones lie within their buffer, constants and
 *   initial data within their segment, external ones have a name; storage_offset is 0; the dynamism is a known one
 *   (DYNAMIC_UNBOUND is left to the runtime);
 * - buffer sizes are not negative and their sum does not overflow;
 * - segments lie within the file, named data refer to segments that exist. */
#ifndef WICK_PTE_PTE_H
#define WICK_PTE_PTE_H

#include "flat/read.h"
#include "pte/program_schema.h"
#include "tensor/tensor.h"

enum {
    WICK_PTE_HEADER_AT = 8,        /* of the extended header, from the file's start */
    WICK_PTE_HEADER_BYTES = 32,    /* as written; 24 is the least that is read */
    WICK_PTE_HEAD_BYTES = 64,      /* a file is at least this long */
    WICK_PTE_SEGMENT_ALIGNMENT = 128, /* what the original writes by default */
    WICK_PTE_CONSTANT_ALIGNMENT = 16
};

/* An open program. Borrows the caller's bytes. Immutable; may be shared by threads. */
struct wick_pte_file {
    const uint8_t *data;
    size_t size;
    struct flat_table program; /* PTE_TABLE_PROGRAM */
    bool has_header;
    uint32_t header_length;   /* as the file says; 0 without header */
    uint64_t program_size;    /* bytes of the FlatBuffers part, from offset 0 */
    uint64_t segment_base;    /* absolute; 0: no segments */
    uint64_t segment_bytes;   /* bytes from segment_base that segments may use */
};

struct wick_pte_blob {
    const uint8_t *data; /* not NULL, unless the file itself has none */
    size_t size;
};

/* Opens a program of `size` bytes at `data`, which is aligned to 16 and outlives the file. Errors:
 * INVALID_PROGRAM (most), INVALID_ARGUMENT (a constant outside its segment; misaligned data), OUT_OF_MEMORY (a planned tensor outside
 * its buffer), NOT_SUPPORTED (storage_offset), INTERNAL (dim order is no permutation), INVALID_TYPE (freeing what is no
 * tensor): the original's codes. */
wick_status wick_pte_open(struct wick_pte_file *file, const void *data, size_t size, wick_error *err) WICK_MUST_CHECK;

/* ---- bytes ---- */

uint32_t wick_pte_segment_count(const struct wick_pte_file *file);
/* INVALID_PROGRAM if there is no such segment or it does not lie within the file. */
wick_status wick_pte_segment(const struct wick_pte_file *file, uint32_t index, struct wick_pte_blob *blob, wick_error *err) WICK_MUST_CHECK;
/* Constant `index` (> 0): nbytes bytes of the constant segment, or of constant_buffer in old files. Its address has the
 * alignment the writer gave it (the original: 16), which is not checked. */
wick_status wick_pte_constant(const struct wick_pte_file *file, uint32_t index, uint64_t nbytes, const uint8_t **data, wick_error *err) WICK_MUST_CHECK;
/* Initial bytes `index` (> 0) of a mutable tensor; unaligned. */
wick_status wick_pte_initial_data(const struct wick_pte_file *file, uint32_t index, uint64_t nbytes, const uint8_t **data, wick_error *err) WICK_MUST_CHECK;
/* The payload of a PTE_TABLE_DELEGATE, inline or in a segment. */
wick_status wick_pte_payload(const struct wick_pte_file *file, struct flat_table delegate, struct wick_pte_blob *blob, wick_error *err) WICK_MUST_CHECK;
/* A blob by its key, compared exactly, first match; NOT_FOUND names the key. A linear search. */
wick_status wick_pte_named_data(const struct wick_pte_file *file, struct wick_str key, struct wick_pte_blob *blob, wick_error *err) WICK_MUST_CHECK;

/* ---- plans and tensors ---- */

/* The plan of a method; at is NULL if there is none. */
struct flat_table wick_pte_plan(const struct wick_pte_file *file, struct wick_str name);

/* The payload of value `index` of a plan (PTE_TABLE_INT ..), and its PTE_KIND_*. */
struct flat_table wick_pte_value(struct flat_table plan, uint32_t index, uint8_t *kind);

enum wick_pte_storage {
    WICK_PTE_CALLER,           /* no bytes in the program: the caller, a view or a delegate binds them */
    WICK_PTE_CONSTANT,         /* nbytes bytes at data, read-only */
    WICK_PTE_PLANNED,          /* at memory_offset of planned buffer memory_id; content unspecified */
    WICK_PTE_PLANNED_INITIAL,  /* planned, and the nbytes bytes at data are copied there at load */
    WICK_PTE_EXTERNAL,         /* constant, found by name in a data file */
    WICK_PTE_EXTERNAL_INITIAL, /* planned, and the data file's bytes are copied there at load */
};

struct wick_pte_tensor {
    struct wick_shape shape;
    uint64_t nbytes;
    uint8_t dynamism, storage; /* wick_dynamism, wick_pte_storage */
    uint32_t memory_id;        /* index into non_const_buffer_sizes, >= 1 when planned */
    uint64_t memory_offset;
    const uint8_t *data;
    struct wick_str name; /* fully qualified name; data NULL if the file gives none */
};

static inline bool wick_pte_tensor_is_planned(const struct wick_pte_tensor *t)
{
    return t->storage == WICK_PTE_PLANNED || t->storage == WICK_PTE_PLANNED_INITIAL || t->storage == WICK_PTE_EXTERNAL_INITIAL;
}

/* Decodes a PTE_TABLE_TENSOR of a plan, checking it; cannot fail for a tensor of an open file. */
wick_status wick_pte_tensor_read(const struct wick_pte_file *file, struct flat_table plan, struct flat_table tensor, struct wick_pte_tensor *out,
                                 wick_error *err) WICK_MUST_CHECK;

#endif
