/* tools/cli/cli.c - options, messages, progress, interruption: what all subcommands share. */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wick/export.h"

struct cli_settings cli_settings;

static const struct cli_option everywhere[] = {
    {"--help", 'h', CLI_FLAG, &cli_settings.help, NULL, "this text"},
    {"--verbose", 'v', CLI_FLAG, &cli_settings.verbose, NULL, "say more"},
    {"--quiet", 'q', CLI_FLAG, &cli_settings.quiet, NULL, "say only errors"},
    {"--json", 0, CLI_FLAG, &cli_settings.json, NULL, "results as one JSON document"},
    {"--threads", 0, CLI_INT, &cli_settings.threads, "N", "threads to compute with (default: one per performance core)"},
};
enum { EVERYWHERE_COUNT = sizeof everywhere / sizeof everywhere[0] };

/* ---- lists ---- */

void cli_list_add(struct cli_list *list, const char *item)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity * 2 + 8;
        const char **items = realloc(list->items, capacity * sizeof *items);
        if (!items) {
            fprintf(stderr, "wick: error: arguments: no memory\n");
            exit(CLI_FAILED);
        }
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = item;
}

void cli_list_free(struct cli_list *list)
{
    free(list->items);
    *list = (struct cli_list){0};
}

/* ---- options ---- */

static const struct cli_option *find_option(const struct cli_option *options, size_t count, const char *name, size_t size)
{
    for (size_t i = 0; i < count; i++)
        if ((strlen(options[i].name) == size && strncmp(options[i].name, name, size) == 0) || (options[i].letter && size == 2 && name[0] == '-' && name[1] == options[i].letter)) return &options[i];
    for (size_t i = 0; i < EVERYWHERE_COUNT && options != everywhere; i++)
        if (find_option(everywhere, EVERYWHERE_COUNT, name, size)) return find_option(everywhere, EVERYWHERE_COUNT, name, size);
    return NULL;
}

static int set_option(const struct cli_option *option, const char *text)
{
    char *end = NULL;
    errno = 0;
    switch (option->kind) {
    case CLI_FLAG: *(bool *)option->value = true; return -1;
    case CLI_TEXT: *(const char **)option->value = text; return -1;
    case CLI_LIST: cli_list_add(option->value, text); return -1;
    case CLI_INT: *(int64_t *)option->value = strtoll(text, &end, 10); break;
    case CLI_REAL: *(double *)option->value = strtod(text, &end); break;
    }
    if (end == text || *end || errno) return cli_usage_error("%s: '%s' is no number", option->name, text);
    return -1;
}

/* Levenshtein distance of short names. */
static int distance(const char *a, const char *b)
{
    enum { MOST = 40 };
    int row[MOST + 1], n = (int)strlen(a), m = (int)strlen(b);
    if (n > MOST || m > MOST) return MOST;
    for (int j = 0; j <= m; j++) row[j] = j;
    for (int i = 1; i <= n; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            int above = row[j], best = diagonal + (a[i - 1] != b[j - 1]);
            if (above + 1 < best) best = above + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
            diagonal = above;
        }
    }
    return row[m];
}

static int unknown_option(const struct cli_option *options, size_t count, const char *name)
{
    const char *near = NULL;
    int best = (int)strlen(name) / 3 + 1;
    for (size_t i = 0; i < count + EVERYWHERE_COUNT; i++) {
        const char *known = i < count ? options[i].name : everywhere[i - count].name;
        int d = distance(name, known);
        if (d < best) {
            best = d;
            near = known;
        }
    }
    return near ? cli_usage_error("unknown option '%s'; did you mean %s?", name, near) : cli_usage_error("unknown option '%s'; see --help", name);
}

static void print_options(const struct cli_option *options, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char left[64];
        if (!options[i].help) continue; /* known by name only */
        snprintf(left, sizeof left, "%s%s%s", options[i].name, options[i].argument ? " " : "", options[i].argument ? options[i].argument : "");
        printf("  %-26s %s\n", left, options[i].help);
    }
}

int cli_parse(const struct cli_command *command, const struct cli_option *options, size_t count, int argc, char **argv, struct cli_list *rest, const char *example)
{
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];
        if (strcmp(arg, "--") == 0) {
            while (++i < argc) cli_list_add(rest, argv[i]);
            break;
        }
        bool negative = arg[0] == '-' && isdigit((unsigned char)arg[1]);
        if (arg[0] != '-' || arg[1] == 0 || negative) {
            cli_list_add(rest, arg);
            continue;
        }
        const char *equals = arg[1] == '-' ? strchr(arg, '=') : NULL;
        const struct cli_option *option = find_option(options, count, arg, equals ? (size_t)(equals - arg) : strlen(arg));
        if (!option) return unknown_option(options, count, arg);
        const char *text = equals ? equals + 1 : NULL;
        if (option->kind == CLI_FLAG && text) return cli_usage_error("%s takes no value", option->name);
        if (option->kind != CLI_FLAG && !text) {
            if (i + 1 >= argc) return cli_usage_error("%s wants %s", option->name, option->argument);
            text = argv[++i];
        }
        int code = set_option(option, text);
        if (code >= 0) return code;
    }
    if (cli_settings.threads < 0 || cli_settings.threads > 256) return cli_usage_error("--threads: %lld is not in 0..256", (long long)cli_settings.threads);
    if (!cli_settings.help) return -1;
    printf("%s\n\n%s\n\n", command->usage, command->summary);
    print_options(options, count);
    print_options(everywhere, EVERYWHERE_COUNT);
    printf("\nexample:\n  %s\n", example);
    return CLI_DONE;
}

/* ---- messages ---- */

int cli_fail(const wick_error *err)
{
    cli_progress_end();
    if (err->status == WICK_CANCELLED && cli_interrupted()) return CLI_INTERRUPTED;
    fprintf(stderr, "wick: error: %s\n", err->message[0] ? err->message : wick_status_text(err->status));
    return CLI_FAILED;
}

int cli_usage_error(const char *format, ...)
{
    va_list args;
    fprintf(stderr, "wick: error: ");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
    return CLI_USAGE;
}

wick_log_level cli_log_level(void)
{
    const char *text = getenv("WICK_LOG");
    if (text && strcmp(text, "debug") == 0) return WICK_LOG_DEBUG;
    if (text && strcmp(text, "info") == 0) return WICK_LOG_INFO;
    return cli_settings.quiet ? WICK_LOG_ERROR : cli_settings.verbose ? WICK_LOG_INFO : WICK_LOG_WARN;
}

void cli_log(void *user, wick_log_level level, const char *line)
{
    static const char *const names[] = {"debug", "info", "warning", "error"};
    (void)user;
    if (level < WICK_LOG_OFF) fprintf(stderr, "wick: %s: %s\n", names[level], line);
}

static bool progress_shown;

static bool show_progress(const char *stage, uint64_t done, uint64_t total, unsigned shift, const char *unit)
{
    static int shown_at = -1;
    if (cli_interrupted()) return false;
    if (cli_settings.quiet || !isatty(STDERR_FILENO)) return true;
    int percent = total ? (int)(done * 100 / total) : 0;
    if (percent != shown_at) {
        fprintf(stderr, "\r%-8s [%-40.*s] %3d %% of %llu %s\033[K", stage, percent * 40 / 100, "########################################", percent,
                (unsigned long long)(total >> shift), unit);
        shown_at = percent;
        progress_shown = true;
    }
    return true;
}

bool cli_progress_count(const char *stage, uint64_t done, uint64_t total, const char *unit) { return show_progress(stage, done, total, 0, unit); }

bool cli_progress(void *user, const char *stage, uint64_t done, uint64_t total)
{
    (void)user;
    return show_progress(stage, done, total, 20, "MB");
}

void cli_print_json_text(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') printf("\\%c", c);
        else if (c < 0x20) printf("\\u%04x", c);
        else putchar(c);
    }
    putchar('"');
}

void cli_progress_end(void)
{
    if (progress_shown) fprintf(stderr, "\r\033[K");
    progress_shown = false;
}

/* ---- interruption ---- */

static volatile sig_atomic_t interrupts;
static void (*interrupt_cancel)(void *user);
static void *interrupt_user;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    if (++interrupts > 1) {
        wick_export_abandon();
        cli_abandon();
        _exit(CLI_INTERRUPTED);
    }
    if (interrupt_cancel) interrupt_cancel(interrupt_user);
}

void cli_catch_interrupt(void (*cancel)(void *user), void *user)
{
    struct sigaction action = {.sa_handler = on_interrupt};
    interrupt_cancel = cancel;
    interrupt_user = user;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool cli_interrupted(void) { return interrupts > 0; }

/* ---- input ---- */

char *cli_read_file(const char *path, size_t *size, wick_error *err)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    char *data = NULL;
    size_t capacity = 0;
    *size = 0;
    err->status = WICK_OK;
    if (!file) {
        err->status = WICK_NOT_FOUND;
        snprintf(err->message, sizeof err->message, "%s: cannot open: %s", path, strerror(errno));
        return NULL;
    }
    for (;;) {
        if (*size + 1 >= capacity) {
            char *more = realloc(data, capacity = capacity * 2 + 65536);
            if (!more) {
                err->status = WICK_OUT_OF_MEMORY;
                snprintf(err->message, sizeof err->message, "%s: no memory for %zu bytes", path, capacity);
                break;
            }
            data = more;
        }
        size_t got = fread(data + *size, 1, capacity - *size - 1, file);
        *size += got;
        if (got == 0) break;
    }
    if (err->status == WICK_OK && ferror(file)) {
        err->status = WICK_ACCESS_FAILED;
        snprintf(err->message, sizeof err->message, "%s: cannot read: %s", path, strerror(errno));
    }
    if (file != stdin) fclose(file);
    if (err->status != WICK_OK) {
        free(data);
        return NULL;
    }
    data[*size] = 0;
    return data;
}

int64_t *cli_read_ids(const char *text, size_t *count, wick_error *err)
{
    int64_t *ids = calloc(strlen(text) / 2 + 1, sizeof *ids);
    *count = 0;
    for (const char *at = text; ids && *at;) {
        char *end;
        while (*at == ',' || isspace((unsigned char)*at)) at++;
        if (!*at) break;
        errno = 0;
        ids[*count] = strtoll(at, &end, 10);
        if (end == at || errno || (*end && *end != ',' && !isspace((unsigned char)*end))) {
            err->status = WICK_INVALID_ARGUMENT;
            snprintf(err->message, sizeof err->message, "token ids: '%.20s' is no id", at);
            free(ids);
            return NULL;
        }
        (*count)++;
        at = end;
    }
    if (!ids) {
        err->status = WICK_OUT_OF_MEMORY;
        snprintf(err->message, sizeof err->message, "token ids: no memory");
    }
    return ids;
}
