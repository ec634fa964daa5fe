/* export/schedule.c - calls run as late as memory likes: a call whose result is larger than what it alone keeps alive sinks to its first reader.
 * (Of gate and up in a feed-forward layer both would live through the activation of one.) Next: plan.c. */
#include "export/stages.h"

#include <stdlib.h>

struct schedule {
    struct wick_graph *g;
    uint32_t *root;      /* by value: whose bytes it uses */
    uint32_t *first_use; /* by value: the first node that reads it, after the one at hand */
    uint32_t *last_use;  /* by root: node_count for outputs */
};

static uint64_t bytes_of(const struct wick_graph *g, uint32_t id) { return wick_shape_nbytes(wick_graph_shape(g, id)); }

static void find_roots(struct schedule *s)
{
    const struct wick_graph *g = s->g;
    for (uint32_t i = 0; i < g->value_count; i++) s->root[i] = i;
    for (uint32_t n = 0; n < g->node_count; n++) {
        const struct wick_graph_node *node = &g->nodes[n];
        if (!node->dead && node->op && node->op->alias == WICK_ALIAS_VIEW) s->root[node->ids[node->count - 1]] = s->root[node->ids[0]];
    }
}

static void read_value(struct schedule *s, uint32_t id, uint32_t n, bool first)
{
    const struct wick_value *v = &s->g->values[id];
    if (v->tag == WICK_TAG_TENSOR && first) s->first_use[id] = n;
    else if (v->tag == WICK_TAG_TENSOR) s->last_use[s->root[id]] = n;
    for (uint32_t i = 0; (v->tag == WICK_TAG_TENSOR_LIST || v->tag == WICK_TAG_OPTIONAL_TENSOR_LIST) && i < v->as.list.count; i++)
        if (v->as.list.indices[i] >= 0) read_value(s, (uint32_t)v->as.list.indices[i], n, first);
}

/* A call from tensors that do not change to one tensor, and nothing else. (A view sinks for the sake of the call before it.) */
static bool can_sink(const struct schedule *s, const struct wick_graph_node *node)
{
    const struct wick_graph *g = s->g;
    if (node->dead || !node->op || node->count != node->n_inputs + 1 || strchr(node->op->signature, 'M')) return false;
    if (g->values[node->ids[node->n_inputs]].tag != WICK_TAG_TENSOR || g->info[node->ids[node->n_inputs]].origin != WICK_ORIGIN_COMPUTED)
        return false;
    for (uint32_t k = 0; k < node->n_inputs; k++) {
        int tag = g->values[node->ids[k]].tag;
        if (tag == WICK_TAG_TENSOR && g->info[s->root[node->ids[k]]].origin == WICK_ORIGIN_STATE) return false;
        if (tag == WICK_TAG_TENSOR_LIST || tag == WICK_TAG_OPTIONAL_TENSOR_LIST) return false;
    }
    return true;
}

/* Bytes that would live longer if node n ran later: inputs whose last reader it is. */
static uint64_t kept_by(const struct schedule *s, uint32_t n)
{
    const struct wick_graph_node *node = &s->g->nodes[n];
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < node->n_inputs; k++) {
        if (s->g->values[node->ids[k]].tag != WICK_TAG_TENSOR) continue;
        uint32_t root = s->root[node->ids[k]];
        if (s->g->info[root].origin == WICK_ORIGIN_COMPUTED && s->last_use[root] == n) bytes += bytes_of(s->g, root);
    }
    return bytes;
}

static void sink(struct wick_graph *g, uint32_t from, uint32_t to)
{
    struct wick_graph_node node = g->nodes[from];
    memmove(g->nodes + from, g->nodes + from + 1, (to - from) * sizeof node);
    g->nodes[to] = node;
}

/* From the end: what a call sinks past has found its place already. */
static void sink_all(struct schedule *s)
{
    struct wick_graph *g = s->g;
    for (uint32_t n = 0; n < g->node_count; n++)
        for (uint32_t k = 0; !g->nodes[n].dead && k < g->nodes[n].n_inputs; k++) read_value(s, g->nodes[n].ids[k], n, false);
    for (uint32_t i = 0; i < g->output_count; i++) s->last_use[s->root[g->outputs[i]]] = g->node_count;
    for (uint32_t n = g->node_count; n-- > 0;) {
        const struct wick_graph_node *node = &g->nodes[n];
        uint32_t out = node->dead ? 0 : node->ids[node->count - 1], reader = 0;
        if (can_sink(s, node)) reader = s->first_use[out];
        bool view = node->op && node->op->alias == WICK_ALIAS_VIEW, pays = reader > n + 1 && (view || bytes_of(g, out) > kept_by(s, n));
        for (uint32_t k = 0; !node->dead && k < node->n_inputs; k++) read_value(s, node->ids[k], n, true);
        if (!pays) continue;
        sink(g, n, reader - 1);
        /* Readers between have moved up by one. */
        for (uint32_t i = 0; i < g->value_count; i++)
            if (s->first_use[i] > n && s->first_use[i] < reader) s->first_use[i]--;
        for (uint32_t k = 0; k < g->nodes[reader - 1].n_inputs; k++)
            if (s->first_use[g->nodes[reader - 1].ids[k]] == n) s->first_use[g->nodes[reader - 1].ids[k]] = reader - 1;
        for (uint32_t m = reader - 1; m-- > n;)
            for (uint32_t k = 0; !g->nodes[m].dead && k < g->nodes[m].n_inputs; k++) read_value(s, g->nodes[m].ids[k], m, true);
    }
}

wick_status wick_stage_schedule(struct wick_graph *g, wick_error *err)
{
    struct schedule s = {.g = g};
    size_t n = g->value_count;
    s.root = malloc(n * 4 + 1), s.first_use = calloc(n + 1, 4), s.last_use = calloc(n + 1, 4);
    wick_status status = s.root && s.first_use && s.last_use ? WICK_OK : wick_fail_oom(err, n * 12, "schedule");
    if (status == WICK_OK) {
        find_roots(&s);
        sink_all(&s);
    }
    free(s.root), free(s.first_use), free(s.last_use);
    return status;
}
