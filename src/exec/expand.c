/* exec/expand.c - stage 1 of binding: instructions and payloads become one list of values and nodes.
 *
 * A payload's own values are numbered behind the method's. Result: graph->values, tensors, places, nodes, for fuse.c. */
#include "exec/build.h"

#include "base/checked.h"

/* Arrays that grow while payloads add to them; copied to their final place at the end. Tensors are single objects
 * until then: values point at them. */
struct expand {
    struct wick_expansion x; /* first: handed to backends, cast back */
    struct wick_build *build;
    struct wick_value *values;
    struct wick_tensor **tensors;
    struct wick_place *places;
    struct wick_node *nodes;
    uint32_t value_count, value_capacity, tensor_count, tensor_capacity, place_capacity, node_count, node_capacity;
    uint32_t instruction, weight; /* what the next node carries */
};

/* An array with room for one more element, moved to the double size when full; NULL without memory. */
static void *grown(struct wick_arena *arena, void *array, uint32_t count, uint32_t *capacity, size_t element)
{
    if (count < *capacity) return array;
    uint32_t want = *capacity ? *capacity * 2 : 256;
    if (want < *capacity || want > INT32_MAX) return NULL;
    void *moved = wick_arena_array(arena, want, element, 16);
    if (!moved) return NULL;
    if (count) memcpy(moved, array, (size_t)count * element);
    *capacity = want;
    return moved;
}

static wick_status add_tensor(struct expand *e, const struct wick_tensor *tensor, const struct wick_place *place, struct wick_tensor **out)
{
    struct wick_arena *temp = e->build->temp;
    struct wick_tensor **tensors = grown(temp, e->tensors, e->tensor_count, &e->tensor_capacity, sizeof *tensors);
    if (tensors) e->tensors = tensors;
    struct wick_place *places = grown(temp, e->places, e->tensor_count, &e->place_capacity, sizeof *places);
    if (places) e->places = places;
    struct wick_tensor *copy = WICK_NEW(temp, struct wick_tensor);
    if (!tensors || !places || !copy) return wick_fail_oom(e->build->err, sizeof *copy, "values of the execution graph");
    *copy = *tensor;
    tensors[e->tensor_count] = copy;
    places[e->tensor_count++] = *place;
    *out = copy;
    return WICK_OK;
}

static wick_status push_value(struct expand *e, const struct wick_value *value, uint32_t *id)
{
    struct wick_value *values = grown(e->build->temp, e->values, e->value_count, &e->value_capacity, sizeof *values);
    if (!values) return wick_fail_oom(e->build->err, sizeof *values, "values of the execution graph");
    e->values = values;
    values[e->value_count] = *value;
    *id = e->value_count++;
    return WICK_OK;
}

static wick_status add_value(struct wick_expansion *x, const struct wick_shape *bound, const void *data, uint32_t *id)
{
    struct expand *e = (struct expand *)x;
    uint64_t nbytes = 0;
    if (!wick_shape_valid(bound, &nbytes) || nbytes > SIZE_MAX)
        return wick_fail(e->build->err, WICK_DELEGATE_INCOMPATIBLE, "value %u of a payload: sizes out of range", e->value_count);
    struct wick_tensor tensor = {
        .shape = *bound, .dynamism = data ? WICK_STATIC : WICK_DYNAMIC_BOUND, .constant = data != NULL, .capacity = (size_t)nbytes};
    memcpy(&tensor.data, &data, sizeof data); /* never written: constant */
    wick_shape_strides(bound, tensor.strides);
    struct wick_place place = {.kind = data ? WICK_PLACE_CONSTANT : WICK_PLACE_SCRATCH, .initial = data};
    struct wick_value value = {.tag = WICK_TAG_TENSOR};
    WICK_TRY(add_tensor(e, &tensor, &place, &value.as.tensor));
    return push_value(e, &value, id);
}

static wick_status push_node(struct expand *e, const struct wick_node *node)
{
    struct wick_node *nodes = grown(e->build->temp, e->nodes, e->node_count, &e->node_capacity, sizeof *nodes);
    if (!nodes) return wick_fail_oom(e->build->err, sizeof *nodes, "nodes of the execution graph");
    e->nodes = nodes;
    nodes[e->node_count] = *node;
    nodes[e->node_count].instruction = e->instruction;
    nodes[e->node_count].weight = e->weight;
    e->weight = 0;
    e->node_count++;
    return WICK_OK;
}

static wick_status push_call(struct expand *e, const struct wick_op *op, const uint32_t *ids, uint32_t count, const void *state)
{
    struct wick_args args = {e->values, ids, count};
    WICK_TRY(wick_args_check(&args, op->meta, e->build->err));
    uint32_t used = wick_signature_inputs(op->meta->signature) + wick_signature_outs(op->meta->signature);
    struct wick_node node = {.kind = WICK_NODE_CALL, .op = op, .ids = ids, .count = used, .state = state, .view = op->meta->alias == WICK_ALIAS_VIEW};
    return push_node(e, &node);
}

static wick_status add_node(struct wick_expansion *x, const struct wick_op *op, const uint32_t *ids, uint32_t count, void *state)
{
    struct expand *e = (struct expand *)x;
    for (uint32_t k = 0; k < count; k++)
        if (ids[k] >= e->value_count)
            return wick_fail(e->build->err, WICK_DELEGATE_INCOMPATIBLE, "operator %s: argument %u names value %u of %u", op->meta->name, k, ids[k],
                             e->value_count);
    uint32_t *copy = WICK_NEW_ARRAY(e->build->arena, uint32_t, count);
    if (!copy) return wick_fail_oom(e->build->err, count * sizeof *copy, "nodes of the execution graph");
    if (count) memcpy(copy, ids, count * sizeof *copy);
    return push_call(e, op, copy, count, state);
}

static struct wick_value *value_at(struct wick_expansion *x, uint32_t id) { return &((struct expand *)x)->values[id]; }

/* The method's values with private tensor objects. What a move replaces is not constant to anyone who prepares. */
static wick_status copy_method_values(struct expand *e)
{
    const struct wick_method *method = e->build->method;
    for (uint32_t i = 0; i < method->tensor_count; i++) {
        const struct wick_origin *origin = &method->origins[i];
        static const uint8_t kinds[] = {
            [WICK_STORAGE_NONE] = WICK_PLACE_NONE, [WICK_STORAGE_CONSTANT] = WICK_PLACE_CONSTANT, [WICK_STORAGE_PLANNED] = WICK_PLACE_PLANNED};
        struct wick_place place = {.kind = kinds[origin->storage], .buffer = origin->buffer, .offset = origin->offset, .initial = origin->initial};
        struct wick_tensor *copy;
        WICK_TRY(add_tensor(e, &method->tensors[i], &place, &copy));
    }
    for (uint32_t i = 0; i < method->value_count; i++) {
        struct wick_value value = method->values[i];
        uint32_t id;
        if (value.tag == WICK_TAG_TENSOR) {
            uint32_t index = wick_method_tensor_index(method, i);
            value.as.tensor = e->tensors[index];
            if (e->build->moved[i]) {
                value.as.tensor->data = NULL;
                value.as.tensor->constant = false;
            }
        }
        WICK_TRY(push_value(e, &value, &id));
    }
    for (uint32_t i = 0; i < method->input_count; i++)
        if (method->values[method->inputs[i]].tag == WICK_TAG_TENSOR) e->places[wick_method_tensor_index(method, method->inputs[i])].input = true;
    return WICK_OK;
}

static wick_status payload_named_data(void *user, struct wick_str key, const uint8_t **data, size_t *size, wick_error *err)
{
    return wick_program_named_data(user, key, data, size, err);
}

static void payload_named_data_done(void *user, const uint8_t *data, size_t size) { wick_program_release(user, data, size); }

static wick_status find_backend(const struct wick_backend_table *table, struct wick_str id, const struct wick_backend **out, wick_error *err)
{
    char present[256] = "none";
    size_t used = 0;
    for (size_t i = 0; table && i < table->count; i++) {
        const struct wick_backend *backend = table->backends[i];
        if (wick_str_is(id, backend->id) && backend->abi == WICK_BACKEND_ABI) {
            *out = backend;
            return WICK_OK;
        }
        size_t length = strlen(backend->id);
        if (used + length + 3 > sizeof present) continue;
        if (used) present[used++] = ',', present[used++] = ' ';
        memcpy(present + used, backend->id, length + 1);
        used += length;
    }
    return wick_fail(err, WICK_NOT_FOUND, "backend %.*s is not in this build (present: %s)", (int)WICK_MIN(id.size, 64), id.data, present);
}

static wick_status open_opaque(struct expand *e, const struct wick_backend *backend, const struct wick_payload *payload,
                               const struct wick_instruction *in)
{
    struct wick_build *build = e->build;
    struct wick_opaque *opaque = WICK_NEW(build->arena, struct wick_opaque);
    if (!opaque) return wick_fail_oom(build->err, sizeof *opaque, backend->id);
    *opaque = (struct wick_opaque){.backend = backend};
    if (backend->init) WICK_TRY(backend->init(payload, &build->bind, &opaque->handle));
    opaque->next = build->graph->opaques;
    build->graph->opaques = opaque;
    struct wick_node node = {.kind = WICK_NODE_OPAQUE, .ids = in->ids, .count = in->count, .opaque = opaque};
    return push_node(e, &node);
}

static wick_status expand_delegate(struct expand *e, const struct wick_instruction *in)
{
    struct wick_build *build = e->build;
    const struct wick_delegate *delegate = &build->method->delegates[in->delegate];
    const struct wick_backend *backend = NULL;
    WICK_TRY(find_backend(build->options->backends, delegate->backend, &backend, build->err));
    struct wick_program *program;
    memcpy(&program, &build->method->program, sizeof program); /* comes back to us as a const pointer */
    struct wick_payload payload = {
        .data = delegate->data,
        .size = delegate->size,
        .specs = delegate->specs,
        .spec_count = delegate->spec_count,
        .args = {e->values, in->ids, in->count},
        .named_data = payload_named_data,
        .named_data_done = payload_named_data_done,
        .user = program,
    };
    wick_status status = backend->expand ? backend->expand(&payload, &e->x, build->err) : open_opaque(e, backend, &payload, in);
    return status == WICK_OK ? WICK_OK
                             : wick_fail_in(build->err, status, "instruction %u, delegate %u (%s)", e->instruction, in->delegate, backend->id);
}

static wick_status expand_instruction(struct expand *e, const struct wick_instruction *in)
{
    struct wick_node node = {.ids = in->ids, .count = in->count, .target = in->target};
    switch (in->kind) {
    case WICK_INSTRUCTION_CALL: return push_call(e, in->op, in->ids, in->count, NULL);
    case WICK_INSTRUCTION_DELEGATE: return expand_delegate(e, in);
    case WICK_INSTRUCTION_MOVE: node.kind = WICK_NODE_MOVE; break;
    case WICK_INSTRUCTION_JUMP_FALSE: node.kind = WICK_NODE_JUMP_FALSE; break;
    default: node.kind = WICK_NODE_FREE; break;
    }
    return push_node(e, &node);
}

/* Moves everything to its final place: one array of tensors that values point into. */
static wick_status settle_arrays(struct expand *e, const uint32_t *first_node)
{
    struct wick_exec_graph *graph = e->build->graph;
    struct wick_arena *arena = e->build->arena;
    graph->values = WICK_NEW_ARRAY(arena, struct wick_value, e->value_count);
    graph->tensors = WICK_NEW_ARRAY(arena, struct wick_tensor, e->tensor_count);
    graph->places = WICK_NEW_ARRAY(arena, struct wick_place, e->tensor_count);
    graph->nodes = WICK_NEW_ARRAY(arena, struct wick_node, e->node_count);
    if (!graph->values || !graph->tensors || !graph->places || !graph->nodes)
        return wick_fail_oom(e->build->err, e->node_count * sizeof *graph->nodes, "execution graph");
    /* Objects are found by address: each temporary one keeps its new index where its capacity was. */
    for (uint32_t i = 0; i < e->tensor_count; i++) {
        graph->tensors[i] = *e->tensors[i];
        graph->places[i] = e->places[i];
        e->tensors[i]->capacity = i;
    }
    for (uint32_t i = 0; i < e->value_count; i++) {
        graph->values[i] = e->values[i];
        if (e->values[i].tag == WICK_TAG_TENSOR) graph->values[i].as.tensor = &graph->tensors[e->values[i].as.tensor->capacity];
    }
    if (e->node_count) memcpy(graph->nodes, e->nodes, e->node_count * sizeof *graph->nodes);
    for (uint32_t i = 0; i < e->node_count; i++)
        if (graph->nodes[i].kind == WICK_NODE_JUMP_FALSE) graph->nodes[i].target = first_node[graph->nodes[i].target];
    graph->value_count = e->value_count;
    graph->tensor_count = e->tensor_count;
    graph->node_count = e->node_count;
    return WICK_OK;
}

wick_status wick_build_expand(struct wick_build *build)
{
    const struct wick_method *method = build->method;
    struct expand e = {.x = {add_value, add_node, value_at, &build->bind}, .build = build};
    uint32_t *first_node = WICK_NEW_ARRAY(build->temp, uint32_t, (size_t)method->instruction_count + 1);
    if (!first_node) return wick_fail_oom(build->err, method->instruction_count * sizeof *first_node, "binding");
    WICK_TRY(copy_method_values(&e));
    for (uint32_t i = 0; i < method->instruction_count; i++) {
        first_node[i] = e.node_count;
        e.instruction = i;
        e.weight++;
        WICK_TRY(expand_instruction(&e, &method->instructions[i]));
    }
    first_node[method->instruction_count] = e.node_count;
    return settle_arrays(&e, first_node);
}
