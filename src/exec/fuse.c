/* exec/fuse.c - stage 2 of binding: applies the patterns of fuse/fuse.def and closes the gaps that dead nodes leave. */
#include "exec/fuse.h"

#define WICK_FUSION(name) extern const struct wick_fusion wick_fusion_##name;
#include "exec/fuse/fuse.def"
#undef WICK_FUSION

static const struct wick_fusion *const fusions[] = {
#define WICK_FUSION(name) &wick_fusion_##name,
#include "exec/fuse/fuse.def"
#undef WICK_FUSION
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
    for (size_t i = 0; i < WICK_ARRAY_SIZE(fusions); i++) {
        struct wick_fuse fuse = {
            .graph = graph,
            .arena = build->arena,
            .temp = build->temp,
            .dead = WICK_NEW_ARRAY(build->temp, bool, graph->node_count),
            .leader = find_leaders(graph, build->temp),
            .defs = count_defs(graph, build->temp),
            .err = build->err,
        };
        if (!fuse.dead || !fuse.leader || !fuse.defs) return wick_fail_oom(build->err, graph->node_count, "fusion");
        wick_status status = fusions[i]->apply(&fuse);
        if (status != WICK_OK) return wick_fail_in(build->err, status, "fusion %s", fusions[i]->name);
        WICK_TRY(compact(&fuse));
    }
    return WICK_OK;
}
