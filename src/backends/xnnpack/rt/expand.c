/* xnnpack/rt/expand.c - a payload becomes nodes of the execution graph: the backend's expand().
 *
 * parse (fmt) -> values (values.c) -> every node in file order through its emitter -> wick_expansion. Sizes inside the
 * file are hints that can be wrong: upper bounds follow from the arguments by the operators' own shape rules. */
#include "backends/xnnpack/rt/expand.h"

#include "backends/xnnpack/rt/backend.h"
#include "backends/xnnpack/rt/linear.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum { ARGS_MAX = 16 }; /* of one node: five inputs, parameters, two outs leave room */

/* Parameters and states that are compared by their bytes. */
struct wick_xnn_interned {
    struct wick_xnn_interned *next;
    uint32_t id; /* of a parameter tensor; WICK_XNN_NO_ID for a state */
    size_t bytes;
    const void *data;
};

wick_status wick_xnn_refuse(struct wick_xnn_expand *e, wick_status status, const char *format, ...)
{
    char why[384];
    va_list list;
    va_start(list, format);
    vsnprintf(why, sizeof why, format, list);
    va_end(list);
    return wick_fail(e->err, status, "node %u (%s): %s", e->node, e->kind, why);
}

/* ---- inputs and results ---- */

/* A constant becomes a value of the graph when a node first reads it as a tensor. Kernels load whole elements: bytes
 * that the file put at an odd place are copied. */
static wick_status define_constant(struct wick_xnn_expand *e, struct wick_xnn_slot *slot)
{
    const struct wick_xnn_dims *dims = &slot->value->dims;
    int32_t sizes[WICK_XNN_RANK_MAX] = {0};
    for (uint32_t i = 0; i < dims->count; i++) sizes[i] = (int32_t)dims->items[i];
    struct wick_shape shape = wick_shape_make(slot->lane.dtype, (int)dims->count, sizes);
    const void *data = slot->data;
    if ((uintptr_t)data % wick_dtype_size(slot->lane.dtype) != 0 || !data) {
        void *copy = wick_arena_alloc(e->bind->arena, slot->nbytes, 64);
        if (!copy) return wick_fail_oom(e->err, slot->nbytes, "constant of an XNNPACK payload");
        if (slot->nbytes) memcpy(copy, data, slot->nbytes);
        data = copy;
    }
    return e->x->add_value(e->x, &shape, data, &slot->id);
}

wick_status wick_xnn_input(struct wick_xnn_expand *e, uint32_t index, struct wick_xnn_slot **out)
{
    if (index == WICK_XNN_NO_ID) return wick_xnn_refuse(e, WICK_INVALID_PROGRAM, "an input is missing");
    struct wick_xnn_slot *slot = *out = &e->slots[index];
    if (slot->is_dynamic || !wick_dtype_size(slot->lane.dtype))
        return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "value %u has a type that this input cannot take: %s", slot->value->id,
                               wick_xnn_datatype_name(slot->value->datatype));
    if (!slot->defined) return wick_xnn_refuse(e, WICK_INVALID_PROGRAM, "value %u is read before anything defines it", slot->value->id);
    return slot->id == WICK_XNN_NO_ID ? define_constant(e, slot) : WICK_OK;
}

wick_status wick_xnn_lane_input(struct wick_xnn_expand *e, uint32_t index, struct wick_xnn_slot **slot)
{
    WICK_TRY(wick_xnn_input(e, index, slot));
    if (wick_xnn_lane_known((*slot)->lane.dtype)) return WICK_OK;
    return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "value %u has a type that this node does not compute with: %s", (*slot)->value->id,
                           wick_xnn_datatype_name((*slot)->value->datatype));
}

wick_status wick_xnn_output(struct wick_xnn_expand *e, uint32_t index, struct wick_xnn_slot **out)
{
    if (index == WICK_XNN_NO_ID) return wick_xnn_refuse(e, WICK_INVALID_PROGRAM, "a result is missing");
    struct wick_xnn_slot *slot = *out = &e->slots[index];
    if (slot->defined) return wick_xnn_refuse(e, WICK_INVALID_PROGRAM, "result %u is an input, a constant or another node's result", slot->value->id);
    if (!wick_dtype_size(slot->lane.dtype))
        return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "result %u has a type that no node makes: %s", slot->value->id,
                               wick_xnn_datatype_name(slot->value->datatype));
    return WICK_OK;
}

wick_status wick_xnn_need_same(struct wick_xnn_expand *e, const struct wick_xnn_slot *a, const struct wick_xnn_slot *b)
{
    if (memcmp(&a->lane, &b->lane, sizeof a->lane) == 0 && !a->is_dynamic && !b->is_dynamic) return WICK_OK;
    return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "values %u (%s) and %u (%s) differ in type or quantization", a->value->id,
                           wick_xnn_datatype_name(a->value->datatype), b->value->id, wick_xnn_datatype_name(b->value->datatype));
}

struct wick_xnn_slot wick_xnn_internal(int dtype)
{
    return (struct wick_xnn_slot){.index = WICK_XNN_NO_ID, .id = WICK_XNN_NO_ID, .rows = WICK_XNN_NO_ID, .lane = wick_xnn_lane_of(dtype)};
}

const struct wick_shape *wick_xnn_bound(const struct wick_xnn_expand *e, uint32_t id) { return &e->x->value(e->x, id)->as.tensor->shape; }

bool wick_xnn_clamp_of(const struct wick_xnn_node *node, float *min, float *max)
{
    *min = node->clamped ? node->output_min : -INFINITY;
    *max = node->clamped ? node->output_max : INFINITY;
    return *min != -INFINITY || *max != INFINITY;
}

/* ---- parameters and states ---- */

static const struct wick_xnn_interned *find_interned(const struct wick_xnn_expand *e, const void *data, size_t bytes, bool is_state)
{
    for (const struct wick_xnn_interned *i = e->interned; i; i = i->next)
        if (i->bytes == bytes && (i->id == WICK_XNN_NO_ID) == is_state && memcmp(i->data, data, bytes) == 0) return i;
    return NULL;
}

static wick_status intern(struct wick_xnn_expand *e, const void *data, size_t bytes, struct wick_xnn_interned **out)
{
    struct wick_xnn_interned *i = WICK_NEW(e->bind->arena, struct wick_xnn_interned);
    void *copy = wick_arena_alloc(e->bind->arena, bytes, 16);
    if (!i || !copy) return wick_fail_oom(e->err, bytes, "state of an XNNPACK node");
    memcpy(copy, data, bytes);
    *i = (struct wick_xnn_interned){e->interned, WICK_XNN_NO_ID, bytes, copy};
    e->interned = i;
    *out = i;
    return WICK_OK;
}

wick_status wick_xnn_params(struct wick_xnn_expand *e, const int32_t *numbers, uint32_t count, uint32_t *id)
{
    const struct wick_xnn_interned *known = find_interned(e, numbers, count * sizeof *numbers, false);
    if (known) {
        *id = known->id;
        return WICK_OK;
    }
    struct wick_xnn_interned *i;
    WICK_TRY(intern(e, numbers, count * sizeof *numbers, &i));
    struct wick_shape shape = wick_shape_make(WICK_DTYPE_I32, 1, &(int32_t){(int32_t)count});
    WICK_TRY(e->x->add_value(e->x, &shape, i->data, &i->id));
    *id = i->id;
    return WICK_OK;
}

wick_status wick_xnn_state(struct wick_xnn_expand *e, const void *state, size_t bytes, const void **out)
{
    const struct wick_xnn_interned *known = find_interned(e, state, bytes, true);
    if (!known) {
        struct wick_xnn_interned *i;
        WICK_TRY(intern(e, state, bytes, &i));
        known = i;
    }
    *out = known->data;
    return WICK_OK;
}

/* ---- adding a node ---- */

/* Runs the operator's shape rule on upper bounds. Outs that do not exist yet are stood in for by empty tensors. */
static wick_status infer_bounds(struct wick_xnn_expand *e, const struct wick_op *op, const uint32_t *ids, uint32_t count,
                                struct wick_xnn_slot *const *outs, uint32_t out_count, struct wick_shape *shapes)
{
    struct wick_value values[ARGS_MAX];
    struct wick_tensor stand_in[ARGS_MAX];
    uint32_t local[ARGS_MAX];
    for (uint32_t k = 0; k < count + out_count; k++) {
        const struct wick_xnn_slot *out = k < count ? NULL : outs[k - count];
        uint32_t id = out ? out->id : ids[k];
        local[k] = k;
        if (id != WICK_XNN_NO_ID) {
            values[k] = *e->x->value(e->x, id);
            continue;
        }
        stand_in[k] = (struct wick_tensor){.shape = wick_shape_make(out->lane.dtype, 0, NULL)};
        values[k] = (struct wick_value){.tag = WICK_TAG_TENSOR, .as.tensor = &stand_in[k]};
    }
    struct wick_args args = {values, local, count + out_count};
    wick_status status = op->meta->infer(&args, shapes, e->err);
    return status == WICK_OK ? WICK_OK : wick_fail_in(e->err, status, "node %u (%s)", e->node, e->kind);
}

wick_status wick_xnn_add(struct wick_xnn_expand *e, const struct wick_op *op, const uint32_t *ids, uint32_t count, struct wick_xnn_slot *const *outs,
                         uint32_t out_count, const void *state)
{
    uint32_t all[ARGS_MAX];
    struct wick_shape shapes[2];
    WICK_TRY(infer_bounds(e, op, ids, count, outs, out_count, shapes));
    memcpy(all, ids, count * sizeof *ids);
    for (uint32_t k = 0; k < out_count; k++) {
        uint64_t nbytes;
        if (!wick_shape_valid(&shapes[k], &nbytes) || shapes[k].rank > WICK_XNN_RANK_MAX)
            return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "result %u would be too large or of rank above %d", k, WICK_XNN_RANK_MAX);
        if (outs[k]->id == WICK_XNN_NO_ID) WICK_TRY(e->x->add_value(e->x, &shapes[k], NULL, &outs[k]->id));
        else if (e->x->value(e->x, outs[k]->id)->as.tensor->shape.rank != shapes[k].rank)
            return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "result %u has rank %d, the program expects %d", k, shapes[k].rank,
                                   e->x->value(e->x, outs[k]->id)->as.tensor->shape.rank);
        outs[k]->defined = true;
        all[count + k] = outs[k]->id;
    }
    void *shared;
    memcpy(&shared, &state, sizeof shared); /* the contract hands states over as void *; nobody writes to them */
    return e->x->add_node(e->x, op, all, count + out_count, shared);
}

/* ---- the walk ---- */

struct kind {
    wick_xnn_emit_fn emit;
    const struct wick_op *op;
};

static const struct kind kinds[XNN_NODE_COUNT] = {
#define WICK_XNN_NODE(kind, emitter, op) [XNN_NODE_##kind] = {wick_xnn_emit_##emitter, &wick_xnn_op_##op},
#include "backends/xnnpack/rt/nodes.def"
#undef WICK_XNN_NODE
};

static wick_status expand_nodes(struct wick_xnn_expand *e)
{
    for (uint32_t i = 0; i < e->file->node_count; i++) {
        const struct wick_xnn_node *node = &e->file->nodes[i];
        e->node = i;
        e->kind = wick_xnn_node_name(node->kind);
        if (node->kind >= XNN_NODE_COUNT || !kinds[node->kind].emit)
            return wick_xnn_refuse(e, WICK_NOT_IMPLEMENTED, "node kind %u is not known", node->kind);
        WICK_TRY(kinds[node->kind].emit(e, node, kinds[node->kind].op));
    }
    for (uint32_t i = 0; i < e->file->value_count; i++)
        if (e->slots[i].is_output && !e->slots[i].defined)
            return wick_fail(e->err, WICK_INVALID_PROGRAM, "value %u is an output that no node defines", e->slots[i].value->id);
    return WICK_OK;
}

static wick_status expand(const struct wick_payload *payload, struct wick_expansion *x, wick_error *err)
{
    struct wick_xnn_graph *file = NULL;
    WICK_TRY(wick_xnn_payload_parse(payload->data, payload->size, x->bind->arena, &file, err));
    struct wick_xnn_expand e = {.payload = payload, .x = x, .bind = x->bind, .err = err, .file = file, .kind = "values"};
    WICK_TRY(wick_xnn_define_values(&e));
    return expand_nodes(&e);
}

const struct wick_backend wick_backend_xnnpack = {.abi = WICK_BACKEND_ABI, .id = "XnnpackBackend", .expand = expand};
