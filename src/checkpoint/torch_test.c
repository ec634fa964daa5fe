/* .pth files: views and dtypes as torch itself wrote them, the originals' checkpoints, and hostile archives and pickles. */
#include "checkpoint/sample_files_test.h"

/* tests/tools/make_torch_views.py: the file's tensors, one after the other, are torch_views.f32. */
static void check_views(const char *name, const char *format)
{
    struct wick_checkpoint *ckpt = open_ok(wick_test_repo(name));
    struct wick_map want;
    wick_error err;
    WICK_ASSERT_OK(wick_map_open(&want, wick_test_repo("tests/data/torch_views.f32"), &err), &err);
    assert_string_equal(wick_checkpoint_format(ckpt), format);
    assert_int_equal(wick_checkpoint_count(ckpt), 24);
    size_t at = 0;
    for (size_t i = 0; i < wick_checkpoint_count(ckpt); i++) {
        const struct wick_ckpt_tensor *tensor = wick_checkpoint_tensor(ckpt, i);
        size_t numel = (size_t)tensor->numel, step = numel / 3 + 1;
        float *values = read_all(tensor), *parts = calloc(numel + 1, sizeof *parts);
        if (memcmp(values, want.data + at, numel * sizeof *values) != 0) fail_msg("%s differs", tensor->name);
        for (size_t first = 0; first < numel; first += step)
            WICK_ASSERT_OK(wick_ckpt_read_f32(tensor, first, WICK_MIN(step, numel - first), parts + first, &err), &err);
        assert_memory_equal(parts, values, numel * sizeof *values);
        assert_ptr_equal(wick_checkpoint_find(ckpt, tensor->name), tensor);
        at += numel * sizeof *values;
        free(values);
        free(parts);
        wick_ckpt_tensor_done(ckpt, tensor);
    }
    assert_int_equal(at, want.size);
    assert_null(wick_checkpoint_find(ckpt, "absent"));
    wick_map_close(&want);
    wick_checkpoint_close(ckpt);
}

static void views(void **state)
{
    (void)state;
    check_views("tests/data/torch_views.pt", "torch");
    check_views("tests/data/torch_protocol4.pt", "torch");
    check_views("tests/data/torch_legacy_views.pt", "legacy torch");
}

static void view_layout(void **state)
{
    (void)state;
    struct wick_checkpoint *ckpt = open_ok(wick_test_repo("tests/data/torch_views.pt"));
    const struct wick_ckpt_tensor *plain = wick_checkpoint_find(ckpt, "plain"), *tied = wick_checkpoint_find(ckpt, "tied");
    const struct wick_ckpt_tensor *transposed = wick_checkpoint_find(ckpt, "transposed"), *i64 = wick_checkpoint_find(ckpt, "i64"),
    *wide = wick_checkpoint_find(ckpt, "bf16_transposed");
    assert_ptr_equal(plain->data, tied->data);
    assert_true(plain->contiguous && !transposed->contiguous);
    assert_int_equal(transposed->strides[2], 56);
    assert_int_equal(plain->nbytes, 6 * 7 * 8 * 4);
    assert_null(wick_checkpoint_find(ckpt, "empty")->data);
    int64_t raw[49];
    uint16_t half[2];
    wick_error err;
    WICK_ASSERT_OK(wick_ckpt_read_raw(i64, 0, 49, raw, &err), &err);
    assert_true(raw[0] == -9 * 1000003LL && raw[48] == 39 * 1000003LL);
    WICK_ASSERT_OK(wick_ckpt_read_raw(wide, 1, 2, half, &err), &err);
    assert_memory_equal(&half[0], wide->data + 9 * 2, 2);
    assert_memory_equal(&half[1], wide->data + 18 * 2, 2);
    wick_checkpoint_close(ckpt);
}

static void originals(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        size_t tensors;
        const char *name;
        enum wick_ckpt_storage storage;
    } cases[] = {
        {"story/consolidated.00.pth", 57, "tok_embeddings.weight", WICK_CKPT_BF16},
        {"checkpoints/llama2/consolidated.00.pth", 21, "norm.weight", WICK_CKPT_F32},
        {"checkpoints/qat_lora/consolidated.00.pth", 79, "layers.0.attention.wq.weight", WICK_CKPT_I8},
    };
    const char *found = NULL;
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cases); i++) {
        const char *path = wick_test_golden(cases[i].path);
        if (!path) continue;
        found = path;
        struct wick_checkpoint *ckpt = open_ok(path);
        assert_int_equal(wick_checkpoint_count(ckpt), cases[i].tensors);
        const struct wick_ckpt_tensor *tensor = wick_checkpoint_find(ckpt, cases[i].name);
        assert_non_null(tensor);
        assert_int_equal(tensor->storage, cases[i].storage);
        wick_checkpoint_close(ckpt);
    }
    WICK_NEED(found);
}

static void archives(void **state)
{
    (void)state;
    for (int zip64 = 0; zip64 < 2; zip64++) {
        struct wick_buf b = {0};
        put_sample_pth(&b, zip64);
        struct wick_checkpoint *ckpt = open_ok(save("sample.pth", &b));
        assert_int_equal(wick_checkpoint_count(ckpt), 2);
        float *values = read_all(wick_checkpoint_find(ckpt, "b"));
        for (int i = 0; i < 24; i++) assert_true(values[i] == (float)(i % 4 * 6 + i / 4));
        free(values);
        wick_checkpoint_close(ckpt);
    }
}

/* One entry "x" beside a good data.pkl is bent. */
static void bad_archives(void **state)
{
    (void)state;
    struct wick_buf b = {0};
    const struct zip_part none = {.name = "other/file", .data = "x", .size = 1};
    put_zip(&b, &none, 1, false);
    open_fails(save("a.pth", &b), WICK_INVALID_CHECKPOINT, "no file of torch.save");
    const struct zip_part twice[] = {{.name = "a/data.pkl", .data = "x", .size = 1}, {.name = "a/data.pkl", .data = "x", .size = 1}};
    put_zip(&b, twice, 2, false);
    open_fails(save("b.pth", &b), WICK_INVALID_CHECKPOINT, "duplicate entry 'a/data.pkl'");
    const struct zip_part deflated = {.name = "a/data.pkl", .data = "x", .size = 1, .method = 8};
    put_zip(&b, &deflated, 1, false);
    open_fails(save("c.pth", &b), WICK_NOT_SUPPORTED, "'a/data.pkl' is compressed (deflate");
    const struct zip_part encrypted = {.name = "a/data.pkl", .data = "x", .size = 1, .flags = 1};
    put_zip(&b, &encrypted, 1, false);
    open_fails(save("d.pth", &b), WICK_NOT_SUPPORTED, "is encrypted");
    const struct zip_part big[] = {{.name = "a/data.pkl", .data = "x", .size = 1}, {.name = "a/byteorder", .data = "big", .size = 3}};
    put_zip(&b, big, 2, false);
    open_fails(save("e.pth", &b), WICK_NOT_SUPPORTED, "byteorder");

    put_sample_pth(&b, false);
    size_t whole = b.size;
    open_fails(save_bytes("f.pth", b.data, whole - 1), WICK_INVALID_CHECKPOINT, "no end record");
    open_fails(save_bytes("f.pth", b.data, whole / 2), WICK_INVALID_CHECKPOINT, "no end record");
    open_fails(save_bytes("f.pth", b.data, 4), WICK_INVALID_CHECKPOINT, "no end record");
    set_int(&b, whole - 6, whole, 4); /* directory beyond the end */
    open_fails(save_bytes("f.pth", b.data, whole), WICK_INVALID_CHECKPOINT, "directory at");
    wick_buf_free(&b);
    put_sample_pth(&b, false);
    set_int(&b, whole - 12, 60000, 2);
    open_fails(save_bytes("f.pth", b.data, whole), WICK_INVALID_CHECKPOINT, "60000 entries");
    wick_buf_free(&b);
    put_sample_pth(&b, true);
    set_int(&b, b.size - 22 - 12, UINT64_MAX - 10, 8); /* zip64 locator */
    open_fails(save("g.pth", &b), WICK_INVALID_CHECKPOINT, "no zip64 end record");
    put_sample_pth(&b, false);
    b.data[30]++; /* first letter of the first local name */
    open_fails(save("h.pth", &b), WICK_INVALID_CHECKPOINT, "disagrees with the directory");
}

/* Opens a .pth whose data.pkl is these bytes (without PROTO and STOP). */
static void pickle_fails(struct wick_buf *pickle, wick_status status, const char *part)
{
    struct wick_buf b = {0};
    put_pth(&b, pickle, false);
    wick_buf_free(pickle);
    open_fails(save("p.pth", &b), status, part);
}

static void text_fails(const char *pickle, wick_status status, const char *part)
{
    struct wick_buf p = {0};
    wick_buf_text(&p, pickle);
    pickle_fails(&p, status, part);
}

static void bad_pickles(void **state)
{
    (void)state;
    text_fails("cos\nsystem\n(X\x04", WICK_NOT_SUPPORTED, "global os.system is not allowed");
    text_fails("cbuiltins\neval\n", WICK_NOT_SUPPORTED, "global builtins.eval is not allowed");
    text_fails("X\x02", WICK_INVALID_CHECKPOINT, "cut off");
    text_fails("i", WICK_NOT_SUPPORTED, "opcode 0x69 ('i') is not allowed");
    text_fails("\x82", WICK_NOT_SUPPORTED, "opcode 0x82");
    text_fails("}}\x81", WICK_INVALID_CHECKPOINT, "call of what is no global");
    text_fails("cos\x1b[2J\nx\n", WICK_INVALID_CHECKPOINT, "no printable text");
    text_fails("}}", WICK_INVALID_CHECKPOINT, "left on the stack");
    text_fails("(", WICK_INVALID_CHECKPOINT, "stack is empty");
    text_fails("t", WICK_INVALID_CHECKPOINT, "no mark");
    text_fails("}(}u", WICK_INVALID_CHECKPOINT, "key without a value");
    text_fails("](}u", WICK_INVALID_CHECKPOINT, "no list or dict");
    text_fails("}h\x07", WICK_INVALID_CHECKPOINT, "memo entry is not set");
    text_fails("}r\xff\xff\xff\xff", WICK_INVALID_CHECKPOINT, "memo index");
    text_fails("N)R", WICK_INVALID_CHECKPOINT, "call of what is no global");
    text_fails("ccollections\nOrderedDict\n}R", WICK_INVALID_CHECKPOINT, "without a tuple");
    text_fails("\x80\x06", WICK_INVALID_CHECKPOINT, "protocol");
    text_fails("\x8a\x09", WICK_INVALID_CHECKPOINT, "more than 64 bits");
    text_fails("\x8d\xff\xff\xff\xff\xff\xff\xff\x7f", WICK_INVALID_CHECKPOINT, "cut off");
    text_fails("]", WICK_INVALID_CHECKPOINT, "not: list");
    text_fails("ctorch._utils\n_rebuild_tensor_v2\n)R", WICK_INVALID_CHECKPOINT, "not: object");
    text_fails("}X\x01", WICK_INVALID_CHECKPOINT, "");
}

static void loops(void **state)
{
    (void)state;
    /* A dict that holds itself, as "model" and otherwise, is not walked for ever. */
    struct wick_buf p = {0}, b = {0};
    wick_buf_append(&p, "}q\x00(X\x05\0\0\0modelh\x00X\x01\0\0\0xh\x00u", 25);
    put_pth(&b, &p, false);
    wick_buf_free(&p);
    struct wick_checkpoint *ckpt = open_ok(save("loop.pth", &b));
    assert_int_equal(wick_checkpoint_count(ckpt), 0);
    wick_checkpoint_close(ckpt);
    /* 100,000 nested tuples. */
    wick_buf_text(&p, "}");
    pickle_str(&p, "x");
    wick_buf_text(&p, ")");
    for (int i = 0; i < 100000; i++) wick_buf_text(&p, "\x85");
    wick_buf_text(&p, "s");
    put_pth(&b, &p, false);
    wick_buf_free(&p);
    wick_checkpoint_close(open_ok(save("deep.pth", &b)));
}

static void bad_views(void **state)
{
    (void)state;
    static const struct {
        const char *storage, *key;
        int64_t held, offset, sizes[2], strides[2];
        const char *part;
    } cases[] = {
        {"FloatStorage", "0", 24, 1, {4, 6}, {6, 1}, "tensor 'w': its sizes and strides leave the storage of 24"},
        {"FloatStorage", "0", 24, -1, {4, 6}, {6, 1}, "leave the storage"},
        {"FloatStorage", "0", 24, INT64_MAX, {1, 1}, {1, 1}, "leave the storage"},
        {"FloatStorage", "0", 24, 25, {0, 1}, {1, 1}, "its offset is outside"},
        {"FloatStorage", "0", 24, 0, {3, 2}, {INT64_MAX, INT64_MAX}, "leave the storage"},
        {"FloatStorage", "0", 24, 23, {2, 2}, {-1, 1}, "stride is negative"},
        {"FloatStorage", "0", 24, 0, {-4, 6}, {6, 1}, "size -4 of dim 0"},
        {"FloatStorage", "0", 24, 0, {INT64_MAX, 6}, {6, 1}, "out of range"},
        {"FloatStorage", "0", 24, 0, {INT32_MAX, INT32_MAX}, {0, 0}, "more than"},
        {"FloatStorage", "0", 23, 0, {1, 1}, {1, 1}, "storage of 23 elements"},
        {"FloatStorage", "0", -1, 0, {1, 1}, {1, 1}, "storage of -1 elements"},
        {"DoubleStorage", "0", 24, 0, {1, 1}, {1, 1}, "storage of 24 elements (8 bytes each) in data/0 of 96"},
        {"FloatStorage", "1", 24, 0, {4, 6}, {6, 1}, "no entry data/1"},
        {"FloatStorage", "../data/0", 24, 0, {4, 6}, {6, 1}, "no entry data/../data/0"},
    };
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cases); i++) {
        struct wick_buf p = {0};
        wick_buf_text(&p, "}");
        pickle_str(&p, "w");
        pickle_view(&p, cases[i].storage, cases[i].key, cases[i].held, cases[i].offset, 2, cases[i].sizes, cases[i].strides);
        wick_buf_text(&p, "s");
        pickle_fails(&p, WICK_INVALID_CHECKPOINT, cases[i].part);
    }
}

static void duplicate(void **state)
{
    (void)state;
    struct wick_buf p = {0};
    wick_buf_text(&p, "}(");
    for (int i = 0; i < 2; i++) {
        pickle_str(&p, "same");
        pickle_view(&p, "FloatStorage", "0", 24, 0, 1, (int64_t[]){24}, (int64_t[]){1});
    }
    wick_buf_text(&p, "u");
    pickle_fails(&p, WICK_INVALID_CHECKPOINT, "duplicate tensor 'same'");
}

/* Bytes of torch_legacy.pt with `size` of them from `at` replaced; opened, it must fail. */
static void legacy_fails(size_t at, const void *bytes, size_t size, size_t kept, wick_status want, const char *part)
{
    struct wick_map map;
    wick_error err;
    WICK_ASSERT_OK(wick_map_open(&map, wick_test_repo("tests/data/torch_legacy.pt"), &err), &err);
    uint8_t copy[357];
    assert_int_equal(map.size, sizeof copy);
    memcpy(copy, map.data, sizeof copy);
    memcpy(copy + at, bytes, size);
    wick_map_close(&map);
    open_fails(save_bytes("legacy.pt", copy, kept), want, part);
}

/* The file of torch_legacy.pt: magic 0-14, version 15-20, system 21-136, weights 137-312, keys 313-340, one record of 16 bytes. */
static void legacy(void **state)
{
    (void)state;
    struct wick_checkpoint *ckpt = open_ok(wick_test_repo("tests/data/torch_legacy.pt"));
    assert_int_equal(wick_checkpoint_count(ckpt), 1);
    const struct wick_ckpt_tensor *w = wick_checkpoint_find(ckpt, "w");
    assert_true(w && w->storage == WICK_CKPT_F32 && w->numel == 2);
    wick_checkpoint_close(ckpt);
    legacy_fails(5, "x", 1, 357, WICK_INVALID_CHECKPOINT, "the magic number of torch.save is missing");
    legacy_fails(18, "\xe8", 1, 357, WICK_INVALID_CHECKPOINT, "its version is not 1001");
    legacy_fails(73, "\x89", 1, 357, WICK_NOT_SUPPORTED, "only little-endian");
    legacy_fails(202, "os\nsystem1\n", 11, 357, WICK_NOT_SUPPORTED, "global os.system1 is not allowed");
    legacy_fails(325, "1", 1, 357, WICK_INVALID_CHECKPOINT, "a storage that the weights do not name");
    legacy_fails(341, "\3", 1, 357, WICK_INVALID_CHECKPOINT, "a storage is not as long as the weights say");
    legacy_fails(0, "", 0, 356, WICK_INVALID_CHECKPOINT, "the file is truncated");
    legacy_fails(0, "", 0, 320, WICK_INVALID_CHECKPOINT, "keys of storages");
    char tar[512] = "name";
    memcpy(tar + 257, "ustar", 5);
    open_fails(save_bytes("old.pth", tar, sizeof tar), WICK_NOT_SUPPORTED, "tar archive");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views), cmocka_unit_test(view_layout), cmocka_unit_test(originals), cmocka_unit_test(archives),
        cmocka_unit_test(bad_archives),
        cmocka_unit_test(bad_pickles), cmocka_unit_test(loops), cmocka_unit_test(bad_views), cmocka_unit_test(duplicate), cmocka_unit_test(legacy),
    };
    return WICK_TEST_MAIN(tests);
}
