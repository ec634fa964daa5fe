/* devtools/inspect_text.c - a summary of a file for people. */
#include "devtools/inspect.h"

#include "devtools/kind.h"
#include "pte/bundled.h"
#include "pte/ptd.h"
#include "pte/pte.h"

#include <stdlib.h>

struct inspection {
    const struct wick_pte_file *file;
    const struct wick_payload_printers *printers;
    struct wick_buf *out;
    uint64_t left; /* of payload bytes to decode */
    wick_error *err;
};

/* Text of the file goes to a terminal: control characters and bytes that are no UTF-8 are replaced. */
static void print_str(struct wick_buf *out, struct wick_str s)
{
    for (size_t i = 0, n; i < s.size && !out->failed; i += n) {
        uint32_t code = 0;
        n = wick_utf8_next(s.data + i, s.size - i, &code);
        bool plain = n > 0 && code >= 0x20 && !(code >= 0x7f && code < 0xa0);
        wick_buf_append(out, plain ? s.data + i : "?", plain ? n : 1);
        if (n == 0) n = 1;
    }
}

static void print_value(struct inspection *x, struct flat_table plan, uint32_t index)
{
    uint8_t kind;
    struct flat_table at = wick_pte_value(plan, index, &kind);
    switch (kind) {
    case PTE_KIND_INT: wick_buf_printf(x->out, "%lld", (long long)flat_i64(at, PTE_INT_VAL, 0)); break;
    case PTE_KIND_BOOLEAN: wick_buf_text(x->out, flat_bool(at, PTE_BOOLEAN_VAL, false) ? "true" : "false"); break;
    case PTE_KIND_DOUBLE: wick_buf_printf(x->out, "%g", flat_f64(at, PTE_DOUBLE_VAL, 0)); break;
    case PTE_KIND_STRING: {
        struct wick_str s = flat_string(at, PTE_STRING_VAL);
        wick_buf_json_string(x->out, s.data, s.size);
        break;
    }
    case PTE_KIND_TENSOR: {
        struct wick_pte_tensor t;
        char text[128];
        if (wick_pte_tensor_read(x->file, plan, at, &t, NULL) != WICK_OK) break;
        wick_shape_text(&t.shape, text);
        wick_buf_printf(x->out, "%s%s%s", text, t.dynamism != WICK_STATIC ? " bound" : "", wick_pte_tensor_is_planned(&t) ? ", planned" : "");
        break;
    }
    default: wick_buf_text(x->out, kind == PTE_KIND_NIL ? "none" : "list");
    }
}

static void print_ends(struct inspection *x, struct flat_table plan, uint32_t field, const char *label)
{
    struct flat_vec ids = flat_vector(plan, field);
    for (uint32_t i = 0; i < ids.count; i++) {
        wick_buf_printf(x->out, "  %s %u: ", label, i);
        print_value(x, plan, (uint32_t)flat_vec_i32(ids, i));
        wick_buf_text(x->out, "\n");
    }
}

/* Calls of each operator, by how often. */
struct tally {
    uint32_t index, count;
};

static int by_count(const void *a, const void *b)
{
    const struct tally *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count ? 1 : -1) : x->index < y->index ? -1 : 1;
}

static wick_status print_operators(struct inspection *x, struct flat_table plan)
{
    struct flat_vec operators = flat_vector(plan, PTE_PLAN_OPERATORS), chains = flat_vector(plan, PTE_PLAN_CHAINS);
    struct tally *tally = calloc(operators.count + 1, sizeof *tally);
    uint32_t calls = 0, delegate_calls = 0, other = 0;
    if (!tally) return wick_fail_oom(x->err, operators.count * sizeof *tally, "inspect");
    for (uint32_t i = 0; i < operators.count; i++) tally[i].index = i;
    for (uint32_t c = 0; c < chains.count; c++) {
        struct flat_vec instructions = flat_vector(flat_vec_table(chains, c), PTE_CHAIN_INSTRUCTIONS);
        for (uint32_t i = 0; i < instructions.count; i++) {
            struct flat_table instruction = flat_vec_table(instructions, i), args = flat_child(instruction, PTE_INSTRUCTION_ARGS);
            uint8_t type = flat_union_type(instruction, PTE_INSTRUCTION_ARGS);
            if (type == PTE_INSTR_KERNEL_CALL) calls++, tally[flat_i32(args, PTE_KERNEL_CALL_OP_INDEX, 0)].count++;
            else if (type == PTE_INSTR_DELEGATE_CALL) delegate_calls++;
            else other++;
        }
    }
    wick_buf_printf(x->out, "  %u instructions: %u operator calls, %u delegate calls, %u moves and jumps\n", calls + delegate_calls + other, calls, delegate_calls, other);
    qsort(tally, operators.count, sizeof *tally, by_count);
    for (uint32_t i = 0; i < operators.count; i++) {
        struct flat_table op = flat_vec_table(operators, tally[i].index);
        struct wick_str overload = flat_string(op, PTE_OPERATOR_OVERLOAD);
        wick_buf_printf(x->out, "    %5u  ", tally[i].count);
        print_str(x->out, flat_string(op, PTE_OPERATOR_NAME));
        if (overload.size) wick_buf_text(x->out, ".");
        print_str(x->out, overload);
        wick_buf_text(x->out, "\n");
    }
    free(tally);
    return WICK_OK;
}

static wick_status print_delegates(struct inspection *x, struct flat_table plan)
{
    struct flat_vec delegates = flat_vector(plan, PTE_PLAN_DELEGATES);
    for (uint32_t i = 0; i < delegates.count; i++) {
        struct flat_table delegate = flat_vec_table(delegates, i);
        struct wick_str id = flat_string(delegate, PTE_DELEGATE_ID);
        struct wick_pte_blob blob;
        WICK_TRY(wick_pte_payload(x->file, delegate, &blob, x->err));
        wick_buf_printf(x->out, "  delegate %u: ", i);
        print_str(x->out, id);
        wick_buf_printf(x->out, ", %zu bytes", blob.size);
        const struct wick_payload_printer *printer = wick_inspect_printer(x->printers, id);
        wick_error why;
        if (printer) {
            wick_buf_text(x->out, ": ");
            if (!wick_inspect_spend(&x->left, blob.size)) wick_buf_text(x->out, "not decoded, delegates share more payload than is shown");
            else if (printer->line(blob.data, blob.size, x->out, &why) != WICK_OK) wick_buf_printf(x->out, "not readable (%s)", why.message);
        }
        wick_buf_text(x->out, "\n");
    }
    return WICK_OK;
}

static bool is_constant(struct flat_table plan)
{
    struct flat_vec chains = flat_vector(plan, PTE_PLAN_CHAINS);
    return flat_vector(plan, PTE_PLAN_INPUTS).count == 0 && chains.count == 1 && flat_vector(flat_vec_table(chains, 0), PTE_CHAIN_INSTRUCTIONS).count == 0;
}

static wick_status print_method(struct inspection *x, struct flat_table plan)
{
    wick_buf_text(x->out, "method ");
    print_str(x->out, flat_string(plan, PTE_PLAN_NAME));
    if (is_constant(plan)) {
        struct flat_vec outputs = flat_vector(plan, PTE_PLAN_OUTPUTS);
        wick_buf_text(x->out, " =");
        for (uint32_t i = 0; i < outputs.count; i++) {
            wick_buf_text(x->out, i ? ", " : " ");
            print_value(x, plan, (uint32_t)flat_vec_i32(outputs, i));
        }
        wick_buf_text(x->out, "\n");
        return WICK_OK;
    }
    wick_buf_printf(x->out, ": %u values\n", flat_vector(plan, PTE_PLAN_VALUES).count);
    print_ends(x, plan, PTE_PLAN_INPUTS, "input");
    print_ends(x, plan, PTE_PLAN_OUTPUTS, "output");
    struct flat_vec sizes = flat_vector(plan, PTE_PLAN_BUFFER_SIZES);
    for (uint32_t i = 1; i < sizes.count; i++) wick_buf_printf(x->out, "  planned buffer %u: %lld bytes\n", i, (long long)flat_vec_i64(sizes, i));
    WICK_TRY(print_operators(x, plan));
    return print_delegates(x, plan);
}

static wick_status print_program(const void *data, size_t size, const struct wick_payload_printers *printers, struct wick_buf *out, wick_error *err)
{
    struct wick_pte_file file;
    struct inspection x = {&file, printers, out, wick_inspect_budget(size), err};
    WICK_TRY(wick_pte_open(&file, data, size, err));
    struct flat_vec plans = flat_vector(file.program, PTE_PROGRAM_EXECUTION_PLAN), segments = flat_vector(file.program, PTE_PROGRAM_SEGMENTS);
    struct flat_vec named = flat_vector(file.program, PTE_PROGRAM_NAMED_DATA);
    wick_buf_printf(out, "program, %zu bytes: tables %llu bytes, %u segments of %llu bytes from %llu%s\n", size, (unsigned long long)file.program_size, segments.count,
                    (unsigned long long)file.segment_bytes, (unsigned long long)file.segment_base, file.has_header ? "" : " (no extended header)");
    for (uint32_t i = 0; i < plans.count; i++) WICK_TRY(print_method(&x, flat_vec_table(plans, i)));
    if (named.count) wick_buf_printf(out, "named data: %u blobs\n", named.count);
    return WICK_OK;
}

static wick_status print_data(const void *data, size_t size, struct wick_buf *out, wick_error *err)
{
    struct wick_ptd_file file;
    WICK_TRY(wick_ptd_open(&file, data, size, err));
    wick_buf_printf(out, "data file, %zu bytes: %u entries\n", size, wick_ptd_count(&file));
    for (uint32_t i = 0; i < wick_ptd_count(&file); i++) {
        struct wick_ptd_entry entry;
        char text[128] = "";
        WICK_TRY(wick_ptd_entry_at(&file, i, &entry, err));
        if (entry.has_layout) wick_shape_text(&entry.shape, text);
        wick_buf_text(out, "  ");
        print_str(out, entry.key);
        wick_buf_printf(out, ": %zu bytes %s\n", entry.blob.size, text);
    }
    return WICK_OK;
}

static wick_status print_bundle(const void *data, size_t size, const struct wick_payload_printers *printers, struct wick_buf *out, wick_error *err)
{
    struct wick_bundled_file file;
    WICK_TRY(wick_bundled_open(&file, data, size, err));
    wick_buf_printf(out, "bundle, %zu bytes\n", size);
    for (uint32_t i = 0; i < wick_bundled_suite_count(&file); i++) {
        uint32_t cases;
        struct wick_str name = wick_bundled_suite_name(&file, i, &cases);
        wick_buf_text(out, "  ");
        print_str(out, name);
        wick_buf_printf(out, ": %u cases\n", cases);
    }
    return print_program(file.program.data, file.program.size, printers, out, err);
}

wick_status wick_inspect_text(const void *data, size_t size, const struct wick_payload_printers *printers, struct wick_buf *out, wick_error *err)
{
    wick_status status;
    switch (wick_inspect_kind(data, size)) {
    case WICK_FILE_PTE: status = print_program(data, size, printers, out, err); break;
    case WICK_FILE_PTD: status = print_data(data, size, out, err); break;
    case WICK_FILE_BPTE: status = print_bundle(data, size, printers, out, err); break;
    default: return wick_fail(err, WICK_NOT_SUPPORTED, "not a .pte, .ptd or .bpte file: no known identifier at byte 4");
    }
    return status == WICK_OK && out->failed ? wick_fail_oom(err, out->size, "description") : status;
}
