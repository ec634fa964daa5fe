/* Quantization bit for bit as ExecuTorch 1.5.1 does it (its results are in the table), tables of 8, 4 and 2 bits, and refusals. */
#include "ops/call_test.h"
#include "ops/ops.h"
#include "tensor/half.h"

#include <math.h>

#define Q(name) &wick_op_quantized_decomposed_##name

/* Rows of many kinds: of one sign, tiny, subnormal, zero, huge, ties. */
static const struct {
    float x[6];
    double scale;
    int64_t zero_point;
    int8_t q[6];
} tokens[] = {
    {{0x1.9b4700p-1f, 0x1.660f0cp-3f, 0x1.6c744cp-4f, -0x1.3a3940p-1f, 0x1.7a539ep-5f, -0x1.5e463cp+0f},
     0x1.170be9e9e9e9fp-7,
     33,
     {127, 54, 43, -39, 38, -128}},
    {{0x1.599850p-2f, 0x1.02d87ep+0f, 0x1.6f67eap+0f, 0x1.f471f0p-1f, 0x1.0b4a22p-1f, 0x1.3ce81cp+0f},
     0x1.70d8c2c2c2c2cp-8,
     -128,
     {-68, 52, 127, 46, -35, 92}},
    {{-0x1.bab184p-1f, -0x1.3222cap-2f, -0x1.ad47a8p-2f, -0x1.471554p-4f, -0x1.da5286p-1f, -0x1.a1a07cp-1f},
     0x1.dc2eb4b4b4b4bp-9,
     127,
     {-111, 45, 12, 105, -128, -98}},
    {{0x1.09da42p-21f, -0x1.60de38p-23f, -0x1.6bfa6ap-21f, -0x1.1c4d4ep-20f, 0x1.916aa4p-21f, 0x1.00891ep-22f},
     0x1.ffb4800000000p-15,
     21,
     {21, 21, 21, 21, 21, 21}},
    {{0x1.97ebccp-18f, 0x1.8284bcp-17f, -0x1.ed3480p-20f, 0x1.016c4ap-16f, -0x1.2ead1cp-18f, 0x1.f1721cp-19f},
     0x1.ffb4800000000p-15,
     -70,
     {-70, -70, -70, -70, -70, -70}},
    {{0x1.585800p-136f, -0x1.148400p-135f, 0x1.f9ac00p-135f, 0x1.af8000p-140f, 0x1.761a00p-133f, 0x1.978c00p-133f},
     0x1.999999999999ap-4,
     127,
     {127, 127, 127, 127, 127, 127}},
    {{0x0.0p+0f, 0x0.0p+0f, -0x0.0p+0f, 0x0.0p+0f, -0x0.0p+0f, -0x0.0p+0f}, 0x1.999999999999ap-4, 127, {127, 127, 127, 127, 127, 127}},
    {{-0x1.6ded26p+66f, 0x1.1dcdb8p+66f, -0x1.6db6ecp+65f, 0x1.1946ecp+66f, -0x1.17262ep+66f, -0x1.6c5070p+66f},
     0x1.4724939393939p+59,
     15,
     {-128, 127, -57, 125, -94, -128}},
    {{0x1.6fefb0p-17f, 0x1.281724p-15f, 0x1.750b18p-15f, 0x1.8ed3d6p-14f, 0x1.791abcp-18f, 0x1.2de58ap-13f},
     0x1.ffb4800000000p-15,
     -128,
     {-128, -127, -127, -126, -128, -126}},
    {{-0x1.400000p+0f, 0x1.200000p+0f, -0x1.000000p-1f, 0x1.800000p-1f, -0x1.400000p-1f, 0x1.c00000p-1f},
     0x1.3131313131313p-7,
     6,
     {-128, 127, -48, 87, -61, 100}},
    {{-0x1.9a3dd6p-18f, -0x1.c5f48cp-18f, -0x1.14c2e0p-18f, -0x1.1861f2p-22f, -0x1.2e96bcp-22f, -0x1.ead16ap-17f},
     0x1.ffb4800000000p-15,
     127,
     {127, 127, 127, 127, 127, 127}},
    {{0x1.7d672ap-17f, 0x1.afef8cp-21f, 0x1.43a9a8p-20f, 0x1.ef2368p-20f, 0x1.315c24p-20f, 0x1.8e817ep-20f},
     0x1.ffb4800000000p-15,
     -128,
     {-128, -128, -128, -128, -128, -128}},
};
enum { TOKENS = sizeof tokens / sizeof tokens[0] };

static void per_token(void **state)
{
    (void)state;
    struct call *c = call_new();
    struct wick_tensor *x = call_shape(c, WICK_DTYPE_F32, 3, CALL_SIZES(1, TOKENS, 6), NULL);
    for (int r = 0; r < TOKENS; r++) memcpy((float *)x->data + 6 * r, tokens[r].x, sizeof tokens[r].x);
    call_int(c, WICK_DTYPE_I8);
    WICK_ASSERT_OK(call_run(c, Q(choose_qparams_per_token_asymmetric_out), NULL), &c->err);
    struct wick_tensor *scales = call_out(c, 0), *zero_points = call_out(c, 1);
    assert_true(scales->shape.rank == 3 && scales->shape.sizes[2] == 1);
    for (int r = 0; r < TOKENS; r++) {
        assert_true(((double *)scales->data)[r] == tokens[r].scale);
        assert_true(((int64_t *)zero_points->data)[r] == tokens[r].zero_point);
    }
    /* quantize with them, and back */
    struct wick_value s = c->values[2], z = c->values[3];
    c->count = 1;
    call_value(c, s);
    call_value(c, z);
    call_int(c, -128);
    call_int(c, 127);
    call_int(c, WICK_DTYPE_I8);
    WICK_ASSERT_OK(call_run(c, Q(quantize_per_token_out), NULL), &c->err);
    struct wick_tensor *q = call_out(c, 0);
    for (int r = 0; r < TOKENS; r++) assert_memory_equal((int8_t *)q->data + 6 * r, tokens[r].q, 6);
    c->values[0].as.tensor = q;
    c->count = 6;
    call_int(c, WICK_DTYPE_F32);
    WICK_ASSERT_OK(call_run(c, Q(dequantize_per_token_out), NULL), &c->err);
    const float *back = call_out(c, 0)->data;
    for (int i = 0; i < 6 * TOKENS; i++)
        assert_true(back[i] == (float)(tokens[i / 6].q[i % 6] - tokens[i / 6].zero_point) * (float)tokens[i / 6].scale);
    call_free(c);
}

static void per_tensor(void **state)
{
    (void)state;
    static const double x[] = {-1, 0, 0.1, 0.25, 0.75, 1.25, 100, -100, NAN, INFINITY};
    /* 1 / 0.5 = 2: ties go to even; the zero point is added after rounding */
    static const double want[] = {117 - 2, 117, 117, 117, 119, 119, 250, 3, 3, 250};
    static const int dtypes[] = {WICK_DTYPE_F32, WICK_DTYPE_F64, WICK_DTYPE_F16};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(dtypes); i++) {
        struct call *c = call_new();
        struct wick_tensor *t = call_tensor(c, dtypes[i], 2, CALL_SIZES(2, 5), x);
        call_double(c, 0.5);
        call_int(c, 117);
        call_int(c, 3);
        call_int(c, 250);
        call_int(c, WICK_DTYPE_U8);
        WICK_ASSERT_OK(call_run(c, Q(quantize_per_tensor_out), NULL), &c->err);
        call_expect(c, 0, 2, CALL_SIZES(2, 5), want, 0);
        c->values[0].as.tensor = call_out(c, 0);
        c->count = c->inputs;
        call_int(c, WICK_DTYPE_F64);
        WICK_ASSERT_OK(call_run(c, Q(dequantize_per_tensor_out), NULL), &c->err);
        for (size_t k = 0; k < 10; k++) assert_true(call_get(call_out(c, 0), k) == (want[k] - 117) * 0.5);
        c->values[0].as.tensor = t;
        c->values[5].as.i = WICK_DTYPE_F32; /* no type to quantize to */
        c->count = 6;
        call_run(c, Q(quantize_per_tensor_out), NULL);
        call_expect_error(c, WICK_INVALID_TYPE, "FLOAT");
        call_free(c);
    }
}

/* Wide types reach their ends without wrapping. */
static void wide(void **state)
{
    (void)state;
    struct call *c = call_new();
    CALL_VECTOR(c, 3e9, -3e9, 1e30, -1e30, 2.5, NAN);
    call_double(c, 1.0);
    call_int(c, 1);
    call_int(c, INT32_MIN);
    call_int(c, INT32_MAX);
    call_int(c, WICK_DTYPE_I32);
    WICK_ASSERT_OK(call_run(c, Q(quantize_per_tensor_out), NULL), &c->err);
    call_expect(c, 0, 1, CALL_SIZES(6), CALL_DOUBLES(INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN, 3, INT32_MIN), 0);
    call_free(c);
}

static void per_channel(void **state)
{
    (void)state;
    for (int axis = -2; axis <= 3; axis++) {
        struct call *c = call_new();
        call_tensor(c, WICK_DTYPE_F32, 2, CALL_SIZES(2, 2), CALL_DOUBLES(1, 2, 3, 4));
        call_tensor(c, WICK_DTYPE_F64, 1, CALL_SIZES(2), CALL_DOUBLES(0.5, 0.25));
        call_tensor(c, WICK_DTYPE_I64, 1, CALL_SIZES(2), CALL_DOUBLES(0, 10));
        call_int(c, axis);
        call_int(c, -128);
        call_int(c, 127);
        call_int(c, WICK_DTYPE_I8);
        call_run(c, Q(quantize_per_channel_out), NULL);
        if (axis > 1) {
            call_expect_error(c, WICK_INVALID_ARGUMENT, "axis");
        } else {
            bool rows = axis == 0 || axis == -2;
            call_expect(c, 0, 2, CALL_SIZES(2, 2), rows ? CALL_DOUBLES(2, 4, 22, 26) : CALL_DOUBLES(2, 18, 6, 26), 0);
            c->values[0].as.tensor = call_out(c, 0);
            c->count = c->inputs;
            call_none(c);
            call_run(c, Q(dequantize_per_channel_out), NULL);
            call_expect(c, 0, 2, CALL_SIZES(2, 2), CALL_DOUBLES(1, 2, 3, 4), 0);
        }
        call_free(c);
    }
    struct call *c = call_new(); /* three scales for two channels */
    call_tensor(c, WICK_DTYPE_I8, 2, CALL_SIZES(2, 2), CALL_DOUBLES(1, 2, 3, 4));
    CALL_VECTOR(c, 1, 2, 3);
    call_none(c);
    for (int i = 0; i < 4; i++) call_int(c, (const int64_t[]){0, -128, 127, WICK_DTYPE_I8}[i]);
    call_none(c);
    call_run(c, Q(dequantize_per_channel_out), NULL);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "3 scales");
    call_free(c);
}

static void whole_tensor_params(void **state)
{
    (void)state;
    struct call *c = call_new();
    CALL_VECTOR(c, -1, 0.5, 3);
    call_int(c, 0);
    call_int(c, 255);
    call_double(c, 1e-9);
    call_int(c, WICK_DTYPE_U8);
    WICK_ASSERT_OK(call_run(c, Q(choose_qparams_Tensor_out), NULL), &c->err);
    call_expect(c, 0, 1, CALL_SIZES(1), CALL_DOUBLES(4.0 / 255), 0);
    call_expect(c, 1, 1, CALL_SIZES(1), CALL_DOUBLES(64), 0);
    c->values[1].as.i = 255;
    c->count = c->inputs;
    call_run(c, Q(choose_qparams_Tensor_out), NULL);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "quant_min");
    call_free(c);
}

/* ---- tables ---- */

static struct call *lookup(const struct wick_op *op, int weight_dtype, int32_t bytes, int dtype, int groups, bool zero_points, int64_t index)
{
    struct call *c = call_new();
    struct wick_tensor *weight = call_shape(c, weight_dtype, 2, CALL_SIZES(3, bytes), NULL);
    for (size_t i = 0; i < (size_t)(3 * bytes); i++) ((uint8_t *)weight->data)[i] = (uint8_t)(i * 73 + 19);
    struct wick_tensor *scales = call_shape(c, dtype, groups ? 2 : 1, CALL_SIZES(3, groups), NULL);
    for (size_t i = 0; i < wick_tensor_numel(scales); i++) call_set(scales, i, 0.25 * (double)(i + 1));
    if (zero_points) {
        struct wick_tensor *zero = call_shape(c, dtype, groups ? 2 : 1, CALL_SIZES(3, groups), NULL);
        for (size_t i = 0; i < wick_tensor_numel(zero); i++) call_set(zero, i, (double)i - 2);
    } else {
        call_none(c);
    }
    call_int(c, -8);
    call_int(c, 7);
    call_tensor(c, WICK_DTYPE_I64, 2, CALL_SIZES(1, 2), CALL_DOUBLES(1, (double)index));
    if (strstr(op->meta->name, "dtype_out")) call_int(c, dtype);
    call_run(c, op, NULL);
    return c;
}

static double stored(int bits, int dtype, size_t row, size_t i, int32_t bytes)
{
    uint8_t byte = (uint8_t)((row * (size_t)bytes + i * (size_t)bits / 8) * 73 + 19);
    if (bits == 4) return (i % 2 ? byte & 15 : byte >> 4) - 8;
    if (bits == 2) return (byte >> (2 * (i % 4)) & 3) - 2;
    return dtype == WICK_DTYPE_I8 ? (int8_t)byte : byte;
}

static void tables(void **state)
{
    (void)state;
    static const struct {
        const struct wick_op *op;
        int bits, weight;
    } ops[] = {{Q(embedding_byte_out), 8, WICK_DTYPE_I8}, {Q(embedding_byte_dtype_out), 8, WICK_DTYPE_U8},
               {Q(embedding_4bit_out), 4, WICK_DTYPE_U8}, {Q(embedding_4bit_dtype_out), 4, WICK_DTYPE_U8},
               {Q(embedding_2bit_out), 2, WICK_DTYPE_U8}, {Q(embedding_2bit_dtype_out), 2, WICK_DTYPE_U8}};
    static const int dtypes[] = {WICK_DTYPE_F32, WICK_DTYPE_F16, WICK_DTYPE_BF16};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(ops) * 3 * 2 * 3; i++) {
        size_t op = i / 18;
        int dtype = dtypes[i / 6 % 3], groups = (int[]){0, 1, 4}[i % 3], parts = groups ? groups : 1;
        bool zero_points = i / 3 % 2;
        size_t width = 16 * 8 / (size_t)ops[op].bits;
        struct call *c = lookup(ops[op].op, ops[op].weight, 16, dtype, groups, zero_points, 2);
        WICK_ASSERT_OK(c->status, &c->err);
        const struct wick_tensor *out = call_out(c, 0);
        assert_true(out->shape.dtype == dtype && out->shape.rank == 3 && out->shape.sizes[2] == (int32_t)width);
        for (size_t r = 0; r < 2; r++)
            for (size_t k = 0; k < width; k++) {
                size_t group = (r + 1) * (size_t)parts + k / (width / (size_t)parts);
                double zero = zero_points ? (double)group - 2 : 0,
                       want = (stored(ops[op].bits, ops[op].weight, r + 1, k, 16) - zero) * 0.25 * (double)(group + 1);
                double rounded = dtype == WICK_DTYPE_F32   ? want
                                 : dtype == WICK_DTYPE_F16 ? (double)wick_f32_from_f16(wick_f16_from_f32((float)want))
                                                           : (double)wick_f32_from_bf16(wick_bf16_from_f32((float)want));
                assert_true(call_get(out, r * width + k) == rounded);
            }
        call_free(c);
    }
    static const int64_t wrong[] = {3, -1};
    for (size_t i = 0; i < 2; i++) {
        struct call *c = lookup(Q(embedding_4bit_dtype_out), WICK_DTYPE_U8, 16, WICK_DTYPE_F32, 1, false, wrong[i]);
        call_expect_error(c, WICK_INVALID_ARGUMENT, "table of 3 rows");
        call_free(c);
    }
    struct call *c = lookup(Q(embedding_4bit_dtype_out), WICK_DTYPE_U8, 16, WICK_DTYPE_F32, 5, false, 0);
    call_expect_error(c, WICK_INVALID_ARGUMENT, "in 5 groups");
    call_free(c);
    c = lookup(Q(embedding_2bit_out), WICK_DTYPE_I8, 16, WICK_DTYPE_F32, 1, false, 0);
    call_expect_error(c, WICK_INVALID_TYPE, "CHAR");
    call_free(c);
}

/* ---- arithmetic ---- */

static void sums(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct call *c = call_new();
        for (int k = 0; k < 2; k++) {
            call_tensor(c, WICK_DTYPE_U8, 1, CALL_SIZES(4), k ? CALL_DOUBLES(5, 5, 255, 0) : CALL_DOUBLES(10, 11, 255, 0));
            call_double(c, k ? 0.25 : 0.5);
            call_int(c, k ? 5 : 10);
            call_int(c, 0);
            call_int(c, i && k ? 256 : 255);
        }
        call_double(c, 0.5);
        call_int(c, 3);
        call_int(c, 0);
        call_int(c, 255);
        call_run(c, Q(add_out), NULL);
        /* (0, 0.5, 122.5 + 62.5, -5 - 1.25) / 0.5 + 3 */
        if (i) call_expect_error(c, WICK_INVALID_ARGUMENT, "[0, 255]");
        else call_expect(c, 0, 1, CALL_SIZES(4), CALL_DOUBLES(3, 4, 255, 0), 0);
        call_free(c);
    }
}

static void products(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        int dtype = i ? WICK_DTYPE_F16 : WICK_DTYPE_F32;
        struct call *c = call_new();
        call_tensor(c, dtype, 2, CALL_SIZES(2, 3), CALL_DOUBLES(1, 2, 3, -1, 0, 1));
        call_tensor(c, WICK_DTYPE_I8, 2, CALL_SIZES(3, 2), CALL_DOUBLES(1, 2, 3, 4, 5, 6));
        call_tensor(c, dtype, 1, CALL_SIZES(3), CALL_DOUBLES(1, 0.5, 2));
        call_none(c);
        call_run(c, Q(mixed_mm_out), NULL);
        call_expect(c, 0, 2, CALL_SIZES(2, 2), CALL_DOUBLES(34, 42, 9, 10), 0);
        call_free(c);
        c = call_new();
        call_tensor(c, dtype, 2, CALL_SIZES(1, 3), CALL_DOUBLES(1, 2, 3));
        call_tensor(c, WICK_DTYPE_I8, 2, CALL_SIZES(2, 3), CALL_DOUBLES(1, 2, 3, 4, 5, 6));
        call_tensor(c, dtype, 2, CALL_SIZES(2, 2), CALL_DOUBLES(1, 0.5, 2, 4));
        call_none(c);
        call_none(c);
        call_run(c, Q(mixed_linear_out), NULL);
        call_expect(c, 0, 2, CALL_SIZES(1, 2), CALL_DOUBLES(9.5, 100), 0);
        call_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(per_token),           cmocka_unit_test(per_tensor), cmocka_unit_test(wide), cmocka_unit_test(per_channel),
        cmocka_unit_test(whole_tensor_params), cmocka_unit_test(tables),     cmocka_unit_test(sums), cmocka_unit_test(products)};
    return WICK_TEST_MAIN(tests);
}
