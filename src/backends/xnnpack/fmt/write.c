/* backends/xnnpack/fmt/write.c - the structs of payload.h into a payload, by the rules that the original's readers want. Next: a segment of the program. */
#include "backends/xnnpack/fmt/payload.h"

#include "base/checked.h"
#include "flat/build.h"

#include <stdlib.h>

enum { CONSTANT_ALIGNMENT = 16 };

static flat_ref add_per_channel(struct wick_flat_builder *b, const struct wick_xnn_quant *q, bool group)
{
    /* An empty vector beside the index: the original's reader looks at it unasked. */
    static const float none = 0;
    flat_ref scales = wick_flat_add_vector(b, FLAT_F32, q->scales ? q->scales : &none, q->scales && !q->scale_constant ? q->scale_count : 0, 0);
    wick_flat_table_begin(b, group ? XNN_TABLE_PER_GROUP : XNN_TABLE_PER_CHANNEL);
    wick_flat_set_ref(b, XNN_PER_CHANNEL_SCALE, scales);
    wick_flat_set_int(b, XNN_PER_CHANNEL_CHANNEL_DIM, q->channel_dim);
    if (group) wick_flat_set_int(b, XNN_PER_GROUP_GROUP_SIZE, q->group_size);
    wick_flat_set_int(b, group ? XNN_PER_GROUP_SCALE_BUFFER_IDX : XNN_PER_CHANNEL_SCALE_BUFFER_IDX, q->scale_constant);
    wick_flat_set_int(b, group ? XNN_PER_GROUP_NUM_SCALES : XNN_PER_CHANNEL_NUM_SCALES, q->scale_count);
    return wick_flat_table_end(b);
}

static flat_ref add_quant(struct wick_flat_builder *b, const struct wick_xnn_quant *q)
{
    if (q->kind == XNN_QUANT_PER_CHANNEL || q->kind == XNN_QUANT_PER_GROUP) return add_per_channel(b, q, q->kind == XNN_QUANT_PER_GROUP);
    wick_flat_table_begin(b, q->kind == XNN_QUANT_PER_TENSOR ? XNN_TABLE_PER_TENSOR : XNN_TABLE_PER_TOKEN);
    if (q->kind == XNN_QUANT_PER_TENSOR) {
        wick_flat_set_f32(b, XNN_PER_TENSOR_SCALE, q->scale);
        wick_flat_set_int(b, XNN_PER_TENSOR_ZERO_POINT, q->zero_point);
    } else wick_flat_set_int(b, XNN_PER_TOKEN_NUM_NONBATCH_DIMS, q->num_nonbatch_dims);
    return wick_flat_table_end(b);
}

static flat_ref add_value(struct wick_flat_builder *b, const struct wick_xnn_value *v, uint32_t index)
{
    flat_ref dims = wick_flat_add_vector(b, FLAT_U32, v->dims.items, v->dims.count, 0);
    wick_flat_table_begin(b, XNN_TABLE_TENSOR);
    wick_flat_set_int(b, XNN_TENSOR_DATATYPE, v->datatype);
    wick_flat_set_int(b, XNN_TENSOR_NUM_DIMS, v->dims.count);
    wick_flat_set_ref(b, XNN_TENSOR_DIMS, dims);
    wick_flat_set_int(b, XNN_TENSOR_CONSTANT_BUFFER_IDX, v->constant);
    wick_flat_set_int(b, XNN_TENSOR_EXTERNAL_ID, v->external_id);
    wick_flat_set_int(b, XNN_TENSOR_FLAGS, v->flags);
    wick_flat_set_int(b, XNN_TENSOR_ID_OUT, index);
    wick_flat_set_int(b, XNN_TENSOR_DQ_DATATYPE, v->dq_datatype);
    flat_ref tensor = wick_flat_table_end(b);
    if (v->quant.kind != XNN_QUANT_NONE) {
        flat_ref quant = add_quant(b, &v->quant);
        wick_flat_table_begin(b, XNN_TABLE_QUANTIZED_TENSOR);
        wick_flat_set_ref(b, XNN_QUANTIZED_TENSOR_TENSOR_VALUE, tensor);
        wick_flat_set_union(b, XNN_QUANTIZED_TENSOR_PARAMS, v->quant.kind, quant);
        tensor = wick_flat_table_end(b);
    }
    wick_flat_table_begin(b, XNN_TABLE_XVALUE);
    wick_flat_set_union(b, XNN_XVALUE_VALUE, v->quant.kind != XNN_QUANT_NONE ? XNN_VALUE_QUANTIZED_TENSOR : XNN_VALUE_TENSOR, tensor);
    return wick_flat_table_end(b);
}

static flat_ref add_node(struct wick_flat_builder *b, const struct wick_xnn_node *node)
{
    const struct wick_flat_table *table = wick_xnn_node_table(node->kind);
    flat_ref lists[2] = {0}, limits = 0;
    if (!table) {
        if (b->status == WICK_OK) b->status = WICK_INVALID_ARGUMENT, b->why = "a node has no kind";
        return 0;
    }
    for (uint32_t i = 0, k = 0; i < table->count && k < 2; i++)
        if (table->fields[i].kind == FLAT_VECTOR) {
            const struct wick_xnn_dims *list = wick_xnn_slot_list(node, i);
            lists[k++] = wick_flat_add_vector(b, FLAT_U32, list->items, list->count, 0);
        }
    wick_flat_table_begin(b, (unsigned)(table - wick_xnn_schema.tables));
    for (uint32_t i = 0, k = 0; i < table->count; i++) {
        if (table->fields[i].kind == FLAT_VECTOR) wick_flat_set_ref(b, i, lists[k++]);
        else if (table->fields[i].of == FLAT_F32) wick_flat_set_f32(b, i, wick_xnn_slot_f32(node, i));
        else wick_flat_set_int(b, i, node->slots[i]);
    }
    flat_ref inner = wick_flat_table_end(b);
    if (node->clamped) {
        wick_flat_table_begin(b, XNN_TABLE_MIN_MAX);
        wick_flat_set_f32(b, XNN_MIN_MAX_OUTPUT_MIN, node->output_min);
        wick_flat_set_f32(b, XNN_MIN_MAX_OUTPUT_MAX, node->output_max);
        limits = wick_flat_table_end(b);
    }
    wick_flat_table_begin(b, XNN_TABLE_XNODE);
    wick_flat_set_union(b, XNN_XNODE_NODE, node->kind, inner);
    wick_flat_set_int(b, XNN_XNODE_DEBUG_HANDLE, node->debug_handle);
    wick_flat_set_ref(b, XNN_XNODE_OUTPUT_MIN_MAX, limits);
    return wick_flat_table_end(b);
}

/* Inline bytes get their offset in the tail; named ones the original's marker. */
static flat_ref add_constant(struct wick_flat_builder *b, const struct wick_xnn_constant *c, uint32_t index, uint64_t *tail)
{
    bool named = c->key.data || index == 0;
    flat_ref key = named ? wick_flat_add_string(b, c->key.data ? c->key : (struct wick_str){"", 0}) : 0;
    wick_flat_table_begin(b, XNN_TABLE_CONSTANT);
    wick_flat_set_u64(b, XNN_CONSTANT_OFFSET, index == 0 ? 0 : named ? UINT64_MAX : *tail);
    wick_flat_set_u64(b, XNN_CONSTANT_SIZE, c->size);
    wick_flat_set_ref(b, XNN_CONSTANT_NAMED_KEY, key);
    if (!named) *tail = wick_align_up(*tail + c->size, CONSTANT_ALIGNMENT);
    return wick_flat_table_end(b);
}

/* Ids of external values with a flag, in the order of their external ids. */
static flat_ref add_externals(struct wick_flat_builder *b, const struct wick_xnn_graph *g, uint32_t flag, uint32_t *ids)
{
    uint32_t count = 0;
    for (uint32_t e = 0; e < g->extern_count; e++)
        for (uint32_t i = 0; i < g->value_count; i++)
            if (g->values[i].flags == flag && g->values[i].external_id == e) ids[count++] = i;
    return wick_flat_add_vector(b, FLAT_U32, ids, count, 0);
}

static flat_ref add_graph(struct wick_flat_builder *b, const struct wick_xnn_graph *g, flat_ref *refs, uint64_t *tail)
{
    flat_ref version = wick_flat_add_string(b, WICK_STR("0"));
    for (uint32_t i = 0; i < g->value_count; i++) refs[i] = add_value(b, &g->values[i], i);
    flat_ref values = wick_flat_add_tables(b, refs, g->value_count);
    for (uint32_t i = 0; i < g->node_count; i++) refs[i] = add_node(b, &g->nodes[i]);
    flat_ref nodes = wick_flat_add_tables(b, refs, g->node_count);
    for (uint32_t i = 0; i < g->constant_count; i++) refs[i] = add_constant(b, &g->constants[i], i, tail);
    flat_ref constants = wick_flat_add_tables(b, refs, g->constant_count);
    flat_ref inputs = add_externals(b, g, WICK_XNN_VALUE_INPUT, refs), outputs = add_externals(b, g, WICK_XNN_VALUE_OUTPUT, refs);
    wick_flat_table_begin(b, XNN_TABLE_GRAPH);
    wick_flat_set_ref(b, XNN_GRAPH_VERSION, version);
    wick_flat_set_ref(b, XNN_GRAPH_XNODES, nodes);
    wick_flat_set_ref(b, XNN_GRAPH_XVALUES, values);
    wick_flat_set_int(b, XNN_GRAPH_NUM_EXTERNS, g->extern_count);
    wick_flat_set_ref(b, XNN_GRAPH_INPUT_IDS, inputs);
    wick_flat_set_ref(b, XNN_GRAPH_OUTPUT_IDS, outputs);
    wick_flat_set_ref(b, XNN_GRAPH_CONSTANT_DATA, constants);
    return wick_flat_table_end(b);
}

static void put(uint8_t *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) at[i] = (uint8_t)(value >> (8 * i));
}

static void pad(struct wick_buf *out, size_t from)
{
    static const uint8_t zeros[CONSTANT_ALIGNMENT];
    wick_buf_append(out, zeros, (size_t)(wick_align_up(out->size - from, CONSTANT_ALIGNMENT) - (out->size - from)));
}

wick_status wick_xnn_payload_write(const struct wick_xnn_graph *g, struct wick_buf *out, wick_error *err)
{
    struct wick_flat_builder b;
    size_t most = WICK_MAX(WICK_MAX(g->value_count, g->node_count), WICK_MAX(g->constant_count, g->extern_count)) + (size_t)1, size = 0, begin = out->size;
    flat_ref *refs = malloc(most * sizeof *refs);
    uint8_t *built = NULL, header[WICK_XNN_HEADER_BYTES] = {0};
    uint64_t tail = 0;
    if (!refs) return wick_fail_oom(err, most * sizeof *refs, "XNNPACK payload");
    wick_flat_builder_init(&b, &wick_xnn_schema);
    wick_status status = wick_flat_finish(&b, add_graph(&b, g, refs, &tail), 0, &built, &size, err);
    if (status == WICK_OK) {
        memcpy(header + 4, "XH00", 4);
        put(header + 8, 30, 2);
        put(header + 10, WICK_XNN_HEADER_BYTES, 4);
        put(header + 14, size, 4);
        put(header + 18, WICK_XNN_HEADER_BYTES + wick_align_up(size, CONSTANT_ALIGNMENT), 4);
        put(header + 22, tail, 8);
        wick_buf_append(out, header, sizeof header);
        wick_buf_append(out, built, size);
        pad(out, begin);
        for (uint32_t i = 1; i < g->constant_count; i++)
            if (!g->constants[i].key.data) {
                wick_buf_append(out, g->constants[i].data, g->constants[i].size);
                pad(out, begin);
            }
        if (out->failed) status = wick_fail_oom(err, out->size, "XNNPACK payload");
    }
    free(refs);
    wick_flat_builder_free(&b);
    return status;
}
