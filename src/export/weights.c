/* export/weights.c - weights by name, and the source that reads a checkpoint's rows. Names: weight_names.c. Next: decoder/build.c. */
#include "export/weights.h"

#include "export/weight_names.h"
#include "export/weights_packed.h"
#include "graph/derived.h"
#include "tensor/half.h"

#include <stdio.h>
#include <stdlib.h>

static const struct wick_ckpt_tensor *find_tensor(const struct wick_weights *w, int layer, const char *name, char text[WICK_WEIGHT_NAME_MAX])
{
    for (size_t i = 0; wick_weight_name(w, layer, name, i, text); i++) {
        const struct wick_ckpt_tensor *tensor = wick_checkpoint_find(w->checkpoint, text);
        if (tensor) return tensor;
    }
    if (wick_weight_name(w, layer, name, 0, text)) return NULL;
    if (layer >= 0) snprintf(text, WICK_WEIGHT_NAME_MAX, "layers.%d.%s", layer, name);
    else snprintf(text, WICK_WEIGHT_NAME_MAX, "%s", name);
    return NULL;
}

/* text: the first of its names under which the checkpoint has a weight quantized, with scales. */
static bool has_packed(const struct wick_weights *w, int layer, const char *name, char text[WICK_WEIGHT_NAME_MAX])
{
    for (size_t i = 0; wick_weight_name(w, layer, name, i, text); i++)
        if (wick_weights_has_packed(w, text)) return true;
    return false;
}

wick_status wick_weights_init(struct wick_weights *w, struct wick_arena *arena, struct wick_checkpoint *checkpoint, const struct wick_hparams *h, wick_error *err)
{
    static const struct {
        enum wick_naming naming;
        const char *prefix;
    } forms[] = {{WICK_NAMING_TUNE, NULL}, {WICK_NAMING_META, NULL}, {WICK_NAMING_HF, NULL}, {WICK_NAMING_HF, "model.language_model."}, {WICK_NAMING_GGUF, NULL}};
    *w = (struct wick_weights){.arena = arena, .checkpoint = checkpoint, .hparams = h, .rounding = -1};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(forms); i++) {
        w->naming = forms[i].naming;
        w->inner_prefix = forms[i].prefix;
        /* torchtune's embedding has Meta's name. */
        if (w->naming == WICK_NAMING_TUNE && !wick_weights_has(w, 0, "attention.wq.weight")) continue;
        if (wick_weights_has(w, -1, "tok_embeddings.weight")) return WICK_OK;
    }
    return wick_fail(err, WICK_INVALID_CHECKPOINT, "checkpoint: none of tok_embeddings.weight, model.embed_tokens.weight, model.language_model.embed_tokens.weight, "
                                                   "token_embd.weight is in it; its naming is not known");
}

bool wick_weights_has(const struct wick_weights *w, int layer, const char *name)
{
    char text[WICK_WEIGHT_NAME_MAX];
    return find_tensor(w, layer, name, text) != NULL || has_packed(w, layer, name, text);
}

/* A matrix of the checkpoint. half: rows of each head of this many are read from halves order (Hugging Face) into
 * interleaved order; 0: as they are. */
struct checkpoint_rows {
    struct wick_checkpoint *checkpoint;
    const struct wick_ckpt_tensor *tensor;
    size_t head_dim;
    int rounding;
};

static size_t source_row(const struct checkpoint_rows *c, size_t row)
{
    if (c->head_dim == 0) return row;
    size_t head = row / c->head_dim, p = row % c->head_dim;
    return head * c->head_dim + (p % 2) * (c->head_dim / 2) + p / 2;
}

static void round_to(float *x, size_t n, int dtype)
{
    if (dtype == WICK_DTYPE_BF16)
        for (size_t i = 0; i < n; i++) x[i] = wick_f32_from_bf16(wick_bf16_from_f32(x[i]));
    else if (dtype == WICK_DTYPE_F16)
        for (size_t i = 0; i < n; i++) x[i] = wick_f32_from_f16(wick_f16_from_f32(x[i]));
}

static wick_status read_rows(struct wick_source *source, size_t first, size_t count, float *out, wick_error *err)
{
    const struct checkpoint_rows *c = source->data;
    size_t columns = wick_source_columns(source);
    if (c->head_dim == 0) WICK_TRY(wick_ckpt_read_f32(c->tensor, first * columns, count * columns, out, err));
    else
        for (size_t r = 0; r < count; r++) WICK_TRY(wick_ckpt_read_f32(c->tensor, source_row(c, first + r) * columns, columns, out + r * columns, err));
    round_to(out, count * columns, c->rounding);
    return WICK_OK;
}

static void rows_done(struct wick_source *source)
{
    const struct checkpoint_rows *c = source->data;
    wick_ckpt_tensor_done(c->checkpoint, c->tensor);
}

static wick_status cannot_produce(struct wick_source *source, const struct wick_production *to, wick_error *err)
{
    (void)source;
    (void)to;
    return wick_fail(err, WICK_INTERNAL, "a checkpoint source is written through a cast");
}

static int stored_dtype(const struct wick_ckpt_tensor *tensor)
{
    return tensor->storage == WICK_CKPT_F16 ? WICK_DTYPE_F16 : tensor->storage == WICK_CKPT_BF16 ? WICK_DTYPE_BF16 : WICK_DTYPE_F32;
}

/* A matrix's tensor may have more axes: all but the last are its rows (convolutions, experts). */
static bool has_shape(const struct wick_ckpt_tensor *t, int64_t rows, int64_t columns)
{
    if (!columns) return t->rank == 1 && t->sizes[0] == rows;
    return t->rank >= 2 && t->sizes[t->rank - 1] == columns && t->numel == (uint64_t)rows * (uint64_t)columns;
}

static wick_status check_shape(const struct wick_ckpt_tensor *t, const char *name, int64_t rows, int64_t columns, wick_error *err)
{
    if (has_shape(t, rows, columns)) return WICK_OK;
    char text[96] = "";
    int used = 0;
    for (int i = 0; i < (int)t->rank && used < 80; i++) used += snprintf(text + used, sizeof text - (size_t)used, i ? ", %lld" : "%lld", (long long)t->sizes[i]);
    return columns ? wick_fail(err, WICK_INVALID_CHECKPOINT, "checkpoint: %s is [%s], the model wants [%lld, %lld]", name, text, (long long)rows, (long long)columns)
                   : wick_fail(err, WICK_INVALID_CHECKPOINT, "checkpoint: %s is [%s], the model wants [%lld]", name, text, (long long)rows);
}

/* half: see checkpoint_rows. */
static wick_status source_of(struct wick_weights *w, const struct wick_ckpt_tensor *tensor, const char *text, int64_t rows, int64_t columns, size_t half,
                             struct wick_source **source, wick_error *err)
{
    WICK_TRY(check_shape(tensor, text, rows, columns, err));
    struct checkpoint_rows *c = WICK_NEW(w->arena, struct checkpoint_rows);
    struct wick_source *s = WICK_NEW(w->arena, struct wick_source);
    if (!c || !s) return wick_fail_oom(err, sizeof *s, text);
    *c = (struct checkpoint_rows){w->checkpoint, tensor, half, w->rounding};
    int32_t sizes[2] = {(int32_t)rows, (int32_t)columns};
    *s = (struct wick_source){.shape = wick_shape_make(WICK_DTYPE_F32, columns ? 2 : 1, sizes), .produce = cannot_produce, .rows = read_rows, .done = rows_done,
                              .stored_dtype = w->rounding >= 0 ? w->rounding : stored_dtype(tensor), .data = c};
    *source = s;
    return WICK_OK;
}

/* Whether rows of a head come in another order than the graph's rope wants: Hugging Face's halves for interleaved pairs. */
static bool is_reordered(const struct wick_weights *w, const char *name)
{
    bool turns = strncmp(name, "attention.wq", 12) == 0 || strncmp(name, "attention.wk", 12) == 0;
    return turns && w->naming == WICK_NAMING_HF && !w->hparams->use_hf_rope;
}

wick_status wick_weights_named(struct wick_weights *w, const char *tensor_name, int64_t rows, int64_t columns, struct wick_source **source, wick_error *err)
{
    const struct wick_ckpt_tensor *tensor = wick_checkpoint_find(w->checkpoint, tensor_name);
    if (!tensor) return wick_fail(err, WICK_INVALID_CHECKPOINT, "checkpoint: %s is missing", tensor_name);
    return source_of(w, tensor, tensor_name, rows, columns, 0, source, err);
}

wick_status wick_weights_named_rows(struct wick_weights *w, const char *tensor_name, const char *like, int64_t rows, int64_t columns, struct wick_source **source,
                                    wick_error *err)
{
    const struct wick_ckpt_tensor *tensor = wick_checkpoint_find(w->checkpoint, tensor_name);
    if (!tensor) return wick_fail(err, WICK_INVALID_CHECKPOINT, "checkpoint: %s is missing", tensor_name);
    return source_of(w, tensor, tensor_name, rows, columns, is_reordered(w, like) ? (size_t)w->hparams->head_dim : 0, source, err);
}

/* A part of a tensor that holds several weights, if the checkpoint has such a tensor of the right size. *source stays NULL otherwise. */
static wick_status find_part(struct wick_weights *w, int layer, const char *name, int64_t rows, int64_t columns, struct wick_source **source, wick_error *err)
{
    char text[WICK_WEIGHT_NAME_MAX];
    const char *whole;
    int64_t first, total;
    *source = NULL;
    if (!wick_weight_cut(w, name, rows, &whole, &first, &total)) return WICK_OK;
    if (has_packed(w, layer, whole, text)) {
        WICK_TRY(wick_weights_packed(w, text, total, columns, 0, source, err));
    } else {
        const struct wick_ckpt_tensor *tensor = find_tensor(w, layer, whole, text);
        if (!tensor || !has_shape(tensor, total, columns)) return WICK_OK;
        WICK_TRY(source_of(w, tensor, text, total, columns, 0, source, err));
    }
    *source = wick_source_row_range(w->arena, *source, (size_t)first, (size_t)rows);
    return *source ? WICK_OK : wick_fail_oom(err, sizeof **source, text);
}

wick_status wick_weights_find(struct wick_weights *w, int layer, const char *name, int64_t rows, int64_t columns, struct wick_source **source, wick_error *err)
{
    char text[WICK_WEIGHT_NAME_MAX];
    const size_t half = is_reordered(w, name) ? (size_t)w->hparams->head_dim : 0;
    if (columns > 0 && has_packed(w, layer, name, text)) return wick_weights_packed(w, text, rows, columns, half, source, err);
    const struct wick_ckpt_tensor *tensor = find_tensor(w, layer, name, text);
    if (!tensor && layer < 0 && strcmp(name, "output.weight") == 0) return wick_weights_find(w, -1, "tok_embeddings.weight", rows, columns, source, err);
    if (!tensor || !has_shape(tensor, rows, columns)) {
        WICK_TRY(find_part(w, layer, name, rows, columns, source, err));
        if (*source && half) return wick_fail(err, WICK_NOT_SUPPORTED, "checkpoint: %s inside a joined tensor, with interleaved rope: not supported", text);
        if (*source) return WICK_OK;
    }
    if (!tensor) {
        WICK_TRY(wick_weights_packed(w, text, rows, columns, half, source, err)); /* names a form that is not read */
        return wick_fail(err, WICK_INVALID_CHECKPOINT, "checkpoint: %s is missing", text);
    }
    return source_of(w, tensor, text, rows, columns, half, source, err);
}
