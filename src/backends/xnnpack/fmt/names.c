/* backends/xnnpack/fmt/names.c - what the schema says of node kinds, slots and datatypes; and the payload as JSON. */
#include "backends/xnnpack/fmt/payload.h"

#include "backends/xnnpack/fmt/header.h"
#include "flat/print.h"
#include "flat/read.h"

const struct wick_flat_table *wick_xnn_node_table(uint8_t kind)
{
    const struct wick_flat_union *nodes = &wick_xnn_schema.unions[XNN_UNION_NODE];
    return kind > 0 && kind < nodes->count ? &wick_xnn_schema.tables[nodes->members[kind].table] : NULL;
}

const char *wick_xnn_node_name(uint8_t kind)
{
    const struct wick_flat_union *nodes = &wick_xnn_schema.unions[XNN_UNION_NODE];
    return kind > 0 && kind < nodes->count ? nodes->members[kind].name + 3 : "?"; /* without "XNN" */
}

const char *wick_xnn_datatype_name(int datatype)
{
    const struct wick_flat_enum *types = &wick_xnn_schema.enums[XNN_ENUM_DATATYPE];
    for (uint8_t i = 0; i < types->count; i++)
        if (types->values[i].value == datatype) return types->values[i].name + 13; /* without "xnn_datatype_" */
    return "?";
}

bool wick_xnn_slot_is_id(const struct wick_flat_table *table, uint32_t slot)
{
    return wick_str_ends(wick_str_of(table->fields[slot].name), WICK_STR("_id")); /* schema.h names them so */
}

bool wick_xnn_slot_is_output(const struct wick_flat_table *table, uint32_t slot)
{
    return wick_xnn_slot_is_id(table, slot) && wick_str_starts(wick_str_of(table->fields[slot].name), WICK_STR("output"));
}

wick_status wick_xnn_payload_print_json(const void *data, size_t size, struct wick_buf *out, wick_error *err)
{
    struct wick_xnn_header h;
    struct flat_table root;
    WICK_TRY(wick_xnn_header_read(data, size, &h, err));
    WICK_TRY(wick_flat_verify(&wick_xnn_schema, h.tables, h.table_bytes, &root, WICK_DELEGATE_INCOMPATIBLE, err));
    wick_buf_printf(out, "{\"header\": {\"present\": %s, \"tables\": %zu, \"constants\": %zu}, \"graph\": ", h.present ? "true" : "false", h.table_bytes, h.constant_bytes);
    wick_flat_print_json(&wick_xnn_schema, wick_xnn_schema.root, root, 64, 0, out);
    wick_buf_text(out, "}");
    return out->failed ? wick_fail_oom(err, out->size, "payload as JSON") : WICK_OK;
}
