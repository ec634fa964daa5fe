/* backends/xnnpack/aot/lower.c - a run of claimed calls as an XNNPACK payload. Weights become named data whose keys are filled in when
 * their bytes have been written; the payload is rendered after that (wick_delegate.render). */
#include "backends/xnnpack/aot/aot.h"

#include "backends/xnnpack/fmt/payload.h"
#include "graph/irops.h"
#include "graph/quantized.h"

/* A payload in the making. Values and nodes grow in the graph's arena. */
struct builder {
    struct wick_graph *g;
    const struct wick_partition *p;
    struct wick_delegate *delegate;
    struct wick_xnn_graph *x;
    uint32_t value_capacity, node_capacity, constant_capacity;
    struct mapping {
        uint32_t graph_id, index;
    } * made; /* graph values that have a payload value */
    uint32_t made_count;
    bool out_of_memory;
};

struct wick_delegate_data {
    struct wick_xnn_graph *x;
    struct wick_named_constant *keys; /* of x->constants[1 ..] */
};

static void *more(struct builder *b, void *old, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity) return old;
    uint32_t next = *capacity ? *capacity * 2 : 16;
    void *items = wick_arena_array(&b->g->arena, next, size, 16);
    if (!items) {
        b->out_of_memory = true;
        return NULL;
    }
    if (count) memcpy(items, old, count * size);
    *capacity = next;
    return items;
}

/* Index of a new value of a graph tensor's shape. */
static uint32_t add_value(struct builder *b, uint32_t graph_id, int datatype)
{
    struct wick_xnn_value *values = more(b, b->x->values, b->x->value_count, &b->value_capacity, sizeof *values);
    if (!values) return WICK_XNN_NO_ID;
    b->x->values = values;
    uint32_t index = b->x->value_count++;
    const struct wick_shape *shape = wick_graph_shape(b->g, graph_id);
    values[index] = (struct wick_xnn_value){.id = index, .datatype = (int16_t)datatype, .external_id = WICK_XNN_NO_ID};
    values[index].dims.count = shape->rank;
    for (int i = 0; i < shape->rank && i < WICK_XNN_RANK_MAX; i++) values[index].dims.items[i] = (uint32_t)shape->sizes[i];
    return index;
}

/* Index into x->constants of bytes that will be named data, of the weight graph_id; keys are that of delegate->constants, one shorter: entry 0 of
 * the payload's list is reserved. */
static uint32_t add_constant(struct builder *b, uint32_t graph_id, struct wick_source *source, const char *prefix)
{
    uint32_t count = b->delegate->constant_count, named_capacity = b->constant_capacity;
    struct wick_named_constant *named = more(b, b->delegate->constants, count, &named_capacity, sizeof *named);
    if (!named || !source) {
        b->out_of_memory = true;
        return 0;
    }
    if (named_capacity != b->constant_capacity) {
        struct wick_xnn_constant *constants = WICK_NEW_ARRAY(&b->g->arena, struct wick_xnn_constant, named_capacity + 1);
        if (!constants) {
            b->out_of_memory = true;
            return 0;
        }
        if (count) memcpy(constants, b->x->constants, (count + 1) * sizeof *constants);
        b->x->constants = constants;
        b->constant_capacity = named_capacity;
    }
    named[count] = (struct wick_named_constant){.source = source, .name = b->g->info[graph_id].name, .prefix = prefix};
    memset(named[count].key, '0', strlen(prefix) + 64);
    b->delegate->constants = named;
    b->delegate->constant_count = count + 1;
    b->x->constants[count + 1] = (struct wick_xnn_constant){.size = wick_shape_nbytes(&source->shape)};
    b->x->constant_count = count + 2;
    return count + 1;
}

static struct wick_xnn_node *add_node(struct builder *b, uint8_t kind)
{
    struct wick_xnn_node *nodes = more(b, b->x->nodes, b->x->node_count, &b->node_capacity, sizeof *nodes);
    if (!nodes) return NULL;
    b->x->nodes = nodes;
    struct wick_xnn_node *node = &nodes[b->x->node_count++];
    *node = (struct wick_xnn_node){.kind = kind, .debug_handle = 65535};
    return node;
}

static int datatype_of(int dtype)
{
    return dtype == WICK_DTYPE_F16 ? XNN_DATATYPE_FP16 : dtype == WICK_DTYPE_BF16 ? XNN_DATATYPE_BF16 : XNN_DATATYPE_FP32;
}

/* The payload value of a graph tensor, made on first sight: a constant's bytes become named data. */
static uint32_t value_of(struct builder *b, uint32_t graph_id)
{
    for (uint32_t i = 0; i < b->made_count; i++)
        if (b->made[i].graph_id == graph_id) return b->made[i].index;
    uint32_t index = add_value(b, graph_id, datatype_of(wick_graph_shape(b->g, graph_id)->dtype));
    if (index == WICK_XNN_NO_ID) return index;
    if (b->g->info[graph_id].origin == WICK_ORIGIN_CONSTANT) b->x->values[index].constant = add_constant(b, graph_id, b->g->info[graph_id].source, "");
    for (uint32_t i = 0; i < b->p->input_count; i++)
        if (b->p->inputs[i] == graph_id) {
            b->x->values[index].external_id = i;
            b->x->values[index].flags = WICK_XNN_VALUE_INPUT;
        }
    for (uint32_t i = 0; i < b->p->output_count; i++)
        if (b->p->outputs[i] == graph_id) {
            b->x->values[index].external_id = b->p->input_count + i;
            b->x->values[index].flags = WICK_XNN_VALUE_OUTPUT;
        }
    b->made[b->made_count++] = (struct mapping){graph_id, index};
    return index;
}

/* ---- judging ---- */

static bool is_float(const struct wick_graph *g, uint32_t id)
{
    const struct wick_shape *s = g->values[id].tag == WICK_TAG_TENSOR ? wick_graph_shape(g, id) : NULL;
    return s && (s->dtype == WICK_DTYPE_F32 || s->dtype == WICK_DTYPE_F16 || s->dtype == WICK_DTYPE_BF16) && s->rank >= 1 &&
           s->rank <= WICK_XNN_RANK_MAX && wick_shape_numel(s) > 0;
}

static bool judge_unary(const struct wick_graph *g, const struct wick_graph_node *n)
{
    return is_float(g, n->ids[0]) && is_float(g, n->ids[n->count - 1]);
}

static bool judge_binary(const struct wick_graph *g, const struct wick_graph_node *n)
{
    if (!is_float(g, n->ids[0]) || !is_float(g, n->ids[1])) return false;
    return n->n_inputs == 2 || (g->values[n->ids[2]].tag == WICK_TAG_INT && g->values[n->ids[2]].as.i == 1); /* alpha */
}

/* A float vector known now, or none. */
static bool is_bias(const struct wick_graph *g, uint32_t id)
{
    return g->values[id].tag == WICK_TAG_NONE || (is_float(g, id) && g->info[id].origin == WICK_ORIGIN_CONSTANT);
}

static bool judge_linear(const struct wick_graph *g, const struct wick_graph_node *n)
{
    return is_float(g, n->ids[0]) && is_float(g, n->ids[1]) && g->info[n->ids[1]].origin == WICK_ORIGIN_CONSTANT && is_bias(g, n->ids[2]);
}

/* A scale a row. */
static bool is_whole_row(const struct wick_graph *g, uint32_t weight, const struct wick_quantized *q)
{
    int bits = wick_quantized_bits(q);
    return (bits == 4 || bits == 8) && wick_quantized_group(q) == wick_graph_shape(g, weight)->sizes[1];
}

static bool judge_dynamic_linear(const struct wick_graph *g, const struct wick_graph_node *n)
{
    const struct wick_quantized *q = g->info[n->ids[1]].quantized;
    if (!is_float(g, n->ids[0]) || !q || !is_bias(g, n->ids[2])) return false;
    return wick_quantized_bits(q) == 4 && wick_quantized_rule(q) == WICK_QUANT_AFFINE ? wick_quantized_group(q) % 32 == 0
                                                                                      : is_whole_row(g, n->ids[1], q);
}

/* Rows of floats with integers of a scale a row; in float32 only. */
static bool judge_weight_linear(const struct wick_graph *g, const struct wick_graph_node *n)
{
    const struct wick_quantized *q = g->info[n->ids[1]].quantized;
    return is_float(g, n->ids[0]) && wick_graph_shape(g, n->ids[0])->dtype == WICK_DTYPE_F32 && q && is_bias(g, n->ids[2]) &&
           is_whole_row(g, n->ids[1], q);
}

/* ---- emitting ---- */

static void emit_unary(struct builder *b, const struct wick_graph_node *n, uint8_t kind)
{
    uint32_t in = value_of(b, n->ids[0]), out = value_of(b, n->ids[n->count - 1]);
    struct wick_xnn_node *node = add_node(b, kind);
    if (!node) return;
    node->slots[XNN_NODE_1X1_INPUT_ID] = in;
    node->slots[XNN_NODE_1X1_OUTPUT_ID] = out;
}

static void emit_binary(struct builder *b, const struct wick_graph_node *n, uint8_t kind)
{
    uint32_t left = value_of(b, n->ids[0]), right = value_of(b, n->ids[1]), out = value_of(b, n->ids[n->count - 1]);
    struct wick_xnn_node *node = add_node(b, kind);
    if (!node) return;
    node->slots[XNN_NODE_2X1_INPUT1_ID] = left;
    node->slots[XNN_NODE_2X1_INPUT2_ID] = right;
    node->slots[XNN_NODE_2X1_OUTPUT_ID] = out;
}

/* The bias of a linear, in float32 where the library has no kernels with another: quantized activations, bf16. */
static uint32_t bias_of(struct builder *b, uint32_t bias, bool wide)
{
    if (b->g->values[bias].tag == WICK_TAG_NONE) return WICK_XNN_NO_ID;
    if (!wide || wick_graph_shape(b->g, bias)->dtype == WICK_DTYPE_F32) return value_of(b, bias);
    uint32_t index = add_value(b, bias, XNN_DATATYPE_FP32);
    if (index != WICK_XNN_NO_ID && !b->out_of_memory)
        b->x->values[index].constant = add_constant(b, bias, wick_source_cast(&b->g->arena, b->g->info[bias].source, WICK_DTYPE_F32), "");
    return index;
}

static void add_fully_connected(struct builder *b, uint32_t in, uint32_t filter, uint32_t bias, uint32_t out)
{
    int datatype = b->out_of_memory ? -1 : b->x->values[in].datatype;
    uint32_t added = bias_of(b, bias, datatype == XNN_DATATYPE_QDINT8 || datatype == XNN_DATATYPE_BF16);
    struct wick_xnn_node *node = add_node(b, XNN_NODE_FULLY_CONNECTED);
    if (!node) return;
    node->slots[XNN_FULLY_CONNECTED_INPUT1_ID] = in;
    node->slots[XNN_FULLY_CONNECTED_FILTER_ID] = filter;
    node->slots[XNN_FULLY_CONNECTED_BIAS_ID] = added;
    node->slots[XNN_FULLY_CONNECTED_OUTPUT_ID] = out;
}

static void emit_linear(struct builder *b, const struct wick_graph_node *n, uint8_t kind)
{
    (void)kind;
    uint32_t in = value_of(b, n->ids[0]), filter = value_of(b, n->ids[1]);
    add_fully_connected(b, in, filter, n->ids[2], value_of(b, n->ids[n->count - 1]));
}

/* The integers and scales of a weight: with bf16 scales of groups of 4 bits, or with a f32 scale a row. */
static uint32_t add_filter(struct builder *b, uint32_t weight, bool dynamic)
{
    struct wick_arena *arena = &b->g->arena;
    struct wick_quantized *q = b->g->info[weight].quantized;
    bool four = wick_quantized_bits(q) == 4, rows = !four || !dynamic || wick_quantized_rule(q) == WICK_QUANT_OBSERVED;
    uint32_t filter = add_value(b, weight, !rows ? XNN_DATATYPE_QBINT4 : four ? XNN_DATATYPE_QCINT4 : XNN_DATATYPE_QCINT8);
    struct wick_source *scales = wick_quantized_scales(q, arena, rows ? WICK_DTYPE_F32 : WICK_DTYPE_BF16, false);
    uint32_t values = add_constant(b, weight, wick_quantized_values(q, arena, four ? WICK_PACK_LOW_NIBBLE : WICK_PACK_INT8), ""),
             scale = add_constant(b, weight, scales, "scale_");
    if (b->out_of_memory) return filter;
    b->x->values[filter].constant = values;
    b->x->values[filter].quant = (struct wick_xnn_quant){.kind = rows ? XNN_QUANT_PER_CHANNEL : XNN_QUANT_PER_GROUP,
                                                         .channel_dim = 0,
                                                         .group_size = rows ? 0 : wick_quantized_group(q),
                                                         .scale_constant = scale,
                                                         .scale_count = (uint32_t)wick_shape_numel(&scales->shape)};
    return filter;
}

static void emit_weight_linear(struct builder *b, const struct wick_graph_node *n, uint8_t kind)
{
    (void)kind;
    uint32_t in = value_of(b, n->ids[0]), filter = add_filter(b, n->ids[1], false);
    if (!b->out_of_memory) add_fully_connected(b, in, filter, n->ids[2], value_of(b, n->ids[n->count - 1]));
}

/* Convert to qdint8 per row, then FullyConnected with an integer filter. Each linear has its own Convert, as the original
 * writes it. */
static void emit_dynamic_linear(struct builder *b, const struct wick_graph_node *n, uint8_t kind)
{
    (void)kind;
    uint32_t in = value_of(b, n->ids[0]), row = add_value(b, n->ids[0], XNN_DATATYPE_QDINT8);
    if (b->out_of_memory) return;
    b->x->values[row].quant = (struct wick_xnn_quant){.kind = XNN_QUANT_PER_TOKEN, .num_nonbatch_dims = 1};
    struct wick_xnn_node *convert = add_node(b, XNN_NODE_CONVERT);
    if (!convert) return;
    convert->slots[XNN_NODE_1X1_INPUT_ID] = in;
    convert->slots[XNN_NODE_1X1_OUTPUT_ID] = row;
    uint32_t filter = add_filter(b, n->ids[1], true);
    if (!b->out_of_memory) add_fully_connected(b, row, filter, n->ids[2], value_of(b, n->ids[n->count - 1]));
}

static const struct {
    const char *op;
    bool extended;
    bool (*judge)(const struct wick_graph *g, const struct wick_graph_node *n);
    void (*emit)(struct builder *b, const struct wick_graph_node *n, uint8_t kind);
    uint8_t kind;
} calls[] = {
#define WICK_XNN_CALL(op, extended, judge, emit, kind) {op, extended, judge, emit, kind},
#include "backends/xnnpack/aot/calls.def"
#undef WICK_XNN_CALL
};

static int find_call(const struct wick_graph_node *node)
{
    for (size_t i = 0; i < WICK_ARRAY_SIZE(calls); i++)
        if (strcmp(calls[i].op, node->op->name) == 0) return (int)i;
    return -1;
}

/* All float tensors of a call are of one type, and of bf16 only if the configuration lets them. */
static bool types_fit(const struct wick_graph *g, const struct wick_graph_node *node, const struct wick_lowering_options *options)
{
    int dtype = -1;
    for (uint32_t k = 0; k < node->count; k++) {
        if (!is_float(g, node->ids[k])) continue;
        int own = wick_graph_shape(g, node->ids[k])->dtype;
        if (dtype >= 0 && own != dtype) return false;
        dtype = own;
    }
    return dtype != WICK_DTYPE_BF16 || options->bf16;
}

/* Linears get delegates of their own, as in the original: with a neighbour in the same payload its library would keep the half-precision value
 * between the two in float32, and the logits would be others. */
enum { PASS_LINEARS, PASS_OTHERS, PASS_COUNT };

static bool claims(const struct wick_graph *g, const struct wick_graph_node *node, const struct wick_lowering_options *options)
{
    int i = find_call(node);
    return i >= 0 && (calls[i].kind == XNN_NODE_FULLY_CONNECTED) == (options->pass == PASS_LINEARS) && (options->extended || !calls[i].extended) &&
           calls[i].judge(g, node) && types_fit(g, node, options);
}

static wick_status render(const struct wick_delegate_data *data, struct wick_buf *payload, wick_error *err)
{
    for (uint32_t i = 1; i < data->x->constant_count; i++) data->x->constants[i].key = wick_str_of(data->keys[i - 1].key);
    return wick_xnn_payload_write(data->x, payload, err);
}

static wick_status lower(struct wick_graph *g, const struct wick_partition *p, struct wick_delegate *delegate, wick_error *err)
{
    struct builder b = {.g = g, .p = p, .delegate = delegate};
    uint32_t most = 4;
    for (uint32_t n = p->first; n < p->last; n++) most += g->nodes[n].dead ? 0 : g->nodes[n].count;
    struct wick_delegate_data *data = WICK_NEW(&g->arena, struct wick_delegate_data);
    b.made = WICK_NEW_ARRAY(&g->arena, struct mapping, most);
    b.x = WICK_NEW(&g->arena, struct wick_xnn_graph);
    if (!data || !b.made || !b.x) return wick_fail_oom(err, most * sizeof *b.made, "XNNPACK payload");
    b.x->extern_count = p->input_count + p->output_count;
    /* Externals first, in the order of the call's arguments. */
    for (uint32_t i = 0; i < p->input_count; i++) value_of(&b, p->inputs[i]);
    for (uint32_t i = 0; i < p->output_count; i++) value_of(&b, p->outputs[i]);
    for (uint32_t n = p->first; n < p->last && !b.out_of_memory; n++) {
        const struct wick_graph_node *node = &g->nodes[n];
        int i = node->dead ? -1 : find_call(node);
        if (i >= 0) calls[i].emit(&b, node, calls[i].kind);
    }
    if (b.out_of_memory) return wick_fail_oom(err, most, "XNNPACK payload");
    if (b.x->constant_count == 0) {
        b.x->constants = WICK_NEW(&g->arena, struct wick_xnn_constant);
        b.x->constant_count = 1;
        if (!b.x->constants) return wick_fail_oom(err, sizeof *b.x->constants, "XNNPACK payload");
    }
    *data = (struct wick_delegate_data){b.x, delegate->constants};
    delegate->data = data;
    delegate->render = render;
    return WICK_OK;
}

const struct wick_lowering wick_lowering_xnnpack = {
    .id = "XnnpackBackend", .passes = PASS_COUNT, .section = "xnnpack", .claims = claims, .lower = lower};
