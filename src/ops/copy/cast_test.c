/* Conversions between all pairs of types, strided and not, against C's own. */
#include "fixture.h"
#include "ops/copy/cast.h"
#include "ops/copy/strided.h"
#include "tensor/half.h"

#include <math.h>
#include <stdlib.h>

static const int types[] = {WICK_DTYPE_U8,  WICK_DTYPE_I8,  WICK_DTYPE_I16,  WICK_DTYPE_I32, WICK_DTYPE_I64, WICK_DTYPE_U16, WICK_DTYPE_U32,
                            WICK_DTYPE_U64, WICK_DTYPE_F16, WICK_DTYPE_BF16, WICK_DTYPE_F32, WICK_DTYPE_F64, WICK_DTYPE_BOOL};

/* Small integers survive any pair of types that can hold them. */
static void all_pairs(void **state)
{
    (void)state;
    enum { N = 300 };
    int64_t start[N], back[N];
    char a[N * 8], b[N * 8];
    for (size_t i = 0; i < WICK_ARRAY_SIZE(types); i++)
        for (size_t j = 0; j < WICK_ARRAY_SIZE(types); j++) {
            bool boolean = types[i] == WICK_DTYPE_BOOL || types[j] == WICK_DTYPE_BOOL;
            for (int k = 0; k < N; k++) start[k] = boolean ? k % 2 : k % 100;
            wick_cast(a, types[i], start, WICK_DTYPE_I64, N);
            wick_cast(b, types[j], a, types[i], N);
            wick_cast(back, WICK_DTYPE_I64, b, types[j], N);
            assert_memory_equal(start, back, sizeof start);
            for (size_t k = 0; k < N; k++)
                assert_true(wick_element_int(b, types[j], k) == start[k] && wick_element_double(b, types[j], k) == (double)start[k]);
        }
}

static void edges(void **state)
{
    (void)state;
    const double in[] = {1.9, -1.9, 300.0, 1e300, -1e300, NAN, 0.3, -0.0};
    int64_t wide[8];
    int8_t narrow[8];
    uint8_t flags[8];
    wick_cast(wide, WICK_DTYPE_I64, in, WICK_DTYPE_F64, 8);
    wick_cast(narrow, WICK_DTYPE_I8, in, WICK_DTYPE_F64, 8);
    wick_cast(flags, WICK_DTYPE_BOOL, in, WICK_DTYPE_F64, 8);
    assert_true(wide[0] == 1 && wide[1] == -1 && wide[3] == INT64_MIN && wide[4] == INT64_MIN && wide[5] == INT64_MIN && wide[6] == 0);
    assert_true(narrow[2] == 300 - 256 && narrow[3] == 0);
    assert_true(flags[0] == 1 && flags[5] == 1 && flags[6] == 1 && flags[7] == 0);
    const int64_t big[] = {(int64_t)1 << 24 | 1, INT64_MAX};
    float rounded[2];
    wick_cast(rounded, WICK_DTYPE_F32, big, WICK_DTYPE_I64, 2);
    assert_true(rounded[0] == 0x1p24f && rounded[1] == 0x1p63f);
    uint16_t half;
    const double tie = 1.0 + 0x1p-11;
    wick_cast(&half, WICK_DTYPE_F16, &tie, WICK_DTYPE_F64, 1);
    assert_int_equal(half, 0x3c00);
    wick_error err;
    assert_int_equal(wick_cast_check(WICK_DTYPE_F32, WICK_DTYPE_C64, &err), WICK_INVALID_TYPE);
    assert_int_equal(wick_cast_check(WICK_DTYPE_C64, WICK_DTYPE_C64, &err), WICK_OK);
    const struct wick_value scalar = {.tag = WICK_TAG_DOUBLE, .as.d = 2.5};
    uint16_t element[8];
    assert_int_equal(wick_scalar_element(&scalar, WICK_DTYPE_BF16, element, &err), WICK_OK);
    assert_int_equal(element[0], wick_bf16_from_f32(2.5f));
}

/* Random layouts of up to four dims, with strides of 0 and below on the input side. */
static void random_layouts(void **state)
{
    (void)state;
    uint64_t seed = 77;
    for (int round = 0; round < 2000; round++) {
        int rank = (int)(wick_test_random(&seed) % 5), from_type = types[wick_test_random(&seed) % 13],
            to_type = round % 3 ? types[wick_test_random(&seed) % 13] : from_type;
        int32_t sizes[4];
        int64_t in[4], out[4], in_span = 1, out_span = 1, in_base = 0;
        for (int d = rank - 1; d >= 0; d--) {
            sizes[d] = (int32_t)(wick_test_random(&seed) % 6 + (round % 50 != 0));
            in[d] = in_span * (wick_test_random(&seed) % 4 ? 1 : 0);
            out[d] = out_span;
            if (in[d]) in_span *= sizes[d] + (int64_t)(wick_test_random(&seed) % 2);
            out_span *= sizes[d] + (int64_t)(wick_test_random(&seed) % 2);
            if (in[d] && wick_test_random(&seed) % 4 == 0) {
                in_base += (sizes[d] - 1) * in[d];
                in[d] = -in[d];
            }
        }
        size_t from_size = wick_dtype_size(from_type), to_size = wick_dtype_size(to_type);
        size_t in_bytes = (size_t)(in_span + 1) * from_size, out_bytes = (size_t)(out_span + 1) * to_size;
        char *source = malloc(in_bytes), *target = calloc(out_bytes, 1);
        for (size_t i = 0; i < in_bytes / from_size; i++) {
            int64_t value = (int64_t)(i % 2);
            wick_cast(source + i * from_size, from_type, &value, WICK_DTYPE_I64, 1);
        }
        if (in_base < 0) in_base = 0;
        wick_strided_cast(target, to_type, out, source + in_base * (int64_t)from_size, from_type, in, sizes, rank);
        int64_t count = 1;
        for (int d = 0; d < rank; d++) count *= sizes[d];
        for (int64_t at = 0; at < count; at++) {
            int64_t rest = at, a = in_base, b = 0;
            for (int d = rank - 1; d >= 0; d--) {
                a += rest % sizes[d] * in[d];
                b += rest % sizes[d] * out[d];
                rest /= sizes[d];
            }
            assert_true(wick_element_int(target, to_type, (size_t)b) == wick_element_int(source, from_type, (size_t)a));
        }
        free(source);
        free(target);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_pairs), cmocka_unit_test(edges), cmocka_unit_test(random_layouts)};
    return WICK_TEST_MAIN(tests);
}
