/* chat/tests.c - what stands behind "is". */
#include "chat/jinja.h"

#include <math.h>

#define TEST(name) static struct chat_value name(struct chat_run *run, struct chat_value self, const struct chat_args *args)
#define KIND_TEST(name, condition)   \
    TEST(name)                       \
    {                                \
        (void)run, (void)self;       \
        (void)args;                  \
        return chat_bool(condition); \
    }

KIND_TEST(t_defined, self.kind != CHAT_UNDEFINED)
KIND_TEST(t_undefined, self.kind == CHAT_UNDEFINED)
KIND_TEST(t_none, self.kind == CHAT_NONE)
KIND_TEST(t_boolean, self.kind == CHAT_BOOL)
KIND_TEST(t_true, self.kind == CHAT_BOOL && self.as.flag)
KIND_TEST(t_false, self.kind == CHAT_BOOL && !self.as.flag)
KIND_TEST(t_integer, self.kind == CHAT_INT)
KIND_TEST(t_float, self.kind == CHAT_FLOAT)
KIND_TEST(t_number, chat_is_number(self))
KIND_TEST(t_string, self.kind == CHAT_STRING)
KIND_TEST(t_mapping, self.kind == CHAT_DICT)
KIND_TEST(t_iterable,
          chat_is_list(self) || self.kind == CHAT_STRING || self.kind == CHAT_DICT || self.kind == CHAT_UNDEFINED || self.kind == CHAT_LOOP)
KIND_TEST(t_sequence, chat_is_list(self) || self.kind == CHAT_STRING || self.kind == CHAT_DICT || self.kind == CHAT_UNDEFINED)
KIND_TEST(t_callable, self.kind == CHAT_CALL || self.kind == CHAT_LOOP)
KIND_TEST(t_escaped, false)

static struct chat_value first(const struct chat_args *args) { return wick_chat_arg(args, 0, NULL); }

TEST(t_eq) { return chat_bool(wick_chat_equal(run, self, first(args))); }
TEST(t_ne) { return chat_bool(!wick_chat_equal(run, self, first(args))); }
TEST(t_lt) { return chat_bool(wick_chat_compare(run, self, first(args), "<") < 0); }
TEST(t_le) { return chat_bool(wick_chat_compare(run, self, first(args), "<=") <= 0); }
TEST(t_gt) { return chat_bool(wick_chat_compare(run, self, first(args), ">") > 0); }
TEST(t_ge) { return chat_bool(wick_chat_compare(run, self, first(args), ">=") >= 0); }
TEST(t_in) { return chat_bool(wick_chat_contains(run, first(args), self)); }

static struct chat_value remainder_is(struct chat_run *run, struct chat_value self, struct chat_value by, int64_t wanted)
{
    struct chat_value rest = wick_chat_binary(run, '%', self, by);
    return chat_failed(run) ? rest : chat_bool(wick_chat_equal(run, rest, chat_int(wanted)));
}

TEST(t_even) { return (void)args, remainder_is(run, self, chat_int(2), 0); }
TEST(t_odd) { return (void)args, remainder_is(run, self, chat_int(2), 1); }
TEST(t_divisible) { return remainder_is(run, self, first(args), 0); }

static bool same_case(struct chat_run *run, struct chat_value self, enum chat_case how, enum chat_case other)
{
    struct chat_value text = wick_chat_str(run, self);
    struct chat_value same = wick_chat_case(run, text, how), changed = wick_chat_case(run, text, other);
    /* Some letter has a case, and none has the other. */
    return !chat_failed(run) && wick_chat_equal(run, text, same) && !wick_chat_equal(run, text, changed);
}

TEST(t_lower) { return (void)args, chat_bool(same_case(run, self, CHAT_LOWER, CHAT_UPPER)); }
TEST(t_upper) { return (void)args, chat_bool(same_case(run, self, CHAT_UPPER, CHAT_LOWER)); }

TEST(t_sameas)
{
    struct chat_value other = first(args);
    if (self.kind != other.kind) return chat_bool(false);
    if (self.kind == CHAT_STRING || self.kind == CHAT_UNDEFINED) return chat_bool(self.as.text == other.as.text);
    if (chat_is_list(self)) return chat_bool(self.as.list == other.as.list);
    if (self.kind == CHAT_DICT) return chat_bool(self.as.dict == other.as.dict);
    return chat_bool(wick_chat_equal(run, self, other));
}

TEST(t_filter) { return (void)run, (void)args, chat_bool(self.kind == CHAT_STRING && wick_chat_filter_find(chat_str(self))); }
TEST(t_test) { return (void)run, (void)args, chat_bool(self.kind == CHAT_STRING && wick_chat_test_find(chat_str(self))); }

chat_function *wick_chat_test_find(struct wick_str name)
{
    static const struct chat_function_row rows[] = {
        {"defined", t_defined},
        {"undefined", t_undefined},
        {"none", t_none},
        {"boolean", t_boolean},
        {"true", t_true},
        {"false", t_false},
        {"integer", t_integer},
        {"float", t_float},
        {"number", t_number},
        {"string", t_string},
        {"mapping", t_mapping},
        {"iterable", t_iterable},
        {"sequence", t_sequence},
        {"callable", t_callable},
        {"escaped", t_escaped},
        {"eq", t_eq},
        {"equalto", t_eq},
        {"==", t_eq},
        {"ne", t_ne},
        {"!=", t_ne},
        {"lt", t_lt},
        {"lessthan", t_lt},
        {"<", t_lt},
        {"le", t_le},
        {"<=", t_le},
        {"gt", t_gt},
        {"greaterthan", t_gt},
        {">", t_gt},
        {"ge", t_ge},
        {">=", t_ge},
        {"in", t_in},
        {"even", t_even},
        {"odd", t_odd},
        {"divisibleby", t_divisible},
        {"lower", t_lower},
        {"upper", t_upper},
        {"sameas", t_sameas},
        {"filter", t_filter},
        {"test", t_test},
    };
    for (size_t i = 0; i < WICK_ARRAY_SIZE(rows); i++) {
        if (wick_str_is(name, rows[i].name)) return rows[i].function;
    }
    return NULL;
}
