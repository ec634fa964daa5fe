/* export/quantize.c - which weights are quantized, and how. The numbers are graph/quantized.c's.
 * Next: partition.c. */
#include "export/stages.h"

#include "graph/irops.h"
#include "graph/quantized.h"

#include <stdlib.h>
#include <strings.h>

static struct wick_source *weight_of(const struct wick_graph *g, uint32_t id)
{
    return g->info[id].origin == WICK_ORIGIN_CONSTANT ? g->info[id].source : NULL;
}

/* ---- linears ---- */

/* How linears are quantized. */
struct linear_mode {
    struct wick_quant_spec spec;
    bool weight_only; /* activations stay as they are */
};

/* mode NULL: the checkpoint holds the weight quantized. */
static wick_status quantize_linear(struct wick_graph *g, struct wick_graph_node *node, const struct linear_mode *mode, wick_error *err)
{
    uint32_t weight = node->ids[1];
    struct wick_quantized *q = g->info[weight].quantized;
    if (mode) WICK_TRY(wick_quantized_make(&q, &g->arena, weight_of(g, weight), &mode->spec, err));
    uint32_t packed = wick_graph_constant(g, g->info[weight].name, wick_quantized_values(q, &g->arena, WICK_PACK_INT8));
    WICK_TRY(wick_graph_status(g, err));
    g->info[packed].quantized = q;
    /* (x, weight, bias, out) becomes (x, packed, bias, out). */
    node->op = mode && mode->weight_only ? &wick_ir_weight_linear : &wick_ir_dynamic_linear;
    node->ids[1] = packed;
    return WICK_OK;
}

/* Adapters stay float, as in the original. */
static bool is_of_adapter(const struct wick_graph *g, uint32_t weight)
{
    const char *name = g->info[weight].name;
    return name && (strstr(name, ".lora_a.weight") || strstr(name, ".lora_b.weight"));
}

static wick_status quantize_linears(struct wick_graph *g, const struct linear_mode *mode, struct wick_quantize_report *report, wick_error *err)
{
    for (uint32_t n = 0; n < g->node_count; n++) {
        struct wick_graph_node *node = &g->nodes[n];
        if (!node->op || strcmp(node->op->name, "aten::linear.out") != 0) continue;
        const struct wick_source *weight = weight_of(g, node->ids[1]);
        bool plain = weight && weight->rows;
        if (is_of_adapter(g, node->ids[1])) continue;
        report->linears++;
        if (!plain || (mode->spec.group && wick_source_columns(weight) % (size_t)mode->spec.group)) {
            if (!report->left_name) report->left_name = g->info[node->ids[1]].name;
            continue;
        }
        WICK_TRY(quantize_linear(g, node, mode, err));
        report->quantized++;
    }
    return WICK_OK;
}

/* ---- embeddings ---- */

static wick_status parse_embedding(const char *text, struct wick_quant_spec *spec, wick_error *err)
{
    char *end;
    long bits = strtol(text, &end, 10), group = 0;
    if (strncmp(text, "torchao:", 8) == 0)
        return wick_fail(err, WICK_NOT_SUPPORTED, "quantization.embedding_quantize=%s: torchao embeddings: not supported", text);
    if (*end == ',' && (strcasecmp(end + 1, "none") == 0)) end += 5;
    else if (*end == ',') group = strtol(end + 1, &end, 10);
    else end = (char *)(uintptr_t) "?";
    if (*end || (bits != 2 && bits != 4 && bits != 8) || group < 0 || group > 1 << 20)
        return wick_fail(err, WICK_INVALID_CONFIG, "quantization.embedding_quantize: '%s' is not BITS,GROUP with 2, 4 or 8 bits", text);
    spec->bits = (int)bits;
    spec->group = (int)group;
    return WICK_OK;
}

/* (weight, indices, padding_idx, scale_grad, sparse, out) becomes
 * embedding_{byte,2bit,4bit}.dtype_out(weight, scales, zero_points, qmin, qmax, indices, dtype, out). */
static wick_status quantize_embedding(struct wick_graph *g, struct wick_graph_node *node, struct wick_quantized *q, wick_error *err)
{
    static const struct {
        int bits;
        const char *op;
        enum wick_packing packing;
    } kinds[] = {{8, "quantized_decomposed::embedding_byte.dtype_out", WICK_PACK_INT8},
                 {4, "quantized_decomposed::embedding_4bit.dtype_out", WICK_PACK_HIGH_NIBBLE},
                 {2, "quantized_decomposed::embedding_2bit.dtype_out", WICK_PACK_CRUMBS}};
    int bits = wick_quantized_bits(q), kind = bits == 8 ? 0 : bits == 4 ? 1 : 2;
    const uint32_t table = node->ids[0], indices = node->ids[1], out = node->ids[5];
    const struct wick_opmeta *op = wick_graph_find_op(g, kinds[kind].op);
    const char *scales_name = wick_graph_name(g, "%s.scales", g->info[table].name);
    uint32_t *ids = WICK_NEW_ARRAY(&g->arena, uint32_t, 8);
    if (!ids) return wick_fail_oom(err, 8 * sizeof *ids, "graph");
    ids[0] = wick_graph_constant(g, g->info[table].name, wick_quantized_values(q, &g->arena, kinds[kind].packing));
    ids[1] = wick_graph_constant(g, scales_name, wick_quantized_scales(q, &g->arena, WICK_DTYPE_F32, true));
    ids[2] = wick_graph_none(g);
    ids[3] = wick_graph_int(g, -(1 << (bits - 1)));
    ids[4] = wick_graph_int(g, (1 << (bits - 1)) - 1);
    ids[5] = indices;
    ids[6] = wick_graph_int(g, wick_graph_shape(g, out)->dtype);
    ids[7] = out;
    node->op = op;
    node->ids = ids;
    node->n_inputs = 7;
    node->count = 8;
    return wick_graph_status(g, err);
}

static wick_status quantize_embeddings(struct wick_graph *g, const struct wick_quant_spec *spec, struct wick_quantize_report *report, wick_error *err)
{
    uint32_t count = g->node_count;
    for (uint32_t n = 0; n < count; n++) {
        struct wick_graph_node *node = &g->nodes[n];
        if (!node->op || strcmp(node->op->name, "aten::embedding.out") != 0) continue;
        const struct wick_source *table = weight_of(g, node->ids[0]);
        if (!table || !table->rows) continue;
        struct wick_quantized *q;
        WICK_TRY(wick_quantized_make(&q, &g->arena, weight_of(g, node->ids[0]), spec, err));
        WICK_TRY(quantize_embedding(g, node, q, err));
        report->embeddings++;
    }
    return WICK_OK;
}

/* Weights that the checkpoint holds quantized stay as they are. */
static wick_status keep_given(struct wick_graph *g, struct wick_quantize_report *report, wick_error *err)
{
    uint32_t count = g->node_count;
    for (uint32_t n = 0; n < count; n++) {
        struct wick_graph_node *node = &g->nodes[n];
        if (node->op && strcmp(node->op->name, "aten::linear.out") == 0 && g->info[node->ids[1]].quantized) {
            WICK_TRY(quantize_linear(g, node, NULL, err));
            report->linears++;
            report->quantized++;
        } else if (node->op && strcmp(node->op->name, "aten::embedding.out") == 0 && g->info[node->ids[0]].quantized) {
            WICK_TRY(quantize_embedding(g, node, g->info[node->ids[0]].quantized, err));
            report->embeddings++;
        }
    }
    return WICK_OK;
}

/* What quantization.qmode or quantization.pt2e_quantize asks for; false: nothing. Groups are 128 columns (8da4w) or 256 (4w) unless given. */
static bool linear_mode_of(const struct wick_config *config, struct linear_mode *mode)
{
    const char *qmode = wick_config_text(config, WICK_KEY_QUANTIZATION_QMODE), *pt2e = wick_config_text(config, WICK_KEY_QUANTIZATION_PT2E_QUANTIZE);
    bool hqq = wick_config_bool(config, WICK_KEY_QUANTIZATION_USE_HQQ);
    if (pt2e) {
        *mode = (struct linear_mode){.spec = {.bits = strstr(pt2e, "_qc4") ? 4 : 8, .rule = WICK_QUANT_OBSERVED}};
        return true;
    }
    if (!qmode) return false;
    if (strcmp(qmode, "int8") == 0) {
        *mode = (struct linear_mode){.spec = {.bits = 8, .rule = WICK_QUANT_WEIGHT_ONLY}, .weight_only = true};
        return true;
    }
    *mode = (struct linear_mode){.spec = {.bits = 4, .group = 128, .hqq = hqq}, .weight_only = strcmp(qmode, "4w") == 0};
    if (mode->weight_only) mode->spec.group = 256;
    if (!config->values[WICK_KEY_QUANTIZATION_GROUP_SIZE].null) mode->spec.group = (int)wick_config_int(config, WICK_KEY_QUANTIZATION_GROUP_SIZE);
    return true;
}

wick_status wick_stage_quantize(struct wick_graph *g, const struct wick_config *config, struct wick_quantize_report *report, wick_error *err)
{
    *report = (struct wick_quantize_report){0};
    const char *embedding = wick_config_text(config, WICK_KEY_QUANTIZATION_EMBEDDING_QUANTIZE);
    struct linear_mode mode;
    WICK_TRY(keep_given(g, report, err));
    if (embedding) {
        struct wick_quant_spec spec = {.bits = 4, .hqq = wick_config_bool(config, WICK_KEY_QUANTIZATION_USE_HQQ)};
        WICK_TRY(parse_embedding(embedding, &spec, err));
        WICK_TRY(quantize_embeddings(g, &spec, report, err));
    }
    return linear_mode_of(config, &mode) ? quantize_linears(g, &mode, report, err) : WICK_OK;
}
