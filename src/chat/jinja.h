/* chat/jinja.h - what the files of this folder share: values, the syntax tree, one rendering.
 *
 * lex.c and parse*.c make the tree; exec.c runs statements, eval.c expressions; filters*.c, tests.c, methods.c and call.c hold what they name. All
 * memory of a rendering is one arena. A failure sticks in the rendering, and every loop looks at it. */
#ifndef WICK_CHAT_JINJA_H
#define WICK_CHAT_JINJA_H

#include "base/arena.h"
#include "chat/chat.h"

enum {
    CHAT_PARSE_DEPTH = 120, /* expressions and blocks within one another */
    CHAT_RUN_DEPTH = 400,   /* the same when run, macros included */
    CHAT_VALUE_DEPTH = 100, /* lists within lists, when they are printed, compared or read */
    CHAT_RANGE_LIMIT = 100000,
};
#define CHAT_SOURCE_LIMIT ((size_t)1 << 20) /* bytes of a template */
#define CHAT_MEMORY_LIMIT ((size_t)1 << 28) /* bytes of one rendering */
#define CHAT_OUTPUT_LIMIT ((size_t)1 << 26)
#define CHAT_STEP_LIMIT ((uint64_t)1 << 26)

/* ---- values ---- */

enum chat_kind {
    CHAT_UNDEFINED, /* name says of what */
    CHAT_NONE,
    CHAT_BOOL,
    CHAT_INT,
    CHAT_FLOAT,
    CHAT_STRING,
    CHAT_LIST,
    CHAT_TUPLE,
    CHAT_DICT,
    CHAT_NAMESPACE,
    CHAT_LOOP,
    CHAT_CALL, /* a macro, function or method */
};

/* A string and, per byte, whether it came from outside; taint NULL: none did. */
struct chat_text {
    const char *data;
    size_t size;
    const uint8_t *taint;
};

struct chat_value {
    enum chat_kind kind;
    union {
        bool flag;
        int64_t integer;
        double real;
        const struct chat_text *text; /* STRING; UNDEFINED: its name or the whole complaint, NULL: nameless */
        struct chat_list *list;
        struct chat_dict *dict;
        struct chat_loop *loop;
        const struct chat_call *call;
    } as;
};

struct chat_list {
    struct chat_value *items;
    size_t count, capacity;
};
struct chat_pair {
    struct chat_value key, value;
};
struct chat_dict {
    struct chat_pair *pairs;
    size_t count, capacity;
};

struct chat_run;
struct chat_node;
struct chat_frame;

/* The arguments of a call, filter, test or method. */
struct chat_args {
    struct chat_value *items;
    size_t count;
    struct chat_pair *named; /* keys are strings */
    size_t named_count;
};

typedef struct chat_value chat_function(struct chat_run *run, struct chat_value self, const struct chat_args *args);

/* What can be called: a function with its receiver, or a macro with the frame it was made in. */
struct chat_call {
    chat_function *function;
    struct chat_value self;
    const char *name;
    const struct chat_node *macro;
    struct chat_frame *frame;
};

struct chat_loop {
    struct chat_list *items;
    size_t index, depth;
    const struct chat_node *node; /* to recurse */
    struct chat_frame *frame;
    struct chat_value last_changed;
};

struct chat_function_row {
    const char *name;
    chat_function *function;
};

/* ---- tree ---- */

enum chat_node_kind {
    /* expressions */
    CHAT_N_CONST,   /* value */
    CHAT_N_NAME,    /* name */
    CHAT_N_TUPLE,   /* a: items */
    CHAT_N_LIST,    /* a: items */
    CHAT_N_DICT,    /* a: N_PAIRs */
    CHAT_N_PAIR,    /* a: b */
    CHAT_N_ATTR,    /* a.name */
    CHAT_N_ITEM,    /* a[b] */
    CHAT_N_SLICE,   /* a[b:c:d], within N_ITEM's b: a, b, c may be NULL */
    CHAT_N_CALL,    /* a(b: N_ARGs) */
    CHAT_N_ARG,     /* a; name: keyword; op '*' or 'd': *a or **a */
    CHAT_N_FILTER,  /* a | name(b); a NULL: of a filter block */
    CHAT_N_TEST,    /* a is name(b) */
    CHAT_N_NOT,     /* not a */
    CHAT_N_SIGN,    /* op a */
    CHAT_N_BINARY,  /* a op b */
    CHAT_N_COMPARE, /* a, then b: N_OPERANDs */
    CHAT_N_OPERAND, /* op a */
    CHAT_N_AND,
    CHAT_N_OR,
    CHAT_N_IF_ELSE, /* b if a else c (NULL: undefined) */
    /* statements; `body` and `other` are lists by `next` */
    CHAT_N_DATA,         /* value */
    CHAT_N_PRINT,        /* a */
    CHAT_N_FOR,          /* a: target, b: what, c: condition or NULL; op 'r': recursive */
    CHAT_N_IF,           /* a */
    CHAT_N_SET,          /* a = b */
    CHAT_N_SET_BLOCK,    /* a = body, through the filters b or NULL */
    CHAT_N_MACRO,        /* name, a: parameters (N_ARG: name, a: default or NULL) */
    CHAT_N_CALL_BLOCK,   /* b: call, a: parameters */
    CHAT_N_FILTER_BLOCK, /* a: filters */
    CHAT_N_WITH,         /* a: N_SETs */
    CHAT_N_SCOPE,
    CHAT_N_BREAK,
    CHAT_N_CONTINUE,
};

/* What op means beside the character itself. */
enum {
    CHAT_OP_EQ = 'e',
    CHAT_OP_NE = 'n',
    CHAT_OP_LE = 'l',
    CHAT_OP_GE = 'g',
    CHAT_OP_IN = 'i',
    CHAT_OP_NOT_IN = 'o',
    CHAT_OP_FLOOR = 'f',
    CHAT_OP_POWER = 'p'
};

struct chat_node {
    enum chat_node_kind kind;
    char op;
    uint32_t line;
    struct wick_str name;
    struct chat_value value;
    chat_function *function; /* of a filter or test */
    struct chat_node *a, *b, *c, *body, *other, *next;
};

struct wick_chat_template {
    struct wick_arena arena;
    char *name;
    struct chat_node *root;
};

/* ---- tokens (lex.c) ---- */

enum chat_token_kind {
    CHAT_T_DATA,
    CHAT_T_PRINT,
    CHAT_T_PRINT_END,
    CHAT_T_BLOCK,
    CHAT_T_BLOCK_END,
    CHAT_T_NAME,
    CHAT_T_STRING,
    CHAT_T_INT,
    CHAT_T_FLOAT,
    CHAT_T_OP,
    CHAT_T_END
};

struct chat_token {
    enum chat_token_kind kind;
    uint32_t line;
    struct wick_str text; /* of an operator its spelling, of a string its value */
    int64_t integer;
    double real;
};
struct chat_tokens {
    struct chat_token *items;
    size_t count;
};
wick_status wick_chat_lex(struct wick_arena *arena, struct wick_str source, struct chat_tokens *tokens, wick_error *err) WICK_MUST_CHECK;

/* ---- parsing (parse.c, parse_block.c) ---- */

struct chat_parser {
    struct wick_arena *arena;
    const struct chat_token *at;
    wick_error *err;
    wick_status status; /* sticks */
    int depth;
    int loops; /* the cursor is in */
};
wick_status wick_chat_parse(struct wick_arena *arena, const struct chat_tokens *tokens, struct chat_node **root, wick_error *err) WICK_MUST_CHECK;
struct chat_node *wick_chat_node(struct chat_parser *p, enum chat_node_kind kind);
struct chat_node *wick_chat_parse_fail(struct chat_parser *p, wick_status status, const char *format, ...) WICK_PRINTF(3, 4); /* NULL */
bool wick_chat_at_op(const struct chat_parser *p, const char *op);
bool wick_chat_at_name(const struct chat_parser *p, const char *name);
bool wick_chat_take_op(struct chat_parser *p, const char *op);
bool wick_chat_take_name(struct chat_parser *p, const char *name);
void wick_chat_need_op(struct chat_parser *p, const char *op);
struct chat_node *wick_chat_expression(struct chat_parser *p, bool with_if);
/* One expression, or several with commas between as a tuple, up to a block's end or a word that ends it. */
struct chat_node *wick_chat_tuple(struct chat_parser *p, bool with_if, const char *end_word);
struct chat_node *wick_chat_target(struct chat_parser *p, const char *end_word);                /* names, attributes of namespaces */
struct chat_node *wick_chat_call_args(struct chat_parser *p);                                   /* the cursor on "(" */
struct chat_node *wick_chat_filters(struct chat_parser *p, struct chat_node *node, bool first); /* first: the name, without "|" */

/* ---- one rendering ---- */

struct chat_frame {
    struct chat_frame *up;
    struct chat_dict names; /* keys are strings */
    size_t loop_depth;
};

/* A string being written. */
struct chat_build {
    struct chat_run *run;
    char *data;
    uint8_t *taint;
    size_t size, capacity;
    bool tainted;
};

struct chat_run {
    struct wick_arena arena;
    wick_error *err;
    wick_status status; /* sticks */
    uint64_t steps;
    int depth;
    uint32_t line;
    struct chat_frame *frame;
    struct chat_build *out; /* where statements print to */
    int jump;               /* a CHAT_N_BREAK or CHAT_N_CONTINUE is on its way; 0: none */
};

static inline bool chat_failed(const struct chat_run *run) { return run->status != WICK_OK; }

/* Fails the rendering; the result is undefined. */
struct chat_value wick_chat_raise(struct chat_run *run, const char *format, ...) WICK_PRINTF(2, 3);
/* Counts work; false: too much. */
bool wick_chat_step(struct chat_run *run, uint64_t steps);
void *wick_chat_alloc(struct chat_run *run, size_t count, size_t size); /* zeroed; NULL: failed */

void wick_chat_build_init(struct chat_build *build, struct chat_run *run);
void wick_chat_build_bytes(struct chat_build *build, const char *data, size_t size, const uint8_t *taint);
void wick_chat_build_text(struct chat_build *build, const struct chat_text *text);
static inline void chat_put(struct chat_build *build, const char *text) { wick_chat_build_bytes(build, text, strlen(text), NULL); }
struct chat_value wick_chat_build_value(struct chat_build *build);

/* ---- values (value.c) ---- */

static inline struct chat_value chat_none(void) { return (struct chat_value){.kind = CHAT_NONE}; }
static inline struct chat_value chat_bool(bool flag) { return (struct chat_value){.kind = CHAT_BOOL, .as.flag = flag}; }
static inline struct chat_value chat_int(int64_t integer) { return (struct chat_value){.kind = CHAT_INT, .as.integer = integer}; }
static inline struct chat_value chat_float(double real) { return (struct chat_value){.kind = CHAT_FLOAT, .as.real = real}; }
struct chat_value wick_chat_undefined(struct chat_run *run, struct wick_str name);
/* Copied; tainted: all of it came from outside. */
struct chat_value wick_chat_string(struct chat_run *run, struct wick_str text, bool tainted);
/* Part of a text, in bytes; borrowed. */
struct chat_value wick_chat_part_of(struct chat_run *run, const struct chat_text *text, size_t begin, size_t end);
struct chat_value wick_chat_list_new(struct chat_run *run, enum chat_kind kind);
void wick_chat_list_push(struct chat_run *run, struct chat_list *list, struct chat_value value);
struct chat_value wick_chat_dict_new(struct chat_run *run, enum chat_kind kind);
struct chat_value *wick_chat_dict_find(struct chat_run *run, const struct chat_dict *dict, struct chat_value key);
struct chat_value *wick_chat_dict_find_text(const struct chat_dict *dict, struct wick_str key);
void wick_chat_dict_set(struct chat_run *run, struct chat_dict *dict, struct chat_value key, struct chat_value value);
struct chat_value wick_chat_from_json(struct chat_run *run, const json_t *json, bool tainted, int depth);

static inline bool chat_is_list(struct chat_value v) { return v.kind == CHAT_LIST || v.kind == CHAT_TUPLE; }
static inline bool chat_is_number(struct chat_value v) { return v.kind == CHAT_INT || v.kind == CHAT_FLOAT || v.kind == CHAT_BOOL; }
static inline double chat_real(struct chat_value v)
{
    return v.kind == CHAT_FLOAT ? v.as.real : v.kind == CHAT_BOOL ? v.as.flag : (double)v.as.integer;
}
static inline int64_t chat_integer(struct chat_value v) { return v.kind == CHAT_BOOL ? v.as.flag : v.as.integer; }
static inline struct wick_str chat_str(struct chat_value v)
{
    return v.kind == CHAT_STRING ? (struct wick_str){v.as.text->data, v.as.text->size} : (struct wick_str){"", 0};
}
const char *wick_chat_type_name(struct chat_value v); /* as Python names it */
bool wick_chat_truth(struct chat_value v);
bool wick_chat_equal(struct chat_run *run, struct chat_value a, struct chat_value b);
/* < 0, 0, > 0; what has no order fails. */
int wick_chat_compare(struct chat_run *run, struct chat_value a, struct chat_value b, const char *op);
bool wick_chat_contains(struct chat_run *run, struct chat_value all, struct chat_value one);
int64_t wick_chat_length(struct chat_run *run, struct chat_value v); /* in characters; fails where there is none */
/* What iterating gives, as a list of its own or borrowed; NULL: failed. */
struct chat_list *wick_chat_items(struct chat_run *run, struct chat_value v);
/* a.name, a[key], a[begin:end:step]. */
struct chat_value wick_chat_attr(struct chat_run *run, struct chat_value v, struct wick_str name);
struct chat_value wick_chat_item(struct chat_run *run, struct chat_value v, struct chat_value key);
struct chat_value wick_chat_slice(struct chat_run *run, struct chat_value v, const struct chat_value bounds[3]);

/* ---- texts (print.c, text.c) ---- */

void wick_chat_print(struct chat_build *build, struct chat_value v);           /* str() */
void wick_chat_repr(struct chat_build *build, struct chat_value v, int depth); /* repr() */
struct chat_value wick_chat_str(struct chat_run *run, struct chat_value v);    /* str() as a value */
chat_function wick_chat_tojson;
bool wick_chat_is_space(uint32_t code);
size_t wick_chat_char(struct wick_str text, size_t at, uint32_t *code);         /* its bytes, at least 1 */
size_t wick_chat_count(struct wick_str text);                                   /* characters */
size_t wick_chat_find(struct wick_str text, struct wick_str what, size_t from); /* SIZE_MAX: nowhere */
enum chat_case { CHAT_UPPER, CHAT_LOWER, CHAT_TITLE, CHAT_CAPITALIZE, CHAT_SWAP };
struct chat_value wick_chat_case(struct chat_run *run, struct chat_value v, enum chat_case how);
/* chars NULL data: white space; sides: 1 left, 2 right. */
struct chat_value wick_chat_strip(struct chat_run *run, struct chat_value v, struct wick_str chars, int sides);
struct chat_value wick_chat_replace(struct chat_run *run, struct chat_value v, struct chat_value from, struct chat_value to, int64_t count);
struct chat_value wick_chat_format(struct chat_run *run, struct chat_value format, const struct chat_args *args); /* % */
struct chat_value wick_chat_join(struct chat_run *run, struct chat_value items, struct chat_value separator, bool only_strings);

/* ---- calls (eval.c, call.c, methods.c, filters.c, tests.c) ---- */

struct chat_value wick_chat_eval(struct chat_run *run, const struct chat_node *node);
struct chat_value wick_chat_invoke(struct chat_run *run, struct chat_value what, const struct chat_args *args);
struct chat_value wick_chat_binary(struct chat_run *run, char op, struct chat_value a, struct chat_value b);
struct chat_value wick_chat_lookup(struct chat_run *run, struct wick_str name);
void wick_chat_assign(struct chat_run *run, const struct chat_node *target, struct chat_value value);
struct chat_value wick_chat_call_new(struct chat_run *run, chat_function *function, const char *name, struct chat_value self);
struct chat_value wick_chat_macro_new(struct chat_run *run, const struct chat_node *node);
chat_function *wick_chat_filter_find(struct wick_str name);
chat_function *wick_chat_test_find(struct wick_str name);
chat_function *wick_chat_list_filter_find(struct wick_str name);
struct chat_value wick_chat_method(struct chat_run *run, struct chat_value self, struct wick_str name); /* UNDEFINED: no such method */
struct chat_value wick_chat_global(struct chat_run *run, struct wick_str name);
struct chat_value wick_chat_loop_attr(struct chat_run *run, struct chat_loop *loop, struct wick_str name);
/* The argument at a place or by its name; UNDEFINED without name if it was not given. */
struct chat_value wick_chat_arg(const struct chat_args *args, size_t place, const char *name);
static inline bool chat_given(struct chat_value v) { return v.kind != CHAT_UNDEFINED || v.as.text; }
/* The same as a whole number, a truth, a string; `missing` if it was not given. */
int64_t wick_chat_arg_int(struct chat_run *run, const struct chat_args *args, size_t place, const char *name, int64_t missing);
bool wick_chat_arg_flag(const struct chat_args *args, size_t place, const char *name, bool missing);
struct chat_value wick_chat_arg_text(struct chat_run *run, const struct chat_args *args, size_t place, const char *name, const char *missing);

/* ---- statements (exec.c) ---- */

void wick_chat_exec(struct chat_run *run, const struct chat_node *list);
/* Runs a list in a frame of its own and gives what it printed. */
struct chat_value wick_chat_captured(struct chat_run *run, const struct chat_node *list, struct chat_frame *frame);
struct chat_frame *wick_chat_frame(struct chat_run *run, struct chat_frame *up);
struct chat_value wick_chat_run_loop(struct chat_run *run, const struct chat_node *node, struct chat_value items, size_t depth,
                                     struct chat_frame *up);

#endif
