/* backends/xnnpack/fmt/parse.c - a payload into the structs of payload.h, judged once. Next: rt (nodes), or the printer. */
#include "backends/xnnpack/fmt/payload.h"

#include "backends/xnnpack/fmt/header.h"
#include "base/checked.h"
#include "flat/read.h"

#include <math.h>
#include <stdlib.h>

struct id_entry {
    uint32_t id, index;
};

struct parser {
    const uint8_t *data; /* of the payload */
    struct wick_xnn_header header;
    struct wick_arena *arena;
    struct wick_xnn_graph *graph;
    struct id_entry *ids; /* serialized ids of values, ascending */
    wick_error *err;
};

static wick_status no_memory(struct parser *p) { return wick_fail_oom(p->err, 0, "XNNPACK payload"); }

/* ---- header ---- */

wick_status wick_xnn_header_read(const void *data, size_t size, struct wick_xnn_header *h, wick_error *err)
{
    const uint8_t *at = data;
    if (size < 30) return wick_fail(err, WICK_INVALID_ARGUMENT, "XNNPACK payload: %zu bytes are too few", size);
    if (memcmp(at + 4, "XH00", 4) != 0) {
        *h = (struct wick_xnn_header){.tables = at, .table_bytes = size};
        return WICK_OK;
    }
    uint64_t offset = flat_load_u32(at + 10), bytes = flat_load_u32(at + 14), constant_offset = flat_load_u32(at + 18), constant_bytes = flat_load_u64(at + 22);
    if (bytes < 8 || !wick_range_ok(offset, bytes, size) || !wick_range_ok(constant_offset, constant_bytes, size) || constant_offset < offset + bytes)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "XNNPACK payload: its header names tables at %llu+%llu and constants at %llu+%llu in %zu bytes", (unsigned long long)offset,
                         (unsigned long long)bytes, (unsigned long long)constant_offset, (unsigned long long)constant_bytes, size);
    *h = (struct wick_xnn_header){.present = true, .tables = at + offset, .table_bytes = (size_t)bytes, .constants = at + constant_offset, .constant_bytes = (size_t)constant_bytes};
    return WICK_OK;
}

/* ---- constants ---- */

static wick_status parse_inline(struct parser *p, struct flat_vec buffers)
{
    for (uint32_t i = 0; i < buffers.count; i++) {
        struct flat_vec storage = flat_vector(flat_vec_table(buffers, i), XNN_BUFFER_STORAGE);
        p->graph->constants[i] = (struct wick_xnn_constant){.data = storage.at, .size = storage.count};
    }
    return WICK_OK;
}

static wick_status parse_constants(struct parser *p, struct flat_table root)
{
    struct flat_vec entries = flat_vector(root, XNN_GRAPH_CONSTANT_DATA), buffers = flat_vector(root, XNN_GRAPH_CONSTANT_BUFFER);
    uint32_t count = p->header.present ? entries.count : buffers.count;
    p->graph->constants = WICK_NEW_ARRAY(p->arena, struct wick_xnn_constant, count + 1);
    p->graph->constant_count = count;
    if (!p->graph->constants) return no_memory(p);
    if (!p->header.present) return parse_inline(p, buffers);
    for (uint32_t i = 0; i < count; i++) {
        struct flat_table entry = flat_vec_table(entries, i);
        struct wick_xnn_constant *c = &p->graph->constants[i];
        uint64_t offset = flat_u64(entry, XNN_CONSTANT_OFFSET, 0);
        c->size = flat_u64(entry, XNN_CONSTANT_SIZE, 0);
        c->key = flat_string(entry, XNN_CONSTANT_NAMED_KEY);
        if (c->key.data || i == 0) continue; /* the field's presence decides, not its text */
        if (!wick_range_ok(offset, c->size, p->header.constant_bytes))
            return wick_fail(p->err, WICK_INVALID_PROGRAM, "XNNPACK payload: constant %u is at %llu+%llu of %zu bytes", i, (unsigned long long)offset, (unsigned long long)c->size,
                             p->header.constant_bytes);
        c->data = p->header.constants + offset;
    }
    return WICK_OK;
}

/* ---- values ---- */

static wick_status parse_scales(struct parser *p, struct wick_xnn_quant *q, struct flat_table t, uint32_t scale, uint32_t bf16, uint32_t index, uint32_t number, uint32_t value)
{
    q->scale_constant = flat_u32(t, index, 0);
    if (q->scale_constant >= p->graph->constant_count && q->scale_constant)
        return wick_fail(p->err, WICK_INVALID_PROGRAM, "XNNPACK payload: value %u: no constant %u for its scales", value, q->scale_constant);
    if (q->scale_constant) {
        q->scale_count = flat_u32(t, number, 0);
        return WICK_OK;
    }
    struct flat_vec list = flat_vector(t, scale);
    struct flat_vec halves = bf16 ? flat_vector(t, bf16) : (struct flat_vec){NULL, 0};
    q->scales_bf16 = list.count == 0 && halves.count > 0;
    q->scales = q->scales_bf16 ? halves.at : list.at;
    q->scale_count = q->scales_bf16 ? halves.count : list.count;
    return WICK_OK;
}

static wick_status parse_quant(struct parser *p, struct flat_table at, uint32_t index, struct wick_xnn_quant *q)
{
    struct flat_table params = flat_child(at, XNN_QUANTIZED_TENSOR_PARAMS);
    q->kind = flat_union_type(at, XNN_QUANTIZED_TENSOR_PARAMS);
    switch (q->kind) {
    case XNN_QUANT_PER_TENSOR:
        q->scale = flat_f32(params, XNN_PER_TENSOR_SCALE, 0);
        q->zero_point = flat_i32(params, XNN_PER_TENSOR_ZERO_POINT, 0);
        return WICK_OK;
    case XNN_QUANT_PER_TOKEN: q->num_nonbatch_dims = flat_i32(params, XNN_PER_TOKEN_NUM_NONBATCH_DIMS, 0); return WICK_OK;
    case XNN_QUANT_PER_CHANNEL:
        q->channel_dim = flat_i32(params, XNN_PER_CHANNEL_CHANNEL_DIM, 0);
        return parse_scales(p, q, params, XNN_PER_CHANNEL_SCALE, 0, XNN_PER_CHANNEL_SCALE_BUFFER_IDX, XNN_PER_CHANNEL_NUM_SCALES, index);
    case XNN_QUANT_PER_GROUP:
        q->channel_dim = flat_i32(params, XNN_PER_GROUP_CHANNEL_DIM, 0);
        q->group_size = flat_i32(params, XNN_PER_GROUP_GROUP_SIZE, 0);
        return parse_scales(p, q, params, XNN_PER_GROUP_SCALE, XNN_PER_GROUP_SCALE_BF16, XNN_PER_GROUP_SCALE_BUFFER_IDX, XNN_PER_GROUP_NUM_SCALES, index);
    default: return wick_fail(p->err, WICK_INVALID_PROGRAM, "XNNPACK payload: value %u: its quantization is of no known kind", index);
    }
}

static wick_status parse_value(struct parser *p, struct flat_table at, uint32_t index)
{
    struct wick_xnn_value *v = &p->graph->values[index];
    uint8_t type = flat_union_type(at, XNN_XVALUE_VALUE);
    struct flat_table inner = flat_child(at, XNN_XVALUE_VALUE), tensor = type == XNN_VALUE_QUANTIZED_TENSOR ? flat_child(inner, XNN_QUANTIZED_TENSOR_TENSOR_VALUE) : inner;
    if (!tensor.at || (type != XNN_VALUE_TENSOR && type != XNN_VALUE_QUANTIZED_TENSOR)) return wick_fail(p->err, WICK_INVALID_PROGRAM, "XNNPACK payload: value %u is no tensor", index);
    struct flat_vec dims = flat_vector(tensor, XNN_TENSOR_DIMS);
    *v = (struct wick_xnn_value){.id = flat_u32(tensor, XNN_TENSOR_ID_OUT, 0), .datatype = flat_i16(tensor, XNN_TENSOR_DATATYPE, 0),
                                 .dq_datatype = flat_i16(tensor, XNN_TENSOR_DQ_DATATYPE, 0), .constant = flat_u32(tensor, XNN_TENSOR_CONSTANT_BUFFER_IDX, 0),
                                 .external_id = flat_u32(tensor, XNN_TENSOR_EXTERNAL_ID, 0), .flags = flat_u32(tensor, XNN_TENSOR_FLAGS, 0)};
    if (dims.count > WICK_XNN_RANK_MAX) return wick_fail(p->err, WICK_INVALID_PROGRAM, "XNNPACK payload: value %u has %u dims; the limit is %d", index, dims.count, WICK_XNN_RANK_MAX);
    v->dims.count = dims.count;
    for (uint32_t i = 0; i < dims.count; i++) v->dims.items[i] = flat_vec_u32(dims, i);
    if (v->datatype <= XNN_DATATYPE_INVALID || v->datatype > XNN_DATATYPE_BF16)
        return wick_fail(p->err, WICK_INVALID_PROGRAM, "XNNPACK payload: value %u: datatype %d is unknown", index, (int)v->datatype);
    if (v->dq_datatype < XNN_DATATYPE_INVALID || v->dq_datatype > XNN_DATATYPE_BF16)
        return wick_fail(p->err, WICK_INVALID_PROGRAM, "XNNPACK payload: value %u: dq_datatype %d is unknown", index, (int)v->dq_datatype);
    if (v->constant && v->constant >= p->graph->constant_count)
        return wick_fail(p->err, WICK_INVALID_PROGRAM, "XNNPACK payload: value %u: no constant %u", index, v->constant);
    if (v->flags > WICK_XNN_VALUE_OUTPUT) return wick_fail(p->err, WICK_INVALID_PROGRAM, "XNNPACK payload: value %u: flags 0x%x are unknown", index, v->flags);
    if (v->flags == 0) v->external_id = WICK_XNN_NO_ID;
    else if (v->external_id >= p->graph->extern_count)
        return wick_fail(p->err, WICK_INVALID_PROGRAM, "XNNPACK payload: value %u: external id %u of %u", index, v->external_id, p->graph->extern_count);
    if (v->id == WICK_XNN_NO_ID) return wick_fail(p->err, WICK_INVALID_PROGRAM, "XNNPACK payload: value %u has no id", index);
    p->ids[index] = (struct id_entry){v->id, index};
    return type == XNN_VALUE_QUANTIZED_TENSOR ? parse_quant(p, inner, index, &v->quant) : WICK_OK;
}

static int by_id(const void *a, const void *b)
{
    uint32_t x = ((const struct id_entry *)a)->id, y = ((const struct id_entry *)b)->id;
    return (x > y) - (x < y);
}

static wick_status parse_values(struct parser *p, struct flat_vec values)
{
    p->graph->values = WICK_NEW_ARRAY(p->arena, struct wick_xnn_value, values.count);
    p->ids = WICK_NEW_ARRAY(p->arena, struct id_entry, values.count);
    p->graph->value_count = values.count;
    if (!p->graph->values || !p->ids) return no_memory(p);
    for (uint32_t i = 0; i < values.count; i++) WICK_TRY(parse_value(p, flat_vec_table(values, i), i));
    qsort(p->ids, values.count, sizeof *p->ids, by_id);
    for (uint32_t i = 1; i < values.count; i++)
        if (p->ids[i].id == p->ids[i - 1].id)
            return wick_fail(p->err, WICK_INVALID_PROGRAM, "XNNPACK payload: values %u and %u have the same id %u", p->ids[i - 1].index, p->ids[i].index, p->ids[i].id);
    return WICK_OK;
}

/* ---- nodes ---- */

static bool find_value(const struct parser *p, uint32_t id, uint32_t *index)
{
    struct id_entry key = {id, 0};
    const struct id_entry *entry = bsearch(&key, p->ids, p->graph->value_count, sizeof key, by_id);
    if (entry) *index = entry->index;
    return entry != NULL;
}

static wick_status parse_slot(struct parser *p, const struct wick_flat_table *table, struct flat_table at, uint32_t slot, uint32_t number, struct wick_xnn_node *node, uint32_t *lists)
{
    if (table->fields[slot].kind == FLAT_VECTOR) {
        struct flat_vec list = flat_vector(at, slot);
        if (list.count > WICK_XNN_RANK_MAX) return wick_fail(p->err, WICK_INVALID_PROGRAM, "XNNPACK payload: node %u: %s has %u entries", number, table->fields[slot].name, list.count);
        node->lists[*lists].count = list.count;
        for (uint32_t i = 0; i < list.count; i++) node->lists[*lists].items[i] = flat_vec_u32(list, i);
        node->slots[slot] = (*lists)++;
        return WICK_OK;
    }
    uint32_t bits = flat_u32(at, slot, 0); /* u32, or the bits of an f32 */
    node->slots[slot] = bits;
    if (!wick_xnn_slot_is_id(table, slot)) return WICK_OK;
    if (bits == WICK_XNN_NO_ID && !wick_xnn_slot_is_output(table, slot)) return WICK_OK;
    return find_value(p, bits, &node->slots[slot]) ? WICK_OK : wick_fail(p->err, WICK_INVALID_PROGRAM, "XNNPACK payload: node %u (%s): %s names no value (%u)", number,
                                                                        wick_xnn_node_name(node->kind), table->fields[slot].name, bits);
}

static wick_status parse_node(struct parser *p, struct flat_table at, uint32_t number)
{
    struct wick_xnn_node *node = &p->graph->nodes[number];
    struct flat_table inner = flat_child(at, XNN_XNODE_NODE), limits = flat_child(at, XNN_XNODE_OUTPUT_MIN_MAX);
    const struct wick_flat_table *table = wick_xnn_node_table(node->kind = flat_union_type(at, XNN_XNODE_NODE));
    if (!table || !inner.at) return wick_fail(p->err, WICK_NOT_IMPLEMENTED, "XNNPACK payload: node %u is of unknown kind %u", number, node->kind);
    node->debug_handle = flat_u32(at, XNN_XNODE_DEBUG_HANDLE, 0);
    node->clamped = limits.at != NULL;
    node->output_min = node->clamped ? flat_f32(limits, XNN_MIN_MAX_OUTPUT_MIN, 0) : -INFINITY;
    node->output_max = node->clamped ? flat_f32(limits, XNN_MIN_MAX_OUTPUT_MAX, 0) : INFINITY;
    uint32_t lists = 0;
    for (uint32_t slot = 0; slot < table->count; slot++) WICK_TRY(parse_slot(p, table, inner, slot, number, node, &lists));
    /* The original reads num_dims entries of the list, however many there are. */
    if (strcmp(table->fields[0].name, "num_dims") == 0 && node->slots[0] != node->lists[0].count)
        return wick_fail(p->err, WICK_INVALID_PROGRAM, "XNNPACK payload: node %u (%s): num_dims is %u, its list has %u", number, wick_xnn_node_name(node->kind), node->slots[0],
                         node->lists[0].count);
    return WICK_OK;
}

wick_status wick_xnn_payload_parse(const void *data, size_t size, struct wick_arena *arena, struct wick_xnn_graph **graph, wick_error *err)
{
    struct parser p = {.data = data, .arena = arena, .err = err};
    struct flat_table root;
    WICK_TRY(wick_xnn_header_read(data, size, &p.header, err));
    WICK_TRY(wick_flat_verify(&wick_xnn_schema, p.header.tables, p.header.table_bytes, &root, WICK_DELEGATE_INCOMPATIBLE, err));
    p.graph = WICK_NEW(arena, struct wick_xnn_graph);
    if (!p.graph) return no_memory(&p);
    struct flat_vec values = flat_vector(root, XNN_GRAPH_XVALUES), nodes = flat_vector(root, XNN_GRAPH_XNODES);
    if (!values.at || !nodes.at) return wick_fail(err, WICK_INVALID_PROGRAM, "XNNPACK payload: no values or no nodes");
    p.graph->extern_count = flat_u32(root, XNN_GRAPH_NUM_EXTERNS, 0);
    if (p.graph->extern_count > WICK_XNN_EXTERNS_MAX) return wick_fail(err, WICK_INVALID_PROGRAM, "XNNPACK payload: %u externals; the limit is %d", p.graph->extern_count, WICK_XNN_EXTERNS_MAX);
    WICK_TRY(parse_constants(&p, root));
    WICK_TRY(parse_values(&p, values));
    p.graph->nodes = WICK_NEW_ARRAY(arena, struct wick_xnn_node, nodes.count);
    p.graph->node_count = nodes.count;
    if (!p.graph->nodes) return no_memory(&p);
    for (uint32_t i = 0; i < nodes.count; i++) WICK_TRY(parse_node(&p, flat_vec_table(nodes, i), i));
    *graph = p.graph;
    return WICK_OK;
}
