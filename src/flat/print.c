/* flat/print.c - printers driven by a schema's descriptors: a verified table as JSON, the schema itself as .fbs text.
 * Recursion follows the nesting of tables, which verification has limited. */
#include "flat/print.h"

#include <math.h>

struct printer {
    const struct wick_flat_schema *schema;
    size_t bytes_max;
    struct wick_buf *out;
};

static void newline(const struct printer *p, unsigned indent) { wick_buf_printf(p->out, "\n%*s", (int)indent, ""); }

static void print_real(struct wick_buf *out, double value, bool single)
{
    if (isnan(value)) wick_buf_text(out, "\"nan\"");
    else if (isinf(value)) wick_buf_text(out, value > 0 ? "\"inf\"" : "\"-inf\"");
    else {
        size_t start = out->size;
        wick_buf_printf(out, single ? "%.9g" : "%.17g", value);
        if (!out->failed && !strpbrk(out->data + start, ".e")) wick_buf_text(out, ".0");
    }
}

static int64_t load_int(unsigned type, const uint8_t *at)
{
    switch (type) {
    case FLAT_I8: return flat_load_i8(at);
    case FLAT_I16: return flat_load_i16(at);
    case FLAT_U16: return flat_load_u16(at);
    case FLAT_I32: return flat_load_i32(at);
    case FLAT_U32: return flat_load_u32(at);
    case FLAT_I64: return flat_load_i64(at);
    default: return flat_load_u8(at);
    }
}

static void print_scalar(struct wick_buf *out, unsigned type, const uint8_t *at)
{
    if (type == FLAT_BOOL) wick_buf_text(out, *at ? "true" : "false");
    else if (type == FLAT_F32) print_real(out, (double)flat_load_f32(at), true);
    else if (type == FLAT_F64) print_real(out, flat_load_f64(at), false);
    else if (type == FLAT_U64) wick_buf_printf(out, "%llu", (unsigned long long)flat_load_u64(at));
    else wick_buf_printf(out, "%lld", (long long)load_int(type, at));
}

static void print_named(struct wick_buf *out, const struct wick_flat_enum *names, int64_t value)
{
    for (unsigned i = 0; i < names->count; i++) {
        if (names->values[i].value != value) continue;
        wick_buf_printf(out, "\"%s\"", names->values[i].name);
        return;
    }
    wick_buf_printf(out, "%lld", (long long)value);
}

static void print_union_type(const struct printer *p, const struct wick_flat_union *choice, uint8_t type)
{
    if (type < choice->count) wick_buf_printf(p->out, "\"%s\"", choice->members[type].name);
    else wick_buf_printf(p->out, "%u", type);
}

static void print_vector(const struct printer *p, unsigned type, struct flat_vec vec, unsigned indent)
{
    uint32_t width = wick_flat_type_size(type);
    if (type == FLAT_U8 && p->bytes_max && vec.count > p->bytes_max) {
        wick_buf_printf(p->out, "{\"bytes\": %u, \"omitted\": true}", vec.count);
        return;
    }
    wick_buf_text(p->out, "[");
    for (uint32_t i = 0; i < vec.count && !p->out->failed; i++) {
        wick_buf_text(p->out, i == 0 ? "" : i % 32 ? ", " : ",");
        if (i && i % 32 == 0) newline(p, indent + 2);
        print_scalar(p->out, type, vec.at + (size_t)i * width);
    }
    wick_buf_text(p->out, "]");
}

static void print_table(const struct printer *p, const struct wick_flat_table *table, struct flat_table at, unsigned indent);

static void print_tables(const struct printer *p, const struct wick_flat_table *table, struct flat_vec vec, unsigned indent)
{
    wick_buf_text(p->out, "[");
    for (uint32_t i = 0; i < vec.count && !p->out->failed; i++) {
        if (i) wick_buf_text(p->out, ",");
        newline(p, indent + 2);
        print_table(p, table, flat_vec_table(vec, i), indent + 2);
    }
    if (vec.count) newline(p, indent);
    wick_buf_text(p->out, "]");
}

/* The value of field `id`, which is present. */
static void print_field(const struct printer *p, const struct wick_flat_field *field, struct flat_table at, uint32_t id, unsigned indent)
{
    const struct wick_flat_schema *schema = p->schema;
    const uint8_t *place = flat_field(at, id);
    struct wick_str text;
    switch (field->kind) {
    case FLAT_SCALAR: print_scalar(p->out, field->of, place); break;
    case FLAT_ENUM: print_named(p->out, &schema->enums[field->of], load_int(schema->enums[field->of].type, place)); break;
    case FLAT_STRING:
        text = flat_string(at, id);
        wick_buf_json_string(p->out, text.data, text.size);
        break;
    case FLAT_TABLE: print_table(p, &schema->tables[field->of], flat_child(at, id), indent); break;
    case FLAT_VECTOR: print_vector(p, field->of, flat_vector(at, id), indent); break;
    case FLAT_TABLES: print_tables(p, &schema->tables[field->of], flat_vector(at, id), indent); break;
    case FLAT_UNION_TYPE: print_union_type(p, &schema->unions[field->of], *place); break;
    default: print_table(p, &schema->tables[schema->unions[field->of].members[flat_union_type(at, id)].table], flat_child(at, id), indent); break;
    }
}

/* A union's value is not printed when its type is unknown or says NONE: nobody has verified it. */
static bool printable(const struct printer *p, const struct wick_flat_field *field, struct flat_table at, uint32_t id)
{
    if (!flat_has(at, id)) return false;
    if (field->kind != FLAT_UNION) return true;
    uint8_t type = flat_union_type(at, id);
    return type != 0 && type < p->schema->unions[field->of].count;
}

static void print_table(const struct printer *p, const struct wick_flat_table *table, struct flat_table at, unsigned indent)
{
    bool any = false;
    wick_buf_text(p->out, "{");
    for (uint32_t id = 0; id < table->count && !p->out->failed; id++) {
        if (!printable(p, &table->fields[id], at, id)) continue;
        if (any) wick_buf_text(p->out, ",");
        any = true;
        newline(p, indent + 2);
        wick_buf_printf(p->out, "\"%s\": ", table->fields[id].name);
        print_field(p, &table->fields[id], at, id, indent + 2);
    }
    if (any) newline(p, indent);
    wick_buf_text(p->out, "}");
}

void wick_flat_print_json(const struct wick_flat_schema *schema, unsigned table, struct flat_table at, size_t bytes_max, unsigned indent, struct wick_buf *out)
{
    struct printer printer = {schema, bytes_max, out};
    print_table(&printer, &schema->tables[table], at, indent);
}

/* ---- schema text ---- */

static const char *const type_names[FLAT_TYPE_COUNT] = {
    [FLAT_BOOL] = "bool", [FLAT_I8] = "byte",  [FLAT_U8] = "ubyte", [FLAT_I16] = "short",  [FLAT_U16] = "ushort", [FLAT_I32] = "int",
    [FLAT_U32] = "uint",  [FLAT_I64] = "long", [FLAT_U64] = "ulong", [FLAT_F32] = "float", [FLAT_F64] = "double",
};

static void print_schema_field(const struct wick_flat_schema *schema, const struct wick_flat_field *field, struct wick_buf *out)
{
    const char *name = field->kind == FLAT_SCALAR || field->kind == FLAT_VECTOR ? type_names[field->of]
                       : field->kind == FLAT_ENUM                               ? schema->enums[field->of].name
                       : field->kind == FLAT_UNION                              ? schema->unions[field->of].name
                       : field->kind == FLAT_STRING                             ? "string"
                                                                                : schema->tables[field->of].name;
    bool list = field->kind == FLAT_VECTOR || field->kind == FLAT_TABLES;
    if (field->kind == FLAT_UNION_TYPE) return; /* implied by the union */
    wick_buf_printf(out, "  %s: %s%s%s", field->name, list ? "[" : "", name, list ? "]" : "");
    if (field->kind == FLAT_SCALAR && field->detail) wick_buf_printf(out, " = %lld", (long long)field->detail);
    if (field->kind == FLAT_VECTOR && field->detail) wick_buf_printf(out, " (force_align: %lld)", (long long)field->detail);
    wick_buf_text(out, ";\n");
}

static void print_schema_choice(const struct wick_flat_schema *schema, const struct wick_flat_union *choice, struct wick_buf *out)
{
    wick_buf_printf(out, "union %s {\n", choice->name);
    for (unsigned i = 1; i < choice->count; i++) {
        const char *table = schema->tables[choice->members[i].table].name;
        bool same = strcmp(choice->members[i].name, table) == 0;
        wick_buf_printf(out, "  %s%s%s,\n", choice->members[i].name, same ? "" : ": ", same ? "" : table);
    }
    wick_buf_text(out, "}\n\n");
}

void wick_flat_print_schema(const struct wick_flat_schema *schema, struct wick_buf *out)
{
    for (unsigned i = 0; i < schema->enum_count; i++) {
        const struct wick_flat_enum *names = &schema->enums[i];
        wick_buf_printf(out, "enum %s : %s {\n", names->name, type_names[names->type]);
        for (unsigned k = 0; k < names->count; k++) wick_buf_printf(out, "  %s = %lld,\n", names->values[k].name, (long long)names->values[k].value);
        wick_buf_text(out, "}\n\n");
    }
    /* flatc takes tables in any order, but wants a union before the table that uses it. */
    for (unsigned i = 0; i < schema->union_count; i++) print_schema_choice(schema, &schema->unions[i], out);
    for (unsigned i = 0; i < schema->table_count; i++) {
        const struct wick_flat_table *table = &schema->tables[i];
        wick_buf_printf(out, "table %s {\n", table->name);
        for (unsigned k = 0; k < table->count; k++) print_schema_field(schema, &table->fields[k], out);
        wick_buf_text(out, "}\n\n");
    }
    wick_buf_printf(out, "root_type %s;\nfile_identifier \"%s\";\n", schema->tables[schema->root].name, schema->idents[0]);
}
