/* xnnpack/rt/convolution.c - Conv2d and ConvTranspose2d over [N, H, W, C], any number of groups: float, dynamically and
 * statically quantized.
 *
 * A task takes some pixels of the result, gathers each one's window as a row, and multiplies the rows with the packed
 * filter of each group. Pixels outside the image are 0 (quantized: the zero point). Windows of one pixel are not copied. */
#include "backends/xnnpack/rt/linear.h"
#include "backends/xnnpack/rt/expand.h"
#include "backends/xnnpack/rt/sizes.h"
#include "backends/xnnpack/rt/window.h"

/* TILE_BYTES: gathered rows that a thread holds. CONVOLUTION_GRAIN: multiply-adds a task should at least have. */
enum { TILE_BYTES = 128 * 1024, TILE_ROWS = 64, CONVOLUTION_GRAIN = 64 * 1024 };

static wick_status infer_plain(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    return wick_xnn_window_infer(args, 1, 2, outs, err, "xnn::convolution");
}

static wick_status infer_dynamic(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    return wick_xnn_window_infer(args, 2, 3, outs, err, "xnn::convolution");
}

struct convolution {
    const struct wick_ukernels *uk;
    const struct wick_xnn_convolution *s;
    const int32_t *p;
    int64_t h, w, oh, ow;
    size_t c, oc, k, tile;
    size_t element; /* bytes of what the kernel takes: 4 or 1 */
    const void *x;
    void *y;
    const struct wick_qd8_params *images; /* dynamic: one an image */
    char *rows;                           /* [tile][k] a thread; NULL when windows are single pixels in place */
    struct wick_qd8_params *params;       /* [tile] a thread; NULL for floats */
    float *results;                       /* [tile][oc] a thread; NULL for float results */
};

/* The pixel that tap `tap` of a window at output place `at` reads, along one dim; -1: none (padding, or between strides). */
static int64_t pixel_of(const int32_t *p, int64_t at, int64_t tap, int before, int stride, int dilation, int64_t size)
{
    int64_t i;
    if (p[WICK_XNN_TRANSPOSED]) {
        i = at + p[before] - tap * p[dilation];
        if (i < 0 || i % p[stride] != 0) return -1;
        i /= p[stride];
    } else i = at * p[stride] + tap * p[dilation] - p[before];
    return i >= 0 && i < size ? i : -1;
}

static int32_t zero_of(const struct convolution *t, int64_t image)
{
    if (t->images) return t->images[image].zero_point;
    return t->s->x.zero_point + (t->s->x.dtype == WICK_DTYPE_I8 ? 128 : 0);
}

/* group_in channels of one pixel, from element `from` of the image. */
static void gather_pixel(const struct convolution *t, size_t from, char *to)
{
    if (t->element == sizeof(float)) wick_xnn_lane_load(&t->s->x, t->uk, t->x, from, t->s->group_in, (float *)(void *)to);
    else if (!t->images && t->s->x.dtype == WICK_DTYPE_I8) wick_xnn_to_unsigned((const int8_t *)t->x + from, (uint8_t *)to, t->s->group_in);
    else memcpy(to, (const char *)t->x + from, t->s->group_in);
}

/* The window of output pixel `index` for one group, as a row of k elements. */
static void gather_row(const struct convolution *t, size_t index, size_t group, char *row)
{
    const int32_t *p = t->p;
    int64_t ox = (int64_t)index % t->ow, oy = (int64_t)index / t->ow % t->oh, image = (int64_t)index / t->ow / t->oh;
    size_t bytes = t->s->group_in * t->element;
    int zero = t->element == 1 ? zero_of(t, image) : 0;
    for (int64_t ky = 0; ky < p[WICK_XNN_KERNEL_H]; ky++) {
        int64_t iy = pixel_of(p, oy, ky, WICK_XNN_TOP, WICK_XNN_STRIDE_H, WICK_XNN_DILATION_H, t->h);
        for (int64_t kx = 0; kx < p[WICK_XNN_KERNEL_W]; kx++, row += bytes) {
            int64_t ix = iy < 0 ? -1 : pixel_of(p, ox, kx, WICK_XNN_LEFT, WICK_XNN_STRIDE_W, WICK_XNN_DILATION_W, t->w);
            if (ix < 0) memset(row, zero, bytes);
            else gather_pixel(t, (size_t)((image * t->h + iy) * t->w + ix) * t->c + group * t->s->group_in, row);
        }
    }
}

/* Output pixels [first, first + m), m at most t->tile. */
static void convolve_tile(const struct convolution *t, size_t first, size_t m, unsigned thread)
{
    const struct wick_xnn_convolution *s = t->s;
    char *rows = t->rows ? t->rows + thread * t->tile * t->k * t->element : NULL;
    float *results = t->results ? t->results + thread * t->tile * t->oc : (float *)t->y + first * t->oc;
    struct wick_qd8_params *params = t->params ? t->params + thread * t->tile : NULL;
    for (size_t i = 0; params && i < m; i++) {
        size_t image = (first + i) / (size_t)t->ow / (size_t)t->oh;
        params[i] = t->images ? t->images[image] : (struct wick_qd8_params){1.0f, zero_of(t, (int64_t)image)};
    }
    struct wick_gemm_call call = {
        .m = m, .n = s->group_out, .k = t->k, .a_stride = t->k, .params = params, .c_stride = t->oc, .min = s->min, .max = s->max};
    for (size_t g = 0; g < s->groups; g++) {
        for (size_t i = 0; rows && i < m; i++) gather_row(t, first + i, g, rows + i * t->k * t->element);
        call.a = rows ? rows : (const char *)t->x + first * t->k * t->element;
        call.packed = (const char *)s->packed + g * s->packed_bytes;
        call.c = results + g * s->group_out;
        s->gemm.run(&call, 0, s->group_out);
    }
    if (t->results) wick_xnn_lane_store(&s->y, t->uk, t->y, first * t->oc, m * t->oc, results);
}

static void convolve_pixels(void *user, size_t begin, size_t end, unsigned thread)
{
    const struct convolution *t = user;
    for (size_t i = begin; i < end; i += t->tile) convolve_tile(t, i, WICK_MIN(t->tile, end - i), thread);
}

/* Every window is one pixel, the next window the next pixel: rows are the image itself. */
static bool is_in_place(const struct convolution *t, bool kernel_type)
{
    static const uint8_t ones[] = {WICK_XNN_KERNEL_H, WICK_XNN_KERNEL_W, WICK_XNN_STRIDE_H, WICK_XNN_STRIDE_W};
    bool single = kernel_type && t->s->groups == 1 && t->oh == t->h && t->ow == t->w;
    for (size_t i = 0; i < WICK_ARRAY_SIZE(ones); i++) single = single && t->p[ones[i]] == 1;
    return single && t->p[WICK_XNN_TOP] == 0 && t->p[WICK_XNN_LEFT] == 0;
}

static wick_status run_tiles(struct convolution *t, const struct wick_tensor *x, const struct wick_tensor *y, struct wick_run *run)
{
    struct wick_xnn_sizes in = wick_xnn_sizes_of(x), out = wick_xnn_sizes_of(y);
    const struct wick_xnn_convolution *s = t->s;
    size_t threads = wick_pool_threads(run->pool), pixels = wick_xnn_sizes_product(&out, 0, 3);
    if (pixels == 0) return WICK_OK;
    t->uk = run->ukernels;
    t->h = in.size[1], t->w = in.size[2], t->oh = out.size[1], t->ow = out.size[2];
    t->c = (size_t)in.size[3], t->oc = (size_t)out.size[3];
    t->x = x->data, t->y = y->data;
    t->k = (size_t)t->p[WICK_XNN_KERNEL_H] * (size_t)t->p[WICK_XNN_KERNEL_W] * s->group_in;
    t->tile = WICK_MIN(WICK_MAX(TILE_BYTES / (t->k * t->element), (size_t)8), (size_t)TILE_ROWS);
    bool as_kernel_takes = t->images || s->x.dtype == WICK_DTYPE_F32 || s->x.dtype == WICK_DTYPE_U8;
    if (!is_in_place(t, as_kernel_takes)) {
        t->rows = wick_arena_array(run->temp, threads * t->tile, t->k * t->element, 64);
        if (!t->rows) return wick_fail_oom(run->err, t->tile * t->k * t->element, "xnn::convolution");
    }
    if (t->element == 1) t->params = wick_arena_array(run->temp, threads * t->tile, sizeof *t->params, 64);
    if (s->y.dtype != WICK_DTYPE_F32) t->results = wick_arena_array(run->temp, threads * t->tile, t->oc * sizeof(float), 64);
    if ((t->element == 1 && !t->params) || (s->y.dtype != WICK_DTYPE_F32 && !t->results))
        return wick_fail_oom(run->err, t->tile * t->oc * sizeof(float), "xnn::convolution");
    wick_xnn_ranges(run->pool, pixels, CONVOLUTION_GRAIN / (t->k * t->oc / s->groups + 1) + 1, convolve_pixels, t);
    return WICK_OK;
}

static wick_status run_plain(const struct wick_args *args, const void *state, struct wick_run *run)
{
    const struct wick_xnn_convolution *s = state;
    struct convolution t = {.s = s, .p = wick_arg_tensor(args, 1)->data, .element = sizeof(float)};
    if (s->x.dtype == WICK_DTYPE_I8 || s->x.dtype == WICK_DTYPE_U8) t.element = 1;
    return run_tiles(&t, wick_arg_tensor(args, 0), wick_arg_tensor(args, 2), run);
}

static wick_status run_dynamic(const struct wick_args *args, const void *state, struct wick_run *run)
{
    const struct wick_tensor *x = wick_arg_tensor(args, 0), *images = wick_arg_tensor(args, 1);
    struct convolution t = {.s = state, .p = wick_arg_tensor(args, 2)->data, .element = 1, .images = images->data};
    size_t count = (size_t)wick_xnn_sizes_of(x).size[0];
    if (wick_tensor_nbytes(images) != count * sizeof *t.images)
        return wick_fail(run->err, WICK_INVALID_PROGRAM, "xnn::convolution: %zu bytes of parameters for %zu images", wick_tensor_nbytes(images),
                         count);
    return run_tiles(&t, x, wick_arg_tensor(args, 3), run);
}

static void count_windows(const struct wick_args *args, const void *state, const int32_t *p, uint32_t out, struct wick_work *work)
{
    const struct wick_xnn_convolution *s = state;
    work->multiply_adds = wick_tensor_numel(wick_arg_tensor(args, out)) * (uint64_t)p[WICK_XNN_KERNEL_H] * (uint64_t)p[WICK_XNN_KERNEL_W] * s->group_in;
    work->bytes = s->groups * s->packed_bytes;
}

static void count_plain(const struct wick_args *args, const void *state, struct wick_work *work)
{
    count_windows(args, state, wick_arg_tensor(args, 1)->data, 2, work);
}

static void count_dynamic(const struct wick_args *args, const void *state, struct wick_work *work)
{
    count_windows(args, state, wick_arg_tensor(args, 2)->data, 3, work);
}

static const struct wick_opmeta plain_meta = {"xnn::convolution", "TT>T", WICK_ALIAS_NONE, infer_plain};
static const struct wick_opmeta dynamic_meta = {"xnn::dynamic_convolution", "TTT>T", WICK_ALIAS_NONE, infer_dynamic};
const struct wick_op wick_xnn_op_convolution = {.meta = &plain_meta, .run = run_plain, .work = count_plain};
const struct wick_op wick_xnn_op_dynamic_convolution = {.meta = &dynamic_meta, .run = run_dynamic, .work = count_dynamic};
