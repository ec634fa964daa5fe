/* safetensors, one file and sharded: the reference implementation's rules, folders, and what is refused. */
#include "checkpoint/sample_files_test.h"

#include <stdio.h>

static const char *save_header(const char *name, const char *header, size_t data)
{
    struct wick_buf b = {0};
    put_safetensors(&b, header, strlen(header), data);
    return save(name, &b);
}

static void sound(void **state)
{
    (void)state;
    struct wick_checkpoint *ckpt = open_ok(save_header("s.safetensors",
        "{\"__metadata__\":{\"format\":\"pt\",\"note\":\"\\u0000x\"},\"b\":{\"dtype\":\"I16\",\"shape\":[2,1],\"data_offsets\":[1,5]},"
        "\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]},\"e\":{\"dtype\":\"F32\",\"shape\":[0,5],\"data_offsets\":[5,5]}}   ", 5));
    assert_string_equal(wick_checkpoint_format(ckpt), "safetensors");
    assert_int_equal(wick_checkpoint_count(ckpt), 3);
    const struct wick_ckpt_tensor *first = wick_checkpoint_tensor(ckpt, 0), *scalar = wick_checkpoint_find(ckpt, "a");
    assert_string_equal(first->name, "b");
    assert_int_equal(first->rank, 2);
    float *values = read_all(first);
    assert_true(values[0] == 0x0201 && values[1] == 0x0403);
    free(values);
    assert_int_equal(scalar->rank, 0);
    assert_int_equal(scalar->numel, 1);
    assert_int_equal(wick_checkpoint_find(ckpt, "e")->numel, 0);
    struct wick_str text;
    int64_t number = 5;
    wick_error err;
    WICK_ASSERT_OK(wick_checkpoint_meta_str(ckpt, "format", &text, &err), &err);
    assert_true(wick_str_is(text, "pt"));
    WICK_ASSERT_OK(wick_checkpoint_meta_str(ckpt, "note", &text, &err), &err);
    assert_int_equal(text.size, 2);
    assert_int_equal(wick_checkpoint_meta_int(ckpt, "format", &number, &err), WICK_INVALID_TYPE);
    assert_non_null(strstr(err.message, "'format' is string, not integer"));
    assert_int_equal(wick_checkpoint_meta_int(ckpt, "absent", &number, &err), WICK_NOT_FOUND);
    assert_int_equal(number, 5);
    wick_checkpoint_close(ckpt);

    ckpt = open_ok(save_header("only_meta.safetensors", "{\"__metadata__\":{\"a\":\"b\"}}", 0));
    assert_int_equal(wick_checkpoint_count(ckpt), 0);
    assert_null(wick_checkpoint_find(ckpt, "a"));
    wick_checkpoint_close(ckpt);
    wick_checkpoint_close(open_ok(save_header("nothing.safetensors", "{}", 0)));
}

static void refused(void **state)
{
    (void)state;
#define A(dtype, shape, offsets) "{\"a\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}}"
#define TWO(first, shape_a, at_a, second, shape_b, at_b)                                           \
    "{\"" first "\":{\"dtype\":\"U8\",\"shape\":" shape_a ",\"data_offsets\":" at_a "},"              \
    "\"" second "\":{\"dtype\":\"U8\",\"shape\":" shape_b ",\"data_offsets\":" at_b "}}"
    static const struct {
        const char *header;
        size_t data;
        const char *part;
    } cases[] = {
        {TWO("a", "[1]", "[0,1]", "a", "[1]", "[0,1]"), 1, "duplicate object key"},
        {TWO("a", "[1]", "[0,1]", "b", "[1]", "[2,3]"), 3, "tensor 'b': a hole"},
        {TWO("a", "[2]", "[0,2]", "b", "[2]", "[1,3]"), 3, "tensor 'b': its data overlaps"},
        {A("U8", "[2]", "[0,2]"), 3, "1 bytes of data follow"},
        {A("U8", "[2]", "[0,2]"), 1, "beyond the 1 bytes of data"},
        {A("U8", "[2]", "[1,0]"), 2, "no pair of rising integers"},
        {A("U8", "[2]", "[-1,1]"), 2, "no pair of rising integers"},
        {A("U8", "[2]", "[0,1,2]"), 2, "no pair of rising integers"},
        {A("U8", "[2]", "7"), 2, "no pair of rising integers"},
        {A("U8", "[2]", "[0.0,2.0]"), 2, "no pair of rising integers"},
        {A("U8", "[2]", "[0,18446744073709551616]"), 2, "too big integer"},
        {A("F32", "[2]", "[0,2]"), 2, "span 2 bytes, its shape needs 8"},
        {A("U8", "[-2]", "[0,2]"), 2, "size -2 of dim 0"},
        {A("U8", "[4611686018427387904,4]", "[0,0]"), 0, "out of range"},
        {A("U8", "[2147483647,2147483647,0]", "[0,0]"), 0, "more than"},
        {A("U8", "[\"x\"]", "[0,2]"), 2, "no integer"},
        {A("U8", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,1]"), 1, "more than 16 dims"},
        {A("U8", "2", "[0,2]"), 2, "'shape' is no array"},
        {"{\"a\":[]}", 0, "is no object"},
        {"{\"a\":{}}", 0, "'dtype' is no string"},
        {"{\"a\\nb\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}", 1, "no printable text"},
        {"{\"__metadata__\":{\"a\":1}}", 0, "'a' is no string"},
        {"{\"__metadata__\":[]}", 0, "__metadata__ is no object"},
        {"{\"a\":", 0, "JSON, line 1"},
    };
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cases); i++) open_fails(save_header("x.safetensors", cases[i].header, cases[i].data),
                                                                   WICK_INVALID_CHECKPOINT, cases[i].part);
    open_fails(save_header("x.safetensors", A("F4", "[2]", "[0,1]"), 1), WICK_NOT_SUPPORTED, "dtype 'F4' is not read");
#undef TWO
#undef A
}

static void lengths(void **state)
{
    (void)state;
    struct wick_buf b = {0};
    put_safetensors(&b, "{}\0\0", 4, 0); /* padded with NUL: refused, as the reference does */
    open_fails(save("n.safetensors", &b), WICK_INVALID_CHECKPOINT, "NUL byte in the header");
    put_safetensors(&b, "{}", 2, 0);
    set_int(&b, 0, 3, 8);
    open_fails(save_bytes("n.safetensors", b.data, b.size), WICK_INVALID_CHECKPOINT, "header of 3 bytes does not fit");
    set_int(&b, 0, 100000001, 8);
    open_fails(save_bytes("n.safetensors", b.data, b.size), WICK_INVALID_CHECKPOINT, "larger than 100000000");
    set_int(&b, 0, UINT64_MAX, 8);
    open_fails(save_bytes("n.safetensors", b.data, b.size), WICK_INVALID_CHECKPOINT, "larger than");
    open_fails(save_bytes("n.safetensors", b.data, 7), WICK_INVALID_CHECKPOINT, "7 bytes is none of");
    open_fails(save_bytes("n.safetensors", b.data, 0), WICK_INVALID_CHECKPOINT, "the file is empty");
    wick_buf_free(&b);
    open_fails("/nowhere/x.safetensors", WICK_NOT_FOUND, "cannot open");
}

/* ---- shards and folders ---- */

static const char *shard(const char *name)
{
    return name[0] == 'a' ? "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}"
                          : "{\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}";
}

static const char *folder_path(const char *folder, const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const char *make_folder(const char *name)
{
    wick_error err;
    const char *path = wick_test_temp(name);
    WICK_ASSERT_OK(wick_make_folder(path, &err), &err);
    return path;
}

static void sharded(void **state)
{
    (void)state;
    const char *folder = make_folder("sharded");
    save_header("sharded/a.safetensors", shard("a"), 1);
    save_header("sharded/b.safetensors", shard("b"), 2);
    const char *index = "{\"metadata\":{\"total_size\":3},\"weight_map\":{\"b\":\"b.safetensors\",\"a\":\"a.safetensors\"}}";
    save_bytes("sharded/model.safetensors.index.json", index, strlen(index));
    const char *paths[] = {folder, folder_path(folder, "model.safetensors.index.json")};
    for (int i = 0; i < 2; i++) {
        struct wick_checkpoint *ckpt = open_ok(paths[i]);
        assert_int_equal(wick_checkpoint_count(ckpt), 2);
        assert_string_equal(wick_checkpoint_format(ckpt), "safetensors");
        float *values = read_all(wick_checkpoint_find(ckpt, "b"));
        assert_true(values[0] == 0 && values[1] == 1);
        free(values);
        wick_ckpt_tensor_done(ckpt, wick_checkpoint_find(ckpt, "a"));
        wick_checkpoint_close(ckpt);
    }
    static const struct {
        const char *index, *part;
        wick_status status;
    } cases[] = {
        {"{\"weight_map\":{\"a\":\"a.safetensors\",\"c\":\"a.safetensors\"}}", "tensor 'c' is not in a.safetensors", WICK_INVALID_CHECKPOINT},
        {"{\"weight_map\":{\"a\":\"b.safetensors\",\"b\":\"a.safetensors\"}}", "tensor 'a' is not in b.safetensors", WICK_INVALID_CHECKPOINT},
        {"{\"weight_map\":{\"a\":\"../sharded/a.safetensors\"}}", "no plain file name", WICK_INVALID_CHECKPOINT},
        {"{\"weight_map\":{\"a\":\"..\"}}", "no plain file name", WICK_INVALID_CHECKPOINT},
        {"{\"weight_map\":{\"a\":\"\"}}", "no plain file name", WICK_INVALID_CHECKPOINT},
        {"{\"weight_map\":{\"a\":3}}", "'a' names no file", WICK_INVALID_CHECKPOINT},
        {"{\"weight_map\":{}}", "without a 'weight_map'", WICK_INVALID_CHECKPOINT},
        {"{\"x\":1}", "without a 'weight_map'", WICK_INVALID_CHECKPOINT},
        {"{\"weight_map\":", "JSON, line 1", WICK_INVALID_CHECKPOINT},
        {"{\"weight_map\":{\"a\":\"i.json\"}}", "a shard is itself an index", WICK_INVALID_CHECKPOINT},
    };
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cases); i++)
        open_fails(save_bytes("sharded/i.json", cases[i].index, strlen(cases[i].index)), cases[i].status, cases[i].part);
    struct wick_checkpoint *ckpt;
    wick_error err;
    const char *missing = "{\"weight_map\":{\"a\":\"gone.safetensors\"}}";
    assert_int_equal(wick_checkpoint_open(&ckpt, save_bytes("sharded/i.json", missing, strlen(missing)), &err), WICK_NOT_FOUND);
    assert_non_null(strstr(err.message, "sharded/gone.safetensors"));
    save_header("sharded/twice.safetensors", shard("a"), 1);
    const char *twice = "{\"weight_map\":{\"a\":\"a.safetensors\",\"b\":\"twice.safetensors\"}}";
    open_fails(save_bytes("sharded/i.json", twice, strlen(twice)), WICK_INVALID_CHECKPOINT, "duplicate tensor 'a'");
}

static void folders(void **state)
{
    (void)state;
    open_fails(make_folder("empty"), WICK_NOT_FOUND, "holds no checkpoint");
    make_folder("one");
    struct wick_buf b = {0};
    put_sample_gguf(&b);
    save("one/any.gguf", &b);
    struct wick_checkpoint *ckpt = open_ok(wick_test_temp("one"));
    assert_string_equal(wick_checkpoint_format(ckpt), "gguf");
    wick_checkpoint_close(ckpt);
    put_sample_gguf(&b);
    save("one/other.gguf", &b);
    open_fails(wick_test_temp("one"), WICK_INVALID_ARGUMENT, "2 .gguf files");
    put_sample_pth(&b, false);
    save("one/consolidated.00.pth", &b);
    ckpt = open_ok(wick_test_temp("one"));
    assert_string_equal(wick_checkpoint_format(ckpt), "torch");
    wick_checkpoint_close(ckpt);
    put_sample_pth(&b, false);
    save("one/consolidated.01.pth", &b);
    open_fails(wick_test_temp("one"), WICK_NOT_SUPPORTED, "tensor 'a': how shards cut it is not known");
    save_header("one/model.safetensors", shard("a"), 1);
    ckpt = open_ok(wick_test_temp("one"));
    assert_string_equal(wick_checkpoint_format(ckpt), "safetensors");
    wick_checkpoint_close(ckpt);
}

static void adapter(void **state)
{
    (void)state;
    const char *path = wick_test_golden("checkpoints/lora_base/adapter_model.safetensors");
    WICK_NEED(path);
    struct wick_checkpoint *ckpt = open_ok(path);
    assert_int_equal(wick_checkpoint_count(ckpt), 12);
    wick_checkpoint_close(ckpt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound), cmocka_unit_test(refused), cmocka_unit_test(lengths), cmocka_unit_test(sharded), cmocka_unit_test(folders),
        cmocka_unit_test(adapter),
    };
    return WICK_TEST_MAIN(tests);
}
