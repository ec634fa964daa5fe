/* backends/xnnpack/fmt/payload.h - an XNNPACK payload as plain structs: what parsing gives and what writing takes. */
#ifndef WICK_BACKENDS_XNNPACK_FMT_PAYLOAD_H
#define WICK_BACKENDS_XNNPACK_FMT_PAYLOAD_H

#include "backends/xnnpack/fmt/schema.h"
#include "base/arena.h"
#include "base/str.h"

enum {
    WICK_XNN_RANK_MAX = 6,
    WICK_XNN_EXTERNS_MAX = 4096,
    WICK_XNN_SLOTS_MAX = XNN_CONV_FIELD_COUNT,
    WICK_XNN_HEADER_BYTES = 32, /* as written; 30 are read */
    WICK_XNN_VALUE_INPUT = 1,   /* wick_xnn_value.flags */
    WICK_XNN_VALUE_OUTPUT = 2
};

#define WICK_XNN_NO_ID UINT32_MAX /* an absent value (bias), an internal value's external_id */

/* A list of up to one entry a dim. */
struct wick_xnn_dims {
    uint32_t count;
    uint32_t items[WICK_XNN_RANK_MAX];
};

/* Quantization parameters; kind is XNN_QUANT_* (XNN_QUANT_NONE: none). */
struct wick_xnn_quant {
    uint8_t kind;
    float scale;              /* PER_TENSOR */
    int32_t zero_point;       /* PER_TENSOR */
    int32_t num_nonbatch_dims; /* PER_TOKEN */
    int32_t channel_dim;      /* PER_CHANNEL, PER_GROUP */
    int32_t group_size;       /* PER_GROUP */
    uint32_t scale_constant;  /* PER_CHANNEL (f32), PER_GROUP (bf16): index into constants, 0: inline */
    uint32_t scale_count;     /* entries in that constant, or inline */
    const void *scales;       /* inline ones: f32, or bf16 if scales_bf16; may be unaligned; NULL if there are none */
    bool scales_bf16;
};

struct wick_xnn_value {
    uint32_t id;         /* serialized; unique in a graph, not WICK_XNN_NO_ID */
    int16_t datatype;    /* XNN_DATATYPE_* */
    int16_t dq_datatype; /* of files of before 2024: the value is quantized dynamically when consumed; else XNN_DATATYPE_INVALID */
    struct wick_xnn_dims dims; /* upper bounds; hints only for internal values */
    uint32_t constant;   /* index into constants, 0: not constant */
    uint32_t external_id; /* index into the call's args, WICK_XNN_NO_ID: internal */
    uint32_t flags;      /* WICK_XNN_VALUE_* */
    struct wick_xnn_quant quant;
};

/* slots[i] is field i of the node's table (XNN_FULLY_CONNECTED_FILTER_ID ..): the number, the bits of a float
 * (wick_xnn_slot_f32), or for a vector the index into lists. Fields named *_id hold the INDEX of a value in `values`
 * after parsing and before writing (WICK_XNN_NO_ID: absent). */
struct wick_xnn_node {
    uint8_t kind; /* XNN_NODE_* */
    bool clamped; /* output_min_max is given; else [-inf, +inf] */
    float output_min, output_max;
    uint32_t debug_handle;
    uint32_t slots[WICK_XNN_SLOTS_MAX];
    struct wick_xnn_dims lists[2];
};

/* Bytes of a constant: in named data under `key` (data NULL), or inline at data (key.data NULL). Entry 0 is reserved. */
struct wick_xnn_constant {
    struct wick_str key;
    const uint8_t *data; /* inline: aligned as the writer left it (the original: 16) */
    uint64_t size;       /* of a named one as the file says, which may be wrong: only the blob's own size counts */
};

struct wick_xnn_graph {
    struct wick_xnn_value *values;
    struct wick_xnn_node *nodes; /* in the file's order, which is topological in the original's files */
    struct wick_xnn_constant *constants;
    uint32_t value_count, node_count, constant_count, extern_count;
};

/* Parses and judges a payload: header or bare FlatBuffer, structure, indices. Arrays come from `arena`, strings and inline data
 * point into the payload, which must outlive the graph. What holds afterwards: ids of nodes are indices of values or
 * WICK_XNN_NO_ID, outputs never the latter; constants are in range and inline ones inside the payload; external ids are below
 * extern_count; flags are 0, INPUT or OUTPUT; ranks are at most 6; datatypes and node kinds are known ones. Sizes of constants
 * against dims, quantization parameters and shapes are the consumer's to judge.
 * Errors: INVALID_ARGUMENT (too short), DELEGATE_INCOMPATIBLE (identifier, structure), INVALID_PROGRAM (meaning), OUT_OF_MEMORY. */
wick_status wick_xnn_payload_parse(const void *data, size_t size, struct wick_arena *arena, struct wick_xnn_graph **graph, wick_error *err) WICK_MUST_CHECK;

/* Appends a payload to out: header, FlatBuffer (XN01), inline constants if there are any. Values get their index as id. The
 * number of bytes does not depend on the content of keys, only on their lengths. */
wick_status wick_xnn_payload_write(const struct wick_xnn_graph *graph, struct wick_buf *out, wick_error *err) WICK_MUST_CHECK;

/* Appends the payload as JSON: {"header": {...}, "graph": {...}}, every field. For wick_payload_printer (devtools). */
wick_status wick_xnn_payload_print_json(const void *data, size_t size, struct wick_buf *out, wick_error *err) WICK_MUST_CHECK;

/* The table of a node kind: names and kinds of its slots. */
const struct wick_flat_table *wick_xnn_node_table(uint8_t kind);
/* "Add", "FullyConnected"; "?" for a kind that is none. */
const char *wick_xnn_node_name(uint8_t kind);
/* "fp32"; "?" for a datatype that is none. */
const char *wick_xnn_datatype_name(int datatype);
/* True if slot `slot` of a table holds a value id; outputs are those named output*_id. */
bool wick_xnn_slot_is_id(const struct wick_flat_table *table, uint32_t slot);
bool wick_xnn_slot_is_output(const struct wick_flat_table *table, uint32_t slot);

static inline float wick_xnn_slot_f32(const struct wick_xnn_node *node, uint32_t slot)
{
    float value;
    memcpy(&value, &node->slots[slot], sizeof value);
    return value;
}

static inline void wick_xnn_slot_set_f32(struct wick_xnn_node *node, uint32_t slot, float value) { memcpy(&node->slots[slot], &value, sizeof value); }

/* The list of a vector slot. */
static inline const struct wick_xnn_dims *wick_xnn_slot_list(const struct wick_xnn_node *node, uint32_t slot) { return &node->lists[node->slots[slot]]; }

#endif
