/* pte/check.c - the meaning of a program whose structure is verified: everything pte.h promises, so that the runtime can
 * follow indices and offsets without looking. Works in place, allocates nothing. */
#include "base/checked.h"
#include "pte/layout.h"

/* What is being checked; err always holds a message to prefix. */
struct scope {
    const struct wick_pte_file *file;
    struct flat_table plan;
    struct flat_vec values;
    uint32_t operators, delegates;
    wick_error *err;
};

/* Kind of value `index`, 0 if there is no such value. */
static uint8_t kind_of(const struct scope *s, int64_t index)
{
    if (index < 0 || index >= s->values.count) return 0;
    return flat_u8(flat_vec_table(s->values, (uint32_t)index), PTE_VALUE_VAL_TYPE, 0);
}

static wick_status check_indices(const struct scope *s, struct flat_vec indices, const char *what)
{
    for (uint32_t i = 0; i < indices.count; i++) {
        int32_t index = flat_vec_i32(indices, i);
        if (!kind_of(s, index)) return wick_fail(s->err, WICK_INVALID_PROGRAM, "%s[%u] is %d, there are %u values", what, i, index, s->values.count);
    }
    return WICK_OK;
}

/* ---- values ---- */

static wick_status check_items(const struct scope *s, struct flat_table list, uint8_t kind)
{
    struct flat_vec items = flat_vector(list, PTE_INT_LIST_ITEMS);
    if (!items.at) return wick_fail(s->err, WICK_INVALID_PROGRAM, "list has no items");
    for (uint32_t i = 0; i < items.count; i++) {
        int64_t index;
        bool ok;
        if (kind == PTE_KIND_INT_LIST) {
            index = flat_vec_i64(items, i);
            ok = kind_of(s, index) == PTE_KIND_INT;
        } else if (kind == PTE_KIND_TENSOR_LIST || kind == PTE_KIND_OPTIONAL_TENSOR_LIST) {
            index = flat_vec_i32(items, i);
            ok = kind_of(s, index) == PTE_KIND_TENSOR;
            if (kind == PTE_KIND_OPTIONAL_TENSOR_LIST) ok = ok || index == -1 || kind_of(s, index) == PTE_KIND_NIL;
        } else {
            return WICK_OK; /* doubles and bools are literal */
        }
        if (!ok) return wick_fail(s->err, WICK_INVALID_PROGRAM, "items[%u] is %lld, no value of the list's kind", i, (long long)index);
    }
    return WICK_OK;
}

static wick_status check_value(const struct scope *s, uint32_t index)
{
    uint8_t kind;
    struct flat_table payload = wick_pte_value(s->plan, index, &kind);
    struct wick_pte_tensor tensor;
    if (kind == 0 || kind >= PTE_KIND_COUNT) return wick_fail(s->err, WICK_INVALID_PROGRAM, "unknown kind %u", kind);
    if (!payload.at && kind != PTE_KIND_NIL) return wick_fail(s->err, WICK_INVALID_PROGRAM, "no content");
    switch (kind) {
    case PTE_KIND_TENSOR: return wick_pte_tensor_read(s->file, s->plan, payload, &tensor, s->err);
    case PTE_KIND_STRING: return flat_has(payload, PTE_STRING_VAL) ? WICK_OK : wick_fail(s->err, WICK_INVALID_PROGRAM, "string has no text");
    case PTE_KIND_INT_LIST:
    case PTE_KIND_DOUBLE_LIST:
    case PTE_KIND_BOOL_LIST:
    case PTE_KIND_TENSOR_LIST:
    case PTE_KIND_OPTIONAL_TENSOR_LIST: return check_items(s, payload, kind);
    default: return WICK_OK;
    }
}

/* ---- instructions ---- */

static wick_status check_call(const struct scope *s, struct flat_table call, const char *what, uint32_t limit)
{
    /* KernelCall and DelegateCall have the same two fields. */
    int32_t index = flat_i32(call, PTE_KERNEL_CALL_OP_INDEX, 0);
    struct flat_vec args = flat_vector(call, PTE_KERNEL_CALL_ARGS);
    if (index < 0 || (uint32_t)index >= limit) return wick_fail(s->err, WICK_INVALID_PROGRAM, "%s %d of %u does not exist", what, index, limit);
    if (!args.at) return wick_fail(s->err, WICK_INVALID_PROGRAM, "call has no args");
    return check_indices(s, args, "args");
}

static wick_status check_instruction(const struct scope *s, struct flat_table instruction, uint32_t count)
{
    uint8_t type = flat_u8(instruction, PTE_INSTRUCTION_ARGS_TYPE, 0);
    struct flat_table args = flat_child(instruction, PTE_INSTRUCTION_ARGS);
    if (!args.at) return wick_fail(s->err, WICK_INVALID_PROGRAM, "no content");
    switch (type) {
    case PTE_INSTR_KERNEL_CALL: return check_call(s, args, "operator", s->operators);
    case PTE_INSTR_DELEGATE_CALL: return check_call(s, args, "delegate", s->delegates);
    case PTE_INSTR_MOVE_CALL: {
        int32_t from = flat_i32(args, PTE_MOVE_CALL_FROM, 0), to = flat_i32(args, PTE_MOVE_CALL_TO, 0);
        if (!kind_of(s, from) || kind_of(s, from) != kind_of(s, to))
            return wick_fail(s->err, WICK_INVALID_PROGRAM, "move from value %d to %d, which must exist and be of one kind", from, to);
        return WICK_OK;
    }
    case PTE_INSTR_JUMP_FALSE: {
        int32_t cond = flat_i32(args, PTE_JUMP_FALSE_COND, 0), to = flat_i32(args, PTE_JUMP_FALSE_DESTINATION, 0);
        uint8_t kind = kind_of(s, cond);
        if (kind != PTE_KIND_BOOLEAN && kind != PTE_KIND_TENSOR)
            return wick_fail(s->err, WICK_INVALID_PROGRAM, "jump on value %d, which is no bool or tensor", cond);
        if (to < 0 || (uint32_t)to > count) return wick_fail(s->err, WICK_INVALID_PROGRAM, "jump to instruction %d of %u", to, count);
        return WICK_OK;
    }
    case PTE_INSTR_FREE_CALL: {
        int32_t index = flat_i32(args, PTE_FREE_CALL_VALUE, 0);
        uint8_t kind = kind_of(s, index);
        if (!kind) return wick_fail(s->err, WICK_INVALID_PROGRAM, "free of value %d, which does not exist", index);
        if (kind != PTE_KIND_TENSOR) return wick_fail(s->err, WICK_INVALID_TYPE, "free of value %d, which is no tensor", index);
        return WICK_OK;
    }
    default: return wick_fail(s->err, WICK_INVALID_PROGRAM, "unknown instruction type %u", type);
    }
}

static wick_status check_chain(const struct scope *s, struct flat_table chain)
{
    struct flat_vec instructions = flat_vector(chain, PTE_CHAIN_INSTRUCTIONS);
    if (!instructions.at) return wick_fail(s->err, WICK_INVALID_PROGRAM, "no instructions");
    for (uint32_t i = 0; i < instructions.count; i++) {
        wick_status status = check_instruction(s, flat_vec_table(instructions, i), instructions.count);
        if (status != WICK_OK) return wick_fail_in(s->err, status, "instructions[%u]", i);
    }
    return WICK_OK;
}

/* ---- delegates ---- */

static wick_status check_delegate(const struct scope *s, struct flat_table delegate)
{
    struct wick_pte_blob payload;
    if (!flat_has(delegate, PTE_DELEGATE_ID)) return wick_fail(s->err, WICK_INVALID_PROGRAM, "no id");
    if (!flat_has(delegate, PTE_DELEGATE_PROCESSED)) return wick_fail(s->err, WICK_INVALID_PROGRAM, "no payload");
    struct flat_vec specs = flat_vector(delegate, PTE_DELEGATE_COMPILE_SPECS);
    for (uint32_t i = 0; i < specs.count; i++) {
        struct flat_table spec = flat_vec_table(specs, i);
        if (!flat_has(spec, PTE_COMPILE_SPEC_KEY) || !flat_has(spec, PTE_COMPILE_SPEC_VALUE))
            return wick_fail(s->err, WICK_INVALID_PROGRAM, "compile_specs[%u] lacks key or value", i);
    }
    return wick_pte_payload(s->file, delegate, &payload, s->err);
}

/* ---- plan ---- */

static wick_status check_fields(const struct scope *s)
{
    static const struct {
        uint8_t id;
        const char *name;
    } needed[] = {
        {PTE_PLAN_NAME, "name"},       {PTE_PLAN_VALUES, "values"},       {PTE_PLAN_INPUTS, "inputs"},
        {PTE_PLAN_OUTPUTS, "outputs"}, {PTE_PLAN_DELEGATES, "delegates"}, {PTE_PLAN_BUFFER_SIZES, "non_const_buffer_sizes"},
    };
    for (size_t i = 0; i < WICK_ARRAY_SIZE(needed); i++)
        if (!flat_has(s->plan, needed[i].id)) return wick_fail(s->err, WICK_INVALID_PROGRAM, "no %s", needed[i].name);
    if (flat_vector(s->plan, PTE_PLAN_CHAINS).count == 0) return wick_fail(s->err, WICK_INVALID_PROGRAM, "no chains");
    struct flat_vec sizes = flat_vector(s->plan, PTE_PLAN_BUFFER_SIZES);
    uint64_t total = 0;
    for (uint32_t i = 0; i < sizes.count; i++) {
        int64_t bytes = flat_vec_i64(sizes, i);
        if (bytes < 0 || wick_add_ovf(total, (uint64_t)bytes, &total) || total > INT64_MAX)
            return wick_fail(s->err, WICK_INVALID_PROGRAM, "non_const_buffer_sizes[%u] is %lld", i, (long long)bytes);
    }
    return WICK_OK;
}

static wick_status check_plan(const struct scope *s)
{
    WICK_TRY(check_fields(s));
    for (uint32_t i = 0; i < s->values.count; i++) {
        wick_status status = check_value(s, i);
        if (status != WICK_OK) return wick_fail_in(s->err, status, "values[%u]", i);
    }
    WICK_TRY(check_indices(s, flat_vector(s->plan, PTE_PLAN_INPUTS), "inputs"));
    WICK_TRY(check_indices(s, flat_vector(s->plan, PTE_PLAN_OUTPUTS), "outputs"));
    struct flat_vec operators = flat_vector(s->plan, PTE_PLAN_OPERATORS);
    for (uint32_t i = 0; i < operators.count; i++)
        if (!flat_has(flat_vec_table(operators, i), PTE_OPERATOR_NAME)) return wick_fail(s->err, WICK_INVALID_PROGRAM, "operators[%u] has no name", i);
    struct flat_vec delegates = flat_vector(s->plan, PTE_PLAN_DELEGATES);
    for (uint32_t i = 0; i < delegates.count; i++) {
        wick_status status = check_delegate(s, flat_vec_table(delegates, i));
        if (status != WICK_OK) return wick_fail_in(s->err, status, "delegates[%u]", i);
    }
    struct flat_vec chains = flat_vector(s->plan, PTE_PLAN_CHAINS);
    for (uint32_t i = 0; i < chains.count; i++) {
        wick_status status = check_chain(s, flat_vec_table(chains, i));
        if (status != WICK_OK) return wick_fail_in(s->err, status, "chains[%u]", i);
    }
    return WICK_OK;
}

/* ---- program ---- */

static wick_status check_segments(const struct wick_pte_file *file, wick_error *err)
{
    struct wick_pte_blob segment;
    uint32_t count = wick_pte_segment_count(file);
    for (uint32_t i = 0; i < count; i++) WICK_TRY(wick_pte_segment(file, i, &segment, err));
    struct flat_vec named = flat_vector(file->program, PTE_PROGRAM_NAMED_DATA);
    for (uint32_t i = 0; i < named.count; i++) {
        struct flat_table entry = flat_vec_table(named, i);
        uint32_t index = flat_u32(entry, PTE_NAMED_DATA_SEGMENT_INDEX, 0);
        if (!flat_has(entry, PTE_NAMED_DATA_KEY)) return wick_fail(err, WICK_INVALID_PROGRAM, "program: named_data[%u] has no key", i);
        if (index >= count) return wick_fail(err, WICK_INVALID_PROGRAM, "program: named_data[%u] is in segment %u of %u", i, index, count);
    }
    struct flat_table constants = flat_child(file->program, PTE_PROGRAM_CONSTANT_SEGMENT);
    if (flat_vector(constants, PTE_SUBSEGMENTS_OFFSETS).count && flat_vector(file->program, PTE_PROGRAM_CONSTANT_BUFFER).count)
        return wick_fail(err, WICK_INVALID_PROGRAM, "program: it has both constant_segment and constant_buffer");
    return WICK_OK;
}

wick_status wick_pte_check(const struct wick_pte_file *file, wick_error *err)
{
    wick_error own;
    if (!err) err = &own;
    uint32_t version = flat_u32(file->program, PTE_PROGRAM_VERSION, 0);
    if (version > 0) return wick_fail(err, WICK_INVALID_PROGRAM, "program: schema version %u is newer than 0", version);
    if (!flat_has(file->program, PTE_PROGRAM_EXECUTION_PLAN)) return wick_fail(err, WICK_INVALID_PROGRAM, "program: no execution_plan");
    WICK_TRY(check_segments(file, err));
    struct flat_vec plans = flat_vector(file->program, PTE_PROGRAM_EXECUTION_PLAN);
    for (uint32_t i = 0; i < plans.count; i++) {
        struct flat_table plan = flat_vec_table(plans, i);
        struct scope scope = {file, plan, flat_vector(plan, PTE_PLAN_VALUES), flat_vector(plan, PTE_PLAN_OPERATORS).count,
                              flat_vector(plan, PTE_PLAN_DELEGATES).count, err};
        wick_status status = check_plan(&scope);
        struct wick_str name = flat_string(plan, PTE_PLAN_NAME);
        if (status != WICK_OK) return wick_fail_in(err, status, "program: execution_plan[%u] \"%.*s\"", i, (int)WICK_MIN(name.size, 60), name.data ? name.data : "");
    }
    return WICK_OK;
}
