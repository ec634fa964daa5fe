/* exec/fuse.c - stage 2 of binding: applies the patterns of fuse/fuse.def and closes the gaps that dead nodes leave. */
#include "exec/fuse.h"

/* The small profiles run the list as it is. */
#ifdef WICK_PROFILE_full
#define WICK_FUSION(name) extern const struct wick_fusion wick_fusion_##name;
#include "exec/fuse/fuse.def"
#undef WICK_FUSION
#endif

static const struct wick_fusion *const fusions[] = {
#ifdef WICK_PROFILE_full
#define WICK_FUSION(name) &wick_fusion_##name,
#include "exec/fuse/fuse.def"
#undef WICK_FUSION
#endif
    NULL,
};

bool wick_fuse_is_internal(const struct wick_exec_graph *graph, uint32_t value)
{
    return value >= graph->method->value_count && graph->places[wick_exec_graph_tensor_index(graph, value)].kind == WICK_PLACE_SCRATCH;
}

static bool places_overlap(const struct wick_exec_graph *graph, uint32_t a, uint32_t b)
{
    if (a == b) return true;
    const struct wick_place *pa = &graph->places[a], *pb = &graph->places[b];
    /* Values of payloads have memory of their own; constants are never written. */
    if (pa->kind == WICK_PLACE_SCRATCH || pb->kind == WICK_PLACE_SCRATCH) return false;
    if (pa->kind == WICK_PLACE_CONSTANT || pb->kind == WICK_PLACE_CONSTANT) return false;
    if (pa->kind == WICK_PLACE_NONE || pb->kind == WICK_PLACE_NONE) return true;
    uint64_t na = graph->tensors[a].capacity, nb = graph->tensors[b].capacity;
    return pa->buffer == pb->buffer && pa->offset < pb->offset + nb && pb->offset < pa->offset + na;
}

bool wick_fuse_overwrites(const struct wick_exec_graph *graph, const struct wick_node *writer, uint32_t value)
{
    uint32_t tensor = wick_exec_graph_tensor_index(graph, value);
    if (writer->kind != WICK_NODE_CALL) return true;
    /* A view writes no byte, but its out may from then on be other bytes. */
    for (uint32_t k = 0; k < writer->write_count; k++) {
        uint32_t written = wick_exec_graph_tensor_index(graph, writer->writes[k]);
        if (writer->view ? written == tensor : places_overlap(graph, written, tensor)) return true;
    }
    return false;
}

static bool *find_leaders(const struct wick_exec_graph *graph, struct wick_arena *temp)
{
    bool *leader = WICK_NEW_ARRAY(temp, bool, (size_t)graph->node_count + 1);
    for (uint32_t i = 0; leader && i < graph->node_count; i++)
        if (graph->nodes[i].kind == WICK_NODE_JUMP_FALSE) leader[graph->nodes[i].target] = leader[i + 1] = true;
    return leader;
}

static uint32_t *count_defs(const struct wick_exec_graph *graph, struct wick_arena *temp)
{
    uint32_t *defs = WICK_NEW_ARRAY(temp, uint32_t, graph->tensor_count);
    for (uint32_t i = 0; defs && i < graph->node_count; i++)
        for (uint32_t k = 0; k < graph->nodes[i].write_count; k++) defs[wick_exec_graph_tensor_index(graph, graph->nodes[i].writes[k])]++;
    return defs;
}

struct counting {
    const struct wick_exec_graph *graph;
    uint32_t *uses;
};

static void count_use(void *user, uint32_t value)
{
    struct counting *c = user;
    c->uses[wick_exec_graph_tensor_index(c->graph, value)]++;
}

static uint32_t *count_uses(const struct wick_exec_graph *graph, struct wick_arena *temp)
{
    struct counting c = {graph, WICK_NEW_ARRAY(temp, uint32_t, graph->tensor_count)};
    for (uint32_t i = 0; c.uses && i < graph->node_count; i++) {
        const struct wick_node *node = &graph->nodes[i];
        uint32_t inputs = node->kind == WICK_NODE_CALL ? wick_signature_inputs(node->op->meta->signature) : node->count;
        wick_each_tensor(graph->values, node->ids, inputs, count_use, &c);
    }
    if (c.uses) wick_each_tensor(graph->values, graph->method->outputs, graph->method->output_count, count_use, &c);
    return c.uses;
}

static uint32_t *find_producers(const struct wick_exec_graph *graph, struct wick_arena *temp)
{
    uint32_t *producer = WICK_NEW_ARRAY(temp, uint32_t, graph->tensor_count);
    for (uint32_t i = 0; producer && i < graph->node_count; i++)
        for (uint32_t k = 0; k < graph->nodes[i].write_count; k++) producer[wick_exec_graph_tensor_index(graph, graph->nodes[i].writes[k])] = i;
    return producer;
}

/* ---- matching ---- */

uint32_t wick_fuse_arg(const struct wick_node *node, uint32_t k) { return node->ids[k]; }

const struct wick_node *wick_fuse_producer(const struct wick_fuse *fuse, uint32_t value, uint32_t at, bool sole, const char *name, const char *other)
{
    const struct wick_exec_graph *graph = fuse->graph;
    if (graph->values[value].tag != WICK_TAG_TENSOR) return NULL;
    uint32_t tensor = wick_exec_graph_tensor_index(graph, value), made = fuse->producer[tensor];
    if (fuse->defs[tensor] != 1 || made >= at || fuse->dead[made] || (sole && fuse->uses[tensor] != 1)) return NULL;
    if (value < graph->method->value_count && fuse->moved[value]) return NULL;
    for (uint32_t i = made + 1; i <= at; i++)
        if (fuse->leader[i]) return NULL;
    const struct wick_node *node = &graph->nodes[made];
    if (node->kind != WICK_NODE_CALL || node->writes[0] != value) return NULL;
    bool named = strcmp(node->op->meta->name, name) == 0 || (other && strcmp(node->op->meta->name, other) == 0);
    return named ? node : NULL;
}

bool wick_fuse_is_f32(const struct wick_fuse *fuse, const struct wick_node *node)
{
    if (node->state) return false;
    for (uint32_t k = 0; k < node->count; k++) {
        const struct wick_value *value = &fuse->graph->values[node->ids[k]];
        if (value->tag == WICK_TAG_TENSOR && value->as.tensor->shape.dtype != WICK_DTYPE_F32) return false;
    }
    return true;
}

static bool is_part(const struct wick_node *const *parts, uint32_t count, const struct wick_node *node)
{
    for (uint32_t i = 0; i < count; i++)
        if (parts[i] == node) return true;
    return false;
}

bool wick_fuse_is_quiet(const struct wick_fuse *fuse, const struct wick_node *const *parts, uint32_t count, uint32_t last, uint32_t value)
{
    const struct wick_node *nodes = fuse->graph->nodes;
    uint32_t first = last;
    for (uint32_t i = 0; i < count; i++) first = WICK_MIN(first, (uint32_t)(parts[i] - nodes));
    for (uint32_t i = first; i < last; i++)
        if (!fuse->dead[i] && !is_part(parts, count, &nodes[i]) && wick_fuse_overwrites(fuse->graph, &nodes[i], value)) return false;
    return true;
}

bool wick_fuse_can_move(const struct wick_fuse *fuse, uint32_t value)
{
    const struct wick_exec_graph *graph = fuse->graph;
    uint32_t tensor = wick_exec_graph_tensor_index(graph, value);
    if (value >= graph->method->value_count) return graph->places[tensor].kind == WICK_PLACE_SCRATCH;
    if (graph->places[tensor].kind != WICK_PLACE_PLANNED || graph->places[tensor].input || fuse->moved[value] || fuse->defs[tensor] != 1)
        return false;
    for (uint32_t i = 0; i < graph->method->output_count; i++)
        if (graph->method->outputs[i] == value) return false;
    return true;
}

bool wick_fuse_can_call(const struct wick_fuse *fuse, const uint32_t *ids, uint32_t inputs, uint32_t outs)
{
    const struct wick_exec_graph *graph = fuse->graph;
    for (uint32_t o = inputs; o < inputs + outs; o++) {
        if (wick_fuse_can_move(fuse, ids[o])) continue;
        for (uint32_t k = 0; k < inputs; k++)
            if (graph->values[ids[k]].tag == WICK_TAG_TENSOR &&
                places_overlap(graph, wick_exec_graph_tensor_index(graph, ids[k]), wick_exec_graph_tensor_index(graph, ids[o])))
                return false;
    }
    return true;
}

wick_status wick_fuse_call(struct wick_fuse *fuse, uint32_t at, const struct wick_op *op, const uint32_t *ids, uint32_t inputs, uint32_t outs)
{
    struct wick_exec_graph *graph = fuse->graph;
    struct wick_node *node = &graph->nodes[at];
    uint32_t *copy = WICK_NEW_ARRAY(fuse->arena, uint32_t, inputs + outs);
    if (!copy) return wick_fail_oom(fuse->err, (inputs + outs) * sizeof *copy, "fusion");
    memcpy(copy, ids, (inputs + outs) * sizeof *copy);
    node->op = op;
    node->state = NULL;
    node->view = false;
    node->ids = copy;
    node->count = inputs + outs;
    node->writes = copy + inputs;
    node->out_count = node->write_count = outs;
    graph->out_max = WICK_MAX(graph->out_max, outs);
    for (uint32_t o = 0; o < outs; o++)
        if (wick_fuse_can_move(fuse, copy[inputs + o]))
            graph->places[wick_exec_graph_tensor_index(graph, copy[inputs + o])].kind = WICK_PLACE_SCRATCH;
    return WICK_OK;
}

/* Removes dead nodes; what they weigh and jumps to them go to the next node that lives. */
static wick_status compact(struct wick_fuse *fuse)
{
    struct wick_exec_graph *graph = fuse->graph;
    uint32_t *moved = WICK_NEW_ARRAY(fuse->temp, uint32_t, (size_t)graph->node_count + 1);
    if (!moved) return wick_fail_oom(fuse->err, graph->node_count * sizeof *moved, "fusion");
    uint32_t count = 0, weight = 0;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        moved[i] = count;
        weight += graph->nodes[i].weight;
        if (fuse->dead[i]) continue;
        graph->nodes[count] = graph->nodes[i];
        graph->nodes[count++].weight = weight;
        weight = 0;
    }
    moved[graph->node_count] = count;
    for (uint32_t i = 0; i < count; i++)
        if (graph->nodes[i].kind == WICK_NODE_JUMP_FALSE) graph->nodes[i].target = moved[graph->nodes[i].target];
    graph->fused += graph->node_count - count;
    graph->node_count = count;
    return WICK_OK;
}

wick_status wick_build_fuse(struct wick_build *build)
{
    struct wick_exec_graph *graph = build->graph;
    for (size_t i = 0; fusions[i]; i++) {
        struct wick_fuse fuse = {
            .graph = graph,
            .arena = build->arena,
            .temp = build->temp,
            .dead = WICK_NEW_ARRAY(build->temp, bool, graph->node_count),
            .leader = find_leaders(graph, build->temp),
            .defs = count_defs(graph, build->temp),
            .uses = count_uses(graph, build->temp),
            .producer = find_producers(graph, build->temp),
            .moved = build->moved,
            .err = build->err,
        };
        if (!fuse.dead || !fuse.leader || !fuse.defs || !fuse.uses || !fuse.producer) return wick_fail_oom(build->err, graph->node_count, "fusion");
        wick_status status = fusions[i]->apply(&fuse);
        if (status != WICK_OK) return wick_fail_in(build->err, status, "fusion %s", fusions[i]->name);
        WICK_TRY(compact(&fuse));
    }
    return WICK_OK;
}
