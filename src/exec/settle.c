/* exec/settle.c - stage 3 of binding: what each node writes, the upper-bound shapes of payload values, which nodes can
 * never change shape, and the operators' prepared states. Memory comes next, in memory.c. */
#include "exec/build.h"

static bool is_scratch(const struct wick_exec_graph *graph, uint32_t value)
{
    return graph->places[wick_exec_graph_tensor_index(graph, value)].kind == WICK_PLACE_SCRATCH;
}

/* ---- what a node writes ---- */

/* Appends the tensors of out or in-place arguments to ids (NULL: only counts). */
static uint32_t list_writes(const struct wick_exec_graph *graph, const struct wick_node *node, bool outs, uint32_t *ids)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < node->count; k++) {
        bool is_out;
        char kind = wick_signature_kind(node->op->meta->signature, k, &is_out);
        const struct wick_value *value = &graph->values[node->ids[k]];
        if (outs ? !is_out || (kind != 'T' && kind != 'L') : kind != 'M') continue;
        bool list = value->tag == WICK_TAG_TENSOR_LIST;
        for (uint32_t i = 0; i < (list ? value->as.list.count : 1); i++, count++)
            if (ids) ids[count] = list ? (uint32_t)value->as.list.indices[i] : node->ids[k];
    }
    return count;
}

wick_status wick_build_writes(struct wick_build *build)
{
    struct wick_exec_graph *graph = build->graph;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        struct wick_node *node = &graph->nodes[i];
        if (node->kind != WICK_NODE_CALL) continue;
        node->out_count = list_writes(graph, node, true, NULL);
        node->write_count = node->out_count + list_writes(graph, node, false, NULL);
        uint32_t *ids = WICK_NEW_ARRAY(build->arena, uint32_t, node->write_count);
        if (!ids) return wick_fail_oom(build->err, node->write_count * sizeof *ids, "nodes of the execution graph");
        list_writes(graph, node, true, ids);
        list_writes(graph, node, false, ids + node->out_count);
        node->writes = ids;
        graph->out_max = WICK_MAX(graph->out_max, node->out_count);
        for (uint32_t k = 0; k < node->write_count; k++) {
            bool constant = graph->values[ids[k]].as.tensor->constant;
            if (constant || (node->view && graph->places[wick_exec_graph_tensor_index(graph, ids[k])].input))
                return wick_fail(build->err, WICK_INVALID_PROGRAM, "instruction %u, operator %s: writes value %u, which is %s", node->instruction,
                                 node->op->meta->name, ids[k], constant ? "constant" : "an input");
        }
    }
    return WICK_OK;
}

/* ---- shapes ---- */

/* A value is fixed when neither its shape nor, for a scalar, its number can change in a run. */
static bool *find_fixed(struct wick_build *build)
{
    struct wick_exec_graph *graph = build->graph;
    bool *fixed = WICK_NEW_ARRAY(build->temp, bool, graph->value_count);
    if (!fixed) return NULL;
    for (uint32_t i = 0; i < graph->value_count; i++) {
        bool moved = i < build->method->value_count && build->moved[i];
        fixed[i] = !moved && (graph->values[i].tag != WICK_TAG_TENSOR || graph->values[i].as.tensor->dynamism == WICK_STATIC);
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct wick_node *node = &graph->nodes[i];
        for (uint32_t k = 0; node->kind == WICK_NODE_CALL && k < node->count; k++) {
            bool out;
            if (wick_signature_kind(node->op->meta->signature, k, &out) == 'V') fixed[node->ids[k]] = false;
        }
    }
    return fixed;
}

static bool argument_fixed(const struct wick_exec_graph *graph, const bool *fixed, uint32_t id)
{
    const struct wick_value *value = &graph->values[id];
    if (value->tag != WICK_TAG_INT_LIST && value->tag != WICK_TAG_TENSOR_LIST && value->tag != WICK_TAG_OPTIONAL_TENSOR_LIST) return fixed[id];
    for (uint32_t i = 0; i < value->as.list.count; i++)
        if (value->as.list.indices[i] >= 0 && !fixed[value->as.list.indices[i]]) return false;
    return true;
}

/* Sizes of an internal value follow from the nodes, whatever the payload says. */
static wick_status rebound(struct wick_build *build, const struct wick_node *node, struct wick_tensor *tensor, const struct wick_shape *inferred)
{
    struct wick_shape shape = tensor->shape;
    uint64_t nbytes = 0;
    shape.rank = inferred->rank;
    if (inferred->rank != tensor->shape.rank) wick_shape_set_contiguous(&shape);
    if (inferred->rank <= WICK_RANK_MAX) memcpy(shape.sizes, inferred->sizes, inferred->rank * sizeof shape.sizes[0]);
    if (!wick_shape_valid(&shape, &nbytes) || nbytes > SIZE_MAX)
        return wick_fail(build->err, WICK_DELEGATE_INCOMPATIBLE, "instruction %u, operator %s: sizes of a result are out of range", node->instruction,
                         node->op->meta->name);
    tensor->shape = shape;
    tensor->capacity = (size_t)nbytes;
    wick_shape_strides(&tensor->shape, tensor->strides);
    return WICK_OK;
}

/* True if every out of the node has, and keeps, the inferred sizes. */
static bool outs_settled(const struct wick_exec_graph *graph, const struct wick_node *node, const bool *fixed, const struct wick_shape *shapes)
{
    for (uint32_t k = 0; k < node->out_count; k++) {
        uint32_t id = node->writes[k];
        const struct wick_tensor *tensor = graph->values[id].as.tensor;
        if (!wick_shape_same_sizes(&tensor->shape, &shapes[k])) return false;
        if (!is_scratch(graph, id) && (!fixed[id] || graph->places[wick_exec_graph_tensor_index(graph, id)].moving)) return false;
    }
    return true;
}

static wick_status settle_shapes(struct wick_build *build, struct wick_node *node, bool *fixed, struct wick_shape *shapes)
{
    struct wick_exec_graph *graph = build->graph;
    struct wick_args args = {graph->values, node->ids, node->count};
    bool all_fixed = true, internal = false;
    for (uint32_t k = 0; k < node->out_count; k++) internal = internal || is_scratch(graph, node->writes[k]);
    for (uint32_t k = 0; k < node->count; k++) {
        bool out;
        wick_signature_kind(node->op->meta->signature, k, &out);
        all_fixed = all_fixed && (out || argument_fixed(graph, fixed, node->ids[k]));
    }
    for (uint32_t k = node->out_count; k < node->write_count; k++)
        all_fixed = all_fixed && !graph->places[wick_exec_graph_tensor_index(graph, node->writes[k])].moving;
    wick_error ignored;
    wick_status status = node->op->meta->infer(&args, shapes, internal ? build->err : &ignored);
    if (status != WICK_OK && internal)
        return wick_fail_in(build->err, status, "instruction %u, operator %s", node->instruction, node->op->meta->name);
    if (status != WICK_OK) return WICK_OK; /* may hang on numbers that a run computes: judged then */
    for (uint32_t k = 0; k < node->out_count; k++)
        if (is_scratch(graph, node->writes[k])) WICK_TRY(rebound(build, node, graph->values[node->writes[k]].as.tensor, &shapes[k]));
    node->settled = all_fixed && outs_settled(graph, node, fixed, shapes);
    for (uint32_t k = 0; node->settled && k < node->out_count; k++) {
        if (!is_scratch(graph, node->writes[k])) continue;
        graph->values[node->writes[k]].as.tensor->dynamism = WICK_STATIC;
        fixed[node->writes[k]] = true;
    }
    return WICK_OK;
}

/* Tensors whose pointer a run changes: outs of views, freed ones. */
static void mark_moving(struct wick_exec_graph *graph)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct wick_node *node = &graph->nodes[i];
        for (uint32_t k = 0; node->view && k < node->out_count; k++) graph->places[wick_exec_graph_tensor_index(graph, node->writes[k])].moving = true;
        if (node->kind == WICK_NODE_FREE) graph->places[wick_exec_graph_tensor_index(graph, node->ids[0])].moving = true;
    }
}

wick_status wick_build_settle(struct wick_build *build)
{
    struct wick_exec_graph *graph = build->graph;
    bool *fixed = find_fixed(build);
    struct wick_shape *shapes = WICK_NEW_ARRAY(build->temp, struct wick_shape, graph->out_max);
    if (!fixed || !shapes) return wick_fail_oom(build->err, graph->value_count, "binding");
    mark_moving(graph);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        struct wick_node *node = &graph->nodes[i];
        if (node->kind != WICK_NODE_CALL) continue;
        if (node->op->meta->infer) WICK_TRY(settle_shapes(build, node, fixed, shapes));
        if (!node->op->prepare || node->state) continue;
        struct wick_args args = {graph->values, node->ids, node->count};
        void *state = NULL;
        wick_status status = node->op->prepare(&args, &build->bind, &state);
        if (status != WICK_OK) return wick_fail_in(build->err, status, "instruction %u, operator %s", node->instruction, node->op->meta->name);
        node->state = state;
    }
    return WICK_OK;
}
