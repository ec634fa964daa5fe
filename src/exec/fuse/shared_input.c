/* exec/fuse/shared_input.c - equal work on equal input is done once.
 *
 * Linears that read the same activation (query, key and value; gate and up) sit in payloads of their own, and each
 * payload quantizes the activation for itself. Of such equal nodes the first stays; later readers get its results.
 * Two nodes are equal when operator, state and inputs are, and nothing between them can change an input. */
#include "exec/fuse.h"

/* How many earlier nodes are remembered (siblings stand near each other, and the search stays linear), and up to what
 * size constants are compared. */
enum { WINDOW = 128, SMALL_BYTES = 256 };

struct pass {
    struct wick_fuse *fuse;
    uint32_t *replaced; /* one a value: the value that stands for it */
    uint32_t window[WINDOW];
    uint32_t count;
};

/* A node from tensors to results that only payload nodes see and no other node writes, and which changes nothing else. */
static bool is_pure(const struct wick_fuse *fuse, const struct wick_node *node)
{
    const struct wick_exec_graph *graph = fuse->graph;
    if (node->kind != WICK_NODE_CALL || node->view || node->out_count == 0 || node->write_count != node->out_count) return false;
    if (node->out_count != wick_signature_outs(node->op->meta->signature)) return false;
    for (uint32_t k = 0; k < node->count; k++)
        if (graph->values[node->ids[k]].tag != WICK_TAG_TENSOR) return false;
    for (uint32_t k = 0; k < node->out_count; k++) {
        if (!wick_fuse_is_internal(graph, node->writes[k])) return false;
        if (fuse->defs[wick_exec_graph_tensor_index(graph, node->writes[k])] != 1) return false;
    }
    return true;
}

static bool is_equal_shape(const struct wick_shape *a, const struct wick_shape *b)
{
    return a->dtype == b->dtype && wick_shape_same_sizes(a, b) && memcmp(a->dim_order, b->dim_order, a->rank) == 0;
}

/* One value, or two constants of the same few bytes (payloads carry parameters that way). */
static bool is_equal_input(const struct wick_exec_graph *graph, uint32_t a, uint32_t b)
{
    if (a == b) return true;
    const struct wick_tensor *ta = graph->values[a].as.tensor, *tb = graph->values[b].as.tensor;
    if (!ta->constant || !tb->constant || !is_equal_shape(&ta->shape, &tb->shape)) return false;
    return ta->data == tb->data || (ta->capacity <= SMALL_BYTES && ta->data && tb->data && memcmp(ta->data, tb->data, ta->capacity) == 0);
}

static bool is_equal(const struct wick_exec_graph *graph, const struct wick_node *a, const struct wick_node *b)
{
    if (a->op != b->op || a->state != b->state || a->out_count != b->out_count) return false;
    uint32_t inputs = wick_signature_inputs(a->op->meta->signature);
    for (uint32_t k = 0; k < inputs; k++)
        if (!is_equal_input(graph, a->ids[k], b->ids[k])) return false;
    for (uint32_t k = 0; k < a->out_count; k++)
        if (!is_equal_shape(&graph->values[a->writes[k]].as.tensor->shape, &graph->values[b->writes[k]].as.tensor->shape)) return false;
    return true;
}

static bool changes_input(const struct wick_exec_graph *graph, const struct wick_node *node, const struct wick_node *writer)
{
    uint32_t inputs = wick_signature_inputs(node->op->meta->signature);
    for (uint32_t k = 0; k < inputs; k++)
        if (wick_fuse_overwrites(graph, writer, node->ids[k])) return true;
    return false;
}

/* Forgets remembered nodes whose inputs this one may change. */
static void forget(struct pass *pass, const struct wick_node *writer)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < pass->count; i++)
        if (!changes_input(pass->fuse->graph, &pass->fuse->graph->nodes[pass->window[i]], writer)) pass->window[kept++] = pass->window[i];
    pass->count = kept;
}

static void remember(struct pass *pass, uint32_t node)
{
    if (pass->count == WINDOW) {
        memmove(pass->window, pass->window + 1, (WINDOW - 1) * sizeof pass->window[0]);
        pass->count--;
    }
    pass->window[pass->count++] = node;
}

/* Gives the node the values that stand for its own; ids may be the method's and are then copied. */
static wick_status rename_ids(struct pass *pass, struct wick_node *node)
{
    bool changes = false;
    for (uint32_t k = 0; k < node->count; k++) changes = changes || pass->replaced[node->ids[k]] != node->ids[k];
    if (!changes) return WICK_OK;
    uint32_t *ids = WICK_NEW_ARRAY(pass->fuse->arena, uint32_t, node->count);
    if (!ids) return wick_fail_oom(pass->fuse->err, node->count * sizeof *ids, "fusion");
    for (uint32_t k = 0; k < node->count; k++) ids[k] = pass->replaced[node->ids[k]];
    node->ids = ids;
    return WICK_OK;
}

static wick_status apply(struct wick_fuse *fuse)
{
    struct wick_exec_graph *graph = fuse->graph;
    struct pass pass = {.fuse = fuse, .replaced = WICK_NEW_ARRAY(fuse->temp, uint32_t, graph->value_count)};
    if (!pass.replaced) return wick_fail_oom(fuse->err, graph->value_count * sizeof *pass.replaced, "fusion");
    for (uint32_t i = 0; i < graph->value_count; i++) pass.replaced[i] = i;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        struct wick_node *node = &graph->nodes[i];
        if (fuse->leader[i]) pass.count = 0;
        WICK_TRY(rename_ids(&pass, node));
        bool pure = is_pure(fuse, node);
        for (uint32_t w = 0; pure && w < pass.count; w++) {
            const struct wick_node *first = &graph->nodes[pass.window[w]];
            if (!is_equal(graph, first, node)) continue;
            for (uint32_t k = 0; k < node->out_count; k++) pass.replaced[node->writes[k]] = first->writes[k];
            fuse->dead[i] = true;
            break;
        }
        if (fuse->dead[i]) continue;
        forget(&pass, node);
        if (pure) remember(&pass, i);
    }
    return WICK_OK;
}

const struct wick_fusion wick_fusion_shared_input = {"shared_input", apply};
