/* Data files of the original open; one that is written reads back; hostile ones are refused. */
#include "pte/golden_test.h"
#include "pte/ptd.h"
#include "pte/write.h"

static void open_one(const char *path, void *user)
{
    size_t size;
    struct wick_ptd_file file;
    wick_error err;
    uint8_t *data = golden_load(path, &size);
    WICK_ASSERT_OK(wick_ptd_open(&file, data, size, &err), &err);
    for (uint32_t i = 0; i < wick_ptd_count(&file); i++) {
        struct wick_ptd_entry entry, again;
        WICK_ASSERT_OK(wick_ptd_entry_at(&file, i, &entry, &err), &err);
        WICK_ASSERT_OK(wick_ptd_find(&file, entry.key, &again, &err), &err);
        assert_ptr_equal(entry.blob.data, again.blob.data);
        assert_true(entry.blob.data >= data && entry.blob.data + entry.blob.size <= data + size);
        assert_int_equal((entry.blob.data - data) % 128, 0);
        if (entry.has_layout) assert_int_equal(entry.nbytes, entry.blob.size);
    }
    free(data);
    *(int *)user += 1;
}

static void golden_files(void **state)
{
    (void)state;
    int opened = 0;
    WICK_NEED(golden_root());
    golden_walk(golden_root(), ".ptd", SIZE_MAX, open_one, &opened);
    assert_true(opened >= 2);
}

static void golden_layouts(void **state)
{
    (void)state;
    size_t size;
    struct wick_ptd_file file;
    struct wick_ptd_entry entry;
    wick_error err;
    const char *path = wick_test_golden("programs/ext_portable.ptd");
    WICK_NEED(path);
    uint8_t *data = golden_load(path, &size);
    WICK_ASSERT_OK(wick_ptd_open(&file, data, size, &err), &err);
    assert_int_equal(file.flatbuffer_offset, WICK_PTD_BLOCK_BYTES);
    assert_int_equal(file.segment_base + file.segment_bytes, size);
    assert_true(wick_ptd_count(&file) > 0);
    assert_int_equal(wick_ptd_find(&file, WICK_STR("no such key"), &entry, &err), WICK_NOT_FOUND);
    assert_non_null(strstr(err.message, "no such key"));
    for (uint32_t i = 0; i < wick_ptd_count(&file); i++) {
        WICK_ASSERT_OK(wick_ptd_entry_at(&file, i, &entry, &err), &err);
        assert_true(entry.has_layout && entry.shape.dtype == WICK_DTYPE_F32);
    }
    free(data);
}

/* Two tensors that share a segment and a blob without layout: 60 and 20 bytes, as in a Linear(5, 3). */
static uint8_t *write_sample(size_t *size)
{
    int32_t weight_sizes[] = {3, 5}, flat_sizes[] = {15};
    struct wick_shape weight = wick_shape_make(WICK_DTYPE_F32, 2, weight_sizes), flat = wick_shape_make(WICK_DTYPE_F32, 1, flat_sizes);
    struct wick_pte_segment segments[] = {{0, 60}, {0, 20}};
    struct wick_ptd_named named[] = {{WICK_STR("l.weight"), 0, &weight}, {WICK_STR("l.flat"), 0, &flat}, {WICK_STR("blob"), 1, NULL}};
    struct wick_ptd_program program = {segments, 2, named, 3};
    uint64_t bytes;
    uint8_t *head;
    size_t head_size;
    wick_error err;
    WICK_ASSERT_OK(wick_pte_layout(segments, NULL, 2, 128, &bytes, &err), &err);
    assert_int_equal(segments[1].offset, 128);
    WICK_ASSERT_OK(wick_ptd_render(&program, 128, &head, &head_size, &err), &err);
    uint64_t base = wick_pte_segment_base(head_size, 128);
    *size = (size_t)(base + bytes);
    uint8_t *data = NULL;
    if (posix_memalign((void **)&data, 64, *size) != 0) abort();
    memset(data, 0, *size);
    memcpy(data, head, head_size);
    memset(data + base, 0x11, 60);
    memset(data + base + 128, 0x22, 20);
    wick_pte_render_free(head);
    return data;
}

static void written(void **state)
{
    (void)state;
    size_t size;
    struct wick_ptd_file file;
    struct wick_ptd_entry entry;
    wick_error err;
    uint8_t *data = write_sample(&size);
    WICK_ASSERT_OK(wick_ptd_open(&file, data, size, &err), &err);
    assert_int_equal(wick_ptd_count(&file), 3);
    WICK_ASSERT_OK(wick_ptd_find(&file, WICK_STR("l.weight"), &entry, &err), &err);
    assert_true(entry.has_layout && entry.shape.rank == 2 && entry.shape.sizes[1] == 5 && entry.nbytes == 60 && entry.blob.data[59] == 0x11);
    WICK_ASSERT_OK(wick_ptd_find(&file, WICK_STR("blob"), &entry, &err), &err);
    assert_true(!entry.has_layout && entry.blob.size == 20 && entry.blob.data[0] == 0x22);
    free(data);
}

static void refuse(size_t offset, uint64_t value, size_t bytes)
{
    size_t size;
    struct wick_ptd_file file;
    wick_error err = {WICK_OK, ""};
    uint8_t *data = write_sample(&size);
    memcpy(data + offset, &value, bytes);
    assert_int_equal(wick_ptd_open(&file, data, size, &err), WICK_INVALID_EXTERNAL_DATA);
    assert_true(strlen(err.message) > 10);
    free(data);
}

static void hostile(void **state)
{
    (void)state;
    size_t size;
    uint8_t *data = write_sample(&size);
    uint64_t base;
    memcpy(&base, data + 32, 8);
    uint64_t segment_bytes = size - base;
    free(data);
    static const uint32_t roots[] = {0, 3, 0x7ffffffc, UINT32_MAX};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(roots); i++) refuse(0, roots[i], 4);
    refuse(0, (uint32_t)(size - 1), 4);
    refuse(4, 0, 4);                 /* identifier */
    refuse(8, 0, 4);                 /* header magic: the header is mandatory */
    refuse(12, 39, 4);               /* header length */
    refuse(16, UINT64_MAX, 8);       /* flatbuffer_offset */
    refuse(24, UINT64_MAX - 47, 8);  /* offset + size wraps to 0 */
    refuse(32, UINT64_MAX - 7, 8);   /* segment base */
    refuse(40, segment_bytes + 1, 8); /* more segment data than file */
    refuse(40, 147, 8);              /* less than the segments need */
}

static void cut_off(void **state)
{
    (void)state;
    size_t size;
    uint8_t *data = write_sample(&size);
    for (size_t cut = 0; cut < size; cut++) {
        struct wick_ptd_file file;
        wick_error err = {WICK_OK, ""};
        uint8_t *copy = golden_copy(data, cut);
        assert_int_equal(wick_ptd_open(&file, copy, cut, &err), WICK_INVALID_EXTERNAL_DATA);
        char text[32];
        snprintf(text, sizeof text, " %zu", cut);
        assert_non_null(strstr(err.message, text));
        free(copy);
    }
    free(data);
}

/* A negative size, more bytes than the segment has, a dim order that is no permutation, a segment that is not there. */
static void layouts(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct wick_shape shape = {.dtype = WICK_DTYPE_F32, .rank = 1, .sizes = {i == 0 ? -1 : i == 1 ? 5 : 4}};
        if (i == 2) shape.dim_order[0] = 1;
        struct wick_pte_segment segment = {0, 16};
        struct wick_ptd_named named = {WICK_STR("x"), i == 3, &shape};
        struct wick_ptd_program program = {&segment, 1, &named, 1};
        struct wick_ptd_file file;
        wick_error err = {WICK_OK, ""};
        uint8_t *head;
        size_t size;
        WICK_ASSERT_OK(wick_ptd_render(&program, 16, &head, &size, &err), &err);
        uint8_t *data = NULL;
        if (posix_memalign((void **)&data, 64, size + 32) != 0) abort();
        memset(data, 0, size + 32);
        memcpy(data, head, size);
        assert_int_equal(wick_ptd_open(&file, data, size + 32, &err), WICK_INVALID_EXTERNAL_DATA);
        assert_non_null(strstr(err.message, "named_data[0]"));
        wick_pte_render_free(head);
        free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_files), cmocka_unit_test(golden_layouts), cmocka_unit_test(written),
        cmocka_unit_test(hostile),      cmocka_unit_test(cut_off),        cmocka_unit_test(layouts),
    };
    return WICK_TEST_MAIN(tests);
}
