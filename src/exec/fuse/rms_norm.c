/* exec/fuse/rms_norm.c - x * x, mean, + eps, 1 / sqrt, * x, * weight: six calls become one (Zhang and Sennrich, 2019). */
#include "exec/fuse.h"
#include "exec/fuse/rows.h"

/* A number, or a tensor of one. */
static float eps_of(const struct wick_args *args)
{
    const struct wick_tensor *eps = wick_arg_tensor(args, 2);
    return eps ? *(const float *)eps->data : (float)wick_arg_scalar(args, 2);
}

static void norm_row(const struct wick_args *args, const struct wick_ukernels *uk, size_t row, size_t n, float *y)
{
    const float *x = (const float *)wick_arg_tensor(args, 0)->data + row * n, *w = wick_arg_tensor(args, 1)->data;
    float mean, scale;
    uk->mul(n, x, x, y);
    mean = (float)((double)uk->reduce_sum(n, y) / (double)n);
    uk->add_scalar(1, &mean, eps_of(args), &mean);
    uk->rsqrt(1, &mean, &scale);
    uk->mul_scalar(n, x, scale, y);
    uk->mul(n, y, w, y);
}

static wick_status run_norm(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    return wick_rows_run(args, 3, false, norm_row, run);
}

static wick_status run_quantized(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    return wick_rows_run(args, 3, true, norm_row, run);
}

static const struct wick_opmeta meta = {"fused::rms_norm", "TTS>T", WICK_ALIAS_NONE, wick_rows_infer};
static const struct wick_opmeta quantized_meta = {"fused::rms_norm_quantize", "TTS>TT", WICK_ALIAS_NONE, wick_rows_infer_quantized};
const struct wick_op wick_rows_rms_norm = {.meta = &meta, .run = run_norm};
const struct wick_op wick_rows_rms_norm_quantized = {.meta = &quantized_meta, .run = run_quantized};

/* ---- the pattern ---- */

struct match {
    const struct wick_node *parts[5]; /* scaled, root, shifted, mean, square */
    uint32_t x, weight, eps;
};

/* The mean over the last dim, which it keeps. */
static bool is_row_mean(const struct wick_fuse *fuse, const struct wick_node *mean)
{
    struct wick_args args = {fuse->graph->values, mean->ids, mean->count};
    int rank = wick_arg_tensor(&args, 0)->shape.rank;
    if (rank < 1 || !wick_arg_bool(&args, 2) || !wick_arg_is_none(&args, 3) || wick_arg_is_none(&args, 1) || wick_arg_count(&args, 1) != 1)
        return false;
    int64_t dim = wick_arg_int_at(&args, 1, 0);
    return dim == -1 || dim == rank - 1;
}

static bool is_square(const struct wick_fuse *fuse, const struct wick_node *node, uint32_t x)
{
    if (node->ids[0] != x) return false;
    if (strcmp(node->op->meta->name, "aten::pow.Tensor_Scalar_out") != 0) return node->ids[1] == x;
    struct wick_args args = {fuse->graph->values, node->ids, node->count};
    return wick_arg_scalar(&args, 1) == 2.0;
}

/* value = something + eps: a number, or a constant of one element. */
static const struct wick_node *shift_of(const struct wick_fuse *fuse, uint32_t value, uint32_t at, uint32_t *eps)
{
    const struct wick_node *node = wick_fuse_producer(fuse, value, at, true, "aten::add.Scalar_out", "aten::add.out");
    bool alpha = node != NULL;
    if (!node) node = wick_fuse_producer(fuse, value, at, true, "xnn::add", NULL);
    if (!node) return NULL;
    struct wick_args args = {fuse->graph->values, node->ids, node->count};
    if (alpha && wick_arg_scalar(&args, 2) != 1.0) return NULL;
    const struct wick_tensor *tensor = wick_arg_tensor(&args, 1);
    *eps = node->ids[1];
    return !tensor || (tensor->constant && tensor->data && wick_tensor_numel(tensor) == 1) ? node : NULL;
}

/* scaled = x * root, root = 1 / sqrt(mean(x^2) + eps). */
static bool match_scaled(const struct wick_fuse *fuse, uint32_t at, uint32_t side, struct match *m)
{
    const struct wick_node *scaled = m->parts[0];
    const char *mul = "xnn::multiply", *plain_mul = "aten::mul.out";
    m->x = scaled->ids[1 - side];
    m->parts[1] = wick_fuse_producer(fuse, scaled->ids[side], at, true, "xnn::reciprocal_square_root", "aten::rsqrt.out");
    m->parts[2] = m->parts[1] ? shift_of(fuse, m->parts[1]->ids[0], at, &m->eps) : NULL;
    m->parts[3] = m->parts[2] ? wick_fuse_producer(fuse, m->parts[2]->ids[0], at, true, "aten::mean.out", NULL) : NULL;
    if (!m->parts[3] || !is_row_mean(fuse, m->parts[3])) return false;
    m->parts[4] = wick_fuse_producer(fuse, m->parts[3]->ids[0], at, true, mul, plain_mul);
    if (!m->parts[4]) m->parts[4] = wick_fuse_producer(fuse, m->parts[3]->ids[0], at, true, "aten::pow.Tensor_Scalar_out", NULL);
    return m->parts[4] && is_square(fuse, m->parts[4], m->x);
}

static bool match_norm(const struct wick_fuse *fuse, uint32_t at, struct match *m)
{
    const struct wick_exec_graph *graph = fuse->graph;
    const struct wick_node *last = &graph->nodes[at];
    for (uint32_t w = 0; w < 2; w++) {
        const struct wick_tensor *weight = graph->values[last->ids[w]].as.tensor;
        m->weight = last->ids[w];
        m->parts[0] = wick_fuse_producer(fuse, last->ids[1 - w], at, true, "xnn::multiply", "aten::mul.out");
        if (!weight->constant || weight->shape.rank != 1 || !m->parts[0]) continue;
        for (uint32_t side = 0; side < 2; side++) {
            if (!match_scaled(fuse, at, side, m)) continue;
            const struct wick_tensor *x = graph->values[m->x].as.tensor;
            bool fits = x->shape.rank > 0 && x->shape.sizes[x->shape.rank - 1] == weight->shape.sizes[0] && wick_fuse_is_f32(fuse, last);
            for (int i = 0; i < 5; i++) fits = fits && wick_fuse_is_f32(fuse, m->parts[i]);
            return fits && wick_fuse_is_quiet(fuse, m->parts, 5, at, m->x);
        }
    }
    return false;
}

static wick_status apply(struct wick_fuse *fuse)
{
    struct wick_exec_graph *graph = fuse->graph;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct wick_node *node = &graph->nodes[i];
        struct match m;
        if (node->kind != WICK_NODE_CALL ||
            (strcmp(node->op->meta->name, "xnn::multiply") != 0 && strcmp(node->op->meta->name, "aten::mul.out") != 0))
            continue;
        if (!match_norm(fuse, i, &m)) continue;
        uint32_t ids[] = {m.x, m.weight, m.eps, node->writes[0]};
        if (!wick_fuse_can_call(fuse, ids, 3, 1)) continue;
        WICK_TRY(wick_fuse_call(fuse, i, &wick_rows_rms_norm, ids, 3, 1));
        for (int k = 0; k < 5; k++) fuse->dead[m.parts[k] - graph->nodes] = true;
    }
    return WICK_OK;
}

const struct wick_fusion wick_fusion_rms_norm = {"rms_norm", apply};
