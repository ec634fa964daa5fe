/* ops/reduce/walk.c - see walk.h. */
#include "ops/reduce/walk.h"

void wick_walk_make(struct wick_walk *walk, const struct wick_tensor *in, uint32_t mask)
{
    *walk = (struct wick_walk){.in = in, .mask = mask, .positions = 1, .elements = 1};
    for (int dim = 0; dim < in->shape.rank; dim++) {
        int64_t size = in->shape.sizes[dim], stride = in->strides[dim];
        if (!(mask >> dim & 1)) {
            walk->positions *= (size_t)size;
            continue;
        }
        walk->elements *= (size_t)size;
        if (size == 1) continue;
        bool merges = walk->rank > 0 && walk->strides[walk->rank - 1] == stride * size;
        int at = merges ? walk->rank - 1 : walk->rank++;
        walk->sizes[at] = merges ? walk->sizes[at] * size : size;
        walk->strides[at] = stride;
    }
    if (walk->rank == 0) {
        walk->rank = 1;
        walk->sizes[0] = walk->strides[0] = 1;
    }
}

wick_status wick_walk_along(struct wick_walk *walk, const struct wick_tensor *in, int64_t dim, wick_error *err)
{
    int wrapped;
    WICK_TRY(wick_rule_dim(dim, in->shape.rank, &wrapped, err));
    wick_walk_make(walk, in, 1u << wrapped);
    return WICK_OK;
}

int64_t wick_walk_offset(const struct wick_walk *walk, const struct wick_tensor *t, size_t position)
{
    const struct wick_shape *in = &walk->in->shape;
    bool all_dims = t->shape.rank == in->rank;
    int at = t->shape.rank - 1;
    int64_t offset = 0, rest = (int64_t)position;
    for (int dim = in->rank - 1; dim >= 0; dim--) {
        bool kept = !(walk->mask >> dim & 1);
        if (kept && at >= 0) {
            offset += rest % in->sizes[dim] * t->strides[at];
            rest /= in->sizes[dim];
        }
        if (kept || all_dims) at--;
    }
    return offset;
}

int64_t wick_walk_stride(const struct wick_walk *walk, const struct wick_tensor *t)
{
    for (int dim = 0; dim < t->shape.rank; dim++)
        if (walk->mask >> dim & 1) return t->strides[dim];
    return 1;
}

void wick_walk_visit(const struct wick_walk *walk, size_t position, enum wick_compute compute, wick_step_fn *step, void *state)
{
    int dtype = walk->in->shape.dtype, last = walk->rank - 1;
    wick_load_fn *load = wick_loader(dtype, compute);
    size_t bytes = wick_dtype_size(dtype);
    const char *data = wick_walk_at(walk, position);
    int64_t index[WICK_RANK_MAX] = {0}, run = walk->sizes[last], stride = walk->strides[last];
    bool direct = dtype == wick_compute_dtype(compute) && stride == 1;
    double block[WICK_CHUNK];
    if (walk->elements == 0) return;
    for (;;) {
        for (int64_t done = 0; done < run;) {
            int64_t n = direct ? run : WICK_MIN(run - done, WICK_CHUNK);
            const char *from = data + done * stride * (int64_t)bytes;
            if (!direct) load(block, from, stride, (size_t)n);
            step(state, direct ? (const void *)from : block, (size_t)n);
            done += n;
        }
        int d = last - 1;
        for (; d >= 0; d--) {
            bool wraps = ++index[d] == walk->sizes[d];
            data += (wraps ? 1 - walk->sizes[d] : 1) * walk->strides[d] * (int64_t)bytes;
            if (!wraps) break;
            index[d] = 0;
        }
        if (d < 0) return;
    }
}

void wick_walk_store(const struct wick_walk *walk, struct wick_tensor *out, size_t position, enum wick_compute compute, const void *value)
{
    int dtype = out->shape.dtype;
    wick_storer(dtype, compute)((char *)out->data + wick_walk_offset(walk, out, position) * (int64_t)wick_dtype_size(dtype), 1, value, 1);
}

wick_status wick_walk_check_out(const struct wick_walk *walk, const struct wick_tensor *out, bool full, wick_error *err)
{
    WICK_TRY(wick_element_check(walk->in, "self", err));
    WICK_TRY(wick_element_check(out, "out", err));
    size_t want = full ? walk->positions * walk->elements : walk->positions;
    if (wick_tensor_numel(out) == want) return WICK_OK;
    return wick_fail(err, WICK_INTERNAL, "out has %zu elements, %zu are computed", wick_tensor_numel(out), want);
}
