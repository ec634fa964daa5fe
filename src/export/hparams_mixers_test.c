/* Hyper-parameters of experts and linear attention: defaults, limits, counts. */
#include "export/hparams.h"
#include "fixture.h"

static struct wick_hparams small(void)
{
    struct wick_hparams h;
    wick_hparams_init(&h);
    h.dim = 64;
    h.hidden_dim = 96;
    h.n_layers = 2;
    h.n_heads = 4;
    return h;
}

static void defaults(void **state)
{
    (void)state;
    struct wick_hparams h = small();
    wick_error err;
    h.layer_kind_count = 2;
    h.layer_kinds[1] = WICK_LAYER_LINEAR_ATTENTION;
    WICK_ASSERT_OK(wick_hparams_finish(&h, &err), &err);
    assert_int_equal(h.linear_key_head_dim, 16);
    assert_int_equal(h.linear_num_value_heads, 4);
    assert_int_equal(wick_hparams_layer_parameters(&h, 0), 4 * 64 * 64 + 3 * 64 * 96 + 2 * 64);
    assert_int_equal(wick_hparams_layer_parameters(&h, 1), 64 * 192 + 2 * 64 * 64 + 2 * 64 * 4 + 192 * 4 + 2 * 4 + 16 + 3 * 64 * 96 + 2 * 64);
    h.layer_kinds[1] = WICK_LAYER_CONV;
    assert_int_equal(wick_hparams_layer_parameters(&h, 1), 4 * 64 * 64 + 3 * 64 + 3 * 64 * 96 + 2 * 64);
    h.moe = true;
    h.moe_hidden_dim = 32;
    h.moe_shared_expert_hidden_dim = 16;
    assert_int_equal(wick_hparams_layer_parameters(&h, 0), 4 * 64 * 64 + 8 * 3 * 64 * 32 + 64 * 8 + 3 * 64 * 16 + 2 * 64);
}

static void limits(void **state)
{
    (void)state;
    for (int form = 0; form < 7; form++) {
        struct wick_hparams h = small();
        wick_error err;
        h.moe = form < 4;
        h.layer_kind_count = 2;
        h.layer_kinds[0] = WICK_LAYER_LINEAR_ATTENTION;
        switch (form) {
        case 0: h.num_activated_experts = 9; break;
        case 1: h.num_experts = 0; break;
        case 2: h.moe_route_scale = 2; break;
        case 3: h.moe_hidden_dim = -1; break;
        case 4: h.linear_num_key_heads = 3; break;
        case 5: h.linear_conv_kernel_dim = 1; break;
        default: h.linear_value_head_dim = 1 << 20; break;
        }
        assert_int_equal(wick_hparams_finish(&h, &err), WICK_INVALID_CONFIG);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(defaults), cmocka_unit_test(limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
