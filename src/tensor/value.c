/* tensor/value.c - checking calls against operator signatures, and the shape rules that operators share. */
#include "tensor/value.h"

static const char *const tag_names[WICK_TAG_COUNT] = {"none",      "tensor",      "string",   "double",      "int",
                                                      "bool",      "bool list",   "double list", "int list", "tensor list",
                                                      "optional tensor list"};

static const char *outs_of(const char *signature)
{
    const char *arrow = strchr(signature, '>');
    return arrow ? arrow + 1 : signature + strlen(signature);
}

uint32_t wick_signature_inputs(const char *signature) { return (uint32_t)strcspn(signature, ">"); }
uint32_t wick_signature_outs(const char *signature) { return (uint32_t)strlen(outs_of(signature)); }

static bool kind_fits(char kind, int tag)
{
    switch (kind) {
    case 'T':
    case 'M': return tag == WICK_TAG_TENSOR;
    case 't': return tag == WICK_TAG_TENSOR || tag == WICK_TAG_NONE;
    case 'L': return tag == WICK_TAG_TENSOR_LIST;
    case 'l': return tag == WICK_TAG_OPTIONAL_TENSOR_LIST || tag == WICK_TAG_TENSOR_LIST;
    case 'S': return tag == WICK_TAG_INT || tag == WICK_TAG_DOUBLE || tag == WICK_TAG_BOOL;
    case 'V': return tag == WICK_TAG_INT || tag == WICK_TAG_DOUBLE || tag == WICK_TAG_BOOL;
    case 's': return tag == WICK_TAG_INT || tag == WICK_TAG_DOUBLE || tag == WICK_TAG_BOOL || tag == WICK_TAG_NONE;
    case 'I': return tag == WICK_TAG_INT;
    case 'i': return tag == WICK_TAG_INT || tag == WICK_TAG_NONE;
    case 'F': return tag == WICK_TAG_DOUBLE;
    case 'f': return tag == WICK_TAG_DOUBLE || tag == WICK_TAG_NONE;
    case 'B': return tag == WICK_TAG_BOOL;
    case 'b': return tag == WICK_TAG_BOOL || tag == WICK_TAG_NONE;
    case 'N': return tag == WICK_TAG_INT_LIST;
    case 'n': return tag == WICK_TAG_INT_LIST || tag == WICK_TAG_NONE;
    case 'D': return tag == WICK_TAG_DOUBLE_LIST;
    case 'd': return tag == WICK_TAG_DOUBLE_LIST || tag == WICK_TAG_NONE;
    case 'A': return tag == WICK_TAG_BOOL_LIST;
    case 'C': return tag == WICK_TAG_STRING;
    case 'c': return tag == WICK_TAG_STRING || tag == WICK_TAG_NONE;
    default: return false;
    }
}

wick_status wick_args_check(const struct wick_args *args, const struct wick_opmeta *meta, wick_error *err)
{
    uint32_t inputs = wick_signature_inputs(meta->signature), outs = wick_signature_outs(meta->signature);
    if (args->count < inputs + outs)
        return wick_fail(err, WICK_INVALID_PROGRAM, "operator %s: %u arguments, needs %u", meta->name, args->count, inputs + outs);
    for (uint32_t k = 0; k < inputs + outs; k++) {
        char kind = k < inputs ? meta->signature[k] : outs_of(meta->signature)[k - inputs];
        const struct wick_value *value = wick_arg(args, k);
        if (!kind_fits(kind, value->tag))
            return wick_fail(err, WICK_INVALID_TYPE, "operator %s: argument %u is %s, the signature %s wants '%c'", meta->name, k,
                             tag_names[value->tag], meta->signature, kind);
        bool ints = value->tag == WICK_TAG_INT_LIST, tensors = value->tag == WICK_TAG_TENSOR_LIST;
        for (uint32_t i = 0; (ints || tensors) && i < value->as.list.count; i++) {
            int tag = args->values[value->as.list.indices[i]].tag;
            if (tag != (ints ? WICK_TAG_INT : WICK_TAG_TENSOR))
                return wick_fail(err, WICK_INVALID_TYPE, "operator %s: argument %u, item %u is %s", meta->name, k, i, tag_names[tag]);
        }
    }
    return WICK_OK;
}

uint32_t wick_args_out_tensors(const struct wick_args *args, const struct wick_opmeta *meta)
{
    uint32_t inputs = wick_signature_inputs(meta->signature), count = 0;
    const char *outs = outs_of(meta->signature);
    for (uint32_t i = 0; outs[i]; i++) count += outs[i] == 'T' ? 1 : outs[i] == 'L' ? wick_arg_count(args, inputs + i) : 0;
    return count;
}

struct wick_tensor *wick_args_out_tensor(const struct wick_args *args, const struct wick_opmeta *meta, uint32_t index)
{
    uint32_t inputs = wick_signature_inputs(meta->signature);
    const char *outs = outs_of(meta->signature);
    for (uint32_t i = 0; outs[i]; i++) {
        uint32_t count = outs[i] == 'T' ? 1 : outs[i] == 'L' ? wick_arg_count(args, inputs + i) : 0;
        if (index < count) return outs[i] == 'T' ? wick_arg_tensor(args, inputs + i) : wick_arg_tensor_at(args, inputs + i, index);
        index -= count;
    }
    return NULL;
}

bool wick_shape_broadcast(const struct wick_shape *a, const struct wick_shape *b, struct wick_shape *out)
{
    int rank = WICK_MAX(a->rank, b->rank);
    int32_t sizes[WICK_RANK_MAX];
    for (int i = 0; i < rank; i++) {
        int ia = i - (rank - a->rank), ib = i - (rank - b->rank);
        int32_t na = ia >= 0 ? a->sizes[ia] : 1, nb = ib >= 0 ? b->sizes[ib] : 1;
        if (na != nb && na != 1 && nb != 1) return false;
        sizes[i] = na == 1 ? nb : na;
    }
    out->rank = (uint8_t)rank;
    memcpy(out->sizes, sizes, (size_t)rank * sizeof sizes[0]);
    return true;
}

/* c10/core/ScalarType: bool < integers < floats; among integers u8 with a signed one gives the next wider signed;
 * f16 with bf16 gives f32. */
int wick_dtype_promote(int a, int b)
{
    if (a == b) return a;
    if (a == WICK_DTYPE_BOOL) return b;
    if (b == WICK_DTYPE_BOOL) return a;
    bool fa = wick_dtype_is_float(a), fb = wick_dtype_is_float(b);
    if (fa != fb) return fa ? a : b;
    if (fa) {
        if (a == WICK_DTYPE_F64 || b == WICK_DTYPE_F64) return WICK_DTYPE_F64;
        return WICK_DTYPE_F32; /* f32 with a half, or the two halves */
    }
    if (a == WICK_DTYPE_U8 || b == WICK_DTYPE_U8) {
        int other = a == WICK_DTYPE_U8 ? b : a;
        return other == WICK_DTYPE_I8 ? WICK_DTYPE_I16 : other;
    }
    return wick_dtype_size(a) >= wick_dtype_size(b) ? a : b;
}

int wick_dim_wrap(int64_t dim, int rank)
{
    int64_t n = rank ? rank : 1;
    return dim < -n || dim >= n ? -1 : (int)(dim < 0 ? dim + n : dim);
}
