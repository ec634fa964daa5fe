/* chat/exec.c - statements: what a template prints. */
#include "chat/jinja.h"

struct chat_frame *wick_chat_frame(struct chat_run *run, struct chat_frame *up)
{
    struct chat_frame *frame = wick_chat_alloc(run, 1, sizeof *frame);
    if (frame) frame->up = up;
    return frame;
}

struct chat_value wick_chat_captured(struct chat_run *run, const struct chat_node *list, struct chat_frame *frame)
{
    struct chat_build build, *out = run->out;
    struct chat_frame *before = run->frame;
    wick_chat_build_init(&build, run);
    run->out = &build;
    run->frame = frame;
    wick_chat_exec(run, list);
    run->out = out;
    run->frame = before;
    return wick_chat_build_value(&build);
}

/* ---- loops ---- */

/* The items a loop goes over: those that fulfil its condition. */
static struct chat_list *chosen(struct chat_run *run, const struct chat_node *node, struct chat_value what, struct chat_frame *up)
{
    struct chat_list *all = wick_chat_items(run, what), *some;
    struct chat_frame *before = run->frame;
    if (!all || !node->c) return all;
    some = wick_chat_alloc(run, 1, sizeof *some);
    for (size_t i = 0; some && i < all->count && !chat_failed(run); i++) {
        run->frame = wick_chat_frame(run, up);
        if (!run->frame) break;
        wick_chat_assign(run, node->a, all->items[i]);
        struct chat_value yes = chat_failed(run) ? chat_none() : wick_chat_eval(run, node->c);
        if (wick_chat_truth(yes)) wick_chat_list_push(run, some, all->items[i]);
    }
    run->frame = before;
    return chat_failed(run) ? NULL : some;
}

static void go_over(struct chat_run *run, const struct chat_node *node, struct chat_list *items, size_t depth, struct chat_frame *up)
{
    struct chat_loop *loop = wick_chat_alloc(run, 1, sizeof *loop);
    struct chat_frame *before = run->frame;
    if (!loop) return;
    *loop = (struct chat_loop){.items = items, .depth = depth, .node = node, .frame = up};
    struct chat_value self = {.kind = CHAT_LOOP, .as.loop = loop};
    for (; loop->index < items->count && !chat_failed(run); loop->index++) {
        run->frame = wick_chat_frame(run, up);
        if (!run->frame) break;
        wick_chat_dict_set(run, &run->frame->names, wick_chat_string(run, WICK_STR("loop"), false), self);
        wick_chat_assign(run, node->a, items->items[loop->index]);
        wick_chat_exec(run, node->body);
        bool out = run->jump == CHAT_N_BREAK;
        run->jump = 0;
        if (out) break;
    }
    run->frame = before;
}

/* Prints to run->out. */
static void run_for(struct chat_run *run, const struct chat_node *node, struct chat_value what, size_t depth, struct chat_frame *up)
{
    struct chat_list *items = chosen(run, node, what, up);
    struct chat_frame *before = run->frame;
    if (!items) return;
    if (items->count) {
        go_over(run, node, items, depth, up);
        return;
    }
    run->frame = wick_chat_frame(run, up);
    if (run->frame) wick_chat_exec(run, node->other);
    run->frame = before;
}

struct chat_value wick_chat_run_loop(struct chat_run *run, const struct chat_node *node, struct chat_value items, size_t depth, struct chat_frame *up)
{
    struct chat_build build, *out = run->out;
    wick_chat_build_init(&build, run);
    run->out = &build;
    run_for(run, node, items, depth, up);
    run->out = out;
    return wick_chat_build_value(&build);
}

/* ---- other statements ---- */

/* Applies a list of filters, whose innermost has no value, to one. */
static struct chat_value through(struct chat_run *run, const struct chat_node *filter, struct chat_value value)
{
    if (!filter || chat_failed(run)) return value;
    if (++run->depth > CHAT_RUN_DEPTH) return wick_chat_raise(run, "the template is nested too deeply");
    struct chat_node constant = {.kind = CHAT_N_CONST, .line = filter->line, .value = filter->a ? through(run, filter->a, value) : value},
                     call = *filter;
    call.a = &constant;
    run->depth--;
    return wick_chat_eval(run, &call);
}

/* Runs a body where what it sets stays inside. */
static void run_inside(struct chat_run *run, const struct chat_node *sets, const struct chat_node *body)
{
    struct chat_frame *before = run->frame, *inside = wick_chat_frame(run, before);
    if (!inside) return;
    for (const struct chat_node *set = sets; set && !chat_failed(run); set = set->next) {
        /* Values are those of outside. */
        struct chat_value value = wick_chat_eval(run, set->b);
        run->frame = inside;
        wick_chat_assign(run, set->a, value);
        run->frame = before;
    }
    run->frame = inside;
    wick_chat_exec(run, body);
    run->frame = before;
}

static void call_block(struct chat_run *run, const struct chat_node *node)
{
    struct chat_node caller = {.kind = CHAT_N_CONST, .line = node->line, .value = wick_chat_macro_new(run, node)};
    struct chat_node arg = {.kind = CHAT_N_ARG, .line = node->line, .name = WICK_STR("caller"), .a = &caller, .next = node->b->b};
    struct chat_node call = *node->b;
    /* Named arguments may stand before others here: places are not counted over them. */
    call.b = &arg;
    wick_chat_print(run->out, wick_chat_eval(run, &call));
}

static void exec_one(struct chat_run *run, const struct chat_node *node)
{
    struct chat_value value;
    switch (node->kind) {
    case CHAT_N_DATA: wick_chat_build_text(run->out, node->value.as.text); break;
    case CHAT_N_PRINT:
        value = wick_chat_eval(run, node->a);
        if (!chat_failed(run)) wick_chat_print(run->out, value);
        break;
    case CHAT_N_FOR:
        value = wick_chat_eval(run, node->b);
        if (!chat_failed(run)) run_for(run, node, value, 0, run->frame);
        break;
    case CHAT_N_IF:
        while (node && node->a && !wick_chat_truth(wick_chat_eval(run, node->a)) && !chat_failed(run)) node = node->other;
        if (node && !chat_failed(run)) wick_chat_exec(run, node->body);
        break;
    case CHAT_N_SET: wick_chat_assign(run, node->a, wick_chat_eval(run, node->b)); break;
    case CHAT_N_SET_BLOCK:
        value = wick_chat_captured(run, node->body, wick_chat_frame(run, run->frame));
        wick_chat_assign(run, node->a, through(run, node->b, value));
        break;
    case CHAT_N_MACRO: {
        struct chat_node name = {.kind = CHAT_N_NAME, .name = node->name};
        wick_chat_assign(run, &name, wick_chat_macro_new(run, node));
        break;
    }
    case CHAT_N_CALL_BLOCK: call_block(run, node); break;
    case CHAT_N_FILTER_BLOCK:
        value = wick_chat_captured(run, node->body, wick_chat_frame(run, run->frame));
        value = through(run, node->a, value);
        if (!chat_failed(run)) wick_chat_print(run->out, value);
        break;
    case CHAT_N_WITH: run_inside(run, node->a, node->body); break;
    case CHAT_N_SCOPE: run_inside(run, NULL, node->body); break;
    case CHAT_N_BREAK:
    case CHAT_N_CONTINUE: run->jump = (int)node->kind; break;
    default: wick_chat_raise(run, "not a statement"); break;
    }
}

void wick_chat_exec(struct chat_run *run, const struct chat_node *list)
{
    if (++run->depth > CHAT_RUN_DEPTH) wick_chat_raise(run, "the template is nested too deeply");
    for (const struct chat_node *node = list; node && !run->jump && wick_chat_step(run, 1); node = node->next) {
        run->line = node->line;
        exec_one(run, node);
    }
    run->depth--;
}
