/* The builder makes what the verifier accepts and the reader finds; what is broken is refused with a message. */
#include "fixture.h"

#include "base/arena.h"
#include "flat/build.h"
#include "flat/print.h"
#include "flat/read.h"

#include <stdlib.h>

/* clang-format off */
#define T_TABLES(X, P)                                                                             \
    X##_TABLE(P, ROOT, "Root")                                                                     \
        X##_FIELD(P, ROOT, NAME, "name", STRING, 0, 0)                                             \
        X##_FIELD(P, ROOT, SMALL, "small", SCALAR, FLAT_I8, -1)                                    \
        X##_FIELD(P, ROOT, WIDE, "wide", SCALAR, FLAT_U64, 0)                                      \
        X##_FIELD(P, ROOT, COLOUR, "colour", ENUM, T_ENUM_COLOUR, 0)                               \
        X##_FIELD(P, ROOT, BLOB, "blob", VECTOR, FLAT_U8, 32)                                      \
        X##_FIELD(P, ROOT, REALS, "reals", VECTOR, FLAT_F64, 0)                                    \
        X##_FIELD(P, ROOT, CHILDREN, "children", TABLES, T_TABLE_ROOT, 0)                          \
        X##_UNION(P, ROOT, PICK, "pick", T_UNION_PICK)                                             \
        X##_FIELD(P, ROOT, LIVE, "live", SCALAR, FLAT_BOOL, 0)                                     \
        X##_FIELD(P, ROOT, RATIO, "ratio", SCALAR, FLAT_F32, 0)                                    \
        X##_FIELD(P, ROOT, ONE, "one", TABLE, T_TABLE_ROOT, 0)                                     \
    X##_END(P, ROOT)                                                                               \
    X##_TABLE(P, LEAF, "Leaf")                                                                     \
    X##_END(P, LEAF)
#define T_UNIONS(X, P)                                                                             \
    X##_CHOICE(P, PICK, "Pick")                                                                    \
        X##_MEMBER(P, PICK, LEAF, "Leaf", T_TABLE_LEAF)                                            \
        X##_MEMBER(P, PICK, MORE, "More", T_TABLE_ROOT)                                            \
    X##_CHOICE_END(P, PICK)
#define T_ENUMS(X, P)                                                                              \
    X##_ENUM(P, COLOUR, "Colour", FLAT_I16)                                                        \
        X##_VALUE(P, COLOUR, RED, "RED", 0)                                                        \
        X##_VALUE(P, COLOUR, BLUE, "BLUE", 300)                                                    \
    X##_ENUM_END(P, COLOUR)
/* clang-format on */
enum { T_TABLES(FLAT_INDEX, T) T_TABLE_COUNT };
enum { T_UNIONS(FLAT_INDEX, T) T_UNION_COUNT };
enum { T_ENUMS(FLAT_INDEX, T) T_ENUM_COUNT };
T_TABLES(FLAT_IDS, T)
T_UNIONS(FLAT_IDS, T)
T_ENUMS(FLAT_IDS, T)
T_TABLES(FLAT_FIELDS, T)
T_UNIONS(FLAT_FIELDS, T)
T_ENUMS(FLAT_FIELDS, T)
static const struct wick_flat_table tables[] = {T_TABLES(FLAT_LIST, T)};
static const struct wick_flat_union unions[] = {T_UNIONS(FLAT_LIST, T)};
static const struct wick_flat_enum enums[] = {T_ENUMS(FLAT_LIST, T)};
static const struct wick_flat_schema schema = {"sample", {"SM01", "SM00"}, tables, unions, enums, T_TABLE_COUNT, T_UNION_COUNT, T_ENUM_COUNT, T_TABLE_ROOT};

static const double reals[] = {1.5, -2.25, 0x1p-1060};
static const uint8_t blob[] = {9, 8, 7};

static flat_ref build_leaf(struct wick_flat_builder *b)
{
    wick_flat_table_begin(b, T_TABLE_LEAF);
    return wick_flat_table_end(b);
}

/* A root with every kind of field and two children. */
static flat_ref build_sample(struct wick_flat_builder *b)
{
    flat_ref children[2];
    for (int i = 0; i < 2; i++) {
        flat_ref name = wick_flat_add_string(b, i ? WICK_STR("") : WICK_STR("caf\xc3\xa9"));
        wick_flat_table_begin(b, T_TABLE_ROOT);
        wick_flat_set_ref(b, T_ROOT_NAME, name);
        wick_flat_set_int(b, T_ROOT_SMALL, i ? -1 : 5); /* -1 is the default: left out */
        children[i] = wick_flat_table_end(b);
    }
    flat_ref list = wick_flat_add_tables(b, children, 2), leaf = build_leaf(b);
    flat_ref bytes = wick_flat_add_vector(b, FLAT_U8, blob, sizeof blob, 32), doubles = wick_flat_add_vector(b, FLAT_F64, reals, 3, 0);
    wick_flat_table_begin(b, T_TABLE_ROOT);
    wick_flat_set_u64(b, T_ROOT_WIDE, UINT64_MAX);
    wick_flat_set_int(b, T_ROOT_COLOUR, T_COLOUR_BLUE);
    wick_flat_set_ref(b, T_ROOT_BLOB, bytes);
    wick_flat_set_ref(b, T_ROOT_REALS, doubles);
    wick_flat_set_ref(b, T_ROOT_CHILDREN, list);
    wick_flat_set_union(b, T_ROOT_PICK, T_PICK_LEAF, leaf);
    wick_flat_set_int(b, T_ROOT_LIVE, true);
    wick_flat_set_real(b, T_ROOT_RATIO, 0.5);
    return wick_flat_table_end(b);
}

/* A finished sample in memory aligned to 64; the caller frees. */
static uint8_t *make_sample(size_t *size, uint32_t reserve)
{
    struct wick_flat_builder b;
    wick_error err;
    uint8_t *data;
    wick_flat_builder_init(&b, &schema);
    WICK_ASSERT_OK(wick_flat_finish(&b, build_sample(&b), reserve, &data, size, &err), &err);
    uint8_t *copy = aligned_alloc(64, (*size + 63) / 64 * 64);
    assert_non_null(copy);
    memcpy(copy, data, *size);
    wick_flat_builder_free(&b);
    return copy;
}

static void build_and_read(void **state)
{
    (void)state;
    for (uint32_t reserve = 0; reserve <= 48; reserve += 16) {
        struct flat_table root;
        wick_error err;
        size_t size;
        uint8_t *data = make_sample(&size, reserve);
        WICK_ASSERT_OK(wick_flat_verify(&schema, data, size, &root, WICK_INVALID_PROGRAM, &err), &err);
        assert_int_equal(size % 32, 0);
        for (uint32_t i = 0; i < reserve; i++) assert_int_equal(data[8 + i], 0);
        assert_true(flat_u64(root, T_ROOT_WIDE, 0) == UINT64_MAX);
        assert_int_equal(flat_i16(root, T_ROOT_COLOUR, 0), 300);
        assert_int_equal(flat_i8(root, T_ROOT_SMALL, -1), -1);
        assert_true(flat_bool(root, T_ROOT_LIVE, false));
        assert_true(flat_f32(root, T_ROOT_RATIO, 0) == 0.5f);
        assert_false(flat_has(root, T_ROOT_NAME) || flat_has(root, T_ROOT_ONE));
        assert_null(flat_string(root, T_ROOT_NAME).data);
        assert_int_equal(flat_u32(flat_child(root, T_ROOT_ONE), T_ROOT_WIDE, 77), 77); /* through an absent table */
        struct flat_vec bytes = flat_vector(root, T_ROOT_BLOB), list = flat_vector(root, T_ROOT_CHILDREN), doubles = flat_vector(root, T_ROOT_REALS);
        assert_int_equal(bytes.count, 3);
        assert_int_equal((bytes.at - data) % 32, 0);
        assert_memory_equal(bytes.at, blob, 3);
        for (uint32_t i = 0; i < 3; i++) assert_true(flat_vec_f64(doubles, i) == reals[i]);
        assert_int_equal(list.count, 2);
        assert_int_equal(flat_i8(flat_vec_table(list, 0), T_ROOT_SMALL, -1), 5);
        assert_false(flat_has(flat_vec_table(list, 1), T_ROOT_SMALL));
        assert_true(wick_str_is(flat_string(flat_vec_table(list, 0), T_ROOT_NAME), "caf\xc3\xa9"));
        assert_non_null(flat_string(flat_vec_table(list, 1), T_ROOT_NAME).data); /* empty is not absent */
        assert_int_equal(flat_union_type(root, T_ROOT_PICK), T_PICK_LEAF);
        free(data);
    }
}

/* Equal input, equal bytes; equal vtables are stored once. */
static void deterministic(void **state)
{
    (void)state;
    size_t a, b;
    uint8_t *x = make_sample(&a, 0), *y = make_sample(&b, 0);
    assert_int_equal(a, b);
    assert_memory_equal(x, y, a);
    free(x);
    free(y);

    struct wick_flat_builder builder;
    wick_flat_builder_init(&builder, &schema);
    for (int i = 0; i < 1000; i++) build_leaf(&builder);
    assert_int_equal(builder.vtable_count, 1);
    assert_true(builder.size <= 4 + 4 * 1000);
    wick_flat_builder_free(&builder);
}

static void mistakes(void **state)
{
    (void)state;
    for (int mistake = 0; mistake < 8; mistake++) {
        struct wick_flat_builder b;
        wick_error err = {WICK_OK, ""};
        uint8_t *data;
        size_t size;
        flat_ref nothing = 0, leaf;
        wick_flat_builder_init(&b, &schema);
        leaf = build_leaf(&b);
        wick_flat_table_begin(&b, T_TABLE_ROOT);
        switch (mistake) {
        case 0: wick_flat_set_int(&b, T_ROOT_FIELD_COUNT, 1); break;
        case 1: wick_flat_set_int(&b, T_ROOT_NAME, 1); break;
        case 2: wick_flat_set_ref(&b, T_ROOT_WIDE, leaf); break;
        case 3: wick_flat_set_union(&b, T_ROOT_PICK, T_PICK_COUNT, leaf); break;
        case 4: wick_flat_set_union(&b, T_ROOT_PICK, T_PICK_LEAF, 0); break;
        case 5: wick_flat_table_begin(&b, T_TABLE_LEAF); break;
        case 6: wick_flat_set_real(&b, T_ROOT_WIDE, 1); break;
        default: break;
        }
        flat_ref root = wick_flat_table_end(&b);
        if (mistake == 7) wick_flat_add_tables(&b, &nothing, 1);
        assert_int_equal(wick_flat_finish(&b, root, 0, &data, &size, &err), WICK_INVALID_ARGUMENT);
        assert_true(strlen(err.message) > 10);
        wick_flat_builder_free(&b);
    }
}

/* A shorter file never passes, whatever is cut; and no byte beyond the end is read. */
static void truncated(void **state)
{
    (void)state;
    size_t size;
    uint8_t *data = make_sample(&size, 0);
    for (size_t cut = 0; cut < size; cut++) {
        struct flat_table root;
        wick_error err = {WICK_OK, ""};
        uint8_t *copy = wick_test_guarded(cut);
        memcpy(copy, data, cut);
        wick_status status = wick_flat_verify(&schema, copy, cut, &root, WICK_INVALID_EXTERNAL_DATA, &err);
        if (status != WICK_OK) {
            assert_int_equal(status, WICK_INVALID_EXTERNAL_DATA);
            assert_true(strlen(err.message) > 10);
        } else {
            assert_true(size - cut < 32); /* only padding was lost */
        }
        wick_test_guarded_free(copy, cut);
    }
    free(data);
}

/* Every byte, changed in several ways: what is still accepted can be read to the last field. */
static void flipped(void **state)
{
    (void)state;
    static const uint8_t masks[] = {0x01, 0x04, 0x80, 0xff};
    size_t size, accepted = 0;
    struct wick_buf out = {0};
    uint8_t *data = make_sample(&size, 0), *copy = wick_test_guarded(size);
    for (size_t at = 0; at < size; at++) {
        for (size_t i = 0; i < sizeof masks; i++) {
            struct flat_table root;
            wick_error err = {WICK_OK, ""};
            memcpy(copy, data, size);
            copy[at] ^= masks[i];
            if (wick_flat_verify(&schema, copy, size, &root, WICK_INVALID_PROGRAM, &err) == WICK_OK) {
                out.size = 0;
                wick_flat_print_json(&schema, T_TABLE_ROOT, root, 0, 0, &out);
                assert_true(!out.failed && out.size > 2);
                accepted++;
            } else {
                assert_true(strlen(err.message) > 10);
            }
        }
    }
    print_message("%zu of %zu changes accepted\n", accepted, size * sizeof masks);
    assert_in_range(accepted, size / 8, 3 * size); /* scalars and text may change, most references may not */
    wick_buf_free(&out);
    wick_test_guarded_free(copy, size);
    free(data);
}

/* A chain of `depth` tables through `one`, and a root whose vector names one table `width` times. */
static wick_status verify_built(unsigned depth, size_t width, wick_error *err)
{
    struct wick_flat_builder b;
    uint8_t *data;
    size_t size;
    struct flat_table root;
    wick_flat_builder_init(&b, &schema);
    flat_ref at = build_leaf(&b);
    flat_ref *refs = calloc(width + 1, sizeof *refs);
    assert_non_null(refs);
    wick_flat_table_begin(&b, T_TABLE_ROOT);
    at = wick_flat_table_end(&b);
    for (unsigned i = 1; i < depth; i++) {
        wick_flat_table_begin(&b, T_TABLE_ROOT);
        wick_flat_set_ref(&b, T_ROOT_ONE, at);
        at = wick_flat_table_end(&b);
    }
    if (width) {
        for (size_t i = 0; i < width; i++) refs[i] = at;
        flat_ref list = wick_flat_add_tables(&b, refs, width);
        wick_flat_table_begin(&b, T_TABLE_ROOT);
        wick_flat_set_ref(&b, T_ROOT_CHILDREN, list);
        at = wick_flat_table_end(&b);
    }
    WICK_ASSERT_OK(wick_flat_finish(&b, at, 0, &data, &size, err), err);
    wick_status status = wick_flat_verify(&schema, data, size, &root, WICK_INVALID_PROGRAM, err);
    wick_flat_builder_free(&b);
    free(refs);
    return status;
}

static void limits(void **state)
{
    (void)state;
    wick_error err = {WICK_OK, ""};
    assert_int_equal(verify_built(WICK_FLAT_DEPTH_MAX, 0, &err), WICK_OK);
    assert_int_equal(verify_built(WICK_FLAT_DEPTH_MAX + 1, 0, &err), WICK_INVALID_PROGRAM);
    assert_non_null(strstr(err.message, "deep"));
    assert_int_equal(verify_built(60, 1000, &err), WICK_OK);      /* 60,000 visits */
    assert_int_equal(verify_built(60, 100000, &err), WICK_INVALID_PROGRAM); /* 6 million would be */
    assert_non_null(strstr(err.message, "too many"));
}

/* A long string that many tables share: reading each would be quadratic. */
static void sharing(void **state)
{
    (void)state;
    enum { TABLES = 2000 };
    struct wick_flat_builder b;
    struct flat_table root;
    wick_error err = {WICK_OK, ""};
    uint8_t *data;
    size_t size;
    flat_ref refs[TABLES];
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    wick_flat_builder_init(&b, &schema);
    flat_ref name = wick_flat_add_string(&b, (struct wick_str){text, 1 << 20});
    for (int i = 0; i < TABLES; i++) {
        wick_flat_table_begin(&b, T_TABLE_ROOT);
        wick_flat_set_ref(&b, T_ROOT_NAME, name);
        refs[i] = wick_flat_table_end(&b);
    }
    flat_ref list = wick_flat_add_tables(&b, refs, TABLES);
    wick_flat_table_begin(&b, T_TABLE_ROOT);
    wick_flat_set_ref(&b, T_ROOT_CHILDREN, list);
    WICK_ASSERT_OK(wick_flat_finish(&b, wick_flat_table_end(&b), 0, &data, &size, &err), &err);
    assert_int_equal(wick_flat_verify(&schema, data, size, &root, WICK_INVALID_PROGRAM, &err), WICK_INVALID_PROGRAM);
    wick_flat_builder_free(&b);
    free(text);
}

static void idents(void **state)
{
    (void)state;
    size_t size;
    struct flat_table root;
    wick_error err;
    uint8_t *data = make_sample(&size, 0);
    memcpy(data + 4, "SM00", 4);
    WICK_ASSERT_OK(wick_flat_verify(&schema, data, size, &root, WICK_INVALID_PROGRAM, &err), &err);
    memcpy(data + 4, "SM99", 4);
    assert_int_equal(wick_flat_verify(&schema, data, size, &root, WICK_INVALID_PROGRAM, &err), WICK_INVALID_PROGRAM);
    assert_non_null(strstr(err.message, "SM01"));
    assert_int_equal(wick_flat_verify(&schema, data, size, &root, WICK_INVALID_PROGRAM, NULL), WICK_INVALID_PROGRAM);
    assert_null(root.at);
    free(data);
}

static void json(void **state)
{
    (void)state;
    static const char expected[] = "{\n  \"wide\": 18446744073709551615,\n  \"colour\": \"BLUE\",\n  \"blob\": [9, 8, 7],\n"
                                   "  \"reals\": [1.5, -2.25, 8.0947715414629834e-320],\n  \"children\": [\n    {\n      \"name\": \"caf\xc3\xa9\",\n"
                                   "      \"small\": 5\n    },\n    {\n      \"name\": \"\"\n    }\n  ],\n"
                                   "  \"pick_type\": \"Leaf\",\n  \"pick\": {},\n  \"live\": true,\n  \"ratio\": 0.5\n}";
    size_t size;
    struct flat_table root;
    struct wick_buf out = {0};
    wick_error err;
    uint8_t *data = make_sample(&size, 0);
    WICK_ASSERT_OK(wick_flat_verify(&schema, data, size, &root, WICK_INVALID_PROGRAM, &err), &err);
    wick_flat_print_json(&schema, T_TABLE_ROOT, root, 0, 0, &out);
    assert_string_equal(out.data, expected);
    out.size = 0;
    wick_flat_print_json(&schema, T_TABLE_ROOT, root, 2, 0, &out);
    assert_non_null(strstr(out.data, "\"blob\": {\"bytes\": 3, \"omitted\": true}"));
    wick_buf_free(&out);
    free(data);
}

static void schema_text(void **state)
{
    (void)state;
    struct wick_buf out = {0};
    wick_flat_print_schema(&schema, &out);
    assert_non_null(strstr(out.data, "enum Colour : short {\n  RED = 0,\n  BLUE = 300,\n}"));
    assert_non_null(strstr(out.data, "  small: byte = -1;\n"));
    assert_non_null(strstr(out.data, "  blob: [ubyte] (force_align: 32);\n"));
    assert_non_null(strstr(out.data, "union Pick {\n  Leaf,\n  More: Root,\n}"));
    assert_non_null(strstr(out.data, "root_type Root;\nfile_identifier \"SM01\";\n"));
    wick_buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(build_and_read), cmocka_unit_test(deterministic), cmocka_unit_test(mistakes), cmocka_unit_test(truncated),
        cmocka_unit_test(flipped),        cmocka_unit_test(limits),        cmocka_unit_test(sharing),  cmocka_unit_test(idents),
        cmocka_unit_test(json),           cmocka_unit_test(schema_text),
    };
    return WICK_TEST_MAIN(tests);
}
