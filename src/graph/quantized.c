/* graph/quantized.c - scale search and packing, row slab by row slab over the pool; see quantized.h.
 *
 * The search is the original's: each round quantizes with the present scale and solves min_s |w - s q|^2. It stops for the
 * whole tensor when no scale moved by more than 1e-5; so rounds run per group, changes are collected per round, and the few
 * groups that ran past the common last round are run again. */
#include "graph/quantized.h"

#include "tensor/half.h"
#include "ukernel/ukernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 20, SLAB_BYTES = 2 << 20 };
static const float scale_floor = 0x1p-23f; /* torch.finfo(float32).eps */

struct wick_quantized {
    struct wick_source *inner;
    struct wick_quant_spec spec;
    size_t rows, columns, group, groups;
    struct wick_source *given, *zeros; /* scales and zero points as a checkpoint has them; given NULL: scales are searched */
    const char *name;                  /* of a given one */
    float *scales;                     /* (rows, groups); NULL until searched and after both sources were written */
    bool values_written, scales_written;
};

/* ---- one group ---- */

/* Rounds to nearest even by pushing the fraction out of the mantissa; x is within a few hundred. */
static inline float round_even(float x) { return (x + 12582912.0f) - 12582912.0f; }

static float next_scale(const struct wick_ukernels *uk, const float *w, size_t n, float scale, float low, float high)
{
    float num, den;
    uk->scale_sums(n, w, scale, low, high, &num, &den);
    float next = den > 0 ? num / den : scale;
    return next < scale_floor ? scale_floor : next;
}

float wick_quant_scale_max(const struct wick_ukernels *uk, const float *w, size_t n, int bits)
{
    float scale = uk->reduce_max_abs(n, w) / ((float)((1 << bits) - 1) / 2);
    return scale < 0x1p-126f ? 0x1p-126f : scale;
}

static float scale_by_rule(const struct wick_ukernels *uk, const float *w, size_t n, const struct wick_quant_spec *spec)
{
    switch (spec->rule) {
    case WICK_QUANT_OBSERVED: return fmaxf(uk->reduce_max_abs(n, w) / (spec->bits == 8 ? 127.0f : (float)((1 << spec->bits) - 1) / 2), 0x1p-12f);
    case WICK_QUANT_WEIGHT_ONLY: return fmaxf(uk->reduce_max_abs(n, w) / ((float)((1 << spec->bits) - 1) / 2), scale_floor);
    default: return wick_quant_scale_max(uk, w, n, spec->bits);
    }
}

/* Returns the rounds after which the scale no longer moves (at most `rounds`). */
static int search(const struct wick_ukernels *uk, const float *w, size_t n, int bits, int rounds, float *scale, float change[ROUNDS])
{
    float low = -(float)(1 << (bits - 1)), high = -low - 1, s = uk->reduce_max_abs(n, w) / -low;
    if (s < scale_floor) s = scale_floor;
    int r = 0;
    for (; r < rounds; r++) {
        float next = next_scale(uk, w, n, s, low, high), moved = fabsf(next - s) / s;
        if (moved > change[r]) change[r] = moved;
        if (next == s) break;
        s = next;
    }
    *scale = s;
    return r;
}

void wick_quant_hqq(const struct wick_ukernels *uk, const float *w, size_t count, size_t group, int bits, int rounds, float *scales, float change[20])
{
    for (size_t g = 0; g < count; g++) search(uk, w + g * group, group, bits, rounds, &scales[g], change);
}

/* ---- the tensor ---- */

static size_t slab_rows(const struct wick_quantized *q)
{
    size_t rows = SLAB_BYTES / (q->columns * sizeof(float));
    return WICK_MIN(WICK_MAX(rows, (size_t)1), q->rows);
}

/* Rows of a slab go to the pool in blocks, each with its own change table and error. */
enum { BLOCKS = 32 };

struct slab {
    struct wick_quantized *q;
    const struct wick_ukernels *ukernels;
    const float *w;
    size_t first, rows;
    int rounds;          /* > 0: redo the groups that moved past this round */
    uint8_t *stopped_at; /* (rows, groups) of the tensor: round after which a group's scale stood still */
    float change[BLOCKS][ROUNDS];
    uint8_t *bytes; /* packed output of the slab */
    size_t row_bytes;
    enum wick_packing packing;
};

static void block_range(const struct slab *s, size_t block, size_t *first, size_t *last)
{
    *first = s->rows * block / BLOCKS;
    *last = s->rows * (block + 1) / BLOCKS;
}

static void search_block(void *user, size_t block, unsigned thread)
{
    (void)thread;
    struct slab *s = user;
    struct wick_quantized *q = s->q;
    size_t first, last;
    block_range(s, block, &first, &last);
    for (size_t i = first * q->groups; i < last * q->groups; i++) {
        size_t at = s->first * q->groups + i;
        const float *w = s->w + i * q->group;
        float unused[ROUNDS] = {0};
        if (!q->spec.hqq) q->scales[at] = scale_by_rule(s->ukernels, w, q->group, &q->spec);
        else if (s->rounds == 0)
            s->stopped_at[at] = (uint8_t)search(s->ukernels, w, q->group, q->spec.bits, ROUNDS, &q->scales[at], s->change[block]);
        else if (s->stopped_at[at] > s->rounds) search(s->ukernels, w, q->group, q->spec.bits, s->rounds, &q->scales[at], unused);
    }
}

static wick_status for_slabs(struct wick_quantized *q, struct slab *s, wick_task_fn task, const struct wick_production *to, wick_error *err)
{
    size_t step = slab_rows(q);
    float *w = malloc(step * q->columns * sizeof *w);
    if (!w) return wick_fail_oom(err, step * q->columns * sizeof *w, "quantizing a weight");
    wick_status status = WICK_OK;
    s->w = w;
    s->ukernels = to->ukernels;
    for (size_t row = 0; row < q->rows && status == WICK_OK; row += step) {
        s->first = row;
        s->rows = WICK_MIN(step, q->rows - row);
        status = q->inner->rows(q->inner, row, s->rows, w, err);
        if (status != WICK_OK) break;
        wick_pool_run(to->pool, BLOCKS, task, s);
        if (s->bytes) status = to->sink(to->user, s->bytes, s->rows * s->row_bytes, err);
    }
    free(w);
    return status;
}

/* The round after which the original stops: the first whose largest change is below its tolerance. */
static int common_rounds(const struct slab *s)
{
    for (int r = 0; r < ROUNDS; r++) {
        float change = 0;
        for (int b = 0; b < BLOCKS; b++) change = fmaxf(change, s->change[b][r]);
        if (change < 1e-5f) return r + 1;
    }
    return ROUNDS;
}

/* ---- given by the checkpoint ---- */

/* Whether all integers fit in the bits: blocks that do not are marked in change[block][0]. */
static void judge_block(void *user, size_t block, unsigned thread)
{
    (void)thread;
    struct slab *s = user;
    const struct wick_quantized *q = s->q;
    size_t first, last;
    float low = -(float)(1 << (q->spec.bits - 1)), high = -low - 1;
    block_range(s, block, &first, &last);
    for (size_t i = first * q->columns; i < last * q->columns; i++)
        if (!(s->w[i] >= low && s->w[i] <= high)) s->change[block][0] = 1;
}

static wick_status read_given(struct wick_quantized *q, const struct wick_production *to, wick_error *err)
{
    struct slab s = {.q = q};
    size_t count = q->rows * q->groups;
    q->scales = malloc(count * sizeof *q->scales);
    wick_status status = q->scales ? WICK_OK : wick_fail_oom(err, count * sizeof *q->scales, q->name);
    if (status == WICK_OK && q->zeros) status = q->zeros->rows(q->zeros, 0, q->rows, q->scales, err);
    for (size_t i = 0; status == WICK_OK && q->zeros && i < count; i++)
        if (q->scales[i] != 0) status = wick_fail(err, WICK_NOT_SUPPORTED, "checkpoint: %s: zero points other than 0: not supported", q->name);
    if (status == WICK_OK) status = q->given->rows(q->given, 0, q->rows, q->scales, err);
    if (status == WICK_OK) status = for_slabs(q, &s, judge_block, to, err);
    for (int b = 0; status == WICK_OK && b < BLOCKS; b++)
        if (s.change[b][0] > 0)
            status = wick_fail(err, WICK_INVALID_CHECKPOINT, "checkpoint: %s holds integers that %d bits do not", q->name, q->spec.bits);
    if (status != WICK_OK) {
        free(q->scales);
        q->scales = NULL;
    }
    return status;
}

static wick_status find_scales(struct wick_quantized *q, const struct wick_production *to, wick_error *err)
{
    if (q->scales) return WICK_OK;
    if (q->given) return read_given(q, to, err);
    struct slab s = {.q = q};
    size_t count = q->rows * q->groups;
    q->scales = malloc(count * sizeof *q->scales);
    s.stopped_at = calloc(count, 1);
    wick_status status = q->scales && s.stopped_at ? for_slabs(q, &s, search_block, to, err) : wick_fail_oom(err, count * 5, "scales of a weight");
    if (status == WICK_OK && q->spec.hqq) {
        s.rounds = common_rounds(&s);
        bool again = false;
        for (size_t i = 0; i < count && !again; i++) again = s.stopped_at[i] > s.rounds;
        if (again) status = for_slabs(q, &s, search_block, to, err);
    }
    free(s.stopped_at);
    if (status != WICK_OK) {
        free(q->scales);
        q->scales = NULL;
    }
    return status;
}

/* x in the type that the checkpoint holds the weight in. */
static float as_stored(const struct wick_quantized *q, float x)
{
    if (q->inner->stored_dtype == WICK_DTYPE_BF16) return wick_f32_from_bf16(wick_bf16_from_f32(x));
    return q->inner->stored_dtype == WICK_DTYPE_F16 ? wick_f32_from_f16(wick_f16_from_f32(x)) : x;
}

/* n columns of one group. */
static void quantize_columns(const struct slab *s, const float *w, size_t n, float scale, int8_t *out)
{
    const struct wick_quantized *q = s->q;
    const float low = -(float)(1 << (q->spec.bits - 1)), high = -low - 1;
    if (q->given)
        for (size_t i = 0; i < n; i++) out[i] = (int8_t)w[i];
    else if (q->spec.rule == WICK_QUANT_WEIGHT_ONLY) /* all of it in the checkpoint's type */
        for (size_t i = 0; i < n; i++) out[i] = (int8_t)round_even(fminf(fmaxf(as_stored(q, w[i] / as_stored(q, scale)), low), high));
    else
        s->ukernels->quantize_i8(n, w, scale, q->spec.hqq ? 0 : 1.0f / scale, q->spec.rule == WICK_QUANT_OBSERVED && q->spec.bits == 8 ? -high : low,
                                 high, out);
}

/* Columns [first, first + n) of a row whose bytes were zero; shifts: where the fields of a byte are, in the order of columns. */
static void put_fields(const int8_t *v, size_t first, size_t n, size_t per_byte, const unsigned *shifts, int bias, uint8_t *out)
{
    size_t i = 0;
    for (; i < n && (first + i) % per_byte; i++) out[(first + i) / per_byte] |= (uint8_t)((unsigned)(v[i] + bias) << shifts[(first + i) % per_byte]);
    if (per_byte == 2)
        for (; i + 2 <= n; i += 2) out[(first + i) / 2] = (uint8_t)((unsigned)(v[i] + bias) << shifts[0] | (unsigned)(v[i + 1] + bias) << shifts[1]);
    for (; i < n; i++) out[(first + i) / per_byte] |= (uint8_t)((unsigned)(v[i] + bias) << shifts[(first + i) % per_byte]);
}

static void put_columns(const int8_t *v, size_t first, size_t n, enum wick_packing packing, uint8_t *out)
{
    static const unsigned low[] = {0, 4}, high[] = {4, 0}, crumbs[] = {0, 2, 4, 6};
    switch (packing) {
    case WICK_PACK_INT8: memcpy(out + first, v, n); break;
    case WICK_PACK_LOW_NIBBLE: put_fields(v, first, n, 2, low, 8, out); break;
    case WICK_PACK_HIGH_NIBBLE: put_fields(v, first, n, 2, high, 8, out); break;
    case WICK_PACK_CRUMBS: put_fields(v, first, n, 4, crumbs, 2, out); break;
    }
}

static void pack_row(const struct slab *s, const float *w, const float *scales, uint8_t *out)
{
    enum { PIECE = 256 };
    const struct wick_quantized *q = s->q;
    int8_t values[PIECE];
    memset(out, 0, s->row_bytes);
    for (size_t g = 0; g < q->groups; g++)
        for (size_t c = g * q->group, end = c + q->group, n; c < end; c += n) {
            n = WICK_MIN(end - c, (size_t)PIECE);
            quantize_columns(s, w + c, n, scales[g], values);
            put_columns(values, c, n, s->packing, out);
        }
    /* An odd last column shares its byte with a zero weight. */
    if (s->packing == WICK_PACK_LOW_NIBBLE && q->columns % 2) out[q->columns / 2] |= 8 << 4;
}

static void pack_block(void *user, size_t block, unsigned thread)
{
    (void)thread;
    struct slab *s = user;
    size_t first, last;
    block_range(s, block, &first, &last);
    for (size_t r = first; r < last; r++)
        pack_row(s, s->w + r * s->q->columns, s->q->scales + (s->first + r) * s->q->groups, s->bytes + r * s->row_bytes);
}

/* ---- sources ---- */

struct part {
    struct wick_quantized *q;
    enum wick_packing packing;
};

static void written(struct wick_quantized *q, bool *part)
{
    *part = true;
    if (!q->values_written || !q->scales_written) return;
    q->values_written = q->scales_written = false;
    free(q->scales);
    q->scales = NULL;
    if (q->inner->done) q->inner->done(q->inner);
}

static wick_status produce_values(struct wick_source *source, const struct wick_production *to, wick_error *err)
{
    const struct part *part = source->data;
    struct wick_quantized *q = part->q;
    WICK_TRY(find_scales(q, to, err));
    struct slab s = {.q = q, .packing = part->packing, .row_bytes = (size_t)source->shape.sizes[1]};
    s.bytes = malloc(slab_rows(q) * s.row_bytes);
    wick_status status = s.bytes ? for_slabs(q, &s, pack_block, to, err) : wick_fail_oom(err, slab_rows(q) * s.row_bytes, "quantizing a weight");
    free(s.bytes);
    if (status == WICK_OK) written(q, &q->values_written);
    return status;
}

static wick_status produce_scales(struct wick_source *source, const struct wick_production *to, wick_error *err)
{
    const struct part *part = source->data;
    struct wick_quantized *q = part->q;
    WICK_TRY(find_scales(q, to, err));
    size_t count = q->rows * q->groups, size = wick_dtype_size(source->shape.dtype);
    uint8_t *bytes = malloc(count * size);
    if (!bytes) return wick_fail_oom(err, count * size, "scales of a weight");
    for (size_t i = 0; i < count; i++) {
        float s = q->scales[i];
        if (q->spec.rule != WICK_QUANT_OBSERVED) s = as_stored(q, s);
        if (q->spec.rule == WICK_QUANT_WEIGHT_ONLY) s = wick_f32_from_bf16(wick_bf16_from_f32(s));
        uint16_t half = wick_bf16_from_f32(s);
        memcpy(bytes + i * size, size == 2 ? (const void *)&half : (const void *)&s, size);
    }
    wick_status status = to->sink(to->user, bytes, count * size, err);
    free(bytes);
    if (status == WICK_OK) written(q, &q->scales_written);
    return status;
}

wick_status wick_quantized_make(struct wick_quantized **out, struct wick_arena *arena, struct wick_source *inner, const struct wick_quant_spec *spec,
                                wick_error *err)
{
    struct wick_quantized *q = WICK_NEW(arena, struct wick_quantized);
    *out = q;
    if (!q) return wick_fail_oom(err, sizeof *q, "quantizing a weight");
    *q = (struct wick_quantized){.inner = inner, .spec = *spec, .columns = wick_source_columns(inner)};
    q->rows = q->columns ? (size_t)inner->shape.sizes[0] : 0;
    q->group = spec->group > 0 ? (size_t)spec->group : q->columns;
    if (inner->shape.rank != 2 || q->columns == 0 || q->columns % q->group)
        return wick_fail(err, WICK_INVALID_CONFIG, "quantization: %zu columns do not divide into groups of %zu", q->columns, q->group);
    q->groups = q->columns / q->group;
    return WICK_OK;
}

wick_status wick_quantized_given(struct wick_quantized **out, struct wick_arena *arena, struct wick_source *inner, struct wick_source *scales,
                                 struct wick_source *zeros, const struct wick_quant_spec *spec, const char *name, wick_error *err)
{
    WICK_TRY(wick_quantized_make(out, arena, inner, spec, err));
    struct wick_quantized *q = *out;
    if (wick_shape_numel(&scales->shape) != q->rows * q->groups || (zeros && wick_shape_numel(&zeros->shape) != q->rows * q->groups))
        return wick_fail(err, WICK_INVALID_CHECKPOINT, "checkpoint: %s: %zu scales or zero points, not %zu rows of %zu groups", name,
                         wick_shape_numel(&scales->shape), q->rows, q->groups);
    q->given = scales;
    q->zeros = zeros;
    q->name = name;
    return WICK_OK;
}

/* ---- read back as floats ---- */

static wick_status float_rows(struct wick_source *source, size_t first, size_t count, float *out, wick_error *err)
{
    const struct wick_quantized *q = source->data;
    float *scales = malloc(count * q->groups * sizeof *scales + 1);
    if (!scales) return wick_fail_oom(err, count * q->groups * sizeof *scales, q->name);
    wick_status status = q->given->rows(q->given, first, count, scales, err);
    if (status == WICK_OK) status = q->inner->rows(q->inner, first, count, out, err);
    for (size_t i = 0; status == WICK_OK && i < count * q->columns; i++) out[i] *= scales[i / q->group];
    free(scales);
    return status;
}

static wick_status no_bytes(struct wick_source *source, const struct wick_production *to, wick_error *err)
{
    (void)source;
    (void)to;
    return wick_fail(err, WICK_INTERNAL, "a dequantized weight is written through a cast");
}

struct wick_source *wick_quantized_floats(struct wick_quantized *q, struct wick_arena *arena)
{
    struct wick_source *source = WICK_NEW(arena, struct wick_source);
    int32_t sizes[2] = {(int32_t)q->rows, (int32_t)q->columns};
    if (source)
        *source = (struct wick_source){
            .shape = wick_shape_make(WICK_DTYPE_F32, 2, sizes), .produce = no_bytes, .rows = float_rows, .stored_dtype = WICK_DTYPE_F32, .data = q};
    return source;
}

int wick_quantized_group(const struct wick_quantized *q) { return (int)q->group; }

int wick_quantized_bits(const struct wick_quantized *q) { return q->spec.bits; }

enum wick_quant_rule wick_quantized_rule(const struct wick_quantized *q) { return q->spec.rule; }

static struct wick_source *new_part(struct wick_quantized *q, struct wick_arena *arena, enum wick_packing packing)
{
    struct part *part = WICK_NEW(arena, struct part);
    struct wick_source *source = WICK_NEW(arena, struct wick_source);
    if (!part || !source) return NULL;
    *part = (struct part){q, packing};
    *source = (struct wick_source){.data = part};
    return source;
}

struct wick_source *wick_quantized_values(struct wick_quantized *q, struct wick_arena *arena, enum wick_packing packing)
{
    struct wick_source *source = new_part(q, arena, packing);
    size_t per_byte = packing == WICK_PACK_INT8 ? 1 : packing == WICK_PACK_CRUMBS ? 4 : 2;
    int32_t sizes[2] = {(int32_t)q->rows, (int32_t)((q->columns + per_byte - 1) / per_byte)};
    if (!source) return NULL;
    source->shape = wick_shape_make(packing == WICK_PACK_INT8 ? WICK_DTYPE_I8 : WICK_DTYPE_U8, 2, sizes);
    source->stored_dtype = source->shape.dtype;
    source->produce = produce_values;
    return source;
}

struct wick_source *wick_quantized_scales(struct wick_quantized *q, struct wick_arena *arena, int dtype, bool vector)
{
    struct wick_source *source = new_part(q, arena, WICK_PACK_INT8);
    int32_t sizes[2] = {(int32_t)q->rows, (int32_t)q->groups};
    if (!source) return NULL;
    source->shape = wick_shape_make(dtype, vector && q->groups == 1 ? 1 : 2, sizes);
    source->stored_dtype = dtype;
    source->produce = produce_scales;
    return source;
}
