/* graph/graph.c - building the exporter's graph; see graph.h. Next: src/export stages. */
#include "graph/graph.h"

#include "base/checked.h"

#include <stdarg.h>
#include <stdio.h>

void wick_graph_init(struct wick_graph *g, const struct wick_opmeta_table *ops)
{
    *g = (struct wick_graph){.ops = ops, .scope = ""};
    wick_arena_init(&g->arena, &wick_allocator_heap);
}

void wick_graph_release(struct wick_graph *g) { wick_arena_release(&g->arena); }

wick_status wick_graph_status(const struct wick_graph *g, wick_error *err)
{
    if (g->status != WICK_OK && err) *err = g->error;
    return g->status;
}

wick_status wick_graph_fail(struct wick_graph *g, wick_status status, const char *format, ...)
{
    if (g->status != WICK_OK) return g->status;
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    g->status = wick_fail(&g->error, status, g->scope[0] ? "graph, at %s: %s" : "graph%s: %s", g->scope, text);
    return g->status;
}

static uint32_t out_of_memory(struct wick_graph *g)
{
    wick_graph_fail(g, WICK_OUT_OF_MEMORY, "no memory");
    return WICK_NO_VALUE;
}

static const char *format_name(struct wick_graph *g, const char *format, va_list args)
{
    char text[256];
    vsnprintf(text, sizeof text, format, args);
    const char *name = wick_arena_copy(&g->arena, text, strlen(text));
    if (!name) out_of_memory(g);
    return name ? name : "";
}

void wick_graph_scope(struct wick_graph *g, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g->scope = format_name(g, format, args);
    va_end(args);
}

const char *wick_graph_name(struct wick_graph *g, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *name = format_name(g, format, args);
    va_end(args);
    return name;
}

/* Doubles an arena array; the old one stays behind in the arena (a geometric series: at most as much again). */
static void *grow(struct wick_arena *arena, void *old, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity) return old;
    uint32_t next = *capacity ? *capacity * 2 : 256;
    void *items = wick_arena_array(arena, next, size, 16);
    if (!items) return NULL;
    if (count) memcpy(items, old, count * size);
    *capacity = next;
    return items;
}

static uint32_t add_value(struct wick_graph *g, struct wick_value value, enum wick_origin origin)
{
    if (g->status != WICK_OK) return WICK_NO_VALUE;
    uint32_t capacity = g->value_capacity;
    void *values = grow(&g->arena, g->values, g->value_count, &capacity, sizeof *g->values);
    if (!values) return out_of_memory(g);
    g->values = values;
    void *info = grow(&g->arena, g->info, g->value_count, &g->value_capacity, sizeof *g->info);
    if (!info) return out_of_memory(g);
    g->info = info;
    g->values[g->value_count] = value;
    g->info[g->value_count] = (struct wick_graph_value){.value = value, .origin = (uint8_t)origin};
    return g->value_count++;
}

static bool same_scalar(const struct wick_value *a, const struct wick_value *b)
{
    if (a->tag != b->tag) return false;
    switch (a->tag) {
    case WICK_TAG_NONE: return true;
    case WICK_TAG_INT: return a->as.i == b->as.i;
    case WICK_TAG_BOOL: return a->as.b == b->as.b;
    case WICK_TAG_DOUBLE: return memcmp(&a->as.d, &b->as.d, sizeof a->as.d) == 0;
    case WICK_TAG_STRING: return wick_str_equal(a->as.string, b->as.string);
    default: return false;
    }
}

static uint32_t scalar(struct wick_graph *g, struct wick_value value)
{
    if (g->status != WICK_OK) return WICK_NO_VALUE;
    for (uint32_t i = 0; i < g->value_count; i++)
        if (g->info[i].origin == WICK_ORIGIN_SCALAR && same_scalar(&g->values[i], &value)) return i;
    return add_value(g, value, WICK_ORIGIN_SCALAR);
}

uint32_t wick_graph_none(struct wick_graph *g) { return scalar(g, (struct wick_value){.tag = WICK_TAG_NONE}); }
uint32_t wick_graph_int(struct wick_graph *g, int64_t v) { return scalar(g, (struct wick_value){.tag = WICK_TAG_INT, .as.i = v}); }
uint32_t wick_graph_bool(struct wick_graph *g, bool v) { return scalar(g, (struct wick_value){.tag = WICK_TAG_BOOL, .as.b = v}); }
uint32_t wick_graph_double(struct wick_graph *g, double v) { return scalar(g, (struct wick_value){.tag = WICK_TAG_DOUBLE, .as.d = v}); }

uint32_t wick_graph_string(struct wick_graph *g, const char *v)
{
    const char *copy = wick_graph_name(g, "%s", v);
    return scalar(g, (struct wick_value){.tag = WICK_TAG_STRING, .as.string = wick_str_of(copy)});
}

static uint32_t index_list(struct wick_graph *g, const uint32_t *ids, uint32_t count, int tag)
{
    int32_t *indices = WICK_NEW_ARRAY(&g->arena, int32_t, count);
    if (!indices) return out_of_memory(g);
    for (uint32_t i = 0; i < count; i++) {
        if (ids[i] == WICK_NO_VALUE && tag != WICK_TAG_OPTIONAL_TENSOR_LIST) return WICK_NO_VALUE;
        indices[i] = (int32_t)ids[i];
    }
    struct wick_value value = {.tag = (uint8_t)tag, .as.list = {.indices = indices, .count = count}};
    return add_value(g, value, WICK_ORIGIN_SCALAR);
}

uint32_t wick_graph_int_list(struct wick_graph *g, const uint32_t *ids, uint32_t count) { return index_list(g, ids, count, WICK_TAG_INT_LIST); }
uint32_t wick_graph_tensors(struct wick_graph *g, const uint32_t *ids, uint32_t count) { return index_list(g, ids, count, WICK_TAG_TENSOR_LIST); }

uint32_t wick_graph_optional_tensors(struct wick_graph *g, const uint32_t *ids, uint32_t count)
{
    return index_list(g, ids, count, WICK_TAG_OPTIONAL_TENSOR_LIST);
}

uint32_t wick_graph_ints(struct wick_graph *g, uint32_t count, ...)
{
    uint32_t ids[WICK_RANK_MAX];
    va_list args;
    va_start(args, count);
    for (uint32_t i = 0; i < count && i < WICK_RANK_MAX; i++) ids[i] = wick_graph_int(g, va_arg(args, int64_t));
    va_end(args);
    return wick_graph_int_list(g, ids, WICK_MIN(count, (uint32_t)WICK_RANK_MAX));
}

static uint32_t add_tensor(struct wick_graph *g, const struct wick_shape *shape, enum wick_origin origin, const char *name)
{
    struct wick_tensor *tensor = WICK_NEW(&g->arena, struct wick_tensor);
    if (!tensor) return out_of_memory(g);
    uint64_t nbytes;
    tensor->shape = *shape;
    if (!wick_shape_valid(&tensor->shape, &nbytes)) {
        char text[128];
        wick_shape_text(shape, text);
        wick_graph_fail(g, WICK_INVALID_ARGUMENT, "tensor %s: %s is no valid shape", name ? name : "", text);
        return WICK_NO_VALUE;
    }
    tensor->capacity = (size_t)nbytes;
    wick_shape_strides(&tensor->shape, tensor->strides);
    uint32_t id = add_value(g, (struct wick_value){.tag = WICK_TAG_TENSOR, .as.tensor = tensor}, origin);
    if (id != WICK_NO_VALUE) g->info[id].name = name;
    return id;
}

uint32_t wick_graph_tensor(struct wick_graph *g, const struct wick_shape *shape) { return add_tensor(g, shape, WICK_ORIGIN_COMPUTED, NULL); }

uint32_t wick_graph_input(struct wick_graph *g, const char *name, const struct wick_shape *shape)
{
    uint32_t id = add_tensor(g, shape, WICK_ORIGIN_INPUT, name);
    if (id == WICK_NO_VALUE) return id;
    if (g->input_count == WICK_ARRAY_SIZE(g->inputs)) wick_graph_fail(g, WICK_NOT_SUPPORTED, "more than %u inputs", g->input_count);
    else g->inputs[g->input_count++] = id;
    return id;
}

uint32_t wick_graph_constant(struct wick_graph *g, const char *name, struct wick_source *source)
{
    if (!source) return g->status != WICK_OK ? WICK_NO_VALUE : out_of_memory(g);
    uint32_t id = add_tensor(g, &source->shape, WICK_ORIGIN_CONSTANT, name);
    if (id == WICK_NO_VALUE) return id;
    g->values[id].as.tensor->constant = true;
    g->info[id].source = source;
    return id;
}

uint32_t wick_graph_state(struct wick_graph *g, const char *name, const struct wick_shape *shape)
{
    return add_tensor(g, shape, WICK_ORIGIN_STATE, name);
}

void wick_graph_output(struct wick_graph *g, uint32_t id)
{
    if (g->status != WICK_OK) return;
    if (g->output_count == WICK_ARRAY_SIZE(g->outputs)) {
        wick_graph_fail(g, WICK_NOT_SUPPORTED, "more than %u outputs", g->output_count);
        return;
    }
    g->info[id].is_output = true;
    g->outputs[g->output_count++] = id;
}

const struct wick_opmeta *wick_graph_find_op(struct wick_graph *g, const char *op)
{
    for (size_t i = 0; i < g->ops->count; i++)
        if (strcmp(g->ops->metas[i]->name, op) == 0) return g->ops->metas[i];
    wick_graph_fail(g, WICK_OPERATOR_MISSING, "operator %s is not in this build", op);
    return NULL;
}

void wick_graph_append(struct wick_graph *g, const struct wick_graph_node *node)
{
    if (g->status != WICK_OK) return;
    void *nodes = grow(&g->arena, g->nodes, g->node_count, &g->node_capacity, sizeof *g->nodes);
    if (!nodes) {
        out_of_memory(g);
        return;
    }
    g->nodes = nodes;
    g->nodes[g->node_count++] = *node;
}

static struct wick_graph_node *add_node(struct wick_graph *g, const struct wick_opmeta *meta, const uint32_t *ids, uint32_t count)
{
    if (g->status != WICK_OK) return NULL;
    for (uint32_t i = 0; i < count; i++)
        if (ids[i] == WICK_NO_VALUE) {
            wick_graph_fail(g, WICK_INTERNAL, "operator %s: argument %u is missing", meta->name, i);
            return NULL;
        }
    uint32_t *copy = WICK_NEW_ARRAY(&g->arena, uint32_t, count + 1);
    if (!copy) {
        out_of_memory(g);
        return NULL;
    }
    memcpy(copy, ids, count * sizeof *ids);
    const struct wick_graph_node node = {.op = meta, .count = count, .n_inputs = wick_signature_inputs(meta->signature), .ids = copy, .scope = g->scope};
    wick_graph_append(g, &node);
    return g->status == WICK_OK ? &g->nodes[g->node_count - 1] : NULL;
}

static void check_node(struct wick_graph *g, const struct wick_graph_node *node)
{
    wick_error err;
    struct wick_args args = {g->values, node->ids, node->count};
    if (wick_args_check(&args, node->op, &err) != WICK_OK) wick_graph_fail(g, err.status, "%s", err.message);
}

uint32_t wick_graph_call_meta(struct wick_graph *g, const struct wick_opmeta *meta, const uint32_t *ids, uint32_t count)
{
    wick_error err = {0};
    struct wick_shape shape = {0};
    if (g->status != WICK_OK || !meta) return WICK_NO_VALUE;
    uint32_t with_out[WICK_RANK_MAX + 1];
    if (count > WICK_RANK_MAX || count != wick_signature_inputs(meta->signature)) {
        wick_graph_fail(g, WICK_INTERNAL, "operator %s: %u arguments for %s", meta->name, count, meta->signature);
        return WICK_NO_VALUE;
    }
    memcpy(with_out, ids, count * sizeof *ids);
    for (uint32_t i = 0; i < count; i++)
        if (ids[i] == WICK_NO_VALUE) {
            wick_graph_fail(g, WICK_INTERNAL, "operator %s: argument %u is missing", meta->name, i);
            return WICK_NO_VALUE;
        }
    wick_shape_set_contiguous(&shape);
    struct wick_args args = {g->values, with_out, count};
    if (!meta->infer || meta->infer(&args, &shape, &err) != WICK_OK) {
        wick_graph_fail(g, err.status ? err.status : WICK_INTERNAL, "%s", meta->infer ? err.message : meta->name);
        return WICK_NO_VALUE;
    }
    uint32_t out = wick_graph_tensor(g, &shape);
    with_out[count] = out;
    struct wick_graph_node *node = add_node(g, meta, with_out, count + 1);
    if (node) check_node(g, node);
    return out;
}

static uint32_t gather(uint32_t *ids, uint32_t count, va_list args)
{
    for (uint32_t i = 0; i < count && i < WICK_RANK_MAX; i++) ids[i] = va_arg(args, uint32_t);
    return WICK_MIN(count, (uint32_t)WICK_RANK_MAX);
}

uint32_t wick_graph_call(struct wick_graph *g, const char *op, uint32_t count, ...)
{
    uint32_t ids[WICK_RANK_MAX];
    va_list args;
    va_start(args, count);
    count = gather(ids, count, args);
    va_end(args);
    return g->status != WICK_OK ? WICK_NO_VALUE : wick_graph_call_meta(g, wick_graph_find_op(g, op), ids, count);
}

uint32_t wick_graph_number(struct wick_graph *g, const char *op, struct wick_value at_bound, uint32_t count, ...)
{
    uint32_t ids[WICK_RANK_MAX + 1];
    va_list args;
    va_start(args, count);
    count = gather(ids, count, args);
    va_end(args);
    const struct wick_opmeta *meta = g->status == WICK_OK ? wick_graph_find_op(g, op) : NULL;
    if (!meta) return WICK_NO_VALUE;
    ids[count] = add_value(g, at_bound, WICK_ORIGIN_COMPUTED);
    struct wick_graph_node *node = add_node(g, meta, ids, count + 1);
    if (node) check_node(g, node);
    return ids[count];
}

void wick_graph_effect(struct wick_graph *g, const char *op, uint32_t count, ...)
{
    uint32_t ids[WICK_RANK_MAX];
    va_list args;
    va_start(args, count);
    count = gather(ids, count, args);
    va_end(args);
    const struct wick_opmeta *meta = g->status == WICK_OK ? wick_graph_find_op(g, op) : NULL;
    if (!meta) return;
    struct wick_graph_node *node = add_node(g, meta, ids, count);
    if (node) check_node(g, node);
}

wick_status wick_graph_mark_dynamic(struct wick_graph *g, const struct wick_graph *small, wick_error *err)
{
    if (small->value_count != g->value_count || small->node_count != g->node_count)
        return wick_fail(err, WICK_INTERNAL, "graph: structure depends on the number of tokens (%u values, %u with fewer)", g->value_count,
                         small->value_count);
    for (uint32_t i = 0; i < g->value_count; i++) {
        if (g->values[i].tag != WICK_TAG_TENSOR || small->values[i].tag != WICK_TAG_TENSOR) continue;
        struct wick_tensor *tensor = g->values[i].as.tensor;
        if (!wick_shape_same_sizes(&tensor->shape, wick_graph_shape(small, i))) tensor->dynamism = WICK_DYNAMIC_BOUND;
    }
    return WICK_OK;
}

static void print_value(const struct wick_graph *g, uint32_t id, struct wick_buf *out)
{
    const struct wick_value *v = &g->values[id];
    char text[128];
    switch (v->tag) {
    case WICK_TAG_NONE: wick_buf_text(out, "none"); break;
    case WICK_TAG_INT: 
        if (g->info[id].origin == WICK_ORIGIN_COMPUTED) wick_buf_printf(out, "i%u=", id);
        wick_buf_printf(out, "%lld", (long long)v->as.i);
        break;
    case WICK_TAG_BOOL: wick_buf_text(out, v->as.b ? "true" : "false"); break;
    case WICK_TAG_DOUBLE: wick_buf_printf(out, "%g", v->as.d); break;
    case WICK_TAG_STRING: wick_buf_printf(out, "\"%.*s\"", (int)v->as.string.size, v->as.string.data); break;
    case WICK_TAG_TENSOR:
        wick_shape_text(&v->as.tensor->shape, text);
        if (g->info[id].name) wick_buf_printf(out, "%s:%s", g->info[id].name, text);
        else wick_buf_printf(out, "%%%u:%s%s", id, text, v->as.tensor->dynamism ? "?" : "");
        break;
    default:
        wick_buf_text(out, "[");
        for (uint32_t i = 0; i < v->as.list.count; i++) {
            if (i) wick_buf_text(out, ", ");
            if (v->tag >= WICK_TAG_INT_LIST && v->as.list.indices[i] >= 0) print_value(g, (uint32_t)v->as.list.indices[i], out);
            else wick_buf_text(out, "none");
        }
        wick_buf_text(out, "]");
    }
}

void wick_graph_print(const struct wick_graph *g, struct wick_buf *out)
{
    for (uint32_t n = 0; n < g->node_count; n++) {
        const struct wick_graph_node *node = &g->nodes[n];
        if (node->dead) continue;
        for (uint32_t i = node->n_inputs; i < node->count; i++) {
            if (i > node->n_inputs) wick_buf_text(out, ", ");
            print_value(g, node->ids[i], out);
        }
        wick_buf_printf(out, "%s%s(", node->count > node->n_inputs ? " = " : "", node->op ? node->op->name : g->delegates[node->delegate].backend);
        for (uint32_t i = 0; i < node->n_inputs; i++) {
            if (i) wick_buf_text(out, ", ");
            print_value(g, node->ids[i], out);
        }
        wick_buf_printf(out, ")  # %s\n", node->scope);
    }
}
