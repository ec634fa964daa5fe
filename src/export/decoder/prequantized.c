/* export/decoder/prequantized.c - checkpoints of quantized weights, as quantization-aware training and SpinQuant leave them: beside the integers
 * "<name>.weight" stand "<name>.scales", one a group or a row, "<name>.zeros", and after training with adapters "<name>.adaptor.{A,B}.weight". The
 * names are Meta's. Next: quantize.c, which keeps what is quantized already. */
#include "export/decoder/parts.h"

#include "graph/quantized.h"

#include <stdio.h>

enum { NAME_MAX_SIZE = 128 };

/* The factor that such adapters were trained with. */
static const float adapter_scale = 2.0f;

static bool has_adapters(const struct wick_checkpoint *checkpoint)
{
    for (size_t i = 0; i < wick_checkpoint_count(checkpoint); i++)
        if (strstr(wick_checkpoint_tensor(checkpoint, i)->name, ".adaptor.A.weight")) return true;
    return false;
}

void wick_decoder_check_prequantized(struct wick_decoder *d)
{
    const struct wick_prequantized *p = &d->b->prequantized;
    const struct wick_hparams *h = d->h;
    if (!p->on && h->quantized_group)
        wick_graph_fail(d->g, WICK_INVALID_CONFIG,
                        "the parameters say quantization_args: the checkpoint is quantized already; name its form in base.preq_mode");
    else if (p->on && d->b->weights->naming != WICK_NAMING_META)
        wick_graph_fail(d->g, WICK_NOT_SUPPORTED, "base.preq_mode with a checkpoint that has not Meta's names: not supported");
    else if (p->on && h->quantized_group && h->quantized_group != p->group)
        wick_graph_fail(d->g, WICK_INVALID_CONFIG, "base.preq_group_size is %d, but the parameters say quantization_args.group_size %lld", p->group,
                        (long long)h->quantized_group);
    else if (p->adapter_rank && h->adapter_rank && h->adapter_rank != p->adapter_rank)
        wick_graph_fail(d->g, WICK_INVALID_CONFIG, "base.use_lora is %d, but the parameters say lora_args.rank %lld", p->adapter_rank,
                        (long long)h->adapter_rank);
    else if (p->adapter_rank && !has_adapters(d->b->weights->checkpoint))
        wick_graph_fail(d->g, WICK_INVALID_CONFIG, "base.use_lora is %d, but the checkpoint has no adaptor.A.weight", p->adapter_rank);
}

/* "layers.N.<stem><end>" */
static const struct wick_ckpt_tensor *find(const struct wick_decoder *d, int layer, int stem_size, const char *stem, const char *end,
                                           char text[NAME_MAX_SIZE])
{
    if (layer >= 0) snprintf(text, NAME_MAX_SIZE, "layers.%d.%.*s%s", layer, stem_size, stem, end);
    else snprintf(text, NAME_MAX_SIZE, "%.*s%s", stem_size, stem, end);
    return wick_checkpoint_find(d->b->weights->checkpoint, text);
}

static struct wick_source *fail(struct wick_decoder *d, const wick_error *err)
{
    wick_graph_fail(d->g, err->status, "%s", err->message);
    return NULL;
}

/* rows * groups numbers, whatever axes of size 1 they come with: (rows), (rows, 1), (rows, groups). */
static struct wick_source *per_group(struct wick_decoder *d, const struct wick_ckpt_tensor *t, int64_t rows, int64_t groups)
{
    struct wick_source *source;
    wick_error err;
    bool vector = groups == 1 && t->rank == 1;
    return wick_weights_named(d->b->weights, t->name, rows, vector ? 0 : groups, &source, &err) == WICK_OK ? source : fail(d, &err);
}

static struct wick_quant_spec spec_of(const struct wick_prequantized *p, const char *stem, int stem_size)
{
    if (strncmp(stem, "tok_embeddings", (size_t)stem_size) == 0)
        return (struct wick_quant_spec){.bits = p->embedding_bits, .group = p->embedding_group};
    if (p->head_8bit && strncmp(stem, "output", (size_t)stem_size) == 0) return (struct wick_quant_spec){.bits = 8};
    return (struct wick_quant_spec){.bits = 4, .group = p->group};
}

uint32_t wick_decoder_prequantized(struct wick_decoder *d, int layer, const char *name, int64_t rows, int64_t columns)
{
    const char *end = strstr(name, ".weight");
    char text[NAME_MAX_SIZE];
    if (!end || d->g->status != WICK_OK) return WICK_NO_VALUE;
    int stem = (int)(end - name);
    const struct wick_ckpt_tensor *scales = find(d, layer, stem, name, ".scales", text), *zeros = find(d, layer, stem, name, ".zeros", text);
    const struct wick_ckpt_tensor *values = find(d, layer, stem, name, ".weight", text);
    if (!values || (values->storage != WICK_CKPT_I8 && !(d->b->prequantized.on && scales))) return WICK_NO_VALUE;
    if (values->storage != WICK_CKPT_I8 || !scales || !d->b->prequantized.on) {
        wick_graph_fail(d->g, WICK_INVALID_CHECKPOINT, "checkpoint: %s is %s and %s scales beside it%s", text,
                        wick_ckpt_storage_name(values->storage), scales ? "has" : "has no",
                        d->b->prequantized.on ? "" : "; a checkpoint that is quantized already needs base.preq_mode");
        return WICK_NO_VALUE;
    }
    struct wick_quant_spec spec = spec_of(&d->b->prequantized, name, stem);
    int64_t groups = spec.group ? columns / spec.group : 1;
    struct wick_source *inner, *scale_source, *zero_source = NULL;
    struct wick_quantized *q;
    wick_error err;
    const char *full = wick_graph_name(d->g, "%s", text);
    if (wick_weights_named(d->b->weights, text, rows, columns, &inner, &err) != WICK_OK) return fail(d, &err), WICK_NO_VALUE;
    scale_source = per_group(d, scales, rows, groups);
    if (zeros) zero_source = per_group(d, zeros, rows, groups);
    if (d->g->status != WICK_OK) return WICK_NO_VALUE;
    if (wick_quantized_given(&q, &d->g->arena, inner, scale_source, zero_source, &spec, full, &err) != WICK_OK) return fail(d, &err), WICK_NO_VALUE;
    uint32_t id = wick_decoder_constant(d, full, wick_quantized_floats(q, &d->g->arena));
    if (id != WICK_NO_VALUE) d->g->info[id].quantized = q;
    return id;
}

/* One half of the adapter that the checkpoint holds beside a linear; NULL: there is none, or a failure. */
static struct wick_source *half_of_adapter(struct wick_decoder *d, int layer, const char *name, const char *end, int64_t rows, int64_t columns,
                                           const char **full)
{
    char text[NAME_MAX_SIZE];
    const struct wick_ckpt_tensor *t = find(d, layer, (int)strlen(name), name, end, text);
    struct wick_source *source;
    wick_error err;
    if (!t) return NULL;
    *full = t->name;
    return wick_weights_named(d->b->weights, t->name, rows, columns, &source, &err) == WICK_OK ? source : fail(d, &err);
}

uint32_t wick_decoder_trained_adapter(struct wick_decoder *d, int layer, const char *name, uint32_t x, uint32_t y, int64_t rows, int64_t columns)
{
    int64_t rank = d->b->prequantized.adapter_rank;
    const char *names[2];
    if (rank == 0 || d->g->status != WICK_OK) return y;
    struct wick_source *low = half_of_adapter(d, layer, name, ".adaptor.A.weight", rank, columns, &names[0]);
    struct wick_source *high = half_of_adapter(d, layer, name, ".adaptor.B.weight", rows, rank, &names[1]);
    return low && high ? wick_decoder_low_rank(d, x, y, low, high, names, adapter_scale) : y;
}
