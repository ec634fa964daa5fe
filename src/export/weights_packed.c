/* export/weights_packed.c - owns the forms of quantized checkpoints. Nothing is unpacked before its rows are asked for: what goes on to quantize.c are
 * float rows like any others, rounded to the type of the scales, as the libraries that made these files compute them.
 *
 *   GPTQ      qweight i32 (in * bits / 32, out), qzeros i32 (groups, out * bits / 32), scales (groups, out), g_idx i32 (in)
 *   AWQ       qweight i32 (in, out / 8), qzeros i32 (groups, out / 8), scales (groups, out)
 *   torchao   qdata i8 (out, in), scale and zero_point (out, groups); or qdata u8 (out, in / 2), scale and float zero_point (groups, out)
 *   floats    weight f8 (out, in), weight_scale_inv (blocks of out, blocks of in), or weight_scale (1) or (out, 1) */
#include "export/weights_packed.h"

#include "base/json.h"
#include "export/beside.h"
#include "export/weight_names.h"
#include "tensor/half.h"

#include <stdio.h>
#include <stdlib.h>

enum form { GPTQ, AWQ, AO_UNPACKED, AO_PACKED, FLOAT8 };

struct packed {
    enum form form;
    struct wick_checkpoint *checkpoint;
    const struct wick_ckpt_tensor *q, *scales, *zeros, *groups_of; /* zeros and groups_of may be NULL */
    size_t rows, columns, groups, half;
    unsigned bits, zero_more;         /* GPTQ: a stored zero is this much less than the zero */
    size_t block_rows, block_columns; /* FLOAT8 */
    int dtype;                        /* of the scales, or what weights are rounded to */
};

/* ---- reading ---- */

/* q, scales and zeros are contiguous and were checked to hold what is asked for. */
static uint32_t word(const struct wick_ckpt_tensor *t, size_t i)
{
    const uint8_t *p = t->data + 4 * i;
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* `bits` bits from bit `at` of the words that lie `step` apart, from word `first` on. */
static unsigned bits_at(const struct wick_ckpt_tensor *t, size_t first, size_t step, size_t at, unsigned bits)
{
    const size_t i = at / 32;
    const unsigned shift = at % 32, mask = (1u << bits) - 1;
    uint32_t value = word(t, first + i * step) >> shift;
    if (shift + bits > 32) value |= word(t, first + (i + 1) * step) << (32 - shift);
    return value & mask;
}

/* AWQ keeps column c of eight in nibble (0, 4, 1, 5, 2, 6, 3, 7)[c]. */
static unsigned awq_at(const struct wick_ckpt_tensor *t, size_t row, size_t columns, size_t column)
{
    static const uint8_t nibble[8] = {0, 4, 1, 5, 2, 6, 3, 7};
    return word(t, row * (columns / 8) + column / 8) >> 4 * nibble[column % 8] & 15;
}

/* The zero of a group of GPTQ's or AWQ's. */
static unsigned zero_of(const struct packed *p, size_t group, size_t row)
{
    if (p->form == AWQ) return awq_at(p->zeros, group, p->rows, row);
    const size_t words = p->rows * p->bits / 32;
    return (bits_at(p->zeros, group * words, 1, row * p->bits, p->bits) + p->zero_more) & ((1u << p->bits) - 1);
}

/* Scale and zero of each group of a row. */
static wick_status read_groups(const struct packed *p, size_t row, float *scale, float *zero, wick_error *err)
{
    const bool by_row = p->form == AO_UNPACKED; /* (out, groups); the others are (groups, out) */
    if (by_row) {
        WICK_TRY(wick_ckpt_read_f32(p->scales, row * p->groups, p->groups, scale, err));
        if (p->zeros) return wick_ckpt_read_f32(p->zeros, row * p->groups, p->groups, zero, err);
        memset(zero, 0, p->groups * sizeof *zero);
        return WICK_OK;
    }
    for (size_t g = 0; g < p->groups; g++) {
        WICK_TRY(wick_ckpt_read_f32(p->scales, g * p->rows + row, 1, &scale[g], err));
        if (p->form == AO_PACKED) WICK_TRY(wick_ckpt_read_f32(p->zeros, g * p->rows + row, 1, &zero[g], err));
        else zero[g] = (float)zero_of(p, g, row);
    }
    return WICK_OK;
}

/* The integers of a row. */
static wick_status read_integers(const struct packed *p, size_t row, float *out, wick_error *err)
{
    switch (p->form) {
    case GPTQ:
        for (size_t k = 0; k < p->columns; k++) out[k] = (float)bits_at(p->q, row, p->rows, k * p->bits, p->bits);
        return WICK_OK;
    case AWQ:
        for (size_t k = 0; k < p->columns; k++) out[k] = (float)awq_at(p->q, k, p->rows, row);
        return WICK_OK;
    case AO_PACKED:
        for (size_t k = 0; k < p->columns; k++) {
            int nibble = p->q->data[row * (p->columns / 2) + k / 2] >> 4 * (k % 2) & 15;
            out[k] = (float)(nibble < 8 ? nibble : nibble - 16);
        }
        return WICK_OK;
    default: return wick_ckpt_read_f32(p->q, row * p->columns, p->columns, out, err);
    }
}

static void round_row(float *x, size_t n, int dtype)
{
    if (dtype == WICK_DTYPE_BF16)
        for (size_t i = 0; i < n; i++) x[i] = wick_f32_from_bf16(wick_bf16_from_f32(x[i]));
    else if (dtype == WICK_DTYPE_F16)
        for (size_t i = 0; i < n; i++) x[i] = wick_f32_from_f16(wick_f16_from_f32(x[i]));
}

/* scale, zero: room for the groups. group_of: of each column, or NULL when they have equal lengths. */
static wick_status read_row(const struct packed *p, size_t row, float *scale, float *zero, const int32_t *group_of, float *out, wick_error *err)
{
    WICK_TRY(read_integers(p, row, out, err));
    if (p->form == FLOAT8) {
        const size_t across = p->groups, first = row / p->block_rows * across;
        WICK_TRY(wick_ckpt_read_f32(p->scales, first, across, scale, err));
        for (size_t k = 0; k < p->columns; k++) out[k] *= scale[k / p->block_columns];
        return WICK_OK;
    }
    const size_t length = p->columns / p->groups;
    WICK_TRY(read_groups(p, row, scale, zero, err));
    for (size_t k = 0; k < p->columns; k++) {
        size_t g = group_of ? (size_t)group_of[k] : k / length;
        out[k] = p->form == AO_PACKED ? out[k] * scale[g] + zero[g] : (out[k] - zero[g]) * scale[g];
    }
    return WICK_OK;
}

static size_t source_row(const struct packed *p, size_t row)
{
    if (p->half == 0) return row;
    size_t head = row / p->half, i = row % p->half;
    return head * p->half + i % 2 * (p->half / 2) + i / 2;
}

/* GPTQ's order of columns by activation gives each its group; it is read for every call, not kept. */
static wick_status read_group_of(const struct packed *p, int32_t *group_of, wick_error *err)
{
    for (size_t k = 0; k < p->columns; k++) {
        group_of[k] = (int32_t)word(p->groups_of, k);
        if (group_of[k] < 0 || (size_t)group_of[k] >= p->groups)
            return wick_fail(err, WICK_INVALID_CHECKPOINT, "checkpoint: %s: column %zu is of group %d of %zu", p->groups_of->name, k, (int)group_of[k], p->groups);
    }
    return WICK_OK;
}

static wick_status read_rows(struct wick_source *source, size_t first, size_t count, float *out, wick_error *err)
{
    const struct packed *p = source->data;
    float *scale = malloc(p->groups * 2 * sizeof *scale), *zero = scale ? scale + p->groups : NULL;
    int32_t *group_of = p->groups_of ? malloc(p->columns * sizeof *group_of) : NULL;
    wick_status status = scale && (group_of || !p->groups_of) ? WICK_OK : wick_fail_oom(err, p->columns * 4, p->q->name);
    if (status == WICK_OK && group_of) status = read_group_of(p, group_of, err);
    for (size_t r = 0; r < count && status == WICK_OK; r++) {
        status = read_row(p, source_row(p, first + r), scale, zero, group_of, out + r * p->columns, err);
        round_row(out + r * p->columns, p->columns, p->dtype);
    }
    free(group_of);
    free(scale);
    return status;
}

static void rows_done(struct wick_source *source)
{
    const struct packed *p = source->data;
    wick_ckpt_tensor_done(p->checkpoint, p->q);
}

static wick_status cannot_produce(struct wick_source *source, const struct wick_production *to, wick_error *err)
{
    (void)source;
    (void)to;
    return wick_fail(err, WICK_INTERNAL, "a checkpoint source is written through a cast");
}

/* ---- finding ---- */

/* "<name without the ending .weight><tail>" in the checkpoint. */
static const struct wick_ckpt_tensor *find(const struct wick_weights *w, const char *name, const char *tail)
{
    char text[WICK_WEIGHT_NAME_MAX + 32];
    struct wick_str whole = wick_str_of(name);
    if (!wick_str_ends(whole, WICK_STR(".weight"))) return NULL;
    snprintf(text, sizeof text, "%.*s%s", (int)(whole.size - 7), name, tail);
    return wick_checkpoint_find(w->checkpoint, text);
}

static bool is_shape(const struct wick_ckpt_tensor *t, uint64_t rows, uint64_t columns)
{
    return t && t->rank == 2 && (uint64_t)t->sizes[0] == rows && (uint64_t)t->sizes[1] == columns;
}

/* Read by pointer: words of 4 bytes, or bytes. */
static bool is_plain(const struct wick_ckpt_tensor *t, unsigned bytes)
{
    return t && t->contiguous && t->data && wick_ckpt_storage_block(t->storage) == 1 && wick_ckpt_storage_bytes(t->storage) == bytes;
}

static wick_status misfit(const char *name, const char *why, wick_error *err)
{
    return wick_fail(err, WICK_INVALID_CHECKPOINT, "checkpoint: quantized %s: %s", name, why);
}

/* A stored zero of GPTQ's is one less than it means, but in files that say otherwise. */
static unsigned gptq_zero_more(const struct wick_weights *w)
{
    static const char *const files[] = {"quantize_config.json", "config.json"};
    char path[WICK_BESIDE_MAX];
    bool second = false;
    for (size_t i = 0; i < WICK_ARRAY_SIZE(files); i++) {
        json_t *root;
        if (!wick_beside(wick_checkpoint_path(w->checkpoint), files[i], path) || wick_json_load(&root, path, WICK_INVALID_CONFIG, NULL) != WICK_OK) continue;
        const json_t *inner = json_object_get(root, "quantization_config");
        const char *format = json_string_value(json_object_get(inner ? inner : root, "checkpoint_format"));
        second = second || (format && strcmp(format, "gptq_v2") == 0);
        json_decref(root);
    }
    return second ? 0 : 1;
}

/* GPTQ or AWQ: told by which axis of qweight is packed. */
static wick_status set_qweight(struct packed *p, const struct wick_weights *w, const char *name, wick_error *err)
{
    p->zeros = find(w, name, ".qzeros");
    p->scales = find(w, name, ".scales");
    if (!is_plain(p->q, 4) || !is_plain(p->zeros, 4) || !p->scales || p->scales->rank != 2 || p->scales->sizes[0] < 1 || (size_t)p->scales->sizes[1] != p->rows)
        return misfit(name, ".qweight, .qzeros and .scales do not fit each other", err);
    p->groups = (size_t)p->scales->sizes[0];
    if (p->rows % 8 == 0 && is_shape(p->q, p->columns, p->rows / 8) && is_shape(p->zeros, p->groups, p->rows / 8)) p->form = AWQ;
    else {
        p->form = GPTQ;
        p->bits = (unsigned)((uint64_t)p->q->sizes[0] * 32 / p->columns);
        if ((p->bits != 2 && p->bits != 3 && p->bits != 4 && p->bits != 8) || p->rows * p->bits % 32 != 0 || p->columns * p->bits % 32 != 0 ||
            !is_shape(p->q, p->columns * p->bits / 32, p->rows) || !is_shape(p->zeros, p->groups, p->rows * p->bits / 32))
            return misfit(name, "neither GPTQ's layout of 2, 3, 4 or 8 bits nor AWQ's of 4", err);
        p->zero_more = gptq_zero_more(w);
        p->groups_of = find(w, name, ".g_idx");
        if (p->groups_of && (!is_plain(p->groups_of, 4) || p->groups_of->numel != p->columns)) return misfit(name, ".g_idx has not one group a column", err);
    }
    return p->groups_of || p->columns % p->groups == 0 ? WICK_OK : misfit(name, "its groups do not divide its columns", err);
}

static wick_status set_torchao(struct packed *p, const struct wick_weights *w, const char *name, wick_error *err)
{
    p->scales = find(w, name, "._weight_scale");
    p->zeros = find(w, name, "._weight_zero_point");
    if (find(w, name, "._weight_act_pre_scale")) return wick_fail(err, WICK_NOT_SUPPORTED, "checkpoint: %s: torchao's scale of activations: not supported", name);
    if (!p->scales || p->scales->numel == 0) return misfit(name, "torchao's _scale is missing", err);
    if (p->q->storage == WICK_CKPT_I8 && is_shape(p->q, p->rows, p->columns)) {
        p->form = AO_UNPACKED;
        p->groups = (size_t)(p->scales->numel / p->rows);
        if (p->groups == 0 || p->groups * p->rows != p->scales->numel || (p->zeros && p->zeros->numel != p->scales->numel))
            return misfit(name, "torchao's scales are not some a row", err);
    } else if (p->q->storage == WICK_CKPT_U8 && is_plain(p->q, 1) && p->columns % 2 == 0 && is_shape(p->q, p->rows, p->columns / 2)) {
        p->form = AO_PACKED;
        p->groups = p->scales->rank == 2 ? (size_t)p->scales->sizes[0] : 0;
        if (p->groups == 0 || !is_shape(p->scales, p->groups, p->rows) || !is_shape(p->zeros, p->groups, p->rows))
            return misfit(name, "torchao's scales are not some a row", err);
    } else
        return wick_fail(err, WICK_NOT_SUPPORTED, "checkpoint: %s: this packing of torchao (%s of rank %d): not supported", name, wick_ckpt_storage_name(p->q->storage), p->q->rank);
    return p->columns % p->groups == 0 ? WICK_OK : misfit(name, "its groups do not divide its columns", err);
}

/* Blocks are squares of 128 unless the scales say otherwise: the smallest power of two with as many of them. */
static bool block_length(size_t length, size_t blocks, size_t *out)
{
    for (*out = 128; *out <= length * 2; *out *= 2)
        if ((length + *out - 1) / *out == blocks) return true;
    for (*out = 64; *out >= 1; *out /= 2)
        if ((length + *out - 1) / *out == blocks) return true;
    return false;
}

static wick_status set_float8(struct packed *p, const char *name, wick_error *err)
{
    const struct wick_ckpt_tensor *s = p->scales;
    p->form = FLOAT8;
    p->block_rows = 1;
    p->block_columns = p->columns;
    p->groups = 1;
    if (!is_shape(p->q, p->rows, p->columns)) return misfit(name, "another shape than the model wants", err);
    if (s->numel == 1) p->block_rows = p->rows;
    else if (s->numel != p->rows || (s->rank == 2 && s->sizes[1] != 1)) {
        if (s->rank != 2 || !block_length(p->rows, (size_t)s->sizes[0], &p->block_rows) || !block_length(p->columns, (size_t)s->sizes[1], &p->block_columns))
            return misfit(name, "its scales are neither one, one a row, nor of square blocks", err);
        p->groups = (size_t)s->sizes[1];
    }
    return WICK_OK;
}

static bool is_float8(const struct wick_ckpt_tensor *t) { return t && (t->storage == WICK_CKPT_F8_E4M3 || t->storage == WICK_CKPT_F8_E5M2); }

/* The tensors of a form that are there: q, and for 8-bit floats the scales. */
static void look(const struct wick_weights *w, const char *name, struct packed *p, bool *qweight, bool *torchao)
{
    *qweight = *torchao = false;
    if ((p->q = find(w, name, ".qweight"))) *qweight = true;
    else if ((p->q = find(w, name, "._weight_qdata"))) *torchao = true;
    else if (is_float8(p->q = find(w, name, ".weight"))) {
        p->scales = find(w, name, ".weight_scale_inv");
        if (!p->scales) p->scales = find(w, name, ".weight_scale");
        if (!p->scales) p->q = NULL; /* the numbers themselves */
    } else
        p->q = NULL;
}

bool wick_weights_has_packed(const struct wick_weights *w, const char *name)
{
    struct packed p = {0};
    bool qweight, torchao;
    look(w, name, &p, &qweight, &torchao);
    return p.q != NULL;
}

static int dtype_of(const struct wick_ckpt_tensor *scales)
{
    return scales->storage == WICK_CKPT_F16 ? WICK_DTYPE_F16 : scales->storage == WICK_CKPT_BF16 ? WICK_DTYPE_BF16 : WICK_DTYPE_F32;
}

wick_status wick_weights_packed(struct wick_weights *w, const char *name, int64_t rows, int64_t columns, size_t half, struct wick_source **source, wick_error *err)
{
    struct packed *p = WICK_NEW(w->arena, struct packed);
    struct wick_source *s = WICK_NEW(w->arena, struct wick_source);
    bool qweight, torchao;
    *source = NULL;
    if (!p || !s) return wick_fail_oom(err, sizeof *p, name);
    *p = (struct packed){.checkpoint = w->checkpoint, .rows = (size_t)rows, .columns = (size_t)columns, .half = half};
    look(w, name, p, &qweight, &torchao);
    if (!p->q && find(w, name, ".weight_packed")) return wick_fail(err, WICK_NOT_SUPPORTED, "checkpoint: %s: compressed-tensors' packing (.weight_packed): not supported", name);
    if (!p->q || columns <= 0) return WICK_OK;
    WICK_TRY(qweight ? set_qweight(p, w, name, err) : torchao ? set_torchao(p, w, name, err) : set_float8(p, name, err));
    p->dtype = w->rounding >= 0 ? w->rounding : dtype_of(p->scales);
    const int32_t sizes[2] = {(int32_t)rows, (int32_t)columns};
    *s = (struct wick_source){.shape = wick_shape_make(WICK_DTYPE_F32, 2, sizes), .produce = cannot_produce, .rows = read_rows, .done = rows_done, .stored_dtype = p->dtype, .data = p};
    *source = s;
    return WICK_OK;
}
