/* pte/describe.c - reads the tables of an open program into the structs of program.h, the inverse of write.c. */
#include "pte/program.h"

#define NEW_ARRAY(d, type, count) ((type *)take((d), (count), sizeof(type), _Alignof(type)))

/* Allocation failure sticks: readers go on with empty arrays and the end reports it. */
struct describer {
    const struct wick_pte_file *file;
    struct wick_arena *arena;
    bool failed;
};

static void *take(struct describer *d, size_t count, size_t size, size_t alignment)
{
    void *memory = d->failed ? NULL : wick_arena_array(d->arena, count, size, alignment);
    if (!memory) d->failed = true;
    return memory;
}

/* Copies a vector's elements, so that they are aligned; NULL for an absent one. */
static const void *items(struct describer *d, struct flat_vec vec, size_t width)
{
    if (!vec.at) return NULL;
    void *copy = take(d, vec.count, width, 8);
    if (copy && vec.count) memcpy(copy, vec.at, vec.count * width);
    return copy;
}

static struct wick_pte_ints ints(struct describer *d, struct flat_table table, uint32_t id)
{
    struct flat_vec vec = flat_vector(table, id);
    return (struct wick_pte_ints){items(d, vec, sizeof(int32_t)), vec.count};
}

static struct wick_pte_blob blob(struct flat_table table, uint32_t id)
{
    struct flat_vec vec = flat_vector(table, id);
    return (struct wick_pte_blob){vec.at, vec.count};
}

static const struct wick_pte_tensor_value *tensor(struct describer *d, struct flat_table at)
{
    struct wick_pte_tensor_value *t = NEW_ARRAY(d, struct wick_pte_tensor_value, 1);
    if (!t) return NULL;
    struct flat_vec sizes = flat_vector(at, PTE_TENSOR_SIZES), order = flat_vector(at, PTE_TENSOR_DIM_ORDER);
    struct flat_table allocation = flat_child(at, PTE_TENSOR_ALLOCATION_INFO), extra = flat_child(at, PTE_TENSOR_EXTRA_TENSOR_INFO);
    t->shape.dtype = flat_u8(at, PTE_TENSOR_SCALAR_TYPE, 0);
    t->shape.rank = (uint8_t)sizes.count;
    for (uint32_t i = 0; i < sizes.count; i++) {
        t->shape.sizes[i] = flat_vec_i32(sizes, i);
        t->shape.dim_order[i] = flat_vec_u8(order, i);
    }
    t->dynamism = flat_u8(at, PTE_TENSOR_SHAPE_DYNAMISM, 0);
    t->requires_grad = flat_bool(at, PTE_TENSOR_REQUIRES_GRAD, false);
    t->layout = flat_i8(at, PTE_TENSOR_LAYOUT, 0);
    t->data_index = flat_u32(at, PTE_TENSOR_DATA_BUFFER_IDX, 0);
    t->planned = allocation.at != NULL;
    t->memory_id = flat_u32(allocation, PTE_ALLOCATION_MEMORY_ID, 0);
    t->memory_offset = flat_u32(allocation, PTE_ALLOCATION_OFFSET_LOW, 0) | (uint64_t)flat_u32(allocation, PTE_ALLOCATION_OFFSET_HIGH, 0) << 32;
    t->extra = extra.at != NULL;
    t->name = flat_string(extra, PTE_EXTRA_NAME);
    t->location = flat_u8(extra, PTE_EXTRA_LOCATION, 0);
    t->mutable_segment = flat_u64(extra, PTE_EXTRA_MUTABLE_SEGMENTS_IDX, 0);
    t->device_type = flat_u8(extra, PTE_EXTRA_DEVICE_TYPE, 0);
    t->device_index = flat_i8(extra, PTE_EXTRA_DEVICE_INDEX, 0);
    return t;
}

static void value(struct describer *d, struct flat_table plan, uint32_t index, struct wick_pte_value *v)
{
    struct flat_table at = wick_pte_value(plan, index, &v->kind);
    struct flat_vec list = {NULL, 0};
    size_t width = 0;
    switch (v->kind) {
    case PTE_KIND_INT: v->as.i = flat_i64(at, PTE_INT_VAL, 0); return;
    case PTE_KIND_BOOLEAN: v->as.b = flat_bool(at, PTE_BOOLEAN_VAL, false); return;
    case PTE_KIND_DOUBLE: v->as.d = flat_f64(at, PTE_DOUBLE_VAL, 0); return;
    case PTE_KIND_STRING: v->as.string = flat_string(at, PTE_STRING_VAL); return;
    case PTE_KIND_TENSOR: v->as.tensor = tensor(d, at); return;
    case PTE_KIND_INT_LIST:
    case PTE_KIND_DOUBLE_LIST: width = 8; break;
    case PTE_KIND_BOOL_LIST: width = 1; break;
    case PTE_KIND_TENSOR_LIST:
    case PTE_KIND_OPTIONAL_TENSOR_LIST: width = 4; break;
    default: return;
    }
    list = flat_vector(at, PTE_INT_LIST_ITEMS); /* the only field of every list */
    v->as.list.items = items(d, list, width);
    v->as.list.count = list.count;
}

static void instruction(struct describer *d, struct flat_table at, struct wick_pte_instruction *i)
{
    struct flat_table args = flat_child(at, PTE_INSTRUCTION_ARGS);
    i->type = flat_union_type(at, PTE_INSTRUCTION_ARGS);
    i->index = flat_i32(args, 0, 0); /* the first field of every instruction */
    switch (i->type) {
    case PTE_INSTR_KERNEL_CALL: i->args = ints(d, args, PTE_KERNEL_CALL_ARGS); break;
    case PTE_INSTR_DELEGATE_CALL: i->args = ints(d, args, PTE_DELEGATE_CALL_ARGS); break;
    case PTE_INSTR_MOVE_CALL: i->target = flat_i32(args, PTE_MOVE_CALL_TO, 0); break;
    case PTE_INSTR_JUMP_FALSE: i->target = flat_i32(args, PTE_JUMP_FALSE_DESTINATION, 0); break;
    default: break;
    }
}

static const struct wick_pte_frame_list *stacktrace(struct describer *d, struct flat_vec vec)
{
    if (!vec.at) return NULL;
    struct wick_pte_frame_list *lists = NEW_ARRAY(d, struct wick_pte_frame_list, vec.count);
    for (uint32_t i = 0; lists && i < vec.count; i++) {
        struct flat_vec frames = flat_vector(flat_vec_table(vec, i), PTE_FRAME_LIST_ITEMS);
        struct wick_pte_frame *out = frames.at ? NEW_ARRAY(d, struct wick_pte_frame, frames.count) : NULL;
        lists[i] = (struct wick_pte_frame_list){out, frames.count};
        for (uint32_t k = 0; out && k < frames.count; k++) {
            struct flat_table frame = flat_vec_table(frames, k);
            out[k] = (struct wick_pte_frame){flat_string(frame, PTE_FRAME_FILENAME), flat_string(frame, PTE_FRAME_NAME), flat_string(frame, PTE_FRAME_CONTEXT),
                                             flat_i32(frame, PTE_FRAME_LINENO, 0)};
        }
    }
    return lists;
}

static void chain(struct describer *d, struct flat_table at, struct wick_pte_chain *c)
{
    struct flat_vec instructions = flat_vector(at, PTE_CHAIN_INSTRUCTIONS), trace = flat_vector(at, PTE_CHAIN_STACKTRACE);
    struct wick_pte_instruction *out = NEW_ARRAY(d, struct wick_pte_instruction, instructions.count);
    for (uint32_t i = 0; out && i < instructions.count; i++) instruction(d, flat_vec_table(instructions, i), &out[i]);
    *c = (struct wick_pte_chain){.inputs = ints(d, at, PTE_CHAIN_INPUTS), .outputs = ints(d, at, PTE_CHAIN_OUTPUTS), .instructions = out,
                                 .instruction_count = instructions.count, .stacktrace = stacktrace(d, trace), .stacktrace_count = trace.count};
}

static void delegate(struct describer *d, struct flat_table at, struct wick_pte_delegate *out)
{
    struct flat_table processed = flat_child(at, PTE_DELEGATE_PROCESSED);
    struct flat_vec specs = flat_vector(at, PTE_DELEGATE_COMPILE_SPECS);
    struct wick_pte_compile_spec *copies = specs.at ? NEW_ARRAY(d, struct wick_pte_compile_spec, specs.count) : NULL;
    for (uint32_t i = 0; copies && i < specs.count; i++) {
        struct flat_table spec = flat_vec_table(specs, i);
        copies[i] = (struct wick_pte_compile_spec){flat_string(spec, PTE_COMPILE_SPEC_KEY), blob(spec, PTE_COMPILE_SPEC_VALUE)};
    }
    *out = (struct wick_pte_delegate){flat_string(at, PTE_DELEGATE_ID), flat_u8(processed, PTE_DATA_REFERENCE_LOCATION, 0),
                                      flat_u32(processed, PTE_DATA_REFERENCE_INDEX, 0), copies, specs.count};
}

static void plan_calls(struct describer *d, struct flat_table at, struct wick_pte_plan *p)
{
    struct flat_vec operators = flat_vector(at, PTE_PLAN_OPERATORS), delegates = flat_vector(at, PTE_PLAN_DELEGATES);
    struct flat_vec devices = flat_vector(at, PTE_PLAN_BUFFER_DEVICES);
    struct wick_pte_operator *ops = operators.at ? NEW_ARRAY(d, struct wick_pte_operator, operators.count) : NULL;
    struct wick_pte_delegate *backends = NEW_ARRAY(d, struct wick_pte_delegate, delegates.count);
    struct wick_pte_buffer_device *places = devices.at ? NEW_ARRAY(d, struct wick_pte_buffer_device, devices.count) : NULL;
    for (uint32_t i = 0; ops && i < operators.count; i++) {
        struct flat_table op = flat_vec_table(operators, i);
        ops[i] = (struct wick_pte_operator){flat_string(op, PTE_OPERATOR_NAME), flat_string(op, PTE_OPERATOR_OVERLOAD)};
    }
    for (uint32_t i = 0; backends && i < delegates.count; i++) delegate(d, flat_vec_table(delegates, i), &backends[i]);
    for (uint32_t i = 0; places && i < devices.count; i++) {
        struct flat_table device = flat_vec_table(devices, i);
        places[i] = (struct wick_pte_buffer_device){flat_i32(device, PTE_BUFFER_DEVICE_BUFFER_IDX, 0), flat_u8(device, PTE_BUFFER_DEVICE_DEVICE_TYPE, 0),
                                                    flat_i8(device, PTE_BUFFER_DEVICE_DEVICE_INDEX, 0)};
    }
    p->operators = ops;
    p->operator_count = operators.count;
    p->delegates = backends;
    p->delegate_count = delegates.count;
    p->devices = places;
    p->device_count = devices.count;
}

static void plan(struct describer *d, struct flat_table at, struct wick_pte_plan *p)
{
    struct flat_table container = flat_child(at, PTE_PLAN_CONTAINER_META_TYPE);
    struct flat_vec values = flat_vector(at, PTE_PLAN_VALUES), chains = flat_vector(at, PTE_PLAN_CHAINS), buffers = flat_vector(at, PTE_PLAN_BUFFER_SIZES);
    struct wick_pte_value *copies = NEW_ARRAY(d, struct wick_pte_value, values.count);
    struct wick_pte_chain *links = NEW_ARRAY(d, struct wick_pte_chain, chains.count);
    for (uint32_t i = 0; copies && i < values.count; i++) value(d, at, i, &copies[i]);
    for (uint32_t i = 0; links && i < chains.count; i++) chain(d, flat_vec_table(chains, i), &links[i]);
    *p = (struct wick_pte_plan){.name = flat_string(at, PTE_PLAN_NAME), .container = container.at != NULL,
                                .encoded_inputs = flat_string(container, PTE_CONTAINER_INP), .encoded_outputs = flat_string(container, PTE_CONTAINER_OUT),
                                .values = copies, .value_count = values.count, .inputs = ints(d, at, PTE_PLAN_INPUTS), .outputs = ints(d, at, PTE_PLAN_OUTPUTS),
                                .chains = links, .chain_count = chains.count, .buffer_sizes = items(d, buffers, sizeof(int64_t)), .buffer_count = buffers.count};
    plan_calls(d, at, p);
}

static struct wick_pte_subsegments subsegments(struct describer *d, struct flat_table at)
{
    struct flat_vec offsets = flat_vector(at, PTE_SUBSEGMENTS_OFFSETS);
    return (struct wick_pte_subsegments){flat_u32(at, PTE_SUBSEGMENTS_SEGMENT_INDEX, 0), items(d, offsets, sizeof(uint64_t)), offsets.count};
}

static const struct wick_pte_blob *blobs(struct describer *d, struct flat_vec vec, uint32_t field)
{
    struct wick_pte_blob *out = vec.at ? NEW_ARRAY(d, struct wick_pte_blob, vec.count) : NULL;
    for (uint32_t i = 0; out && i < vec.count; i++) out[i] = blob(flat_vec_table(vec, i), field);
    return out;
}

static void data(struct describer *d, struct flat_table at, struct wick_pte_program *p)
{
    struct flat_vec segments = flat_vector(at, PTE_PROGRAM_SEGMENTS), parts = flat_vector(at, PTE_PROGRAM_MUTABLE_DATA_SEGMENTS);
    struct flat_vec named = flat_vector(at, PTE_PROGRAM_NAMED_DATA), payloads = flat_vector(at, PTE_PROGRAM_BACKEND_DELEGATE_DATA);
    struct flat_vec buffers = flat_vector(at, PTE_PROGRAM_CONSTANT_BUFFER);
    struct wick_pte_segment *ranges = segments.at ? NEW_ARRAY(d, struct wick_pte_segment, segments.count) : NULL;
    struct wick_pte_subsegments *mutables = parts.at ? NEW_ARRAY(d, struct wick_pte_subsegments, parts.count) : NULL;
    struct wick_pte_named *names = named.at ? NEW_ARRAY(d, struct wick_pte_named, named.count) : NULL;
    for (uint32_t i = 0; ranges && i < segments.count; i++) {
        struct flat_table segment = flat_vec_table(segments, i);
        ranges[i] = (struct wick_pte_segment){flat_u64(segment, PTE_SEGMENT_OFFSET, 0), flat_u64(segment, PTE_SEGMENT_SIZE, 0)};
    }
    for (uint32_t i = 0; mutables && i < parts.count; i++) mutables[i] = subsegments(d, flat_vec_table(parts, i));
    for (uint32_t i = 0; names && i < named.count; i++) {
        struct flat_table entry = flat_vec_table(named, i);
        names[i] = (struct wick_pte_named){flat_string(entry, PTE_NAMED_DATA_KEY), flat_u32(entry, PTE_NAMED_DATA_SEGMENT_INDEX, 0)};
    }
    p->segments = ranges;
    p->segment_count = segments.count;
    p->mutable_segments = mutables;
    p->mutable_segment_count = parts.count;
    p->named = names;
    p->named_count = named.count;
    p->inline_payloads = blobs(d, payloads, PTE_INLINE_DATA_DATA);
    p->inline_payload_count = payloads.count;
    p->constant_buffers = blobs(d, buffers, PTE_BUFFER_STORAGE);
    p->constant_buffer_count = buffers.count;
}

wick_status wick_pte_describe(const struct wick_pte_file *file, struct wick_arena *arena, struct wick_pte_program *program, wick_error *err)
{
    struct describer d = {file, arena, false};
    struct flat_table at = file->program, constants = flat_child(at, PTE_PROGRAM_CONSTANT_SEGMENT);
    struct flat_vec plans = flat_vector(at, PTE_PROGRAM_EXECUTION_PLAN);
    struct wick_pte_plan *copies = NEW_ARRAY(&d, struct wick_pte_plan, plans.count);
    for (uint32_t i = 0; copies && i < plans.count; i++) plan(&d, flat_vec_table(plans, i), &copies[i]);
    *program = (struct wick_pte_program){.version = flat_u32(at, PTE_PROGRAM_VERSION, 0), .plans = copies, .plan_count = plans.count,
                                         .has_constant_segment = constants.at != NULL, .constant_segment = subsegments(&d, constants)};
    data(&d, at, program);
    return d.failed ? wick_fail(err, WICK_OUT_OF_MEMORY, "program: no memory for its description") : WICK_OK;
}
