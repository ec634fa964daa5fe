/* ops/conv/planes.c - walks planes for pools, pads and resampling; see planes.h. */
#include "ops/conv/planes.h"

#include "ops/copy/cast.h"
#include "ops/copy/strided.h"

struct job {
    const struct wick_planes *planes;
    size_t in_numel, out_numel, count; /* elements of a plane; planes */
    double *scratch;                   /* [threads, in + outs] */
    size_t scratch_numel;
};

static size_t plane_numel(const struct wick_shape *shape, int spatial)
{
    size_t numel = 1;
    for (int d = shape->rank - spatial; d < shape->rank; d++) numel *= (size_t)shape->sizes[d];
    return numel;
}

/* Where plane `index` begins, in elements. */
static int64_t plane_offset(const struct wick_tensor *t, int spatial, size_t index)
{
    int64_t offset = 0;
    for (int d = t->shape.rank - spatial - 1; d >= 0; d--) {
        offset += (int64_t)(index % (size_t)t->shape.sizes[d]) * t->strides[d];
        index /= (size_t)t->shape.sizes[d];
    }
    return offset;
}

/* Copies one plane between the tensor and adjacent doubles. */
static void move_plane(const struct wick_tensor *t, int spatial, size_t index, double *plane, bool into_tensor)
{
    int64_t strides[WICK_RANK_MAX], flat[WICK_RANK_MAX];
    int lead = t->shape.rank - spatial;
    wick_strides_of(t, strides);
    wick_strides_contiguous(t->shape.sizes + lead, spatial, flat);
    char *data = (char *)t->data + plane_offset(t, spatial, index) * (int64_t)wick_dtype_size(t->shape.dtype);
    if (into_tensor) wick_strided_cast(data, t->shape.dtype, strides + lead, plane, WICK_DTYPE_F64, flat, t->shape.sizes + lead, spatial);
    else wick_strided_cast(plane, WICK_DTYPE_F64, flat, data, t->shape.dtype, strides + lead, t->shape.sizes + lead, spatial);
}

static void run_plane(void *user, size_t index, unsigned thread)
{
    const struct job *job = user;
    const struct wick_planes *planes = job->planes;
    double *in = job->scratch + thread * job->scratch_numel;
    double *outs[2] = {in + job->in_numel, planes->outs[1] ? in + job->in_numel + job->out_numel : NULL};
    move_plane(planes->in, planes->spatial, index, in, false);
    planes->compute(planes->user, index, in, outs);
    for (int k = 0; k < 2 && planes->outs[k]; k++) move_plane(planes->outs[k], planes->spatial, index, outs[k], true);
}

wick_status wick_planes_run(const struct wick_planes *planes, struct wick_run *run)
{
    struct job job = {.planes = planes,
                      .in_numel = plane_numel(&planes->in->shape, planes->spatial),
                      .out_numel = plane_numel(&planes->outs[0]->shape, planes->spatial),
                      .count = 1};
    const struct wick_shape *in = &planes->in->shape;
    int lead = in->rank - planes->spatial;
    WICK_TRY(wick_cast_check(WICK_DTYPE_F64, in->dtype, run->err));
    for (int k = 0; k < 2 && planes->outs[k]; k++) {
        const struct wick_shape *out = &planes->outs[k]->shape;
        WICK_TRY(wick_cast_check(out->dtype, WICK_DTYPE_F64, run->err));
        if (lead < 0 || out->rank != in->rank || memcmp(out->sizes, in->sizes, (size_t)lead * sizeof *in->sizes) != 0 ||
            plane_numel(out, planes->spatial) != job.out_numel)
            return wick_fail(run->err, WICK_INVALID_ARGUMENT, "out %d has other sizes", k);
    }
    for (int d = 0; d < lead; d++) job.count *= (size_t)in->sizes[d];
    if (job.count == 0 || job.out_numel == 0) return WICK_OK;
    unsigned threads = wick_pool_threads(run->pool);
    job.scratch_numel = job.in_numel + 2 * job.out_numel;
    job.scratch = wick_arena_array(run->temp, threads, job.scratch_numel * sizeof *job.scratch, 64);
    if (!job.scratch) return wick_fail_oom(run->err, threads * job.scratch_numel * sizeof *job.scratch, "planes");
    wick_pool_run(job.count * job.out_numel > 8192 ? run->pool : NULL, job.count, run_plane, &job);
    return WICK_OK;
}
