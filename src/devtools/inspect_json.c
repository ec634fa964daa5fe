/* devtools/inspect_json.c - every field of a file as one JSON document: header, tables as the schema names them, payloads decoded. */
#include "devtools/inspect.h"

#include "devtools/kind.h"
#include "flat/print.h"
#include "pte/bundled.h"
#include "pte/ptd.h"
#include "pte/pte.h"

/* Longer byte vectors are counted, not printed. */
enum { BYTES_SHOWN = 256 };

static wick_status print_payloads(const struct wick_pte_file *file, const struct wick_payload_printers *printers, struct wick_buf *out, wick_error *err)
{
    struct flat_vec plans = flat_vector(file->program, PTE_PROGRAM_EXECUTION_PLAN);
    const char *comma = "";
    uint64_t left = wick_inspect_budget(file->size);
    for (uint32_t i = 0; i < plans.count; i++) {
        struct flat_table plan = flat_vec_table(plans, i);
        struct flat_vec delegates = flat_vector(plan, PTE_PLAN_DELEGATES);
        for (uint32_t k = 0; k < delegates.count; k++) {
            struct flat_table delegate = flat_vec_table(delegates, k);
            struct wick_str id = flat_string(delegate, PTE_DELEGATE_ID), name = flat_string(plan, PTE_PLAN_NAME);
            struct wick_pte_blob blob;
            WICK_TRY(wick_pte_payload(file, delegate, &blob, err));
            wick_buf_printf(out, "%s\n    {\"method\": ", comma);
            wick_buf_json_string(out, name.data, name.size);
            wick_buf_printf(out, ", \"delegate\": %u, \"backend\": ", k);
            wick_buf_json_string(out, id.data, id.size);
            wick_buf_printf(out, ", \"bytes\": %zu", blob.size);
            const struct wick_payload_printer *printer = wick_inspect_printer(printers, id);
            if (printer) {
                wick_buf_text(out, ", \"payload\": ");
                size_t before = out->size;
                wick_error why = {WICK_OK, "delegates share more payload than is shown"};
                if (!wick_inspect_spend(&left, blob.size) || printer->json(blob.data, blob.size, out, &why) != WICK_OK) {
                    out->size = before;
                    wick_buf_text(out, "null, \"error\": ");
                    wick_buf_json_string(out, why.message, strlen(why.message));
                }
            }
            wick_buf_text(out, "}");
            comma = ",";
        }
    }
    return WICK_OK;
}

static wick_status print_program(const void *data, size_t size, const struct wick_payload_printers *printers, struct wick_buf *out, wick_error *err)
{
    struct wick_pte_file file;
    WICK_TRY(wick_pte_open(&file, data, size, err));
    wick_buf_printf(out, "{\"format\": \"pte\", \"file_bytes\": %zu,\n \"header\": {\"present\": %s, \"length\": %u, \"program_size\": %llu, \"segment_base\": %llu, \"segment_bytes\": %llu},\n \"program\": ",
                    size, file.has_header ? "true" : "false", file.header_length, (unsigned long long)file.program_size, (unsigned long long)file.segment_base,
                    (unsigned long long)file.segment_bytes);
    wick_flat_print_json(&wick_pte_schema, PTE_TABLE_PROGRAM, file.program, BYTES_SHOWN, 1, out);
    wick_buf_text(out, ",\n \"payloads\": [");
    WICK_TRY(print_payloads(&file, printers, out, err));
    wick_buf_text(out, "]}\n");
    return WICK_OK;
}

static wick_status print_data(const void *data, size_t size, struct wick_buf *out, wick_error *err)
{
    struct wick_ptd_file file;
    WICK_TRY(wick_ptd_open(&file, data, size, err));
    wick_buf_printf(out, "{\"format\": \"ptd\", \"file_bytes\": %zu,\n \"header\": {\"flatbuffer_offset\": %llu, \"flatbuffer_size\": %llu, \"segment_base\": %llu, \"segment_bytes\": %llu},\n \"data\": ",
                    size, (unsigned long long)file.flatbuffer_offset, (unsigned long long)file.flatbuffer_size, (unsigned long long)file.segment_base,
                    (unsigned long long)file.segment_bytes);
    wick_flat_print_json(&wick_ptd_schema, PTD_TABLE_ROOT, file.root, BYTES_SHOWN, 1, out);
    wick_buf_text(out, "}\n");
    return WICK_OK;
}

static wick_status print_bundle(const void *data, size_t size, const struct wick_payload_printers *printers, struct wick_buf *out, wick_error *err)
{
    struct wick_bundled_file file;
    WICK_TRY(wick_bundled_open(&file, data, size, err));
    wick_buf_printf(out, "{\"format\": \"bpte\", \"file_bytes\": %zu,\n \"bundle\": ", size);
    wick_flat_print_json(&wick_bundled_schema, BPTE_TABLE_ROOT, file.root, BYTES_SHOWN, 1, out);
    wick_buf_text(out, ",\n \"contents\": ");
    WICK_TRY(print_program(file.program.data, file.program.size, printers, out, err));
    wick_buf_text(out, "}\n");
    return WICK_OK;
}

wick_status wick_inspect_json(const void *data, size_t size, const struct wick_payload_printers *printers, struct wick_buf *out, wick_error *err)
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
