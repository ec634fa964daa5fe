/* exec/fuse/rope.c - rotary position embedding of neighbouring pairs: eleven calls or more that part, multiply and join become one (Su et al., 2021).
 */
#include "exec/fuse.h"
#include "ukernel/ukernels.h"

/* (x (1, pos, head, pair, 2), cos (1, pos, 1, pair), sin likewise): y[0] = x[0] cos - x[1] sin, y[1] = x[0] sin + x[1] cos. */
struct rope {
    const struct wick_ukernels *uk;
    const float *x, *cos, *sin;
    float *y;
    size_t heads, pairs;
};

static void rotate_position(void *user, size_t pos, unsigned thread)
{
    const struct rope *r = user;
    (void)thread;
    for (size_t head = 0; head < r->heads; head++) {
        size_t at = (pos * r->heads + head) * r->pairs * 2;
        r->uk->rope_pairs(r->pairs, r->x + at, r->cos + pos * r->pairs, r->sin + pos * r->pairs, r->y + at);
    }
}

static wick_status run_rope(const struct wick_args *args, const void *state, struct wick_run *run)
{
    enum { GRAIN = 4 * 1024 }; /* below so many elements threads do not pay */
    const struct wick_tensor *x = wick_arg_tensor(args, 0), *cos = wick_arg_tensor(args, 1), *sin = wick_arg_tensor(args, 2);
    struct rope r = {.uk = run->ukernels, .x = x->data, .cos = cos->data, .sin = sin->data, .y = wick_arg_tensor(args, 3)->data};
    size_t positions = (size_t)x->shape.sizes[1];
    (void)state;
    r.heads = (size_t)x->shape.sizes[2];
    r.pairs = (size_t)x->shape.sizes[3];
    if (wick_tensor_numel(cos) != positions * r.pairs || wick_tensor_numel(sin) != positions * r.pairs)
        return wick_fail(run->err, WICK_INVALID_PROGRAM, "%zu and %zu angles for %zu positions of %zu pairs", wick_tensor_numel(cos),
                         wick_tensor_numel(sin), positions, r.pairs);
    wick_pool_run(wick_tensor_numel(x) < GRAIN ? NULL : run->pool, positions, rotate_position, &r);
    return WICK_OK;
}

static wick_status infer_rope(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    (void)err;
    outs[0] = wick_arg_tensor(args, 0)->shape;
    return WICK_OK;
}

static const struct wick_opmeta meta = {"fused::rope", "TTT>T", WICK_ALIAS_NONE, infer_rope};
static const struct wick_op rope_op = {.meta = &meta, .run = run_rope};

/* ---- the pattern ---- */

/* HALF_n makes half n of x (select, or slice and then squeeze); SLICE_n is that slice, or again HALF_n. */
enum { CAT, UNSQUEEZE_0, UNSQUEEZE_1, MINUS, PLUS, MUL_0, MUL_1, MUL_2, MUL_3, HALF_0, HALF_1, SLICE_0, SLICE_1, PARTS };

struct match {
    const struct wick_node *parts[PARTS];
    uint32_t x, cos, sin;
};

static const char mul[] = "xnn::multiply", plain_mul[] = "aten::mul.out";

static const struct wick_shape *shape_of(const struct wick_fuse *fuse, uint32_t value) { return &fuse->graph->values[value].as.tensor->shape; }

static int64_t int_arg(const struct wick_fuse *fuse, const struct wick_node *node, uint32_t k)
{
    struct wick_args args = {fuse->graph->values, node->ids, node->count};
    return wick_arg(&args, k)->tag == WICK_TAG_INT ? wick_arg_int(&args, k) : INT64_MIN;
}

static bool is_last_dim(const struct wick_fuse *fuse, const struct wick_node *node, uint32_t k)
{
    int64_t dim = int_arg(fuse, node, k);
    return dim == -1 || dim == 4;
}

/* long_one is short_one with a last dim of 1 more. */
static bool is_with_one(const struct wick_shape *short_one, const struct wick_shape *long_one)
{
    if (long_one->rank != short_one->rank + 1 || long_one->sizes[short_one->rank] != 1) return false;
    return memcmp(short_one->sizes, long_one->sizes, short_one->rank * sizeof short_one->sizes[0]) == 0;
}

/* Does the node take x[..., which] of (..., 2)? Its slice, which a squeeze follows, or itself. */
static const struct wick_node *taken(const struct wick_fuse *fuse, const struct wick_node *node, uint32_t at, int64_t which)
{
    const struct wick_node *slice = node;
    if (strcmp(node->op->meta->name, "aten::select_copy.int_out") == 0)
        return shape_of(fuse, node->ids[0])->rank == 5 && is_last_dim(fuse, node, 1) && int_arg(fuse, node, 2) == which ? node : NULL;
    if (!is_with_one(shape_of(fuse, node->writes[0]), shape_of(fuse, node->ids[0]))) return NULL;
    slice = wick_fuse_producer(fuse, node->ids[0], at, true, "aten::slice_copy.Tensor_out", NULL);
    if (!slice || shape_of(fuse, slice->ids[0])->rank != 5 || !is_last_dim(fuse, slice, 1)) return NULL;
    return int_arg(fuse, slice, 2) == which && int_arg(fuse, slice, 3) > which && int_arg(fuse, slice, 4) == 1 ? slice : NULL;
}

/* value = half `which` of x; slice gets the call that reads x. */
static const struct wick_node *half(const struct wick_fuse *fuse, uint32_t value, uint32_t at, int64_t which, const struct wick_node **slice)
{
    const struct wick_node *node = wick_fuse_producer(fuse, value, at, false, "aten::select_copy.int_out", "aten::squeeze_copy.dims_out");
    if (!node || fuse->uses[wick_exec_graph_tensor_index(fuse->graph, value)] != 2) return NULL;
    *slice = taken(fuse, node, at, which);
    return *slice ? node : NULL;
}

/* product = half `which` of x, times an angle: which of the two arguments is the half is not fixed. */
static const struct wick_node *turned(const struct wick_fuse *fuse, uint32_t product, uint32_t at, int64_t which, const struct wick_node *halves[2],
                                      uint32_t *angle)
{
    const struct wick_node *node = wick_fuse_producer(fuse, product, at, true, mul, plain_mul);
    for (uint32_t k = 0; node && k < 2; k++) {
        halves[0] = half(fuse, node->ids[k], at, which, &halves[1]);
        *angle = node->ids[1 - k];
        if (halves[0]) return node;
    }
    return NULL;
}

/* Angles are (1, pos, 1, pair). */
static bool is_angle(const struct wick_fuse *fuse, uint32_t value, const struct wick_shape *x)
{
    const struct wick_shape *a = &fuse->graph->values[value].as.tensor->shape;
    return a->dtype == WICK_DTYPE_F32 && a->rank == 4 && a->sizes[0] == 1 && a->sizes[1] == x->sizes[1] && a->sizes[2] == 1 &&
           a->sizes[3] == x->sizes[3];
}

static bool match_sums(const struct wick_fuse *fuse, uint32_t at, struct match *m)
{
    const struct wick_node **p = m->parts, *first[2], *second[2], *again[2];
    uint32_t sin, cos;
    p[MUL_0] = turned(fuse, p[MINUS]->ids[0], at, 0, first, &m->cos);
    p[MUL_1] = turned(fuse, p[MINUS]->ids[1], at, 1, second, &m->sin);
    if (!p[MUL_0] || !p[MUL_1]) return false;
    p[HALF_0] = first[0], p[SLICE_0] = first[1];
    p[HALF_1] = second[0], p[SLICE_1] = second[1];
    for (uint32_t k = 0; k < 2; k++) {
        p[MUL_2] = turned(fuse, p[PLUS]->ids[k], at, 0, again, &sin);
        if (!p[MUL_2] || again[0] != first[0]) continue;
        p[MUL_3] = turned(fuse, p[PLUS]->ids[1 - k], at, 1, again, &cos);
        return p[MUL_3] && again[0] == second[0] && sin == m->sin && cos == m->cos;
    }
    return false;
}

/* The two values that the last call joins in the last of 5 dims. */
static bool is_join(const struct wick_fuse *fuse, const struct wick_node *node, uint32_t joined[2])
{
    struct wick_args args = {fuse->graph->values, node->ids, node->count};
    if (shape_of(fuse, node->writes[0])->rank != 5) return false;
    if (strcmp(node->op->meta->name, "aten::cat.out") == 0) {
        if (wick_arg_count(&args, 0) != 2 || !is_last_dim(fuse, node, 1)) return false;
        for (int h = 0; h < 2; h++) joined[h] = (uint32_t)wick_arg(&args, 0)->as.list.indices[h];
        return true;
    }
    const struct wick_tensor *axis = wick_arg_tensor(&args, 2);
    if (!axis->constant || !axis->data || axis->shape.dtype != WICK_DTYPE_I32 || wick_tensor_numel(axis) != 1) return false;
    joined[0] = node->ids[0], joined[1] = node->ids[1];
    int32_t dim = *(const int32_t *)axis->data;
    return dim == 4 || dim == -1;
}

static bool match_rope(const struct wick_fuse *fuse, uint32_t at, struct match *m)
{
    const struct wick_exec_graph *graph = fuse->graph;
    const struct wick_node **p = m->parts;
    uint32_t joined[2];
    p[CAT] = &graph->nodes[at];
    if (!is_join(fuse, p[CAT], joined)) return false;
    for (int h = 0; h < 2; h++) {
        p[UNSQUEEZE_0 + h] = wick_fuse_producer(fuse, joined[h], at, true, "aten::unsqueeze_copy.out", "xnn::static_reshape");
        if (!p[UNSQUEEZE_0 + h] || !is_with_one(shape_of(fuse, p[UNSQUEEZE_0 + h]->ids[0]), shape_of(fuse, joined[h]))) return false;
    }
    p[MINUS] = wick_fuse_producer(fuse, p[UNSQUEEZE_0]->ids[0], at, true, "xnn::subtract", "aten::sub.out");
    p[PLUS] = wick_fuse_producer(fuse, p[UNSQUEEZE_1]->ids[0], at, true, "xnn::add", "aten::add.out");
    if (!p[MINUS] || !p[PLUS] || !match_sums(fuse, at, m)) return false;
    m->x = p[SLICE_0]->ids[0];
    const struct wick_shape *x = shape_of(fuse, m->x);
    if (p[SLICE_1]->ids[0] != m->x || x->sizes[0] != 1 || x->sizes[4] != 2 || !is_angle(fuse, m->cos, x) || !is_angle(fuse, m->sin, x)) return false;
    for (int i = 0; i < PARTS; i++)
        if (i != CAT && i != UNSQUEEZE_0 && i != UNSQUEEZE_1 && !wick_fuse_is_f32(fuse, p[i])) return false;
    return shape_of(fuse, p[CAT]->writes[0])->dtype == WICK_DTYPE_F32;
}

/* Where the fused call can stand: a part after all that it reads is made, and before any of that is overwritten. The original turns queries and keys
 * side by side, so that the place of one is taken before the other is joined. The last part if there is no such place: false. */
static bool find_place(const struct wick_fuse *fuse, uint32_t at, const struct match *m, uint32_t *place)
{
    const struct wick_exec_graph *graph = fuse->graph;
    uint32_t made = 0, inputs[] = {m->x, m->cos, m->sin};
    *place = at;
    for (int i = 0; i < 3; i++) {
        uint32_t tensor = wick_exec_graph_tensor_index(graph, inputs[i]);
        if (fuse->defs[tensor] > 1) return false;
        if (fuse->defs[tensor] == 1) made = WICK_MAX(made, fuse->producer[tensor]);
    }
    for (int i = 0; i < PARTS; i++) {
        uint32_t part = (uint32_t)(m->parts[i] - graph->nodes);
        if (part > made) *place = WICK_MIN(*place, part);
    }
    for (int i = 0; i < 3; i++)
        if (!wick_fuse_is_quiet(fuse, m->parts, PARTS, *place, inputs[i])) return false;
    return true;
}

/* Sums and differences have no factor of their own. */
static bool is_plain(const struct wick_fuse *fuse, const struct wick_node *node)
{
    struct wick_args args = {fuse->graph->values, node->ids, node->count};
    return strncmp(node->op->meta->name, "aten::", 6) != 0 || wick_arg_scalar(&args, 2) == 1.0;
}

static wick_status apply(struct wick_fuse *fuse)
{
    struct wick_exec_graph *graph = fuse->graph;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct wick_node *node = &graph->nodes[i];
        struct match m;
        if (node->kind != WICK_NODE_CALL ||
            (strcmp(node->op->meta->name, "aten::cat.out") != 0 && strcmp(node->op->meta->name, "xnn::concatenate2") != 0))
            continue;
        if (!match_rope(fuse, i, &m)) continue;
        if (!is_plain(fuse, m.parts[MINUS]) || !is_plain(fuse, m.parts[PLUS])) continue;
        uint32_t ids[] = {m.x, m.cos, m.sin, node->writes[0]}, place;
        if (!find_place(fuse, i, &m, &place) || !wick_fuse_can_move(fuse, ids[3])) continue;
        WICK_TRY(wick_fuse_call(fuse, place, &rope_op, ids, 3, 1));
        for (int k = 0; k < PARTS; k++) fuse->dead[m.parts[k] - graph->nodes] = m.parts[k] != &graph->nodes[place];
    }
    return WICK_OK;
}

const struct wick_fusion wick_fusion_rope = {"rope", apply};
