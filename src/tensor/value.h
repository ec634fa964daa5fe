/* tensor/value.h - the values of a program (ExecuTorch's EValue) and how operators reach their arguments.
 *
 * Shared by the runtime, which fills values from a file, and the exporter, whose graph infers shapes with the same
 * operator rules. */
#ifndef WICK_TENSOR_VALUE_H
#define WICK_TENSOR_VALUE_H

#include "base/str.h"
#include "tensor/tensor.h"

enum wick_tag {
    WICK_TAG_NONE,
    WICK_TAG_TENSOR,
    WICK_TAG_STRING,
    WICK_TAG_DOUBLE,
    WICK_TAG_INT,
    WICK_TAG_BOOL,
    WICK_TAG_BOOL_LIST,
    WICK_TAG_DOUBLE_LIST,
    WICK_TAG_INT_LIST,           /* items are indices of INT values: SymInts can sit inside */
    WICK_TAG_TENSOR_LIST,        /* items are indices of TENSOR values */
    WICK_TAG_OPTIONAL_TENSOR_LIST, /* the same; -1 or the index of a NONE value is an absent element */
    WICK_TAG_COUNT
};

/* A tag never changes after loading: an operator that writes an INT finds an INT there. Tensor values point at
 * tensor objects, so that a move (copying the value) makes both names denote one tensor. Borrowed pointers. */
struct wick_value {
    uint8_t tag;
    union {
        struct wick_tensor *tensor;
        struct wick_str string;
        double d;
        int64_t i;
        bool b;
        struct {
            union {
                const int32_t *indices; /* INT_LIST, TENSOR_LIST, OPTIONAL_TENSOR_LIST */
                const double *doubles;
                const uint8_t *bools;
            };
            uint32_t count;
        } list;
    } as;
};

/* One call's arguments: args k is values[ids[k]]. Inputs come first, then outs, in schema order (the
 * trailing "return" argument of the file is dropped when a call is bound). */
struct wick_args {
    struct wick_value *values;
    const uint32_t *ids;
    uint32_t count;
};

static inline struct wick_value *wick_arg(const struct wick_args *args, uint32_t k) { return &args->values[args->ids[k]]; }
static inline bool wick_arg_is_none(const struct wick_args *args, uint32_t k) { return wick_arg(args, k)->tag == WICK_TAG_NONE; }
/* NULL for an absent optional tensor. */
static inline struct wick_tensor *wick_arg_tensor(const struct wick_args *args, uint32_t k)
{
    struct wick_value *value = wick_arg(args, k);
    return value->tag == WICK_TAG_TENSOR ? value->as.tensor : NULL;
}
static inline int64_t wick_arg_int(const struct wick_args *args, uint32_t k) { return wick_arg(args, k)->as.i; }
static inline int64_t wick_arg_int_or(const struct wick_args *args, uint32_t k, int64_t absent)
{
    return wick_arg_is_none(args, k) ? absent : wick_arg(args, k)->as.i;
}
static inline bool wick_arg_bool(const struct wick_args *args, uint32_t k) { return wick_arg(args, k)->as.b; }
static inline double wick_arg_double(const struct wick_args *args, uint32_t k) { return wick_arg(args, k)->as.d; }
/* A Scalar of any kind as double; exact integers through wick_arg_scalar_int, which takes a double's whole part (out of range: the
 * nearest integer; NaN: 0). */
static inline double wick_arg_scalar(const struct wick_args *args, uint32_t k)
{
    const struct wick_value *v = wick_arg(args, k);
    return v->tag == WICK_TAG_DOUBLE ? v->as.d : v->tag == WICK_TAG_INT ? (double)v->as.i : (double)v->as.b;
}
static inline int64_t wick_arg_scalar_int(const struct wick_args *args, uint32_t k)
{
    const struct wick_value *v = wick_arg(args, k);
    if (v->tag != WICK_TAG_DOUBLE) return v->tag == WICK_TAG_INT ? v->as.i : (int64_t)v->as.b;
    if (v->as.d >= 0x1p63) return INT64_MAX;
    return v->as.d >= -0x1p63 ? (int64_t)v->as.d : v->as.d < 0 ? INT64_MIN : 0;
}
/* Elements of a list argument; 0 for an absent one. */
static inline uint32_t wick_arg_count(const struct wick_args *args, uint32_t k)
{
    const struct wick_value *v = wick_arg(args, k);
    return v->tag >= WICK_TAG_BOOL_LIST ? v->as.list.count : 0;
}
static inline int64_t wick_arg_int_at(const struct wick_args *args, uint32_t k, uint32_t i)
{
    return args->values[wick_arg(args, k)->as.list.indices[i]].as.i;
}
/* NULL for an absent element. */
static inline struct wick_tensor *wick_arg_tensor_at(const struct wick_args *args, uint32_t k, uint32_t i)
{
    int32_t index = wick_arg(args, k)->as.list.indices[i];
    return index >= 0 && args->values[index].tag == WICK_TAG_TENSOR ? args->values[index].as.tensor : NULL;
}

/* What an operator is, without its kernel: the rule that runtime and exporter share. */
enum wick_alias {
    WICK_ALIAS_NONE,
    WICK_ALIAS_INPLACE, /* out may be the very bytes of arg 0 (elementwise) */
    WICK_ALIAS_VIEW,    /* out shares the bytes of arg 0 */
};

struct wick_opmeta {
    const char *name; /* "aten::add.out": name, '.', overload; no '.' when the overload is empty */
    /* One letter an argument, then '>' and one letter an out:
     *   T tensor   t tensor or none     L tensor list         l optional-tensor list
     *   M tensor whose bytes the operator changes (a cache), beside its outs
     *   S scalar   s scalar or none     I int   i int or none   F double   f double or none   B bool   b bool or none
     *   N int list n int list or none   D double list  d the same or none   A bool list   C string   c string or none
     * Outs: T tensor, L tensor list, V a value the operator writes (INT, DOUBLE or BOOL). */
    const char *signature;
    enum wick_alias alias;
    /* Shapes and types of all out tensors (lists flattened) from the arguments' current shapes and values. Checks
     * what makes a call wrong (ranks, broadcasting, dims) and names it. NULL: no tensor outs, or the size depends on data
     * (then run resizes). In the runtime a file's own dtype of an out stands; the exporter takes the inferred one. */
    wick_status (*infer)(const struct wick_args *args, struct wick_shape *outs, wick_error *err);
};

/* Counts in a signature; the wire has at least inputs + outs arguments. */
uint32_t wick_signature_inputs(const char *signature);
uint32_t wick_signature_outs(const char *signature);
/* Checks kinds of bound arguments against meta->signature; INVALID_TYPE or INVALID_PROGRAM naming op and argument.
 * Also that list items have the right kind. */
wick_status wick_args_check(const struct wick_args *args, const struct wick_opmeta *meta, wick_error *err);
/* Number of out tensors, lists flattened. */
uint32_t wick_args_out_tensors(const struct wick_args *args, const struct wick_opmeta *meta);
/* The i-th out tensor, lists flattened. */
struct wick_tensor *wick_args_out_tensor(const struct wick_args *args, const struct wick_opmeta *meta, uint32_t i);

/* Shape rules that many operators share. */
/* numpy broadcasting of sizes into out (dtype and dim order left alone); false if they do not fit. */
bool wick_shape_broadcast(const struct wick_shape *a, const struct wick_shape *b, struct wick_shape *out);
/* torch's promotion of two element types. */
int wick_dtype_promote(int a, int b);
/* dim in [-rank, rank) to [0, rank); rank 0 counts as 1. -1 if outside. */
int wick_dim_wrap(int64_t dim, int rank);

#endif
