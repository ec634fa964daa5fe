/* exec/run.c - the scheduler: one pass over the node list, nothing looked up, nothing allocated. */
#include "exec/timeline.h"

/* Instructions of one run, as in the original: a loop that never ends is an error. */
enum { INSTRUCTION_LIMIT = 10000000 };

/* Tensors that only the run provides must have come with bytes. */
static wick_status check_bare(const struct wick_instance *it, const struct wick_node *node, wick_error *err)
{
    for (uint32_t i = 0; i < node->bare_count; i++) {
        const struct wick_tensor *tensor = it->values[node->bare[i]].as.tensor;
        if (!tensor->data && wick_tensor_nbytes(tensor) != 0) return wick_fail(err, WICK_INVALID_STATE, "value %u has no data yet", node->bare[i]);
    }
    return WICK_OK;
}

/* Gives the outs the sizes that follow from the arguments. A view's out takes its room from its source afterwards. */
static wick_status resize_outs(struct wick_instance *it, const struct wick_node *node, const struct wick_args *args, wick_error *err)
{
    for (uint32_t k = 0; k < node->write_count; k++) {
        struct wick_tensor *tensor = it->values[node->writes[k]].as.tensor;
        if (node->view) tensor->capacity = it->graph->tensors[tensor - it->tensors].capacity;
        else if (tensor->constant) return wick_fail(err, WICK_INVALID_PROGRAM, "writes value %u, which is constant", node->writes[k]);
    }
    if (!node->op->meta->infer) return WICK_OK;
    WICK_TRY(node->op->meta->infer(args, it->shapes, err));
    for (uint32_t k = 0; k < node->out_count; k++) {
        wick_status status = wick_tensor_resize(it->values[node->writes[k]].as.tensor, it->shapes[k].sizes, it->shapes[k].rank, err);
        if (status != WICK_OK) return wick_fail_in(err, status, "result %u", k);
    }
    return WICK_OK;
}

/* A view of constant bytes is as constant as they are, and never larger. */
static wick_status finish_view(struct wick_instance *it, const struct wick_node *node, wick_error *err)
{
    const struct wick_tensor *source = it->values[node->ids[0]].as.tensor;
    for (uint32_t k = 0; k < node->out_count; k++) {
        struct wick_tensor *view = it->values[node->writes[k]].as.tensor;
        view->constant = source->constant;
        view->capacity = source->capacity;
        if (wick_tensor_nbytes(view) > source->capacity) return wick_fail(err, WICK_INVALID_PROGRAM, "a view is larger than its source");
    }
    return WICK_OK;
}

static wick_status run_call(struct wick_instance *it, const struct wick_node *node, wick_error *err)
{
    struct wick_args args = {it->values, node->ids, node->count};
    if (!node->settled) WICK_TRY(resize_outs(it, node, &args, err));
    if (node->bare_count) WICK_TRY(check_bare(it, node, err));
    wick_status status = node->op->run(&args, node->state, &it->run);
    if (it->run.temp->used) wick_arena_reset(it->run.temp);
    return status == WICK_OK && node->view ? finish_view(it, node, err) : status;
}

static wick_status run_opaque(struct wick_instance *it, const struct wick_node *node, wick_error *err)
{
    struct wick_args args = {it->values, node->ids, node->count};
    WICK_TRY(check_bare(it, node, err));
    wick_status status = node->opaque->backend->execute(node->opaque->handle, &args, &it->run);
    if (it->run.temp->used) wick_arena_reset(it->run.temp);
    return status;
}

/* A tensor is true when all its elements are; an empty one is true. */
static wick_status read_condition(const struct wick_value *value, bool *out, wick_error *err)
{
    if (value->tag == WICK_TAG_BOOL) {
        *out = value->as.b;
        return WICK_OK;
    }
    const struct wick_tensor *tensor = value->as.tensor;
    const uint8_t *data = tensor->data;
    size_t numel = wick_tensor_numel(tensor);
    if (tensor->shape.dtype != WICK_DTYPE_BOOL)
        return wick_fail(err, WICK_INVALID_PROGRAM, "the condition is a %s tensor, not bool", wick_dtype_word(tensor->shape.dtype));
    if (!data && numel) return wick_fail(err, WICK_INVALID_STATE, "the condition has no data");
    *out = true;
    for (size_t i = 0; i < numel && *out; i++) *out = data[i] != 0;
    return WICK_OK;
}

/* Runs node *at and moves *at to the next. */
static wick_status step(struct wick_instance *it, uint32_t *at, wick_error *err)
{
    const struct wick_node *node = &it->graph->nodes[*at];
    bool condition = true;
    ++*at;
    switch (node->kind) {
    case WICK_NODE_CALL: return run_call(it, node, err);
    case WICK_NODE_OPAQUE: return run_opaque(it, node, err);
    case WICK_NODE_MOVE: it->values[node->ids[1]] = it->values[node->ids[0]]; return WICK_OK;
    case WICK_NODE_FREE: it->values[node->ids[0]].as.tensor->data = NULL; return WICK_OK;
    default:
        WICK_TRY(read_condition(&it->values[node->ids[0]], &condition, err));
        if (!condition) *at = node->target;
        return WICK_OK;
    }
}

static wick_status run_nodes(struct wick_instance *it, const struct wick_tracer *tracer, wick_error *err)
{
    const struct wick_exec_graph *graph = it->graph;
    uint32_t instructions = 0;
    for (uint32_t at = 0; at < graph->node_count;) {
        uint32_t current = at;
        const struct wick_node *node = &graph->nodes[current];
        if (atomic_load_explicit(&it->cancelled, memory_order_relaxed)) {
            atomic_store(&it->cancelled, false);
            return wick_fail(err, WICK_CANCELLED, "cancelled before node %u", current);
        }
        instructions += node->weight;
        if (instructions > INSTRUCTION_LIMIT)
            return wick_fail(err, WICK_INVALID_PROGRAM, "more than %d instructions in one run: the program does not end", INSTRUCTION_LIMIT);
        if (tracer) tracer->begin(tracer->user, it, current);
        wick_status status = step(it, &at, err);
        if (tracer) tracer->end(tracer->user, it, current, status);
        if (status != WICK_OK) return wick_fail_in(err, status, "node %u (instruction %u, %s)", current, node->instruction, wick_node_name(node));
    }
    return WICK_OK;
}

static wick_status check_inputs(const struct wick_instance *it, wick_error *err)
{
    for (uint32_t i = 0; it->missing && i < it->graph->method->input_count; i++)
        if (!it->inputs[i].set) return wick_fail(err, WICK_INVALID_STATE, "input %u has not been set", i);
    return WICK_OK;
}

wick_status wick_instance_run(struct wick_instance *it, const struct wick_tracer *tracer, wick_error *err)
{
    const struct wick_method *method = it->graph->method;
    wick_error own;
    if (!err) err = &own;
    *err = (wick_error){0};
    it->run.err = err;
    wick_timeline_restore_moving(it);
    wick_status status = check_inputs(it, err);
    if (status == WICK_OK) status = run_nodes(it, tracer, err);
    it->run.err = NULL;
    if (status == WICK_OK) return WICK_OK;
    return wick_fail_in(err, status, "method %.*s", (int)method->name.size, method->name.data);
}
