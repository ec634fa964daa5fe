/* chat/parse_block.c - statements: the tags between texts. */
#include "chat/jinja.h"

static struct chat_node *body_of(struct chat_parser *p, const char *const *ends);

static void end_tag(struct chat_parser *p)
{
    if (p->status != WICK_OK) return;
    if (p->at->kind == CHAT_T_BLOCK_END) p->at++;
    else wick_chat_parse_fail(p, WICK_INVALID_ARGUMENT, "expected token 'end of statement block'");
}

/* A body up to one of the tags `ends`, whose name the cursor is on afterwards. */
static struct chat_node *body_to(struct chat_parser *p, const char *a, const char *b, const char *c)
{
    const char *const ends[] = {a, b, c, NULL};
    end_tag(p);
    return body_of(p, ends);
}

/* The same up to one tag, which is taken. */
static struct chat_node *body_through(struct chat_parser *p, const char *end)
{
    struct chat_node *body = body_to(p, end, NULL, NULL);
    if (p->status == WICK_OK) p->at++;
    if (wick_str_is(WICK_STR("endmacro"), end) && p->at->kind == CHAT_T_NAME) p->at++;
    end_tag(p);
    return body;
}

static struct chat_node *parse_for(struct chat_parser *p)
{
    struct chat_node *node = wick_chat_node(p, CHAT_N_FOR);
    if (!node) return NULL;
    node->a = wick_chat_target(p, "in");
    if (!wick_chat_take_name(p, "in")) return wick_chat_parse_fail(p, WICK_INVALID_ARGUMENT, "expected token 'in'");
    node->b = wick_chat_tuple(p, false, "recursive");
    if (wick_chat_take_name(p, "if")) node->c = wick_chat_expression(p, true);
    if (wick_chat_take_name(p, "recursive")) node->op = 'r';
    p->loops++;
    node->body = body_to(p, "endfor", "else", NULL);
    p->loops--;
    if (wick_chat_take_name(p, "else")) {
        node->other = body_through(p, "endfor");
        return node;
    }
    if (p->status == WICK_OK) p->at++;
    end_tag(p);
    return node;
}

/* elif is an if in the other branch: made in a loop, so that long chains do not nest. */
static struct chat_node *parse_if(struct chat_parser *p)
{
    struct chat_node *first = wick_chat_node(p, CHAT_N_IF), *node = first;
    while (node) {
        node->a = wick_chat_tuple(p, false, NULL);
        node->body = body_to(p, "elif", "else", "endif");
        if (p->status != WICK_OK) return NULL;
        if (wick_chat_take_name(p, "elif")) {
            node = node->other = wick_chat_node(p, CHAT_N_IF);
            continue;
        }
        if (wick_chat_take_name(p, "else")) {
            node->other = wick_chat_node(p, CHAT_N_IF); /* without a condition: always */
            if (node->other) node->other->body = body_through(p, "endif");
        } else {
            p->at++;
            end_tag(p);
        }
        return first;
    }
    return NULL;
}

static struct chat_node *parse_set(struct chat_parser *p)
{
    struct chat_node *target = wick_chat_target(p, NULL);
    bool plain = wick_chat_take_op(p, "=");
    struct chat_node *node = wick_chat_node(p, plain ? CHAT_N_SET : CHAT_N_SET_BLOCK);
    if (!node) return NULL;
    node->a = target;
    if (plain) {
        node->b = wick_chat_tuple(p, true, NULL);
        end_tag(p);
        return node;
    }
    node->b = wick_chat_filters(p, NULL, false);
    node->body = body_through(p, "endset");
    return node;
}

/* (a, b=1) of a macro or call. */
static struct chat_node *parameters(struct chat_parser *p)
{
    struct chat_node *first = NULL, **last = &first;
    wick_chat_need_op(p, "(");
    while (p->status == WICK_OK && !wick_chat_take_op(p, ")")) {
        if (first) wick_chat_need_op(p, ",");
        struct chat_node *parameter = wick_chat_node(p, CHAT_N_ARG);
        if (!parameter) return NULL;
        if (p->at->kind != CHAT_T_NAME) return wick_chat_parse_fail(p, WICK_INVALID_ARGUMENT, "the name of a parameter expected");
        parameter->name = p->at++->text;
        if (wick_chat_take_op(p, "=")) parameter->a = wick_chat_expression(p, true);
        *last = parameter;
        last = &parameter->next;
    }
    return first;
}

/* The body of what may be called from anywhere: loops around it are not its own. */
static struct chat_node *body_outside(struct chat_parser *p, struct chat_node *node, const char *end)
{
    int loops = p->loops;
    p->loops = 0;
    node->body = body_through(p, end);
    p->loops = loops;
    return node;
}

static struct chat_node *parse_macro(struct chat_parser *p)
{
    struct chat_node *node = wick_chat_node(p, CHAT_N_MACRO);
    if (!node) return NULL;
    if (p->at->kind != CHAT_T_NAME) return wick_chat_parse_fail(p, WICK_INVALID_ARGUMENT, "the name of the macro expected");
    node->name = p->at++->text;
    node->a = parameters(p);
    return body_outside(p, node, "endmacro");
}

static struct chat_node *parse_call(struct chat_parser *p)
{
    struct chat_node *node = wick_chat_node(p, CHAT_N_CALL_BLOCK);
    if (!node) return NULL;
    node->name = WICK_STR("caller");
    if (wick_chat_at_op(p, "(")) node->a = parameters(p);
    node->b = wick_chat_expression(p, true);
    if (node->b && node->b->kind != CHAT_N_CALL) return wick_chat_parse_fail(p, WICK_INVALID_ARGUMENT, "expected call");
    return body_outside(p, node, "endcall");
}

static struct chat_node *parse_with(struct chat_parser *p)
{
    struct chat_node *node = wick_chat_node(p, CHAT_N_WITH), **last = node ? &node->a : NULL;
    while (node && p->status == WICK_OK && p->at->kind != CHAT_T_BLOCK_END) {
        if (node->a) wick_chat_need_op(p, ",");
        struct chat_node *set = wick_chat_node(p, CHAT_N_SET);
        if (!set) return NULL;
        set->a = wick_chat_target(p, NULL);
        wick_chat_need_op(p, "=");
        set->b = wick_chat_expression(p, true);
        *last = set;
        last = &set->next;
    }
    if (node) node->body = body_through(p, "endwith");
    return node;
}

static struct chat_node *parse_filter(struct chat_parser *p)
{
    struct chat_node *node = wick_chat_node(p, CHAT_N_FILTER_BLOCK);
    if (!node) return NULL;
    node->a = wick_chat_filters(p, NULL, true);
    node->body = body_through(p, "endfilter");
    return node;
}

static struct chat_node *parse_jump(struct chat_parser *p, enum chat_node_kind kind)
{
    struct chat_node *node = wick_chat_node(p, kind);
    if (p->loops == 0) return wick_chat_parse_fail(p, WICK_INVALID_ARGUMENT, "'break' or 'continue' outside loop");
    end_tag(p);
    return node;
}

static struct chat_node *statement(struct chat_parser *p)
{
    if (p->at->kind != CHAT_T_NAME) return wick_chat_parse_fail(p, WICK_INVALID_ARGUMENT, "tag name expected");
    struct wick_str name = p->at->text;
    p->at++;
    if (wick_str_is(name, "for")) return parse_for(p);
    if (wick_str_is(name, "if")) return parse_if(p);
    if (wick_str_is(name, "set")) return parse_set(p);
    if (wick_str_is(name, "macro")) return parse_macro(p);
    if (wick_str_is(name, "call")) return parse_call(p);
    if (wick_str_is(name, "with")) return parse_with(p);
    if (wick_str_is(name, "filter")) return parse_filter(p);
    if (wick_str_is(name, "break")) return parse_jump(p, CHAT_N_BREAK);
    if (wick_str_is(name, "continue")) return parse_jump(p, CHAT_N_CONTINUE);
    if (wick_str_is(name, "generation")) {
        struct chat_node *node = wick_chat_node(p, CHAT_N_SCOPE);
        if (node) node->body = body_through(p, "endgeneration");
        return node;
    }
    p->at--;
    return wick_chat_parse_fail(p, WICK_NOT_SUPPORTED, "the tag '%.*s' is unknown or not supported", (int)WICK_MIN(name.size, 60), name.data);
}

static struct chat_node *data(struct chat_parser *p)
{
    struct chat_node *node = wick_chat_node(p, CHAT_N_DATA);
    struct chat_text *text = WICK_NEW(p->arena, struct chat_text);
    if (!node || !text) return wick_chat_parse_fail(p, WICK_OUT_OF_MEMORY, "out of memory");
    *text = (struct chat_text){p->at->text.data, p->at->text.size, NULL};
    node->value = (struct chat_value){.kind = CHAT_STRING, .as.text = text};
    p->at++;
    return node;
}

static struct chat_node *print(struct chat_parser *p)
{
    struct chat_node *node = wick_chat_node(p, CHAT_N_PRINT);
    p->at++;
    if (node) node->a = wick_chat_tuple(p, true, NULL);
    if (p->status == WICK_OK && p->at->kind != CHAT_T_PRINT_END)
        return wick_chat_parse_fail(p, WICK_INVALID_ARGUMENT, "expected token 'end of print statement'");
    if (p->status == WICK_OK) p->at++;
    return node;
}

/* True at the name of an ending tag, whose begin is stepped over. */
static bool at_one_of(struct chat_parser *p, const char *const *ends)
{
    for (; p->at->kind == CHAT_T_BLOCK && *ends; ends++) {
        if (p->at[1].kind != CHAT_T_NAME || !wick_str_is(p->at[1].text, *ends)) continue;
        p->at++;
        return true;
    }
    return false;
}

/* ends NULL: up to the end of the template. */
static struct chat_node *body_of(struct chat_parser *p, const char *const *ends)
{
    struct chat_node *first = NULL, **last = &first;
    if (++p->depth > CHAT_PARSE_DEPTH) wick_chat_parse_fail(p, WICK_INVALID_ARGUMENT, "nested too deeply");
    while (p->status == WICK_OK) {
        struct chat_node *node = NULL;
        if (p->at->kind == CHAT_T_END) {
            if (ends) wick_chat_parse_fail(p, WICK_INVALID_ARGUMENT, "Unexpected end of template: '%s' expected", *ends);
            break;
        }
        if (ends && at_one_of(p, ends)) break;
        if (p->at->kind == CHAT_T_DATA) {
            node = data(p);
        } else if (p->at->kind == CHAT_T_PRINT) {
            node = print(p);
        } else {
            p->at++;
            node = statement(p);
        }
        if (!node) break;
        *last = node;
        last = &node->next;
    }
    p->depth--;
    return first;
}

wick_status wick_chat_parse(struct wick_arena *arena, const struct chat_tokens *tokens, struct chat_node **root, wick_error *err)
{
    struct chat_parser p = {.arena = arena, .at = tokens->items, .err = err};
    *root = body_of(&p, NULL);
    return p.status;
}
