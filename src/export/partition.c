/* export/partition.c - cutting the graph: each run of neighbouring calls that a backend claims becomes one delegate call. Claimed calls that wait for
 * nothing in between are moved up to a run first. A run is convex (nothing else runs between its calls), so cutting never makes a cycle. Next:
 * decompose.c. */
#include "export/stages.h"

#include <stdlib.h>

struct cut {
    struct wick_graph *g;
    uint32_t *inputs, *outputs;
    struct wick_partition p;
};

static bool made_inside(const struct wick_graph *g, const struct wick_partition *p, uint32_t id)
{
    for (uint32_t n = p->first; n < p->last; n++) {
        const struct wick_graph_node *node = &g->nodes[n];
        for (uint32_t k = node->n_inputs; !node->dead && k < node->count; k++)
            if (node->ids[k] == id) return true;
    }
    return false;
}

static bool in_list(const uint32_t *list, uint32_t count, uint32_t id)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i] == id) return true;
    return false;
}

/* last_use[id]: index of the last live node that names the value; graph outputs: node_count. */
static void find_last_uses(const struct wick_graph *g, uint32_t *last_use)
{
    for (uint32_t i = 0; i < g->value_count; i++) last_use[i] = 0;
    for (uint32_t n = 0; n < g->node_count; n++)
        for (uint32_t k = 0; !g->nodes[n].dead && k < g->nodes[n].n_inputs; k++) {
            const struct wick_value *v = &g->values[g->nodes[n].ids[k]];
            last_use[g->nodes[n].ids[k]] = n;
            for (uint32_t i = 0; (v->tag == WICK_TAG_TENSOR_LIST || v->tag == WICK_TAG_OPTIONAL_TENSOR_LIST) && i < v->as.list.count; i++)
                if (v->as.list.indices[i] >= 0) last_use[v->as.list.indices[i]] = n;
        }
    for (uint32_t i = 0; i < g->output_count; i++) last_use[g->outputs[i]] = g->node_count;
}

static void add_input(struct cut *c, uint32_t id)
{
    const struct wick_graph *g = c->g;
    const struct wick_value *v = &g->values[id];
    if (v->tag == WICK_TAG_TENSOR_LIST) {
        for (uint32_t i = 0; i < v->as.list.count; i++) add_input(c, (uint32_t)v->as.list.indices[i]);
        return;
    }
    if (v->tag != WICK_TAG_TENSOR || g->info[id].origin == WICK_ORIGIN_CONSTANT) return;
    if (made_inside(g, &c->p, id) || in_list(c->inputs, c->p.input_count, id)) return;
    c->inputs[c->p.input_count++] = id;
}

static wick_status remember_calls(struct wick_graph *g, const struct wick_partition *p, struct wick_delegate *delegate, wick_error *err)
{
    delegate->calls = WICK_NEW_ARRAY(&g->arena, struct wick_delegate_call, p->last - p->first);
    if (!delegate->calls) return wick_fail_oom(err, (p->last - p->first) * sizeof *delegate->calls, "graph");
    for (uint32_t n = p->first; n < p->last; n++)
        if (!g->nodes[n].dead) delegate->calls[delegate->call_count++] = (struct wick_delegate_call){g->nodes[n].op->name, g->nodes[n].scope};
    return WICK_OK;
}

static wick_status replace(struct cut *c, const struct wick_lowering *lowering, wick_error *err)
{
    struct wick_graph *g = c->g;
    if (g->delegate_count == g->delegate_capacity) {
        uint32_t capacity = g->delegate_capacity ? g->delegate_capacity * 2 : 64;
        struct wick_delegate *more = WICK_NEW_ARRAY(&g->arena, struct wick_delegate, capacity);
        if (!more) return wick_fail_oom(err, capacity * sizeof *more, "graph");
        if (g->delegate_count) memcpy(more, g->delegates, g->delegate_count * sizeof *more);
        g->delegates = more;
        g->delegate_capacity = capacity;
    }
    struct wick_delegate *delegate = &g->delegates[g->delegate_count];
    *delegate = (struct wick_delegate){.backend = lowering->id};
    WICK_TRY(remember_calls(g, &c->p, delegate, err));
    WICK_TRY(lowering->lower(g, &c->p, delegate, err));
    struct wick_graph_node *node = &g->nodes[c->p.first];
    uint32_t count = c->p.input_count + c->p.output_count;
    uint32_t *ids = WICK_NEW_ARRAY(&g->arena, uint32_t, count);
    if (!ids) return wick_fail_oom(err, count * sizeof *ids, "graph");
    memcpy(ids, c->inputs, c->p.input_count * sizeof *ids);
    memcpy(ids + c->p.input_count, c->outputs, c->p.output_count * sizeof *ids);
    for (uint32_t n = c->p.first; n < c->p.last; n++) g->nodes[n].dead = true;
    *node = (struct wick_graph_node){.delegate = g->delegate_count++, .count = count, .n_inputs = c->p.input_count, .ids = ids, .scope = node->scope};
    return WICK_OK;
}

static wick_status cut_run(struct cut *c, const struct wick_lowering *lowering, const uint32_t *last_use, wick_error *err)
{
    const struct wick_graph *g = c->g;
    c->p.input_count = c->p.output_count = 0;
    c->p.inputs = c->inputs;
    c->p.outputs = c->outputs;
    for (uint32_t n = c->p.first; n < c->p.last; n++) {
        const struct wick_graph_node *node = &g->nodes[n];
        if (node->dead) continue;
        for (uint32_t k = 0; k < node->n_inputs; k++) add_input(c, node->ids[k]);
        for (uint32_t k = node->n_inputs; k < node->count; k++)
            if (last_use[node->ids[k]] >= c->p.last) c->outputs[c->p.output_count++] = node->ids[k];
    }
    return c->p.output_count ? replace(c, lowering, err) : WICK_OK;
}

/* ---- gathering ---- */

enum { HELD_MAX = 48 }; /* calls that others move past */

struct gather {
    bool *made; /* by value: by a call that is held back */
    struct wick_graph_node held[HELD_MAX];
    uint32_t count;
};

static void drop_dead(struct wick_graph *g)
{
    uint32_t kept = 0;
    for (uint32_t n = 0; n < g->node_count; n++)
        if (!g->nodes[n].dead) g->nodes[kept++] = g->nodes[n];
    g->node_count = kept;
}

static bool waits_for(const struct gather *x, const struct wick_graph *g, uint32_t id)
{
    const struct wick_value *v = &g->values[id];
    if (x->made[id]) return true;
    for (uint32_t i = 0; v->tag >= WICK_TAG_INT_LIST && i < v->as.list.count; i++)
        if (v->as.list.indices[i] >= 0 && x->made[v->as.list.indices[i]]) return true;
    return false;
}

static bool waits(const struct gather *x, const struct wick_graph *g, const struct wick_graph_node *node)
{
    for (uint32_t k = 0; k < node->n_inputs; k++)
        if (waits_for(x, g, node->ids[k])) return true;
    return false;
}

/* Nothing moves past a call that changes what it is given. */
static bool changes_inputs(const struct wick_graph_node *node) { return node->op && (strchr(node->op->signature, 'M') || node->count == node->n_inputs); }

/* The run that begins at `first`: its end, once claimed calls behind it that do not wait for those between have moved up. */
static uint32_t gather_run(struct gather *x, struct wick_graph *g, uint32_t first, const struct wick_lowering *lowering,
                           const struct wick_lowering_options *options)
{
    uint32_t end = first;
    x->count = 0;
    for (uint32_t n = first; n < g->node_count && x->count < HELD_MAX; n++) {
        const struct wick_graph_node node = g->nodes[n];
        if (changes_inputs(&node)) break;
        if (node.op && lowering->claims(g, &node, options) && !waits(x, g, &node)) {
            g->nodes[end++] = node;
            continue;
        }
        for (uint32_t k = node.n_inputs; k < node.count; k++) x->made[node.ids[k]] = true;
        x->held[x->count++] = node;
    }
    for (uint32_t i = 0; i < x->count; i++)
        for (uint32_t k = x->held[i].n_inputs; k < x->held[i].count; k++) x->made[x->held[i].ids[k]] = false;
    memcpy(g->nodes + end, x->held, x->count * sizeof *x->held);
    return end;
}

wick_status wick_stage_partition(struct wick_graph *g, const struct wick_lowering *lowering, const struct wick_lowering_options *options, wick_error *err)
{
    size_t n = g->value_count;
    struct cut c = {.g = g, .inputs = malloc(n * 4 + 1), .outputs = malloc(n * 4 + 1)};
    uint32_t *last_use = malloc(n * sizeof *last_use + 1);
    struct gather *x = calloc(1, sizeof *x);
    if (x) x->made = calloc(n + 1, sizeof *x->made);
    wick_status status = c.inputs && c.outputs && last_use && x && x->made ? WICK_OK : wick_fail_oom(err, n * 13, "partition");
    if (status == WICK_OK) drop_dead(g);
    for (uint32_t i = 0; status == WICK_OK && i < g->node_count; i++) {
        if (!g->nodes[i].op || !lowering->claims(g, &g->nodes[i], options)) continue;
        c.p.first = i;
        c.p.last = gather_run(x, g, i, lowering, options);
        if (c.p.last == i) continue;
        find_last_uses(g, last_use);
        status = cut_run(&c, lowering, last_use, err);
        drop_dead(g);
    }
    if (x) free(x->made);
    free(c.inputs), free(c.outputs), free(last_use), free(x);
    return status;
}
