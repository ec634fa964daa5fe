/* exec/memory.c - stage 4 of binding: lifetimes and places of values that the file did not plan, and what must be looked
 * at before each call because only a run can tell. The graph is then complete; instance.c runs it. */
#include "exec/build.h"

#include "base/checked.h"
#include "exec/plan.h"

struct memory {
    struct wick_build *build;
    struct wick_exec_graph *graph;
    struct wick_interval *lives; /* one a tensor object; first > last: not used */
    bool *whole;                 /* lives from begin to end: an unplanned result of the method */
    uint32_t step;
};

/* ---- lifetimes ---- */

static void touch(void *user, uint32_t value)
{
    struct memory *m = user;
    struct wick_interval *live = &m->lives[wick_exec_graph_tensor_index(m->graph, value)];
    live->first = WICK_MIN(live->first, m->step);
    live->last = WICK_MAX(live->last, m->step);
}

/* Results without a place in the file, made by an operator or an opaque delegate, get memory of their own. */
static void own(void *user, uint32_t value)
{
    struct memory *m = user;
    uint32_t index = wick_exec_graph_tensor_index(m->graph, value);
    struct wick_place *place = &m->graph->places[index];
    if (place->kind != WICK_PLACE_NONE || place->input) return;
    place->kind = WICK_PLACE_SCRATCH;
    m->whole[index] = true;
}

static void own_results(struct memory *m)
{
    struct wick_exec_graph *graph = m->graph;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct wick_node *node = &graph->nodes[i];
        if (node->kind == WICK_NODE_OPAQUE) wick_each_tensor(graph->values, node->ids, node->count, own, m);
        for (uint32_t k = 0; node->kind == WICK_NODE_CALL && !node->view && k < node->write_count; k++) own(m, node->writes[k]);
    }
}

/* For every node the range of the loop it stands in (overlapping loops are one), else itself. A value used anywhere in
 * a loop is kept for all of it: the next round may still read it. */
static wick_status find_loops(struct memory *m, uint32_t **begin_out, uint32_t **end_out)
{
    const struct wick_exec_graph *graph = m->graph;
    uint32_t *begin = WICK_NEW_ARRAY(m->build->temp, uint32_t, graph->node_count);
    uint32_t *end = WICK_NEW_ARRAY(m->build->temp, uint32_t, graph->node_count);
    if (!begin || !end) return wick_fail_oom(m->build->err, graph->node_count * sizeof *begin, "memory plan");
    for (uint32_t i = 0; i < graph->node_count; i++) end[i] = i;
    for (uint32_t i = 0; i < graph->node_count; i++)
        if (graph->nodes[i].kind == WICK_NODE_JUMP_FALSE && graph->nodes[i].target <= i) end[graph->nodes[i].target] = i;
    for (uint32_t i = 0; i < graph->node_count;) {
        uint32_t last = end[i], from = i;
        for (uint32_t j = i; j <= last; j++) last = WICK_MAX(last, end[j]);
        for (; i <= last; i++) begin[i] = from, end[i] = last;
    }
    *begin_out = begin;
    *end_out = end;
    return WICK_OK;
}

/* What a view is read for, its source is kept for. */
static void extend_views(struct memory *m)
{
    const struct wick_exec_graph *graph = m->graph;
    for (uint32_t i = graph->node_count; i-- > 0;) {
        const struct wick_node *node = &graph->nodes[i];
        for (uint32_t k = 0; node->view && k < node->out_count; k++) {
            struct wick_interval *source = &m->lives[wick_exec_graph_tensor_index(graph, node->ids[0])];
            source->last = WICK_MAX(source->last, m->lives[wick_exec_graph_tensor_index(graph, node->writes[k])].last);
        }
    }
}

static wick_status place_values(struct memory *m)
{
    struct wick_exec_graph *graph = m->graph;
    struct wick_arena *temp = m->build->temp;
    uint32_t *begin = NULL, *end = NULL;
    m->lives = WICK_NEW_ARRAY(temp, struct wick_interval, graph->tensor_count);
    m->whole = WICK_NEW_ARRAY(temp, bool, graph->tensor_count);
    if (!m->lives || !m->whole) return wick_fail_oom(m->build->err, graph->tensor_count * sizeof *m->lives, "memory plan");
    own_results(m);
    for (uint32_t i = 0; i < graph->tensor_count; i++) m->lives[i] = (struct wick_interval){.first = UINT32_MAX};
    for (m->step = 0; m->step < graph->node_count; m->step++)
        wick_each_tensor(graph->values, graph->nodes[m->step].ids, graph->nodes[m->step].count, touch, m);
    extend_views(m);
    WICK_TRY(find_loops(m, &begin, &end));
    uint32_t count = 0;
    uint32_t *tensors = WICK_NEW_ARRAY(temp, uint32_t, graph->tensor_count);
    if (!tensors) return wick_fail_oom(m->build->err, graph->tensor_count * sizeof *tensors, "memory plan");
    /* Compact in place: interval `count` never runs ahead of i. */
    for (uint32_t i = 0; i < graph->tensor_count; i++) {
        struct wick_interval live = m->lives[i];
        if (graph->places[i].kind != WICK_PLACE_SCRATCH || live.first > live.last) continue;
        live.first = m->whole[i] ? 0 : begin[live.first];
        live.last = m->whole[i] ? graph->node_count - 1 : end[live.last];
        live.bytes = graph->tensors[i].capacity;
        m->lives[count] = live;
        tensors[count++] = i;
    }
    WICK_TRY(wick_plan_offsets(m->lives, count, graph->node_count, temp, &graph->scratch_bytes, m->build->err));
    for (uint32_t i = 0; i < count; i++) graph->places[tensors[i]].offset = m->lives[i].offset;
    return WICK_OK;
}

/* ---- checks ---- */

/* A kernel reads and writes in its own order: a result may lie on an argument only exactly, and only where the operator
 * allows it. */
static bool collides(const struct wick_exec_graph *graph, const struct wick_node *node, uint32_t out, uint32_t in)
{
    uint32_t o = wick_exec_graph_tensor_index(graph, out), i = wick_exec_graph_tensor_index(graph, in);
    const struct wick_place *po = &graph->places[o], *pi = &graph->places[i];
    if (o == i || po->kind != WICK_PLACE_PLANNED || pi->kind != WICK_PLACE_PLANNED || po->buffer != pi->buffer) return false;
    size_t no = graph->tensors[o].capacity, ni = graph->tensors[i].capacity;
    if (no == 0 || ni == 0 || po->offset + no <= pi->offset || pi->offset + ni <= po->offset) return false;
    return node->op->meta->alias != WICK_ALIAS_INPLACE || po->offset != pi->offset;
}

struct pair {
    const struct wick_exec_graph *graph;
    const struct wick_node *node;
    uint32_t found, out; /* found: 1 + value id of the argument */
};

static void collide(void *user, uint32_t value)
{
    struct pair *pair = user;
    if (!pair->found && collides(pair->graph, pair->node, pair->out, value)) pair->found = 1 + value;
}

static wick_status check_overlaps(struct wick_build *build, const struct wick_node *node)
{
    uint32_t inputs = wick_signature_inputs(node->op->meta->signature);
    for (uint32_t k = 0; k < node->out_count; k++) {
        struct pair pair = {.graph = build->graph, .node = node, .out = node->writes[k]};
        wick_each_tensor(build->graph->values, node->ids, inputs, collide, &pair);
        if (pair.found)
            return wick_fail(build->err, WICK_INVALID_PROGRAM, "instruction %u, operator %s: result value %u is planned over argument value %u",
                             node->instruction, node->op->meta->name, pair.out, pair.found - 1);
    }
    return WICK_OK;
}

struct bare_list {
    const struct wick_build *build;
    uint32_t *ids; /* NULL: only count */
    uint32_t count;
};

static void add_bare(void *user, uint32_t value)
{
    struct bare_list *list = user;
    const struct wick_place *place = &list->build->graph->places[wick_exec_graph_tensor_index(list->build->graph, value)];
    bool moved = value < list->build->method->value_count && list->build->moved[value];
    if (place->kind != WICK_PLACE_NONE && !place->moving && !moved) return;
    if (list->ids) list->ids[list->count] = value;
    list->count++;
}

/* Tensors whose bytes only a run provides. A view's out has none before the call. */
static wick_status list_bare(struct wick_build *build, struct wick_node *node)
{
    uint32_t count = node->view ? wick_signature_inputs(node->op->meta->signature) : node->count;
    struct bare_list list = {.build = build};
    wick_each_tensor(build->graph->values, node->ids, count, add_bare, &list);
    if (list.count == 0) return WICK_OK;
    uint32_t *ids = WICK_NEW_ARRAY(build->arena, uint32_t, list.count);
    if (!ids) return wick_fail_oom(build->err, list.count * sizeof *ids, "nodes of the execution graph");
    list = (struct bare_list){.build = build, .ids = ids};
    wick_each_tensor(build->graph->values, node->ids, count, add_bare, &list);
    node->bare = ids;
    node->bare_count = list.count;
    return WICK_OK;
}

static wick_status list_moving(struct wick_build *build)
{
    struct wick_exec_graph *graph = build->graph;
    for (uint32_t i = 0; i < graph->tensor_count; i++) graph->moving_count += graph->places[i].moving;
    uint32_t *moving = WICK_NEW_ARRAY(build->arena, uint32_t, graph->moving_count);
    if (!moving) return wick_fail_oom(build->err, graph->moving_count * sizeof *moving, "execution graph");
    graph->moving = moving;
    for (uint32_t i = 0; i < graph->tensor_count; i++)
        if (graph->places[i].moving) *moving++ = i;
    return WICK_OK;
}

wick_status wick_build_memory(struct wick_build *build)
{
    struct wick_exec_graph *graph = build->graph;
    struct memory m = {.build = build, .graph = graph};
    WICK_TRY(place_values(&m));
    for (uint32_t i = 0; i < graph->node_count; i++) {
        struct wick_node *node = &graph->nodes[i];
        if (node->kind == WICK_NODE_CALL && !node->view) WICK_TRY(check_overlaps(build, node));
        if (node->kind == WICK_NODE_CALL || node->kind == WICK_NODE_OPAQUE) WICK_TRY(list_bare(build, node));
    }
    return list_moving(build);
}
