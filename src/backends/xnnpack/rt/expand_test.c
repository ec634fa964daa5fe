/* Payloads that are old, wrong or hostile: what they expand into, or which error names the fault. */
#include "backends/xnnpack/rt/rig_test.h"
#include "tensor/half.h"

#include <stdio.h>

/* x [4, 64] -> Convert -> FullyConnected (qb4, [8, 64], groups of 32) -> Sigmoid -> y. */
struct small {
    uint8_t weights[8 * 32];
    uint16_t scales[8 * 2];
    float old_scales[8 * 2];
    float bias[8];
    uint32_t x, q, w, b, m, y;
};

static void describe(struct rig *r, struct small *s)
{
    uint64_t seed = 8;
    for (size_t i = 0; i < sizeof s->weights; i++) s->weights[i] = (uint8_t)wick_test_random(&seed);
    for (size_t i = 0; i < WICK_ARRAY_SIZE(s->scales); i++) {
        s->old_scales[i] = 0.01f * (1.5f + wick_test_uniform(&seed));
        s->scales[i] = (uint16_t)(wick_bits_from_f32(s->old_scales[i] * 1.00389105f) >> 16);
    }
    r->graph.constant_count = 1;
    s->x = rig_input(r, XNN_DATATYPE_FP32, RIG_DIMS(4, 64));
    s->y = rig_output(r, XNN_DATATYPE_FP32, RIG_DIMS(4, 8));
    s->q = rig_value(r, XNN_DATATYPE_QDINT8, RIG_DIMS(4, 64));
    r->file_values[s->q].quant = (struct wick_xnn_quant){.kind = XNN_QUANT_PER_TOKEN, .num_nonbatch_dims = 1};
    s->w = rig_constant(r, XNN_DATATYPE_QBINT4, RIG_DIMS(8, 64), s->weights, sizeof s->weights);
    r->file_values[s->w].quant = (struct wick_xnn_quant){.kind = XNN_QUANT_PER_GROUP, .group_size = 32, .scale_count = 16};
    r->file_values[s->w].quant.scale_constant = rig_bytes(r, s->scales, sizeof s->scales);
    s->b = rig_constant(r, XNN_DATATYPE_FP32, RIG_DIMS(8), s->bias, sizeof s->bias);
    s->m = rig_value(r, XNN_DATATYPE_FP32, RIG_DIMS(4, 8));
    rig_1x1(r, XNN_NODE_CONVERT, s->x, s->q);
    struct wick_xnn_node *node = rig_node(r, XNN_NODE_FULLY_CONNECTED);
    const uint32_t ids[] = {s->q, s->w, s->b, s->m};
    memcpy(node->slots, ids, sizeof ids);
    rig_1x1(r, XNN_NODE_SIGMOID, s->m, s->y);
}

static void run_small(struct rig *r, float out[32])
{
    uint64_t seed = 31;
    WICK_ASSERT_OK(rig_expand(r), &r->err);
    rig_fill(r, 0, &seed, 2);
    WICK_ASSERT_OK(rig_run(r), &r->err);
    memcpy(out, r->tensors[1].data, 32 * sizeof *out);
}

/* Old files: f32 group scales inline, and inputs that say themselves that they are quantized. */
static void generations(void **state)
{
    (void)state;
    float now[32], then[32];
    struct small s = {0};
    struct rig *r = rig_open(NULL, 1);
    describe(r, &s);
    run_small(r, now);
    rig_close(r);

    r = rig_open(NULL, 1);
    describe(r, &s);
    struct wick_xnn_quant *q = &r->file_values[s.w].quant;
    q->scale_constant = 0;
    q->scales = s.old_scales;
    run_small(r, then);
    assert_memory_equal(now, then, sizeof now);
    rig_close(r);

    r = rig_open(NULL, 1);
    describe(r, &s);
    r->file_values[s.x].dq_datatype = XNN_DATATYPE_QINT8;
    memmove(r->file_nodes, r->file_nodes + 1, 2 * sizeof *r->file_nodes);
    r->graph.node_count = 2;
    r->file_nodes[0].slots[XNN_FULLY_CONNECTED_INPUT1_ID] = s.x;
    run_small(r, then);
    assert_memory_equal(now, then, sizeof now);
    rig_close(r);
}

/* One thing made wrong, and what must be said about it. */
struct fault {
    const char *says;
    wick_status status;
    void (*make)(struct rig *r, struct small *s);
};

static void zero_scale(struct rig *r, struct small *s) { (void)r, s->scales[3] = 0; }
static void group_of_48(struct rig *r, struct small *s) { r->file_values[s->w].quant.group_size = 48; }
static void few_scales(struct rig *r, struct small *s) { r->file_values[s->w].quant.scale_count = 15; }
static void short_weights(struct rig *r, struct small *s) { r->constants[r->file_values[s->w].constant].size--; }
static void missing_key(struct rig *r, struct small *s)
{
    r->constants[r->file_values[s->w].constant] = (struct wick_xnn_constant){.key = WICK_STR("nowhere")};
}
static void unquantized(struct rig *r, struct small *s) { (void)s, r->file_nodes[0] = r->file_nodes[2], r->graph.node_count = 2; }
static void read_early(struct rig *r, struct small *s) { r->file_nodes[0].slots[XNN_NODE_1X1_INPUT_ID] = s->m; }
static void written_twice(struct rig *r, struct small *s) { r->file_nodes[2].slots[XNN_NODE_1X1_OUTPUT_ID] = s->m; }
static void no_output(struct rig *r, struct small *s) { (void)s, r->graph.node_count = 2; }
static void transposed_nibbles(struct rig *r, struct small *s) { (void)s, r->file_nodes[1].slots[XNN_FULLY_CONNECTED_FLAGS] = 1; }
static void wide_rows(struct rig *r, struct small *s) { (void)s, r->tensors[0].shape.sizes[1] = 63; }
static void wrong_type(struct rig *r, struct small *s) { (void)s, r->tensors[0].shape.dtype = WICK_DTYPE_I32; }
static void wrong_rank(struct rig *r, struct small *s) { (void)s, r->tensors[1].shape.rank = 1; }
static void few_arguments(struct rig *r, struct small *s) { (void)s, r->arg_count = 1; }
static void no_input(struct rig *r, struct small *s) { (void)s, r->file_nodes[1].slots[XNN_FULLY_CONNECTED_FILTER_ID] = WICK_XNN_NO_ID; }
static void float_weights(struct rig *r, struct small *s) { r->file_nodes[1].slots[XNN_FULLY_CONNECTED_FILTER_ID] = s->b; }
static void wrong_quant(struct rig *r, struct small *s) { r->file_values[s->w].quant.kind = XNN_QUANT_PER_TENSOR; }

static void faults(void **state)
{
    (void)state;
    static const struct fault list[] = {
        {"scale 3 is 0", WICK_DELEGATE_INCOMPATIBLE, zero_scale},
        {"groups of 48", WICK_DELEGATE_INCOMPATIBLE, group_of_48},
        {"needs 16 scales", WICK_INVALID_PROGRAM, few_scales},
        {"need 256 bytes, the constant has 255", WICK_INVALID_PROGRAM, short_weights},
        {"nowhere", WICK_NOT_FOUND, missing_key},
        {"read before anything defines it", WICK_INVALID_PROGRAM, unquantized},
        {"read before anything defines it", WICK_INVALID_PROGRAM, read_early},
        {"another node's result", WICK_INVALID_PROGRAM, written_twice},
        {"an output that no node defines", WICK_INVALID_PROGRAM, no_output},
        {"cannot be transposed", WICK_DELEGATE_INCOMPATIBLE, transposed_nibbles},
        {"for a filter of 64 columns", WICK_INVALID_PROGRAM, wide_rows},
        {"argument 0 has type INT", WICK_DELEGATE_INCOMPATIBLE, wrong_type},
        {"result 0 has rank 2, the program expects 1", WICK_DELEGATE_INCOMPATIBLE, wrong_rank},
        {"the call has no such argument", WICK_INVALID_PROGRAM, few_arguments},
        {"filter is missing", WICK_INVALID_PROGRAM, no_input},
        {"a filter of type fp32 for an input of type qdint8", WICK_DELEGATE_INCOMPATIBLE, float_weights},
        {"another kind of quantization", WICK_DELEGATE_INCOMPATIBLE, wrong_quant},
    };
    for (size_t i = 0; i < WICK_ARRAY_SIZE(list); i++) {
        struct rig *r = rig_open(NULL, 1);
        struct small s = {0};
        describe(r, &s);
        list[i].make(r, &s);
        wick_status status = rig_expand(r);
        if (status != list[i].status || !strstr(r->err.message, list[i].says))
            fail_msg("\"%s\": got %s, \"%s\"", list[i].says, wick_status_text(status), status == WICK_OK ? "" : r->err.message);
        rig_close(r);
    }
}

/* Bytes turned at random: an error with a message, or a graph that runs within its memory. */
static void mutations(void **state)
{
    (void)state;
    struct rig *r = rig_open(NULL, 1);
    struct small s = {0};
    uint64_t seed = 1234;
    describe(r, &s);
    WICK_ASSERT_OK(wick_xnn_payload_write(&r->graph, &r->bytes, &r->err), &r->err);
    size_t size = r->bytes.size, accepted = 0;
    for (int round = 0; round < 3000; round++) {
        struct rig *t = rig_open(NULL, 1);
        describe(t, &s);
        char *bytes = malloc(size);
        memcpy(bytes, r->bytes.data, size);
        for (int flips = 1 + (int)(wick_test_random(&seed) % 3); flips > 0; flips--) {
            size_t at = wick_test_random(&seed) % size;
            static const uint8_t values[] = {0, 1, 2, 7, 0x7f, 0x80, 0xff};
            bytes[at] = (char)(wick_test_random(&seed) % 2 ? values[wick_test_random(&seed) % sizeof values] : (uint8_t)wick_test_random(&seed));
        }
        wick_status status = rig_expand_bytes(t, bytes, size);
        if (status == WICK_OK) {
            accepted++;
            memset(t->tensors[0].data, 0, t->tensors[0].capacity);
            status = rig_run(t);
        }
        if (status != WICK_OK) assert_true(t->err.message[0] != 0);
        free(bytes);
        rig_close(t);
    }
    print_message("%zu of 3000 mutations accepted\n", accepted);
    rig_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(generations), cmocka_unit_test(faults), cmocka_unit_test(mutations)};
    return WICK_TEST_MAIN(tests);
}
