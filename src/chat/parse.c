/* chat/parse.c - expressions: tokens to the tree, by the grammar of Jinja. */
#include "chat/jinja.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- the cursor ---- */

struct chat_node *wick_chat_parse_fail(struct chat_parser *p, wick_status status, const char *format, ...)
{
    char text[256];
    va_list list;
    if (p->status != WICK_OK) return NULL;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    p->status = wick_fail(p->err, status, "line %u: %s", p->at->line, text);
    return NULL;
}

struct chat_node *wick_chat_node(struct chat_parser *p, enum chat_node_kind kind)
{
    struct chat_node *node = WICK_NEW(p->arena, struct chat_node);
    if (!node && p->status == WICK_OK) p->status = wick_fail_oom(p->err, sizeof *node, "a template");
    if (!node) return NULL;
    node->kind = kind;
    node->line = p->at->line;
    return node;
}

bool wick_chat_at_op(const struct chat_parser *p, const char *op) { return p->at->kind == CHAT_T_OP && wick_str_is(p->at->text, op); }
bool wick_chat_at_name(const struct chat_parser *p, const char *name) { return p->at->kind == CHAT_T_NAME && wick_str_is(p->at->text, name); }

bool wick_chat_take_op(struct chat_parser *p, const char *op)
{
    bool here = p->status == WICK_OK && wick_chat_at_op(p, op);
    if (here) p->at++;
    return here;
}

bool wick_chat_take_name(struct chat_parser *p, const char *name)
{
    bool here = p->status == WICK_OK && wick_chat_at_name(p, name);
    if (here) p->at++;
    return here;
}

void wick_chat_need_op(struct chat_parser *p, const char *op)
{
    if (!wick_chat_take_op(p, op)) wick_chat_parse_fail(p, WICK_INVALID_ARGUMENT, "'%s' expected", op);
}

static bool enter(struct chat_parser *p)
{
    if (++p->depth > CHAT_PARSE_DEPTH) wick_chat_parse_fail(p, WICK_INVALID_ARGUMENT, "nested too deeply");
    return p->status == WICK_OK;
}

static struct chat_node *leave(struct chat_parser *p, struct chat_node *node)
{
    p->depth--;
    return p->status == WICK_OK ? node : NULL;
}

/* A node of two. */
static struct chat_node *pair(struct chat_parser *p, enum chat_node_kind kind, char op, struct chat_node *a, struct chat_node *b)
{
    struct chat_node *node = wick_chat_node(p, kind);
    if (!node) return NULL;
    node->op = op;
    node->a = a;
    node->b = b;
    return node;
}

static struct chat_node *constant(struct chat_parser *p, struct chat_value value)
{
    struct chat_node *node = wick_chat_node(p, CHAT_N_CONST);
    if (node) node->value = value;
    return node;
}

static struct chat_node *text_constant(struct chat_parser *p, struct wick_str text)
{
    struct chat_text *made = WICK_NEW(p->arena, struct chat_text);
    struct chat_node *node = made ? constant(p, (struct chat_value){.kind = CHAT_STRING, .as.text = made}) : NULL;
    if (!node) return wick_chat_parse_fail(p, WICK_OUT_OF_MEMORY, "out of memory");
    *made = (struct chat_text){text.data, text.size, NULL};
    return node;
}

/* ---- calls ---- */

struct chat_node *wick_chat_call_args(struct chat_parser *p)
{
    struct chat_node *first = NULL, **last = &first;
    wick_chat_need_op(p, "(");
    while (p->status == WICK_OK && !wick_chat_take_op(p, ")")) {
        struct chat_node *arg = wick_chat_node(p, CHAT_N_ARG);
        if (!arg) return NULL;
        if (first) wick_chat_need_op(p, ",");
        if (first && wick_chat_take_op(p, ")")) break;
        bool keyword = p->at[0].kind == CHAT_T_NAME && p->at[1].kind == CHAT_T_OP && wick_str_is(p->at[1].text, "=");
        if (wick_chat_take_op(p, "**")) arg->op = 'd';
        else if (wick_chat_take_op(p, "*")) arg->op = '*';
        else if (keyword) arg->name = p->at->text, p->at += 2;
        arg->a = wick_chat_expression(p, true);
        *last = arg;
        last = &arg->next;
    }
    return first;
}

static struct chat_node *subscript_part(struct chat_parser *p)
{
    struct chat_node *bounds[3] = {NULL, NULL, NULL};
    size_t colons = 0;
    while (p->status == WICK_OK && !wick_chat_at_op(p, "]") && !wick_chat_at_op(p, ",")) {
        if (wick_chat_take_op(p, ":")) {
            if (++colons > 2) return wick_chat_parse_fail(p, WICK_INVALID_ARGUMENT, "a slice has three parts at most");
            continue;
        }
        if (bounds[colons]) return wick_chat_parse_fail(p, WICK_INVALID_ARGUMENT, "']' expected");
        bounds[colons] = wick_chat_expression(p, true);
    }
    if (p->status != WICK_OK) return NULL;
    if (colons == 0) return bounds[0] ? bounds[0] : wick_chat_parse_fail(p, WICK_INVALID_ARGUMENT, "an expression expected");
    struct chat_node *slice = pair(p, CHAT_N_SLICE, 0, bounds[0], bounds[1]);
    if (slice) slice->c = bounds[2];
    return slice;
}

static struct chat_node *subscript(struct chat_parser *p, struct chat_node *node)
{
    if (wick_chat_take_op(p, ".")) {
        const struct chat_token *token = p->at++;
        if (token->kind == CHAT_T_INT) return pair(p, CHAT_N_ITEM, 0, node, constant(p, chat_int(token->integer)));
        if (token->kind != CHAT_T_NAME) {
            p->at--;
            return wick_chat_parse_fail(p, WICK_INVALID_ARGUMENT, "expected name or number");
        }
        struct chat_node *attr = pair(p, CHAT_N_ATTR, 0, node, NULL);
        if (attr) attr->name = token->text;
        return attr;
    }
    wick_chat_need_op(p, "[");
    struct chat_node *part = subscript_part(p);
    if (wick_chat_at_op(p, ",")) return wick_chat_parse_fail(p, WICK_NOT_SUPPORTED, "subscripts of several parts are not supported");
    wick_chat_need_op(p, "]");
    return pair(p, CHAT_N_ITEM, 0, node, part);
}

static struct chat_node *postfix(struct chat_parser *p, struct chat_node *node)
{
    while (p->status == WICK_OK) {
        if (wick_chat_at_op(p, ".") || wick_chat_at_op(p, "[")) node = subscript(p, node);
        else if (wick_chat_at_op(p, "(")) node = pair(p, CHAT_N_CALL, 0, node, wick_chat_call_args(p));
        else return node;
    }
    return NULL;
}

/* ---- primaries ---- */

static struct chat_node *items_until(struct chat_parser *p, const char *close)
{
    struct chat_node *first = NULL, **last = &first;
    while (p->status == WICK_OK && !wick_chat_take_op(p, close)) {
        if (first) wick_chat_need_op(p, ",");
        if (first && wick_chat_take_op(p, close)) break;
        struct chat_node *item = wick_chat_expression(p, true), *holder = pair(p, CHAT_N_ARG, 0, item, NULL);
        if (!holder) return NULL;
        *last = holder;
        last = &holder->next;
    }
    return first;
}

static struct chat_node *dict_literal(struct chat_parser *p)
{
    struct chat_node *first = NULL, **last = &first;
    while (p->status == WICK_OK && !wick_chat_take_op(p, "}")) {
        if (first) wick_chat_need_op(p, ",");
        if (first && wick_chat_take_op(p, "}")) break;
        struct chat_node *key = wick_chat_expression(p, true);
        wick_chat_need_op(p, ":");
        struct chat_node *entry = pair(p, CHAT_N_PAIR, 0, key, wick_chat_expression(p, true));
        if (!entry) return NULL;
        *last = entry;
        last = &entry->next;
    }
    return pair(p, CHAT_N_DICT, 0, first, NULL);
}

static struct chat_node *strings(struct chat_parser *p)
{
    size_t size = 0;
    const struct chat_token *end = p->at;
    for (; end->kind == CHAT_T_STRING; end++) size += end->text.size;
    char *all = wick_arena_alloc(p->arena, size + 1, 1);
    if (!all) return wick_chat_parse_fail(p, WICK_OUT_OF_MEMORY, "out of memory");
    for (size = 0; p->at < end; p->at++) {
        if (p->at->text.size) memcpy(all + size, p->at->text.data, p->at->text.size);
        size += p->at->text.size;
    }
    return text_constant(p, (struct wick_str){all, size});
}

static struct chat_node *name_or_word(struct chat_parser *p)
{
    struct wick_str name = p->at++->text;
    if (wick_str_is(name, "true") || wick_str_is(name, "True")) return constant(p, chat_bool(true));
    if (wick_str_is(name, "false") || wick_str_is(name, "False")) return constant(p, chat_bool(false));
    if (wick_str_is(name, "none") || wick_str_is(name, "None")) return constant(p, chat_none());
    struct chat_node *node = wick_chat_node(p, CHAT_N_NAME);
    if (node) node->name = name;
    return node;
}

static struct chat_node *primary(struct chat_parser *p)
{
    const struct chat_token *token = p->at;
    if (p->status != WICK_OK) return NULL;
    switch (token->kind) {
    case CHAT_T_NAME: return name_or_word(p);
    case CHAT_T_STRING: return strings(p);
    case CHAT_T_INT: p->at++; return constant(p, chat_int(token->integer));
    case CHAT_T_FLOAT: p->at++; return constant(p, chat_float(token->real));
    default: break;
    }
    if (wick_chat_take_op(p, "[")) return pair(p, CHAT_N_LIST, 0, items_until(p, "]"), NULL);
    if (wick_chat_take_op(p, "{")) return dict_literal(p);
    if (wick_chat_take_op(p, "(")) {
        if (wick_chat_take_op(p, ")")) return pair(p, CHAT_N_TUPLE, 0, NULL, NULL);
        struct chat_node *node = wick_chat_tuple(p, true, NULL);
        wick_chat_need_op(p, ")");
        return node;
    }
    return wick_chat_parse_fail(p, WICK_INVALID_ARGUMENT, "an expression expected");
}

/* ---- filters and tests ---- */

/* A name with dots between, which no filter or test of ours has. */
static struct wick_str dotted(struct chat_parser *p, const char *what)
{
    struct wick_str name = p->at->text;
    if (p->at->kind != CHAT_T_NAME) wick_chat_parse_fail(p, WICK_INVALID_ARGUMENT, "the name of a %s expected", what);
    else p->at++;
    return name;
}

struct chat_node *wick_chat_filters(struct chat_parser *p, struct chat_node *node, bool first)
{
    while (p->status == WICK_OK && (first || wick_chat_take_op(p, "|"))) {
        struct chat_node *filter = pair(p, CHAT_N_FILTER, 0, node, NULL);
        if (!filter) return NULL;
        first = false;
        filter->name = dotted(p, "filter");
        filter->function = wick_chat_filter_find(filter->name);
        if (!filter->function)
            return wick_chat_parse_fail(p, WICK_NOT_SUPPORTED, "the filter '%.*s' is not supported", (int)WICK_MIN(filter->name.size, 60),
                                        filter->name.data);
        if (wick_chat_at_op(p, "(")) filter->b = wick_chat_call_args(p);
        node = filter;
    }
    return node;
}

static bool starts_argument(const struct chat_parser *p)
{
    enum chat_token_kind kind = p->at->kind;
    if (kind == CHAT_T_STRING || kind == CHAT_T_INT || kind == CHAT_T_FLOAT || wick_chat_at_op(p, "[") || wick_chat_at_op(p, "{")) return true;
    return kind == CHAT_T_NAME && !wick_chat_at_name(p, "else") && !wick_chat_at_name(p, "or") && !wick_chat_at_name(p, "and") &&
           !wick_chat_at_name(p, "if");
}

static struct chat_node *test(struct chat_parser *p, struct chat_node *node)
{
    bool negated = wick_chat_take_name(p, "not");
    struct chat_node *test = pair(p, CHAT_N_TEST, 0, node, NULL);
    if (!test) return NULL;
    test->name = dotted(p, "test");
    test->function = wick_chat_test_find(test->name);
    if (!test->function)
        return wick_chat_parse_fail(p, WICK_NOT_SUPPORTED, "the test '%.*s' is not supported", (int)WICK_MIN(test->name.size, 60), test->name.data);
    if (wick_chat_at_op(p, "(")) {
        test->b = wick_chat_call_args(p);
    } else if (starts_argument(p)) {
        if (wick_chat_at_name(p, "is")) return wick_chat_parse_fail(p, WICK_INVALID_ARGUMENT, "You cannot chain multiple tests with is");
        test->b = pair(p, CHAT_N_ARG, 0, postfix(p, primary(p)), NULL);
    }
    return negated ? pair(p, CHAT_N_NOT, 0, test, NULL) : test;
}

static struct chat_node *filtered(struct chat_parser *p, struct chat_node *node)
{
    while (p->status == WICK_OK) {
        if (wick_chat_at_op(p, "|")) node = wick_chat_filters(p, node, false);
        else if (wick_chat_take_name(p, "is")) node = test(p, node);
        else if (wick_chat_at_op(p, "(")) node = pair(p, CHAT_N_CALL, 0, node, wick_chat_call_args(p));
        else return node;
    }
    return NULL;
}

/* ---- operators ---- */

static struct chat_node *unary(struct chat_parser *p, bool with_filters)
{
    struct chat_node *node;
    if (!enter(p)) return leave(p, NULL);
    if (wick_chat_take_op(p, "-")) node = pair(p, CHAT_N_SIGN, '-', unary(p, false), NULL);
    else if (wick_chat_take_op(p, "+")) node = pair(p, CHAT_N_SIGN, '+', unary(p, false), NULL);
    else node = primary(p);
    node = postfix(p, node);
    return leave(p, with_filters ? filtered(p, node) : node);
}

static struct chat_node *power(struct chat_parser *p)
{
    struct chat_node *node = unary(p, true);
    while (wick_chat_take_op(p, "**")) node = pair(p, CHAT_N_BINARY, CHAT_OP_POWER, node, unary(p, true));
    return node;
}

static struct chat_node *product(struct chat_parser *p)
{
    struct chat_node *node = power(p);
    while (p->status == WICK_OK) {
        char op = wick_chat_take_op(p, "*")    ? '*'
                  : wick_chat_take_op(p, "//") ? CHAT_OP_FLOOR
                  : wick_chat_take_op(p, "/")  ? '/'
                  : wick_chat_take_op(p, "%")  ? '%'
                                               : 0;
        if (!op) break;
        node = pair(p, CHAT_N_BINARY, op, node, power(p));
    }
    return node;
}

static struct chat_node *concat(struct chat_parser *p)
{
    struct chat_node *node = product(p);
    while (wick_chat_take_op(p, "~")) node = pair(p, CHAT_N_BINARY, '~', node, product(p));
    return node;
}

static struct chat_node *sum(struct chat_parser *p)
{
    struct chat_node *node = concat(p);
    while (p->status == WICK_OK) {
        char op = wick_chat_take_op(p, "+") ? '+' : wick_chat_take_op(p, "-") ? '-' : 0;
        if (!op) break;
        node = pair(p, CHAT_N_BINARY, op, node, concat(p));
    }
    return node;
}

static char comparison(struct chat_parser *p)
{
    static const struct {
        const char *text;
        char op;
    } ops[] = {{"==", CHAT_OP_EQ}, {"!=", CHAT_OP_NE}, {"<=", CHAT_OP_LE}, {">=", CHAT_OP_GE}, {"<", '<'}, {">", '>'}};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(ops); i++) {
        if (wick_chat_take_op(p, ops[i].text)) return ops[i].op;
    }
    if (wick_chat_take_name(p, "in")) return CHAT_OP_IN;
    if (wick_chat_at_name(p, "not") && p->at[1].kind == CHAT_T_NAME && wick_str_is(p->at[1].text, "in")) {
        p->at += 2;
        return CHAT_OP_NOT_IN;
    }
    return 0;
}

static struct chat_node *compare(struct chat_parser *p)
{
    struct chat_node *left = sum(p), *first = NULL, **last = &first;
    for (char op; p->status == WICK_OK && (op = comparison(p)) != 0;) {
        struct chat_node *operand = pair(p, CHAT_N_OPERAND, op, sum(p), NULL);
        if (!operand) return NULL;
        *last = operand;
        last = &operand->next;
    }
    return first ? pair(p, CHAT_N_COMPARE, 0, left, first) : left;
}

static struct chat_node *negation(struct chat_parser *p)
{
    if (!wick_chat_take_name(p, "not")) return compare(p);
    if (!enter(p)) return leave(p, NULL);
    return leave(p, pair(p, CHAT_N_NOT, 0, negation(p), NULL));
}

static struct chat_node *conjunction(struct chat_parser *p)
{
    struct chat_node *node = negation(p);
    while (wick_chat_take_name(p, "and")) node = pair(p, CHAT_N_AND, 0, node, negation(p));
    return node;
}

static struct chat_node *disjunction(struct chat_parser *p)
{
    struct chat_node *node = conjunction(p);
    while (wick_chat_take_name(p, "or")) node = pair(p, CHAT_N_OR, 0, node, conjunction(p));
    return node;
}

struct chat_node *wick_chat_expression(struct chat_parser *p, bool with_if)
{
    if (!enter(p)) return leave(p, NULL);
    struct chat_node *node = disjunction(p);
    while (with_if && wick_chat_take_name(p, "if")) {
        struct chat_node *choice = pair(p, CHAT_N_IF_ELSE, 0, disjunction(p), node);
        if (choice && wick_chat_take_name(p, "else")) choice->c = wick_chat_expression(p, true);
        node = choice;
    }
    return leave(p, node);
}

/* ---- tuples ---- */

static bool at_end(const struct chat_parser *p, const char *end_word)
{
    return p->at->kind == CHAT_T_BLOCK_END || p->at->kind == CHAT_T_PRINT_END || wick_chat_at_op(p, ")") ||
           (end_word && wick_chat_at_name(p, end_word));
}

static struct chat_node *several(struct chat_parser *p, bool with_if, const char *end_word, bool targets)
{
    struct chat_node *first = NULL, **last = &first, *item = NULL;
    bool comma = false;
    while (p->status == WICK_OK && !at_end(p, end_word) && !(targets && wick_chat_at_op(p, "="))) {
        if (first && !comma) break;
        item = targets ? postfix(p, primary(p)) : wick_chat_expression(p, with_if);
        struct chat_node *holder = pair(p, CHAT_N_ARG, 0, item, NULL);
        if (!holder) return NULL;
        *last = holder;
        last = &holder->next;
        comma = wick_chat_take_op(p, ",");
    }
    if (p->status != WICK_OK) return NULL;
    if (!first) return wick_chat_parse_fail(p, WICK_INVALID_ARGUMENT, "an expression expected");
    return first->next || comma ? pair(p, CHAT_N_TUPLE, 0, first, NULL) : item;
}

struct chat_node *wick_chat_tuple(struct chat_parser *p, bool with_if, const char *end_word)
{
    if (!enter(p)) return leave(p, NULL);
    return leave(p, several(p, with_if, end_word, false));
}

static bool is_target(const struct chat_node *node)
{
    if (node->kind == CHAT_N_NAME) return true;
    return node->kind == CHAT_N_ATTR && node->a->kind == CHAT_N_NAME;
}

struct chat_node *wick_chat_target(struct chat_parser *p, const char *end_word)
{
    struct chat_node *node = several(p, false, end_word, true);
    if (!node) return NULL;
    bool ok = node->kind == CHAT_N_TUPLE || is_target(node);
    for (struct chat_node *item = node->kind == CHAT_N_TUPLE ? node->a : NULL; item; item = item->next) {
        /* (a, b), c is a tuple in a tuple, which the parentheses have made. */
        ok = ok && (is_target(item->a) || item->a->kind == CHAT_N_TUPLE);
    }
    return ok ? node : wick_chat_parse_fail(p, WICK_INVALID_ARGUMENT, "cannot assign to this");
}
