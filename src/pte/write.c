/* pte/write.c - the structs of program.h into the bytes before a file's segments; see write.h. The inverse of describe.c. */
#include "pte/write.h"

#include "base/checked.h"
#include "flat/build.h"

#include <stdlib.h>

/* ---- layout ---- */

static uint64_t lcm(uint64_t a, uint64_t b)
{
    uint64_t x = a, y = b;
    while (y) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b;
}

wick_status wick_pte_layout(struct wick_pte_segment *segments, const uint32_t *alignments, uint32_t count, uint32_t alignment, uint64_t *bytes, wick_error *err)
{
    const uint32_t most = 1u << 30;
    uint64_t at = 0;
    if (alignment == 0 || alignment > most) return wick_fail(err, WICK_INVALID_ARGUMENT, "segment alignment %u is not in 1..%u", alignment, most);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t own = alignments && alignments[i] ? alignments[i] : 1;
        if (own > most) return wick_fail(err, WICK_INVALID_ARGUMENT, "segment %u: alignment %u is above %u", i, own, most);
        uint64_t step = lcm(alignment, own), padded;
        if (wick_add_ovf(at, step - 1, &padded)) return wick_fail(err, WICK_INVALID_ARGUMENT, "segment %u: the file is too large", i);
        segments[i].offset = padded / step * step;
        if (wick_add_ovf(segments[i].offset, segments[i].size, &at) || at > INT64_MAX) return wick_fail(err, WICK_INVALID_ARGUMENT, "segment %u: the file is too large", i);
    }
    *bytes = at;
    return WICK_OK;
}

uint64_t wick_pte_segment_base(uint64_t program_size, uint32_t alignment) { return (program_size + alignment - 1) / alignment * alignment; }

/* ---- tables ---- */

/* References of a vector being made; on the heap, one at a time is alive per call level. */
static flat_ref *new_refs(struct wick_flat_builder *b, size_t count)
{
    flat_ref *refs = b->status == WICK_OK ? malloc((count + 1) * sizeof *refs) : NULL;
    if (!refs && b->status == WICK_OK) b->status = WICK_OUT_OF_MEMORY;
    return refs;
}

static flat_ref end_refs(struct wick_flat_builder *b, flat_ref *refs, size_t count)
{
    flat_ref vector = refs ? wick_flat_add_tables(b, refs, count) : 0;
    free(refs);
    return vector;
}

static flat_ref add_ints(struct wick_flat_builder *b, struct wick_pte_ints ints) { return wick_flat_add_vector(b, FLAT_I32, ints.items, ints.count, 0); }

static flat_ref add_allocation(struct wick_flat_builder *b, const struct wick_pte_tensor_value *t)
{
    if (!t->planned) return 0;
    wick_flat_table_begin(b, PTE_TABLE_ALLOCATION);
    wick_flat_set_int(b, PTE_ALLOCATION_MEMORY_ID, t->memory_id);
    wick_flat_set_int(b, PTE_ALLOCATION_OFFSET_LOW, (int64_t)(t->memory_offset & UINT32_MAX));
    wick_flat_set_int(b, PTE_ALLOCATION_OFFSET_HIGH, (int64_t)(t->memory_offset >> 32));
    return wick_flat_table_end(b);
}

static flat_ref add_extra(struct wick_flat_builder *b, const struct wick_pte_tensor_value *t)
{
    if (!t->extra) return 0;
    flat_ref name = wick_flat_add_string(b, t->name);
    wick_flat_table_begin(b, PTE_TABLE_EXTRA);
    wick_flat_set_u64(b, PTE_EXTRA_MUTABLE_SEGMENTS_IDX, t->mutable_segment);
    wick_flat_set_ref(b, PTE_EXTRA_NAME, name);
    wick_flat_set_int(b, PTE_EXTRA_LOCATION, t->location);
    wick_flat_set_int(b, PTE_EXTRA_DEVICE_TYPE, t->device_type);
    wick_flat_set_int(b, PTE_EXTRA_DEVICE_INDEX, t->device_index);
    return wick_flat_table_end(b);
}

static flat_ref add_tensor(struct wick_flat_builder *b, const struct wick_pte_tensor_value *t)
{
    if (!t || t->shape.rank > WICK_RANK_MAX) {
        if (b->status == WICK_OK) b->status = WICK_INVALID_ARGUMENT, b->why = "a tensor is missing or has too many dims";
        return 0;
    }
    flat_ref sizes = wick_flat_add_vector(b, FLAT_I32, t->shape.sizes, t->shape.rank, 0);
    flat_ref order = wick_flat_add_vector(b, FLAT_U8, t->shape.dim_order, t->shape.rank, 0);
    flat_ref allocation = add_allocation(b, t), extra = add_extra(b, t);
    wick_flat_table_begin(b, PTE_TABLE_TENSOR);
    wick_flat_set_int(b, PTE_TENSOR_SCALAR_TYPE, t->shape.dtype);
    wick_flat_set_ref(b, PTE_TENSOR_SIZES, sizes);
    wick_flat_set_ref(b, PTE_TENSOR_DIM_ORDER, order);
    wick_flat_set_int(b, PTE_TENSOR_REQUIRES_GRAD, t->requires_grad);
    wick_flat_set_int(b, PTE_TENSOR_DATA_BUFFER_IDX, t->data_index);
    wick_flat_set_ref(b, PTE_TENSOR_ALLOCATION_INFO, allocation);
    wick_flat_set_int(b, PTE_TENSOR_LAYOUT, t->layout);
    wick_flat_set_int(b, PTE_TENSOR_SHAPE_DYNAMISM, t->dynamism);
    wick_flat_set_ref(b, PTE_TENSOR_EXTRA_TENSOR_INFO, extra);
    return wick_flat_table_end(b);
}

/* All list tables have one field, the items. */
static flat_ref add_list(struct wick_flat_builder *b, const struct wick_pte_value *v, unsigned table)
{
    static const unsigned types[] = {[PTE_KIND_INT_LIST] = FLAT_I64, [PTE_KIND_DOUBLE_LIST] = FLAT_F64, [PTE_KIND_BOOL_LIST] = FLAT_BOOL,
                                     [PTE_KIND_TENSOR_LIST] = FLAT_I32, [PTE_KIND_OPTIONAL_TENSOR_LIST] = FLAT_I32};
    static const int64_t nothing = 0;
    const void *items = v->as.list.count || v->as.list.items ? v->as.list.items : &nothing;
    flat_ref vector = wick_flat_add_vector(b, types[v->kind], items, v->as.list.count, 0);
    wick_flat_table_begin(b, table);
    wick_flat_set_ref(b, PTE_INT_LIST_ITEMS, vector);
    return wick_flat_table_end(b);
}

static flat_ref add_value(struct wick_flat_builder *b, const struct wick_pte_value *v)
{
    const struct wick_flat_union *kinds = &wick_pte_schema.unions[PTE_UNION_KIND];
    if (v->kind == 0 || v->kind >= kinds->count) {
        if (b->status == WICK_OK) b->status = WICK_INVALID_ARGUMENT, b->why = "a value has no kind";
        return 0;
    }
    unsigned table = (unsigned)kinds->members[v->kind].table;
    flat_ref payload = 0, text = v->kind == PTE_KIND_STRING ? wick_flat_add_string(b, v->as.string) : 0;
    if (v->kind == PTE_KIND_TENSOR) payload = add_tensor(b, v->as.tensor);
    else if (v->kind >= PTE_KIND_INT_LIST) payload = add_list(b, v, table);
    else {
        wick_flat_table_begin(b, table);
        if (v->kind == PTE_KIND_INT) wick_flat_set_int(b, PTE_INT_VAL, v->as.i);
        if (v->kind == PTE_KIND_BOOLEAN) wick_flat_set_int(b, PTE_BOOLEAN_VAL, v->as.b);
        if (v->kind == PTE_KIND_DOUBLE) wick_flat_set_real(b, PTE_DOUBLE_VAL, v->as.d);
        if (v->kind == PTE_KIND_STRING) wick_flat_set_ref(b, PTE_STRING_VAL, text);
        payload = wick_flat_table_end(b);
    }
    wick_flat_table_begin(b, PTE_TABLE_VALUE);
    wick_flat_set_union(b, PTE_VALUE_VAL, v->kind, payload);
    return wick_flat_table_end(b);
}

static flat_ref add_instruction(struct wick_flat_builder *b, const struct wick_pte_instruction *i)
{
    const struct wick_flat_union *kinds = &wick_pte_schema.unions[PTE_UNION_INSTR];
    bool call = i->type == PTE_INSTR_KERNEL_CALL || i->type == PTE_INSTR_DELEGATE_CALL;
    if (i->type == 0 || i->type >= kinds->count) {
        if (b->status == WICK_OK) b->status = WICK_INVALID_ARGUMENT, b->why = "an instruction has no kind";
        return 0;
    }
    flat_ref args = call ? add_ints(b, i->args) : 0;
    wick_flat_table_begin(b, (unsigned)kinds->members[i->type].table);
    wick_flat_set_int(b, 0, i->index); /* the first field of every instruction */
    if (call) wick_flat_set_ref(b, PTE_KERNEL_CALL_ARGS, args);
    else if (i->type != PTE_INSTR_FREE_CALL) wick_flat_set_int(b, PTE_MOVE_CALL_TO, i->target);
    flat_ref payload = wick_flat_table_end(b);
    wick_flat_table_begin(b, PTE_TABLE_INSTRUCTION);
    wick_flat_set_union(b, PTE_INSTRUCTION_ARGS, i->type, payload);
    return wick_flat_table_end(b);
}

static flat_ref add_frames(struct wick_flat_builder *b, const struct wick_pte_frame_list *list)
{
    flat_ref *refs = list->frames ? new_refs(b, list->count) : NULL, items = 0;
    for (uint32_t i = 0; refs && i < list->count; i++) {
        const struct wick_pte_frame *f = &list->frames[i];
        flat_ref file = wick_flat_add_string(b, f->filename), name = wick_flat_add_string(b, f->name), context = wick_flat_add_string(b, f->context);
        wick_flat_table_begin(b, PTE_TABLE_FRAME);
        wick_flat_set_ref(b, PTE_FRAME_FILENAME, file);
        wick_flat_set_int(b, PTE_FRAME_LINENO, f->line);
        wick_flat_set_ref(b, PTE_FRAME_NAME, name);
        wick_flat_set_ref(b, PTE_FRAME_CONTEXT, context);
        refs[i] = wick_flat_table_end(b);
    }
    if (refs) items = end_refs(b, refs, list->count);
    wick_flat_table_begin(b, PTE_TABLE_FRAME_LIST);
    wick_flat_set_ref(b, PTE_FRAME_LIST_ITEMS, items);
    return wick_flat_table_end(b);
}

static flat_ref add_chain(struct wick_flat_builder *b, const struct wick_pte_chain *c)
{
    flat_ref inputs = add_ints(b, c->inputs), outputs = add_ints(b, c->outputs), trace = 0;
    flat_ref *refs = new_refs(b, c->instruction_count);
    for (uint32_t i = 0; refs && i < c->instruction_count; i++) refs[i] = add_instruction(b, &c->instructions[i]);
    flat_ref instructions = end_refs(b, refs, c->instruction_count);
    if (c->stacktrace) {
        refs = new_refs(b, c->stacktrace_count);
        for (uint32_t i = 0; refs && i < c->stacktrace_count; i++) refs[i] = add_frames(b, &c->stacktrace[i]);
        trace = end_refs(b, refs, c->stacktrace_count);
    }
    wick_flat_table_begin(b, PTE_TABLE_CHAIN);
    wick_flat_set_ref(b, PTE_CHAIN_INPUTS, inputs);
    wick_flat_set_ref(b, PTE_CHAIN_OUTPUTS, outputs);
    wick_flat_set_ref(b, PTE_CHAIN_INSTRUCTIONS, instructions);
    wick_flat_set_ref(b, PTE_CHAIN_STACKTRACE, trace);
    return wick_flat_table_end(b);
}

static flat_ref add_delegate(struct wick_flat_builder *b, const struct wick_pte_delegate *d)
{
    flat_ref id = wick_flat_add_string(b, d->id), *refs = d->specs ? new_refs(b, d->spec_count) : NULL, specs = 0;
    for (uint32_t i = 0; refs && i < d->spec_count; i++) {
        flat_ref key = wick_flat_add_string(b, d->specs[i].key), value = wick_flat_add_vector(b, FLAT_U8, d->specs[i].value.data, d->specs[i].value.size, 0);
        wick_flat_table_begin(b, PTE_TABLE_COMPILE_SPEC);
        wick_flat_set_ref(b, PTE_COMPILE_SPEC_KEY, key);
        wick_flat_set_ref(b, PTE_COMPILE_SPEC_VALUE, value);
        refs[i] = wick_flat_table_end(b);
    }
    if (refs) specs = end_refs(b, refs, d->spec_count);
    wick_flat_table_begin(b, PTE_TABLE_DATA_REFERENCE);
    wick_flat_set_int(b, PTE_DATA_REFERENCE_LOCATION, d->location);
    wick_flat_set_int(b, PTE_DATA_REFERENCE_INDEX, d->index);
    flat_ref processed = wick_flat_table_end(b);
    wick_flat_table_begin(b, PTE_TABLE_DELEGATE);
    wick_flat_set_ref(b, PTE_DELEGATE_ID, id);
    wick_flat_set_ref(b, PTE_DELEGATE_PROCESSED, processed);
    wick_flat_set_ref(b, PTE_DELEGATE_COMPILE_SPECS, specs);
    return wick_flat_table_end(b);
}

static flat_ref add_operators(struct wick_flat_builder *b, const struct wick_pte_plan *p)
{
    flat_ref *refs = p->operators ? new_refs(b, p->operator_count) : NULL;
    if (!refs) return 0;
    for (uint32_t i = 0; i < p->operator_count; i++) {
        flat_ref name = wick_flat_add_string(b, p->operators[i].name), overload = wick_flat_add_string(b, p->operators[i].overload);
        wick_flat_table_begin(b, PTE_TABLE_OPERATOR);
        wick_flat_set_ref(b, PTE_OPERATOR_NAME, name);
        wick_flat_set_ref(b, PTE_OPERATOR_OVERLOAD, overload);
        refs[i] = wick_flat_table_end(b);
    }
    return end_refs(b, refs, p->operator_count);
}

static flat_ref add_devices(struct wick_flat_builder *b, const struct wick_pte_plan *p)
{
    flat_ref *refs = p->devices ? new_refs(b, p->device_count) : NULL;
    if (!refs) return 0;
    for (uint32_t i = 0; i < p->device_count; i++) {
        wick_flat_table_begin(b, PTE_TABLE_BUFFER_DEVICE);
        wick_flat_set_int(b, PTE_BUFFER_DEVICE_BUFFER_IDX, p->devices[i].buffer);
        wick_flat_set_int(b, PTE_BUFFER_DEVICE_DEVICE_TYPE, p->devices[i].device_type);
        wick_flat_set_int(b, PTE_BUFFER_DEVICE_DEVICE_INDEX, p->devices[i].device_index);
        refs[i] = wick_flat_table_end(b);
    }
    return end_refs(b, refs, p->device_count);
}

static flat_ref add_container(struct wick_flat_builder *b, const struct wick_pte_plan *p)
{
    if (!p->container) return 0;
    flat_ref in = wick_flat_add_string(b, p->encoded_inputs), out = wick_flat_add_string(b, p->encoded_outputs);
    wick_flat_table_begin(b, PTE_TABLE_CONTAINER);
    wick_flat_set_ref(b, PTE_CONTAINER_INP, in);
    wick_flat_set_ref(b, PTE_CONTAINER_OUT, out);
    return wick_flat_table_end(b);
}

static flat_ref add_plan(struct wick_flat_builder *b, const struct wick_pte_plan *p)
{
    flat_ref name = wick_flat_add_string(b, p->name), container = add_container(b, p), *refs = new_refs(b, p->value_count);
    for (uint32_t i = 0; refs && i < p->value_count; i++) refs[i] = add_value(b, &p->values[i]);
    flat_ref values = end_refs(b, refs, p->value_count), inputs = add_ints(b, p->inputs), outputs = add_ints(b, p->outputs);
    refs = new_refs(b, p->chain_count);
    for (uint32_t i = 0; refs && i < p->chain_count; i++) refs[i] = add_chain(b, &p->chains[i]);
    flat_ref chains = end_refs(b, refs, p->chain_count), operators = add_operators(b, p), delegates = 0;
    if (p->delegates) {
        refs = new_refs(b, p->delegate_count);
        for (uint32_t i = 0; refs && i < p->delegate_count; i++) refs[i] = add_delegate(b, &p->delegates[i]);
        delegates = end_refs(b, refs, p->delegate_count);
    }
    flat_ref sizes = wick_flat_add_vector(b, FLAT_I64, p->buffer_sizes, p->buffer_count, 0), devices = add_devices(b, p);
    wick_flat_table_begin(b, PTE_TABLE_PLAN);
    wick_flat_set_ref(b, PTE_PLAN_NAME, name);
    wick_flat_set_ref(b, PTE_PLAN_CONTAINER_META_TYPE, container);
    wick_flat_set_ref(b, PTE_PLAN_VALUES, values);
    wick_flat_set_ref(b, PTE_PLAN_INPUTS, inputs);
    wick_flat_set_ref(b, PTE_PLAN_OUTPUTS, outputs);
    wick_flat_set_ref(b, PTE_PLAN_CHAINS, chains);
    wick_flat_set_ref(b, PTE_PLAN_OPERATORS, operators);
    wick_flat_set_ref(b, PTE_PLAN_DELEGATES, delegates);
    wick_flat_set_ref(b, PTE_PLAN_BUFFER_SIZES, sizes);
    wick_flat_set_ref(b, PTE_PLAN_BUFFER_DEVICES, devices);
    return wick_flat_table_end(b);
}

/* ---- data ---- */

static flat_ref add_subsegments(struct wick_flat_builder *b, const struct wick_pte_subsegments *s)
{
    flat_ref offsets = wick_flat_add_vector(b, FLAT_U64, s->offsets, s->count, 0);
    wick_flat_table_begin(b, PTE_TABLE_SUBSEGMENTS);
    wick_flat_set_int(b, PTE_SUBSEGMENTS_SEGMENT_INDEX, s->segment);
    wick_flat_set_ref(b, PTE_SUBSEGMENTS_OFFSETS, offsets);
    return wick_flat_table_end(b);
}

/* Buffer and BackendDelegateInlineData: one 16-aligned byte vector each. */
static flat_ref add_blobs(struct wick_flat_builder *b, const struct wick_pte_blob *blobs, uint32_t count, unsigned table)
{
    flat_ref *refs = blobs ? new_refs(b, count) : NULL;
    if (!refs) return 0;
    for (uint32_t i = 0; i < count; i++) {
        flat_ref bytes = wick_flat_add_vector(b, FLAT_U8, blobs[i].data, blobs[i].size, 16);
        wick_flat_table_begin(b, table);
        wick_flat_set_ref(b, 0, bytes);
        refs[i] = wick_flat_table_end(b);
    }
    return end_refs(b, refs, count);
}

static flat_ref add_segments(struct wick_flat_builder *b, const struct wick_pte_program *p)
{
    flat_ref *refs = p->segments ? new_refs(b, p->segment_count) : NULL;
    if (!refs) return 0;
    for (uint32_t i = 0; i < p->segment_count; i++) {
        wick_flat_table_begin(b, PTE_TABLE_SEGMENT);
        wick_flat_set_u64(b, PTE_SEGMENT_OFFSET, p->segments[i].offset);
        wick_flat_set_u64(b, PTE_SEGMENT_SIZE, p->segments[i].size);
        refs[i] = wick_flat_table_end(b);
    }
    return end_refs(b, refs, p->segment_count);
}

static flat_ref add_named(struct wick_flat_builder *b, const struct wick_pte_program *p)
{
    flat_ref *refs = p->named ? new_refs(b, p->named_count) : NULL;
    if (!refs) return 0;
    for (uint32_t i = 0; i < p->named_count; i++) {
        flat_ref key = wick_flat_add_string(b, p->named[i].key);
        wick_flat_table_begin(b, PTE_TABLE_NAMED_DATA);
        wick_flat_set_ref(b, PTE_NAMED_DATA_KEY, key);
        wick_flat_set_int(b, PTE_NAMED_DATA_SEGMENT_INDEX, p->named[i].segment);
        refs[i] = wick_flat_table_end(b);
    }
    return end_refs(b, refs, p->named_count);
}

static flat_ref add_mutable(struct wick_flat_builder *b, const struct wick_pte_program *p)
{
    flat_ref *refs = p->mutable_segments ? new_refs(b, p->mutable_segment_count) : NULL;
    if (!refs) return 0;
    for (uint32_t i = 0; i < p->mutable_segment_count; i++) refs[i] = add_subsegments(b, &p->mutable_segments[i]);
    return end_refs(b, refs, p->mutable_segment_count);
}

static flat_ref add_program(struct wick_flat_builder *b, const struct wick_pte_program *p)
{
    flat_ref *refs = new_refs(b, p->plan_count);
    for (uint32_t i = 0; refs && i < p->plan_count; i++) refs[i] = add_plan(b, &p->plans[i]);
    flat_ref plans = end_refs(b, refs, p->plan_count), segments = add_segments(b, p), named = add_named(b, p), mutables = add_mutable(b, p);
    flat_ref buffers = add_blobs(b, p->constant_buffers, p->constant_buffer_count, PTE_TABLE_BUFFER);
    flat_ref payloads = add_blobs(b, p->inline_payloads, p->inline_payload_count, PTE_TABLE_INLINE_DATA);
    flat_ref constants = p->has_constant_segment ? add_subsegments(b, &p->constant_segment) : 0;
    wick_flat_table_begin(b, PTE_TABLE_PROGRAM);
    wick_flat_set_int(b, PTE_PROGRAM_VERSION, p->version);
    wick_flat_set_ref(b, PTE_PROGRAM_EXECUTION_PLAN, plans);
    wick_flat_set_ref(b, PTE_PROGRAM_CONSTANT_BUFFER, buffers);
    wick_flat_set_ref(b, PTE_PROGRAM_BACKEND_DELEGATE_DATA, payloads);
    wick_flat_set_ref(b, PTE_PROGRAM_SEGMENTS, segments);
    wick_flat_set_ref(b, PTE_PROGRAM_CONSTANT_SEGMENT, constants);
    wick_flat_set_ref(b, PTE_PROGRAM_MUTABLE_DATA_SEGMENTS, mutables);
    wick_flat_set_ref(b, PTE_PROGRAM_NAMED_DATA, named);
    return wick_flat_table_end(b);
}

/* ---- the file's head ---- */

static void put(uint8_t *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) at[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t segment_data_size(const struct wick_pte_program *p)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < p->segment_count; i++)
        if (p->segments[i].size) end = WICK_MAX(end, p->segments[i].offset + p->segments[i].size);
    return end;
}

wick_status wick_pte_render(const struct wick_pte_program *program, uint32_t alignment, uint8_t **bytes, size_t *size, wick_error *err)
{
    struct wick_flat_builder b;
    uint64_t data_size = segment_data_size(program);
    uint8_t *built = NULL;
    *bytes = NULL;
    wick_flat_builder_init(&b, &wick_pte_schema);
    wick_status status = wick_flat_finish(&b, add_program(&b, program), data_size ? WICK_PTE_HEADER_BYTES : 0, &built, size, err);
    if (status == WICK_OK && !(*bytes = malloc(WICK_MAX(*size, (size_t)WICK_PTE_HEAD_BYTES)))) status = wick_fail_oom(err, *size, "program tables");
    if (status == WICK_OK) {
        memcpy(*bytes, built, *size);
        /* Readers want 64 bytes whatever is in them. */
        if (*size < WICK_PTE_HEAD_BYTES) {
            memset(*bytes + *size, 0, WICK_PTE_HEAD_BYTES - *size);
            *size = WICK_PTE_HEAD_BYTES;
        }
        if (data_size) {
            memcpy(*bytes + 8, "eh00", 4);
            put(*bytes + 12, WICK_PTE_HEADER_BYTES, 4);
            put(*bytes + 16, *size, 8);
            put(*bytes + 24, wick_pte_segment_base(*size, alignment), 8);
            put(*bytes + 32, data_size, 8);
        }
    }
    wick_flat_builder_free(&b);
    return status;
}

void wick_pte_render_free(uint8_t *bytes) { free(bytes); }
