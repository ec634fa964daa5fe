/* checkpoint/pickle.c - owns the restricted pickle machine: protocols 2 to 5 as torch.save writes them. The table at the
 * end is the allow-list of opcodes. The tree of values goes on to torch.c, which gives the calls their meaning.
 *
 * Every opcode takes at least a byte and makes at most one value, so memory is bounded by the pickle's size. */
#include "checkpoint/pickle.h"

#include "base/checked.h"
#include "checkpoint/table.h"

struct machine {
    struct wick_arena *arena;
    const uint8_t *data;
    size_t size, at, op_at; /* op_at: the opcode being run */
    const struct wick_pickle_global *globals;
    size_t global_count;
    struct wick_pickle_value **stack, **memo;
    size_t *marks; /* heights of the stack */
    size_t stack_count, stack_capacity, memo_count, memo_capacity, mark_count, mark_capacity;
    struct wick_pickle_value *result;
    struct wick_pickle *out;
    wick_error *err;
};

const char *wick_pickle_kind_name(enum wick_pickle_kind kind)
{
    static const char *const names[WICK_PICKLE_KIND_COUNT] = {
        "None", "bool", "int", "float", "str", "bytes", "tuple", "list", "dict", "global", "object", "storage",
    };
    return names[kind];
}

static wick_status bad(const struct machine *m, const char *why)
{
    return wick_fail(m->err, WICK_INVALID_CHECKPOINT, "pickle: offset %zu: %s", m->op_at, why);
}

static wick_status no_memory(const struct machine *m) { return wick_fail_oom(m->err, m->stack_capacity * sizeof(void *), "pickle"); }

/* ---- operands, little-endian ---- */

static wick_status take(struct machine *m, uint64_t bytes, const uint8_t **out)
{
    if (bytes > m->size - m->at) return bad(m, "operand is cut off by the end");
    *out = m->data + m->at;
    m->at += (size_t)bytes;
    return WICK_OK;
}

/* An unsigned number of 1, 2, 4 or 8 bytes. */
static wick_status take_number(struct machine *m, unsigned bytes, uint64_t *out)
{
    const uint8_t *p = NULL;
    WICK_TRY(take(m, bytes, &p));
    *out = 0;
    for (unsigned i = 0; i < bytes; i++) *out |= (uint64_t)p[i] << 8 * i;
    return WICK_OK;
}

/* Text up to a newline, which is consumed. */
static wick_status take_line(struct machine *m, struct wick_str *out)
{
    const uint8_t *begin = m->data + m->at, *end = memchr(begin, '\n', m->size - m->at);
    if (!end) return bad(m, "line is cut off by the end");
    *out = (struct wick_str){(const char *)begin, (size_t)(end - begin)};
    m->at += out->size + 1;
    return WICK_OK;
}

/* ---- stack ---- */

static wick_status push(struct machine *m, struct wick_pickle_value *value)
{
    void *list = wick_ckpt_list_room(m->arena, m->stack, m->stack_count, &m->stack_capacity, sizeof *m->stack);
    if (!list) return no_memory(m);
    m->stack = list;
    m->stack[m->stack_count++] = value;
    return WICK_OK;
}

static wick_status push_new(struct machine *m, struct wick_pickle_value value)
{
    struct wick_pickle_value *made = WICK_NEW(m->arena, struct wick_pickle_value);
    if (!made) return no_memory(m);
    *made = value;
    return push(m, made);
}

/* What is on the stack above the innermost mark. */
static size_t above_mark(const struct machine *m) { return m->stack_count - (m->mark_count ? m->marks[m->mark_count - 1] : 0); }

/* The value `depth` below the top. */
static wick_status peek(struct machine *m, size_t depth, struct wick_pickle_value **out)
{
    if (above_mark(m) <= depth) return bad(m, "stack is empty");
    *out = m->stack[m->stack_count - 1 - depth];
    return WICK_OK;
}

static wick_status pop(struct machine *m, struct wick_pickle_value **out)
{
    WICK_TRY(peek(m, 0, out));
    m->stack_count--;
    return WICK_OK;
}

/* Takes the innermost mark away; the values above it stay where they are, at *first. */
static wick_status pop_mark(struct machine *m, size_t *first)
{
    if (m->mark_count == 0) return bad(m, "no mark on the stack");
    *first = m->marks[--m->mark_count];
    return WICK_OK;
}

static wick_status append(struct machine *m, struct wick_pickle_value *list, struct wick_pickle_value *item)
{
    void *items = wick_ckpt_list_room(m->arena, list->as.list.items, list->as.list.count, &list->as.list.capacity, sizeof *list->as.list.items);
    if (!items) return no_memory(m);
    list->as.list.items = items;
    list->as.list.items[list->as.list.count++] = item;
    return WICK_OK;
}

/* ---- opcodes: stream ---- */

static wick_status op_proto(struct machine *m)
{
    uint64_t version;
    WICK_TRY(take_number(m, 1, &version));
    return version >= 2 && version <= 5 ? WICK_OK : bad(m, "protocol is not 2 to 5");
}

static wick_status op_frame(struct machine *m)
{
    uint64_t bytes;
    WICK_TRY(take_number(m, 8, &bytes));
    return bytes <= m->size - m->at ? WICK_OK : bad(m, "frame is cut off by the end");
}

static wick_status op_stop(struct machine *m)
{
    WICK_TRY(pop(m, &m->result));
    return m->stack_count == 0 && m->mark_count == 0 ? WICK_OK : bad(m, "values are left on the stack");
}

/* ---- opcodes: plain values ---- */

static wick_status op_none(struct machine *m) { return push_new(m, (struct wick_pickle_value){.kind = WICK_PICKLE_NONE}); }
static wick_status op_true(struct machine *m) { return push_new(m, (struct wick_pickle_value){.kind = WICK_PICKLE_BOOL, .as.integer = 1}); }
static wick_status op_false(struct machine *m) { return push_new(m, (struct wick_pickle_value){.kind = WICK_PICKLE_BOOL}); }

static wick_status push_int(struct machine *m, int64_t value)
{
    return push_new(m, (struct wick_pickle_value){.kind = WICK_PICKLE_INT, .as.integer = value});
}

static wick_status unsigned_int(struct machine *m, unsigned bytes)
{
    uint64_t value;
    WICK_TRY(take_number(m, bytes, &value));
    return push_int(m, (int64_t)value);
}

static wick_status op_binint1(struct machine *m) { return unsigned_int(m, 1); }
static wick_status op_binint2(struct machine *m) { return unsigned_int(m, 2); }

static wick_status op_binint(struct machine *m)
{
    uint64_t value;
    WICK_TRY(take_number(m, 4, &value));
    return push_int(m, (int32_t)(uint32_t)value);
}

/* Two's complement of a length given before it. */
static wick_status op_long1(struct machine *m)
{
    uint64_t bytes, value;
    WICK_TRY(take_number(m, 1, &bytes));
    if (bytes > 8) return bad(m, "integer of more than 64 bits");
    WICK_TRY(take_number(m, (unsigned)bytes, &value));
    if (bytes > 0 && bytes < 8 && (value >> (8 * bytes - 1) & 1)) value |= UINT64_MAX << 8 * bytes;
    return push_int(m, (int64_t)value);
}

/* The one big-endian operand. */
static wick_status op_binfloat(struct machine *m)
{
    const uint8_t *p = NULL;
    WICK_TRY(take(m, 8, &p));
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++) bits = bits << 8 | p[i];
    struct wick_pickle_value value = {.kind = WICK_PICKLE_FLOAT};
    memcpy(&value.as.real, &bits, sizeof bits);
    return push_new(m, value);
}

static wick_status text(struct machine *m, enum wick_pickle_kind kind, unsigned length_bytes)
{
    uint64_t size;
    const uint8_t *p = NULL;
    WICK_TRY(take_number(m, length_bytes, &size));
    WICK_TRY(take(m, size, &p));
    return push_new(m, (struct wick_pickle_value){.kind = kind, .as.str = {(const char *)p, (size_t)size}});
}

static wick_status op_short_str(struct machine *m) { return text(m, WICK_PICKLE_STR, 1); }
static wick_status op_str(struct machine *m) { return text(m, WICK_PICKLE_STR, 4); }
static wick_status op_long_str(struct machine *m) { return text(m, WICK_PICKLE_STR, 8); }
static wick_status op_short_bytes(struct machine *m) { return text(m, WICK_PICKLE_BYTES, 1); }
static wick_status op_bytes(struct machine *m) { return text(m, WICK_PICKLE_BYTES, 4); }
static wick_status op_long_bytes(struct machine *m) { return text(m, WICK_PICKLE_BYTES, 8); }

/* ---- opcodes: memo ---- */

/* Python numbers memo entries one by one, so an index beyond the pickle's size is no honest one. */
static wick_status remember(struct machine *m, uint64_t index)
{
    struct wick_pickle_value *value = NULL;
    WICK_TRY(peek(m, 0, &value));
    if (index >= m->size) return bad(m, "memo index is out of range");
    while (m->memo_count <= index) {
        void *list = wick_ckpt_list_room(m->arena, m->memo, m->memo_count, &m->memo_capacity, sizeof *m->memo);
        if (!list) return no_memory(m);
        m->memo = list;
        m->memo[m->memo_count++] = NULL;
    }
    m->memo[index] = value;
    return WICK_OK;
}

static wick_status put(struct machine *m, unsigned bytes)
{
    uint64_t index;
    WICK_TRY(take_number(m, bytes, &index));
    return remember(m, index);
}

static wick_status get(struct machine *m, unsigned bytes)
{
    uint64_t index;
    WICK_TRY(take_number(m, bytes, &index));
    if (index >= m->memo_count || !m->memo[index]) return bad(m, "memo entry is not set");
    return push(m, m->memo[index]);
}

static wick_status op_binput(struct machine *m) { return put(m, 1); }
static wick_status op_long_binput(struct machine *m) { return put(m, 4); }
static wick_status op_memoize(struct machine *m) { return remember(m, m->memo_count); }
static wick_status op_binget(struct machine *m) { return get(m, 1); }
static wick_status op_long_binget(struct machine *m) { return get(m, 4); }

/* ---- opcodes: containers ---- */

static wick_status op_mark(struct machine *m)
{
    void *list = wick_ckpt_list_room(m->arena, m->marks, m->mark_count, &m->mark_capacity, sizeof *m->marks);
    if (!list) return no_memory(m);
    m->marks = list;
    m->marks[m->mark_count++] = m->stack_count;
    return WICK_OK;
}

static wick_status op_empty_dict(struct machine *m) { return push_new(m, (struct wick_pickle_value){.kind = WICK_PICKLE_DICT}); }
static wick_status op_empty_list(struct machine *m) { return push_new(m, (struct wick_pickle_value){.kind = WICK_PICKLE_LIST}); }

/* A tuple of the values from stack height `first` up. */
static wick_status make_tuple(struct machine *m, size_t first)
{
    struct wick_pickle_value tuple = {.kind = WICK_PICKLE_TUPLE};
    size_t count = m->stack_count - first;
    tuple.as.list.items = WICK_NEW_ARRAY(m->arena, struct wick_pickle_value *, count);
    if (!tuple.as.list.items) return no_memory(m);
    if (count) memcpy(tuple.as.list.items, m->stack + first, count * sizeof *m->stack);
    tuple.as.list.count = tuple.as.list.capacity = count;
    m->stack_count = first;
    return push_new(m, tuple);
}

static wick_status small_tuple(struct machine *m, size_t count)
{
    return above_mark(m) < count ? bad(m, "stack is empty") : make_tuple(m, m->stack_count - count);
}

static wick_status op_empty_tuple(struct machine *m) { return small_tuple(m, 0); }
static wick_status op_tuple1(struct machine *m) { return small_tuple(m, 1); }
static wick_status op_tuple2(struct machine *m) { return small_tuple(m, 2); }
static wick_status op_tuple3(struct machine *m) { return small_tuple(m, 3); }

static wick_status op_tuple(struct machine *m)
{
    size_t first = 0;
    WICK_TRY(pop_mark(m, &first));
    return make_tuple(m, first);
}

/* Moves the values from stack height `first` up into the list or dict below them. */
static wick_status fill(struct machine *m, enum wick_pickle_kind kind, size_t first)
{
    size_t count = m->stack_count - first;
    struct wick_pickle_value *container = NULL;
    WICK_TRY(peek(m, count, &container));
    if (container->kind != kind) return bad(m, "items for what is no list or dict");
    if (kind == WICK_PICKLE_DICT && count % 2 != 0) return bad(m, "a key without a value");
    for (size_t i = 0; i < count; i++) WICK_TRY(append(m, container, m->stack[first + i]));
    m->stack_count = first;
    return WICK_OK;
}

static wick_status fill_to_mark(struct machine *m, enum wick_pickle_kind kind)
{
    size_t first = 0;
    WICK_TRY(pop_mark(m, &first));
    return fill(m, kind, first);
}

static wick_status fill_some(struct machine *m, enum wick_pickle_kind kind, size_t count)
{
    return above_mark(m) < count ? bad(m, "stack is empty") : fill(m, kind, m->stack_count - count);
}

static wick_status op_append(struct machine *m) { return fill_some(m, WICK_PICKLE_LIST, 1); }
static wick_status op_appends(struct machine *m) { return fill_to_mark(m, WICK_PICKLE_LIST); }
static wick_status op_setitem(struct machine *m) { return fill_some(m, WICK_PICKLE_DICT, 2); }
static wick_status op_setitems(struct machine *m) { return fill_to_mark(m, WICK_PICKLE_DICT); }

/* ---- opcodes: globals and calls ---- */

static int shown(struct wick_str text) { return (int)WICK_MIN(text.size, 80); }

static wick_status push_global(struct machine *m, struct wick_str module, struct wick_str name)
{
    for (size_t i = 0; i < m->global_count; i++) {
        const struct wick_pickle_global *global = &m->globals[i];
        if (!wick_str_is(module, global->module) || !wick_str_is(name, global->name)) continue;
        return push_new(m, (struct wick_pickle_value){.kind = WICK_PICKLE_GLOBAL, .as.call.global = global});
    }
    if (!wick_ckpt_name_ok(module.data, module.size) || !wick_ckpt_name_ok(name.data, name.size))
        return bad(m, "a global that is no printable text is not allowed");
    return wick_fail(m->err, WICK_NOT_SUPPORTED, "pickle: offset %zu: global %.*s.%.*s is not allowed", m->op_at, shown(module), module.data,
                     shown(name), name.data);
}

static wick_status op_global(struct machine *m)
{
    struct wick_str module, name;
    WICK_TRY(take_line(m, &module));
    WICK_TRY(take_line(m, &name));
    return push_global(m, module, name);
}

static wick_status op_stack_global(struct machine *m)
{
    struct wick_pickle_value *module = NULL, *name = NULL;
    WICK_TRY(pop(m, &name));
    WICK_TRY(pop(m, &module));
    if (module->kind != WICK_PICKLE_STR || name->kind != WICK_PICKLE_STR) return bad(m, "global's module and name are no strings");
    return push_global(m, module->as.str, name->as.str);
}

static wick_status op_reduce(struct machine *m)
{
    struct wick_pickle_value *callee = NULL, *args = NULL;
    WICK_TRY(pop(m, &args));
    WICK_TRY(pop(m, &callee));
    if (callee->kind != WICK_PICKLE_GLOBAL || args->kind != WICK_PICKLE_TUPLE) return bad(m, "call of what is no global, or without a tuple");
    if (callee->as.call.global->role != WICK_PICKLE_NEW_DICT)
        return push_new(m, (struct wick_pickle_value){.kind = WICK_PICKLE_CALL, .as.call = {callee->as.call.global, args}});
    if (args->as.list.count != 0) return bad(m, "dict made with arguments");
    return op_empty_dict(m);
}

/* State of an object (an OrderedDict's _metadata, a parameter's attributes) says nothing about weights: dropped. */
static wick_status op_build(struct machine *m)
{
    struct wick_pickle_value *state = NULL, *object = NULL;
    WICK_TRY(pop(m, &state));
    WICK_TRY(peek(m, 0, &object));
    return object->kind == WICK_PICKLE_DICT || object->kind == WICK_PICKLE_CALL ? WICK_OK : bad(m, "state for what is no object");
}

static wick_status op_binpersid(struct machine *m)
{
    struct wick_pickle_value *id = NULL;
    WICK_TRY(pop(m, &id));
    WICK_TRY(push_new(m, (struct wick_pickle_value){.kind = WICK_PICKLE_PERSISTENT, .as.call = {NULL, id}}));
    struct wick_pickle *out = m->out;
    void *list = wick_ckpt_list_room(m->arena, out->persistents, out->persistent_count, &out->persistent_capacity, sizeof *out->persistents);
    if (!list) return no_memory(m);
    out->persistents = list;
    out->persistents[out->persistent_count++] = m->stack[m->stack_count - 1];
    return WICK_OK;
}

/* The allow-list. */
static wick_status (*const opcodes[256])(struct machine *) = {
    [0x80] = op_proto, [0x95] = op_frame, ['.'] = op_stop,
    ['N'] = op_none, [0x88] = op_true, [0x89] = op_false,
    ['K'] = op_binint1, ['M'] = op_binint2, ['J'] = op_binint, [0x8a] = op_long1, ['G'] = op_binfloat,
    [0x8c] = op_short_str, ['X'] = op_str, [0x8d] = op_long_str,
    ['C'] = op_short_bytes, ['B'] = op_bytes, [0x8e] = op_long_bytes,
    ['q'] = op_binput, ['r'] = op_long_binput, [0x94] = op_memoize, ['h'] = op_binget, ['j'] = op_long_binget,
    ['('] = op_mark, ['}'] = op_empty_dict, [']'] = op_empty_list,
    [')'] = op_empty_tuple, [0x85] = op_tuple1, [0x86] = op_tuple2, [0x87] = op_tuple3, ['t'] = op_tuple,
    ['a'] = op_append, ['e'] = op_appends, ['s'] = op_setitem, ['u'] = op_setitems,
    ['c'] = op_global, [0x93] = op_stack_global, ['R'] = op_reduce, [0x81] = op_reduce /* NEWOBJ: the class instead of a function */, ['b'] = op_build, ['Q'] = op_binpersid,
};

wick_status wick_pickle_parse(struct wick_pickle *out, const uint8_t *data, size_t size, const struct wick_pickle_global *globals,
                              size_t global_count, struct wick_arena *arena, wick_error *err)
{
    struct machine m = {.arena = arena, .data = data, .size = size, .globals = globals, .global_count = global_count, .out = out, .err = err};
    *out = (struct wick_pickle){0};
    while (!m.result) {
        m.op_at = m.at;
        if (m.at == size) return bad(&m, "ends without STOP");
        uint8_t opcode = data[m.at++];
        if (!opcodes[opcode]) {
            char letter = opcode > 0x20 && opcode < 0x7f ? (char)opcode : '?';
            return wick_fail(err, WICK_NOT_SUPPORTED, "pickle: offset %zu: opcode 0x%02x ('%c') is not allowed", m.op_at, opcode, letter);
        }
        WICK_TRY(opcodes[opcode](&m));
    }
    out->top = m.result;
    out->used = m.at;
    return WICK_OK;
}
