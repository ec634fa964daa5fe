/* Payloads are written and parsed back equal; what a reader must not accept is refused; every field survives. */
#include "fixture.h"

#include "backends/xnnpack/fmt/payload.h"
#include "flat/build.h"
#include "flat/flatc_test.h"

#include <math.h>

/* ---- a payload of every layout: dynamic linear with group scales, and one node of each kind ---- */

enum { SAMPLE_VALUES = 7, SAMPLE_CONSTANTS = 5 };

struct sample {
    struct wick_xnn_value values[SAMPLE_VALUES];
    struct wick_xnn_node nodes[XNN_NODE_COUNT];
    struct wick_xnn_constant constants[SAMPLE_CONSTANTS];
    struct wick_xnn_graph graph;
};

static const float channel_scales[] = {0.5f, 0.25f};
static const uint8_t inline_bytes[20] = "inline constant....";

static void sample_init(struct sample *s)
{
    *s = (struct sample){.graph = {s->values, s->nodes, s->constants, SAMPLE_VALUES, XNN_NODE_COUNT - 1, SAMPLE_CONSTANTS, 3}};
    for (uint32_t i = 0; i < SAMPLE_VALUES; i++)
        s->values[i] = (struct wick_xnn_value){.id = i, .datatype = XNN_DATATYPE_FP32, .dims = {2, {4, 32}}, .external_id = WICK_XNN_NO_ID};
    s->values[0].flags = WICK_XNN_VALUE_INPUT;
    s->values[0].external_id = 1;
    s->values[1].flags = WICK_XNN_VALUE_INPUT;
    s->values[1].external_id = 0;
    s->values[2].flags = WICK_XNN_VALUE_OUTPUT;
    s->values[2].external_id = 2;
    s->values[3].datatype = XNN_DATATYPE_QDINT8;
    s->values[3].quant = (struct wick_xnn_quant){.kind = XNN_QUANT_PER_TOKEN, .num_nonbatch_dims = 1};
    s->values[4].datatype = XNN_DATATYPE_QBINT4;
    s->values[4].constant = 1;
    s->values[4].quant = (struct wick_xnn_quant){.kind = XNN_QUANT_PER_GROUP, .group_size = 32, .scale_constant = 2, .scale_count = 4};
    s->values[5].datatype = XNN_DATATYPE_QCINT8;
    s->values[5].constant = 3;
    s->values[5].quant = (struct wick_xnn_quant){.kind = XNN_QUANT_PER_CHANNEL, .channel_dim = 1, .scale_count = 2, .scales = channel_scales};
    s->values[6].datatype = XNN_DATATYPE_QINT8;
    s->values[6].constant = 4;
    s->values[6].quant = (struct wick_xnn_quant){.kind = XNN_QUANT_PER_TENSOR, .scale = 0.125f, .zero_point = -7};
    s->constants[0].key = WICK_STR("");
    s->constants[1] = (struct wick_xnn_constant){.key = WICK_STR("0123456789abcdef"), .size = 64};
    s->constants[2] = (struct wick_xnn_constant){.key = WICK_STR("scale_0123"), .size = 8};
    s->constants[3] = (struct wick_xnn_constant){.data = inline_bytes, .size = 19};
    s->constants[4] = (struct wick_xnn_constant){.data = inline_bytes + 1, .size = 16};
    for (uint32_t kind = 1; kind < XNN_NODE_COUNT; kind++) {
        struct wick_xnn_node *node = &s->nodes[kind - 1];
        const struct wick_flat_table *table = wick_xnn_node_table((uint8_t)kind);
        uint32_t lists = 0;
        *node = (struct wick_xnn_node){.kind = (uint8_t)kind, .clamped = kind % 2, .output_min = kind % 2 ? 0 : -INFINITY, .output_max = INFINITY, .debug_handle = 65535 + kind};
        for (uint32_t slot = 0; slot < table->count; slot++) {
            if (table->fields[slot].kind == FLAT_VECTOR) {
                node->lists[lists] = (struct wick_xnn_dims){2, {slot, kind}};
                node->slots[slot] = lists++;
            } else if (table->fields[slot].of == FLAT_F32) {
                wick_xnn_slot_set_f32(node, slot, -0.0f);
            } else if (strcmp(table->fields[slot].name, "num_dims") == 0) {
                node->slots[slot] = 2;
            } else {
                node->slots[slot] = wick_xnn_slot_is_id(table, slot) ? (slot * kind) % SAMPLE_VALUES : slot + kind;
            }
        }
    }
    s->nodes[XNN_NODE_FULLY_CONNECTED - 1].slots[XNN_FULLY_CONNECTED_BIAS_ID] = WICK_XNN_NO_ID;
}

static struct wick_buf sample_write(const struct sample *s)
{
    struct wick_buf out = {0};
    wick_error err;
    WICK_ASSERT_OK(wick_xnn_payload_write(&s->graph, &out, &err), &err);
    return out;
}

/* Parses bytes in a block that ends where they end. */
static wick_status parse(const void *data, size_t size, struct wick_arena *arena, struct wick_xnn_graph **graph, void **block, wick_error *err)
{
    *block = wick_test_guarded(size);
    memcpy(*block, data, size);
    *err = (wick_error){WICK_OK, ""};
    wick_status status = wick_xnn_payload_parse(*block, size, arena, graph, err);
    if (status != WICK_OK) assert_true(strlen(err->message) > 10);
    return status;
}

static void compare_values(const struct sample *s, const struct wick_xnn_graph *graph)
{
    for (uint32_t i = 0; i < SAMPLE_VALUES; i++) {
        const struct wick_xnn_value *a = &s->values[i], *b = &graph->values[i];
        assert_true(a->id == b->id && a->datatype == b->datatype && a->dq_datatype == b->dq_datatype && a->constant == b->constant && a->flags == b->flags);
        assert_int_equal(a->external_id, b->external_id);
        assert_int_equal(a->dims.count, b->dims.count);
        assert_memory_equal(a->dims.items, b->dims.items, sizeof a->dims.items);
        const struct wick_xnn_quant *p = &a->quant, *q = &b->quant;
        assert_true(p->kind == q->kind && p->scale == q->scale && p->zero_point == q->zero_point && p->num_nonbatch_dims == q->num_nonbatch_dims);
        assert_true(p->channel_dim == q->channel_dim && p->group_size == q->group_size && p->scale_constant == q->scale_constant && p->scale_count == q->scale_count);
        if (p->scales) assert_memory_equal(p->scales, q->scales, p->scale_count * sizeof(float));
    }
}

static void round_trip(void **state)
{
    (void)state;
    struct sample s;
    struct wick_arena arena;
    struct wick_xnn_graph *graph;
    wick_error err;
    void *block;
    sample_init(&s);
    struct wick_buf out = sample_write(&s);
    wick_arena_init(&arena, &wick_allocator_heap);
    WICK_ASSERT_OK(parse(out.data, out.size, &arena, &graph, &block, &err), &err);
    assert_true(graph->value_count == SAMPLE_VALUES && graph->node_count == XNN_NODE_COUNT - 1 && graph->constant_count == SAMPLE_CONSTANTS && graph->extern_count == 3);
    compare_values(&s, graph);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct wick_xnn_node *a = &s.nodes[i], *b = &graph->nodes[i];
        assert_true(a->kind == b->kind && a->clamped == b->clamped && a->debug_handle == b->debug_handle && a->output_min == b->output_min && a->output_max == b->output_max);
        assert_memory_equal(a->slots, b->slots, sizeof a->slots);
        assert_memory_equal(a->lists, b->lists, sizeof a->lists);
    }
    for (uint32_t i = 1; i < SAMPLE_CONSTANTS; i++) {
        const struct wick_xnn_constant *a = &s.constants[i], *b = &graph->constants[i];
        assert_true(a->size == b->size && (a->key.data != NULL) == (b->key.data != NULL) && wick_str_equal(a->key, b->key));
        if (!a->key.data) assert_memory_equal(a->data, b->data, a->size);
        if (!a->key.data) assert_int_equal((b->data - (const uint8_t *)block) % 16, 0);
    }
    struct wick_buf again = {0};
    WICK_ASSERT_OK(wick_xnn_payload_write(graph, &again, &err), &err);
    assert_int_equal(again.size, out.size);
    assert_memory_equal(again.data, out.data, out.size);
    wick_test_guarded_free(block, out.size);
    wick_arena_release(&arena);
    wick_buf_free(&out);
    wick_buf_free(&again);
}

/* Header, identifier and the rules of named constants, byte by byte. */
static void bytes(void **state)
{
    (void)state;
    struct sample s;
    uint32_t number[3];
    uint64_t tail;
    sample_init(&s);
    struct wick_buf out = sample_write(&s);
    assert_memory_equal(out.data, "\0\0\0\0XH00\x1e\0", 10);
    memcpy(number, out.data + 10, sizeof number);
    memcpy(&tail, out.data + 22, 8);
    assert_int_equal(number[0], 32);
    assert_int_equal(number[2], 32 + (number[1] + 15) / 16 * 16);
    assert_int_equal(tail, 32 + 16); /* 19 and 16 bytes, each padded */
    assert_int_equal(out.size, number[2] + tail);
    assert_memory_equal(out.data + 32 + 4, "XN01", 4);
    struct flat_table root;
    wick_error err;
    WICK_ASSERT_OK(wick_flat_verify(&wick_xnn_schema, out.data + 32, number[1], &root, WICK_INVALID_PROGRAM, &err), &err);
    struct flat_vec entries = flat_vector(root, XNN_GRAPH_CONSTANT_DATA);
    assert_int_equal(flat_u64(flat_vec_table(entries, 0), XNN_CONSTANT_OFFSET, 1), 1);
    assert_true(flat_has(flat_vec_table(entries, 0), XNN_CONSTANT_NAMED_KEY));
    assert_true(flat_u64(flat_vec_table(entries, 1), XNN_CONSTANT_OFFSET, 0) == UINT64_MAX);
    assert_false(flat_has(flat_vec_table(entries, 3), XNN_CONSTANT_NAMED_KEY)); /* inline: no key at all */
    static const uint32_t inputs[] = {1, 0};
    assert_memory_equal(flat_vector(root, XNN_GRAPH_INPUT_IDS).at, inputs, sizeof inputs); /* in the order of external ids */
    struct flat_table quantized = flat_child(flat_vec_table(flat_vector(root, XNN_GRAPH_XVALUES), 4), XNN_XVALUE_VALUE);
    assert_non_null(flat_vector(flat_child(quantized, XNN_QUANTIZED_TENSOR_PARAMS), XNN_PER_GROUP_SCALE).at); /* empty, not absent */
    if (!flatc_missing()) flatc_check(&wick_xnn_schema, root, out.data + 32, number[1], "a payload of ours");
    wick_buf_free(&out);
}

/* ---- what must be refused ---- */

#define REFUSED(code, change)                                                                      \
    do {                                                                                           \
        sample_init(&s);                                                                           \
        change;                                                                                    \
        struct wick_buf out_ = sample_write(&s);                                                   \
        wick_arena_init(&arena, &wick_allocator_heap);                                             \
        wick_status status_ = parse(out_.data, out_.size, &arena, &graph, &block, &err);           \
        if (status_ != (code)) fail_msg("%s: 0x%x, expected 0x%x (%s)", #change, (unsigned)status_, (unsigned)(code), err.message); \
        wick_arena_release(&arena);                                                                \
        wick_test_guarded_free(block, out_.size);                                                  \
        wick_buf_free(&out_);                                                                      \
    } while (0)

static void refused(void **state)
{
    (void)state;
    struct sample s;
    struct wick_arena arena;
    struct wick_xnn_graph *graph;
    wick_error err;
    void *block;
    REFUSED(WICK_OK, (void)0);
    REFUSED(WICK_INVALID_PROGRAM, s.values[3].datatype = XNN_DATATYPE_INVALID);
    REFUSED(WICK_INVALID_PROGRAM, s.values[3].datatype = XNN_DATATYPE_ENUM_END);
    REFUSED(WICK_INVALID_PROGRAM, s.values[3].datatype = -1);
    REFUSED(WICK_INVALID_PROGRAM, s.values[0].flags = 4);
    REFUSED(WICK_INVALID_PROGRAM, s.values[0].external_id = 3);
    REFUSED(WICK_INVALID_PROGRAM, s.values[0].external_id = WICK_XNN_NO_ID);
    REFUSED(WICK_INVALID_PROGRAM, s.values[4].constant = SAMPLE_CONSTANTS);
    REFUSED(WICK_INVALID_PROGRAM, s.values[4].quant.scale_constant = SAMPLE_CONSTANTS);
    REFUSED(WICK_INVALID_PROGRAM, s.graph.extern_count = WICK_XNN_EXTERNS_MAX + 1);
    REFUSED(WICK_INVALID_PROGRAM, s.nodes[0].slots[XNN_NODE_2X1_INPUT1_ID] = SAMPLE_VALUES);
    REFUSED(WICK_INVALID_PROGRAM, s.nodes[0].slots[XNN_NODE_2X1_OUTPUT_ID] = WICK_XNN_NO_ID);
    REFUSED(WICK_OK, s.nodes[0].slots[XNN_NODE_2X1_INPUT1_ID] = WICK_XNN_NO_ID); /* the consumer knows which may be absent */
}

/* Payloads that our writer does not make: built with the schema alone. change is applied to `value` ids and lists. */
static struct wick_buf build_raw(uint32_t id0, uint32_t id1, int16_t dq, uint32_t rank, uint32_t num_dims)
{
    struct wick_flat_builder b;
    struct wick_buf out = {0};
    wick_error err;
    flat_ref values[2], node;
    static const uint32_t dims[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    uint8_t *data;
    size_t size;
    wick_flat_builder_init(&b, &wick_xnn_schema);
    for (int i = 0; i < 2; i++) {
        flat_ref shape = wick_flat_add_vector(&b, FLAT_U32, dims, rank, 0);
        wick_flat_table_begin(&b, XNN_TABLE_TENSOR);
        wick_flat_set_int(&b, XNN_TENSOR_DATATYPE, XNN_DATATYPE_FP32);
        wick_flat_set_ref(&b, XNN_TENSOR_DIMS, shape);
        wick_flat_set_int(&b, XNN_TENSOR_ID_OUT, i ? id1 : id0);
        wick_flat_set_int(&b, XNN_TENSOR_EXTERNAL_ID, WICK_XNN_NO_ID);
        wick_flat_set_int(&b, XNN_TENSOR_DQ_DATATYPE, dq);
        flat_ref tensor = wick_flat_table_end(&b);
        wick_flat_table_begin(&b, XNN_TABLE_XVALUE);
        wick_flat_set_union(&b, XNN_XVALUE_VALUE, XNN_VALUE_TENSOR, tensor);
        values[i] = wick_flat_table_end(&b);
    }
    flat_ref perm = wick_flat_add_vector(&b, FLAT_U32, dims, 2, 0);
    wick_flat_table_begin(&b, XNN_TABLE_TRANSPOSE);
    wick_flat_set_int(&b, XNN_TRANSPOSE_NUM_DIMS, num_dims);
    wick_flat_set_ref(&b, XNN_TRANSPOSE_PERM, perm);
    wick_flat_set_int(&b, XNN_TRANSPOSE_INPUT_ID, id0);
    wick_flat_set_int(&b, XNN_TRANSPOSE_OUTPUT_ID, id1);
    node = wick_flat_table_end(&b);
    wick_flat_table_begin(&b, XNN_TABLE_XNODE);
    wick_flat_set_union(&b, XNN_XNODE_NODE, XNN_NODE_STATIC_TRANSPOSE, node);
    node = wick_flat_table_end(&b);
    flat_ref xvalues = wick_flat_add_tables(&b, values, 2), xnodes = wick_flat_add_tables(&b, &node, 1);
    wick_flat_table_begin(&b, XNN_TABLE_GRAPH);
    wick_flat_set_ref(&b, XNN_GRAPH_XVALUES, xvalues);
    wick_flat_set_ref(&b, XNN_GRAPH_XNODES, xnodes);
    WICK_ASSERT_OK(wick_flat_finish(&b, wick_flat_table_end(&b), 0, &data, &size, &err), &err);
    wick_buf_append(&out, data, size);
    wick_flat_builder_free(&b);
    return out;
}

static wick_status parse_raw(uint32_t id0, uint32_t id1, int16_t dq, uint32_t rank, uint32_t num_dims, struct wick_xnn_node *node)
{
    struct wick_arena arena;
    struct wick_xnn_graph *graph = NULL;
    wick_error err;
    void *block;
    struct wick_buf raw = build_raw(id0, id1, dq, rank, num_dims);
    wick_arena_init(&arena, &wick_allocator_heap);
    wick_status status = parse(raw.data, raw.size, &arena, &graph, &block, &err);
    if (status == WICK_OK && node) *node = graph->nodes[0];
    wick_arena_release(&arena);
    wick_test_guarded_free(block, raw.size);
    wick_buf_free(&raw);
    return status;
}

/* The bare FlatBuffer of before 2024 is read as well; ids are any unique numbers and become indices. */
static void bare(void **state)
{
    (void)state;
    struct wick_xnn_node node;
    assert_int_equal(parse_raw(77, 5, 0, 2, 2, &node), WICK_OK);
    assert_int_equal(node.slots[XNN_TRANSPOSE_INPUT_ID], 0);
    assert_int_equal(node.slots[XNN_TRANSPOSE_OUTPUT_ID], 1);
    assert_true(!node.clamped && isinf(node.output_min) && node.output_min < 0 && isinf(node.output_max) && node.output_max > 0);
    assert_int_equal(wick_xnn_slot_list(&node, XNN_TRANSPOSE_PERM)->count, 2);
    assert_int_equal(parse_raw(0, 1, XNN_DATATYPE_QDINT8, 2, 2, NULL), WICK_OK);
    assert_int_equal(parse_raw(3, 3, 0, 2, 2, NULL), WICK_INVALID_PROGRAM);              /* one id twice */
    assert_int_equal(parse_raw(WICK_XNN_NO_ID, 1, 0, 2, 2, NULL), WICK_INVALID_PROGRAM); /* the id that means none */
    assert_int_equal(parse_raw(0, 1, XNN_DATATYPE_ENUM_END, 2, 2, NULL), WICK_INVALID_PROGRAM);
    assert_int_equal(parse_raw(0, 1, 0, 7, 2, NULL), WICK_INVALID_PROGRAM);
    assert_int_equal(parse_raw(0, 1, 0, 6, 2, NULL), WICK_OK);
    assert_int_equal(parse_raw(0, 1, 0, 2, 3, NULL), WICK_INVALID_PROGRAM); /* the original reads 3 entries of 2 */
}

/* Header fields, one changed at a time, and every shorter payload. */
static void headers(void **state)
{
    (void)state;
    static const struct {
        uint8_t at, bytes;
        uint64_t value;
        wick_status status;
    } cases[] = {
        {8, 2, 0, WICK_OK}, /* the length is not read */
        {10, 4, UINT32_MAX, WICK_INVALID_ARGUMENT}, {14, 4, UINT32_MAX, WICK_INVALID_ARGUMENT}, {14, 4, 7, WICK_INVALID_ARGUMENT},
        {18, 4, 40, WICK_INVALID_ARGUMENT}, {18, 4, UINT32_MAX, WICK_INVALID_ARGUMENT}, {22, 8, UINT64_MAX, WICK_INVALID_ARGUMENT},
        {22, 8, 47, WICK_INVALID_PROGRAM}, {36, 4, 0x39394e58, WICK_DELEGATE_INCOMPATIBLE}, {36, 4, 0x30304e58, WICK_OK}, {4, 4, 0, WICK_DELEGATE_INCOMPATIBLE},
    };
    struct sample s;
    struct wick_arena arena;
    struct wick_xnn_graph *graph;
    wick_error err;
    void *block;
    sample_init(&s);
    struct wick_buf out = sample_write(&s);
    /* 47: the second inline constant needs [32, 48). */
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cases); i++) {
        char kept[8];
        memcpy(kept, out.data + cases[i].at, 8);
        memcpy(out.data + cases[i].at, &cases[i].value, cases[i].bytes);
        wick_arena_init(&arena, &wick_allocator_heap);
        wick_status status = parse(out.data, out.size, &arena, &graph, &block, &err);
        if (status != cases[i].status) fail_msg("case %zu: 0x%x, expected 0x%x (%s)", i, (unsigned)status, (unsigned)cases[i].status, err.message);
        wick_arena_release(&arena);
        wick_test_guarded_free(block, out.size);
        memcpy(out.data + cases[i].at, kept, 8);
    }
    for (size_t cut = 0; cut < out.size; cut++) {
        wick_arena_init(&arena, &wick_allocator_heap);
        assert_int_not_equal(parse(out.data, cut, &arena, &graph, &block, &err), WICK_OK);
        wick_arena_release(&arena);
        wick_test_guarded_free(block, cut);
    }
    wick_buf_free(&out);
}

static void names(void **state)
{
    (void)state;
    assert_string_equal(wick_xnn_node_name(XNN_NODE_FULLY_CONNECTED), "FullyConnected");
    assert_string_equal(wick_xnn_node_name(0), "?");
    assert_string_equal(wick_xnn_node_name(255), "?");
    assert_string_equal(wick_xnn_datatype_name(XNN_DATATYPE_BF16), "bf16");
    assert_string_equal(wick_xnn_datatype_name(-1), "?");
    assert_string_equal(wick_xnn_datatype_name(99), "?");
    const struct wick_flat_table *pad = wick_xnn_node_table(XNN_NODE_STATIC_CONSTANT_PAD), *attention = wick_xnn_node_table(XNN_NODE_SCALED_DOT_PRODUCT_ATTENTION);
    assert_false(wick_xnn_slot_is_id(pad, XNN_PAD_PADDING_VALUE));
    for (uint32_t slot = 0; slot < XNN_ATTENTION_FLAGS; slot++) assert_true(wick_xnn_slot_is_id(attention, slot));
    assert_false(wick_xnn_slot_is_id(attention, XNN_ATTENTION_FLAGS));
    assert_true(wick_xnn_slot_is_output(attention, XNN_ATTENTION_OUTPUT_ID) && !wick_xnn_slot_is_output(attention, XNN_ATTENTION_MASK_ID));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(round_trip), cmocka_unit_test(bytes), cmocka_unit_test(refused),
                                       cmocka_unit_test(bare),       cmocka_unit_test(headers), cmocka_unit_test(names)};
    return WICK_TEST_MAIN(tests);
}
