/* chat/filters.c - filters of single values: texts, numbers, what is there or not. filters_list.c has those of lists. */
#include "chat/jinja.h"

#include <math.h>
#include <stdlib.h>

#define FILTER(name) static struct chat_value name(struct chat_run *run, struct chat_value self, const struct chat_args *args)

FILTER(f_string) { return (void)args, wick_chat_str(run, self); }
FILTER(f_safe) { return (void)args, wick_chat_str(run, self); }
FILTER(f_upper) { return (void)args, wick_chat_case(run, wick_chat_str(run, self), CHAT_UPPER); }
FILTER(f_lower) { return (void)args, wick_chat_case(run, wick_chat_str(run, self), CHAT_LOWER); }
FILTER(f_capitalize) { return (void)args, wick_chat_case(run, wick_chat_str(run, self), CHAT_CAPITALIZE); }
FILTER(f_length) { return (void)args, chat_int(wick_chat_length(run, self)); }

/* The filter's words begin behind blanks and some punctuation only, unlike the method's. */
FILTER(f_title)
{
    struct chat_value text = wick_chat_str(run, self), made = wick_chat_string(run, WICK_STR(""), false);
    struct wick_str s = chat_str(text);
    (void)args;
    for (size_t begin = 0; begin < s.size && !chat_failed(run);) {
        size_t end = begin;
        uint32_t code = 0;
        for (size_t n; end < s.size; end += n) {
            n = wick_chat_char(s, end, &code);
            if (wick_chat_is_space(code) || strchr("-([{<", (int)(code < 128 && code ? code : 'x'))) {
                end += n;
                break;
            }
        }
        struct chat_value part = wick_chat_case(run, wick_chat_part_of(run, text.as.text, begin, end), CHAT_CAPITALIZE);
        made = wick_chat_binary(run, '+', made, part);
        begin = end;
    }
    return made;
}

FILTER(f_trim)
{
    struct chat_value chars = wick_chat_arg(args, 0, "chars");
    return wick_chat_strip(run, wick_chat_str(run, self), chars.kind == CHAT_STRING ? chat_str(chars) : (struct wick_str){NULL, 0}, 3);
}

FILTER(f_replace)
{
    struct chat_value from = wick_chat_arg_text(run, args, 0, "old", NULL), to = wick_chat_arg_text(run, args, 1, "new", NULL);
    int64_t count = wick_chat_arg_int(run, args, 2, "count", -1);
    return chat_failed(run) ? chat_none() : wick_chat_replace(run, wick_chat_str(run, self), from, to, count);
}

FILTER(f_default)
{
    bool missing = self.kind == CHAT_UNDEFINED || (wick_chat_arg_flag(args, 1, "boolean", false) && !wick_chat_truth(self));
    struct chat_value other = wick_chat_arg(args, 0, "default_value");
    if (!missing) return self;
    return chat_given(other) ? other : wick_chat_string(run, WICK_STR(""), false);
}

/* A whole text as a number, blanks around it and single underscores within allowed. */
static bool number_in(struct wick_str text, char *out, size_t room)
{
    size_t size = 0, begin = 0, end = text.size;
    while (begin < end && strchr(" \t\n\r\f\v", text.data[begin])) begin++;
    while (end > begin && strchr(" \t\n\r\f\v", text.data[end - 1])) end--;
    for (size_t i = begin; i < end; i++) {
        char c = text.data[i];
        if (c == '_' && i > begin && i + 1 < end && text.data[i - 1] != '_') continue;
        if (size + 1 >= room || !((c >= '0' && c <= '9') || strchr("+-.eE", c)) || c == 0) return false;
        out[size++] = c;
    }
    out[size] = 0;
    return size > 0;
}

FILTER(f_int)
{
    struct chat_value other = wick_chat_arg(args, 0, "default");
    char text[64], *end;
    if (!chat_given(other)) other = chat_int(0);
    if (self.kind == CHAT_INT || self.kind == CHAT_BOOL) return chat_int(chat_integer(self));
    double real = self.kind == CHAT_FLOAT ? self.as.real : NAN;
    if (self.kind == CHAT_STRING && number_in(chat_str(self), text, sizeof text)) {
        long long whole = strtoll(text, &end, 10);
        if (*end == 0 && whole != INT64_MAX && whole != INT64_MIN) return chat_int(whole);
        real = strtod(text, &end);
        if (*end) real = NAN;
    }
    (void)run;
    return real > -9.2e18 && real < 9.2e18 ? chat_int((int64_t)real) : other;
}

FILTER(f_float)
{
    struct chat_value other = wick_chat_arg(args, 0, "default");
    char text[64], *end = NULL;
    (void)run;
    if (chat_is_number(self)) return chat_float(chat_real(self));
    if (self.kind == CHAT_STRING && number_in(chat_str(self), text, sizeof text)) {
        double real = strtod(text, &end);
        if (*end == 0) return chat_float(real);
    }
    return chat_given(other) ? other : chat_float(0);
}

FILTER(f_abs)
{
    (void)args;
    if (self.kind == CHAT_FLOAT) return chat_float(fabs(self.as.real));
    if (!chat_is_number(self)) return wick_chat_raise(run, "bad operand type for abs(): '%s'", wick_chat_type_name(self));
    return chat_integer(self) < 0 ? wick_chat_binary(run, '-', chat_int(0), self) : chat_int(chat_integer(self));
}

FILTER(f_round)
{
    int64_t digits = wick_chat_arg_int(run, args, 0, "precision", 0);
    struct wick_str how = chat_str(wick_chat_arg_text(run, args, 1, "method", "common"));
    if (!chat_is_number(self)) return wick_chat_raise(run, "type %s doesn't define __round__ method", wick_chat_type_name(self));
    if (digits < -300 || digits > 300) return chat_float(chat_real(self));
    double scale = pow(10, (double)digits), value = chat_real(self) * scale;
    if (wick_str_is(how, "ceil")) return chat_float(ceil(value) / scale);
    if (wick_str_is(how, "floor")) return chat_float(floor(value) / scale);
    if (!wick_str_is(how, "common")) return wick_chat_raise(run, "method must be common, ceil or floor");
    if (self.kind != CHAT_FLOAT && digits >= 0) return chat_int(chat_integer(self));
    double made = nearbyint(value) / scale;
    return isfinite(made) ? chat_float(made) : chat_float(chat_real(self));
}

FILTER(f_format) { return self.kind == CHAT_STRING ? wick_chat_format(run, self, args) : wick_chat_raise(run, "format: a string expected"); }

/* Lines behind the first get blanks in front; empty ones do not. */
FILTER(f_indent)
{
    struct chat_value width = wick_chat_arg(args, 0, "width"), text = wick_chat_str(run, self);
    bool first = wick_chat_arg_flag(args, 1, "first", false), blank = wick_chat_arg_flag(args, 2, "blank", false);
    int64_t count = width.kind == CHAT_STRING ? 1 : wick_chat_arg_int(run, args, 0, "width", 4);
    struct chat_build build;
    struct wick_str s = chat_str(text);
    struct chat_value lead = width.kind == CHAT_STRING ? width : wick_chat_string(run, WICK_STR(" "), false);
    wick_chat_build_init(&build, run);
    for (size_t begin = 0, line = 0; !chat_failed(run); line++) {
        size_t end = wick_chat_find(s, WICK_STR("\n"), begin), stop = end == SIZE_MAX ? s.size : end;
        bool indents = line == 0 ? first : (stop > begin || blank);
        for (int64_t i = 0; indents && i < count && wick_chat_step(run, 1); i++) wick_chat_print(&build, lead);
        wick_chat_build_text(&build, wick_chat_part_of(run, text.as.text, begin, end == SIZE_MAX ? s.size : end + 1).as.text);
        if (end == SIZE_MAX || chat_failed(run)) break;
        begin = end + 1;
    }
    return wick_chat_build_value(&build);
}

FILTER(f_center)
{
    int64_t width = wick_chat_arg_int(run, args, 0, "width", 80);
    struct chat_value text = wick_chat_str(run, self);
    int64_t missing = width - wick_chat_length(run, text), left = missing / 2 + (missing & width & 1);
    struct chat_build build;
    wick_chat_build_init(&build, run);
    for (int64_t i = 0; i < left && wick_chat_step(run, 1); i++) chat_put(&build, " ");
    wick_chat_print(&build, text);
    for (int64_t i = left; i < missing && wick_chat_step(run, 1); i++) chat_put(&build, " ");
    return wick_chat_build_value(&build);
}

FILTER(f_wordcount)
{
    struct wick_str s = chat_str(wick_chat_str(run, self));
    int64_t words = 0;
    bool inside = false;
    (void)args;
    for (size_t i = 0, n; i < s.size; i += n) {
        uint32_t code = 0;
        n = wick_chat_char(s, i, &code);
        bool word =
            code >= 128 ? !wick_chat_is_space(code) : (code >= '0' && code <= '9') || ((code | 32) >= 'a' && (code | 32) <= 'z') || code == '_';
        words += word && !inside;
        inside = word;
    }
    return chat_int(words);
}

FILTER(f_truncate)
{
    int64_t length = wick_chat_arg_int(run, args, 0, "length", 255), leeway = wick_chat_arg_int(run, args, 3, "leeway", 5);
    bool kill = wick_chat_arg_flag(args, 1, "killwords", false);
    struct chat_value end = wick_chat_arg_text(run, args, 2, "end", "..."), text = wick_chat_str(run, self);
    if (chat_failed(run) || wick_chat_length(run, text) <= length + leeway) return text;
    struct chat_value bounds[3] = {chat_none(), chat_int(length - wick_chat_length(run, end)), chat_none()};
    if (bounds[1].as.integer < 0) return wick_chat_raise(run, "expected length >= %lld", (long long)wick_chat_length(run, end));
    struct chat_value cut = wick_chat_slice(run, text, bounds);
    size_t stop = chat_str(cut).size;
    while (!kill && stop > 0 && chat_str(cut).data[stop - 1] != ' ') stop--;
    if (!kill && stop > 0) cut = wick_chat_part_of(run, cut.as.text, 0, stop - 1);
    return wick_chat_binary(run, '+', cut, end);
}

FILTER(f_escape)
{
    static const char *const pairs[][2] = {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"'", "&#39;"}, {"\"", "&#34;"}};
    struct chat_value text = wick_chat_str(run, self);
    (void)args;
    for (size_t i = 0; i < WICK_ARRAY_SIZE(pairs) && !chat_failed(run); i++)
        text = wick_chat_replace(run, text, wick_chat_string(run, wick_str_of(pairs[i][0]), false),
                                 wick_chat_string(run, wick_str_of(pairs[i][1]), false), -1);
    return text;
}

FILTER(f_urlencode)
{
    struct chat_value text = wick_chat_str(run, self);
    struct wick_str s = chat_str(text);
    struct chat_build build;
    (void)args;
    wick_chat_build_init(&build, run);
    for (size_t i = 0; i < s.size && !chat_failed(run); i++) {
        unsigned char c = (unsigned char)s.data[i];
        bool plain = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || (c && strchr("_.-~/", c));
        char bytes[4] = {'%', "0123456789ABCDEF"[c >> 4], "0123456789ABCDEF"[c & 15], 0};
        if (plain) wick_chat_build_bytes(&build, s.data + i, 1, text.as.text->taint ? text.as.text->taint + i : NULL);
        else chat_put(&build, bytes);
    }
    return wick_chat_build_value(&build);
}

FILTER(f_attr)
{
    struct chat_value name = wick_chat_arg_text(run, args, 0, "name", NULL);
    if (chat_failed(run)) return name;
    /* Attributes only: items of a dictionary are none. */
    return self.kind == CHAT_DICT ? wick_chat_method(run, self, chat_str(name)) : wick_chat_attr(run, self, chat_str(name));
}

chat_function *wick_chat_filter_find(struct wick_str name)
{
    static const struct chat_function_row rows[] = {
        {"string", f_string},         {"safe", f_safe},     {"upper", f_upper},   {"lower", f_lower},   {"capitalize", f_capitalize},
        {"length", f_length},         {"count", f_length},  {"title", f_title},   {"trim", f_trim},     {"replace", f_replace},
        {"default", f_default},       {"d", f_default},     {"int", f_int},       {"float", f_float},   {"abs", f_abs},
        {"round", f_round},           {"format", f_format}, {"indent", f_indent}, {"center", f_center}, {"wordcount", f_wordcount},
        {"truncate", f_truncate},     {"escape", f_escape}, {"e", f_escape},      {"attr", f_attr},     {"urlencode", f_urlencode},
        {"tojson", wick_chat_tojson},
    };
    for (size_t i = 0; i < WICK_ARRAY_SIZE(rows); i++) {
        if (wick_str_is(name, rows[i].name)) return rows[i].function;
    }
    return wick_chat_list_filter_find(name);
}
