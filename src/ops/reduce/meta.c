/* ops/reduce/meta.c - rules of reductions, scans, sorting, softmax, normalisation and distances. */
#include "ops/rules.h"

/* dtype of sums and products: integers grow to i64; a dtype argument (torch's number) decides. dtype_at < 0: none. */
static int sum_dtype(const struct wick_args *args, int dtype_at, int dtype)
{
    if (dtype_at >= 0 && !wick_arg_is_none(args, (uint32_t)dtype_at)) return (int)wick_arg_int(args, (uint32_t)dtype_at);
    return wick_dtype_is_float(dtype) ? dtype : WICK_DTYPE_I64;
}

static wick_status check_dtype(int64_t dtype, wick_error *err)
{
    if (dtype >= 0 && dtype < WICK_DTYPE_COUNT && wick_dtype_is_arithmetic((int)dtype)) return WICK_OK;
    return wick_fail(err, WICK_INVALID_TYPE, "dtype %lld has no arithmetic here", (long long)dtype);
}

/* ---- (self) to a single element ---- */

static wick_status infer_all(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    (void)err;
    outs[0] = wick_shape_make(wick_arg_tensor(args, 0)->shape.dtype, 0, NULL);
    return WICK_OK;
}

static wick_status infer_all_bool(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    (void)args;
    (void)err;
    outs[0] = wick_shape_make(WICK_DTYPE_BOOL, 0, NULL);
    return WICK_OK;
}

static wick_status infer_all_dtype(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    int dtype = sum_dtype(args, 1, wick_arg_tensor(args, 0)->shape.dtype);
    outs[0] = wick_shape_make(dtype, 0, NULL);
    return check_dtype(dtype, err);
}
WICK_META(aten_any_all_out, "aten::any.all_out", "T>T", NONE, infer_all_bool)
WICK_META(aten_max_unary_out, "aten::max.unary_out", "T>T", NONE, infer_all)
WICK_META(aten_min_unary_out, "aten::min.unary_out", "T>T", NONE, infer_all)
WICK_META(aten_mean_dtype_out, "aten::mean.dtype_out", "Ti>T", NONE, infer_all_dtype)
WICK_META(aten_prod_out, "aten::prod.out", "Ti>T", NONE, infer_all_dtype)

/* ---- (self, dims, keepdim at keep_at, dtype at dtype_at) ---- */

static wick_status over_dims(const struct wick_args *args, uint32_t keep_at, struct wick_shape *out, wick_error *err)
{
    const struct wick_shape *in = &wick_arg_tensor(args, 0)->shape;
    uint32_t mask;
    WICK_TRY(wick_rule_dim_mask(args, 1, in->rank, &mask, err));
    wick_rule_reduce(in, mask, wick_arg_bool(args, keep_at), out);
    return WICK_OK;
}

static wick_status infer_dims(const struct wick_args *args, struct wick_shape *outs, wick_error *err) { return over_dims(args, 2, outs, err); }

static wick_status infer_dims_bool(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    WICK_TRY(over_dims(args, 2, outs, err));
    outs[0].dtype = WICK_DTYPE_BOOL;
    return WICK_OK;
}

static wick_status infer_dims_dtype(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    int dtype = sum_dtype(args, 3, wick_arg_tensor(args, 0)->shape.dtype);
    WICK_TRY(over_dims(args, 2, outs, err));
    outs[0].dtype = (uint8_t)dtype;
    return check_dtype(dtype, err);
}
WICK_META(aten_amax_out, "aten::amax.out", "TNB>T", NONE, infer_dims)
WICK_META(aten_amin_out, "aten::amin.out", "TNB>T", NONE, infer_dims)
WICK_META(aten_any_dims_out, "aten::any.dims_out", "TnB>T", NONE, infer_dims_bool)
WICK_META(aten_mean_out, "aten::mean.out", "TnBi>T", NONE, infer_dims_dtype)
WICK_META(aten_sum_IntList_out, "aten::sum.IntList_out", "TnBi>T", NONE, infer_dims_dtype)

static wick_status infer_var(const struct wick_args *args, struct wick_shape *outs, wick_error *err) { return over_dims(args, 3, outs, err); }

static wick_status infer_var_mean(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    WICK_TRY(over_dims(args, 3, &outs[0], err));
    outs[1] = outs[0];
    return WICK_OK;
}
WICK_META(aten_var_out, "aten::var.out", "TnBB>T", NONE, infer_var)
WICK_META(aten_var_correction_out, "aten::var.correction_out", "TnsB>T", NONE, infer_var)
WICK_META(aten_var_mean_correction_out, "aten::var_mean.correction_out", "TnsB>TT", NONE, infer_var_mean)

/* ---- (self, dim, keepdim) ---- */

static wick_status over_dim(const struct wick_args *args, uint32_t keep_at, struct wick_shape *out, wick_error *err)
{
    const struct wick_shape *in = &wick_arg_tensor(args, 0)->shape;
    int dim;
    WICK_TRY(wick_rule_dim(wick_arg_int(args, 1), in->rank, &dim, err));
    wick_rule_reduce(in, 1u << dim, wick_arg_bool(args, keep_at), out);
    return WICK_OK;
}

static wick_status infer_dim_bool(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    WICK_TRY(over_dim(args, 2, outs, err));
    outs[0].dtype = WICK_DTYPE_BOOL;
    return WICK_OK;
}

static wick_status infer_dim_dtype(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    int dtype = sum_dtype(args, 3, wick_arg_tensor(args, 0)->shape.dtype);
    WICK_TRY(over_dim(args, 2, outs, err));
    outs[0].dtype = (uint8_t)dtype;
    return check_dtype(dtype, err);
}

static wick_status infer_extreme(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    WICK_TRY(over_dim(args, 2, &outs[0], err));
    outs[1] = outs[0];
    outs[1].dtype = WICK_DTYPE_I64;
    return WICK_OK;
}

static wick_status infer_arg(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    if (wick_arg_is_none(args, 1)) {
        const struct wick_shape *in = &wick_arg_tensor(args, 0)->shape;
        wick_rule_reduce(in, (1u << in->rank) - 1, wick_arg_bool(args, 2), outs);
    } else {
        WICK_TRY(over_dim(args, 2, outs, err));
    }
    outs[0].dtype = WICK_DTYPE_I64;
    return WICK_OK;
}
WICK_META(aten_any_out, "aten::any.out", "TIB>T", NONE, infer_dim_bool)
WICK_META(aten_prod_int_out, "aten::prod.int_out", "TIBi>T", NONE, infer_dim_dtype)
WICK_META(aten_max_dim_max, "aten::max.dim_max", "TIB>TT", NONE, infer_extreme)
WICK_META(aten_min_dim_min, "aten::min.dim_min", "TIB>TT", NONE, infer_extreme)
WICK_META(aten_argmax_out, "aten::argmax.out", "TiB>T", NONE, infer_arg)
WICK_META(aten_argmin_out, "aten::argmin.out", "TiB>T", NONE, infer_arg)

/* ---- along a dim, same shape ---- */

static wick_status infer_along(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    int dim;
    outs[0] = wick_arg_tensor(args, 0)->shape;
    return wick_rule_dim(wick_arg_int(args, 1), outs[0].rank, &dim, err);
}

static wick_status infer_cumsum(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    WICK_TRY(infer_along(args, outs, err));
    int dtype = sum_dtype(args, 2, outs[0].dtype);
    outs[0].dtype = (uint8_t)dtype;
    return check_dtype(dtype, err);
}
WICK_META(aten_cumsum_out, "aten::cumsum.out", "TIi>T", NONE, infer_cumsum)
WICK_META(aten__softmax_out, "aten::_softmax.out", "TIB>T", INPLACE, infer_along)
WICK_META(aten__log_softmax_out, "aten::_log_softmax.out", "TIB>T", INPLACE, infer_along)

static wick_status infer_topk(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    int dim;
    outs[0] = wick_arg_tensor(args, 0)->shape;
    WICK_TRY(wick_rule_dim(wick_arg_int(args, 2), outs[0].rank, &dim, err));
    int64_t k = wick_arg_int(args, 1), size = outs[0].rank ? outs[0].sizes[dim] : 1;
    if (k < 0 || k > size) return wick_fail(err, WICK_INVALID_ARGUMENT, "k is %lld, dim %d has %lld elements", (long long)k, dim, (long long)size);
    if (outs[0].rank) outs[0].sizes[dim] = (int32_t)k;
    outs[1] = outs[0];
    outs[1].dtype = WICK_DTYPE_I64;
    return WICK_OK;
}
WICK_META(aten_topk_values, "aten::topk.values", "TIIBB>TT", NONE, infer_topk)

/* ---- normalisation ---- */

static wick_status infer_layer_norm(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    const struct wick_shape *in = &wick_arg_tensor(args, 0)->shape;
    uint32_t count = wick_arg_count(args, 1);
    if (count == 0 || count > in->rank) return wick_fail(err, WICK_INVALID_ARGUMENT, "normalized_shape has %u dims, the input %d", count, in->rank);
    outs[0] = *in;
    outs[1] = wick_shape_make(in->dtype, in->rank, in->sizes);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t dim = in->rank - count + i;
        if (wick_arg_int_at(args, 1, i) != in->sizes[dim])
            return wick_fail(err, WICK_INVALID_ARGUMENT, "normalized_shape[%u] is %lld, the input's dim %u has %d", i,
                             (long long)wick_arg_int_at(args, 1, i), dim, in->sizes[dim]);
        outs[1].sizes[dim] = 1;
    }
    outs[2] = outs[1];
    return WICK_OK;
}
WICK_META(aten_native_layer_norm_out, "aten::native_layer_norm.out", "TNttF>TTT", NONE, infer_layer_norm)

static wick_status infer_group_norm(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    const struct wick_shape *in = &wick_arg_tensor(args, 0)->shape;
    int64_t n = wick_arg_int(args, 3), c = wick_arg_int(args, 4), plane = wick_arg_int(args, 5), groups = wick_arg_int(args, 6);
    if (in->rank < 2 || n != in->sizes[0] || c != in->sizes[1])
        return wick_fail(err, WICK_INVALID_ARGUMENT, "N %lld and C %lld are not the input's first sizes", (long long)n, (long long)c);
    int64_t rest = 1;
    for (int i = 2; i < in->rank; i++) rest *= in->sizes[i];
    if (rest != plane) return wick_fail(err, WICK_INVALID_ARGUMENT, "HxW is %lld, the input has %lld", (long long)plane, (long long)rest);
    if (groups < 1 || c % groups) return wick_fail(err, WICK_INVALID_ARGUMENT, "%lld channels in %lld groups", (long long)c, (long long)groups);
    if (groups > INT32_MAX) return wick_fail(err, WICK_INVALID_ARGUMENT, "%lld groups", (long long)groups);
    outs[0] = *in;
    outs[1] = wick_shape_make(in->dtype, 2, (const int32_t[]){(int32_t)n, (int32_t)groups});
    outs[2] = outs[1];
    return wick_shape_valid(&outs[1], NULL) ? WICK_OK : wick_fail(err, WICK_INVALID_ARGUMENT, "%lld groups are too many", (long long)groups);
}
WICK_META(aten_native_group_norm_out, "aten::native_group_norm.out", "TttIIIIF>TTT", NONE, infer_group_norm)

/* Statistics that are not computed are empty. */
static wick_status infer_batch_norm(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    const struct wick_shape *in = &wick_arg_tensor(args, 0)->shape;
    if (in->rank < 2) return wick_fail(err, WICK_INVALID_ARGUMENT, "the input has rank %d, at least 2 is needed", in->rank);
    outs[0] = *in;
    outs[1] = outs[2] = wick_shape_make(in->dtype, 1, (const int32_t[]){0});
    return WICK_OK;
}

static wick_status infer_batch_norm_stats(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    WICK_TRY(infer_batch_norm(args, outs, err));
    outs[1].sizes[0] = outs[2].sizes[0] = outs[0].sizes[1];
    return WICK_OK;
}
WICK_META(aten__native_batch_norm_legit_out, "aten::_native_batch_norm_legit.out", "TttMMBFF>TTT", NONE, infer_batch_norm)
WICK_META(aten__native_batch_norm_legit_no_stats_out, "aten::_native_batch_norm_legit.no_stats_out", "TttBFF>TTT", NONE, infer_batch_norm_stats)
WICK_META(aten__native_batch_norm_legit_no_training_out, "aten::_native_batch_norm_legit_no_training.out", "TttTTFF>TTT", NONE, infer_batch_norm)

/* ---- distances ---- */

static wick_status infer_cdist(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    struct wick_shape a = wick_arg_tensor(args, 0)->shape, b = wick_arg_tensor(args, 1)->shape;
    if (a.rank < 2 || b.rank < 2)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "both inputs need at least 2 dims, they have %d and %d", a.rank, b.rank);
    int32_t rows = a.sizes[a.rank - 2], columns = b.sizes[b.rank - 2];
    if (a.sizes[a.rank - 1] != b.sizes[b.rank - 1])
        return wick_fail(err, WICK_INVALID_ARGUMENT, "vectors of %d and of %d elements", a.sizes[a.rank - 1], b.sizes[b.rank - 1]);
    a.rank = (uint8_t)(a.rank - 2);
    b.rank = (uint8_t)(b.rank - 2);
    wick_shape_set_contiguous(&a);
    WICK_TRY(wick_rule_broadcast(&a, &b, err));
    wick_shape_set_contiguous(&a);
    a.sizes[a.rank] = rows;
    a.sizes[a.rank + 1] = columns;
    a.rank = (uint8_t)(a.rank + 2);
    outs[0] = a;
    return wick_shape_valid(&a, NULL) ? WICK_OK : wick_fail(err, WICK_INVALID_ARGUMENT, "%d x %d distances are too many", rows, columns);
}
WICK_META(aten__cdist_forward_out, "aten::_cdist_forward.out", "TTFi>T", NONE, infer_cdist)

static wick_status infer_pdist(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    const struct wick_shape *in = &wick_arg_tensor(args, 0)->shape;
    if (in->rank != 2) return wick_fail(err, WICK_INVALID_ARGUMENT, "the input has rank %d, not 2", in->rank);
    int64_t n = in->sizes[0], pairs = n * (n - 1) / 2;
    if (pairs > INT32_MAX) return wick_fail(err, WICK_INVALID_ARGUMENT, "%lld distances are too many", (long long)pairs);
    outs[0] = wick_shape_make(in->dtype, 1, (const int32_t[]){(int32_t)pairs});
    return WICK_OK;
}
WICK_META(aten__pdist_forward_out, "aten::_pdist_forward.out", "TF>T", NONE, infer_pdist)
