/* checkpoint/checkpoint.h - weights and metadata of a trained model, as one table of tensors over mapped files.
 *
 * Opening reads and verifies the description of the tensors only; no tensor data is touched or copied before it is
 * asked for. A checkpoint is immutable once open: any number of threads may read from it. Formats: formats.def. */
#ifndef WICK_CHECKPOINT_CHECKPOINT_H
#define WICK_CHECKPOINT_CHECKPOINT_H

#include "base/str.h"
#include "tensor/tensor.h"

/* How elements lie in the file. X(NAME, name as in messages, elements of a block, bytes of a block) */
#define WICK_CKPT_STORAGE_LIST(X)                                                                  \
    X(F32, "f32", 1, 4)                                                                            \
    X(F16, "f16", 1, 2)                                                                            \
    X(BF16, "bf16", 1, 2)                                                                          \
    X(F64, "f64", 1, 8)                                                                            \
    X(I64, "i64", 1, 8)                                                                            \
    X(I32, "i32", 1, 4)                                                                            \
    X(I16, "i16", 1, 2)                                                                            \
    X(I8, "i8", 1, 1)                                                                              \
    X(U64, "u64", 1, 8)                                                                            \
    X(U32, "u32", 1, 4)                                                                            \
    X(U16, "u16", 1, 2)                                                                            \
    X(U8, "u8", 1, 1)                                                                              \
    X(BOOL, "bool", 1, 1)                                                                          \
    X(F8_E4M3, "f8_e4m3", 1, 1)                                                                    \
    X(F8_E5M2, "f8_e5m2", 1, 1)                                                                    \
    X(Q8_0, "q8_0", 32, 34)                                                                        \
    X(Q4_0, "q4_0", 32, 18)                                                                        \
    X(Q4_1, "q4_1", 32, 20)                                                                        \
    X(Q5_0, "q5_0", 32, 22)                                                                        \
    X(Q5_1, "q5_1", 32, 24)                                                                        \
    X(Q4_K, "q4_k", 256, 144)                                                                      \
    X(Q5_K, "q5_k", 256, 176)                                                                      \
    X(Q6_K, "q6_k", 256, 210)                                                                      \
    X(Q2_K, "q2_k", 256, 84)                                                                       \
    X(Q3_K, "q3_k", 256, 110)                                                                      \
    X(Q8_K, "q8_k", 256, 292)                                                                      \
    X(IQ4_NL, "iq4_nl", 32, 18)                                                                    \
    X(IQ4_XS, "iq4_xs", 256, 136)                                                                  \
    X(TQ1_0, "tq1_0", 256, 54)                                                                     \
    X(TQ2_0, "tq2_0", 256, 66)                                                                     \
    X(MXFP4, "mxfp4", 32, 17)

enum wick_ckpt_storage {
#define WICK_CKPT_STORAGE_ENUM(name, word, elements, bytes) WICK_CKPT_##name,
    WICK_CKPT_STORAGE_LIST(WICK_CKPT_STORAGE_ENUM)
#undef WICK_CKPT_STORAGE_ENUM
    WICK_CKPT_STORAGE_COUNT
};

const char *wick_ckpt_storage_name(enum wick_ckpt_storage storage); /* "q4_k"; static storage */
/* 1 for plain types, 32 or 256 for block types. */
unsigned wick_ckpt_storage_block(enum wick_ckpt_storage storage);
/* Bytes of a block; for plain types of an element. */
unsigned wick_ckpt_storage_bytes(enum wick_ckpt_storage storage);
/* The element type (enum wick_dtype) of a plain type; -1 for a block type and for 8-bit floats. */
int wick_ckpt_storage_dtype(enum wick_ckpt_storage storage);

/* One tensor. Owned by its checkpoint, as are name and data. Everything was verified: the elements that sizes and
 * strides reach lie within [data, data + nbytes), which lies within the mapped file. data may be unaligned. */
struct wick_ckpt_tensor {
    const char *name;
    enum wick_ckpt_storage storage;
    uint8_t rank;
    bool contiguous;                /* row-major without gaps; always so for block types */
    int32_t sizes[WICK_RANK_MAX];   /* outermost first (torch's order, also for GGUF) */
    int64_t strides[WICK_RANK_MAX]; /* in elements, >= 0; a .pth may hold transposes and expanded views */
    uint64_t numel;                 /* product of the sizes; 1 for rank 0 */
    const uint8_t *data;            /* the first element; NULL if nbytes is 0 */
    size_t nbytes;                  /* bytes from the first to the last element that is reached */
    uint32_t file;                  /* which mapped file holds it */
    /* Pieces of equal shape that shards hold; data is then NULL. Row-major, the whole is runs of piece_run elements of the pieces in turn. */
    const struct wick_ckpt_tensor *pieces;
    uint32_t piece_count; /* 0: not joined */
    uint64_t piece_run;
};

/* ---- opening ---- */

struct wick_checkpoint;

/* Opens a file (the format is told by its content), an index of shards (model.safetensors.index.json) or a folder that
 * holds one of the usual names. Of a split GGUF and of consolidated.00.pth the other parts are opened with the first. Errors name the file and the place in it: INVALID_CHECKPOINT for malformed content,
 * NOT_SUPPORTED for well-formed content that is not read (named), NOT_FOUND, ACCESS_FAILED, OUT_OF_MEMORY.
 * On failure *ckpt is NULL. */
wick_status wick_checkpoint_open(struct wick_checkpoint **ckpt, const char *path, wick_error *err) WICK_MUST_CHECK;
void wick_checkpoint_close(struct wick_checkpoint *ckpt); /* NULL allowed */

/* "gguf", "torch", "legacy torch" or "safetensors". Static storage. */
const char *wick_checkpoint_format(const struct wick_checkpoint *ckpt);

/* The file that was opened first: the one named, or the index. */
const char *wick_checkpoint_path(const struct wick_checkpoint *ckpt);

/* ---- tensors, in the order of the file ---- */

size_t wick_checkpoint_count(const struct wick_checkpoint *ckpt);
/* i < count. */
const struct wick_ckpt_tensor *wick_checkpoint_tensor(const struct wick_checkpoint *ckpt, size_t i);
/* NULL if there is none of this name. O(log count). */
const struct wick_ckpt_tensor *wick_checkpoint_find(const struct wick_checkpoint *ckpt, const char *name);

/* Decodes elements [first, first + count) of the row-major order of the logical shape into out (count floats). Any
 * storage type, any strides, any range; contiguous f32 is one copy. Integers round to the nearest float, bool gives 0 or 1.
 * INVALID_ARGUMENT if the range leaves the tensor. */
wick_status wick_ckpt_read_f32(const struct wick_ckpt_tensor *tensor, uint64_t first, uint64_t count, float *out, wick_error *err) WICK_MUST_CHECK;
/* The same range as stored (little-endian, wick_ckpt_storage_bytes() each), gathered if strided. Plain types only:
 * INVALID_TYPE for block types. */
wick_status wick_ckpt_read_raw(const struct wick_ckpt_tensor *tensor, uint64_t first, uint64_t count, void *out, wick_error *err) WICK_MUST_CHECK;
/* Gives the tensor's pages back to the system. It may still be read; that costs reading the file again. */
void wick_ckpt_tensor_done(const struct wick_checkpoint *ckpt, const struct wick_ckpt_tensor *tensor);

/* ---- metadata: GGUF key/values, safetensors' __metadata__ (strings); none in .pth ---- */

/* Numbers are GGUF's. */
enum wick_meta_type {
    WICK_META_U8, WICK_META_I8, WICK_META_U16, WICK_META_I16, WICK_META_U32, WICK_META_I32, WICK_META_F32,
    WICK_META_BOOL, WICK_META_STR, WICK_META_ARRAY, WICK_META_U64, WICK_META_I64, WICK_META_F64,
    WICK_META_TYPE_COUNT
};

/* Elements of one type, not arrays themselves. Numbers stay as they lie in the file. */
struct wick_meta_array {
    enum wick_meta_type type;
    size_t count;
    const uint8_t *numbers;         /* count little-endian numbers, unaligned; NULL for strings */
    const struct wick_str *strings; /* count strings into the mapped file; NULL for numbers */
};

struct wick_meta {
    const char *key;
    enum wick_meta_type type;
    union {
        uint64_t bits; /* integers (sign-extended) and bool */
        double real;   /* F32, F64 */
        struct wick_str str;
        struct wick_meta_array array;
    } value;
};

size_t wick_checkpoint_meta_count(const struct wick_checkpoint *ckpt);
const struct wick_meta *wick_checkpoint_meta(const struct wick_checkpoint *ckpt, size_t i);
const char *wick_meta_type_name(enum wick_meta_type type); /* "u8" */

/* Typed access by key. NOT_FOUND if the key is missing, INVALID_TYPE if its value is of another type (both name the
 * key); *out is then untouched. int takes every integer type that fits; float takes f32 and f64. Strings are borrowed and may hold any byte. */
wick_status wick_checkpoint_meta_int(const struct wick_checkpoint *ckpt, const char *key, int64_t *out, wick_error *err);
wick_status wick_checkpoint_meta_float(const struct wick_checkpoint *ckpt, const char *key, double *out, wick_error *err);
wick_status wick_checkpoint_meta_bool(const struct wick_checkpoint *ckpt, const char *key, bool *out, wick_error *err);
wick_status wick_checkpoint_meta_str(const struct wick_checkpoint *ckpt, const char *key, struct wick_str *out, wick_error *err);

enum wick_meta_kind { WICK_META_INTS, WICK_META_FLOATS, WICK_META_BOOLS, WICK_META_STRS };
/* An array whose elements are of this kind (ints: any integer type). */
wick_status wick_checkpoint_meta_array(const struct wick_checkpoint *ckpt, const char *key, enum wick_meta_kind kind, struct wick_meta_array *out,
                                       wick_error *err);
/* Element i < count of an array asked for with the matching kind. A u64 above INT64_MAX gives INT64_MAX. */
int64_t wick_meta_array_int(const struct wick_meta_array *array, size_t i);
double wick_meta_array_float(const struct wick_meta_array *array, size_t i);
bool wick_meta_array_bool(const struct wick_meta_array *array, size_t i);
struct wick_str wick_meta_array_str(const struct wick_meta_array *array, size_t i);

#endif
