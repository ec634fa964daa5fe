/* chat/eval.c - expressions to values. */
#include "chat/jinja.h"

#include <math.h>

/* ---- names ---- */

struct chat_value wick_chat_lookup(struct chat_run *run, struct wick_str name)
{
    for (struct chat_frame *frame = run->frame; frame; frame = frame->up) {
        const struct chat_value *found = wick_chat_dict_find_text(&frame->names, name);
        if (found) return *found;
    }
    return wick_chat_global(run, name);
}

static void set_name(struct chat_run *run, struct wick_str name, struct chat_value value)
{
    struct chat_value *found = wick_chat_dict_find_text(&run->frame->names, name);
    if (found) *found = value;
    else wick_chat_dict_set(run, &run->frame->names, wick_chat_string(run, name, false), value);
}

/* Several targets take the items of a value. Targets are at most as deep as the parser went. */
static void unpack(struct chat_run *run, const struct chat_node *target, struct chat_value value)
{
    struct chat_list *items = wick_chat_items(run, value);
    size_t wanted = 0, i = 0;
    for (const struct chat_node *node = target->a; node; node = node->next) wanted++;
    if (!items) return;
    if (items->count != wanted) {
        if (items->count > wanted) wick_chat_raise(run, "too many values to unpack (expected %zu)", wanted);
        else wick_chat_raise(run, "not enough values to unpack (expected %zu, got %zu)", wanted, items->count);
        return;
    }
    for (const struct chat_node *node = target->a; node && !chat_failed(run); node = node->next) wick_chat_assign(run, node->a, items->items[i++]);
}

void wick_chat_assign(struct chat_run *run, const struct chat_node *target, struct chat_value value)
{
    if (chat_failed(run)) return;
    if (target->kind == CHAT_N_NAME) {
        set_name(run, target->name, value);
    } else if (target->kind == CHAT_N_TUPLE) {
        unpack(run, target, value);
    } else if (target->kind == CHAT_N_ATTR) {
        struct chat_value space = wick_chat_eval(run, target->a);
        if (chat_failed(run)) return;
        if (space.kind != CHAT_NAMESPACE) wick_chat_raise(run, "cannot assign attribute on non-namespace object");
        else wick_chat_dict_set(run, space.as.dict, wick_chat_string(run, target->name, false), value);
    } else {
        wick_chat_raise(run, "cannot assign to this");
    }
}

/* ---- operators ---- */

static struct chat_value cannot(struct chat_run *run, const char *op, struct chat_value a, struct chat_value b)
{
    struct chat_value undefined = a.kind == CHAT_UNDEFINED ? a : b;
    if (undefined.kind == CHAT_UNDEFINED) return wick_chat_attr(run, undefined, WICK_STR("")); /* complains */
    if (op[0] == '+' && a.kind == CHAT_STRING) return wick_chat_raise(run, "can only concatenate str (not \"%s\") to str", wick_chat_type_name(b));
    return wick_chat_raise(run, "unsupported operand type(s) for %s: '%s' and '%s'", op, wick_chat_type_name(a), wick_chat_type_name(b));
}

static struct chat_value repeat(struct chat_run *run, struct chat_value what, int64_t times)
{
    if (times < 0) times = 0;
    if (what.kind == CHAT_STRING) {
        struct chat_build build;
        wick_chat_build_init(&build, run);
        for (int64_t i = 0; what.as.text->size && i < times && wick_chat_step(run, 1); i++) wick_chat_build_text(&build, what.as.text);
        return wick_chat_build_value(&build);
    }
    struct chat_value made = wick_chat_list_new(run, what.kind);
    for (int64_t i = 0; what.as.list->count && i < times && wick_chat_step(run, 1); i++) {
        for (size_t k = 0; k < what.as.list->count && !chat_failed(run); k++) wick_chat_list_push(run, made.as.list, what.as.list->items[k]);
    }
    return made;
}

static struct chat_value add(struct chat_run *run, struct chat_value a, struct chat_value b)
{
    int64_t sum;
    if (a.kind == CHAT_STRING && b.kind == CHAT_STRING) {
        struct chat_build build;
        wick_chat_build_init(&build, run);
        wick_chat_build_text(&build, a.as.text);
        wick_chat_build_text(&build, b.as.text);
        return wick_chat_build_value(&build);
    }
    if (chat_is_list(a) && a.kind == b.kind) {
        struct chat_value made = wick_chat_list_new(run, a.kind);
        for (size_t i = 0; i < a.as.list->count && !chat_failed(run); i++) wick_chat_list_push(run, made.as.list, a.as.list->items[i]);
        for (size_t i = 0; i < b.as.list->count && !chat_failed(run); i++) wick_chat_list_push(run, made.as.list, b.as.list->items[i]);
        return made;
    }
    if (!chat_is_number(a) || !chat_is_number(b)) return cannot(run, "+", a, b);
    if (a.kind == CHAT_FLOAT || b.kind == CHAT_FLOAT) return chat_float(chat_real(a) + chat_real(b));
    if (__builtin_add_overflow(chat_integer(a), chat_integer(b), &sum)) return wick_chat_raise(run, "the sum is too large");
    return chat_int(sum);
}

static struct chat_value multiply(struct chat_run *run, struct chat_value a, struct chat_value b)
{
    int64_t product;
    bool repeats = (a.kind == CHAT_STRING || chat_is_list(a)) && (b.kind == CHAT_INT || b.kind == CHAT_BOOL);
    if (repeats) return repeat(run, a, chat_integer(b));
    if ((b.kind == CHAT_STRING || chat_is_list(b)) && (a.kind == CHAT_INT || a.kind == CHAT_BOOL)) return repeat(run, b, chat_integer(a));
    if (!chat_is_number(a) || !chat_is_number(b)) return cannot(run, "*", a, b);
    if (a.kind == CHAT_FLOAT || b.kind == CHAT_FLOAT) return chat_float(chat_real(a) * chat_real(b));
    if (__builtin_mul_overflow(chat_integer(a), chat_integer(b), &product)) return wick_chat_raise(run, "the product is too large");
    return chat_int(product);
}

/* Division rounds down and the remainder has the divisor's sign. */
static struct chat_value divide(struct chat_run *run, char op, struct chat_value a, struct chat_value b)
{
    const char *name = op == '/' ? "/" : op == '%' ? "%" : "//";
    if (!chat_is_number(a) || !chat_is_number(b)) return cannot(run, name, a, b);
    if (chat_real(b) == 0) return wick_chat_raise(run, op == '/' ? "division by zero" : "integer division or modulo by zero");
    if (op == '/') return chat_float(chat_real(a) / chat_real(b));
    if (a.kind == CHAT_FLOAT || b.kind == CHAT_FLOAT) {
        double x = chat_real(a), y = chat_real(b), rest = fmod(x, y);
        if (rest != 0 && (rest < 0) != (y < 0)) rest += y;
        return chat_float(op == '%' ? rest : floor((x - rest) / y + 0.5));
    }
    int64_t x = chat_integer(a), y = chat_integer(b);
    if (y == -1) return op == '%' ? chat_int(0) : x == INT64_MIN ? wick_chat_raise(run, "the quotient is too large") : chat_int(-x);
    int64_t quotient = x / y, rest = x % y;
    if (rest != 0 && (rest < 0) != (y < 0)) quotient--, rest += y;
    return chat_int(op == '%' ? rest : quotient);
}

static struct chat_value power(struct chat_run *run, struct chat_value a, struct chat_value b)
{
    if (!chat_is_number(a) || !chat_is_number(b)) return cannot(run, "** or pow()", a, b);
    if (a.kind == CHAT_FLOAT || b.kind == CHAT_FLOAT || chat_integer(b) < 0) return chat_float(pow(chat_real(a), chat_real(b)));
    int64_t made = 1, base = chat_integer(a);
    for (int64_t i = 0; i < chat_integer(b) && base != 1 && base != 0; i++) {
        if (base == -1 && i > 1) return chat_int(chat_integer(b) % 2 ? -1 : 1);
        if (__builtin_mul_overflow(made, base, &made)) return wick_chat_raise(run, "the power is too large");
    }
    return chat_integer(b) == 0 || base == 1 ? chat_int(1) : base == 0 ? chat_int(0) : chat_int(made);
}

/* "..." % values: a tuple is a list of them, a dictionary names them, anything else is the only one. */
static struct chat_value format(struct chat_run *run, struct chat_value text, struct chat_value values)
{
    struct chat_args args = {.items = &values, .count = 1};
    if (values.kind == CHAT_TUPLE) args = (struct chat_args){.items = values.as.list->items, .count = values.as.list->count};
    if (values.kind == CHAT_DICT) args = (struct chat_args){.named = values.as.dict->pairs, .named_count = values.as.dict->count};
    return wick_chat_format(run, text, &args);
}

struct chat_value wick_chat_binary(struct chat_run *run, char op, struct chat_value a, struct chat_value b)
{
    int64_t difference;
    if (!wick_chat_step(run, 1)) return chat_none();
    switch (op) {
    case '+': return add(run, a, b);
    case '~': return add(run, wick_chat_str(run, a), wick_chat_str(run, b));
    case '*': return multiply(run, a, b);
    case '/':
    case CHAT_OP_FLOOR: return divide(run, op, a, b);
    case '%': return a.kind == CHAT_STRING ? format(run, a, b) : divide(run, op, a, b);
    case CHAT_OP_POWER: return power(run, a, b);
    default: break;
    }
    if (!chat_is_number(a) || !chat_is_number(b)) return cannot(run, "-", a, b);
    if (a.kind == CHAT_FLOAT || b.kind == CHAT_FLOAT) return chat_float(chat_real(a) - chat_real(b));
    if (__builtin_sub_overflow(chat_integer(a), chat_integer(b), &difference)) return wick_chat_raise(run, "the difference is too large");
    return chat_int(difference);
}

static bool compare(struct chat_run *run, char op, struct chat_value a, struct chat_value b)
{
    switch (op) {
    case CHAT_OP_EQ: return wick_chat_equal(run, a, b);
    case CHAT_OP_NE: return !wick_chat_equal(run, a, b);
    case CHAT_OP_IN: return wick_chat_contains(run, b, a);
    case CHAT_OP_NOT_IN: return !wick_chat_contains(run, b, a);
    case CHAT_OP_LE: return wick_chat_compare(run, a, b, "<=") <= 0;
    case CHAT_OP_GE: return wick_chat_compare(run, a, b, ">=") >= 0;
    case '<': return wick_chat_compare(run, a, b, "<") < 0;
    default: return wick_chat_compare(run, a, b, ">") > 0;
    }
}

static struct chat_value compare_all(struct chat_run *run, const struct chat_node *node)
{
    struct chat_value left = wick_chat_eval(run, node->a);
    for (const struct chat_node *operand = node->b; operand && !chat_failed(run); operand = operand->next) {
        struct chat_value right = wick_chat_eval(run, operand->a);
        if (chat_failed(run) || !compare(run, operand->op, left, right)) return chat_bool(false);
        left = right;
    }
    return chat_bool(true);
}

/* ---- calls ---- */

static void spread(struct chat_run *run, const struct chat_node *node, struct chat_value value, struct chat_list *items, struct chat_dict *named)
{
    if (node->op == '*') {
        struct chat_list *more = wick_chat_items(run, value);
        for (size_t i = 0; more && i < more->count; i++) wick_chat_list_push(run, items, more->items[i]);
    } else if (node->op == 'd' && value.kind == CHAT_DICT) {
        for (size_t i = 0; i < value.as.dict->count; i++) wick_chat_dict_set(run, named, value.as.dict->pairs[i].key, value.as.dict->pairs[i].value);
    } else if (node->op == 'd') {
        wick_chat_raise(run, "argument after ** must be a mapping, not %s", wick_chat_type_name(value));
    } else if (node->name.size) {
        wick_chat_dict_set(run, named, wick_chat_string(run, node->name, false), value);
    } else {
        wick_chat_list_push(run, items, value);
    }
}

static struct chat_args arguments(struct chat_run *run, const struct chat_node *list)
{
    struct chat_list items = {0};
    struct chat_dict named = {0};
    for (const struct chat_node *node = list; node && !chat_failed(run); node = node->next) {
        struct chat_value value = wick_chat_eval(run, node->a);
        if (!chat_failed(run)) spread(run, node, value, &items, &named);
    }
    return (struct chat_args){items.items, items.count, named.pairs, named.count};
}

static struct chat_value call(struct chat_run *run, const struct chat_node *node)
{
    struct chat_value what = wick_chat_eval(run, node->a);
    struct chat_args args = arguments(run, node->b);
    return chat_failed(run) ? chat_none() : wick_chat_invoke(run, what, &args);
}

/* A filter or test: its function takes the value and the arguments. */
static struct chat_value applied(struct chat_run *run, const struct chat_node *node)
{
    struct chat_value self = wick_chat_eval(run, node->a);
    struct chat_args args = arguments(run, node->b);
    return chat_failed(run) ? chat_none() : node->function(run, self, &args);
}

/* ---- literals and parts ---- */

static struct chat_value literal(struct chat_run *run, const struct chat_node *node)
{
    if (node->kind == CHAT_N_DICT) {
        struct chat_value made = wick_chat_dict_new(run, CHAT_DICT);
        for (const struct chat_node *entry = node->a; entry && !chat_failed(run); entry = entry->next) {
            struct chat_value key = wick_chat_eval(run, entry->a), value = wick_chat_eval(run, entry->b);
            wick_chat_dict_set(run, made.as.dict, key, value);
        }
        return made;
    }
    struct chat_value made = wick_chat_list_new(run, node->kind == CHAT_N_LIST ? CHAT_LIST : CHAT_TUPLE);
    for (const struct chat_node *item = node->a; item && !chat_failed(run); item = item->next)
        wick_chat_list_push(run, made.as.list, wick_chat_eval(run, item->a));
    return made;
}

static struct chat_value item(struct chat_run *run, const struct chat_node *node)
{
    struct chat_value v = wick_chat_eval(run, node->a), bounds[3];
    if (node->b->kind != CHAT_N_SLICE) {
        struct chat_value key = wick_chat_eval(run, node->b);
        return chat_failed(run) ? chat_none() : wick_chat_item(run, v, key);
    }
    const struct chat_node *parts[3] = {node->b->a, node->b->b, node->b->c};
    for (int i = 0; i < 3; i++) bounds[i] = parts[i] ? wick_chat_eval(run, parts[i]) : chat_none();
    return chat_failed(run) ? chat_none() : wick_chat_slice(run, v, bounds);
}

static struct chat_value sign(struct chat_run *run, const struct chat_node *node)
{
    struct chat_value v = wick_chat_eval(run, node->a);
    if (chat_failed(run)) return chat_none();
    if (!chat_is_number(v)) return wick_chat_raise(run, "bad operand type for unary %c: '%s'", node->op, wick_chat_type_name(v));
    if (node->op == '-' && v.kind == CHAT_FLOAT) return chat_float(-v.as.real);
    return node->op == '-' ? wick_chat_binary(run, '-', chat_int(0), v) : v;
}

static struct chat_value binary(struct chat_run *run, const struct chat_node *node)
{
    struct chat_value a = wick_chat_eval(run, node->a), b = wick_chat_eval(run, node->b);
    return chat_failed(run) ? chat_none() : wick_chat_binary(run, node->op, a, b);
}

/* and, or: the value that decides. */
static struct chat_value either(struct chat_run *run, const struct chat_node *node)
{
    struct chat_value a = wick_chat_eval(run, node->a);
    return chat_failed(run) || wick_chat_truth(a) == (node->kind == CHAT_N_OR) ? a : wick_chat_eval(run, node->b);
}

static struct chat_value choice(struct chat_run *run, const struct chat_node *node)
{
    bool yes = wick_chat_truth(wick_chat_eval(run, node->a));
    if (chat_failed(run)) return chat_none();
    if (yes) return wick_chat_eval(run, node->b);
    return node->c
               ? wick_chat_eval(run, node->c)
               : wick_chat_undefined(run, WICK_STR("the inline if-expression evaluated to false and no else section was defined: 'else' is missing"));
}

static struct chat_value eval(struct chat_run *run, const struct chat_node *node)
{
    struct chat_value v;
    switch (node->kind) {
    case CHAT_N_CONST: return node->value;
    case CHAT_N_NAME: return wick_chat_lookup(run, node->name);
    case CHAT_N_TUPLE:
    case CHAT_N_LIST:
    case CHAT_N_DICT: return literal(run, node);
    case CHAT_N_ATTR: v = wick_chat_eval(run, node->a); return chat_failed(run) ? v : wick_chat_attr(run, v, node->name);
    case CHAT_N_ITEM: return item(run, node);
    case CHAT_N_CALL: return call(run, node);
    case CHAT_N_FILTER:
    case CHAT_N_TEST: return applied(run, node);
    case CHAT_N_NOT: return chat_bool(!wick_chat_truth(wick_chat_eval(run, node->a)));
    case CHAT_N_SIGN: return sign(run, node);
    case CHAT_N_BINARY: return binary(run, node);
    case CHAT_N_COMPARE: return compare_all(run, node);
    case CHAT_N_AND:
    case CHAT_N_OR: return either(run, node);
    case CHAT_N_IF_ELSE: return choice(run, node);
    default: return wick_chat_raise(run, "not an expression");
    }
}

struct chat_value wick_chat_eval(struct chat_run *run, const struct chat_node *node)
{
    if (!wick_chat_step(run, 1)) return chat_none();
    run->line = node->line;
    if (++run->depth > CHAT_RUN_DEPTH) wick_chat_raise(run, "the template is nested too deeply");
    struct chat_value v = chat_failed(run) ? chat_none() : eval(run, node);
    run->depth--;
    return v;
}
