/* checkpoint/sample_files_test.h - for the tests of this folder: writes small checkpoints of each format, sound or bent. */
#ifndef WICK_CHECKPOINT_SAMPLE_FILES_H
#define WICK_CHECKPOINT_SAMPLE_FILES_H

#include "base/os.h"
#include "base/str.h"
#include "checkpoint/checkpoint.h"
#include "fixture.h"

#include <stdlib.h>

/* ---- bytes ---- */

static inline void put_int(struct wick_buf *b, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) wick_buf_append(b, &(uint8_t){i < 8 ? (uint8_t)(value >> 8 * i) : 0}, 1);
}

static inline void put_pad(struct wick_buf *b, size_t alignment)
{
    while (b->size % alignment) put_int(b, 0, 1);
}

static inline void set_int(struct wick_buf *b, size_t at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) b->data[at + i] = (char)(value >> 8 * i);
}

/* Saves and empties the buffer; returns the path. */
static inline const char *save_bytes(const char *name, const void *data, size_t size)
{
    const char *path = wick_test_temp(name);
    struct wick_writer *writer;
    wick_error err;
    WICK_ASSERT_OK(wick_writer_open(&writer, path, &err), &err);
    WICK_ASSERT_OK(wick_writer_write(writer, data, size, &err), &err);
    WICK_ASSERT_OK(wick_writer_commit(writer, &err), &err);
    return path;
}

static inline const char *save(const char *name, struct wick_buf *b)
{
    assert_false(b->failed);
    const char *path = save_bytes(name, b->data, b->size);
    wick_buf_free(b);
    return path;
}

/* ---- what a test expects of a file ---- */

static inline struct wick_checkpoint *open_ok(const char *path)
{
    struct wick_checkpoint *ckpt;
    wick_error err;
    WICK_ASSERT_OK(wick_checkpoint_open(&ckpt, path, &err), &err);
    return ckpt;
}

/* The message must name the file and hold `part`. */
static inline void open_fails(const char *path, wick_status want, const char *part)
{
    struct wick_checkpoint *ckpt;
    wick_error err = {0};
    wick_status status = wick_checkpoint_open(&ckpt, path, &err);
    if (status == WICK_OK) fail_msg("opened, but wanted: %s", part);
    if (status != want || !strstr(err.message, part) || !strstr(err.message, strrchr(path, '/')))
        fail_msg("wanted \"%s\" (%x), got \"%s\" (%x)", part, want, err.message, status);
    assert_null(ckpt);
    assert_int_equal(err.status, status);
}

static inline float *read_all(const struct wick_ckpt_tensor *tensor)
{
    float *values = calloc((size_t)tensor->numel + 1, sizeof *values);
    wick_error err;
    assert_non_null(values);
    WICK_ASSERT_OK(wick_ckpt_read_f32(tensor, 0, tensor->numel, values, &err), &err);
    return values;
}

/* ---- zip ---- */

struct zip_part {
    const char *name;
    const void *data;
    size_t size;
    uint16_t method, flags;
};

/* zip64: sizes and offsets in 64-bit fields, with the zip64 end record. */
static inline void put_zip(struct wick_buf *b, const struct zip_part *parts, size_t count, bool zip64)
{
    struct wick_buf directory = {0};
    for (size_t i = 0; i < count; i++) {
        const struct zip_part *p = &parts[i];
        size_t local = b->size, name = strlen(p->name);
        for (int central = 0; central < 2; central++) {
            struct wick_buf *to = central ? &directory : b;
            put_int(to, central ? 0x02014b50 : 0x04034b50, 4);
            if (central) put_int(to, 45, 2);
            put_int(to, 45, 2);
            put_int(to, p->flags, 2);
            put_int(to, p->method, 2);
            put_int(to, 0, 8); /* time, date, crc */
            put_int(to, zip64 ? UINT32_MAX : p->size, 4);
            put_int(to, zip64 ? UINT32_MAX : p->size, 4);
            put_int(to, name, 2);
            put_int(to, zip64 ? (central ? 28 : 20) : 0, 2);
            if (central) put_int(to, 0, 10); /* comment, disk, attributes */
            if (central) put_int(to, zip64 ? UINT32_MAX : local, 4);
            wick_buf_append(to, p->name, name);
            if (!zip64) continue;
            put_int(to, 1, 2);
            put_int(to, central ? 24 : 16, 2);
            put_int(to, p->size, 8);
            put_int(to, p->size, 8);
            if (central) put_int(to, local, 8);
        }
        wick_buf_append(b, p->data, p->size);
    }
    size_t begin = b->size, end = begin + directory.size;
    wick_buf_append(b, directory.data, directory.size);
    if (zip64) {
        put_int(b, 0x06064b50, 4);
        put_int(b, 44, 8);
        put_int(b, 45 | 45 << 16, 4);
        put_int(b, 0, 8);
        put_int(b, count, 8);
        put_int(b, count, 8);
        put_int(b, directory.size, 8);
        put_int(b, begin, 8);
        put_int(b, 0x07064b50, 4);
        put_int(b, 0, 4);
        put_int(b, end, 8);
        put_int(b, 1, 4);
    }
    put_int(b, 0x06054b50, 4);
    put_int(b, 0, 4);
    put_int(b, zip64 ? 0xffff : count, 2);
    put_int(b, zip64 ? 0xffff : count, 2);
    put_int(b, zip64 ? UINT32_MAX : directory.size, 4);
    put_int(b, zip64 ? UINT32_MAX : begin, 4);
    put_int(b, 0, 2);
    wick_buf_free(&directory);
}

/* ---- pickle, protocol 2 ---- */

static inline void pickle_str(struct wick_buf *b, const char *text)
{
    wick_buf_text(b, "X");
    put_int(b, strlen(text), 4);
    wick_buf_text(b, text);
}

/* LONG1 of 8 bytes: any integer. */
static inline void pickle_int(struct wick_buf *b, int64_t value)
{
    wick_buf_append(b, "\x8a\x08", 2);
    put_int(b, (uint64_t)value, 8);
}

static inline void pickle_ints(struct wick_buf *b, const int64_t *values, int count)
{
    wick_buf_text(b, "(");
    for (int i = 0; i < count; i++) pickle_int(b, values[i]);
    wick_buf_text(b, "t");
}

/* A view of data/<key>, which holds `held` elements of torch.<storage>. */
static inline void pickle_view(struct wick_buf *b, const char *storage, const char *key, int64_t held, int64_t offset, int rank, const int64_t *sizes,
                               const int64_t *strides)
{
    wick_buf_text(b, "ctorch._utils\n_rebuild_tensor_v2\n((");
    pickle_str(b, "storage");
    wick_buf_printf(b, "ctorch\n%s\n", storage);
    pickle_str(b, key);
    pickle_str(b, "cpu");
    pickle_int(b, held);
    wick_buf_text(b, "tQ");
    pickle_int(b, offset);
    pickle_ints(b, sizes, rank);
    pickle_ints(b, strides, rank);
    wick_buf_text(b, "\x89" "ccollections\nOrderedDict\n)RtR");
}

/* A .pth whose top object is what `pickle` leaves on the stack; data/0 holds the floats 0..23. */
static inline void put_pth(struct wick_buf *b, const struct wick_buf *pickle, bool zip64)
{
    struct wick_buf whole = {0};
    float values[24];
    for (int i = 0; i < 24; i++) values[i] = (float)i;
    wick_buf_append(&whole, "\x80\x02", 2);
    wick_buf_append(&whole, pickle->data, pickle->size);
    wick_buf_text(&whole, ".");
    const struct zip_part parts[] = {
        {.name = "archive/data.pkl", .data = whole.data, .size = whole.size},
        {.name = "archive/byteorder", .data = "little", .size = 6},
        {.name = "archive/data/0", .data = values, .size = sizeof values},
        {.name = "archive/version", .data = "3\n", .size = 2},
    };
    put_zip(b, parts, WICK_ARRAY_SIZE(parts), zip64);
    wick_buf_free(&whole);
}

/* {"a": f32 [4, 6], "b": its transpose, "n": 1} */
static inline void put_sample_pth(struct wick_buf *b, bool zip64)
{
    struct wick_buf pickle = {0};
    wick_buf_text(&pickle, "}(");
    pickle_str(&pickle, "a");
    pickle_view(&pickle, "FloatStorage", "0", 24, 0, 2, (int64_t[]){4, 6}, (int64_t[]){6, 1});
    pickle_str(&pickle, "b");
    pickle_view(&pickle, "FloatStorage", "0", 24, 0, 2, (int64_t[]){6, 4}, (int64_t[]){1, 6});
    pickle_str(&pickle, "n");
    pickle_int(&pickle, 1);
    wick_buf_text(&pickle, "u");
    put_pth(b, &pickle, zip64);
    wick_buf_free(&pickle);
}

/* ---- safetensors ---- */

/* `data` bytes 0, 1, 2.. behind the header. */
static inline void put_safetensors(struct wick_buf *b, const char *header, size_t header_size, size_t data)
{
    put_int(b, header_size, 8);
    wick_buf_append(b, header, header_size);
    for (size_t i = 0; i < data; i++) put_int(b, i, 1);
}

/* ---- GGUF ---- */

static inline void gguf_str(struct wick_buf *b, const char *text)
{
    put_int(b, strlen(text), 8);
    wick_buf_text(b, text);
}

static inline void gguf_begin(struct wick_buf *b, uint64_t tensors, uint64_t keys)
{
    wick_buf_text(b, "GGUF");
    put_int(b, 3, 4);
    put_int(b, tensors, 8);
    put_int(b, keys, 8);
}

static inline void gguf_scalar(struct wick_buf *b, const char *key, enum wick_meta_type type, uint64_t bits, unsigned bytes)
{
    gguf_str(b, key);
    put_int(b, type, 4);
    put_int(b, bits, bytes);
}

static inline void gguf_array(struct wick_buf *b, const char *key, enum wick_meta_type type, uint64_t count)
{
    gguf_str(b, key);
    put_int(b, WICK_META_ARRAY, 4);
    put_int(b, type, 4);
    put_int(b, count, 8);
}

/* ne innermost first. */
static inline void gguf_tensor(struct wick_buf *b, const char *name, int dims, const uint64_t *ne, uint32_t type, uint64_t offset)
{
    gguf_str(b, name);
    put_int(b, (uint64_t)dims, 4);
    for (int i = 0; i < dims; i++) put_int(b, ne[i], 8);
    put_int(b, type, 4);
    put_int(b, offset, 8);
}

/* Metadata of most types and three tensors: "f" f32 [2, 3], "q" q4_0 [2, 32], "k" q6_k [256]. */
static inline void put_sample_gguf(struct wick_buf *b)
{
    gguf_begin(b, 3, 8);
    gguf_str(b, "general.architecture");
    put_int(b, WICK_META_STR, 4);
    gguf_str(b, "llama");
    gguf_scalar(b, "llama.block_count", WICK_META_U32, 30, 4);
    gguf_scalar(b, "llama.eps", WICK_META_F32, 0x3f000000, 4);
    gguf_scalar(b, "tokenizer.ggml.add_bos_token", WICK_META_BOOL, 1, 1);
    gguf_array(b, "tokenizer.ggml.tokens", WICK_META_STR, 3);
    gguf_str(b, "<s>");
    gguf_str(b, "");
    gguf_str(b, "ab");
    gguf_array(b, "tokenizer.ggml.token_type", WICK_META_I32, 3);
    for (int i = 0; i < 3; i++) put_int(b, (uint64_t)(int64_t)(i - 1), 4);
    gguf_array(b, "tokenizer.ggml.scores", WICK_META_F32, 3);
    for (int i = 0; i < 3; i++) put_int(b, 0x3f800000, 4);
    gguf_scalar(b, "below", WICK_META_I8, 0xfe, 1);
    gguf_tensor(b, "f", 2, (uint64_t[]){3, 2}, 0, 0);
    gguf_tensor(b, "q", 2, (uint64_t[]){32, 2}, 2, 32);
    gguf_tensor(b, "k", 1, (uint64_t[]){256}, 14, 96);
    put_pad(b, 32);
    for (int i = 0; i < 6; i++) put_int(b, 0x3f800000u + ((unsigned)i << 16), 4);
    put_pad(b, 32);
    for (int i = 0; i < 36; i++) put_int(b, i % 18 == 0 ? 0x00 : i % 18 == 1 ? 0x3c : (unsigned)i * 7, 1);
    put_pad(b, 32);
    for (int i = 0; i < 210; i++) put_int(b, (unsigned)i, 1);
    put_pad(b, 32);
}

#endif
