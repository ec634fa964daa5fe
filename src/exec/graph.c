/* exec/graph.c - binding a method: expand, fuse, settle, place. The graph goes to exec/instance.c, which runs it. */
#include "exec/graph.h"

#include "exec/build.h"
#include "runtime/program.h"

/* A move joins two names for good, so both must be of one kind: what was inferred and prepared for one then holds for
 * the other. */
static wick_status check_move(const struct wick_method *method, const struct wick_instruction *move, wick_error *err)
{
    const struct wick_value *from = &method->values[move->ids[0]], *to = &method->values[move->ids[1]];
    if (from->tag != to->tag) return wick_fail(err, WICK_INVALID_PROGRAM, "move of value %u to value %u: kinds differ", move->ids[0], move->ids[1]);
    if (to->tag >= WICK_TAG_BOOL_LIST)
        return wick_fail(err, WICK_NOT_SUPPORTED, "move of value %u to value %u: lists cannot be moved", move->ids[0], move->ids[1]);
    if (to->tag != WICK_TAG_TENSOR) return WICK_OK;
    const struct wick_shape *a = &from->as.tensor->shape, *b = &to->as.tensor->shape;
    if (a->dtype != b->dtype || a->rank != b->rank || memcmp(a->dim_order, b->dim_order, a->rank) != 0)
        return wick_fail(err, WICK_INVALID_PROGRAM, "move of value %u to value %u: tensors of different type, rank or dim order", move->ids[0],
                         move->ids[1]);
    return WICK_OK;
}

static wick_status check_control(struct wick_build *build)
{
    const struct wick_method *method = build->method;
    bool *moved = WICK_NEW_ARRAY(build->temp, bool, method->value_count);
    if (!moved) return wick_fail_oom(build->err, method->value_count, "binding");
    build->moved = moved;
    for (uint32_t i = 0; i < method->instruction_count; i++) {
        const struct wick_instruction *in = &method->instructions[i];
        int tag = in->count ? method->values[in->ids[0]].tag : WICK_TAG_NONE;
        switch (in->kind) {
        case WICK_INSTRUCTION_MOVE:
            WICK_TRY(check_move(method, in, build->err));
            moved[in->ids[1]] = true;
            break;
        case WICK_INSTRUCTION_JUMP_FALSE:
            if (tag != WICK_TAG_BOOL && tag != WICK_TAG_TENSOR)
                return wick_fail(build->err, WICK_INVALID_PROGRAM, "instruction %u: the condition of a jump is no bool", i);
            break;
        case WICK_INSTRUCTION_FREE:
            if (tag != WICK_TAG_TENSOR) return wick_fail(build->err, WICK_INVALID_TYPE, "instruction %u: frees a value that is no tensor", i);
            break;
        default: break;
        }
    }
    return WICK_OK;
}

static wick_status bind_stages(struct wick_build *build)
{
    WICK_TRY(check_control(build));
    WICK_TRY(wick_build_expand(build));
    WICK_TRY(wick_build_writes(build));
    if (!build->options->no_fuse) WICK_TRY(wick_build_fuse(build));
    WICK_TRY(wick_build_settle(build));
    return wick_build_memory(build);
}

static void copied(void *user, const void *data, size_t size) { wick_program_release(user, data, size); }

wick_status wick_exec_graph_bind(struct wick_exec_graph **out, const struct wick_method *method, const struct wick_exec_graph_options *options,
                            struct wick_arena *arena, struct wick_arena *temp, wick_error *err)
{
    *out = NULL;
    wick_error own = {0};
    if (!err) err = &own;
    struct wick_exec_graph *graph = WICK_NEW(arena, struct wick_exec_graph);
    if (!graph) return wick_fail_oom(err, sizeof *graph, "execution graph");
    *graph = (struct wick_exec_graph){.method = method, .ukernels = options->ukernels, .numerics = options->numerics};
    static const struct wick_log silent = {0};
    struct wick_build build = {
        .graph = graph,
        .method = method,
        .options = options,
        .arena = arena,
        .temp = temp,
        .bind = {options->ukernels, arena, options->pool, options->numerics, options->log ? options->log : &silent, err, copied, (void *)(uintptr_t)method->program},
        .err = err,
    };
    wick_status status = bind_stages(&build);
    wick_arena_reset(temp);
    if (status != WICK_OK) {
        wick_exec_graph_close(graph);
        return wick_fail_in(err, status, "method %.*s", (int)method->name.size, method->name.data);
    }
    wick_log_line(build.bind.log, WICK_LOG_DEBUG, "method %.*s: %u instructions, %u nodes, %u fused away, %llu bytes of scratch",
                  (int)method->name.size, method->name.data, method->instruction_count, graph->node_count, graph->fused,
                  (unsigned long long)graph->scratch_bytes);
    *out = graph;
    return WICK_OK;
}

void wick_exec_graph_close(struct wick_exec_graph *graph)
{
    if (!graph) return;
    for (struct wick_opaque *o = graph->opaques; o; o = o->next)
        if (o->backend->destroy) o->backend->destroy(o->handle);
    graph->opaques = NULL;
}

const char *wick_node_name(const struct wick_node *node)
{
    switch (node->kind) {
    case WICK_NODE_CALL: return node->op->meta->name;
    case WICK_NODE_OPAQUE: return node->opaque->backend->id;
    case WICK_NODE_MOVE: return "move";
    case WICK_NODE_JUMP_FALSE: return "jump_false";
    default: return "free";
    }
}

void wick_each_tensor(const struct wick_value *values, const uint32_t *ids, uint32_t count, wick_each_tensor_fn fn, void *user)
{
    for (uint32_t k = 0; k < count; k++) {
        const struct wick_value *value = &values[ids[k]];
        if (value->tag == WICK_TAG_TENSOR) fn(user, ids[k]);
        if (value->tag != WICK_TAG_TENSOR_LIST && value->tag != WICK_TAG_OPTIONAL_TENSOR_LIST) continue;
        for (uint32_t i = 0; i < value->as.list.count; i++) {
            int32_t item = value->as.list.indices[i];
            if (item >= 0 && values[item].tag == WICK_TAG_TENSOR) fn(user, (uint32_t)item);
        }
    }
}

char wick_signature_kind(const char *signature, uint32_t k, bool *out)
{
    uint32_t inputs = wick_signature_inputs(signature);
    *out = k >= inputs;
    return k < inputs ? signature[k] : signature[k + 1];
}
