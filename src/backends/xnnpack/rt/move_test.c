/* Movement nodes against plain index arithmetic, for all element widths, with sizes smaller than the bound. */
#include "backends/xnnpack/rt/rig_test.h"

/* Fills an argument so that every element tells its own index. */
static void number(struct rig *r, uint32_t arg)
{
    for (size_t i = 0; i < wick_tensor_numel(&r->tensors[arg]); i++) rig_f32(r, arg)[i] = (float)i;
}

static struct wick_xnn_node *with_list(struct wick_xnn_node *node, int slot, int list, struct wick_xnn_dims dims)
{
    node->slots[slot] = (uint32_t)list;
    node->lists[list] = dims;
    return node;
}

static void transposes(void **state)
{
    (void)state;
    static const uint32_t perms[][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 2, 3, 1}, {3, 2, 1, 0}, {1, 0, 3, 2}};
    const uint32_t size[] = {2, 3, 5, 7};
    for (size_t p = 0; p < WICK_ARRAY_SIZE(perms); p++) {
        const uint32_t *perm = perms[p];
        struct rig *r = rig_open(NULL, 2);
        uint32_t x = rig_input(r, XNN_DATATYPE_FP32, RIG_DIMS(2, 3, 5, 7));
        int32_t out[4];
        for (int i = 0; i < 4; i++) out[i] = (int32_t)size[perm[i]];
        uint32_t y = rig_output(r, XNN_DATATYPE_FP32, rig_dims(4, out));
        struct wick_xnn_node *node = with_list(rig_node(r, XNN_NODE_STATIC_TRANSPOSE), XNN_TRANSPOSE_PERM, 0, rig_dims(4, (const int32_t *)perm));
        node->slots[XNN_TRANSPOSE_NUM_DIMS] = 4;
        node->slots[XNN_TRANSPOSE_INPUT_ID] = x;
        node->slots[XNN_TRANSPOSE_OUTPUT_ID] = y;
        WICK_ASSERT_OK(rig_expand(r), &r->err);
        number(r, 0);
        WICK_ASSERT_OK(rig_run(r), &r->err);
        for (uint32_t i = 0; i < 210; i++) {
            uint32_t rest = i, index[4], from = 0;
            for (int d = 3; d >= 0; d--) index[perm[d]] = rest % (uint32_t)out[d], rest /= (uint32_t)out[d];
            for (int d = 0; d < 4; d++) from = from * size[d] + index[d];
            assert_true(rig_f32(r, 1)[i] == (float)from);
        }
        rig_close(r);
    }
}

static wick_status reshape(struct rig *r, struct wick_xnn_dims from, struct wick_xnn_dims to, struct wick_xnn_dims out)
{
    uint32_t x = rig_input(r, XNN_DATATYPE_FP32, from), y = rig_output(r, XNN_DATATYPE_FP32, out);
    struct wick_xnn_node *node = with_list(rig_node(r, XNN_NODE_STATIC_RESHAPE), XNN_RESHAPE_NEW_SHAPE, 0, to);
    node->slots[XNN_RESHAPE_NUM_DIMS] = to.count;
    node->slots[XNN_RESHAPE_INPUT_ID] = x;
    node->slots[XNN_RESHAPE_OUTPUT_ID] = y;
    return rig_expand(r);
}

static void reshapes(void **state)
{
    (void)state;
    struct rig *r = rig_open(NULL, 2);
    WICK_ASSERT_OK(reshape(r, RIG_DIMS(6, 4, 5), RIG_DIMS(0, 2, 10), RIG_DIMS(6, 2, 10)), &r->err);
    number(r, 0);
    WICK_ASSERT_OK(rig_run(r), &r->err);
    for (int i = 0; i < 120; i++) assert_true(rig_f32(r, 1)[i] == (float)i);
    rig_resize(r, 0, (int32_t[]){2, 4, 5});
    WICK_ASSERT_OK(rig_run(r), &r->err);
    assert_int_equal(r->tensors[1].shape.sizes[0], 2);
    rig_resize(r, 0, (int32_t[]){1, 3, 5});
    assert_int_equal(rig_run(r), WICK_INVALID_PROGRAM);
    rig_close(r);
    r = rig_open(NULL, 1);
    assert_int_equal(reshape(r, RIG_DIMS(6, 4), RIG_DIMS(5, 5), RIG_DIMS(5, 5)), WICK_INVALID_PROGRAM);
    rig_close(r);
}

/* (0, 0) is the whole dim; sizes are clipped. */
static void slices(void **state)
{
    (void)state;
    struct rig *r = rig_open(NULL, 2);
    uint32_t x = rig_input(r, XNN_DATATYPE_FP32, RIG_DIMS(4, 6, 5)), y = rig_output(r, XNN_DATATYPE_FP32, RIG_DIMS(4, 2, 3));
    struct wick_xnn_node *node =
        with_list(with_list(rig_node(r, XNN_NODE_STATIC_SLICE), XNN_SLICE_OFFSETS, 0, RIG_DIMS(0, 3, 2)), XNN_SLICE_SIZES, 1, RIG_DIMS(0, 2, 9));
    node->slots[XNN_SLICE_NUM_DIMS] = 3;
    node->slots[XNN_SLICE_INPUT_ID] = x;
    node->slots[XNN_SLICE_OUTPUT_ID] = y;
    WICK_ASSERT_OK(rig_expand(r), &r->err);
    number(r, 0);
    WICK_ASSERT_OK(rig_run(r), &r->err);
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 2; b++)
            for (int c = 0; c < 3; c++) assert_true(rig_f32(r, 1)[(a * 2 + b) * 3 + c] == (float)((a * 6 + b + 3) * 5 + c + 2));
    rig_close(r);
}

static void pads(void **state)
{
    (void)state;
    struct rig *r = rig_open(NULL, 2);
    uint32_t x = rig_input(r, XNN_DATATYPE_FP32, RIG_DIMS(2, 3, 4)), y = rig_output(r, XNN_DATATYPE_FP32, RIG_DIMS(3, 5, 7));
    struct wick_xnn_node *node = with_list(with_list(rig_node(r, XNN_NODE_STATIC_CONSTANT_PAD), XNN_PAD_PRE_PADDINGS, 0, RIG_DIMS(1, 0, 2)),
                                           XNN_PAD_POST_PADDINGS, 1, RIG_DIMS(0, 2, 1));
    wick_xnn_slot_set_f32(node, XNN_PAD_PADDING_VALUE, -2.5f);
    node->slots[XNN_PAD_INPUT_ID] = x;
    node->slots[XNN_PAD_OUTPUT_ID] = y;
    WICK_ASSERT_OK(rig_expand(r), &r->err);
    number(r, 0);
    WICK_ASSERT_OK(rig_run(r), &r->err);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 5; b++)
            for (int c = 0; c < 7; c++) {
                bool inside = a >= 1 && b < 3 && c >= 2 && c < 6;
                assert_true(rig_f32(r, 1)[(a * 5 + b) * 7 + c] == (inside ? (float)(((a - 1) * 3 + b) * 4 + c - 2) : -2.5f));
            }
    rig_close(r);
}

static void concatenations(void **state)
{
    (void)state;
    for (int n = 2; n <= 5; n++) {
        struct rig *r = rig_open(NULL, 2);
        static const int kinds[] = {XNN_NODE_CONCATENATE_2, XNN_NODE_CONCATENATE_3, XNN_NODE_CONCATENATE_4, XNN_NODE_CONCATENATE_5};
        static const int slots[] = {XNN_CAT_INPUT1_ID, XNN_CAT_INPUT2_ID, XNN_CAT_INPUT3_ID, XNN_CAT_INPUT4_ID, XNN_CAT_INPUT5_ID};
        struct wick_xnn_node *node = rig_node(r, kinds[n - 2]);
        for (int k = 0; k < 5; k++) node->slots[slots[k]] = WICK_XNN_NO_ID;
        int total = 0;
        for (int k = 0; k < n; k++) {
            node->slots[slots[k]] = rig_input(r, XNN_DATATYPE_FP32, RIG_DIMS(3, k + 1, 4));
            total += k + 1;
        }
        node->slots[XNN_CAT_AXIS] = 1;
        node->slots[XNN_CAT_OUTPUT_ID] = rig_output(r, XNN_DATATYPE_FP32, RIG_DIMS(3, total, 4));
        WICK_ASSERT_OK(rig_expand(r), &r->err);
        for (int k = 0; k < n; k++) number(r, (uint32_t)k);
        WICK_ASSERT_OK(rig_run(r), &r->err);
        const float *y = rig_f32(r, (uint32_t)n);
        for (int a = 0; a < 3; a++)
            for (int k = 0; k < n; k++)
                for (int i = 0; i < 4 * (k + 1); i++) assert_true(*y++ == (float)(a * 4 * (k + 1) + i));
        rig_close(r);
    }
}

/* An argument in NHWC dim order is seen with its sizes in memory order. */
static void dim_orders(void **state)
{
    (void)state;
    struct rig *r = rig_open(NULL, 1);
    uint32_t x = rig_input(r, XNN_DATATYPE_FP32, RIG_DIMS(2, 3, 4, 5)), y = rig_output(r, XNN_DATATYPE_FP32, RIG_DIMS(2, 3, 4, 5));
    struct wick_xnn_node *node = with_list(rig_node(r, XNN_NODE_STATIC_TRANSPOSE), XNN_TRANSPOSE_PERM, 0, RIG_DIMS(0, 3, 1, 2));
    node->slots[XNN_TRANSPOSE_NUM_DIMS] = 4;
    node->slots[XNN_TRANSPOSE_INPUT_ID] = x;
    node->slots[XNN_TRANSPOSE_OUTPUT_ID] = y;
    memcpy(r->tensors[0].shape.dim_order, (uint8_t[]){0, 2, 3, 1}, 4);
    wick_shape_strides(&r->tensors[0].shape, r->tensors[0].strides);
    WICK_ASSERT_OK(rig_expand(r), &r->err);
    number(r, 0);
    WICK_ASSERT_OK(rig_run(r), &r->err);
    for (int n = 0; n < 2; n++)
        for (int c = 0; c < 3; c++)
            for (int i = 0; i < 20; i++) assert_true(rig_f32(r, 1)[(n * 3 + c) * 20 + i] == (float)((n * 20 + i) * 3 + c));
    rig_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(transposes), cmocka_unit_test(reshapes),       cmocka_unit_test(slices),
                                       cmocka_unit_test(pads),       cmocka_unit_test(concatenations), cmocka_unit_test(dim_orders)};
    return WICK_TEST_MAIN(tests);
}
