/* ops/matmul/matmul.c - mm, bmm, addmm: arguments to a wick_product. */
#include "ops/matmul/product.h"

/* Product of args at and at + 1, [.., M, K] and [.., K, N], into out. */
static wick_status product_of(const struct wick_args *args, uint32_t at, struct wick_tensor *out, struct wick_product *p, wick_error *err)
{
    const struct wick_tensor *a = wick_arg_tensor(args, at), *w = wick_arg_tensor(args, at + 1);
    int last = a->shape.rank - 1;
    if (out->shape.dtype != a->shape.dtype || w->shape.dtype != a->shape.dtype)
        return wick_fail(err, WICK_INVALID_TYPE, "a product of %s and %s into %s", wick_dtype_name(a->shape.dtype), wick_dtype_name(w->shape.dtype),
                         wick_dtype_name(out->shape.dtype));
    *p = (struct wick_product){.dtype = a->shape.dtype,
                               .batch = last == 2 ? (size_t)a->shape.sizes[0] : 1,
                               .m = (size_t)a->shape.sizes[last - 1],
                               .k = (size_t)a->shape.sizes[last],
                               .n = (size_t)w->shape.sizes[last],
                               .a = a->data,
                               .w = w->data,
                               .out = out->data,
                               .a_row = a->strides[last - 1],
                               .a_k = a->strides[last],
                               .w_k = w->strides[last - 1],
                               .w_column = w->strides[last],
                               .out_row = out->strides[last - 1],
                               .out_column = out->strides[last]};
    if (last == 2) {
        p->a_batch = a->strides[0];
        p->w_batch = w->strides[0];
        p->out_batch = out->strides[0];
    }
    return WICK_OK;
}

static wick_status run_product(const struct wick_args *args, const void *state, struct wick_run *run)
{
    struct wick_product product;
    (void)state;
    WICK_TRY(product_of(args, 0, wick_arg_tensor(args, 2), &product, run->err));
    return wick_product_run(&product, run);
}

static void count_product(const struct wick_args *args, uint32_t at, const struct wick_tensor *out, struct wick_work *work)
{
    const struct wick_tensor *a = wick_arg_tensor(args, at), *w = wick_arg_tensor(args, at + 1);
    work->multiply_adds = wick_tensor_numel(out) * (uint64_t)a->shape.sizes[a->shape.rank - 1];
    work->bytes = wick_tensor_nbytes(w);
}

static void count_mm(const struct wick_args *args, const void *state, struct wick_work *work)
{
    (void)state;
    count_product(args, 0, wick_arg_tensor(args, 2), work);
}

static void count_addmm(const struct wick_args *args, const void *state, struct wick_work *work)
{
    (void)state;
    count_product(args, 1, wick_arg_tensor(args, 5), work);
}

const struct wick_op wick_op_aten_mm_out = {.meta = &wick_opmeta_aten_mm_out, .run = run_product, .work = count_mm};
const struct wick_op wick_op_aten_bmm_out = {.meta = &wick_opmeta_aten_bmm_out, .run = run_product, .work = count_mm};

/* Inputs: self, product. d, i: beta, alpha. beta 0 does not look at self. */
#define ADD_KERNEL(name, type, beta, alpha)                                                                                    \
    static void name(void *out, const void *const *in, size_t n, struct wick_params *params)                                   \
    {                                                                                                                          \
        type *to = out;                                                                                                        \
        const type *self = in[0], *product = in[1];                                                                            \
        for (size_t i = 0; i < n; i++) to[i] = (type)((beta) == 0 ? (alpha)*product[i] : (beta)*self[i] + (alpha)*product[i]); \
    }
ADD_KERNEL(add_f32, float, (float)params->d[0], (float)params->d[1])
ADD_KERNEL(add_f64, double, params->d[0], params->d[1])
ADD_KERNEL(add_i64, int64_t, (uint64_t)params->i[0], (uint64_t)params->i[1])

/* (self, mat1, mat2, beta, alpha; out): beta * self + alpha * mat1 x mat2 */
static wick_status run_addmm(const struct wick_args *args, const void *state, struct wick_run *run)
{
    static const struct wick_vectors vectors = {{add_f32, add_f64, add_i64}};
    const struct wick_tensor *self = wick_arg_tensor(args, 0);
    struct wick_tensor *out = wick_arg_tensor(args, 5);
    struct wick_params params = {.d = {wick_arg_scalar(args, 3), wick_arg_scalar(args, 4)},
                                 .i = {wick_arg_scalar_int(args, 3), wick_arg_scalar_int(args, 4)}};
    struct wick_product product;
    (void)state;
    WICK_TRY(product_of(args, 1, out, &product, run->err));
    /* A row of f32 is what a product starts from. */
    bool row =
        self->shape.dtype == out->shape.dtype && self->shape.rank > 0 && wick_tensor_numel(self) == (size_t)self->shape.sizes[self->shape.rank - 1];
    if (row && params.d[0] == 1 && params.d[1] == 1) {
        product.bias = self->data;
        product.bias_stride = wick_tensor_numel(self) == 1 ? 0 : 1;
        return wick_product_run(&product, run);
    }
    /* out may be a narrow float: the product is kept in its own type, as the original does. */
    struct wick_tensor sum = *out;
    size_t bytes = wick_tensor_nbytes(out);
    sum.data = wick_arena_alloc(run->temp, bytes, 64);
    if (!sum.data) return wick_fail_oom(run->err, bytes, "addmm");
    product.out = sum.data;
    WICK_TRY(wick_product_run(&product, run));
    const struct wick_tensor *ins[2] = {self, &sum};
    return wick_elementwise(&vectors, wick_compute_of(out->shape.dtype), ins, 2, out, &params, run);
}
const struct wick_op wick_op_aten_addmm_out = {.meta = &wick_opmeta_aten_addmm_out, .run = run_addmm, .work = count_addmm};
