/* exec/toy_test.h - a method built by hand, a few small operators and backends: what the tests of exec run. */
#ifndef WICK_EXEC_TOY_TEST_H
#define WICK_EXEC_TOY_TEST_H

#include "fixture.h"

#include "exec/instance.h"

#include <stdlib.h>

/* ---- operators ---- */

static int toy_prepared, toy_ran;
static struct wick_instance *toy_victim; /* toy::stop cancels it */

static inline wick_status toy_like_infer(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    (void)err;
    outs[0] = wick_arg_tensor(args, 0)->shape;
    return WICK_OK;
}

static inline wick_status toy_add_run(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    (void)run;
    const struct wick_tensor *a = wick_arg_tensor(args, 0), *b = wick_arg_tensor(args, 1);
    struct wick_tensor *out = wick_arg_tensor(args, 2);
    size_t nb = wick_tensor_numel(b);
    for (size_t i = 0; i < wick_tensor_numel(a); i++) ((float *)out->data)[i] = ((const float *)a->data)[i] + ((const float *)b->data)[i % nb];
    toy_ran++;
    return WICK_OK;
}

static inline wick_status toy_view_run(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    (void)run;
    wick_arg_tensor(args, 1)->data = wick_arg_tensor(args, 0)->data;
    return WICK_OK;
}

static inline wick_status toy_poke_run(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    (void)run;
    struct wick_tensor *to = wick_arg_tensor(args, 0);
    const struct wick_tensor *from = wick_arg_tensor(args, 1);
    for (size_t i = 0; i < wick_tensor_numel(from) && i < wick_tensor_numel(to); i++) ((float *)to->data)[i] += ((const float *)from->data)[i];
    return WICK_OK;
}

static inline wick_status toy_iadd_run(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    (void)run;
    wick_arg(args, 2)->as.i = wick_arg_int(args, 0) + wick_arg_int(args, 1);
    return WICK_OK;
}

static inline wick_status toy_ieq_run(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    (void)run;
    wick_arg(args, 2)->as.b = wick_arg_int(args, 0) == wick_arg_int(args, 1);
    return WICK_OK;
}

/* Doubles by way of a temporary: what a run allocates, and when that ends. */
static inline wick_status toy_double_run(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *x = wick_arg_tensor(args, 0);
    float *first = wick_arena_raw(run->temp, 100000, 64), *second = wick_arena_raw(run->temp, 300000, 64);
    if (!first || !second) return wick_fail_oom(run->err, 400000, "toy");
    for (size_t i = 0; i < wick_tensor_numel(x); i++) ((float *)wick_arg_tensor(args, 1)->data)[i] = 2 * ((const float *)x->data)[i];
    toy_ran++;
    return WICK_OK;
}

static inline wick_status toy_stop_run(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)args;
    (void)state;
    (void)run;
    wick_instance_cancel(toy_victim);
    return WICK_OK;
}

/* out = x times a number that prepare takes from a constant tensor. */
static inline wick_status toy_scale_prepare(const struct wick_args *args, struct wick_bind *bind, void **state)
{
    const struct wick_tensor *k = wick_arg_tensor(args, 1);
    if (!k->constant) return wick_fail(bind->err, WICK_NOT_SUPPORTED, "the factor is no constant");
    float *copy = WICK_NEW(bind->arena, float);
    if (!copy) return wick_fail_oom(bind->err, sizeof *copy, "factor");
    *copy = *(const float *)k->data;
    *state = copy;
    toy_prepared++;
    return WICK_OK;
}

static inline wick_status toy_scale_run(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)run;
    const struct wick_tensor *x = wick_arg_tensor(args, 0);
    for (size_t i = 0; i < wick_tensor_numel(x); i++)
        ((float *)wick_arg_tensor(args, 2)->data)[i] = *(const float *)state * ((const float *)x->data)[i];
    return WICK_OK;
}

static const struct wick_opmeta toy_metas[] = {
    {"toy::add", "TT>T", WICK_ALIAS_INPLACE, toy_like_infer},
    {"toy::view", "T>T", WICK_ALIAS_VIEW, toy_like_infer},
    {"toy::poke", "MT>", WICK_ALIAS_NONE, NULL},
    {"toy::iadd", "II>V", WICK_ALIAS_NONE, NULL},
    {"toy::ieq", "II>V", WICK_ALIAS_NONE, NULL},
    {"toy::double", "T>T", WICK_ALIAS_NONE, toy_like_infer},
    {"toy::stop", ">", WICK_ALIAS_NONE, NULL},
    {"toy::scale", "TT>T", WICK_ALIAS_NONE, toy_like_infer},
};
static __attribute__((unused)) const struct wick_op toy_add = {.meta = &toy_metas[0], .run = toy_add_run};
static __attribute__((unused)) const struct wick_op toy_view = {.meta = &toy_metas[1], .run = toy_view_run};
static __attribute__((unused)) const struct wick_op toy_poke = {.meta = &toy_metas[2], .run = toy_poke_run};
static __attribute__((unused)) const struct wick_op toy_iadd = {.meta = &toy_metas[3], .run = toy_iadd_run};
static __attribute__((unused)) const struct wick_op toy_ieq = {.meta = &toy_metas[4], .run = toy_ieq_run};
static __attribute__((unused)) const struct wick_op toy_double = {.meta = &toy_metas[5], .run = toy_double_run};
static __attribute__((unused)) const struct wick_op toy_stop = {.meta = &toy_metas[6], .run = toy_stop_run};
static __attribute__((unused)) const struct wick_op toy_scale = {.meta = &toy_metas[7], .prepare = toy_scale_prepare, .run = toy_scale_run};

/* ---- backends ---- */

/* "toy": out = (2 x) * factor, by two nodes; the payload's bytes are the factor. */
static inline wick_status toy_expand(const struct wick_payload *payload, struct wick_expansion *x, wick_error *err)
{
    if (payload->args.count != 2 || payload->size != sizeof(float))
        return wick_fail(err, WICK_DELEGATE_INCOMPATIBLE, "payload of %zu bytes", payload->size);
    struct wick_shape shape = x->value(x, payload->args.ids[0])->as.tensor->shape, one = wick_shape_make(WICK_DTYPE_F32, 0, NULL);
    uint32_t doubled, factor;
    WICK_TRY(x->add_value(x, &shape, NULL, &doubled));
    WICK_TRY(x->add_value(x, &one, payload->data, &factor));
    WICK_TRY(x->add_node(x, &toy_double, (uint32_t[]){payload->args.ids[0], doubled}, 2, NULL));
    return x->add_node(x, &toy_scale, (uint32_t[]){doubled, factor, payload->args.ids[1]}, 3, NULL);
}

static int toy_open_handles;

static inline wick_status toy_init(const struct wick_payload *payload, struct wick_bind *bind, void **handle)
{
    (void)bind;
    *handle = malloc(sizeof(float));
    memcpy(*handle, payload->data, sizeof(float));
    toy_open_handles++;
    return WICK_OK;
}

static inline wick_status toy_execute(void *handle, const struct wick_args *args, struct wick_run *run)
{
    (void)run;
    const struct wick_tensor *x = wick_arg_tensor(args, 0);
    for (size_t i = 0; i < wick_tensor_numel(x); i++) ((float *)wick_arg_tensor(args, 1)->data)[i] = *(float *)handle * ((const float *)x->data)[i];
    return WICK_OK;
}

static inline void toy_destroy(void *handle)
{
    free(handle);
    toy_open_handles--;
}

static const struct wick_backend toy_backend = {.abi = WICK_BACKEND_ABI, .id = "toy", .expand = toy_expand};
static const struct wick_backend toy_opaque = {WICK_BACKEND_ABI, "opaque", NULL, toy_init, toy_execute, toy_destroy};
static const struct wick_backend *const toy_backend_list[] = {&toy_backend, &toy_opaque};
static const struct wick_backend_table toy_backends = {toy_backend_list, 2};

/* ---- a method ---- */

enum { TOY_MAX = 64 };

struct toy {
    struct wick_method method;
    struct wick_value values[TOY_MAX];
    struct wick_tensor tensors[TOY_MAX];
    struct wick_origin origins[TOY_MAX];
    struct wick_instruction instructions[TOY_MAX];
    struct wick_delegate delegates[TOY_MAX];
    uint32_t ids[TOY_MAX][4], inputs[TOY_MAX], outputs[TOY_MAX];
    uint64_t planned[2];
    /* bound */
    struct wick_arena bind_arena, temp, load, planned_arena, run_temp;
    struct wick_exec_graph *graph;
    struct wick_instance *it;
    wick_error err;
};

static inline void toy_new(struct toy *toy)
{
    *toy = (struct toy){.planned = {4096, 4096}};
    toy->method = (struct wick_method){.name = WICK_STR("m"),
                                       .values = toy->values,
                                       .tensors = toy->tensors,
                                       .origins = toy->origins,
                                       .inputs = toy->inputs,
                                       .outputs = toy->outputs,
                                       .planned_bytes = toy->planned,
                                       .planned_count = 2,
                                       .instructions = toy->instructions,
                                       .delegates = toy->delegates};
    toy_prepared = toy_ran = 0;
}

/* An f32 vector of n; its origin is PLANNED at `offset` of buffer 0 unless changed afterwards. */
static inline uint32_t toy_tensor(struct toy *toy, int32_t n, uint64_t offset)
{
    uint32_t t = toy->method.tensor_count++, id = toy->method.value_count++;
    toy->tensors[t] = (struct wick_tensor){.shape = wick_shape_make(WICK_DTYPE_F32, 1, &n), .capacity = (size_t)n * 4};
    wick_shape_strides(&toy->tensors[t].shape, toy->tensors[t].strides);
    toy->origins[t] = (struct wick_origin){.storage = WICK_STORAGE_PLANNED, .offset = offset};
    toy->values[id] = (struct wick_value){.tag = WICK_TAG_TENSOR, .as.tensor = &toy->tensors[t]};
    return id;
}

static inline uint32_t toy_unplanned(struct toy *toy, int32_t n)
{
    uint32_t id = toy_tensor(toy, n, 0);
    toy->origins[toy->method.tensor_count - 1].storage = WICK_STORAGE_NONE;
    return id;
}

static inline uint32_t toy_constant(struct toy *toy, int32_t n, const float *data)
{
    uint32_t id = toy_tensor(toy, n, 0);
    struct wick_tensor *tensor = toy->values[id].as.tensor;
    toy->origins[toy->method.tensor_count - 1] = (struct wick_origin){.storage = WICK_STORAGE_CONSTANT, .initial = data};
    memcpy(&tensor->data, &data, sizeof data);
    tensor->constant = true;
    return id;
}

static inline uint32_t toy_int(struct toy *toy, int64_t i)
{
    toy->values[toy->method.value_count] = (struct wick_value){.tag = WICK_TAG_INT, .as.i = i};
    return toy->method.value_count++;
}

static inline uint32_t toy_bool(struct toy *toy, bool b)
{
    toy->values[toy->method.value_count] = (struct wick_value){.tag = WICK_TAG_BOOL, .as.b = b};
    return toy->method.value_count++;
}

static inline struct wick_instruction *toy_push(struct toy *toy, int kind, const struct wick_op *op, uint32_t count, uint32_t a, uint32_t b,
                                                uint32_t c)
{
    uint32_t at = toy->method.instruction_count++;
    uint32_t *ids = toy->ids[at];
    ids[0] = a;
    ids[1] = b;
    ids[2] = c;
    toy->instructions[at] = (struct wick_instruction){.kind = (uint8_t)kind, .op = op, .ids = ids, .count = count};
    return &toy->instructions[at];
}

static inline void toy_call(struct toy *toy, const struct wick_op *op, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t count = wick_signature_inputs(op->meta->signature) + wick_signature_outs(op->meta->signature);
    toy_push(toy, WICK_INSTRUCTION_CALL, op, count, a, b, c);
}

static inline void toy_move(struct toy *toy, uint32_t from, uint32_t to) { toy_push(toy, WICK_INSTRUCTION_MOVE, NULL, 2, from, to, 0); }

static inline struct wick_instruction *toy_jump_false(struct toy *toy, uint32_t condition, uint32_t target)
{
    struct wick_instruction *in = toy_push(toy, WICK_INSTRUCTION_JUMP_FALSE, NULL, 1, condition, 0, 0);
    in->target = target;
    return in;
}

static inline void toy_delegate(struct toy *toy, const char *backend, const float *factor, uint32_t x, uint32_t y)
{
    uint32_t at = toy->method.delegate_count++;
    toy->delegates[at] = (struct wick_delegate){.backend = wick_str_of(backend), .data = (const uint8_t *)factor, .size = sizeof *factor};
    toy_push(toy, WICK_INSTRUCTION_DELEGATE, NULL, 2, x, y, 0)->delegate = at;
}

static inline void toy_input(struct toy *toy, uint32_t id) { toy->inputs[toy->method.input_count++] = id; }
static inline void toy_output(struct toy *toy, uint32_t id) { toy->outputs[toy->method.output_count++] = id; }

static inline wick_status toy_bind_with(struct toy *toy, const struct wick_allocator *allocator, bool no_fuse)
{
    struct wick_exec_graph_options options = {.backends = &toy_backends, .no_fuse = no_fuse};
    wick_arena_init(&toy->bind_arena, allocator);
    wick_arena_init(&toy->temp, allocator);
    wick_arena_init(&toy->load, allocator);
    wick_arena_init(&toy->planned_arena, allocator);
    wick_arena_init(&toy->run_temp, allocator);
    toy->graph = NULL;
    toy->it = NULL;
    return wick_exec_graph_bind(&toy->graph, &toy->method, &options, &toy->bind_arena, &toy->temp, &toy->err);
}

static inline wick_status toy_open(struct toy *toy)
{
    struct wick_instance_options options = {&toy->load, &toy->planned_arena, &toy->run_temp, NULL};
    return wick_instance_open(&toy->it, toy->graph, &options, &toy->err);
}

static inline void toy_close(struct toy *toy)
{
    wick_exec_graph_close(toy->graph);
    struct wick_arena *arenas[] = {&toy->bind_arena, &toy->temp, &toy->load, &toy->planned_arena, &toy->run_temp};
    for (size_t i = 0; i < 5; i++) wick_arena_release(arenas[i]);
}

static inline void toy_ready(struct toy *toy)
{
    WICK_ASSERT_OK(toy_bind_with(toy, &wick_allocator_heap, false), &toy->err);
    WICK_ASSERT_OK(toy_open(toy), &toy->err);
}

static inline wick_status toy_set(struct toy *toy, uint32_t input, int32_t n, float *data)
{
    struct wick_shape shape = wick_shape_make(WICK_DTYPE_F32, 1, &n);
    return wick_instance_set_tensor(toy->it, input, &shape, data, &toy->err);
}

static inline const float *toy_result(const struct toy *toy, uint32_t output) { return wick_instance_output(toy->it, output)->as.tensor->data; }

#endif
