/* chat/value.c - making, comparing and taking values apart, as Python does. */
#include "chat/jinja.h"

#include "base/checked.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- the rendering's memory and failures ---- */

struct chat_value wick_chat_raise(struct chat_run *run, const char *format, ...)
{
    char text[400];
    va_list list;
    if (!chat_failed(run)) {
        va_start(list, format);
        vsnprintf(text, sizeof text, format, list);
        va_end(list);
        run->status = wick_fail(run->err, WICK_INVALID_ARGUMENT, "%s", text);
    }
    return (struct chat_value){.kind = CHAT_UNDEFINED};
}

bool wick_chat_step(struct chat_run *run, uint64_t steps)
{
    run->steps += steps;
    if (run->steps > CHAT_STEP_LIMIT) wick_chat_raise(run, "the template takes too many steps");
    return !chat_failed(run);
}

void *wick_chat_alloc(struct chat_run *run, size_t count, size_t size)
{
    size_t bytes;
    if (chat_failed(run)) return NULL;
    if (wick_mul_size(count, size, &bytes) || bytes > CHAT_MEMORY_LIMIT || run->arena.used > CHAT_MEMORY_LIMIT - bytes) {
        wick_chat_raise(run, "the template takes too much memory");
        return NULL;
    }
    if (!wick_chat_step(run, 1 + bytes / 64)) return NULL;
    void *memory = wick_arena_alloc(&run->arena, bytes, _Alignof(max_align_t));
    if (!memory) run->status = wick_fail_oom(run->err, bytes, "a rendered template");
    return memory;
}

/* ---- strings ---- */

struct chat_value wick_chat_undefined(struct chat_run *run, struct wick_str name)
{
    struct chat_value v = wick_chat_string(run, name, false);
    v.kind = CHAT_UNDEFINED;
    return v;
}

static struct chat_value string_of(struct chat_run *run, const char *data, size_t size, const uint8_t *taint)
{
    struct chat_text *text = wick_chat_alloc(run, 1, sizeof *text);
    if (!text) return (struct chat_value){.kind = CHAT_UNDEFINED};
    *text = (struct chat_text){data, size, taint};
    return (struct chat_value){.kind = CHAT_STRING, .as.text = text};
}

struct chat_value wick_chat_string(struct chat_run *run, struct wick_str text, bool tainted)
{
    char *data = wick_chat_alloc(run, text.size + 1, 1);
    uint8_t *taint = tainted && data ? wick_chat_alloc(run, text.size + 1, 1) : NULL;
    if (chat_failed(run)) return (struct chat_value){.kind = CHAT_UNDEFINED};
    if (text.size) memcpy(data, text.data, text.size);
    if (taint) memset(taint, 1, text.size);
    return string_of(run, data, text.size, taint);
}

struct chat_value wick_chat_part_of(struct chat_run *run, const struct chat_text *text, size_t begin, size_t end)
{
    return string_of(run, text->data + begin, end - begin, text->taint ? text->taint + begin : NULL);
}

void wick_chat_build_init(struct chat_build *build, struct chat_run *run) { *build = (struct chat_build){.run = run}; }

void wick_chat_build_bytes(struct chat_build *build, const char *data, size_t size, const uint8_t *taint)
{
    if (chat_failed(build->run) || size == 0) return;
    if (size > build->capacity - build->size) {
        size_t capacity = (build->size + size) * 2 + 64;
        char *grown = wick_chat_alloc(build->run, capacity, 1);
        uint8_t *marks = grown ? wick_chat_alloc(build->run, capacity, 1) : NULL;
        if (!marks) return;
        if (build->size) memcpy(grown, build->data, build->size);
        if (build->size) memcpy(marks, build->taint, build->size);
        build->data = grown;
        build->taint = marks;
        build->capacity = capacity;
    }
    memcpy(build->data + build->size, data, size);
    if (taint) memcpy(build->taint + build->size, taint, size);
    else memset(build->taint + build->size, 0, size);
    build->tainted = build->tainted || taint;
    build->size += size;
    if (build->size > CHAT_OUTPUT_LIMIT) wick_chat_raise(build->run, "the template prints too much");
}

void wick_chat_build_text(struct chat_build *build, const struct chat_text *text)
{
    wick_chat_build_bytes(build, text->data, text->size, text->taint);
}

struct chat_value wick_chat_build_value(struct chat_build *build)
{
    return string_of(build->run, build->data ? build->data : "", build->size, build->tainted ? build->taint : NULL);
}

/* ---- lists and dictionaries ---- */

struct chat_value wick_chat_list_new(struct chat_run *run, enum chat_kind kind)
{
    return (struct chat_value){.kind = kind, .as.list = wick_chat_alloc(run, 1, sizeof(struct chat_list))};
}

void wick_chat_list_push(struct chat_run *run, struct chat_list *list, struct chat_value value)
{
    if (chat_failed(run)) return;
    if (list->count == list->capacity) {
        size_t capacity = list->capacity * 2 + 8;
        struct chat_value *items = wick_chat_alloc(run, capacity, sizeof *items);
        if (!items) return;
        if (list->count) memcpy(items, list->items, list->count * sizeof *items);
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = value;
}

struct chat_value wick_chat_dict_new(struct chat_run *run, enum chat_kind kind)
{
    return (struct chat_value){.kind = kind, .as.dict = wick_chat_alloc(run, 1, sizeof(struct chat_dict))};
}

struct chat_value *wick_chat_dict_find_text(const struct chat_dict *dict, struct wick_str key)
{
    for (size_t i = 0; i < dict->count; i++) {
        if (dict->pairs[i].key.kind == CHAT_STRING && wick_str_equal(chat_str(dict->pairs[i].key), key)) return &dict->pairs[i].value;
    }
    return NULL;
}

struct chat_value *wick_chat_dict_find(struct chat_run *run, const struct chat_dict *dict, struct chat_value key)
{
    if (!wick_chat_step(run, 1 + dict->count / 8)) return NULL;
    if (key.kind == CHAT_STRING) return wick_chat_dict_find_text(dict, chat_str(key));
    for (size_t i = 0; i < dict->count; i++) {
        if (dict->pairs[i].key.kind != CHAT_STRING && wick_chat_equal(run, dict->pairs[i].key, key)) return &dict->pairs[i].value;
    }
    return NULL;
}

void wick_chat_dict_set(struct chat_run *run, struct chat_dict *dict, struct chat_value key, struct chat_value value)
{
    if (chat_failed(run)) return;
    if (key.kind == CHAT_LIST || key.kind == CHAT_DICT) {
        wick_chat_raise(run, "unhashable type: '%s'", wick_chat_type_name(key));
        return;
    }
    struct chat_value *found = wick_chat_dict_find(run, dict, key);
    if (found) *found = value;
    if (found || chat_failed(run)) return;
    if (dict->count == dict->capacity) {
        size_t capacity = dict->capacity * 2 + 8;
        struct chat_pair *pairs = wick_chat_alloc(run, capacity, sizeof *pairs);
        if (!pairs) return;
        if (dict->count) memcpy(pairs, dict->pairs, dict->count * sizeof *pairs);
        dict->pairs = pairs;
        dict->capacity = capacity;
    }
    dict->pairs[dict->count++] = (struct chat_pair){key, value};
}

static struct chat_value object_from_json(struct chat_run *run, const json_t *json, bool tainted, int depth)
{
    struct chat_value made = wick_chat_dict_new(run, CHAT_DICT);
    struct chat_pair *pairs = wick_chat_alloc(run, json_object_size(json), sizeof *pairs);
    const char *key;
    json_t *value;
    if (chat_failed(run)) return chat_none();
    made.as.dict->pairs = pairs;
    made.as.dict->capacity = json_object_size(json);
    /* Keys of an object differ, so they need not be looked for. */
    json_object_foreach((json_t *)(uintptr_t)json, key, value)
    {
        struct chat_value name = wick_chat_string(run, wick_str_of(key), tainted), item = wick_chat_from_json(run, value, tainted, depth + 1);
        if (chat_failed(run)) return chat_none();
        pairs[made.as.dict->count++] = (struct chat_pair){name, item};
    }
    return made;
}

struct chat_value wick_chat_from_json(struct chat_run *run, const json_t *json, bool tainted, int depth)
{
    if (depth > CHAT_VALUE_DEPTH) return wick_chat_raise(run, "the arguments are nested too deeply");
    switch (json ? json_typeof(json) : JSON_NULL) {
    case JSON_OBJECT: return object_from_json(run, json, tainted, depth);
    case JSON_ARRAY: {
        struct chat_value made = wick_chat_list_new(run, CHAT_LIST);
        for (size_t i = 0; i < json_array_size(json) && !chat_failed(run); i++)
            wick_chat_list_push(run, made.as.list, wick_chat_from_json(run, json_array_get(json, i), tainted, depth + 1));
        return made;
    }
    case JSON_STRING: return wick_chat_string(run, (struct wick_str){json_string_value(json), json_string_length(json)}, tainted);
    case JSON_INTEGER: return chat_int(json_integer_value(json));
    case JSON_REAL: return chat_float(json_real_value(json));
    case JSON_TRUE: return chat_bool(true);
    case JSON_FALSE: return chat_bool(false);
    case JSON_NULL: break;
    }
    return chat_none();
}

/* ---- questions ---- */

const char *wick_chat_type_name(struct chat_value v)
{
    switch (v.kind) {
    case CHAT_UNDEFINED: return "Undefined";
    case CHAT_NONE: return "NoneType";
    case CHAT_BOOL: return "bool";
    case CHAT_INT: return "int";
    case CHAT_FLOAT: return "float";
    case CHAT_STRING: return "str";
    case CHAT_LIST: return "list";
    case CHAT_TUPLE: return "tuple";
    case CHAT_DICT: return "dict";
    case CHAT_NAMESPACE: return "Namespace";
    case CHAT_LOOP: return "LoopContext";
    case CHAT_CALL: return v.as.call->macro ? "Macro" : "function";
    }
    return "object";
}

bool wick_chat_truth(struct chat_value v)
{
    switch (v.kind) {
    case CHAT_UNDEFINED:
    case CHAT_NONE: return false;
    case CHAT_BOOL: return v.as.flag;
    case CHAT_INT: return v.as.integer != 0;
    case CHAT_FLOAT: return v.as.real != 0;
    case CHAT_STRING: return v.as.text->size != 0;
    case CHAT_LIST:
    case CHAT_TUPLE: return v.as.list->count != 0;
    case CHAT_DICT: return v.as.dict->count != 0;
    case CHAT_NAMESPACE:
    case CHAT_LOOP:
    case CHAT_CALL: return true;
    }
    return false;
}

static bool equal_within(struct chat_run *run, struct chat_value a, struct chat_value b, int depth)
{
    if (depth > CHAT_VALUE_DEPTH) wick_chat_raise(run, "values are nested too deeply");
    if (!wick_chat_step(run, 1)) return false;
    if (chat_is_number(a) && chat_is_number(b)) {
        if (a.kind == CHAT_FLOAT || b.kind == CHAT_FLOAT) return chat_real(a) == chat_real(b);
        return chat_integer(a) == chat_integer(b);
    }
    if (a.kind != b.kind) return false;
    if (a.kind == CHAT_STRING) return wick_str_equal(chat_str(a), chat_str(b));
    if (chat_is_list(a)) {
        if (a.as.list->count != b.as.list->count) return false;
        for (size_t i = 0; i < a.as.list->count; i++) {
            if (!equal_within(run, a.as.list->items[i], b.as.list->items[i], depth + 1)) return false;
        }
        return true;
    }
    if (a.kind == CHAT_DICT) {
        if (a.as.dict->count != b.as.dict->count) return false;
        for (size_t i = 0; i < a.as.dict->count; i++) {
            const struct chat_value *other = wick_chat_dict_find(run, b.as.dict, a.as.dict->pairs[i].key);
            if (!other || !equal_within(run, a.as.dict->pairs[i].value, *other, depth + 1)) return false;
        }
        return true;
    }
    return a.kind == CHAT_UNDEFINED || a.kind == CHAT_NONE || (const void *)a.as.dict == (const void *)b.as.dict;
}

bool wick_chat_equal(struct chat_run *run, struct chat_value a, struct chat_value b) { return equal_within(run, a, b, 0); }

static struct wick_str name_of_undefined(struct chat_value v)
{
    return v.as.text ? (struct wick_str){v.as.text->data, v.as.text->size} : WICK_STR("value");
}

/* What an undefined value says when something is asked of it. */
static struct chat_value complain(struct chat_run *run, struct chat_value v)
{
    struct wick_str name = name_of_undefined(v);
    bool whole = memchr(name.data, '\'', name.size) != NULL;
    return whole ? wick_chat_raise(run, "%.*s", (int)WICK_MIN(name.size, 300), name.data)
                 : wick_chat_raise(run, "'%.*s' is undefined", (int)WICK_MIN(name.size, 200), name.data);
}

static int compare_within(struct chat_run *run, struct chat_value a, struct chat_value b, const char *op, int depth)
{
    if (a.kind == CHAT_UNDEFINED || b.kind == CHAT_UNDEFINED) return complain(run, a.kind == CHAT_UNDEFINED ? a : b), 0;
    if (depth > CHAT_VALUE_DEPTH) wick_chat_raise(run, "values are nested too deeply");
    if (!wick_chat_step(run, 1)) return 0;
    if (chat_is_number(a) && chat_is_number(b)) {
        if (a.kind == CHAT_FLOAT || b.kind == CHAT_FLOAT) return chat_real(a) < chat_real(b) ? -1 : chat_real(a) > chat_real(b);
        return chat_integer(a) < chat_integer(b) ? -1 : chat_integer(a) > chat_integer(b);
    }
    if (a.kind == CHAT_STRING && b.kind == CHAT_STRING) {
        struct wick_str x = chat_str(a), y = chat_str(b);
        int order = WICK_MIN(x.size, y.size) ? memcmp(x.data, y.data, WICK_MIN(x.size, y.size)) : 0;
        return order ? order : x.size < y.size ? -1 : x.size > y.size;
    }
    if (chat_is_list(a) && a.kind == b.kind) {
        const struct chat_list *x = a.as.list, *y = b.as.list;
        for (size_t i = 0; i < x->count && i < y->count && !chat_failed(run); i++) {
            if (!wick_chat_equal(run, x->items[i], y->items[i])) return compare_within(run, x->items[i], y->items[i], op, depth + 1);
        }
        return x->count < y->count ? -1 : x->count > y->count;
    }
    wick_chat_raise(run, "'%s' not supported between instances of '%s' and '%s'", op, wick_chat_type_name(a), wick_chat_type_name(b));
    return 0;
}

int wick_chat_compare(struct chat_run *run, struct chat_value a, struct chat_value b, const char *op) { return compare_within(run, a, b, op, 0); }

bool wick_chat_contains(struct chat_run *run, struct chat_value all, struct chat_value one)
{
    if (all.kind == CHAT_STRING) {
        if (one.kind != CHAT_STRING) {
            wick_chat_raise(run, "'in <string>' requires string as left operand, not %s", wick_chat_type_name(one));
            return false;
        }
        return wick_chat_step(run, 1 + all.as.text->size / 64) && wick_chat_find(chat_str(all), chat_str(one), 0) != SIZE_MAX;
    }
    if (all.kind == CHAT_DICT) return wick_chat_dict_find(run, all.as.dict, one) != NULL;
    if (all.kind != CHAT_UNDEFINED && !chat_is_list(all)) {
        wick_chat_raise(run, "argument of type '%s' is not iterable", wick_chat_type_name(all));
        return false;
    }
    for (size_t i = 0; all.kind != CHAT_UNDEFINED && i < all.as.list->count && !chat_failed(run); i++) {
        if (wick_chat_equal(run, all.as.list->items[i], one)) return true;
    }
    return false;
}

int64_t wick_chat_length(struct chat_run *run, struct chat_value v)
{
    if (v.kind == CHAT_STRING) return (int64_t)wick_chat_count(chat_str(v));
    if (chat_is_list(v)) return (int64_t)v.as.list->count;
    if (v.kind == CHAT_DICT) return (int64_t)v.as.dict->count;
    if (v.kind == CHAT_LOOP) return (int64_t)v.as.loop->items->count;
    if (v.kind == CHAT_UNDEFINED) return 0;
    wick_chat_raise(run, "object of type '%s' has no len()", wick_chat_type_name(v));
    return 0;
}

struct chat_list *wick_chat_items(struct chat_run *run, struct chat_value v)
{
    if (chat_is_list(v)) return v.as.list;
    struct chat_list *list = wick_chat_alloc(run, 1, sizeof *list);
    if (!list || v.kind == CHAT_UNDEFINED) return list;
    if (v.kind == CHAT_DICT) {
        for (size_t i = 0; i < v.as.dict->count; i++) wick_chat_list_push(run, list, v.as.dict->pairs[i].key);
    } else if (v.kind == CHAT_STRING) {
        for (size_t i = 0, n; i < v.as.text->size && !chat_failed(run); i += n) {
            n = wick_chat_char(chat_str(v), i, NULL);
            wick_chat_list_push(run, list, wick_chat_part_of(run, v.as.text, i, i + n));
        }
    } else {
        wick_chat_raise(run, "'%s' object is not iterable", wick_chat_type_name(v));
    }
    return chat_failed(run) ? NULL : list;
}

/* ---- parts ---- */

static struct chat_value no_attribute(struct chat_run *run, struct chat_value v, struct wick_str name)
{
    char text[200];
    /* As Jinja names the object: its type, or the class itself. */
    int size = snprintf(text, sizeof text, "'%s object' has no attribute '%.*s'", wick_chat_type_name(v), (int)WICK_MIN(name.size, 100), name.data);
    return wick_chat_undefined(run, (struct wick_str){text, size < 0 ? 0 : WICK_MIN((size_t)size, sizeof text - 1)});
}

struct chat_value wick_chat_attr(struct chat_run *run, struct chat_value v, struct wick_str name)
{
    const struct chat_value *found;
    if (!wick_chat_step(run, 1)) return chat_none();
    if (v.kind == CHAT_UNDEFINED) return complain(run, v);
    if (v.kind == CHAT_LOOP) return wick_chat_loop_attr(run, v.as.loop, name);
    if (v.kind == CHAT_NAMESPACE) {
        found = wick_chat_dict_find_text(v.as.dict, name);
        return found ? *found : no_attribute(run, v, name);
    }
    struct chat_value method = wick_chat_method(run, v, name);
    if (method.kind != CHAT_UNDEFINED || chat_failed(run)) return method;
    found = v.kind == CHAT_DICT ? wick_chat_dict_find_text(v.as.dict, name) : NULL;
    return found ? *found : no_attribute(run, v, name);
}

static struct chat_value item_at(struct chat_run *run, struct chat_value v, int64_t index)
{
    int64_t count = wick_chat_length(run, v);
    if (index < 0) index += count;
    if (index < 0 || index >= count) return wick_chat_undefined(run, WICK_STR(""));
    if (v.kind != CHAT_STRING) return v.as.list->items[index];
    struct wick_str text = chat_str(v);
    size_t at = 0;
    if (!wick_chat_step(run, 1 + text.size / 64)) return chat_none();
    while (index-- > 0) at += wick_chat_char(text, at, NULL);
    return wick_chat_part_of(run, v.as.text, at, at + wick_chat_char(text, at, NULL));
}

struct chat_value wick_chat_item(struct chat_run *run, struct chat_value v, struct chat_value key)
{
    if (!wick_chat_step(run, 1)) return chat_none();
    if (v.kind == CHAT_UNDEFINED) return complain(run, v);
    if (v.kind == CHAT_DICT || v.kind == CHAT_NAMESPACE) {
        const struct chat_value *found = wick_chat_dict_find(run, v.as.dict, key);
        if (found) return *found;
    } else if ((chat_is_list(v) || v.kind == CHAT_STRING) && (key.kind == CHAT_INT || key.kind == CHAT_BOOL)) {
        struct chat_value item = item_at(run, v, chat_integer(key));
        if (item.kind == CHAT_UNDEFINED) {
            char text[80];
            int size = snprintf(text, sizeof text, "'%s object' has no element %lld", wick_chat_type_name(v), (long long)chat_integer(key));
            return wick_chat_undefined(run, (struct wick_str){text, (size_t)size});
        }
        return item;
    }
    if (key.kind == CHAT_STRING) {
        struct chat_value method = v.kind == CHAT_LOOP ? wick_chat_loop_attr(run, v.as.loop, chat_str(key)) : wick_chat_method(run, v, chat_str(key));
        return method.kind == CHAT_UNDEFINED ? no_attribute(run, v, chat_str(key)) : method;
    }
    return wick_chat_undefined(run, WICK_STR("'object' has no such element"));
}

/* The bound of a slice, brought into [low, high]. */
static int64_t bound(struct chat_run *run, struct chat_value v, int64_t missing, int64_t count, int64_t low, int64_t high)
{
    if (v.kind == CHAT_NONE) return missing;
    if (v.kind != CHAT_INT && v.kind != CHAT_BOOL) {
        wick_chat_raise(run, "slice indices must be integers or None or have an __index__ method");
        return 0;
    }
    int64_t at = chat_integer(v);
    if (at < 0) at = at < -count ? low : at + count;
    return at < low ? low : at > high ? high : at;
}

struct chat_value wick_chat_slice(struct chat_run *run, struct chat_value v, const struct chat_value bounds[3])
{
    if (v.kind == CHAT_UNDEFINED) return complain(run, v);
    if (v.kind != CHAT_STRING && !chat_is_list(v)) return wick_chat_undefined(run, WICK_STR("'object' has no slices"));
    int64_t step = bounds[2].kind == CHAT_NONE ? 1 : bounds[2].kind == CHAT_INT ? bounds[2].as.integer : 0, count = wick_chat_length(run, v);
    if (step == 0) return wick_chat_raise(run, "slice step cannot be zero");
    bool down = step < 0;
    int64_t at = bound(run, bounds[0], down ? count - 1 : 0, count, down ? -1 : 0, down ? count - 1 : count);
    int64_t end = bound(run, bounds[1], down ? -1 : count, count, down ? -1 : 0, down ? count - 1 : count);
    struct chat_list *items = wick_chat_items(run, v);
    struct chat_value made = wick_chat_list_new(run, v.kind == CHAT_TUPLE ? CHAT_TUPLE : CHAT_LIST);
    if (chat_failed(run)) return chat_none();
    step = step > count ? count + 1 : step < -count ? -count - 1 : step;
    for (; down ? at > end : at < end; at += step) wick_chat_list_push(run, made.as.list, items->items[at]);
    if (v.kind != CHAT_STRING) return made;
    return wick_chat_join(run, made, wick_chat_string(run, WICK_STR(""), false), true);
}
