/* Convolutions against direct loops in double: padding, strides, dilation, groups, multipliers, transposed; float, half,
 * dynamically and statically quantized. */
#include "backends/xnnpack/rt/rig_test.h"
#include "tensor/half.h"

struct shape {
    int batch, h, w, groups, in, out; /* channels of a group */
    int top, right, bottom, left, kh, kw, sh, sw, dh, dw, ah, aw;
};

struct sizes {
    int oh, ow, c, oc, weights;
};

enum form { FLOAT, HALF, DYNAMIC, STATIC };
enum kind { PLAIN, TRANSPOSED, DEPTHWISE };

static struct sizes sizes_of(const struct shape *s, enum kind kind)
{
    struct sizes z = {.c = s->groups * s->in, .oc = s->groups * s->out, .weights = s->groups * s->out * s->kh * s->kw * s->in};
    int reach_h = (s->kh - 1) * s->dh + 1, reach_w = (s->kw - 1) * s->dw + 1;
    z.oh = kind == TRANSPOSED ? s->sh * (s->h - 1) + s->ah + reach_h - s->top - s->bottom : (s->h + s->top + s->bottom - reach_h) / s->sh + 1;
    z.ow = kind == TRANSPOSED ? s->sw * (s->w - 1) + s->aw + reach_w - s->left - s->right : (s->w + s->left + s->right - reach_w) / s->sw + 1;
    return z;
}

/* x and w as real numbers; w is [oc][kh][kw][in] or, depthwise, [kh][kw][oc]. */
static void reference(const struct shape *s, enum kind kind, const double *x, const double *w, const double *bias, double *y)
{
    struct sizes z = sizes_of(s, kind);
    for (int i = 0; i < s->batch * z.oh * z.ow * z.oc; i++) y[i] = bias[i % z.oc];
    for (int b = 0; b < s->batch; b++)
        for (int oy = 0; oy < z.oh; oy++)
            for (int ox = 0; ox < z.ow; ox++)
                for (int ky = 0; ky < s->kh; ky++)
                    for (int kx = 0; kx < s->kw; kx++) {
                        int iy = kind == TRANSPOSED ? oy + s->top - ky * s->dh : oy * s->sh + ky * s->dh - s->top;
                        int ix = kind == TRANSPOSED ? ox + s->left - kx * s->dw : ox * s->sw + kx * s->dw - s->left;
                        if (kind == TRANSPOSED && (iy % s->sh != 0 || ix % s->sw != 0)) continue;
                        if (kind == TRANSPOSED) iy /= s->sh, ix /= s->sw;
                        if (iy < 0 || iy >= s->h || ix < 0 || ix >= s->w) continue;
                        for (int o = 0; o < z.oc; o++)
                            for (int i = 0; i < s->in; i++) {
                                double weight = kind == DEPTHWISE ? w[(ky * s->kw + kx) * z.oc + o] : w[((o * s->kh + ky) * s->kw + kx) * s->in + i];
                                y[((b * z.oh + oy) * z.ow + ox) * z.oc + o] +=
                                    weight * x[((b * s->h + iy) * s->w + ix) * z.c + o / s->out * s->in + i];
                            }
                    }
}

static void window_slots(struct wick_xnn_node *node, const struct shape *s)
{
    const int fields[] = {s->top, s->right, s->bottom, s->left, s->kh, s->kw, s->sh, s->sw, s->dh, s->dw, s->in, s->out, s->groups, s->ah, s->aw};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(fields); i++) node->slots[i] = (uint32_t)fields[i];
}

/* What a case holds in all forms. */
struct data {
    float w[4096], bias[64], scales[64], bias_scales[64];
    int8_t w8[4096];
    int32_t bias32[64];
    double x[8192], weight[4096], bias_real[64], y[16384];
};

static const float x_scale = 0.02f, y_scale = 0.7f;
static const int x_zero = 7, y_zero = -20;

static void make_data(struct data *d, const struct sizes *z, enum form form, enum kind kind, uint64_t *seed)
{
    for (int o = 0; o < z->oc; o++) {
        d->scales[o] = 0.01f * (1.5f + wick_test_uniform(seed));
        d->bias[o] = wick_test_uniform(seed);
        d->bias32[o] = (int32_t)(500 * wick_test_uniform(seed));
        d->bias_scales[o] = x_scale * d->scales[o];
        d->bias_real[o] = form == STATIC ? d->bias32[o] * (double)d->bias_scales[o] : d->bias[o];
    }
    for (int i = 0; i < z->weights; i++) {
        int o = kind == DEPTHWISE ? i % z->oc : i / (z->weights / z->oc);
        d->w[i] = wick_test_uniform(seed);
        d->w8[i] = (int8_t)(127 * d->w[i]);
        d->weight[i] = form >= DYNAMIC ? d->w8[i] * (double)d->scales[o] : d->w[i];
    }
}

static uint32_t add_filter(struct rig *r, struct data *d, const struct shape *s, const struct sizes *z, enum form form, enum kind kind)
{
    struct wick_xnn_dims dims = kind == DEPTHWISE ? RIG_DIMS(1, s->kh, s->kw, z->oc) : RIG_DIMS(z->oc, s->kh, s->kw, s->in);
    if (form < DYNAMIC) return rig_constant(r, XNN_DATATYPE_FP32, dims, d->w, (size_t)z->weights * 4);
    uint32_t w = rig_constant(r, XNN_DATATYPE_QCINT8, dims, d->w8, (size_t)z->weights);
    r->file_values[w].quant =
        (struct wick_xnn_quant){.kind = XNN_QUANT_PER_CHANNEL, .channel_dim = kind == DEPTHWISE ? 3 : 0, .scale_count = (uint32_t)z->oc};
    r->file_values[w].quant.scale_constant = rig_bytes(r, d->scales, (size_t)z->oc * 4);
    return w;
}

static uint32_t add_bias(struct rig *r, struct data *d, const struct sizes *z, enum form form)
{
    if (form != STATIC) return rig_constant(r, XNN_DATATYPE_FP32, RIG_DIMS(z->oc), d->bias, (size_t)z->oc * 4);
    uint32_t b = rig_constant(r, XNN_DATATYPE_QCINT32, RIG_DIMS(z->oc), d->bias32, (size_t)z->oc * 4);
    r->file_values[b].quant = (struct wick_xnn_quant){.kind = XNN_QUANT_PER_CHANNEL, .scale_count = (uint32_t)z->oc};
    r->file_values[b].quant.scale_constant = rig_bytes(r, d->bias_scales, (size_t)z->oc * 4);
    return b;
}

/* Fills the image, and d->x with what it stands for. */
static void fill_image(struct rig *r, struct data *d, enum form form, uint64_t *seed)
{
    struct wick_tensor *t = &r->tensors[0];
    size_t count = wick_tensor_numel(t), one = count / (size_t)t->shape.sizes[0];
    for (size_t i = 0; i < count; i++) {
        float v = wick_test_uniform(seed);
        if (form == STATIC) {
            int8_t q = ((int8_t *)t->data)[i] = (int8_t)(127 * v);
            d->x[i] = (q - x_zero) * (double)x_scale;
        } else if (form == HALF) {
            uint16_t half = ((uint16_t *)t->data)[i] = wick_f16_from_f32(v);
            d->x[i] = wick_f32_from_f16(half);
        } else d->x[i] = ((float *)t->data)[i] = v * (float)(1 + i / one); /* images of different range */
    }
    /* What dynamic quantization makes of each image. */
    for (size_t image = 0; form == DYNAMIC && image < count / one; image++) {
        double low = 0, high = 0;
        for (size_t i = 0; i < one; i++) low = fmin(low, d->x[image * one + i]), high = fmax(high, d->x[image * one + i]);
        float scale = 255.0f / ((float)high - (float)low), down = (float)low * scale, up = (float)high * scale;
        float zero = rintf(fminf(fmaxf((-128 + down) + (127 + up) > 0 ? -128 - down : 127 - up, -128), 127));
        for (size_t i = 0; i < one; i++) {
            float q = fminf(fmaxf(rintf((float)d->x[image * one + i] * scale) + zero, -128), 127);
            d->x[image * one + i] = (double)(q - zero) / scale;
        }
    }
}

static void check(const struct shape *s, enum kind kind, enum form form)
{
    static const int kinds[] = {XNN_NODE_CONV_2D, XNN_NODE_CONV_TRANSPOSE_2D, XNN_NODE_DEPTHWISE_CONV_2D};
    struct rig *r = rig_open(NULL, 2);
    struct data *d = calloc(1, sizeof *d);
    struct sizes z = sizes_of(s, kind);
    uint64_t seed = 21;
    int type = form == STATIC ? XNN_DATATYPE_QINT8 : form == HALF ? XNN_DATATYPE_FP16 : XNN_DATATYPE_FP32;
    make_data(d, &z, form, kind, &seed);
    r->graph.constant_count = 1;
    uint32_t x = rig_input(r, type, RIG_DIMS(s->batch, s->h, s->w, z.c)), y = rig_output(r, type, RIG_DIMS(s->batch, z.oh, z.ow, z.oc)), q = x;
    if (form == STATIC) {
        r->file_values[x].quant = (struct wick_xnn_quant){.kind = XNN_QUANT_PER_TENSOR, .scale = x_scale, .zero_point = x_zero};
        r->file_values[y].quant = (struct wick_xnn_quant){.kind = XNN_QUANT_PER_TENSOR, .scale = y_scale, .zero_point = y_zero};
    }
    if (form == DYNAMIC) {
        q = rig_value(r, XNN_DATATYPE_QDINT8, RIG_DIMS(s->batch, z.c, s->h, s->w)); /* dims of inner values can be wrong */
        r->file_values[q].quant = (struct wick_xnn_quant){.kind = XNN_QUANT_PER_TOKEN, .num_nonbatch_dims = 3};
        rig_1x1(r, XNN_NODE_CONVERT, x, q);
    }
    struct wick_xnn_node *node = rig_node(r, kinds[kind]);
    window_slots(node, s);
    node->slots[XNN_CONV_INPUT1_ID] = q;
    node->slots[XNN_CONV_FILTER_ID] = add_filter(r, d, s, &z, form, kind);
    node->slots[XNN_CONV_BIAS_ID] = add_bias(r, d, &z, form);
    node->slots[XNN_CONV_OUTPUT_ID] = y;
    node->clamped = true, node->output_min = -8, node->output_max = 9;
    WICK_ASSERT_OK(rig_expand(r), &r->err);
    fill_image(r, d, form, &seed);
    WICK_ASSERT_OK(rig_run(r), &r->err);
    reference(s, kind, d->x, d->weight, d->bias_real, d->y);
    for (int i = 0; i < s->batch * z.oh * z.ow * z.oc; i++) {
        double want = fmin(fmax(d->y[i], -8), 9), got, tolerance = form == STATIC ? 0.5001 : form == HALF ? 1e-2 : 1e-4;
        if (form == STATIC) got = ((int8_t *)r->tensors[1].data)[i], want = fmin(fmax(want / y_scale + y_zero, -128), 127);
        else got = form == HALF ? wick_f32_from_f16(((uint16_t *)r->tensors[1].data)[i]) : rig_f32(r, 1)[i];
        if (!(fabs(got - want) <= tolerance)) fail_msg("kind %d, form %d, element %d: %.9g, want %.9g", kind, form, i, got, want);
    }
    free(d);
    rig_close(r);
}

static void convolutions(void **state)
{
    (void)state;
    static const struct shape cases[] = {
        {2, 7, 6, 1, 5, 9, 1, 1, 1, 1, 3, 3, 1, 1, 1, 1, 0, 0}, {1, 9, 8, 1, 3, 4, 0, 1, 2, 0, 3, 2, 2, 3, 2, 1, 0, 0},
        {2, 5, 5, 3, 4, 2, 1, 0, 1, 0, 2, 3, 1, 2, 1, 1, 0, 0}, {2, 6, 6, 1, 16, 20, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0},
        {1, 4, 4, 2, 8, 8, 0, 0, 0, 0, 1, 1, 2, 2, 1, 1, 0, 0},
    };
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cases); i++)
        for (int form = FLOAT; form <= STATIC; form++) check(&cases[i], PLAIN, (enum form)form);
}

static void transposed(void **state)
{
    (void)state;
    static const struct shape cases[] = {{2, 4, 5, 1, 3, 6, 0, 0, 0, 0, 3, 3, 1, 1, 1, 1, 0, 0},
                                         {1, 4, 3, 1, 4, 5, 1, 1, 1, 0, 3, 2, 2, 3, 1, 1, 1, 2},
                                         {2, 3, 3, 2, 2, 3, 1, 0, 0, 1, 3, 3, 2, 2, 2, 1, 1, 0}};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cases); i++)
        for (int form = FLOAT; form <= STATIC; form++) check(&cases[i], TRANSPOSED, (enum form)form);
}

static void depthwise(void **state)
{
    (void)state;
    static const struct shape cases[] = {{2, 7, 6, 10, 1, 1, 1, 1, 1, 1, 3, 3, 1, 1, 1, 1, 0, 0},
                                         {1, 6, 6, 5, 1, 3, 0, 2, 1, 1, 2, 3, 2, 1, 2, 1, 0, 0}};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cases); i++)
        check(&cases[i], DEPTHWISE, FLOAT), check(&cases[i], DEPTHWISE, HALF), check(&cases[i], DEPTHWISE, STATIC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(convolutions), cmocka_unit_test(transposed), cmocka_unit_test(depthwise)};
    return WICK_TEST_MAIN(tests);
}
