/* export/decoder/build.c - a Llama-type decoder as operator calls: inputs, embedding, layers, head. Next: quantize.c, partition.c. */
#include "export/decoder/parts.h"

#include "export/rotations.h"
#include "graph/derived.h"

#include <math.h>

/* The rows of embedding and head that a pruned vocabulary keeps. */
static struct wick_source *pruned(struct wick_decoder *d, const char *name, struct wick_source *source)
{
    const struct wick_model_build *b = d->b;
    if (b->input_id_count && strcmp(name, "tok_embeddings.weight") == 0) return wick_source_picked(&d->g->arena, source, b->input_ids, (size_t)b->input_id_count);
    if (b->output_id_count && strcmp(name, "output.weight") == 0) return wick_source_picked(&d->g->arena, source, b->output_ids, (size_t)b->output_id_count);
    return source;
}

struct wick_source *wick_decoder_source(struct wick_decoder *d, int layer, const char *name, int64_t rows, int64_t columns)
{
    struct wick_source *source = NULL;
    wick_error err;
    if (d->g->status != WICK_OK) return NULL;
    wick_status status = wick_weights_find(d->b->weights, layer, name, rows, columns, &source, &err);
    if (status == WICK_OK && d->b->rotations) status = wick_rotations_apply(d->b->rotations, d->b->weights, layer, name, &source, &err);
    if (status != WICK_OK) {
        wick_graph_fail(d->g, err.status, "%s", err.message);
        return NULL;
    }
    return source && layer < 0 ? pruned(d, name, source) : source;
}

uint32_t wick_decoder_constant(struct wick_decoder *d, const char *name, struct wick_source *source)
{
    return wick_graph_constant(d->g, name, source ? wick_source_cast(&d->g->arena, source, d->b->dtype) : NULL);
}

uint32_t wick_decoder_weight(struct wick_decoder *d, int layer, const char *name, int64_t rows, int64_t columns)
{
    const char *full = layer >= 0 ? wick_graph_name(d->g, "layers.%d.%s", layer, name) : wick_graph_name(d->g, "%s", name);
    uint32_t given = columns ? wick_decoder_prequantized(d, layer, name, rows, columns) : WICK_NO_VALUE;
    if (given != WICK_NO_VALUE && layer < 0 && (d->b->input_id_count || d->b->output_id_count))
        wick_graph_fail(d->g, WICK_NOT_SUPPORTED, "%s: a pruned vocabulary of a checkpoint that is quantized already: not supported", name);
    if (given != WICK_NO_VALUE) return given;
    return wick_decoder_constant(d, full, wick_decoder_source(d, layer, name, rows, columns));
}

uint32_t wick_decoder_table(struct wick_decoder *d, const char *name, int dtype, int rows, int columns, const void *data)
{
    int32_t sizes[2] = {rows, columns};
    struct wick_shape shape = wick_shape_make(dtype, 2, sizes);
    return wick_graph_constant(d->g, name, wick_source_of_bytes(&d->g->arena, &shape, data));
}

uint32_t wick_decoder_state(struct wick_decoder *d, int layer, const char *name, const struct wick_shape *shape)
{
    return wick_graph_state(d->g, wick_graph_name(d->g, "layers.%d.%s", layer, name), shape);
}

uint32_t wick_decoder_rows(struct wick_decoder *d, uint32_t from, int64_t dim, uint32_t start, uint32_t end)
{
    return wick_graph_call(d->g, "aten::slice_copy.Tensor_out", 5, from, wick_graph_int(d->g, dim), start, end, wick_graph_int(d->g, 1));
}

static uint32_t embed(struct wick_decoder *d)
{
    struct wick_graph *g = d->g;
    wick_graph_scope(g, "tok_embeddings");
    uint32_t table = wick_decoder_weight(d, -1, "tok_embeddings.weight", d->h->vocab_size, d->h->dim);
    uint32_t x = wick_graph_call(g, "aten::embedding.out", 5, table, d->tokens, wick_graph_int(g, -1), wick_graph_bool(g, false), wick_graph_bool(g, false));
    return d->h->embedding_scale_factor == 1 ? x : wick_graph_call(g, "aten::mul.Scalar_out", 2, x, wick_graph_double(g, d->h->embedding_scale_factor));
}

/* Logits of kept ids (.., n) at their places of the whole vocabulary, -inf elsewhere. */
static uint32_t scattered(struct wick_decoder *d, uint32_t logits)
{
    struct wick_graph *g = d->g;
    int32_t count = d->b->output_id_count;
    int64_t *ids = WICK_NEW_ARRAY(&g->arena, int64_t, (size_t)count);
    struct wick_shape shape = wick_shape_make(WICK_DTYPE_I64, 1, &count);
    for (int32_t i = 0; ids && i < count; i++) ids[i] = d->b->output_ids[i];
    uint32_t where[3] = {WICK_NO_VALUE, WICK_NO_VALUE, WICK_NO_VALUE}, sizes[3] = {wick_graph_int(g, 1), d->length, WICK_NO_VALUE}, rank = d->b->full_logits ? 3 : 2;
    sizes[rank - 1] = wick_graph_int(g, d->h->vocab_size);
    where[rank - 1] = wick_graph_constant(g, "output.ids", ids ? wick_source_of_bytes(&g->arena, &shape, ids) : NULL);
    uint32_t none = wick_graph_call(g, "aten::full.out", 2, wick_graph_int_list(g, sizes, rank), wick_graph_double(g, -INFINITY));
    uint32_t all = wick_graph_call(g, "aten::index_put.out", 4, none, wick_graph_optional_tensors(g, where, rank), wick_decoder_wide(d, logits), wick_graph_bool(g, false));
    return wick_decoder_cast(d, all, d->b->dtype);
}

/* The head over the last position, or over all. */
static uint32_t head(struct wick_decoder *d, uint32_t x)
{
    struct wick_graph *g = d->g;
    wick_graph_scope(g, "output");
    if (!d->b->full_logits) x = wick_graph_call(g, "aten::select_copy.int_out", 3, x, wick_graph_int(g, 1), wick_graph_int(g, -1));
    x = wick_decoder_norm(d, -1, "norm", x, d->h->dim);
    x = wick_decoder_linear(d, -1, "output", x, d->h->vocab_size, d->h->dim, false);
    if (d->h->logits_scaling > 0) x = wick_graph_call(g, "aten::mul.Scalar_out", 2, x, wick_graph_double(g, 1 / d->h->logits_scaling));
    if (d->h->final_logit_softcapping > 0) x = wick_decoder_softcap(d, x, d->h->final_logit_softcapping);
    return d->b->output_id_count ? scattered(d, x) : x;
}

wick_status wick_decoder_build(struct wick_graph *g, const struct wick_model_build *build)
{
    struct wick_decoder d = {.g = g, .b = build, .h = build->hparams, .input_pos = WICK_NO_VALUE};
    int32_t sizes[2] = {1, build->tokens};
    struct wick_shape shape = wick_shape_make(WICK_DTYPE_I64, 2, sizes);
    d.tokens = wick_graph_input(g, "tokens", &shape);
    wick_decoder_check_prequantized(&d);
    wick_decoder_positions(&d);
    uint32_t x = embed(&d);
    for (int layer = 0; layer < (int)d.h->n_layers && g->status == WICK_OK; layer++) x = wick_decoder_layer(&d, layer, x);
    wick_graph_output(g, head(&d, x));
    return wick_graph_status(g, build->err);
}
