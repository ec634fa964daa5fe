/* graph/derived.c - sources made of other sources; see derived.h. They are float sources: written through a cast. */
#include "graph/derived.h"

#include <stdlib.h>
#include <string.h>

struct derived {
    struct wick_source **parts;
    size_t part_count;
    size_t blocks; /* transposed */
    size_t first;  /* column, or first row */
    float (*f)(float);
    float factor; /* of the product in a sum */
    const int32_t *ids; /* picked */
};

static wick_status cannot_produce(struct wick_source *source, const struct wick_production *to, wick_error *err)
{
    (void)source;
    (void)to;
    return wick_fail(err, WICK_INTERNAL, "a derived source is written through a cast");
}

static void derived_done(struct wick_source *source)
{
    struct derived *d = source->data;
    for (size_t i = 0; i < d->part_count; i++)
        if (d->parts[i]->done) d->parts[i]->done(d->parts[i]);
}

static struct wick_source *make(struct wick_arena *arena, struct wick_source *const *parts, size_t count, int rank, const int32_t *sizes)
{
    struct derived *d = WICK_NEW(arena, struct derived);
    struct wick_source *source = WICK_NEW(arena, struct wick_source), **copy = WICK_NEW_ARRAY(arena, struct wick_source *, count);
    if (!d || !source || !copy) return NULL;
    for (size_t i = 0; i < count; i++) {
        if (!parts[i] || !parts[i]->rows) return NULL;
        copy[i] = parts[i];
    }
    *d = (struct derived){.parts = copy, .part_count = count};
    *source = (struct wick_source){.shape = wick_shape_make(WICK_DTYPE_F32, rank, sizes), .produce = cannot_produce, .done = derived_done,
                                   .stored_dtype = parts[0]->stored_dtype, .data = d};
    return source;
}

static size_t rows_of(const struct wick_source *s) { return s->shape.rank ? (size_t)s->shape.sizes[0] : 0; }

/* ---- stacked ---- */

static wick_status stacked_rows(struct wick_source *source, size_t first, size_t count, float *out, wick_error *err)
{
    const struct derived *d = source->data;
    size_t columns = wick_source_columns(source);
    for (size_t i = 0; i < d->part_count && count > 0; i++) {
        size_t rows = rows_of(d->parts[i]);
        if (first >= rows) {
            first -= rows;
            continue;
        }
        size_t n = WICK_MIN(rows - first, count);
        WICK_TRY(d->parts[i]->rows(d->parts[i], first, n, out, err));
        out += n * columns;
        count -= n;
        first = 0;
    }
    return count ? wick_fail(err, WICK_INTERNAL, "a stacked source has too few rows") : WICK_OK;
}

struct wick_source *wick_source_stacked(struct wick_arena *arena, struct wick_source *const *parts, size_t count)
{
    uint64_t rows = 0;
    if (count == 0) return NULL;
    for (size_t i = 0; i < count; i++) {
        if (!parts[i] || parts[i]->shape.rank != 2 || parts[i]->shape.sizes[1] != parts[0]->shape.sizes[1]) return NULL;
        rows += rows_of(parts[i]);
    }
    if (rows > INT32_MAX) return NULL;
    struct wick_source *source = make(arena, parts, count, 2, (const int32_t[]){(int32_t)rows, parts[0]->shape.sizes[1]});
    if (source) source->rows = stacked_rows;
    return source;
}

/* ---- column ---- */

static wick_status column_rows(struct wick_source *source, size_t first, size_t count, float *out, wick_error *err)
{
    const struct derived *d = source->data;
    size_t columns = wick_source_columns(d->parts[0]);
    float *rows = malloc(count * columns * sizeof *rows + 1);
    if (!rows) return wick_fail_oom(err, count * columns * sizeof *rows, "a column of a weight");
    wick_status status = d->parts[0]->rows(d->parts[0], first, count, rows, err);
    for (size_t i = 0; status == WICK_OK && i < count; i++) out[i] = rows[i * columns + d->first];
    free(rows);
    return status;
}

struct wick_source *wick_source_column(struct wick_arena *arena, struct wick_source *matrix, size_t column)
{
    if (!matrix || column >= wick_source_columns(matrix)) return NULL;
    struct wick_source *source = make(arena, &matrix, 1, 1, matrix->shape.sizes);
    if (!source) return NULL;
    ((struct derived *)source->data)->first = column;
    source->rows = column_rows;
    return source;
}

/* ---- transposed ---- */

static wick_status transposed_rows(struct wick_source *source, size_t first, size_t count, float *out, wick_error *err)
{
    const struct derived *d = source->data;
    size_t columns = wick_source_columns(source), rows = rows_of(source) / d->blocks; /* of a block of ours: (C, R) of its (R, C) */
    float *block = malloc(rows * columns * sizeof *block + 1);
    if (!block) return wick_fail_oom(err, rows * columns * sizeof *block, "transposing a weight");
    wick_status status = WICK_OK;
    while (count > 0 && status == WICK_OK) {
        size_t at = first % rows, n = WICK_MIN(rows - at, count);
        status = d->parts[0]->rows(d->parts[0], first / rows * columns, columns, block, err);
        for (size_t r = 0; status == WICK_OK && r < n; r++)
            for (size_t c = 0; c < columns; c++) out[r * columns + c] = block[c * rows + at + r];
        out += n * columns;
        first += n;
        count -= n;
    }
    free(block);
    return status;
}

struct wick_source *wick_source_transposed(struct wick_arena *arena, struct wick_source *matrix, size_t count)
{
    if (!matrix || matrix->shape.rank != 2 || count == 0 || rows_of(matrix) % count) return NULL;
    int64_t rows = matrix->shape.sizes[0] / (int64_t)count, columns = matrix->shape.sizes[1];
    if (columns * (int64_t)count > INT32_MAX) return NULL;
    struct wick_source *source = make(arena, &matrix, 1, 2, (const int32_t[]){(int32_t)(columns * (int64_t)count), (int32_t)rows});
    if (!source) return NULL;
    ((struct derived *)source->data)->blocks = count;
    source->rows = transposed_rows;
    return source;
}

/* ---- a range of rows ---- */

static wick_status range_rows(struct wick_source *source, size_t first, size_t count, float *out, wick_error *err)
{
    const struct derived *d = source->data;
    return d->parts[0]->rows(d->parts[0], d->first + first, count, out, err);
}

struct wick_source *wick_source_row_range(struct wick_arena *arena, struct wick_source *matrix, size_t first, size_t count)
{
    if (!matrix || matrix->shape.rank < 1 || first > rows_of(matrix) || count > rows_of(matrix) - first) return NULL;
    int32_t sizes[WICK_RANK_MAX];
    memcpy(sizes, matrix->shape.sizes, matrix->shape.rank * sizeof *sizes);
    sizes[0] = (int32_t)count;
    struct wick_source *source = make(arena, &matrix, 1, matrix->shape.rank, sizes);
    if (!source) return NULL;
    ((struct derived *)source->data)->first = first;
    source->rows = range_rows;
    return source;
}

/* ---- picked rows ---- */

static wick_status picked_rows(struct wick_source *source, size_t first, size_t count, float *out, wick_error *err)
{
    const struct derived *d = source->data;
    size_t columns = wick_source_columns(source);
    for (size_t i = 0; i < count; i++) WICK_TRY(d->parts[0]->rows(d->parts[0], (size_t)d->ids[first + i], 1, out + i * columns, err));
    return WICK_OK;
}

struct wick_source *wick_source_picked(struct wick_arena *arena, struct wick_source *matrix, const int32_t *ids, size_t count)
{
    if (!matrix || matrix->shape.rank != 2 || count == 0 || count > INT32_MAX) return NULL;
    for (size_t i = 0; i < count; i++)
        if (ids[i] < 0 || (size_t)ids[i] >= rows_of(matrix)) return NULL;
    struct wick_source *source = make(arena, &matrix, 1, 2, (const int32_t[]){(int32_t)count, matrix->shape.sizes[1]});
    if (!source) return NULL;
    ((struct derived *)source->data)->ids = ids;
    source->rows = picked_rows;
    return source;
}

/* ---- another shape ---- */

static wick_status shaped_rows(struct wick_source *source, size_t first, size_t count, float *out, wick_error *err)
{
    const struct derived *d = source->data;
    size_t each = wick_source_columns(source) / wick_source_columns(d->parts[0]);
    return d->parts[0]->rows(d->parts[0], first * each, count * each, out, err);
}

struct wick_source *wick_source_shaped(struct wick_arena *arena, struct wick_source *source, int rank, const int32_t *sizes)
{
    struct wick_source *shaped = source ? make(arena, &source, 1, rank, sizes) : NULL;
    if (!shaped || wick_shape_numel(&shaped->shape) != wick_shape_numel(&source->shape) || wick_source_columns(source) == 0 ||
        wick_source_columns(shaped) % wick_source_columns(source))
        return NULL;
    shaped->rows = shaped_rows;
    return shaped;
}

/* ---- a sum with a product of low rank ---- */

static wick_status sum_rows(struct wick_source *source, size_t first, size_t count, float *out, wick_error *err)
{
    const struct derived *d = source->data;
    size_t columns = wick_source_columns(source), rank = wick_source_columns(d->parts[2]);
    float *low = malloc(rank * columns * sizeof *low + 1), *high = malloc(count * rank * sizeof *high + 1);
    wick_status status = low && high ? WICK_OK : wick_fail_oom(err, (count + columns) * rank * sizeof *low, "a weight and its adapter");
    if (status == WICK_OK) status = d->parts[0]->rows(d->parts[0], first, count, out, err);
    if (status == WICK_OK) status = d->parts[1]->rows(d->parts[1], 0, rank, low, err);
    if (status == WICK_OK) status = d->parts[2]->rows(d->parts[2], first, count, high, err);
    for (size_t r = 0; status == WICK_OK && r < count; r++)
        for (size_t k = 0; k < rank; k++) {
            float factor = d->factor * high[r * rank + k];
            for (size_t c = 0; c < columns; c++) out[r * columns + c] += factor * low[k * columns + c];
        }
    free(low), free(high);
    return status;
}

struct wick_source *wick_source_low_rank_sum(struct wick_arena *arena, struct wick_source *matrix, struct wick_source *low, struct wick_source *high, float factor)
{
    struct wick_source *const parts[] = {matrix, low, high};
    if (!matrix || !low || !high || matrix->shape.rank != 2 || low->shape.rank != 2 || high->shape.rank != 2) return NULL;
    if (high->shape.sizes[0] != matrix->shape.sizes[0] || low->shape.sizes[1] != matrix->shape.sizes[1] || low->shape.sizes[0] != high->shape.sizes[1]) return NULL;
    struct wick_source *source = make(arena, parts, 3, 2, matrix->shape.sizes);
    if (!source) return NULL;
    ((struct derived *)source->data)->factor = factor;
    source->rows = sum_rows;
    return source;
}

/* ---- a function of each element ---- */

static wick_status mapped_rows(struct wick_source *source, size_t first, size_t count, float *out, wick_error *err)
{
    const struct derived *d = source->data;
    WICK_TRY(d->parts[0]->rows(d->parts[0], first, count, out, err));
    for (size_t i = 0; i < count * wick_source_columns(source); i++) out[i] = d->f(out[i]);
    return WICK_OK;
}

struct wick_source *wick_source_mapped(struct wick_arena *arena, struct wick_source *source, float (*f)(float))
{
    struct wick_source *mapped = source ? make(arena, &source, 1, source->shape.rank, source->shape.sizes) : NULL;
    if (!mapped) return NULL;
    ((struct derived *)mapped->data)->f = f;
    mapped->rows = mapped_rows;
    return mapped;
}
