/* runtime/method.c - turning a plan of the file into a method template: values, origins, instructions, operators.
 *
 * The file is verified (pte/pte.h says for what), so indices are followed without looking. The template goes to
 * src/exec, which binds it. */
#include "runtime/method.h"

#include "base/checked.h"
#include "runtime/source.h"

struct load {
    const struct wick_program *program;
    struct flat_table plan;
    struct wick_method *method;
    const struct wick_op_table *ops;
    struct wick_arena *arena;
    const struct wick_op **resolved; /* one an operator of the plan */
    wick_error *err;
};

static wick_status oom(const struct load *load, size_t bytes) { return wick_fail_oom(load->err, bytes, "method"); }

/* Bytes at an address that suits the element type: as they lie in the file, or a copy. */
static wick_status aligned_bytes(const struct load *load, const struct wick_tensor *tensor, const uint8_t *data, const void **out)
{
    size_t alignment = WICK_MIN(wick_dtype_size(tensor->shape.dtype), sizeof(double));
    *out = data;
    if ((uintptr_t)data % alignment == 0 || tensor->capacity == 0) return WICK_OK;
    void *copy = wick_arena_raw(load->arena, tensor->capacity, 64);
    if (!copy) return oom(load, tensor->capacity);
    *out = memcpy(copy, data, tensor->capacity);
    return WICK_OK;
}

/* Where the bytes of a tensor come from (pte_tensor's storage), and its template. */
static wick_status load_tensor(const struct load *load, struct flat_table table, struct wick_tensor *tensor, struct wick_origin *origin)
{
    struct wick_pte_tensor file;
    WICK_TRY(wick_pte_tensor_read(&load->program->file, load->plan, table, &file, load->err));
    if (file.dynamism == WICK_DYNAMIC_UNBOUND) return wick_fail(load->err, WICK_NOT_SUPPORTED, "tensor without an upper bound (DYNAMIC_UNBOUND)");
    if (file.nbytes > SIZE_MAX) return wick_fail(load->err, WICK_OUT_OF_MEMORY, "tensor of %llu bytes", (unsigned long long)file.nbytes);
    *tensor = (struct wick_tensor){.shape = file.shape, .dynamism = file.dynamism, .capacity = (size_t)file.nbytes};
    wick_shape_strides(&tensor->shape, tensor->strides);
    *origin = (struct wick_origin){.name = file.name};
    const uint8_t *bytes = file.data;
    if (file.storage == WICK_PTE_EXTERNAL || file.storage == WICK_PTE_EXTERNAL_INITIAL)
        WICK_TRY(wick_program_external(load->program, file.name, &file.shape, &bytes, load->err));
    if (wick_pte_tensor_is_planned(&file)) {
        origin->storage = WICK_STORAGE_PLANNED;
        origin->buffer = file.memory_id - 1;
        origin->offset = file.memory_offset;
        origin->initial = file.storage == WICK_PTE_PLANNED ? NULL : bytes;
        if (file.nbytes && file.memory_offset % WICK_MIN(wick_dtype_size(file.shape.dtype), sizeof(double)) != 0)
            return wick_fail(load->err, WICK_INVALID_PROGRAM, "tensor is planned at %llu, which does not suit %s",
                             (unsigned long long)file.memory_offset, wick_dtype_word(file.shape.dtype));
    } else if (file.storage != WICK_PTE_CALLER) {
        origin->storage = WICK_STORAGE_CONSTANT;
        WICK_TRY(aligned_bytes(load, tensor, bytes, &origin->initial));
        memcpy(&tensor->data, &origin->initial, sizeof tensor->data); /* read-only, as `constant` says */
        tensor->constant = true;
    }
    return WICK_OK;
}

/* Lists keep their items as i32 in the arena: the file's are i64 for ints, and unaligned for all we know. */
static wick_status load_list(const struct load *load, struct flat_table payload, uint8_t kind, struct wick_value *value)
{
    struct flat_vec items = flat_vector(payload, PTE_INT_LIST_ITEMS);
    value->as.list.count = items.count;
    if (kind == PTE_KIND_DOUBLE_LIST) {
        double *doubles = WICK_NEW_ARRAY(load->arena, double, items.count);
        if (!doubles) return oom(load, items.count * sizeof *doubles);
        for (uint32_t i = 0; i < items.count; i++) doubles[i] = flat_vec_f64(items, i);
        value->as.list.doubles = doubles;
        return WICK_OK;
    }
    if (kind == PTE_KIND_BOOL_LIST) {
        uint8_t *bools = WICK_NEW_ARRAY(load->arena, uint8_t, items.count);
        if (!bools) return oom(load, items.count);
        for (uint32_t i = 0; i < items.count; i++) bools[i] = flat_vec_u8(items, i) != 0;
        value->as.list.bools = bools;
        return WICK_OK;
    }
    int32_t *indices = WICK_NEW_ARRAY(load->arena, int32_t, items.count);
    if (!indices) return oom(load, items.count * sizeof *indices);
    for (uint32_t i = 0; i < items.count; i++) indices[i] = kind == PTE_KIND_INT_LIST ? (int32_t)flat_vec_i64(items, i) : flat_vec_i32(items, i);
    value->as.list.indices = indices;
    return WICK_OK;
}

static wick_status load_value(const struct load *load, uint32_t index)
{
    static const uint8_t tags[PTE_KIND_COUNT] = {
        [PTE_KIND_NIL] = WICK_TAG_NONE,
        [PTE_KIND_INT] = WICK_TAG_INT,
        [PTE_KIND_BOOLEAN] = WICK_TAG_BOOL,
        [PTE_KIND_DOUBLE] = WICK_TAG_DOUBLE,
        [PTE_KIND_TENSOR] = WICK_TAG_TENSOR,
        [PTE_KIND_STRING] = WICK_TAG_STRING,
        [PTE_KIND_INT_LIST] = WICK_TAG_INT_LIST,
        [PTE_KIND_DOUBLE_LIST] = WICK_TAG_DOUBLE_LIST,
        [PTE_KIND_BOOL_LIST] = WICK_TAG_BOOL_LIST,
        [PTE_KIND_TENSOR_LIST] = WICK_TAG_TENSOR_LIST,
        [PTE_KIND_OPTIONAL_TENSOR_LIST] = WICK_TAG_OPTIONAL_TENSOR_LIST,
    };
    uint8_t kind;
    struct flat_table payload = wick_pte_value(load->plan, index, &kind);
    struct wick_method *method = load->method;
    struct wick_value *value = &method->values[index];
    value->tag = tags[kind];
    switch (kind) {
    case PTE_KIND_TENSOR:
        value->as.tensor = &method->tensors[method->tensor_count];
        return load_tensor(load, payload, value->as.tensor, &method->origins[method->tensor_count++]);
    case PTE_KIND_INT: value->as.i = flat_i64(payload, PTE_INT_VAL, 0); return WICK_OK;
    case PTE_KIND_DOUBLE: value->as.d = flat_f64(payload, PTE_DOUBLE_VAL, 0); return WICK_OK;
    case PTE_KIND_BOOLEAN: value->as.b = flat_bool(payload, PTE_BOOLEAN_VAL, false); return WICK_OK;
    case PTE_KIND_STRING: value->as.string = flat_string(payload, PTE_STRING_VAL); return WICK_OK;
    case PTE_KIND_NIL: return WICK_OK;
    default: return load_list(load, payload, kind, value);
    }
}

static wick_status load_values(const struct load *load)
{
    struct wick_method *method = load->method;
    struct flat_vec values = flat_vector(load->plan, PTE_PLAN_VALUES);
    uint32_t tensors = 0;
    for (uint32_t i = 0; i < values.count; i++) {
        uint8_t kind;
        wick_pte_value(load->plan, i, &kind);
        tensors += kind == PTE_KIND_TENSOR;
    }
    method->value_count = values.count;
    method->values = WICK_NEW_ARRAY(load->arena, struct wick_value, values.count);
    method->tensors = WICK_NEW_ARRAY(load->arena, struct wick_tensor, tensors);
    method->origins = WICK_NEW_ARRAY(load->arena, struct wick_origin, tensors);
    if (!method->values || !method->tensors || !method->origins) return oom(load, values.count * sizeof *method->values);
    for (uint32_t i = 0; i < values.count; i++) {
        wick_status status = load_value(load, i);
        if (status != WICK_OK) return wick_fail_in(load->err, status, "value %u", i);
    }
    return WICK_OK;
}

static wick_status load_ids(const struct load *load, struct flat_vec from, const uint32_t **out, uint32_t *count)
{
    uint32_t *ids = WICK_NEW_ARRAY(load->arena, uint32_t, from.count);
    if (!ids) return oom(load, from.count * sizeof *ids);
    for (uint32_t i = 0; i < from.count; i++) ids[i] = (uint32_t)flat_vec_i32(from, i);
    *out = ids;
    *count = from.count;
    return WICK_OK;
}

static wick_status load_buffers(const struct load *load)
{
    struct flat_vec sizes = flat_vector(load->plan, PTE_PLAN_BUFFER_SIZES);
    uint32_t count = sizes.count ? sizes.count - 1 : 0; /* entry 0 is reserved */
    uint64_t *bytes = WICK_NEW_ARRAY(load->arena, uint64_t, count);
    if (!bytes) return oom(load, count * sizeof *bytes);
    for (uint32_t i = 0; i < count; i++) bytes[i] = (uint64_t)flat_vec_i64(sizes, i + 1);
    load->method->planned_bytes = bytes;
    load->method->planned_count = count;
    return WICK_OK;
}

/* ---- operators ---- */

/* True if name, or name and overload joined by a dot, is `full`: files write both ways. */
static bool is_named(const char *full, struct wick_str name, struct wick_str overload)
{
    size_t size = strlen(full);
    if (overload.size == 0) return size == name.size && memcmp(full, name.data, size) == 0;
    return size == name.size + 1 + overload.size && memcmp(full, name.data, name.size) == 0 && full[name.size] == '.' &&
           memcmp(full + name.size + 1, overload.data, overload.size) == 0;
}

/* "a::b.out, c::d", as much of it as a message holds; `more` are not shown. */
struct missing {
    char names[400];
    size_t used;
    uint32_t count, more;
};

static void add_missing(struct missing *missing, struct wick_str name, struct wick_str overload)
{
    struct wick_str parts[] = {missing->count++ ? WICK_STR(", ") : WICK_STR(""), name, overload.size ? WICK_STR(".") : WICK_STR(""), overload};
    size_t total = 0;
    for (size_t i = 0; i < WICK_ARRAY_SIZE(parts); i++) total += WICK_MIN(parts[i].size, sizeof missing->names);
    if (missing->more || total >= sizeof missing->names - missing->used) {
        missing->more++;
        return;
    }
    for (size_t i = 0; i < WICK_ARRAY_SIZE(parts); i++) {
        if (parts[i].size) memcpy(missing->names + missing->used, parts[i].data, parts[i].size);
        missing->used += parts[i].size;
    }
}

static wick_status resolve_operators(struct load *load)
{
    struct flat_vec operators = flat_vector(load->plan, PTE_PLAN_OPERATORS);
    struct missing missing = {.used = 0};
    load->resolved = WICK_NEW_ARRAY(load->arena, const struct wick_op *, operators.count);
    if (!load->resolved) return oom(load, operators.count * sizeof *load->resolved);
    for (uint32_t i = 0; i < operators.count; i++) {
        struct flat_table entry = flat_vec_table(operators, i);
        struct wick_str name = flat_string(entry, PTE_OPERATOR_NAME), overload = flat_string(entry, PTE_OPERATOR_OVERLOAD);
        for (size_t k = 0; k < load->ops->count && !load->resolved[i]; k++)
            if (is_named(load->ops->ops[k]->meta->name, name, overload)) load->resolved[i] = load->ops->ops[k];
        if (!load->resolved[i]) add_missing(&missing, name, overload);
    }
    if (missing.count == 0) return WICK_OK;
    if (missing.more)
        return wick_fail(load->err, WICK_OPERATOR_MISSING, "%u operators are not in this build: %.*s and %u more", missing.count, (int)missing.used,
                         missing.names, missing.more);
    return wick_fail(load->err, WICK_OPERATOR_MISSING, "%u operator%s not in this build: %.*s", missing.count, missing.count > 1 ? "s are" : " is",
                     (int)missing.used, missing.names);
}

/* ---- instructions ---- */

/* Arguments in schema order. The file adds the result once more at the end ("return"), except for operators whose
 * result is a number: then the signature counts it. */
static wick_status load_call(const struct load *load, struct flat_table call, struct wick_instruction *in)
{
    in->op = load->resolved[flat_i32(call, PTE_KERNEL_CALL_OP_INDEX, 0)];
    WICK_TRY(load_ids(load, flat_vector(call, PTE_KERNEL_CALL_ARGS), &in->ids, &in->count));
    const struct wick_opmeta *meta = in->op->meta;
    uint32_t wants = wick_signature_inputs(meta->signature) + wick_signature_outs(meta->signature);
    if (in->count != wants && in->count != wants + 1)
        return wick_fail(load->err, WICK_INVALID_PROGRAM, "operator %s: %u arguments, needs %u and its result", meta->name, in->count, wants);
    in->count = wants;
    struct wick_args args = {load->method->values, in->ids, in->count};
    return wick_args_check(&args, meta, load->err);
}

static wick_status load_pair(const struct load *load, int32_t a, int32_t b, uint32_t count, struct wick_instruction *in)
{
    uint32_t *ids = WICK_NEW_ARRAY(load->arena, uint32_t, 2);
    if (!ids) return oom(load, 2 * sizeof *ids);
    ids[0] = (uint32_t)a;
    ids[1] = (uint32_t)b;
    in->ids = ids;
    in->count = count;
    return WICK_OK;
}

static wick_status load_instruction(const struct load *load, struct flat_table table, uint32_t chain_begin, struct wick_instruction *in)
{
    struct flat_table args = flat_child(table, PTE_INSTRUCTION_ARGS);
    switch (flat_u8(table, PTE_INSTRUCTION_ARGS_TYPE, 0)) {
    case PTE_INSTR_KERNEL_CALL: in->kind = WICK_INSTRUCTION_CALL; return load_call(load, args, in);
    case PTE_INSTR_DELEGATE_CALL:
        in->kind = WICK_INSTRUCTION_DELEGATE;
        in->delegate = (uint32_t)flat_i32(args, PTE_DELEGATE_CALL_DELEGATE_INDEX, 0);
        return load_ids(load, flat_vector(args, PTE_DELEGATE_CALL_ARGS), &in->ids, &in->count);
    case PTE_INSTR_MOVE_CALL:
        in->kind = WICK_INSTRUCTION_MOVE;
        return load_pair(load, flat_i32(args, PTE_MOVE_CALL_FROM, 0), flat_i32(args, PTE_MOVE_CALL_TO, 0), 2, in);
    case PTE_INSTR_JUMP_FALSE:
        in->kind = WICK_INSTRUCTION_JUMP_FALSE;
        in->target = chain_begin + (uint32_t)flat_i32(args, PTE_JUMP_FALSE_DESTINATION, 0);
        return load_pair(load, flat_i32(args, PTE_JUMP_FALSE_COND, 0), 0, 1, in);
    default: in->kind = WICK_INSTRUCTION_FREE; return load_pair(load, flat_i32(args, PTE_FREE_CALL_VALUE, 0), 0, 1, in);
    }
}

/* Chains run one after the other, so they are one list; a jump past the end of its chain begins the next. */
static wick_status load_instructions(const struct load *load)
{
    struct flat_vec chains = flat_vector(load->plan, PTE_PLAN_CHAINS);
    uint64_t total = 0;
    for (uint32_t c = 0; c < chains.count; c++) total += flat_vector(flat_vec_table(chains, c), PTE_CHAIN_INSTRUCTIONS).count;
    if (total > INT32_MAX) return wick_fail(load->err, WICK_INVALID_PROGRAM, "%llu instructions", (unsigned long long)total);
    struct wick_instruction *list = WICK_NEW_ARRAY(load->arena, struct wick_instruction, (size_t)total);
    if (!list) return oom(load, (size_t)total * sizeof *list);
    uint32_t count = 0;
    for (uint32_t c = 0; c < chains.count; c++) {
        struct flat_vec instructions = flat_vector(flat_vec_table(chains, c), PTE_CHAIN_INSTRUCTIONS);
        uint32_t begin = count;
        for (uint32_t i = 0; i < instructions.count; i++, count++) {
            wick_status status = load_instruction(load, flat_vec_table(instructions, i), begin, &list[count]);
            if (status != WICK_OK) return wick_fail_in(load->err, status, "chain %u, instruction %u", c, i);
        }
    }
    load->method->instructions = list;
    load->method->instruction_count = count;
    return WICK_OK;
}

static wick_status load_delegates(const struct load *load)
{
    struct flat_vec tables = flat_vector(load->plan, PTE_PLAN_DELEGATES);
    struct wick_delegate *delegates = WICK_NEW_ARRAY(load->arena, struct wick_delegate, tables.count);
    if (!delegates) return oom(load, tables.count * sizeof *delegates);
    for (uint32_t i = 0; i < tables.count; i++) {
        struct flat_table table = flat_vec_table(tables, i);
        struct flat_vec file_specs = flat_vector(table, PTE_DELEGATE_COMPILE_SPECS);
        struct wick_compile_spec *specs = WICK_NEW_ARRAY(load->arena, struct wick_compile_spec, file_specs.count);
        struct wick_pte_blob payload;
        if (!specs) return oom(load, file_specs.count * sizeof *specs);
        WICK_TRY(wick_pte_payload(&load->program->file, table, &payload, load->err));
        for (uint32_t k = 0; k < file_specs.count; k++) {
            struct flat_table spec = flat_vec_table(file_specs, k);
            struct flat_vec value = flat_vector(spec, PTE_COMPILE_SPEC_VALUE);
            specs[k] = (struct wick_compile_spec){flat_string(spec, PTE_COMPILE_SPEC_KEY), value.at, value.count};
        }
        delegates[i] = (struct wick_delegate){flat_string(table, PTE_DELEGATE_ID), payload.data, payload.size, specs, file_specs.count};
    }
    load->method->delegates = delegates;
    load->method->delegate_count = tables.count;
    return WICK_OK;
}

static wick_status load_all(struct load *load)
{
    struct wick_method *method = load->method;
    WICK_TRY(load_values(load));
    WICK_TRY(load_ids(load, flat_vector(load->plan, PTE_PLAN_INPUTS), &method->inputs, &method->input_count));
    WICK_TRY(load_ids(load, flat_vector(load->plan, PTE_PLAN_OUTPUTS), &method->outputs, &method->output_count));
    WICK_TRY(load_buffers(load));
    WICK_TRY(load_delegates(load));
    WICK_TRY(resolve_operators(load));
    return load_instructions(load);
}

wick_status wick_method_load(struct wick_method **out, const struct wick_program *program, uint32_t index, const struct wick_op_table *ops,
                             struct wick_arena *arena, wick_error *err)
{
    *out = NULL;
    wick_error own;
    if (!err) err = &own;
    struct wick_method *method = WICK_NEW(arena, struct wick_method);
    if (!method) return wick_fail_oom(err, sizeof *method, "method");
    struct load load = {
        .program = program,
        .plan = flat_vec_table(flat_vector(program->file.program, PTE_PROGRAM_EXECUTION_PLAN), index),
        .method = method,
        .ops = ops,
        .arena = arena,
        .err = err,
    };
    method->program = program;
    method->name = flat_string(load.plan, PTE_PLAN_NAME);
    wick_status status = load_all(&load);
    if (status != WICK_OK) return wick_fail_in(err, status, "method %.*s", (int)WICK_MIN(method->name.size, 64), method->name.data);
    *out = method;
    return WICK_OK;
}
