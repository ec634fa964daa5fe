/* export/describe.c - numbering: values, operators, delegates, constants and segments of the file. Next: emit.c. */
#include "export/describe.h"

#include "base/checked.h"
#include "export/shared.h"
#include "pte/write.h"

#include <stdlib.h>

struct describer {
    struct wick_description *d;
    struct wick_shared *shared;
    uint32_t method;
    struct wick_graph *g;
    const struct wick_memory_plan *plan;
    struct wick_arena *arena;
    int32_t *index; /* graph value -> file value, -1: not in the file */
    struct wick_pte_value *values;
    uint32_t value_count;
    struct wick_pte_operator *operators;
    const struct wick_opmeta **metas; /* of operators */
    uint32_t operator_count;
};

static wick_status no_memory(wick_error *err) { return wick_fail_oom(err, 0, "describing the program"); }

/* ---- values ---- */

static void mark(const struct wick_graph *g, int32_t *index, uint32_t id)
{
    const struct wick_value *v = &g->values[id];
    index[id] = 0;
    if (v->tag < WICK_TAG_INT_LIST) return;
    for (uint32_t i = 0; i < v->as.list.count; i++)
        if (v->as.list.indices[i] >= 0) index[v->as.list.indices[i]] = 0;
}

static void mark_used(struct describer *x)
{
    const struct wick_graph *g = x->g;
    for (uint32_t i = 0; i < g->value_count; i++) x->index[i] = -1;
    for (uint32_t n = 0; n < g->node_count; n++)
        for (uint32_t k = 0; !g->nodes[n].dead && k < g->nodes[n].count; k++) mark(g, x->index, g->nodes[n].ids[k]);
    for (uint32_t i = 0; i < g->input_count; i++) mark(g, x->index, g->inputs[i]);
    for (uint32_t i = 0; i < g->output_count; i++) mark(g, x->index, g->outputs[i]);
}

/* In a file of its own, where an earlier method has it, or as a new constant of the program. */
static wick_status place_constant(struct describer *x, const struct wick_graph_value *info, struct wick_pte_tensor_value *tensor, wick_error *err)
{
    struct wick_external_file *file = wick_external_choose(x->d->external, info->name, info->source);
    struct wick_shared_entry entry = {.method = x->method, .name = info->name, .source = info->source};
    const struct wick_shared_entry *first = wick_shared_find(x->shared, &entry);
    if (first) {
        entry.source = first->source;
        entry.index = first->index;
    }
    if (file) {
        WICK_TRY(wick_external_add(file, x->arena, entry.source, info->name, NULL, err));
        tensor->extra = true;
        tensor->name = wick_str_of(info->name);
        tensor->location = PTE_TENSOR_LOCATION_EXTERNAL;
    } else {
        if (!first) {
            entry.index = ++x->d->constant_count;
            x->d->constants[entry.index - 1] = info->source;
        }
        tensor->data_index = entry.index;
    }
    return wick_shared_add(x->shared, &entry, err);
}

static wick_status describe_tensor(struct describer *x, uint32_t id, struct wick_pte_value *out, wick_error *err)
{
    const struct wick_graph_value *info = &x->g->info[id];
    const struct wick_tensor *t = x->g->values[id].as.tensor;
    struct wick_pte_tensor_value *tensor = WICK_NEW(x->arena, struct wick_pte_tensor_value);
    if (!tensor) return no_memory(err);
    *tensor = (struct wick_pte_tensor_value){.shape = t->shape, .dynamism = t->dynamism};
    if (info->origin == WICK_ORIGIN_CONSTANT) {
        WICK_TRY(place_constant(x, info, tensor, err));
    } else if (x->plan->offsets[id] != WICK_NO_OFFSET) {
        tensor->planned = true;
        tensor->memory_id = info->origin == WICK_ORIGIN_STATE && x->plan->apart_bytes ? 2 : 1;
        tensor->memory_offset = x->plan->offsets[id];
    }
    if (info->origin == WICK_ORIGIN_STATE) {
        tensor->extra = true;
        tensor->name = wick_str_of(info->name);
    }
    *out = (struct wick_pte_value){.kind = PTE_KIND_TENSOR, .as.tensor = tensor};
    return WICK_OK;
}

static wick_status describe_list(struct describer *x, const struct wick_value *v, struct wick_pte_value *out, wick_error *err)
{
    uint32_t n = v->as.list.count;
    bool ints = v->tag == WICK_TAG_INT_LIST;
    int64_t *wide = ints ? WICK_NEW_ARRAY(x->arena, int64_t, n) : NULL;
    int32_t *narrow = ints ? NULL : WICK_NEW_ARRAY(x->arena, int32_t, n);
    if (!wide && !narrow) return no_memory(err);
    for (uint32_t i = 0; i < n; i++) {
        int32_t item = v->as.list.indices[i] < 0 ? -1 : x->index[v->as.list.indices[i]];
        if (ints) wide[i] = item;
        else narrow[i] = item;
    }
    out->kind = ints ? PTE_KIND_INT_LIST : v->tag == WICK_TAG_TENSOR_LIST ? PTE_KIND_TENSOR_LIST : PTE_KIND_OPTIONAL_TENSOR_LIST;
    out->as.list.items = ints ? (const void *)wide : (const void *)narrow;
    out->as.list.count = n;
    return WICK_OK;
}

static wick_status describe_value(struct describer *x, uint32_t id, struct wick_pte_value *out, wick_error *err)
{
    const struct wick_value *v = &x->g->values[id];
    switch (v->tag) {
    case WICK_TAG_NONE: *out = (struct wick_pte_value){.kind = PTE_KIND_NIL}; return WICK_OK;
    /* A number that is computed starts as 0, as the original's placeholders do. */
    case WICK_TAG_INT:
        *out = (struct wick_pte_value){.kind = PTE_KIND_INT, .as.i = x->g->info[id].origin == WICK_ORIGIN_COMPUTED ? 0 : v->as.i};
        return WICK_OK;
    case WICK_TAG_BOOL: *out = (struct wick_pte_value){.kind = PTE_KIND_BOOLEAN, .as.b = v->as.b}; return WICK_OK;
    case WICK_TAG_DOUBLE: *out = (struct wick_pte_value){.kind = PTE_KIND_DOUBLE, .as.d = v->as.d}; return WICK_OK;
    case WICK_TAG_STRING: *out = (struct wick_pte_value){.kind = PTE_KIND_STRING, .as.string = v->as.string}; return WICK_OK;
    case WICK_TAG_TENSOR: return describe_tensor(x, id, out, err);
    case WICK_TAG_INT_LIST:
    case WICK_TAG_TENSOR_LIST:
    case WICK_TAG_OPTIONAL_TENSOR_LIST: return describe_list(x, v, out, err);
    default: return wick_fail(err, WICK_INTERNAL, "value %u has a kind that no program holds", id);
    }
}

static wick_status describe_values(struct describer *x, wick_error *err)
{
    const struct wick_graph *g = x->g;
    uint32_t n = g->value_count;
    x->index = WICK_NEW_ARRAY(x->arena, int32_t, n + 1);
    /* Calls with several outs add a list of them each. */
    x->values = WICK_NEW_ARRAY(x->arena, struct wick_pte_value, (size_t)n + g->node_count + 1);
    if (!x->index || !x->values) return no_memory(err);
    mark_used(x);
    /* Items of a list have lower ids than the list, so they are numbered when it is met. */
    for (uint32_t i = 0; i < n; i++) {
        if (x->index[i] < 0) continue;
        x->index[i] = (int32_t)x->value_count;
        WICK_TRY(describe_value(x, i, &x->values[x->value_count], err));
        x->value_count++;
    }
    return WICK_OK;
}

/* ---- instructions ---- */

static uint32_t operator_index(struct describer *x, const struct wick_opmeta *meta)
{
    for (uint32_t i = 0; i < x->operator_count; i++)
        if (x->metas[i] == meta) return i;
    /* "aten::add.out" is name "aten::add", overload "out". */
    const char *colon = strrchr(meta->name, ':'), *dot = strchr(colon ? colon : meta->name, '.');
    struct wick_str whole = wick_str_of(meta->name);
    size_t size = dot ? (size_t)(dot - meta->name) : whole.size;
    x->operators[x->operator_count] = (struct wick_pte_operator){{whole.data, size}, dot ? wick_str_of(dot + 1) : (struct wick_str){"", 0}};
    x->metas[x->operator_count] = meta;
    return x->operator_count++;
}

/* The value that the file names once more at the end of a call; -1: none. */
static wick_status return_argument(struct describer *x, const struct wick_graph_node *node, int32_t *value, wick_error *err)
{
    const char *outs = strchr(node->op->signature, '>') + 1;
    uint32_t count = node->count - node->n_inputs;
    bool prim = strncmp(node->op->name, "executorch_prim::", 17) == 0;
    *value = -1;
    if (prim || *outs == 'V') return WICK_OK;
    if (count <= 1) {
        *value = x->index[node->ids[count == 1 ? node->n_inputs : 0]]; /* in-place operators return self */
        return WICK_OK;
    }
    int32_t *items = WICK_NEW_ARRAY(x->arena, int32_t, count);
    if (!items) return no_memory(err);
    for (uint32_t i = 0; i < count; i++) items[i] = x->index[node->ids[node->n_inputs + i]];
    x->values[x->value_count] = (struct wick_pte_value){.kind = PTE_KIND_TENSOR_LIST, .as.list = {.indices = items, .count = count}};
    *value = (int32_t)x->value_count++;
    return WICK_OK;
}

static wick_status describe_calls(struct describer *x, struct wick_pte_chain *chain, wick_error *err)
{
    const struct wick_graph *g = x->g;
    struct wick_pte_instruction *list = WICK_NEW_ARRAY(x->arena, struct wick_pte_instruction, g->node_count + 1);
    x->operators = WICK_NEW_ARRAY(x->arena, struct wick_pte_operator, g->node_count + 1);
    x->metas = (const struct wick_opmeta **)WICK_NEW_ARRAY(x->arena, void *, g->node_count + 1);
    if (!list || !x->operators || !x->metas) return no_memory(err);
    uint32_t count = 0;
    for (uint32_t n = 0; n < g->node_count; n++) {
        const struct wick_graph_node *node = &g->nodes[n];
        if (node->dead) continue;
        int32_t *args = WICK_NEW_ARRAY(x->arena, int32_t, node->count + 1), last = -1;
        if (!args) return no_memory(err);
        for (uint32_t k = 0; k < node->count; k++) args[k] = x->index[node->ids[k]];
        if (node->op) WICK_TRY(return_argument(x, node, &last, err));
        uint32_t arg_count = node->count;
        if (last >= 0) args[arg_count++] = last;
        list[count++] = (struct wick_pte_instruction){.type = node->op ? PTE_INSTR_KERNEL_CALL : PTE_INSTR_DELEGATE_CALL,
                                                      .index = (int32_t)(node->op ? operator_index(x, node->op) : node->delegate),
                                                      .args = {args, arg_count}};
    }
    *chain = (struct wick_pte_chain){.inputs = {x->index, 0}, .outputs = {x->index, 0}, .instructions = list, .instruction_count = count};
    x->d->call_count += count;
    return WICK_OK;
}

/* ---- constants, payloads, named data ---- */

static wick_status describe_constants(struct wick_description *d, struct wick_arena *arena, wick_error *err)
{
    d->constant_offsets = WICK_NEW_ARRAY(arena, uint64_t, d->constant_count + 1);
    if (!d->constant_offsets) return no_memory(err);
    uint64_t at = 0;
    for (uint32_t i = 0; i < d->constant_count; i++) {
        at = wick_align_up(at, WICK_PTE_CONSTANT_ALIGNMENT);
        d->constant_offsets[i + 1] = at;
        at += wick_shape_nbytes(&d->constants[i]->shape);
    }
    d->segments[0].size = at;
    d->program.has_constant_segment = true;
    d->program.constant_segment = (struct wick_pte_subsegments){0, d->constant_offsets, d->constant_count + 1};
    return WICK_OK;
}

/* A blob of a payload: of an earlier method, in a file of its own, or a segment of the program. */
static wick_status describe_blob(struct describer *x, struct wick_named_constant *blob, wick_error *err)
{
    struct wick_description *d = x->d;
    struct wick_shared_entry entry = {.method = x->method, .name = blob->name, .prefix = blob->prefix, .source = blob->source, .blob = blob};
    const struct wick_shared_entry *first = wick_shared_find(x->shared, &entry);
    if (first) {
        entry.blob = first->blob;
        entry.source = first->source;
        blob->same = first->blob;
        return wick_shared_add(x->shared, &entry, err);
    }
    WICK_TRY(wick_shared_add(x->shared, &entry, err));
    struct wick_external_file *file = wick_external_choose(d->external, blob->name, blob->source);
    if (file) return wick_external_add(file, x->arena, blob->source, NULL, blob, err);
    uint32_t n = d->blob_count++, segment = d->named_first + n;
    d->blobs[n] = blob;
    d->named[n] = (struct wick_pte_named){wick_str_of(blob->key), segment};
    d->segments[segment].size = wick_shape_nbytes(&blob->source->shape);
    d->alignments[segment] = WICK_PTE_CONSTANT_ALIGNMENT;
    return WICK_OK;
}

/* first: the segment of its first payload. */
static wick_status describe_delegates(struct describer *x, uint32_t first, struct wick_pte_plan *plan, wick_error *err)
{
    struct wick_description *d = x->d;
    const struct wick_graph *g = x->g;
    struct wick_pte_delegate *delegates = WICK_NEW_ARRAY(x->arena, struct wick_pte_delegate, g->delegate_count + 1);
    if (!delegates) return no_memory(err);
    for (uint32_t i = 0; i < g->delegate_count; i++) {
        struct wick_buf payload = {0};
        wick_status status = g->delegates[i].render(g->delegates[i].data, &payload, err);
        d->segments[first + i].size = payload.size;
        wick_buf_free(&payload);
        WICK_TRY(status);
        delegates[i] = (struct wick_pte_delegate){.id = wick_str_of(g->delegates[i].backend),
                                                  .location = PTE_DATA_LOCATION_SEGMENT,
                                                  .index = first + i,
                                                  .specs = (const struct wick_pte_compile_spec *)delegates};
        for (uint32_t k = 0; k < g->delegates[i].constant_count; k++) WICK_TRY(describe_blob(x, &g->delegates[i].constants[k], err));
    }
    plan->delegates = delegates;
    plan->delegate_count = g->delegate_count;
    return WICK_OK;
}

/* Room for what the methods may have at most; blobs that they share or that go to other files leave theirs empty. */
static wick_status reserve(struct wick_description *d, struct wick_arena *arena, wick_error *err)
{
    uint32_t blobs = 0, payloads = 0, values = 0;
    for (uint32_t m = 0; m < d->methods->count; m++) {
        const struct wick_graph *g = &d->methods->list[m].graph;
        payloads += g->delegate_count;
        values += g->value_count;
        for (uint32_t i = 0; i < g->delegate_count; i++) blobs += g->delegates[i].constant_count;
    }
    d->payload_first = 1;
    d->named_first = 1 + payloads;
    d->segments = WICK_NEW_ARRAY(arena, struct wick_pte_segment, d->named_first + blobs);
    d->alignments = WICK_NEW_ARRAY(arena, uint32_t, d->named_first + blobs);
    d->blobs = (struct wick_named_constant **)WICK_NEW_ARRAY(arena, void *, blobs + 1);
    d->named = WICK_NEW_ARRAY(arena, struct wick_pte_named, blobs + 1);
    d->constants = WICK_NEW_ARRAY(arena, struct wick_source *, values + 1);
    return d->segments && d->alignments && d->blobs && d->named && d->constants ? WICK_OK : no_memory(err);
}

static wick_status map_ids(struct describer *x, const uint32_t *ids, uint32_t count, struct wick_pte_ints *out, wick_error *err)
{
    int32_t *items = WICK_NEW_ARRAY(x->arena, int32_t, count + 1);
    if (!items) return no_memory(err);
    for (uint32_t i = 0; i < count; i++) items[i] = x->index[ids[i]];
    *out = (struct wick_pte_ints){items, count};
    return WICK_OK;
}

static wick_status describe_method(struct describer *x, const char *name, uint32_t payload, struct wick_pte_plan *out, wick_error *err)
{
    struct wick_pte_chain *chain = WICK_NEW(x->arena, struct wick_pte_chain);
    int64_t *sizes = WICK_NEW_ARRAY(x->arena, int64_t, 3);
    if (!chain || !sizes) return no_memory(err);
    WICK_TRY(describe_values(x, err));
    WICK_TRY(describe_calls(x, chain, err));
    *out = (struct wick_pte_plan){.name = wick_str_of(name), .chains = chain, .chain_count = 1};
    WICK_TRY(describe_delegates(x, payload, out, err));
    WICK_TRY(map_ids(x, x->g->inputs, x->g->input_count, &out->inputs, err));
    WICK_TRY(map_ids(x, x->g->outputs, x->g->output_count, &out->outputs, err));
    sizes[1] = (int64_t)x->plan->bytes;
    sizes[2] = (int64_t)x->plan->apart_bytes;
    out->buffer_sizes = sizes;
    out->buffer_count = x->plan->apart_bytes ? 3 : 2;
    out->values = x->values;
    out->value_count = x->value_count;
    out->operators = x->operators;
    out->operator_count = x->operator_count;
    return WICK_OK;
}

wick_status wick_describe(struct wick_description *d, const struct wick_methods *methods, const struct wick_metadata *metadata,
                          struct wick_external *external, struct wick_arena *arena, wick_error *err)
{
    *d = (struct wick_description){.methods = methods, .external = external};
    struct wick_shared shared = {.methods = methods, .arena = arena};
    struct wick_pte_plan *plans = WICK_NEW_ARRAY(arena, struct wick_pte_plan, methods->count + metadata->count);
    if (!plans) return no_memory(err);
    WICK_TRY(reserve(d, arena, err));
    uint32_t payload = d->payload_first;
    for (uint32_t m = 0; m < methods->count; m++) {
        struct wick_method *method = &methods->list[m];
        for (uint32_t k = 0; k < metadata->count; k++)
            if (wick_str_is(metadata->plans[k].name, method->name))
                return wick_fail(err, WICK_INVALID_CONFIG, "multimethod.methods: %.80s is also the name of a constant method", method->name);
        struct describer x = {.d = d, .shared = &shared, .method = m, .g = &method->graph, .plan = &method->plan, .arena = arena};
        WICK_TRY(describe_method(&x, method->name, payload, &plans[m], err));
        payload += method->graph.delegate_count;
    }
    d->segment_count = d->named_first + d->blob_count;
    WICK_TRY(describe_constants(d, arena, err));
    memcpy(plans + methods->count, metadata->plans, metadata->count * sizeof *plans);
    d->program.plans = plans;
    d->program.plan_count = methods->count + metadata->count;
    d->program.segments = d->segments;
    d->program.segment_count = d->segment_count;
    d->program.named = d->blob_count ? d->named : NULL;
    d->program.named_count = d->blob_count;
    WICK_TRY(wick_external_layout(external, err));
    return wick_pte_layout(d->segments, d->alignments, d->segment_count, WICK_PTE_SEGMENT_ALIGNMENT, &d->segment_bytes, err);
}
