/* pte/program.h - a .pte program as plain structs: what the writer takes and what reading back gives.
 *
 * All pointers are borrowed. For arrays and strings NULL means absent and differs from empty (a pointer with count 0), as in the
 * file; counts are those of the array before them. Indices are those of the file. */
#ifndef WICK_PTE_PROGRAM_H
#define WICK_PTE_PROGRAM_H

#include "base/arena.h"
#include "base/str.h"
#include "pte/pte.h"
#include "tensor/tensor.h"

struct wick_pte_ints {
    const int32_t *items;
    uint32_t count;
};

/* A Tensor value. */
struct wick_pte_tensor_value {
    struct wick_shape shape;
    uint8_t dynamism; /* wick_dynamism */
    bool requires_grad;
    int8_t layout;
    uint32_t data_index;     /* data_buffer_idx: constant or initial data, 0: none */
    bool planned;            /* allocation_info is written */
    uint32_t memory_id;      /* >= 1 when planned */
    uint64_t memory_offset;
    bool extra;              /* extra_tensor_info is written: the fields below */
    struct wick_str name;    /* fully qualified; data NULL: absent */
    uint8_t location;        /* PTE_TENSOR_LOCATION_* */
    uint64_t mutable_segment; /* mutable_data_segments_idx */
    uint8_t device_type;     /* PTE_DEVICE_* */
    int8_t device_index;
};

struct wick_pte_value {
    uint8_t kind; /* PTE_KIND_* */
    union {
        int64_t i;
        bool b;
        double d;
        struct wick_str string;
        const struct wick_pte_tensor_value *tensor;
        struct {
            union {
                const int64_t *ints;     /* INT_LIST: indices of Int values */
                const double *doubles;   /* DOUBLE_LIST */
                const uint8_t *bools;    /* BOOL_LIST */
                const int32_t *indices;  /* TENSOR_LIST, OPTIONAL_TENSOR_LIST */
                const void *items;
            };
            uint32_t count;
        } list;
    } as;
};

struct wick_pte_instruction {
    uint8_t type;      /* PTE_INSTR_* */
    int32_t index;     /* op_index, delegate_index, move_from, cond_value_index, value_index */
    int32_t target;    /* move_to, destination_instruction */
    struct wick_pte_ints args; /* calls: indices of values; the return argument included */
};

struct wick_pte_frame {
    struct wick_str filename, name, context;
    int32_t line;
};

struct wick_pte_frame_list {
    const struct wick_pte_frame *frames;
    uint32_t count;
};

struct wick_pte_chain {
    struct wick_pte_ints inputs, outputs;
    const struct wick_pte_instruction *instructions;
    uint32_t instruction_count;
    const struct wick_pte_frame_list *stacktrace; /* one an instruction */
    uint32_t stacktrace_count;
};

struct wick_pte_operator {
    struct wick_str name, overload; /* write "" for no overload, never an absent one */
};

struct wick_pte_compile_spec {
    struct wick_str key;
    struct wick_pte_blob value;
};

struct wick_pte_delegate {
    struct wick_str id;
    uint8_t location; /* PTE_DATA_LOCATION_* */
    uint32_t index;   /* segment, or inline payload */
    const struct wick_pte_compile_spec *specs;
    uint32_t spec_count;
};

struct wick_pte_buffer_device {
    int32_t buffer;
    uint8_t device_type;
    int8_t device_index;
};

struct wick_pte_plan {
    struct wick_str name;
    bool container; /* container_meta_type is written: the next two */
    struct wick_str encoded_inputs, encoded_outputs;
    const struct wick_pte_value *values;
    uint32_t value_count;
    struct wick_pte_ints inputs, outputs;
    const struct wick_pte_chain *chains;
    uint32_t chain_count;
    const struct wick_pte_operator *operators;
    uint32_t operator_count;
    const struct wick_pte_delegate *delegates;
    uint32_t delegate_count;
    const int64_t *buffer_sizes; /* [0] is reserved: 0 */
    uint32_t buffer_count;
    const struct wick_pte_buffer_device *devices;
    uint32_t device_count;
};

/* A segment of the file: offset from the segment base. */
struct wick_pte_segment {
    uint64_t offset, size;
};

struct wick_pte_subsegments {
    uint32_t segment;
    const uint64_t *offsets; /* [0] is reserved: 0 */
    uint32_t count;
};

struct wick_pte_named {
    struct wick_str key;
    uint32_t segment;
};

struct wick_pte_program {
    uint32_t version; /* 0: what every reader takes */
    const struct wick_pte_plan *plans;
    uint32_t plan_count;
    const struct wick_pte_blob *constant_buffers; /* inline constants of old files; write NULL */
    uint32_t constant_buffer_count;
    const struct wick_pte_blob *inline_payloads;
    uint32_t inline_payload_count;
    const struct wick_pte_segment *segments;
    uint32_t segment_count;
    bool has_constant_segment;
    struct wick_pte_subsegments constant_segment;
    const struct wick_pte_subsegments *mutable_segments;
    uint32_t mutable_segment_count;
    const struct wick_pte_named *named;
    uint32_t named_count;
};

/* Reads an open file into structs made in `arena`; strings and bytes point into the file. OUT_OF_MEMORY only. */
wick_status wick_pte_describe(const struct wick_pte_file *file, struct wick_arena *arena, struct wick_pte_program *program, wick_error *err) WICK_MUST_CHECK;

#endif
