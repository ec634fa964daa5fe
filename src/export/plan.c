/* export/plan.c - memory planning: every computed tensor gets a place in one buffer, and tensors that never live at the same
 * time share bytes. Next: emit.c.
 *
 * Greedy, in several orders, of which the tightest stays: largest first (the original's algorithm), longest-lived first, and by the breadth of the
 * calls they live at (Pisarchyk and Lee, "Efficient memory management for deep neural net inference", 2020). Each tensor goes to the smallest gap
 * that holds it among those that live with it, or to the lowest. */
#include "export/stages.h"

#include "base/checked.h"

#include <stdlib.h>

enum { PLAN_ALIGNMENT = 16 }; /* what the original's kernels may assume */

/* The tensor whose bytes a value really uses: views lead to their input. */
static void find_roots(const struct wick_graph *g, uint32_t *root)
{
    for (uint32_t i = 0; i < g->value_count; i++) root[i] = i;
    for (uint32_t n = 0; n < g->node_count; n++) {
        const struct wick_graph_node *node = &g->nodes[n];
        if (!node->dead && node->op && node->op->alias == WICK_ALIAS_VIEW) root[node->ids[node->count - 1]] = root[node->ids[0]];
    }
}

static void touch(const struct wick_graph *g, const uint32_t *root, struct wick_plan_life *lives, uint32_t id, uint32_t n)
{
    const struct wick_value *v = &g->values[id];
    if (v->tag == WICK_TAG_TENSOR) {
        struct wick_plan_life *life = &lives[root[id]];
        life->first = WICK_MIN(life->first, n);
        life->last = life->bytes ? WICK_MAX(life->last, n) : n;
        life->bytes = 1; /* used */
        return;
    }
    if (v->tag != WICK_TAG_TENSOR_LIST && v->tag != WICK_TAG_OPTIONAL_TENSOR_LIST) return;
    for (uint32_t i = 0; i < v->as.list.count; i++)
        if (v->as.list.indices[i] >= 0) touch(g, root, lives, (uint32_t)v->as.list.indices[i], n);
}

/* Orders of placing; ties end with the id, so that the same graph always gives the same plan. */
static int by_id(const struct wick_plan_life *x, const struct wick_plan_life *y) { return x->id < y->id ? -1 : x->id > y->id; }

static int by_size(const void *a, const void *b)
{
    const struct wick_plan_life *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : by_id(x, y);
}

static int by_length(const void *a, const void *b)
{
    const struct wick_plan_life *x = a, *y = b;
    uint32_t n = x->last - x->first, m = y->last - y->first;
    return n != m ? (n < m ? 1 : -1) : by_size(a, b);
}

/* offset holds the breadth while tensors are sorted. */
static int by_breadth(const void *a, const void *b)
{
    const struct wick_plan_life *x = a, *y = b;
    return x->offset != y->offset ? (x->offset < y->offset ? 1 : -1) : by_size(a, b);
}

/* The breadth of a call is all that lives at it; a tensor's is that of the broadest call in its life. */
static bool measure_breadth(struct wick_plan_life *lives, size_t count, uint32_t steps)
{
    uint64_t *at = calloc((size_t)steps + 2, sizeof *at);
    if (!at) return false;
    for (size_t i = 0; i < count; i++) at[lives[i].first] += lives[i].bytes, at[lives[i].last + 1] -= lives[i].bytes;
    for (uint32_t n = 1; n <= steps + 1; n++) at[n] += at[n - 1];
    for (size_t i = 0; i < count; i++) {
        lives[i].offset = 0;
        for (uint32_t n = lives[i].first; n <= lives[i].last; n++) lives[i].offset = WICK_MAX(lives[i].offset, at[n]);
    }
    free(at);
    return true;
}

static int by_offset(const void *a, const void *b)
{
    const struct wick_plan_life *x = *(const struct wick_plan_life *const *)a, *y = *(const struct wick_plan_life *const *)b;
    return x->offset < y->offset ? -1 : x->offset > y->offset ? 1 : 0;
}

/* Among placed[0..count), the gap for a life: the lowest, or the smallest that holds it. */
static uint64_t find_gap(struct wick_plan_life *placed, size_t count, const struct wick_plan_life *life, bool smallest, struct wick_plan_life **near)
{
    size_t n = 0;
    uint64_t at = 0, best = UINT64_MAX, best_size = UINT64_MAX;
    for (size_t i = 0; i < count; i++)
        if (placed[i].first <= life->last && life->first <= placed[i].last) near[n++] = &placed[i];
    qsort(near, n, sizeof *near, by_offset);
    for (size_t i = 0; i < n; i++) {
        if (near[i]->offset >= at + life->bytes && near[i]->offset - at < best_size) {
            best = at;
            best_size = near[i]->offset - at;
            if (!smallest) break;
        }
        at = WICK_MAX(at, wick_align_up(near[i]->offset + near[i]->bytes, PLAN_ALIGNMENT));
    }
    return best != UINT64_MAX ? best : at;
}

/* Places all lives in their order; the bytes that takes. */
static uint64_t place(struct wick_plan_life *lives, size_t count, bool smallest, struct wick_plan_life **near)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        lives[i].offset = find_gap(lives, i, &lives[i], smallest, near);
        bytes = WICK_MAX(bytes, lives[i].offset + lives[i].bytes);
    }
    return wick_align_up(bytes, PLAN_ALIGNMENT);
}

/* Leaves the tightest placement in best. */
static uint64_t place_best(struct wick_plan_life *lives, size_t count, uint32_t steps, struct wick_plan_life *best, struct wick_plan_life **near)
{
    static int (*const orders[])(const void *, const void *) = {by_size, by_length, by_breadth};
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < 2 * WICK_ARRAY_SIZE(orders); i++) {
        if (orders[i / 2] == by_breadth && !measure_breadth(lives, count, steps)) continue;
        qsort(lives, count, sizeof *lives, orders[i / 2]);
        uint64_t bytes = place(lives, count, i % 2, near);
        if (bytes >= least) continue;
        least = bytes;
        if (count) memcpy(best, lives, count * sizeof *lives);
    }
    return least;
}

static size_t collect(const struct wick_graph *g, const uint32_t *root, struct wick_plan_life *lives)
{
    for (uint32_t i = 0; i < g->value_count; i++) lives[i] = (struct wick_plan_life){.id = i, .first = UINT32_MAX};
    for (uint32_t n = 0; n < g->node_count; n++)
        for (uint32_t k = 0; !g->nodes[n].dead && k < g->nodes[n].count; k++) touch(g, root, lives, g->nodes[n].ids[k], n);
    for (uint32_t i = 0; i < g->output_count; i++) touch(g, root, lives, g->outputs[i], g->node_count);
    size_t count = 0;
    for (uint32_t i = 0; i < g->value_count; i++) {
        bool planned = g->info[i].origin == WICK_ORIGIN_COMPUTED || g->info[i].origin == WICK_ORIGIN_STATE;
        if (lives[i].bytes == 0 || root[i] != i || !planned) continue;
        lives[count] = lives[i];
        lives[count].bytes = WICK_MAX(wick_shape_nbytes(wick_graph_shape(g, i)), (size_t)1);
        if (g->info[i].origin == WICK_ORIGIN_STATE) lives[count].first = 0, lives[count].last = g->node_count;
        count++;
    }
    return count;
}

/* States leave the lives for a buffer of their own, one behind the other. Equal states of two methods get equal places. */
static size_t part_states(const struct wick_graph *g, struct wick_plan_life *lives, size_t count, struct wick_memory_plan *plan)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        if (g->info[lives[i].id].origin != WICK_ORIGIN_STATE) {
            lives[left++] = lives[i];
            continue;
        }
        plan->offsets[lives[i].id] = plan->apart_bytes;
        plan->state_bytes += lives[i].bytes;
        plan->apart_bytes = wick_align_up(plan->apart_bytes + lives[i].bytes, PLAN_ALIGNMENT);
    }
    return left;
}

wick_status wick_stage_plan(struct wick_graph *g, bool apart, struct wick_memory_plan *plan, wick_error *err)
{
    size_t n = g->value_count;
    uint32_t *root = malloc(n * sizeof *root + 1);
    struct wick_plan_life *lives = malloc(n * sizeof *lives + 1), **near = malloc(n * sizeof *near + 1);
    *plan = (struct wick_memory_plan){.offsets = WICK_NEW_ARRAY(&g->arena, uint64_t, n)};
    if (!root || !lives || !near || !plan->offsets) {
        free(root), free(lives), free(near);
        return wick_fail_oom(err, n * sizeof *lives, "memory plan");
    }
    find_roots(g, root);
    size_t count = collect(g, root, lives);
    for (size_t i = 0; i < n; i++) plan->offsets[i] = WICK_NO_OFFSET;
    if (apart) count = part_states(g, lives, count, plan);
    struct wick_plan_life *best = WICK_NEW_ARRAY(&g->arena, struct wick_plan_life, count + 1);
    if (best) plan->bytes = place_best(lives, count, g->node_count, best, near);
    for (size_t i = 0; best && i < count; i++) {
        plan->offsets[best[i].id] = best[i].offset;
        if (g->info[best[i].id].origin == WICK_ORIGIN_STATE) plan->state_bytes += best[i].bytes;
    }
    plan->lives = best;
    plan->life_count = (uint32_t)count;
    free(root), free(lives), free(near);
    return best ? WICK_OK : wick_fail_oom(err, count * sizeof *best, "memory plan");
}
