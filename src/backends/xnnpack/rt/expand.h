/* xnnpack/rt/expand.h - a payload on its way to nodes: what serialized values have become, and how node kinds emit.
 *
 * expand.c walks the nodes in file order; for each it calls the emitter that nodes.def names. An emitter looks its
 * inputs up, and adds one or more operators of ops.h. Everything made here lives in the bound method's arena. */
#ifndef WICK_XNNPACK_RT_EXPAND_H
#define WICK_XNNPACK_RT_EXPAND_H

#include "backends/xnnpack/fmt/payload.h"
#include "backends/xnnpack/rt/ops.h"
#include "runtime/backend.h"

enum { WICK_XNN_NO_DTYPE = -1 }; /* a lane of packed or 4-bit values: no operator reads them as tensors */

/* A value of the file, or one that an emitter makes for itself. */
struct wick_xnn_slot {
    const struct wick_xnn_value *value;                /* NULL for an emitter's own */
    uint32_t index;                                    /* in the file */
    uint32_t id;                                       /* in the execution graph; WICK_XNN_NO_ID until there is one */
    bool external, is_output, is_constant, is_dynamic; /* is_dynamic: qdint8 */
    bool defined;                                      /* a node, or the caller, gives it its content */
    struct wick_xnn_lane lane;
    /* Constants: bytes in the file, and the scales of quantized ones, one a channel (f32) or one a group (bf16). */
    const uint8_t *data;
    size_t nbytes;
    const float *channel_scales;
    const uint16_t *group_scales;
    uint32_t scale_count;
    /* qdint8: the float value it is made from, how many innermost dims share parameters, the id of those parameters. */
    const struct wick_xnn_slot *source;
    int32_t nonbatch_dims;
    uint32_t rows;
};

struct wick_xnn_interned; /* parameters and states, kept once each */
struct wick_xnn_packed;   /* weights that were packed already */

struct wick_xnn_expand {
    const struct wick_payload *payload;
    struct wick_expansion *x;
    struct wick_bind *bind;
    wick_error *err;
    const struct wick_xnn_graph *file;
    struct wick_xnn_slot *slots; /* one a value, by index in the file */
    struct wick_xnn_interned *interned;
    struct wick_xnn_packed *packed;
    uint32_t node; /* being expanded, for messages */
    const char *kind;
};

typedef wick_status (*wick_xnn_emit_fn)(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op);

/* Fails the node at hand: "node 3 (FullyConnected): ..." */
wick_status wick_xnn_refuse(struct wick_xnn_expand *e, wick_status status, const char *format, ...) WICK_PRINTF(3, 4);

/* values.c: fills e->slots from the file: types, quantization, constants, external arguments. */
wick_status wick_xnn_define_values(struct wick_xnn_expand *e) WICK_MUST_CHECK;

/* The slot of an input that must be readable as a plain tensor by now: an earlier node's result, an argument, or a
 * constant (which becomes a value of the graph here). Refuses absent, qdint8 and 4-bit values. */
wick_status wick_xnn_input(struct wick_xnn_expand *e, uint32_t index, struct wick_xnn_slot **slot) WICK_MUST_CHECK;
/* The same, for elementwise nodes: its type is one that lanes convert. */
wick_status wick_xnn_lane_input(struct wick_xnn_expand *e, uint32_t index, struct wick_xnn_slot **slot) WICK_MUST_CHECK;
/* The slot of a result: neither constant nor an input nor defined already. */
wick_status wick_xnn_output(struct wick_xnn_expand *e, uint32_t index, struct wick_xnn_slot **slot) WICK_MUST_CHECK;
/* Both store the same elements: same type, same quantization. */
wick_status wick_xnn_need_same(struct wick_xnn_expand *e, const struct wick_xnn_slot *a, const struct wick_xnn_slot *b) WICK_MUST_CHECK;
/* The graph values of a qdint8 input, quantized in rows of the innermost `nonbatch` dims: bytes (128 added) and a pair of
 * parameters a row (struct wick_qd8_params). */
wick_status wick_xnn_dynamic_input(struct wick_xnn_expand *e, uint32_t index, int32_t nonbatch, uint32_t *values, uint32_t *rows) WICK_MUST_CHECK;
/* Adds the dynamic quantization of `source` into slot `out` and out->rows. */
wick_status wick_xnn_add_quantize(struct wick_xnn_expand *e, const struct wick_xnn_slot *source, struct wick_xnn_slot *out) WICK_MUST_CHECK;

/* A constant I32 tensor of `count` numbers; equal ones share a value. */
wick_status wick_xnn_params(struct wick_xnn_expand *e, const int32_t *numbers, uint32_t count, uint32_t *id) WICK_MUST_CHECK;
/* A copy of a state; equal ones share a pointer. */
wick_status wick_xnn_state(struct wick_xnn_expand *e, const void *state, size_t bytes, const void **out) WICK_MUST_CHECK;

/* Adds a node. ids: graph ids of its inputs. outs: slots that it defines; internal ones become values with the sizes
 * that the operator's rule gives for upper bounds. */
wick_status wick_xnn_add(struct wick_xnn_expand *e, const struct wick_op *op, const uint32_t *ids, uint32_t count, struct wick_xnn_slot *const *outs,
                         uint32_t out_count, const void *state) WICK_MUST_CHECK;
/* An internal value of an emitter's own, to be defined by wick_xnn_add. */
struct wick_xnn_slot wick_xnn_internal(int dtype);
/* Upper-bound shape of a value of the graph. */
const struct wick_shape *wick_xnn_bound(const struct wick_xnn_expand *e, uint32_t id);

/* The node's bounds on its results, infinite if it has none; true if one is finite. */
bool wick_xnn_clamp_of(const struct wick_xnn_node *node, float *min, float *max);
static inline bool wick_xnn_is_quantized(const struct wick_xnn_slot *slot)
{
    return slot->lane.dtype == WICK_DTYPE_I8 || slot->lane.dtype == WICK_DTYPE_U8;
}

#define WICK_XNN_NODE(kind, emitter, op) \
    wick_status wick_xnn_emit_##emitter(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op_);
#include "backends/xnnpack/rt/nodes.def"
#undef WICK_XNN_NODE

#endif
