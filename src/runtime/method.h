/* runtime/method.h - the template of a method: values, instructions and resolved operators, as the file says.
 *
 * Immutable after loading and shared by everything that is bound or run from it. All of it lives in the arena it was
 * loaded into, except bytes of constants, which are the program's. */
#ifndef WICK_RUNTIME_METHOD_H
#define WICK_RUNTIME_METHOD_H

#include "runtime/backend.h"
#include "runtime/program.h"

enum wick_storage {
    WICK_STORAGE_NONE,     /* no bytes of its own: an input, a view, a delegate's or operator's unplanned result */
    WICK_STORAGE_CONSTANT, /* bytes of the program or of a data file, read in place */
    WICK_STORAGE_PLANNED,  /* planned buffer + offset; zeros, or `initial`, when a timeline starts */
};

/* Where a tensor's bytes come from. */
struct wick_origin {
    uint8_t storage;
    uint32_t buffer;      /* PLANNED: index into planned_bytes */
    uint64_t offset;      /* PLANNED: offset + bytes lies within the buffer */
    const void *initial;  /* CONSTANT: the bytes (NULL for 0 bytes). PLANNED: first content, NULL for zeros */
    struct wick_str name; /* fully qualified name of a parameter or buffer; empty if the file has none */
};

enum wick_instruction_kind {
    WICK_INSTRUCTION_CALL,       /* ids: operator inputs, then outs */
    WICK_INSTRUCTION_DELEGATE,   /* ids: delegate inputs, then outputs */
    WICK_INSTRUCTION_MOVE,       /* ids: from, to */
    WICK_INSTRUCTION_JUMP_FALSE, /* ids: condition */
    WICK_INSTRUCTION_FREE,       /* ids: tensor */
};

struct wick_instruction {
    uint8_t kind;
    uint32_t count; /* of ids */
    const uint32_t *ids;
    const struct wick_op *op; /* CALL */
    uint32_t delegate;        /* DELEGATE: index into delegates */
    uint32_t target;          /* JUMP_FALSE: index of the next instruction when false; instruction_count ends the run */
};

/* A payload and the name of the backend that understands it. */
struct wick_delegate {
    struct wick_str backend;
    const uint8_t *data;
    size_t size;
    const struct wick_compile_spec *specs;
    uint32_t spec_count;
};

struct wick_method {
    const struct wick_program *program;
    struct wick_str name;
    /* Values in the file's numbering; the k-th tensor object has origin k. Tensors hold upper-bound sizes, capacity in
     * bytes of that bound, and data only if constant. INT and other scalars hold the file's numbers. */
    struct wick_value *values;
    struct wick_tensor *tensors;
    struct wick_origin *origins;
    uint32_t value_count, tensor_count;
    const uint32_t *inputs, *outputs; /* value ids */
    uint32_t input_count, output_count;
    const uint64_t *planned_bytes; /* size of each planned buffer */
    uint32_t planned_count;
    const struct wick_instruction *instructions; /* all chains, one after the other */
    uint32_t instruction_count;
    const struct wick_delegate *delegates;
    uint32_t delegate_count;
};

/* Builds the template of method `index`, resolving operators by name. Errors: OPERATOR_MISSING naming all that are
 * missing, INVALID_PROGRAM, INVALID_EXTERNAL_DATA (an external tensor with another layout), NOT_FOUND, OUT_OF_MEMORY. */
wick_status wick_method_load(struct wick_method **method, const struct wick_program *program, uint32_t index, const struct wick_op_table *ops,
                             struct wick_arena *arena, wick_error *err) WICK_MUST_CHECK;

/* Index of the tensor object a TENSOR value points at. */
static inline uint32_t wick_method_tensor_index(const struct wick_method *method, uint32_t value)
{
    return (uint32_t)(method->values[value].as.tensor - method->tensors);
}

#endif
