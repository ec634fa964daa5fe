/* export/plan.c - memory planning: every computed tensor gets a place in one buffer, and tensors that never live at the same
 * time share bytes. Next: emit.c.
 *
 * Greedy by size: the largest tensors first, each at the lowest offset where it meets none that lives with it (the original's
 * greedy algorithm; Pisarchyk and Lee, "Efficient memory management for deep neural net inference", 2020). */
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

static int by_size(const void *a, const void *b)
{
    const struct wick_plan_life *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    return x->id < y->id ? -1 : 1; /* the same graph always gives the same plan */
}

static int by_offset(const void *a, const void *b)
{
    const struct wick_plan_life *x = *(const struct wick_plan_life *const *)a, *y = *(const struct wick_plan_life *const *)b;
    return x->offset < y->offset ? -1 : x->offset > y->offset ? 1 : 0;
}

/* Tensors placed so far, placed[0..count), by offset those that live with `life`. */
static uint64_t lowest_gap(struct wick_plan_life *placed, size_t count, const struct wick_plan_life *life, struct wick_plan_life **near)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (placed[i].first <= life->last && life->first <= placed[i].last) near[n++] = &placed[i];
    qsort(near, n, sizeof *near, by_offset);
    uint64_t at = 0;
    for (size_t i = 0; i < n; i++) {
        if (near[i]->offset >= at + life->bytes) break;
        at = WICK_MAX(at, wick_align_up(near[i]->offset + near[i]->bytes, PLAN_ALIGNMENT));
    }
    return at;
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

wick_status wick_stage_plan(struct wick_graph *g, struct wick_memory_plan *plan, wick_error *err)
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
    qsort(lives, count, sizeof *lives, by_size);
    for (size_t i = 0; i < n; i++) plan->offsets[i] = WICK_NO_OFFSET;
    for (size_t i = 0; i < count; i++) {
        lives[i].offset = lowest_gap(lives, i, &lives[i], near);
        plan->offsets[lives[i].id] = lives[i].offset;
        plan->bytes = WICK_MAX(plan->bytes, lives[i].offset + lives[i].bytes);
        if (g->info[lives[i].id].origin == WICK_ORIGIN_STATE) plan->state_bytes += lives[i].bytes;
    }
    plan->bytes = wick_align_up(plan->bytes, PLAN_ALIGNMENT);
    struct wick_plan_life *kept = WICK_NEW_ARRAY(&g->arena, struct wick_plan_life, count);
    if (kept && count) memcpy(kept, lives, count * sizeof *kept);
    plan->lives = kept;
    plan->life_count = (uint32_t)count;
    free(root), free(lives), free(near);
    return kept ? WICK_OK : wick_fail_oom(err, count * sizeof *kept, "memory plan");
}
