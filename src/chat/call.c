/* chat/call.c - what templates call: macros, the functions they find, and the facts of a loop. */
#include "chat/jinja.h"

#include "base/os.h"

#include <stdio.h>

/* ---- arguments ---- */

struct chat_value wick_chat_arg(const struct chat_args *args, size_t place, const char *name)
{
    if (place < args->count) return args->items[place];
    for (size_t i = 0; name && i < args->named_count; i++) {
        if (wick_str_is(chat_str(args->named[i].key), name)) return args->named[i].value;
    }
    return (struct chat_value){.kind = CHAT_UNDEFINED};
}

int64_t wick_chat_arg_int(struct chat_run *run, const struct chat_args *args, size_t place, const char *name, int64_t missing)
{
    struct chat_value v = wick_chat_arg(args, place, name);
    if (v.kind == CHAT_INT || v.kind == CHAT_BOOL) return chat_integer(v);
    if (v.kind != CHAT_UNDEFINED && v.kind != CHAT_NONE)
        wick_chat_raise(run, "'%s' object cannot be interpreted as an integer", wick_chat_type_name(v));
    return missing;
}

bool wick_chat_arg_flag(const struct chat_args *args, size_t place, const char *name, bool missing)
{
    struct chat_value v = wick_chat_arg(args, place, name);
    return v.kind == CHAT_UNDEFINED ? missing : wick_chat_truth(v);
}

struct chat_value wick_chat_arg_text(struct chat_run *run, const struct chat_args *args, size_t place, const char *name, const char *missing)
{
    struct chat_value v = wick_chat_arg(args, place, name);
    if (v.kind == CHAT_STRING) return v;
    if (missing && !chat_given(v)) return wick_chat_string(run, wick_str_of(missing), false);
    return wick_chat_raise(run, "a string expected, not %s", wick_chat_type_name(v));
}

/* ---- macros ---- */

struct chat_value wick_chat_call_new(struct chat_run *run, chat_function *function, const char *name, struct chat_value self)
{
    struct chat_call *made = wick_chat_alloc(run, 1, sizeof *made);
    if (!made) return chat_none();
    *made = (struct chat_call){.function = function, .self = self, .name = name};
    return (struct chat_value){.kind = CHAT_CALL, .as.call = made};
}

struct chat_value wick_chat_macro_new(struct chat_run *run, const struct chat_node *node)
{
    struct chat_call *made = wick_chat_alloc(run, 1, sizeof *made);
    if (!made) return chat_none();
    *made = (struct chat_call){.macro = node, .frame = run->frame};
    return (struct chat_value){.kind = CHAT_CALL, .as.call = made};
}

static bool is_parameter(const struct chat_node *macro, struct wick_str name)
{
    for (const struct chat_node *parameter = macro->a; parameter; parameter = parameter->next) {
        if (wick_str_equal(parameter->name, name)) return true;
    }
    return false;
}

static void set(struct chat_run *run, struct chat_frame *frame, struct wick_str name, struct chat_value value)
{
    wick_chat_dict_set(run, &frame->names, wick_chat_string(run, name, false), value);
}

/* What no parameter takes: varargs, kwargs and, by its name, caller. */
static void bind_rest(struct chat_run *run, struct chat_frame *frame, const struct chat_node *macro, const struct chat_args *args, size_t taken)
{
    struct chat_value varargs = wick_chat_list_new(run, CHAT_TUPLE), kwargs = wick_chat_dict_new(run, CHAT_DICT);
    for (size_t i = taken; i < args->count && !chat_failed(run); i++) wick_chat_list_push(run, varargs.as.list, args->items[i]);
    for (size_t i = 0; i < args->named_count && !chat_failed(run); i++) {
        struct wick_str name = chat_str(args->named[i].key);
        if (is_parameter(macro, name)) continue;
        if (wick_str_is(name, "caller")) set(run, frame, name, args->named[i].value);
        else wick_chat_dict_set(run, kwargs.as.dict, args->named[i].key, args->named[i].value);
    }
    set(run, frame, WICK_STR("varargs"), varargs);
    set(run, frame, WICK_STR("kwargs"), kwargs);
}

static struct chat_value call_macro(struct chat_run *run, const struct chat_call *call, const struct chat_args *args)
{
    struct chat_frame *frame = wick_chat_frame(run, call->frame), *before = run->frame;
    size_t place = 0;
    if (!frame) return chat_none();
    run->frame = frame;
    for (const struct chat_node *parameter = call->macro->a; parameter && !chat_failed(run); parameter = parameter->next, place++) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)WICK_MIN(parameter->name.size, 63), parameter->name.data);
        struct chat_value value = wick_chat_arg(args, place, name);
        if (!chat_given(value)) value = parameter->a ? wick_chat_eval(run, parameter->a) : wick_chat_undefined(run, parameter->name);
        set(run, frame, parameter->name, value);
    }
    if (!chat_failed(run)) bind_rest(run, frame, call->macro, args, place);
    run->frame = before;
    return wick_chat_captured(run, call->macro->body, frame);
}

struct chat_value wick_chat_invoke(struct chat_run *run, struct chat_value what, const struct chat_args *args)
{
    struct chat_value v = chat_none();
    if (what.kind == CHAT_UNDEFINED) return wick_chat_attr(run, what, WICK_STR("")); /* complains */
    if (what.kind != CHAT_CALL && what.kind != CHAT_LOOP) return wick_chat_raise(run, "'%s' object is not callable", wick_chat_type_name(what));
    if (++run->depth > CHAT_RUN_DEPTH) wick_chat_raise(run, "the template is nested too deeply");
    if (!chat_failed(run) && what.kind == CHAT_LOOP) {
        struct chat_loop *loop = what.as.loop;
        if (!loop->node || loop->node->op != 'r') wick_chat_raise(run, "The loop must have the 'recursive' marker to be called recursively.");
        else v = wick_chat_run_loop(run, loop->node, wick_chat_arg(args, 0, NULL), loop->depth + 1, loop->frame);
    } else if (!chat_failed(run)) {
        v = what.as.call->macro ? call_macro(run, what.as.call, args) : what.as.call->function(run, what.as.call->self, args);
    }
    run->depth--;
    return v;
}

/* ---- loops ---- */

static struct chat_value loop_cycle(struct chat_run *run, struct chat_value self, const struct chat_args *args)
{
    if (args->count == 0) return wick_chat_raise(run, "no items for cycling given");
    return args->items[self.as.loop->index % args->count];
}

static struct chat_value loop_changed(struct chat_run *run, struct chat_value self, const struct chat_args *args)
{
    struct chat_value now = wick_chat_list_new(run, CHAT_TUPLE);
    for (size_t i = 0; i < args->count && !chat_failed(run); i++) wick_chat_list_push(run, now.as.list, args->items[i]);
    if (chat_failed(run)) return chat_none();
    bool same = self.as.loop->last_changed.kind == CHAT_TUPLE && wick_chat_equal(run, self.as.loop->last_changed, now);
    self.as.loop->last_changed = now;
    return chat_bool(!same);
}

struct chat_value wick_chat_loop_attr(struct chat_run *run, struct chat_loop *loop, struct wick_str name)
{
    int64_t index = (int64_t)loop->index, count = (int64_t)loop->items->count;
    struct chat_value self = {.kind = CHAT_LOOP, .as.loop = loop};
    if (wick_str_is(name, "index")) return chat_int(index + 1);
    if (wick_str_is(name, "index0")) return chat_int(index);
    if (wick_str_is(name, "revindex")) return chat_int(count - index);
    if (wick_str_is(name, "revindex0")) return chat_int(count - index - 1);
    if (wick_str_is(name, "first")) return chat_bool(index == 0);
    if (wick_str_is(name, "last")) return chat_bool(index + 1 == count);
    if (wick_str_is(name, "length")) return chat_int(count);
    if (wick_str_is(name, "depth")) return chat_int((int64_t)loop->depth + 1);
    if (wick_str_is(name, "depth0")) return chat_int((int64_t)loop->depth);
    if (wick_str_is(name, "previtem")) return index ? loop->items->items[index - 1] : wick_chat_undefined(run, WICK_STR("there is no previous item"));
    if (wick_str_is(name, "nextitem"))
        return index + 1 < count ? loop->items->items[index + 1] : wick_chat_undefined(run, WICK_STR("there is no next item"));
    if (wick_str_is(name, "cycle")) return wick_chat_call_new(run, loop_cycle, "cycle", self);
    if (wick_str_is(name, "changed")) return wick_chat_call_new(run, loop_changed, "changed", self);
    return wick_chat_undefined(run, name);
}

/* ---- functions ---- */

static struct chat_value f_range(struct chat_run *run, struct chat_value self, const struct chat_args *args)
{
    int64_t begin = wick_chat_arg_int(run, args, 0, NULL, 0), end = wick_chat_arg_int(run, args, 1, NULL, 0);
    int64_t step = wick_chat_arg_int(run, args, 2, NULL, 1);
    (void)self;
    if (args->count < 2) end = begin, begin = 0;
    if (args->count == 0) return wick_chat_raise(run, "range expected at least 1 argument, got 0");
    if (step == 0) return wick_chat_raise(run, "range() arg 3 must not be zero");
    struct chat_value made = wick_chat_list_new(run, CHAT_LIST);
    for (int64_t at = begin; (step > 0 ? at < end : at > end) && !chat_failed(run);) {
        if (made.as.list->count >= CHAT_RANGE_LIMIT)
            return wick_chat_raise(run, "Range too big. The sandbox blocks ranges larger than MAX_RANGE (%d).", CHAT_RANGE_LIMIT);
        wick_chat_list_push(run, made.as.list, chat_int(at));
        if (__builtin_add_overflow(at, step, &at)) break;
    }
    return made;
}

static struct chat_value dictionary(struct chat_run *run, enum chat_kind kind, const struct chat_args *args)
{
    struct chat_value made = wick_chat_dict_new(run, kind), first = wick_chat_arg(args, 0, NULL);
    if (chat_failed(run)) return made;
    if (first.kind == CHAT_DICT) {
        for (size_t i = 0; i < first.as.dict->count; i++)
            wick_chat_dict_set(run, made.as.dict, first.as.dict->pairs[i].key, first.as.dict->pairs[i].value);
    } else if (args->count) {
        struct chat_list *items = wick_chat_items(run, first);
        for (size_t i = 0; items && i < items->count && !chat_failed(run); i++) {
            struct chat_list *pair = wick_chat_items(run, items->items[i]);
            if (pair && pair->count != 2)
                wick_chat_raise(run, "dictionary update sequence element #%zu has length %zu; 2 is required", i, pair->count);
            else if (pair) wick_chat_dict_set(run, made.as.dict, pair->items[0], pair->items[1]);
        }
    }
    for (size_t i = 0; i < args->named_count; i++) wick_chat_dict_set(run, made.as.dict, args->named[i].key, args->named[i].value);
    return made;
}

static struct chat_value f_dict(struct chat_run *run, struct chat_value self, const struct chat_args *args)
{
    (void)self;
    return dictionary(run, CHAT_DICT, args);
}

static struct chat_value f_namespace(struct chat_run *run, struct chat_value self, const struct chat_args *args)
{
    (void)self;
    return dictionary(run, CHAT_NAMESPACE, args);
}

static struct chat_value f_raise(struct chat_run *run, struct chat_value self, const struct chat_args *args)
{
    struct wick_str text = chat_str(wick_chat_str(run, wick_chat_arg(args, 0, "message")));
    (void)self;
    return wick_chat_raise(run, "%.*s", (int)WICK_MIN(text.size, 390), text.data);
}

/* A cycler or joiner keeps its state in a list: the place, then the items. */
static struct chat_value next_of(struct chat_run *run, struct chat_value self, const struct chat_args *args)
{
    struct chat_list *state = self.as.list;
    (void)args;
    if (state->count < 2) return wick_chat_raise(run, "at least one item has to be provided");
    int64_t at = state->items[0].as.integer;
    state->items[0].as.integer = (at + 1) % (int64_t)(state->count - 1);
    return state->items[1 + at];
}

static struct chat_value reset(struct chat_run *run, struct chat_value self, const struct chat_args *args)
{
    (void)run;
    (void)args;
    self.as.list->items[0].as.integer = 0;
    return chat_none();
}

static struct chat_value f_cycler(struct chat_run *run, struct chat_value self, const struct chat_args *args)
{
    struct chat_value made = wick_chat_dict_new(run, CHAT_NAMESPACE), state = wick_chat_list_new(run, CHAT_LIST);
    (void)self;
    if (chat_failed(run)) return made;
    wick_chat_list_push(run, state.as.list, chat_int(0));
    for (size_t i = 0; i < args->count && !chat_failed(run); i++) wick_chat_list_push(run, state.as.list, args->items[i]);
    wick_chat_dict_set(run, made.as.dict, wick_chat_string(run, WICK_STR("next"), false), wick_chat_call_new(run, next_of, "next", state));
    wick_chat_dict_set(run, made.as.dict, wick_chat_string(run, WICK_STR("reset"), false), wick_chat_call_new(run, reset, "reset", state));
    return made;
}

static struct chat_value join_next(struct chat_run *run, struct chat_value self, const struct chat_args *args)
{
    struct chat_list *state = self.as.list;
    (void)args;
    if (chat_integer(state->items[0])) return state->items[1];
    state->items[0] = chat_int(1);
    return wick_chat_string(run, WICK_STR(""), false);
}

static struct chat_value f_joiner(struct chat_run *run, struct chat_value self, const struct chat_args *args)
{
    struct chat_value state = wick_chat_list_new(run, CHAT_LIST);
    (void)self;
    wick_chat_list_push(run, state.as.list, chat_int(0));
    wick_chat_list_push(run, state.as.list, wick_chat_arg_text(run, args, 0, "sep", ", "));
    return wick_chat_call_new(run, join_next, "joiner", state);
}

static struct chat_value f_now(struct chat_run *run, struct chat_value self, const struct chat_args *args)
{
    struct chat_value format = wick_chat_arg_text(run, args, 0, "format", NULL);
    char text[256];
    (void)self;
    if (chat_failed(run)) return format;
    size_t size = wick_local_time_text(format.as.text->data, text, sizeof text);
    return wick_chat_string(run, (struct wick_str){text, size}, false);
}

struct chat_value wick_chat_global(struct chat_run *run, struct wick_str name)
{
    static const struct chat_function_row rows[] = {{"range", f_range},           {"dict", f_dict},     {"namespace", f_namespace},
                                                    {"raise_exception", f_raise}, {"cycler", f_cycler}, {"joiner", f_joiner},
                                                    {"strftime_now", f_now}};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(rows); i++) {
        if (wick_str_is(name, rows[i].name)) return wick_chat_call_new(run, rows[i].function, rows[i].name, chat_none());
    }
    return wick_chat_undefined(run, name);
}
