/* Every half and bfloat16 survives a round trip, and rounding is to nearest even. */
#include "fixture.h"
#include "tensor/half.h"

#include <math.h>

static void round_trip(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 0x10000; i++) {
        float half = wick_f32_from_f16((uint16_t)i), brain = wick_f32_from_bf16((uint16_t)i);
        if (isnan(half)) assert_true(isnan(wick_f32_from_f16(wick_f16_from_f32(half))));
        else assert_int_equal(wick_f16_from_f32(half), i);
        if (isnan(brain)) assert_true(isnan(wick_f32_from_bf16(wick_bf16_from_f32(brain))));
        else assert_int_equal(wick_bf16_from_f32(brain), i);
    }
}

static void nearest_even(void **state)
{
    (void)state;
    assert_int_equal(wick_f16_from_f32(1.0f + 0x1p-11f), 0x3c00);            /* tie: down to even */
    assert_int_equal(wick_f16_from_f32(1.0f + 3 * 0x1p-11f), 0x3c02);        /* tie: up to even */
    assert_int_equal(wick_f16_from_f32(65519.0f), 0x7bff);
    assert_int_equal(wick_f16_from_f32(65520.0f), 0x7c00);
    assert_int_equal(wick_f16_from_f32(-0x1p-25f), 0x8000);                  /* tie with zero */
    assert_int_equal(wick_f16_from_f32(0x1.8p-24f), 0x0002);
    assert_int_equal(wick_bf16_from_f32(1.0f + 0x1p-8f), 0x3f80);
    assert_int_equal(wick_bf16_from_f32(1.0f + 3 * 0x1p-8f), 0x3f82);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(round_trip), cmocka_unit_test(nearest_even)};
    return WICK_TEST_MAIN(tests);
}
