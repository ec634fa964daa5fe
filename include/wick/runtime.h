/* wick/runtime.h - opening programs (.pte) and running their methods.
 *
 * A wick_model is an open program: immutable, reference counted, shared by any number of threads. Each of its methods is
 * bound (operators resolved, weights packed for this processor) once, at first use, for everyone. A wick_runner is one
 * timeline of one method: its inputs, outputs and state (a KV cache, say). It is used by one thread at a time.
 *
 *     wick_error error;
 *     wick_model *model;
 *     if (wick_model_open("model.pte", NULL, &model, &error) != WICK_OK) ...
 *     wick_runner *runner;
 *     if (wick_runner_open(model, "forward", &runner, &error) != WICK_OK) ...
 *     int32_t sizes[2] = {1, 3};
 *     float x[3] = {1, 2, 3};
 *     wick_runner_set_tensor(runner, 0, WICK_F32, 2, sizes, NULL, x, &error);
 *     wick_runner_run(runner, &error);
 *     wick_item out;
 *     wick_runner_output(runner, 0, &out, &error);
 *
 * Every function that can fail returns a wick_status and takes a wick_error last (NULL allowed). Nothing here exits,
 * aborts or prints. */
#ifndef WICK_RUNTIME_H
#define WICK_RUNTIME_H

#include "wick/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wick_model wick_model;
typedef struct wick_runner wick_runner;

/* Element types of tensors: ExecuTorch's ScalarType numbers. Programs may hold further types of that list. */
enum {
    WICK_U8 = 0,
    WICK_I8 = 1,
    WICK_I16 = 2,
    WICK_I32 = 3,
    WICK_I64 = 4,
    WICK_F16 = 5,
    WICK_F32 = 6,
    WICK_F64 = 7,
    WICK_BOOL = 11,
    WICK_BF16 = 15,
    WICK_U16 = 27,
    WICK_U32 = 28,
    WICK_U64 = 29
};

enum { WICK_MAX_RANK = 16 };

/* fast: kernels may choose the order of float additions by shape. reproducible: one order, so that results do not depend
 * on threads, on how a prompt was cut into chunks, or on the processor. */
typedef enum wick_numerics { WICK_NUMERICS_FAST, WICK_NUMERICS_REPRODUCIBLE } wick_numerics;

/* Memory of the host's own. alloc returns NULL on failure, else memory aligned to 64; free gets what alloc gave, with
 * its size. Called from the thread that makes the request; must be safe for as many threads as use the model. */
typedef struct wick_memory {
    void *(*alloc)(void *user, size_t bytes);
    void (*free)(void *user, void *memory, size_t bytes);
    void *user;
} wick_memory;

/* Bytes that the host keeps valid and unchanged; aligned to 16. */
typedef struct wick_span {
    const void *data;
    size_t size;
} wick_span;

/* How to open a model. Fill with wick_model_options_init, then change what differs. Borrowed for the call, except log
 * and memory, which are called as long as the model or a runner of it lives. */
typedef struct wick_model_options {
    size_t struct_size;            /* set by wick_model_options_init; lets later versions add members */
    const char *const *data_paths; /* .ptd files with external weights (wick_model_open) */
    size_t data_path_count;
    const wick_span *data_spans; /* the same in memory (wick_model_open_memory) */
    size_t data_span_count;
    unsigned threads; /* of a runner, the calling one included; 0: one per performance core */
    const char *cpu;  /* highest instruction level, as WICK_CPU ("ref", "avx2", "avx512,-vnni"); NULL: all */
    wick_numerics numerics;
    bool no_fuse;    /* run the program's nodes as they are */
    wick_log_fn log; /* NULL: no log */
    void *log_user;
    wick_log_level log_level;
    const wick_memory *memory; /* NULL: malloc */
} wick_model_options;

WICK_API void wick_model_options_init(wick_model_options *options);

/* Opens a program file and its data files: maps and verifies them; binds nothing yet. options NULL: the defaults. The
 * caller owns one reference of *model, which is NULL after a failure. Errors: NOT_FOUND, ACCESS_FAILED,
 * INVALID_PROGRAM, INVALID_EXTERNAL_DATA, INVALID_ARGUMENT (a data key twice, an unknown cpu), OUT_OF_MEMORY. */
WICK_API wick_status wick_model_open(const char *path, const wick_model_options *options, wick_model **model, wick_error *error);
/* The same from memory: `program` and options->data_spans stay valid until the last reference is gone. */
WICK_API wick_status wick_model_open_memory(wick_span program, const wick_model_options *options, wick_model **model, wick_error *error);

/* One more owner; returns model. Safe from any thread. */
WICK_API wick_model *wick_model_ref(wick_model *model);
/* One owner less; the last one closes the model. Runners own a reference. NULL allowed. Safe from any thread. */
WICK_API void wick_model_unref(wick_model *model);

/* Methods in the file's order, constant ones included. Names are valid as long as the model; NULL past the end. */
WICK_API size_t wick_model_method_count(const wick_model *model);
WICK_API const char *wick_model_method_name(const wick_model *model, size_t index);
/* The instruction level that kernels are taken from: "avx2". */
WICK_API const char *wick_model_cpu(const wick_model *model);

typedef enum wick_kind {
    WICK_KIND_NONE,
    WICK_KIND_TENSOR,
    WICK_KIND_STRING,
    WICK_KIND_DOUBLE,
    WICK_KIND_INT,
    WICK_KIND_BOOL,
    WICK_KIND_LIST
} wick_kind;

/* A value of a program. Members beside `kind` that do not belong to it are zero. */
typedef struct wick_item {
    wick_kind kind;
    int64_t i;        /* INT, BOOL (0 or 1) */
    double d;         /* DOUBLE */
    const char *text; /* STRING: NUL-terminated; may hold further NULs within text_size bytes */
    size_t text_size;
    /* TENSOR: sizes[0, rank) in elements; dim_order lists the dims from outermost to innermost in memory (0,1,2.. is
     * row-major). data: `bytes` bytes, NULL where only a description is asked for. */
    int32_t dtype, rank;
    int32_t sizes[WICK_MAX_RANK];
    uint8_t dim_order[WICK_MAX_RANK];
    const void *data;
    size_t bytes;
    bool dynamic; /* sizes are upper bounds */
} wick_item;

/* Values of a constant method, such as get_max_seq_len: how many (0: no such constant method), and the i-th as INT,
 * DOUBLE, BOOL or STRING. NOT_FOUND, INVALID_TYPE (the value is no number or text: run the method). */
WICK_API size_t wick_model_constant_count(const wick_model *model, const char *method);
WICK_API wick_status wick_model_constant(const wick_model *model, const char *method, size_t i, wick_item *value, wick_error *error);
/* The first value as a number: INT or BOOL. */
WICK_API wick_status wick_model_constant_int(const wick_model *model, const char *method, int64_t *value, wick_error *error);

/* Inputs and outputs of a method. The description has no data; a number's value is the one the method was exported
 * for. Loads the method (resolves operators), but packs no weights. INVALID_ARGUMENT: no such method or index. */
WICK_API wick_status wick_model_method_shape(wick_model *model, const char *method, size_t *inputs, size_t *outputs, wick_error *error);
WICK_API wick_status wick_model_method_input(wick_model *model, const char *method, size_t i, wick_item *item, wick_error *error);
WICK_API wick_status wick_model_method_output(wick_model *model, const char *method, size_t i, wick_item *item, wick_error *error);

/* Binds a method now instead of at its first use: packs weights with options->threads threads. Safe from any thread.
 * Errors: OPERATOR_MISSING (naming all), NOT_FOUND (a backend), DELEGATE_INCOMPATIBLE, INVALID_PROGRAM, OUT_OF_MEMORY. */
WICK_API wick_status wick_model_bind(wick_model *model, const char *method, wick_error *error);

/* ---- what this build holds; static storage, NULL past the end ---- */

/* Instruction levels compiled in, the portable one first; the best one that this processor has. */
WICK_API size_t wick_build_cpu_level_count(void);
WICK_API const char *wick_build_cpu_level(size_t i);
WICK_API const char *wick_build_cpu(void);
WICK_API size_t wick_build_backend_count(void);
WICK_API const char *wick_build_backend(size_t i);
WICK_API size_t wick_build_op_count(void);
WICK_API const char *wick_build_op(size_t i);

/* ---- running a method ---- */

/* A fresh timeline of a method: zero or initial state, no inputs set. Binds the method if need be. Holds a reference of
 * the model. Threads are the runner's own. */
WICK_API wick_status wick_runner_open(wick_model *model, const char *method, wick_runner **runner, wick_error *error);
WICK_API void wick_runner_close(wick_runner *runner); /* NULL allowed */

WICK_API size_t wick_runner_input_count(const wick_runner *runner);
WICK_API size_t wick_runner_output_count(const wick_runner *runner);

/* Sets input i for this and all later runs. dim_order (rank entries) tells how the bytes at data lie, NULL: row-major;
 * another order than the program's is converted. data is copied if the program has memory for the input, else it is used
 * in place: keep it valid until replaced or closed, and writable, for a program may change its input. Errors: INVALID_ARGUMENT (no
 * such input, another kind or dtype), NOT_SUPPORTED (sizes the program cannot take). After an error the input is not set. */
WICK_API wick_status wick_runner_set_tensor(wick_runner *runner, size_t i, int32_t dtype, int32_t rank, const int32_t *sizes,
                                            const uint8_t *dim_order, void *data, wick_error *error);
/* Numbers and text are fixed when a program is exported: the value must be the program's (doubles: nearly). */
WICK_API wick_status wick_runner_set_int(wick_runner *runner, size_t i, int64_t value, wick_error *error);
WICK_API wick_status wick_runner_set_double(wick_runner *runner, size_t i, double value, wick_error *error);
WICK_API wick_status wick_runner_set_bool(wick_runner *runner, size_t i, bool value, wick_error *error);
WICK_API wick_status wick_runner_set_string(wick_runner *runner, size_t i, const char *text, wick_error *error);

/* Runs the method once, on the state that earlier runs left. INVALID_STATE: an input was never set; CANCELLED; else what
 * an operator found wrong, with its name and place. After a failure the state may hold a part of the run: reset, or
 * overwrite it (a KV cache by position). */
WICK_API wick_status wick_runner_run(wick_runner *runner, wick_error *error);
/* Output i of the last run: current sizes and a pointer to the bytes, valid until the next run. INVALID_ARGUMENT: no such output. */
WICK_API wick_status wick_runner_output(const wick_runner *runner, size_t i, wick_item *item, wick_error *error);
/* Back to the state of a fresh runner; no input is set. */
WICK_API void wick_runner_reset(wick_runner *runner);
/* Stops the run under way, or else the next one, before its next node. Safe from any thread and from a callback. */
WICK_API void wick_runner_cancel(wick_runner *runner);

#ifdef __cplusplus
}
#endif
#endif
