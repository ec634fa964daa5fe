/* chat/print.c - values as text: str(), repr() and JSON as Python writes them. */
#include "chat/jinja.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <utf8proc.h>

/* The shortest digits that read back as the number, in Python's layout. */
static void put_real(struct chat_build *build, double real, bool json)
{
    char text[64], point = localeconv()->decimal_point[0];
    if (isnan(real) || isinf(real)) {
        chat_put(build, isnan(real) ? json ? "NaN" : "nan" : real > 0 ? json ? "Infinity" : "inf" : json ? "-Infinity" : "-inf");
        return;
    }
    int digits = 1;
    do snprintf(text, sizeof text, "%.*e", digits - 1, real);
    while (strtod(text, NULL) != real && digits++ < 17);
    const char *e = strchr(text, 'e');
    int exponent = e ? atoi(e + 1) : 0;
    if (exponent >= -4 && exponent < 16) {
        snprintf(text, sizeof text, "%.*f", digits - 1 - exponent > 1 ? digits - 1 - exponent : 1, real);
        char *at = strchr(text, point);
        if (at) *at = '.';
        chat_put(build, text);
        return;
    }
    char *at = strchr(text, point);
    if (at) *at = '.';
    chat_put(build, text); /* the C form of the exponent is Python's: two digits at least */
}

static void put_escape(struct chat_build *build, const char *format, uint32_t code, const struct chat_text *from, size_t at)
{
    char text[16];
    uint8_t marks[16];
    memset(marks, from->taint ? from->taint[at] : 0, sizeof marks);
    int size = code == '\t'   ? snprintf(text, sizeof text, "\\t")
               : code == '\n' ? snprintf(text, sizeof text, "\\n")
               : code == '\r' ? snprintf(text, sizeof text, "\\r")
                              : -1;
    if (size < 0) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        size = snprintf(text, sizeof text, format, code);
#pragma GCC diagnostic pop
    }
    wick_chat_build_bytes(build, text, (size_t)size, from->taint ? marks : NULL);
}

static bool printable(uint32_t code)
{
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)code);
    if (code < 0x7f) return code >= 0x20;
    return category != UTF8PROC_CATEGORY_CN && category != UTF8PROC_CATEGORY_CC && category != UTF8PROC_CATEGORY_CF &&
           category != UTF8PROC_CATEGORY_CS && category != UTF8PROC_CATEGORY_CO && category != UTF8PROC_CATEGORY_ZL &&
           category != UTF8PROC_CATEGORY_ZP && category != UTF8PROC_CATEGORY_ZS;
}

static void repr_text(struct chat_build *build, const struct chat_text *text)
{
    struct wick_str bytes = {text->data, text->size};
    bool doubled = memchr(bytes.data, '\'', bytes.size) && !memchr(bytes.data, '"', bytes.size);
    const char *quote = doubled ? "\"" : "'";
    chat_put(build, quote);
    for (size_t i = 0, n; i < bytes.size && !chat_failed(build->run); i += n) {
        uint32_t code = 0;
        n = wick_chat_char(bytes, i, &code);
        if (code == '\\' || code == (unsigned char)*quote) chat_put(build, "\\");
        if (printable(code)) wick_chat_build_bytes(build, bytes.data + i, n, text->taint ? text->taint + i : NULL);
        else put_escape(build, code < 0x100 ? "\\x%02x" : code < 0x10000 ? "\\u%04x" : "\\U%08x", code, text, i);
    }
    chat_put(build, quote);
}

static void repr_items(struct chat_build *build, struct chat_value v, int depth)
{
    bool tuple = v.kind == CHAT_TUPLE;
    chat_put(build, tuple ? "(" : "[");
    for (size_t i = 0; i < v.as.list->count && !chat_failed(build->run); i++) {
        if (i) chat_put(build, ", ");
        wick_chat_repr(build, v.as.list->items[i], depth + 1);
    }
    chat_put(build, tuple ? v.as.list->count == 1 ? ",)" : ")" : "]");
}

static void repr_dict(struct chat_build *build, struct chat_value v, int depth)
{
    chat_put(build, "{");
    for (size_t i = 0; i < v.as.dict->count && !chat_failed(build->run); i++) {
        if (i) chat_put(build, ", ");
        wick_chat_repr(build, v.as.dict->pairs[i].key, depth + 1);
        chat_put(build, ": ");
        wick_chat_repr(build, v.as.dict->pairs[i].value, depth + 1);
    }
    chat_put(build, "}");
}

void wick_chat_repr(struct chat_build *build, struct chat_value v, int depth)
{
    char text[32];
    if (depth > CHAT_VALUE_DEPTH) wick_chat_raise(build->run, "values are nested too deeply");
    if (!wick_chat_step(build->run, 1)) return;
    switch (v.kind) {
    case CHAT_UNDEFINED: chat_put(build, "Undefined"); break;
    case CHAT_NONE: chat_put(build, "None"); break;
    case CHAT_BOOL: chat_put(build, v.as.flag ? "True" : "False"); break;
    case CHAT_INT:
        snprintf(text, sizeof text, "%lld", (long long)v.as.integer);
        chat_put(build, text);
        break;
    case CHAT_FLOAT: put_real(build, v.as.real, false); break;
    case CHAT_STRING: repr_text(build, v.as.text); break;
    case CHAT_LIST:
    case CHAT_TUPLE: repr_items(build, v, depth); break;
    case CHAT_DICT: repr_dict(build, v, depth); break;
    case CHAT_NAMESPACE:
        chat_put(build, "<Namespace ");
        repr_dict(build, v, depth);
        chat_put(build, ">");
        break;
    case CHAT_LOOP: chat_put(build, "<LoopContext>"); break;
    case CHAT_CALL:
        chat_put(build, "<");
        chat_put(build, wick_chat_type_name(v));
        chat_put(build, ">");
        break;
    }
}

void wick_chat_print(struct chat_build *build, struct chat_value v)
{
    if (v.kind == CHAT_STRING) wick_chat_build_text(build, v.as.text);
    else if (v.kind != CHAT_UNDEFINED) wick_chat_repr(build, v, 0);
}

struct chat_value wick_chat_str(struct chat_run *run, struct chat_value v)
{
    struct chat_build build;
    if (v.kind == CHAT_STRING) return v;
    wick_chat_build_init(&build, run);
    wick_chat_print(&build, v);
    return wick_chat_build_value(&build);
}

/* ---- JSON ---- */

struct json_style {
    bool ascii, sorted;
    struct chat_value indent; /* a string, or NONE: all on one line */
    struct chat_value comma, colon;
};

static void json_text(struct chat_build *build, const struct json_style *style, const struct chat_text *text)
{
    struct wick_str bytes = {text->data, text->size};
    chat_put(build, "\"");
    for (size_t i = 0, n; i < bytes.size && !chat_failed(build->run); i += n) {
        uint32_t code = 0;
        n = wick_chat_char(bytes, i, &code);
        if (code == '"' || code == '\\') {
            uint8_t mark = text->taint ? text->taint[i] : 0;
            wick_chat_build_bytes(build, "\\", 1, text->taint ? &mark : NULL);
        }
        if (code == '\b' || code == '\f') put_escape(build, code == '\b' ? "\\b" : "\\f", code, text, i);
        else if (code < 0x20 || (style->ascii && code >= 0x7f && code < 0x10000)) put_escape(build, "\\u%04x", code, text, i);
        else if (style->ascii && code >= 0x10000) {
            put_escape(build, "\\u%04x", 0xd800 + ((code - 0x10000) >> 10), text, i);
            put_escape(build, "\\u%04x", 0xdc00 + ((code - 0x10000) & 0x3ff), text, i);
        } else wick_chat_build_bytes(build, bytes.data + i, n, text->taint ? text->taint + i : NULL);
    }
    chat_put(build, "\"");
}

static void json_break(struct chat_build *build, const struct json_style *style, int depth)
{
    if (style->indent.kind == CHAT_NONE) return;
    chat_put(build, "\n");
    for (int i = 0; i < depth; i++) wick_chat_print(build, style->indent);
}

static void json_value(struct chat_build *build, const struct json_style *style, struct chat_value v, int depth);

static void json_key(struct chat_build *build, const struct json_style *style, struct chat_value key)
{
    if (key.kind == CHAT_STRING) {
        json_text(build, style, key.as.text);
        return;
    }
    if (key.kind != CHAT_NONE && !chat_is_number(key)) {
        wick_chat_raise(build->run, "keys must be str, int, float, bool or None, not %s", wick_chat_type_name(key));
        return;
    }
    chat_put(build, "\"");
    json_value(build, style, key, 0);
    chat_put(build, "\"");
}

static int by_key(const void *a, const void *b)
{
    struct wick_str x = chat_str(((const struct chat_pair *)a)->key), y = chat_str(((const struct chat_pair *)b)->key);
    int order = WICK_MIN(x.size, y.size) ? memcmp(x.data, y.data, WICK_MIN(x.size, y.size)) : 0;
    return order ? order : x.size < y.size ? -1 : x.size > y.size;
}

static void json_dict(struct chat_build *build, const struct json_style *style, const struct chat_dict *dict, int depth)
{
    struct chat_pair *pairs = dict->pairs;
    if (style->sorted && dict->count) {
        pairs = wick_chat_alloc(build->run, dict->count, sizeof *pairs);
        if (!pairs) return;
        memcpy(pairs, dict->pairs, dict->count * sizeof *pairs);
        qsort(pairs, dict->count, sizeof *pairs, by_key);
    }
    chat_put(build, "{");
    for (size_t i = 0; i < dict->count && !chat_failed(build->run); i++) {
        if (i) wick_chat_print(build, style->comma);
        json_break(build, style, depth + 1);
        json_key(build, style, pairs[i].key);
        wick_chat_print(build, style->colon);
        json_value(build, style, pairs[i].value, depth + 1);
    }
    if (dict->count) json_break(build, style, depth);
    chat_put(build, "}");
}

static void json_list(struct chat_build *build, const struct json_style *style, const struct chat_list *list, int depth)
{
    chat_put(build, "[");
    for (size_t i = 0; i < list->count && !chat_failed(build->run); i++) {
        if (i) wick_chat_print(build, style->comma);
        json_break(build, style, depth + 1);
        json_value(build, style, list->items[i], depth + 1);
    }
    if (list->count) json_break(build, style, depth);
    chat_put(build, "]");
}

static void json_value(struct chat_build *build, const struct json_style *style, struct chat_value v, int depth)
{
    if (depth > CHAT_VALUE_DEPTH) wick_chat_raise(build->run, "values are nested too deeply");
    if (!wick_chat_step(build->run, 1)) return;
    switch (v.kind) {
    case CHAT_NONE: chat_put(build, "null"); break;
    case CHAT_BOOL: chat_put(build, v.as.flag ? "true" : "false"); break;
    case CHAT_INT: wick_chat_repr(build, v, 0); break;
    case CHAT_FLOAT: put_real(build, v.as.real, true); break;
    case CHAT_STRING: json_text(build, style, v.as.text); break;
    case CHAT_LIST:
    case CHAT_TUPLE: json_list(build, style, v.as.list, depth); break;
    case CHAT_DICT: json_dict(build, style, v.as.dict, depth); break;
    default: wick_chat_raise(build->run, "Object of type %s is not JSON serializable", wick_chat_type_name(v)); break;
    }
}

/* tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False), as Hugging Face has it. */
struct chat_value wick_chat_tojson(struct chat_run *run, struct chat_value self, const struct chat_args *args)
{
    struct json_style style = {.ascii = wick_chat_arg_flag(args, 0, "ensure_ascii", false),
                               .sorted = wick_chat_arg_flag(args, 3, "sort_keys", false)};
    struct chat_value indent = wick_chat_arg(args, 1, "indent"), separators = wick_chat_arg(args, 2, "separators");
    struct chat_build build;
    style.indent = chat_none();
    if (indent.kind == CHAT_INT) {
        char blanks[64];
        size_t count = indent.as.integer < 0 ? 0 : (size_t)WICK_MIN(indent.as.integer, 64);
        memset(blanks, ' ', sizeof blanks);
        style.indent = wick_chat_string(run, (struct wick_str){blanks, count}, false);
    } else if (indent.kind == CHAT_STRING) {
        style.indent = indent;
    }
    style.comma = wick_chat_string(run, style.indent.kind == CHAT_NONE ? WICK_STR(", ") : WICK_STR(","), false);
    style.colon = wick_chat_string(run, WICK_STR(": "), false);
    if (chat_is_list(separators) && separators.as.list->count == 2) {
        style.comma = separators.as.list->items[0];
        style.colon = separators.as.list->items[1];
    }
    wick_chat_build_init(&build, run);
    json_value(&build, &style, self, 0);
    return wick_chat_build_value(&build);
}
