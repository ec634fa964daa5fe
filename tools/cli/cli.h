/* tools/cli/cli.h - what the subcommands share: options, messages, exit codes (docs/cli.md). */
#ifndef WICK_CLI_H
#define WICK_CLI_H

#include <stdio.h>

#include "wick/base.h"

enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_INTERRUPTED = 130 };

enum cli_kind { CLI_FLAG, CLI_TEXT, CLI_INT, CLI_REAL, CLI_LIST };

/* One option of a command. FLAG writes bool, TEXT const char *, INT int64_t, REAL double; LIST appends to a struct cli_list. */
struct cli_option {
    const char *name; /* "--prompt" */
    char letter;      /* 'v' for -v, or 0 */
    enum cli_kind kind;
    void *value;
    const char *argument; /* "TEXT"; NULL for flags */
    const char *help;     /* NULL: not shown; it only makes a misspelling recognised */
};

struct cli_list {
    const char **items;
    size_t count, capacity;
};

struct cli_command {
    const char *name, *summary, *usage;
    int (*run)(int argc, char **argv);
};

/* Common to all commands; set by cli_parse. */
struct cli_settings {
    bool help, verbose, quiet, json;
    int64_t threads; /* 0: default */
};
extern struct cli_settings cli_settings;
/* How this program was called: argv[0]. */
extern const char *cli_program;

/* Reads options into their values and leaves other arguments in `rest`. --help, -v, -q, --json and --threads are understood everywhere.
 * Returns -1 to go on, else the exit code: help was printed, or usage was wrong (which is said, with the nearest option). */
int cli_parse(const struct cli_command *command, const struct cli_option *options, size_t count, int argc, char **argv, struct cli_list *rest, const char *example);
void cli_list_add(struct cli_list *list, const char *item);
void cli_list_free(struct cli_list *list);
#define WICK_COMMAND(name, summary, usage) int wick_command_##name(int argc, char **argv);
#include "commands.def"
#undef WICK_COMMAND
const struct cli_command *cli_find(const char *name);

/* "wick: error: ..." on stderr; returns the exit code for it. */
int cli_fail(const wick_error *err);
int cli_usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Log lines to stderr, as the level of WICK_LOG, -v and -q says. */
wick_log_level cli_log_level(void);
void cli_log(void *user, wick_log_level level, const char *line);

/* A progress line on stderr while it is a terminal; cli_progress_end wipes it. Returns false after Ctrl-C. */
bool cli_progress(void *user, const char *stage, uint64_t done, uint64_t total);
/* The same in units other than bytes ("tokens"). */
bool cli_progress_count(const char *stage, uint64_t done, uint64_t total, const char *unit);
void cli_progress_end(void);

/* Text as a JSON string, on standard output. */
void cli_print_json_text(const char *text);

/* Ctrl-C: the first one sets a flag (and calls `cancel` if given), the second one ends the program. */
void cli_catch_interrupt(void (*cancel)(void *user), void *user);
bool cli_interrupted(void);

/* output.c: a result file that is written under a temporary name and appears under its own when it is whole. */
struct cli_output {
    FILE *file;
    const char *path;
    bool direct; /* a device or a pipe: written in place */
};
bool cli_output_open(struct cli_output *out, const char *path, wick_error *err);
/* whole: it takes its name; else, and on failure, nothing is left of it. Does nothing if it is not open. */
bool cli_output_close(struct cli_output *out, bool whole, wick_error *err);
/* Notes a file, or last a folder, that is only for the time being, in one of 3 slots; NULL: no longer. */
void cli_scratch(size_t slot, const char *path);
/* Removes what is unfinished and what is noted; for the signal handler that ends the program. */
void cli_abandon(void);

/* Reads a file ("-": standard input) whole, NUL-terminated; free() it. */
char *cli_read_file(const char *path, size_t *size, wick_error *err);
/* "1,2,3" or "1 2 3" to ids; the error names the piece. free() them. */
int64_t *cli_read_ids(const char *text, size_t *count, wick_error *err);

/* version.c: what `wick --version` prints. */
int cli_version(bool json);

#endif
