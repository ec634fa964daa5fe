/* graph/rotated.c - see rotated.h. Turning from the left needs all rows at once: such a matrix is computed whole when its first rows are asked for. */
#include "graph/rotated.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ODD_MAX = 1024, COLUMNS_AT_ONCE = 16 };
/* Given matrices cost n^2 a row: kept whole up to this many bytes, since rows are read more than once. */
#define KEPT_BYTES ((size_t)256 << 20)

struct wick_rotator {
    size_t n, power, odd; /* n = power * odd */
    const float *signs;   /* n, or NULL */
    const float *mixer;   /* (odd, odd) orthogonal, or NULL */
    const float *given;   /* (n, n), or NULL */
};

/* ---- rotators ---- */

/* The cosine transform's matrix (DCT-II), orthonormal: every entry of a row but some is of like size. */
static float *cosine_matrix(struct wick_arena *arena, size_t m)
{
    float *matrix = WICK_NEW_ARRAY(arena, float, m * m);
    for (size_t i = 0; matrix && i < m * m; i++) {
        size_t row = i / m, column = i % m;
        matrix[i] = (float)(sqrt((row ? 2.0 : 1.0) / (double)m) * cos(3.14159265358979323846 * ((double)column + 0.5) * (double)row / (double)m));
    }
    return matrix;
}

static float *random_signs(struct wick_arena *arena, size_t n, uint64_t seed)
{
    float *signs = WICK_NEW_ARRAY(arena, float, n);
    for (size_t i = 0; signs && i < n; i++) {
        seed ^= seed >> 12, seed ^= seed << 25, seed ^= seed >> 27; /* xorshift64* */
        signs[i] = (seed * 0x2545f4914f6cdd1dull) >> 63 ? 1.0f : -1.0f;
    }
    return signs;
}

wick_status wick_rotator_hadamard(const struct wick_rotator **out, struct wick_arena *arena, size_t n, uint64_t seed, wick_error *err)
{
    size_t power = 1;
    while (n && n % (power * 2) == 0) power *= 2;
    size_t odd = n / power;
    if (n == 0 || odd > ODD_MAX) return wick_fail(err, WICK_NOT_SUPPORTED, "a Hadamard rotation of %zu = %zu * %zu elements: not supported", n, odd, power);
    struct wick_rotator *r = WICK_NEW(arena, struct wick_rotator);
    const float *signs = seed ? random_signs(arena, n, seed) : NULL, *mixer = odd > 1 ? cosine_matrix(arena, odd) : NULL;
    if (!r || (seed && !signs) || (odd > 1 && !mixer)) return wick_fail_oom(err, n * sizeof(float), "a rotation");
    *r = (struct wick_rotator){.n = n, .power = power, .odd = odd, .signs = signs, .mixer = mixer};
    *out = r;
    return WICK_OK;
}

wick_status wick_rotator_given(const struct wick_rotator **out, struct wick_arena *arena, size_t n, const float *matrix, const char *name, wick_error *err)
{
    for (size_t a = 0; a < n; a++)
        for (size_t b = a; b < n; b++) {
            double sum = 0;
            for (size_t i = 0; i < n; i++) sum += (double)matrix[a * n + i] * (double)matrix[b * n + i];
            if (!(fabs(sum - (a == b)) < 1e-3)) return wick_fail(err, WICK_INVALID_CHECKPOINT, "%s is not orthogonal: rows %zu and %zu give %g", name, a, b, sum);
        }
    struct wick_rotator *r = WICK_NEW(arena, struct wick_rotator);
    if (!r) return wick_fail_oom(err, sizeof *r, name);
    *r = (struct wick_rotator){.n = n, .given = matrix};
    *out = r;
    return WICK_OK;
}

/* Orthonormal Walsh-Hadamard transform in natural order, the order of the operator that undoes it. */
static void transform(float *x, size_t n)
{
    for (size_t half = 1; half < n; half *= 2)
        for (size_t i = 0; i < n; i += 2 * half)
            for (size_t j = i; j < i + half; j++) {
                float a = x[j], b = x[j + half];
                x[j] = a + b;
                x[j + half] = a - b;
            }
    float scale = 1.0f / sqrtf((float)n);
    for (size_t i = 0; i < n; i++) x[i] *= scale;
}

/* out (1, n) = x (1, m) times matrix (m, n) of elements `step` wide. */
static void multiply(const float *x, size_t m, const float *matrix, size_t n, size_t step, float *out)
{
    memset(out, 0, n * step * sizeof *out);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
            for (size_t s = 0; s < step; s++) out[j * step + s] += x[i * step + s] * matrix[i * n + j];
}

static void multiply_dense(const float *x, const float *matrix, size_t n, float *out)
{
    memset(out, 0, n * sizeof *out);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) out[j] += x[i] * matrix[i * n + j];
}

void wick_rotator_apply(const struct wick_rotator *r, float *x, float *scratch)
{
    if (r->given) {
        multiply_dense(x, r->given, r->n, scratch);
        memcpy(x, scratch, r->n * sizeof *x);
        return;
    }
    for (size_t i = 0; r->signs && i < r->n; i++) x[i] *= r->signs[i];
    for (size_t i = 0; i < r->odd; i++) transform(x + i * r->power, r->power);
    if (!r->mixer) return;
    multiply(x, r->odd, r->mixer, r->odd, r->power, scratch);
    memcpy(x, scratch, r->n * sizeof *x);
}

/* ---- sources ---- */

struct rotated {
    struct wick_source *inner;
    struct wick_rotation how;
};

void wick_rotated_cache_release(struct wick_rotated_cache *cache)
{
    free(cache->values);
    *cache = (struct wick_rotated_cache){0};
}

static void turn_rows(const struct wick_rotator *r, float *values, size_t count, float *scratch)
{
    for (size_t i = 0; i < count; i += r->n) wick_rotator_apply(r, values + i, scratch);
}

/* A column of R^T W is the column of W, as a row, times R. Columns are gathered some at a time. */
static void turn_columns(const struct wick_rotator *r, float *values, size_t rows, size_t columns, float *scratch)
{
    float *gathered = scratch + r->n;
    for (size_t first = 0; first < rows; first += r->n)
        for (size_t c = 0; c < columns; c += COLUMNS_AT_ONCE) {
            size_t width = WICK_MIN(columns - c, (size_t)COLUMNS_AT_ONCE);
            for (size_t i = 0; i < r->n; i++)
                for (size_t k = 0; k < width; k++) gathered[k * r->n + i] = values[(first + i) * columns + c + k];
            turn_rows(r, gathered, width * r->n, scratch);
            for (size_t i = 0; i < r->n; i++)
                for (size_t k = 0; k < width; k++) values[(first + i) * columns + c + k] = gathered[k * r->n + i];
        }
}

static wick_status scale_columns(const struct wick_rotation *how, float *values, size_t rows, size_t columns, float *scale, wick_error *err)
{
    if (!how->scale) return WICK_OK;
    WICK_TRY(how->scale->rows(how->scale, 0, columns, scale, err));
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++) values[r * columns + c] *= scale[c] + (how->one_more ? 1.0f : 0.0f);
    return WICK_OK;
}

/* Reads rows and turns them; from the left only if all are there. */
static wick_status read_turned(const struct rotated *r, size_t first, size_t count, size_t columns, float *out, wick_error *err)
{
    const struct wick_rotation *how = &r->how;
    size_t most = WICK_MAX(how->right ? how->right->n : 0, how->left ? how->left->n * (COLUMNS_AT_ONCE + 1) : 0);
    float *scratch = malloc((WICK_MAX(most, columns) + 1) * sizeof *scratch);
    if (!scratch) return wick_fail_oom(err, most * sizeof *scratch, "a rotated weight");
    wick_status status = r->inner->rows(r->inner, first, count, out, err);
    if (status == WICK_OK) status = scale_columns(how, out, count, columns, scratch, err);
    if (status == WICK_OK && how->right) turn_rows(how->right, out, count * columns, scratch);
    if (status == WICK_OK && how->left) turn_columns(how->left, out, count, columns, scratch);
    free(scratch);
    return status;
}

static wick_status rotated_rows(struct wick_source *source, size_t first, size_t count, float *out, wick_error *err)
{
    const struct rotated *r = source->data;
    struct wick_rotated_cache *cache = r->how.cache;
    size_t rows = (size_t)source->shape.sizes[0], columns = wick_source_columns(source);
    bool whole = r->how.left || (r->how.right && r->how.right->given && rows * columns * sizeof *out <= KEPT_BYTES);
    if (!whole) return read_turned(r, first, count, columns, out, err);
    if (cache->owner != source) {
        wick_rotated_cache_release(cache);
        cache->values = malloc(rows * columns * sizeof *cache->values);
        if (!cache->values) return wick_fail_oom(err, rows * columns * sizeof *cache->values, "a rotated weight");
        WICK_TRY(read_turned(r, 0, rows, columns, cache->values, err));
        cache->owner = source;
    }
    memcpy(out, cache->values + first * columns, count * columns * sizeof *out);
    return WICK_OK;
}

static void rotated_done(struct wick_source *source)
{
    const struct rotated *r = source->data;
    if (r->how.cache->owner == source) wick_rotated_cache_release(r->how.cache);
    if (r->inner->done) r->inner->done(r->inner);
}

static wick_status no_bytes(struct wick_source *source, const struct wick_production *to, wick_error *err)
{
    (void)source;
    (void)to;
    return wick_fail(err, WICK_INTERNAL, "a rotated weight is written through a cast");
}

struct wick_source *wick_source_rotated(struct wick_arena *arena, struct wick_source *inner, const struct wick_rotation *how)
{
    if (!inner || !inner->rows) return NULL;
    size_t rows = (size_t)inner->shape.sizes[0], columns = wick_source_columns(inner);
    if ((how->left && (how->left->n == 0 || rows % how->left->n)) || (how->right && (how->right->n == 0 || columns % how->right->n))) return NULL;
    if (how->scale && (!how->scale->rows || wick_shape_numel(&how->scale->shape) != columns)) return NULL;
    struct rotated *r = WICK_NEW(arena, struct rotated);
    struct wick_source *source = WICK_NEW(arena, struct wick_source);
    if (!r || !source) return NULL;
    *r = (struct rotated){inner, *how};
    *source = (struct wick_source){.shape = inner->shape, .produce = no_bytes, .rows = rotated_rows, .done = rotated_done, .stored_dtype = inner->stored_dtype, .data = r};
    return source;
}
