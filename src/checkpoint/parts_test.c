/* Checkpoints of several files without an index: Meta's shards are read as one, parts of a split GGUF as well, and what does not fit is refused. */
#include "checkpoint/sample_files_test.h"

#include <stdio.h>
#include <sys/stat.h>

static const char *folder(const char *name)
{
    const char *path = wick_test_temp(name);
    mkdir(path, 0777);
    return path;
}

static void put_view(struct wick_buf *pickle, const char *name, int64_t offset, int rank, const int64_t *sizes, const int64_t *strides)
{
    pickle_str(pickle, name);
    pickle_view(pickle, "FloatStorage", "0", 24, offset, rank, sizes, strides);
}

/* Shard `i` of two: storage elements 12 i.. as wq (2, 6), and as wo (6, 2) transposed; the embedding (2, 6); norm (6). */
static const char *save_shard(const char *name, int i, const char *more)
{
    struct wick_buf pickle = {0}, b = {0};
    wick_buf_text(&pickle, "}(");
    put_view(&pickle, "layers.0.attention.wq.weight", 12 * i, 2, (int64_t[]){2, 6}, (int64_t[]){6, 1});
    put_view(&pickle, "layers.0.attention.wo.weight", 12 * i, 2, (int64_t[]){6, 2}, (int64_t[]){1, 6});
    put_view(&pickle, "tok_embeddings.weight", 12 * i, 2, (int64_t[]){2, 6}, (int64_t[]){6, 1});
    put_view(&pickle, "norm.weight", 0, 1, (int64_t[]){6}, (int64_t[]){1});
    if (more) put_view(&pickle, more, 0, 2, (int64_t[]){2, 6}, (int64_t[]){6, 1});
    wick_buf_text(&pickle, "u");
    put_pth(&b, &pickle, false);
    wick_buf_free(&pickle);
    return save(name, &b);
}

static void check_values(const struct wick_checkpoint *ckpt, const char *name, int32_t rows, int32_t columns, int row_step, int column_step)
{
    const struct wick_ckpt_tensor *t = wick_checkpoint_find(ckpt, name);
    assert_true(t && t->sizes[0] == rows && t->sizes[1] == columns && t->piece_count == 2);
    float *values = read_all(t), part[24];
    uint32_t raw[24];
    wick_error err;
    for (int32_t i = 0; i < rows * columns; i++) assert_true(values[i] == (float)(i / columns * row_step + i % columns * column_step));
    for (uint64_t first = 0; first < t->numel; first++) {
        WICK_ASSERT_OK(wick_ckpt_read_f32(t, first, t->numel - first, part, &err), &err);
        assert_memory_equal(part, values + first, (size_t)(t->numel - first) * sizeof *part);
        WICK_ASSERT_OK(wick_ckpt_read_raw(t, first, t->numel - first, raw, &err), &err);
        assert_memory_equal(raw, part, (size_t)(t->numel - first) * sizeof *raw);
    }
    assert_int_equal(wick_ckpt_read_f32(t, 1, t->numel, part, &err), WICK_INVALID_ARGUMENT);
    wick_ckpt_tensor_done(ckpt, t);
    free(values);
}

static void shards(void **state)
{
    (void)state;
    const char *path = folder("shards");
    save_shard("shards/consolidated.00.pth", 0, NULL);
    save_shard("shards/consolidated.01.pth", 1, NULL);
    open_fails(path, WICK_INVALID_CHECKPOINT, "joined by 'dim' of the params.json beside them");
    save_bytes("shards/params.json", "{\"dim\": 6}", 10);
    struct wick_checkpoint *ckpt = open_ok(path);
    assert_int_equal(wick_checkpoint_count(ckpt), 4);
    check_values(ckpt, "layers.0.attention.wq.weight", 4, 6, 6, 1);
    check_values(ckpt, "layers.0.attention.wo.weight", 6, 4, 1, 6);
    check_values(ckpt, "tok_embeddings.weight", 4, 6, 6, 1);
    const struct wick_ckpt_tensor *norm = wick_checkpoint_find(ckpt, "norm.weight");
    assert_true(norm && norm->numel == 6 && norm->piece_count == 0);
    wick_checkpoint_close(ckpt);
    /* Llama 2 cuts the embedding's columns: row r is 6 r.. of the first shard, then of the second, 12 further on. */
    save_bytes("shards/params.json", "{\"dim\": 12}", 11);
    ckpt = open_ok(path);
    const struct wick_ckpt_tensor *embedding = wick_checkpoint_find(ckpt, "tok_embeddings.weight");
    assert_true(embedding && embedding->sizes[0] == 2 && embedding->sizes[1] == 12);
    float *values = read_all(embedding);
    for (int i = 0; i < 24; i++) assert_true(values[i] == (float)(i / 12 * 6 + i % 12 / 6 * 12 + i % 6));
    free(values);
    wick_checkpoint_close(ckpt);
}

static void bad_shards(void **state)
{
    (void)state;
    const char *path = folder("bad");
    save_bytes("bad/params.json", "{\"dim\": 6}", 10);
    save_shard("bad/consolidated.00.pth", 0, NULL);
    save_shard("bad/consolidated.01.pth", 1, "layers.0.attention.wk.weight");
    open_fails(path, WICK_INVALID_CHECKPOINT, "tensor 'layers.0.attention.wk.weight' is in shard 1 only");
    save_shard("bad/consolidated.00.pth", 0, "layers.0.attention.wk.weight");
    save_shard("bad/consolidated.01.pth", 1, NULL);
    open_fails(path, WICK_INVALID_CHECKPOINT, "tensor 'layers.0.attention.wk.weight': shard 1 has it not");
    save_shard("bad/consolidated.00.pth", 0, "some.matrix");
    save_shard("bad/consolidated.01.pth", 1, "some.matrix");
    open_fails(path, WICK_NOT_SUPPORTED, "tensor 'some.matrix': how shards cut it is not known");
}

/* Part `no` of `count`, with one tensor f32 [2] of this name. */
static void save_part(const char *path, const char *name, uint64_t no, uint64_t count, uint64_t tensors)
{
    struct wick_buf b = {0};
    gguf_begin(&b, 1, 3);
    gguf_scalar(&b, "split.no", WICK_META_U16, no, 2);
    gguf_scalar(&b, "split.count", WICK_META_U16, count, 2);
    gguf_scalar(&b, "split.tensors.count", WICK_META_I32, tensors, 4);
    gguf_tensor(&b, name, 1, (uint64_t[]){2}, 0, 0);
    put_pad(&b, 32);
    put_int(&b, 0x3f800000u + (no << 16), 4);
    put_int(&b, 0, 4);
    put_pad(&b, 32);
    save(path, &b);
}

static void split(void **state)
{
    (void)state;
    const char *path = folder("split");
    save_part("split/m-00001-of-00003.gguf", "a", 0, 3, 3);
    save_part("split/m-00002-of-00003.gguf", "b", 1, 3, 3);
    open_fails(path, WICK_NOT_FOUND, "m-00003-of-00003.gguf");
    save_part("split/m-00003-of-00003.gguf", "c", 2, 3, 3);
    struct wick_checkpoint *ckpt = open_ok(path);
    assert_int_equal(wick_checkpoint_count(ckpt), 3);
    const struct wick_ckpt_tensor *c = wick_checkpoint_find(ckpt, "c");
    float *values = read_all(c);
    assert_true(values[0] == 1.015625f);
    free(values);
    wick_checkpoint_close(ckpt);
    open_fails(wick_test_temp("split/m-00002-of-00003.gguf"), WICK_INVALID_CHECKPOINT, "name the first one, -00001-of-00003.gguf");
    save_part("split/m-00003-of-00003.gguf", "c", 2, 3, 4);
    save_part("split/m-00001-of-00003.gguf", "a", 0, 3, 4);
    open_fails(wick_test_temp("split/m-00001-of-00003.gguf"), WICK_INVALID_CHECKPOINT, "its parts hold 3 tensors, split.tensors.count says 4");
    save_part("split/m-00003-of-00003.gguf", "b", 2, 3, 3);
    save_part("split/m-00001-of-00003.gguf", "a", 0, 3, 3);
    open_fails(wick_test_temp("split/m-00001-of-00003.gguf"), WICK_INVALID_CHECKPOINT, "duplicate tensor 'b'");
    save_part("split/lone.gguf", "a", 0, 2, 2);
    open_fails(wick_test_temp("split/lone.gguf"), WICK_INVALID_CHECKPOINT, "not named -00001-of-00002.gguf");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shards), cmocka_unit_test(bad_shards), cmocka_unit_test(split)};
    return WICK_TEST_MAIN(tests);
}
