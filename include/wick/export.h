/* wick/export.h - from a checkpoint to a .pte program. */
#ifndef WICK_EXPORT_H
#define WICK_EXPORT_H

#include "wick/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What to export. Zero-initialise, set struct_size. Strings are borrowed during the call. */
typedef struct wick_export_options {
    size_t struct_size;            /* sizeof(wick_export_options) */
    const char *config_path;       /* YAML with the original's LlmConfig; NULL: defaults */
    const char *const *overrides;  /* "section.key=value", applied in order over the file */
    size_t override_count;
    unsigned threads;              /* 0: one per performance core */
    bool config_only;              /* end after the configuration is read, dumped and checked: nothing is opened or written */
    const char *dump_after;        /* config, checkpoint, graph, quantize, partition, decompose, views or plan: text of that stage to `dump`; NULL: none */
    wick_log_fn dump;              /* one line a call, level INFO */
    void *dump_user;
    wick_log_fn inform;            /* tables that debug.verbose asks for, one line a call; NULL: none */
    void *inform_user;
    wick_log_fn log;
    void *log_user;
    wick_log_level log_level;
    wick_progress_fn progress;     /* stages "build" (layers), "write" (bytes); NULL: none. Returning false cancels */
    void *progress_user;
} wick_export_options;

/* What was written. */
typedef struct wick_export_summary {
    char program_path[1024];
    char tokenizer_path[1024];    /* "" if none was written */
    uint64_t parameters;
    uint64_t program_bytes;       /* of the file */
    uint64_t planned_bytes;       /* activations and state, as planned */
    uint64_t state_bytes;         /* of it, the KV cache */
    uint64_t predicted_peak_bytes; /* of a run: weights packed once, planned memory and the library's own (docs/export.md) */
    uint64_t peak_rss_bytes;      /* of this process so far */
    double seconds;
    unsigned linears, quantized_linears, quantized_embeddings, delegates, calls;
    char family[32];
} wick_export_summary;

/* Runs the whole pipeline. The program appears under its name only when complete; a failed or cancelled export leaves nothing
 * behind. Threads: any number of exports to different files. summary may be NULL. Errors: INVALID_CONFIG and NOT_SUPPORTED name the
 * key, INVALID_CHECKPOINT the file and place, CANCELLED. */
WICK_API wick_status wick_export(const wick_export_options *options, wick_export_summary *summary, wick_error *err);

/* One key of the configuration. Static storage. */
typedef struct wick_export_key {
    const char *name;     /* "section.key" */
    const char *type;     /* bool, int, float, text, list or mapping */
    const char *value;    /* the default as text; NULL: null */
    const char *choices;  /* "a|b"; NULL: any */
    const char *meaning;  /* a line; "" if there is none */
} wick_export_key;

/* How many keys there are, and the one at an index below that; false past the end. */
WICK_API size_t wick_export_key_count(void);
WICK_API bool wick_export_key_at(size_t index, wick_export_key *key);

/* Removes unfinished output files; safe in a signal handler that ends the process. */
WICK_API void wick_export_abandon(void);

#ifdef __cplusplus
}
#endif
#endif
