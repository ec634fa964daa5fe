/* chat/methods.c - methods of strings, lists and dictionaries. Those that would change their list or dictionary are refused, as the original's
 * sandbox refuses them. */
#include "chat/jinja.h"

#include "tok/unicode.h"

#include <utf8proc.h>

#define METHOD(name) static struct chat_value name(struct chat_run *run, struct chat_value self, const struct chat_args *args)

/* ---- strings ---- */

METHOD(s_upper) { return (void)args, wick_chat_case(run, self, CHAT_UPPER); }
METHOD(s_lower) { return (void)args, wick_chat_case(run, self, CHAT_LOWER); }
METHOD(s_title) { return (void)args, wick_chat_case(run, self, CHAT_TITLE); }
METHOD(s_capitalize) { return (void)args, wick_chat_case(run, self, CHAT_CAPITALIZE); }
METHOD(s_swapcase) { return (void)args, wick_chat_case(run, self, CHAT_SWAP); }

static struct chat_value strip(struct chat_run *run, struct chat_value self, const struct chat_args *args, int sides)
{
    struct chat_value chars = wick_chat_arg(args, 0, NULL);
    if (chars.kind != CHAT_STRING && chars.kind != CHAT_NONE && chars.kind != CHAT_UNDEFINED)
        return wick_chat_raise(run, "strip arg must be None or str, not %s", wick_chat_type_name(chars));
    return wick_chat_strip(run, self, chars.kind == CHAT_STRING ? chat_str(chars) : (struct wick_str){NULL, 0}, sides);
}

METHOD(s_strip) { return strip(run, self, args, 3); }
METHOD(s_lstrip) { return strip(run, self, args, 1); }
METHOD(s_rstrip) { return strip(run, self, args, 2); }

static void push_part(struct chat_run *run, struct chat_value list, struct chat_value self, size_t begin, size_t end)
{
    if (!chat_failed(run)) wick_chat_list_push(run, list.as.list, wick_chat_part_of(run, self.as.text, begin, end));
}

/* At runs of white space; limit < 0: none. */
static struct chat_value split_blanks(struct chat_run *run, struct chat_value self, int64_t limit)
{
    struct chat_value made = wick_chat_list_new(run, CHAT_LIST);
    struct wick_str s = chat_str(self);
    uint32_t code = 0;
    for (size_t at = 0; at < s.size && !chat_failed(run);) {
        size_t n = wick_chat_char(s, at, &code), begin = at;
        if (wick_chat_is_space(code)) {
            at += n;
            continue;
        }
        if (limit >= 0 && (int64_t)made.as.list->count >= limit) {
            push_part(run, made, self, begin, s.size);
            break;
        }
        while (at < s.size) {
            n = wick_chat_char(s, at, &code);
            if (wick_chat_is_space(code)) break;
            at += n;
        }
        push_part(run, made, self, begin, at);
    }
    return made;
}

METHOD(s_split)
{
    struct chat_value separator = wick_chat_arg(args, 0, "sep"), made;
    int64_t limit = wick_chat_arg_int(run, args, 1, "maxsplit", -1);
    size_t at = 0;
    if (separator.kind != CHAT_STRING) return split_blanks(run, self, limit);
    if (separator.as.text->size == 0) return wick_chat_raise(run, "empty separator");
    made = wick_chat_list_new(run, CHAT_LIST);
    for (int64_t cuts = 0; !chat_failed(run) && (limit < 0 || cuts < limit); cuts++) {
        size_t found = wick_chat_find(chat_str(self), chat_str(separator), at);
        if (found == SIZE_MAX) break;
        push_part(run, made, self, at, found);
        at = found + separator.as.text->size;
    }
    push_part(run, made, self, at, self.as.text->size);
    return made;
}

/* The last place of `what` that ends at or before `end`; SIZE_MAX: nowhere. */
static size_t find_last(struct wick_str text, struct wick_str what, size_t end)
{
    if (what.size > end) return SIZE_MAX;
    for (size_t at = end - what.size + 1; at-- > 0;) {
        if (what.size == 0 || memcmp(text.data + at, what.data, what.size) == 0) return at;
    }
    return SIZE_MAX;
}

METHOD(s_rsplit)
{
    struct chat_value separator = wick_chat_arg(args, 0, "sep"), made = wick_chat_list_new(run, CHAT_LIST);
    int64_t limit = wick_chat_arg_int(run, args, 1, "maxsplit", -1);
    size_t end = self.as.text->size;
    if (separator.kind != CHAT_STRING && limit < 0) return split_blanks(run, self, limit);
    if (separator.kind != CHAT_STRING) return wick_chat_raise(run, "rsplit at white space with maxsplit is not supported");
    if (separator.as.text->size == 0) return wick_chat_raise(run, "empty separator");
    for (int64_t cuts = 0; !chat_failed(run) && (limit < 0 || cuts < limit); cuts++) {
        size_t found = find_last(chat_str(self), chat_str(separator), end);
        if (found == SIZE_MAX) break;
        push_part(run, made, self, found + separator.as.text->size, end);
        end = found;
    }
    push_part(run, made, self, 0, end);
    for (size_t i = 0; !chat_failed(run) && i < made.as.list->count / 2; i++) {
        struct chat_value *items = made.as.list->items, swap = items[i];
        items[i] = items[made.as.list->count - 1 - i];
        items[made.as.list->count - 1 - i] = swap;
    }
    return made;
}

static bool ends_line(uint32_t code)
{
    return (code >= 0xa && code <= 0xd) || (code >= 0x1c && code <= 0x1e) || code == 0x85 || code == 0x2028 || code == 0x2029;
}

METHOD(s_splitlines)
{
    struct chat_value made = wick_chat_list_new(run, CHAT_LIST);
    struct wick_str s = chat_str(self);
    bool keep = wick_chat_arg_flag(args, 0, "keepends", false);
    size_t begin = 0;
    for (size_t at = 0, n; at < s.size && !chat_failed(run); at += n) {
        uint32_t code = 0;
        n = wick_chat_char(s, at, &code);
        if (!ends_line(code)) continue;
        if (code == '\r' && at + 1 < s.size && s.data[at + 1] == '\n') n = 2;
        push_part(run, made, self, begin, keep ? at + n : at);
        begin = at + n;
    }
    if (begin < s.size) push_part(run, made, self, begin, s.size);
    return made;
}

static struct chat_value affix(struct chat_run *run, struct chat_value self, const struct chat_args *args, bool start)
{
    struct chat_value what = wick_chat_arg(args, 0, NULL);
    size_t count = what.kind == CHAT_TUPLE ? what.as.list->count : 1;
    for (size_t i = 0; i < count; i++) {
        struct chat_value one = what.kind == CHAT_TUPLE ? what.as.list->items[i] : what;
        if (one.kind != CHAT_STRING)
            return wick_chat_raise(run, "%s first arg must be str or a tuple of str, not %s", start ? "startswith" : "endswith",
                                   wick_chat_type_name(one));
        if (start ? wick_str_starts(chat_str(self), chat_str(one)) : wick_str_ends(chat_str(self), chat_str(one))) return chat_bool(true);
    }
    return chat_bool(false);
}

METHOD(s_startswith) { return affix(run, self, args, true); }
METHOD(s_endswith) { return affix(run, self, args, false); }

METHOD(s_removeprefix)
{
    struct chat_value what = wick_chat_arg_text(run, args, 0, NULL, NULL);
    if (chat_failed(run) || !wick_str_starts(chat_str(self), chat_str(what))) return self;
    return wick_chat_part_of(run, self.as.text, what.as.text->size, self.as.text->size);
}

METHOD(s_removesuffix)
{
    struct chat_value what = wick_chat_arg_text(run, args, 0, NULL, NULL);
    if (chat_failed(run) || !wick_str_ends(chat_str(self), chat_str(what))) return self;
    return wick_chat_part_of(run, self.as.text, 0, self.as.text->size - what.as.text->size);
}

METHOD(s_replace)
{
    struct chat_value from = wick_chat_arg_text(run, args, 0, NULL, NULL), to = wick_chat_arg_text(run, args, 1, NULL, NULL);
    int64_t count = wick_chat_arg_int(run, args, 2, "count", -1);
    return chat_failed(run) ? chat_none() : wick_chat_replace(run, self, from, to, count);
}

/* Places count in characters; -1: nowhere. */
static int64_t place(struct chat_run *run, struct chat_value self, const struct chat_args *args, bool last)
{
    struct chat_value what = wick_chat_arg_text(run, args, 0, NULL, NULL);
    if (chat_failed(run)) return -1;
    if (args->count > 1) return wick_chat_raise(run, "find: bounds are not supported"), -1;
    size_t at = last ? find_last(chat_str(self), chat_str(what), self.as.text->size) : wick_chat_find(chat_str(self), chat_str(what), 0);
    return at == SIZE_MAX ? -1 : (int64_t)wick_chat_count((struct wick_str){self.as.text->data, at});
}

METHOD(s_find) { return chat_int(place(run, self, args, false)); }
METHOD(s_rfind) { return chat_int(place(run, self, args, true)); }

METHOD(s_index)
{
    int64_t at = place(run, self, args, false);
    return at < 0 ? wick_chat_raise(run, "substring not found") : chat_int(at);
}

METHOD(s_count)
{
    struct chat_value what = wick_chat_arg_text(run, args, 0, NULL, NULL);
    int64_t count = 0;
    if (chat_failed(run)) return what;
    if (what.as.text->size == 0) return chat_int(wick_chat_length(run, self) + 1);
    for (size_t at = 0; (at = wick_chat_find(chat_str(self), chat_str(what), at)) != SIZE_MAX; at += what.as.text->size) count++;
    return chat_int(count);
}

METHOD(s_join) { return wick_chat_join(run, wick_chat_arg(args, 0, NULL), self, true); }

static struct chat_value parts(struct chat_run *run, struct chat_value self, const struct chat_args *args, bool last)
{
    struct chat_value what = wick_chat_arg_text(run, args, 0, NULL, NULL), made = wick_chat_list_new(run, CHAT_TUPLE);
    if (chat_failed(run)) return what;
    if (what.as.text->size == 0) return wick_chat_raise(run, "empty separator");
    size_t size = self.as.text->size;
    size_t at = last ? find_last(chat_str(self), chat_str(what), size) : wick_chat_find(chat_str(self), chat_str(what), 0);
    bool found = at != SIZE_MAX;
    if (!found) at = last ? 0 : size;
    push_part(run, made, self, 0, at);
    push_part(run, made, self, at, found ? at + what.as.text->size : at);
    push_part(run, made, self, found ? at + what.as.text->size : at, size);
    return made;
}

METHOD(s_partition) { return parts(run, self, args, false); }
METHOD(s_rpartition) { return parts(run, self, args, true); }

enum char_kind { KIND_DIGIT, KIND_LETTER, KIND_ALNUM, KIND_SPACE };

static struct chat_value all_are(struct chat_value self, enum char_kind kind)
{
    struct wick_str s = chat_str(self);
    bool ok = s.size > 0;
    for (size_t i = 0, n; ok && i < s.size; i += n) {
        uint32_t code = 0;
        n = wick_chat_char(s, i, &code);
        utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)code);
        bool letter = category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO, digit = wick_tok_in_class(code, WICK_TOK_CLASS_NUMERIC);
        ok = kind == KIND_DIGIT    ? category == UTF8PROC_CATEGORY_ND
             : kind == KIND_LETTER ? letter
             : kind == KIND_ALNUM  ? letter || digit
                                   : wick_chat_is_space(code);
    }
    return chat_bool(ok);
}

METHOD(s_isdigit) { return (void)run, (void)args, all_are(self, KIND_DIGIT); }
METHOD(s_isalpha) { return (void)run, (void)args, all_are(self, KIND_LETTER); }
METHOD(s_isalnum) { return (void)run, (void)args, all_are(self, KIND_ALNUM); }
METHOD(s_isspace) { return (void)run, (void)args, all_are(self, KIND_SPACE); }
METHOD(s_islower) { return wick_chat_test_find(WICK_STR("lower"))(run, self, args); }
METHOD(s_isupper) { return wick_chat_test_find(WICK_STR("upper"))(run, self, args); }

static struct chat_value filled(struct chat_run *run, struct chat_value self, const struct chat_args *args, bool left)
{
    int64_t missing = wick_chat_arg_int(run, args, 0, NULL, 0) - wick_chat_length(run, self);
    struct chat_value with = wick_chat_arg_text(run, args, 1, NULL, " ");
    struct chat_build build;
    wick_chat_build_init(&build, run);
    if (left) wick_chat_print(&build, self);
    for (int64_t i = 0; i < missing && wick_chat_step(run, 1); i++) wick_chat_print(&build, with);
    if (!left) wick_chat_print(&build, self);
    return wick_chat_build_value(&build);
}

METHOD(s_ljust) { return filled(run, self, args, true); }
METHOD(s_rjust) { return filled(run, self, args, false); }

METHOD(s_zfill)
{
    struct chat_value zero = wick_chat_string(run, WICK_STR("0"), false), items[2] = {wick_chat_arg(args, 0, NULL), zero};
    struct wick_str s = chat_str(self);
    bool sign = s.size && (s.data[0] == '-' || s.data[0] == '+');
    if (chat_failed(run)) return zero;
    if (!sign) return filled(run, self, &(struct chat_args){.items = items, .count = 2}, false);
    items[0] = wick_chat_binary(run, '-', items[0], chat_int(1));
    struct chat_value rest = filled(run, wick_chat_part_of(run, self.as.text, 1, s.size), &(struct chat_args){.items = items, .count = 2}, false);
    return chat_failed(run) ? rest : wick_chat_binary(run, '+', wick_chat_part_of(run, self.as.text, 0, 1), rest);
}

/* {} and {0} and {name}, without anything else in the braces. */
METHOD(s_format)
{
    struct wick_str s = chat_str(self);
    const uint8_t *taint = self.as.text->taint;
    struct chat_build build;
    size_t next = 0;
    wick_chat_build_init(&build, run);
    for (size_t at = 0; at < s.size && !chat_failed(run);) {
        char c = s.data[at];
        bool doubled = at + 1 < s.size && s.data[at + 1] == c;
        if ((c != '{' && c != '}') || doubled) {
            wick_chat_build_bytes(&build, s.data + at, 1, taint ? taint + at : NULL);
            at += c == '{' || c == '}' ? 2 : 1;
            continue;
        }
        size_t end = wick_chat_find(s, WICK_STR("}"), at);
        if (c == '}' || end == SIZE_MAX) return wick_chat_raise(run, "Single '%c' encountered in format string", c);
        struct wick_str name = {s.data + at + 1, end - at - 1};
        struct chat_value v = {.kind = CHAT_UNDEFINED};
        if (name.size == 0) v = wick_chat_arg(args, next++, NULL);
        else if (name.size < 4 && name.data[0] >= '0' && name.data[0] <= '9') v = wick_chat_arg(args, (size_t)(name.data[0] - '0'), NULL);
        for (size_t i = 0; name.size && i < args->named_count; i++) {
            if (wick_str_equal(chat_str(args->named[i].key), name)) v = args->named[i].value;
        }
        if (!chat_given(v))
            return wick_chat_raise(run, "format: nothing for {%.*s}; conversions are not supported", (int)WICK_MIN(name.size, 60), name.data);
        wick_chat_print(&build, v);
        at = end + 1;
    }
    return wick_chat_build_value(&build);
}

/* ---- lists and dictionaries ---- */

METHOD(l_index)
{
    for (size_t i = 0; i < self.as.list->count && !chat_failed(run); i++) {
        if (wick_chat_equal(run, self.as.list->items[i], wick_chat_arg(args, 0, NULL))) return chat_int((int64_t)i);
    }
    return wick_chat_raise(run, "the value is not in the list");
}

METHOD(l_count)
{
    int64_t count = 0;
    for (size_t i = 0; i < self.as.list->count && !chat_failed(run); i++)
        count += wick_chat_equal(run, self.as.list->items[i], wick_chat_arg(args, 0, NULL));
    return chat_int(count);
}

METHOD(l_copy) { return (void)args, wick_chat_list_filter_find(WICK_STR("list"))(run, self, args); }

METHOD(d_get)
{
    const struct chat_value *found = wick_chat_dict_find(run, self.as.dict, wick_chat_arg(args, 0, NULL));
    struct chat_value other = wick_chat_arg(args, 1, NULL);
    return found ? *found : args->count > 1 ? other : chat_none();
}

METHOD(d_items) { return (void)args, wick_chat_list_filter_find(WICK_STR("items"))(run, self, args); }
METHOD(d_keys) { return (void)args, wick_chat_list_filter_find(WICK_STR("list"))(run, self, args); }

METHOD(d_values)
{
    struct chat_value made = wick_chat_list_new(run, CHAT_LIST);
    (void)args;
    for (size_t i = 0; i < self.as.dict->count && !chat_failed(run); i++) wick_chat_list_push(run, made.as.list, self.as.dict->pairs[i].value);
    return made;
}

METHOD(d_copy)
{
    struct chat_value made = wick_chat_dict_new(run, CHAT_DICT);
    (void)args;
    for (size_t i = 0; i < self.as.dict->count && !chat_failed(run); i++)
        wick_chat_dict_set(run, made.as.dict, self.as.dict->pairs[i].key, self.as.dict->pairs[i].value);
    return made;
}

METHOD(unsafe)
{
    (void)args;
    return wick_chat_raise(run, "access to an attribute that changes a '%s' object is unsafe.", wick_chat_type_name(self));
}

static const struct chat_function_row string_rows[] = {
    {"upper", s_upper},
    {"lower", s_lower},
    {"title", s_title},
    {"capitalize", s_capitalize},
    {"swapcase", s_swapcase},
    {"strip", s_strip},
    {"lstrip", s_lstrip},
    {"rstrip", s_rstrip},
    {"split", s_split},
    {"rsplit", s_rsplit},
    {"splitlines", s_splitlines},
    {"startswith", s_startswith},
    {"endswith", s_endswith},
    {"removeprefix", s_removeprefix},
    {"removesuffix", s_removesuffix},
    {"replace", s_replace},
    {"find", s_find},
    {"rfind", s_rfind},
    {"index", s_index},
    {"count", s_count},
    {"join", s_join},
    {"partition", s_partition},
    {"rpartition", s_rpartition},
    {"isdigit", s_isdigit},
    {"isnumeric", s_isdigit},
    {"isdecimal", s_isdigit},
    {"isalpha", s_isalpha},
    {"isalnum", s_isalnum},
    {"isspace", s_isspace},
    {"islower", s_islower},
    {"isupper", s_isupper},
    {"ljust", s_ljust},
    {"rjust", s_rjust},
    {"zfill", s_zfill},
    {"format", s_format},
    {NULL, NULL},
};
static const struct chat_function_row list_rows[] = {
    {"index", l_index}, {"count", l_count}, {"copy", l_copy},    {"append", unsafe}, {"extend", unsafe}, {"insert", unsafe},
    {"pop", unsafe},    {"remove", unsafe}, {"reverse", unsafe}, {"sort", unsafe},   {"clear", unsafe},  {NULL, NULL},
};
static const struct chat_function_row dict_rows[] = {
    {"get", d_get},  {"items", d_items}, {"keys", d_keys},    {"values", d_values},   {"copy", d_copy}, {"update", unsafe},
    {"pop", unsafe}, {"clear", unsafe},  {"popitem", unsafe}, {"setdefault", unsafe}, {NULL, NULL},
};

struct chat_value wick_chat_method(struct chat_run *run, struct chat_value self, struct wick_str name)
{
    const struct chat_function_row *rows = self.kind == CHAT_STRING ? string_rows
                                           : chat_is_list(self)     ? list_rows
                                           : self.kind == CHAT_DICT ? dict_rows
                                                                    : NULL;
    for (; rows && rows->name; rows++) {
        if (wick_str_is(name, rows->name)) return wick_chat_call_new(run, rows->function, rows->name, self);
    }
    return (struct chat_value){.kind = CHAT_UNDEFINED};
}
