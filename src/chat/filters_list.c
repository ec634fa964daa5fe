/* chat/filters_list.c - filters of lists and dictionaries. */
#include "chat/jinja.h"

#define FILTER(name) static struct chat_value name(struct chat_run *run, struct chat_value self, const struct chat_args *args)

/* ---- attributes by path ---- */

/* The value at "a.b.0" of an item; a number is an index. */
static struct chat_value by_path(struct chat_run *run, struct chat_value item, struct chat_value path)
{
    if (path.kind != CHAT_STRING) return path.kind == CHAT_INT ? wick_chat_item(run, item, path) : item;
    struct wick_str rest = chat_str(path);
    while (rest.size && !chat_failed(run)) {
        const char *dot = memchr(rest.data, '.', rest.size);
        struct wick_str name = {rest.data, dot ? (size_t)(dot - rest.data) : rest.size};
        bool number = name.size > 0 && name.size < 10;
        int64_t index = 0;
        for (size_t i = 0; number && i < name.size; i++) {
            number = name.data[i] >= '0' && name.data[i] <= '9';
            index = index * 10 + (name.data[i] - '0');
        }
        /* An item first, then an attribute, as the original's getitem. */
        item = wick_chat_item(run, item, number ? chat_int(index) : wick_chat_string(run, name, false));
        rest = dot ? (struct wick_str){dot + 1, rest.size - name.size - 1} : (struct wick_str){"", 0};
    }
    return item;
}

/* Text without case, as sorting and uniqueness take it. */
static struct chat_value folded(struct chat_run *run, struct chat_value v, bool sensitive)
{
    return sensitive ? v : wick_chat_case(run, v, CHAT_LOWER);
}

static struct chat_list *copy(struct chat_run *run, struct chat_value v)
{
    struct chat_list *items = wick_chat_items(run, v), *made = wick_chat_alloc(run, 1, sizeof *made);
    for (size_t i = 0; made && items && i < items->count && !chat_failed(run); i++) wick_chat_list_push(run, made, items->items[i]);
    return chat_failed(run) ? NULL : made;
}

static struct chat_value list_value(struct chat_list *list) { return list ? (struct chat_value){.kind = CHAT_LIST, .as.list = list} : chat_none(); }

/* ---- sorting ---- */

struct keyed {
    struct chat_value key, item;
};

/* Stable, without recursion: runs are merged, twice as long each time. */
static void merge_sort(struct chat_run *run, struct keyed *items, struct keyed *spare, size_t count, bool down)
{
    for (size_t width = 1; width < count && !chat_failed(run); width *= 2) {
        for (size_t begin = 0; begin < count; begin += 2 * width) {
            size_t middle = WICK_MIN(begin + width, count), end = WICK_MIN(begin + 2 * width, count), a = begin, b = middle;
            for (size_t at = begin; at < end; at++) {
                int order = a < middle && b < end ? wick_chat_compare(run, items[b].key, items[a].key, "<") : 0;
                bool second = a == middle || (b < end && (down ? order > 0 : order < 0));
                spare[at] = second ? items[b++] : items[a++];
            }
        }
        memcpy(items, spare, count * sizeof *items);
    }
}

/* Sorts a list of its own by keys of the same length. */
static void sort_by(struct chat_run *run, struct chat_list *items, const struct chat_value *keys, bool down)
{
    struct keyed *order = wick_chat_alloc(run, items->count + 1, sizeof *order), *spare = wick_chat_alloc(run, items->count + 1, sizeof *spare);
    if (!order || !spare) return;
    for (size_t i = 0; i < items->count; i++) order[i] = (struct keyed){keys[i], items->items[i]};
    merge_sort(run, order, spare, items->count, down);
    for (size_t i = 0; i < items->count; i++) items->items[i] = order[i].item;
}

static struct chat_value sorted(struct chat_run *run, struct chat_value self, bool down, bool sensitive, struct chat_value path)
{
    struct chat_list *items = copy(run, self);
    struct chat_value *keys = items ? wick_chat_alloc(run, items->count + 1, sizeof *keys) : NULL;
    for (size_t i = 0; keys && i < items->count && !chat_failed(run); i++) keys[i] = folded(run, by_path(run, items->items[i], path), sensitive);
    if (keys && !chat_failed(run)) sort_by(run, items, keys, down);
    return list_value(items);
}

FILTER(f_sort)
{
    return sorted(run, self, wick_chat_arg_flag(args, 0, "reverse", false), wick_chat_arg_flag(args, 1, "case_sensitive", false),
                  wick_chat_arg(args, 2, "attribute"));
}

static struct chat_value pairs_of(struct chat_run *run, struct chat_value self)
{
    struct chat_value made = wick_chat_list_new(run, CHAT_LIST);
    if (self.kind == CHAT_UNDEFINED) return made;
    if (self.kind != CHAT_DICT) return wick_chat_raise(run, "Can only get item pairs from a mapping.");
    for (size_t i = 0; i < self.as.dict->count && !chat_failed(run); i++) {
        struct chat_value pair = wick_chat_list_new(run, CHAT_TUPLE);
        if (chat_failed(run)) break;
        wick_chat_list_push(run, pair.as.list, self.as.dict->pairs[i].key);
        wick_chat_list_push(run, pair.as.list, self.as.dict->pairs[i].value);
        wick_chat_list_push(run, made.as.list, pair);
    }
    return made;
}

FILTER(f_items) { return (void)args, pairs_of(run, self); }

FILTER(f_dictsort)
{
    struct wick_str by = chat_str(wick_chat_arg_text(run, args, 1, "by", "key"));
    struct chat_value pairs = pairs_of(run, self);
    if (chat_failed(run)) return pairs;
    return sorted(run, pairs, wick_chat_arg_flag(args, 2, "reverse", false), wick_chat_arg_flag(args, 0, "case_sensitive", false),
                  chat_int(wick_str_is(by, "value") ? 1 : 0));
}

FILTER(f_groupby)
{
    struct chat_value path = wick_chat_arg(args, 0, "attribute"), other = wick_chat_arg(args, 1, "default");
    struct chat_value all = sorted(run, self, false, false, path), made = wick_chat_list_new(run, CHAT_LIST);
    struct chat_value last = chat_none(), group = chat_none();
    for (size_t i = 0; !chat_failed(run) && i < all.as.list->count; i++) {
        struct chat_value key = by_path(run, all.as.list->items[i], path);
        if (key.kind == CHAT_UNDEFINED && chat_given(other)) key = other;
        struct chat_value fold = folded(run, key, wick_chat_arg_flag(args, 2, "case_sensitive", false));
        if (i == 0 || !wick_chat_equal(run, last, fold)) {
            struct chat_value pair = wick_chat_list_new(run, CHAT_TUPLE);
            group = wick_chat_list_new(run, CHAT_LIST);
            if (chat_failed(run)) break;
            wick_chat_list_push(run, pair.as.list, key);
            wick_chat_list_push(run, pair.as.list, group);
            wick_chat_list_push(run, made.as.list, pair);
            last = fold;
        }
        if (!chat_failed(run)) wick_chat_list_push(run, group.as.list, all.as.list->items[i]);
    }
    return made;
}

/* ---- picking ---- */

/* The arguments behind the first `count`. */
static struct chat_args behind(const struct chat_args *args, size_t count)
{
    size_t n = WICK_MIN(count, args->count);
    return (struct chat_args){args->items + n, args->count - n, args->named, args->named_count};
}

/* select, reject (attribute false) and selectattr, rejectattr: by the truth, or by a test with its arguments. */
static struct chat_value pick(struct chat_run *run, struct chat_value self, const struct chat_args *args, bool attribute, bool wanted)
{
    struct chat_list *items = wick_chat_items(run, self);
    struct chat_value made = wick_chat_list_new(run, CHAT_LIST), path = attribute ? wick_chat_arg(args, 0, NULL) : chat_none();
    struct chat_value name = wick_chat_arg(args, attribute, NULL);
    struct chat_args rest = behind(args, 1 + (size_t)attribute);
    chat_function *test = name.kind == CHAT_STRING ? wick_chat_test_find(chat_str(name)) : NULL;
    if (name.kind == CHAT_STRING && !test)
        return wick_chat_raise(run, "No test named '%.*s'.", (int)WICK_MIN(chat_str(name).size, 60), chat_str(name).data);
    for (size_t i = 0; items && i < items->count && !chat_failed(run); i++) {
        struct chat_value v = by_path(run, items->items[i], path);
        if (test && !chat_failed(run)) v = test(run, v, &rest);
        if (wick_chat_truth(v) == wanted) wick_chat_list_push(run, made.as.list, items->items[i]);
    }
    return made;
}

FILTER(f_select) { return pick(run, self, args, false, true); }
FILTER(f_reject) { return pick(run, self, args, false, false); }
FILTER(f_selectattr) { return pick(run, self, args, true, true); }
FILTER(f_rejectattr) { return pick(run, self, args, true, false); }

FILTER(f_map)
{
    struct chat_list *items = wick_chat_items(run, self);
    struct chat_value made = wick_chat_list_new(run, CHAT_LIST), path = wick_chat_arg(args, args->count, "attribute");
    struct chat_value other = wick_chat_arg(args, args->count, "default"), name = wick_chat_arg(args, 0, NULL);
    struct chat_args rest = behind(args, 1);
    chat_function *filter = name.kind == CHAT_STRING ? wick_chat_filter_find(chat_str(name)) : NULL;
    if (!chat_given(path) && !filter) return wick_chat_raise(run, "map: the name of a filter or attribute= expected");
    for (size_t i = 0; items && i < items->count && !chat_failed(run); i++) {
        struct chat_value v = filter ? filter(run, items->items[i], &rest) : by_path(run, items->items[i], path);
        wick_chat_list_push(run, made.as.list, v.kind == CHAT_UNDEFINED && chat_given(other) ? other : v);
    }
    return made;
}

FILTER(f_unique)
{
    struct chat_list *items = wick_chat_items(run, self);
    struct chat_value made = wick_chat_list_new(run, CHAT_LIST), seen = wick_chat_dict_new(run, CHAT_DICT);
    bool sensitive = wick_chat_arg_flag(args, 0, "case_sensitive", false);
    for (size_t i = 0; items && i < items->count && !chat_failed(run); i++) {
        struct chat_value key = folded(run, by_path(run, items->items[i], wick_chat_arg(args, 1, "attribute")), sensitive);
        if (chat_failed(run) || wick_chat_dict_find(run, seen.as.dict, key)) continue;
        wick_chat_dict_set(run, seen.as.dict, key, chat_none());
        wick_chat_list_push(run, made.as.list, items->items[i]);
    }
    return made;
}

FILTER(f_first)
{
    struct chat_list *items = wick_chat_items(run, self);
    (void)args;
    return items && items->count ? items->items[0] : wick_chat_undefined(run, WICK_STR("No first item, sequence was empty: 'first'"));
}

FILTER(f_last)
{
    struct chat_list *items = wick_chat_items(run, self);
    (void)args;
    return items && items->count ? items->items[items->count - 1] : wick_chat_undefined(run, WICK_STR("No last item, sequence was empty: 'last'"));
}

FILTER(f_list) { return (void)args, list_value(copy(run, self)); }

FILTER(f_reverse)
{
    struct chat_list *items = copy(run, self);
    (void)args;
    for (size_t i = 0; items && i < items->count / 2; i++) {
        struct chat_value swap = items->items[i];
        items->items[i] = items->items[items->count - 1 - i];
        items->items[items->count - 1 - i] = swap;
    }
    if (self.kind != CHAT_STRING) return list_value(items);
    return wick_chat_join(run, list_value(items), wick_chat_string(run, WICK_STR(""), false), false);
}

FILTER(f_join)
{
    struct chat_value separator = wick_chat_arg(args, 0, "d"), path = wick_chat_arg(args, 1, "attribute");
    if (!chat_given(separator)) separator = wick_chat_string(run, WICK_STR(""), false);
    if (!chat_given(path)) return wick_chat_join(run, self, separator, false);
    struct chat_list *items = copy(run, self);
    for (size_t i = 0; items && i < items->count && !chat_failed(run); i++) items->items[i] = by_path(run, items->items[i], path);
    return chat_failed(run) ? chat_none() : wick_chat_join(run, list_value(items), separator, false);
}

FILTER(f_sum)
{
    struct chat_list *items = wick_chat_items(run, self);
    struct chat_value sum = wick_chat_arg(args, 1, "start"), path = wick_chat_arg(args, 0, "attribute");
    if (!chat_given(sum)) sum = chat_int(0);
    for (size_t i = 0; items && i < items->count && !chat_failed(run); i++)
        sum = wick_chat_binary(run, '+', sum, by_path(run, items->items[i], path));
    return sum;
}

static struct chat_value extreme(struct chat_run *run, struct chat_value self, const struct chat_args *args, int sign)
{
    struct chat_list *items = wick_chat_items(run, self);
    bool sensitive = wick_chat_arg_flag(args, 0, "case_sensitive", false);
    struct chat_value path = wick_chat_arg(args, 1, "attribute"), best = chat_none(), found = chat_none();
    if (items && items->count == 0) return wick_chat_undefined(run, WICK_STR("No aggregated item, sequence was empty: 'min' or 'max'"));
    for (size_t i = 0; items && i < items->count && !chat_failed(run); i++) {
        struct chat_value key = folded(run, by_path(run, items->items[i], path), sensitive);
        if (i && wick_chat_compare(run, key, best, sign > 0 ? ">" : "<") * sign <= 0) continue;
        best = key;
        found = items->items[i];
    }
    return found;
}

FILTER(f_min) { return extreme(run, self, args, -1); }
FILTER(f_max) { return extreme(run, self, args, 1); }

/* Lists of `size` items each; with a filler the last is filled up. */
FILTER(f_batch)
{
    struct chat_list *items = wick_chat_items(run, self);
    struct chat_value made = wick_chat_list_new(run, CHAT_LIST), part = chat_none(), fill = wick_chat_arg(args, 1, "fill_with");
    int64_t size = wick_chat_arg_int(run, args, 0, "linecount", 0);
    if (size < 1) return wick_chat_raise(run, "batch: a size of at least 1 expected");
    for (size_t i = 0; items && i < items->count && !chat_failed(run); i++) {
        if (i % (size_t)size == 0) {
            part = wick_chat_list_new(run, CHAT_LIST);
            wick_chat_list_push(run, made.as.list, part);
        }
        if (!chat_failed(run)) wick_chat_list_push(run, part.as.list, items->items[i]);
    }
    bool fills = part.kind == CHAT_LIST && fill.kind != CHAT_UNDEFINED && fill.kind != CHAT_NONE;
    while (fills && !chat_failed(run) && (int64_t)part.as.list->count < size) wick_chat_list_push(run, part.as.list, fill);
    return made;
}

chat_function *wick_chat_list_filter_find(struct wick_str name)
{
    static const struct chat_function_row rows[] = {
        {"sort", f_sort},
        {"items", f_items},
        {"dictsort", f_dictsort},
        {"groupby", f_groupby},
        {"select", f_select},
        {"reject", f_reject},
        {"map", f_map},
        {"selectattr", f_selectattr},
        {"rejectattr", f_rejectattr},
        {"unique", f_unique},
        {"first", f_first},
        {"last", f_last},
        {"list", f_list},
        {"reverse", f_reverse},
        {"join", f_join},
        {"sum", f_sum},
        {"min", f_min},
        {"max", f_max},
        {"batch", f_batch},
    };
    for (size_t i = 0; i < WICK_ARRAY_SIZE(rows); i++) {
        if (wick_str_is(name, rows[i].name)) return rows[i].function;
    }
    return NULL;
}
