/* tools/cli/export_flags.c - see export_flags.h. What each flag sets is in export_flags.def. */
#include "export_flags.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct flag {
    const char *letter, *name, *argument, *keys, *changed;
};

static const struct flag flags[] = {
#define EXPORT_FLAG(letter, name, argument, keys, changed) {letter, name, argument, keys, changed},
#include "export_flags.def"
#undef EXPORT_FLAG
};
enum { FLAG_COUNT = sizeof flags / sizeof flags[0] };

/* Options of the command itself that take a value; the others are left to cli_parse too. */
static const char *const with_value[] = {"--config", "--dump-after", "--threads", "--cfg", "--config-path", "-cp", "--config-name", "-cn", NULL};

/* ---- names ---- */

static char plain(char c) { return c == '_' ? '-' : c; }

/* Do `size` bytes of text spell the beginning of name (the whole name if `whole`)? - and _ are the same in long names. */
static bool spells(const char *text, size_t size, const char *name, bool whole)
{
    size_t i = 0;
    while (i < size && name[i] && plain(text[i]) == plain(name[i])) i++;
    return i == size && (!whole || !name[i]);
}

static bool is_own(const char *text, size_t size)
{
    for (size_t i = 0; with_value[i]; i++)
        if (strlen(with_value[i]) == size && strncmp(text, with_value[i], size) == 0) return true;
    return false;
}

/* By its whole name, or a beginning that only one long name has; *usage: the exit code if several have it. */
static const struct flag *find(const char *text, size_t size, int *usage)
{
    const struct flag *found = NULL;
    for (int i = 0; i < FLAG_COUNT; i++)
        if ((flags[i].letter && strlen(flags[i].letter) == size && strncmp(text, flags[i].letter, size) == 0) || spells(text, size, flags[i].name, true)) return &flags[i];
    if (size < 5 || text[1] != '-' || strncmp("--verbose", text, size) == 0 || strncmp("--quiet", text, size) == 0) return NULL;
    for (int i = 0; i < FLAG_COUNT; i++) {
        if (!spells(text, size, flags[i].name, false)) continue;
        if (found) {
            *usage = cli_usage_error("'%.*s' could be %s or %s", (int)size, text, found->name, flags[i].name);
            return NULL;
        }
        found = &flags[i];
    }
    return found;
}

/* ---- overrides ---- */

static void add_owned(struct export_arguments *out, char *text)
{
    if (!text) {
        fprintf(stderr, "wick: error: arguments: no memory\n");
        exit(CLI_FAILED);
    }
    cli_list_add(&out->owned, text);
    cli_list_add(&out->args, text);
}

/* Appends text in the quotes of the override grammar: backslashes count before a quote only. */
static char *put_quoted(char *at, const char *text)
{
    *at++ = '"';
    while (*text) {
        size_t slashes = strspn(text, "\\");
        bool before_quote = text[slashes] == '"' || !text[slashes];
        memset(at, '\\', slashes * (before_quote ? 2 : 1));
        at += slashes * (before_quote ? 2 : 1);
        text += slashes;
        if (*text == '"') *at++ = '\\';
        if (*text) *at++ = *text++;
    }
    *at++ = '"';
    return at;
}

/* key="value", or key=value as it stands for lists. */
static char *override_of(const char *key, size_t key_size, const char *value, bool quoted)
{
    char *text = malloc(key_size + strlen(value) * 2 + 4);
    if (!text) return NULL;
    memcpy(text, key, key_size);
    text[key_size] = '=';
    if (quoted) *put_quoted(text + key_size + 1, value) = 0;
    else memcpy(text + key_size + 1, value, strlen(value) + 1);
    return text;
}

/* What the configuration calls the value; itself unless the flag has another name for it. */
static const char *meant(const struct flag *flag, const char *value, char out[64])
{
    for (const char *at = flag->changed; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) {
        size_t size = strcspn(at, "="), length = strcspn(at + size + 1, "|");
        if (strlen(value) != size || strncmp(at, value, size) != 0 || length >= 64) continue;
        memcpy(out, at + size + 1, length);
        out[length] = 0;
        return out;
    }
    return value;
}

static void apply(struct export_arguments *out, const struct flag *flag, const char *value)
{
    char changed[64];
    for (const char *key = flag->keys; *key;) {
        size_t size = strcspn(key, " ");
        if (flag->argument) add_owned(out, override_of(key, size, meant(flag, value, changed), flag->argument[0] != '['));
        else {
            char *text = malloc(size + 1);
            if (text) memcpy(text, key, size), text[size] = 0;
            add_owned(out, text);
        }
        key += size + strspn(key + size, " ");
    }
}

/* Every argument up to the next option or override becomes an item; returns how many there were. */
static int apply_list(struct export_arguments *out, const struct flag *flag, int count, char **items, const char *first)
{
    size_t bytes = strlen(flag->keys) + (first ? strlen(first) * 2 : 0) + 8;
    int taken = 0;
    while (taken < count && items[taken][0] != '-' && !strchr(items[taken], '=')) bytes += strlen(items[taken++]) * 2 + 4;
    char *text = malloc(bytes), *at = text ? text + sprintf(text, "%s=[", flag->keys) : NULL;
    if (text && first) at = put_quoted(at, first);
    for (int i = 0; text && i < taken; i++) {
        if (i || first) *at++ = ',';
        at = put_quoted(at, items[i]);
    }
    if (text) memcpy(at, "]", 2);
    add_owned(out, text);
    return taken;
}

/* ---- arguments ---- */

/* "-Xv": several letters that take nothing. */
static bool letters(struct export_arguments *out, const char *arg)
{
    int usage = -1;
    if (arg[0] != '-' || arg[1] == '-' || strlen(arg) < 3) return false;
    for (int round = 0; round < 2; round++)
        for (const char *c = arg + 1; *c; c++) {
            const char letter[3] = {'-', *c, 0};
            const struct flag *flag = find(letter, 2, &usage);
            if (round == 0 && (flag ? flag->argument != NULL : *c != 'v')) return false;
            if (round && flag) apply(out, flag, NULL);
            else if (round) cli_list_add(&out->args, "--verbose"), cli_list_add(&out->args, "debug.verbose=true");
        }
    return true;
}

/* One flag of the older command; returns the arguments used after it, -1: usage was wrong (*usage is the exit code). */
static int take(struct export_arguments *out, const struct flag *flag, const char *value, int left, char **next, int *usage)
{
    size_t size = flag->argument ? strlen(flag->argument) : 0;
    bool list = size > 3 && strcmp(flag->argument + size - 3, "...") == 0;
    if (!flag->argument) {
        if (value) return *usage = cli_usage_error("%s takes no value", flag->name), -1;
        return apply(out, flag, NULL), 0;
    }
    if (!value && (left < 1 || (list && next[0][0] == '-'))) return *usage = cli_usage_error("%s wants %s", flag->name, flag->argument), -1;
    if (list) return apply_list(out, flag, left, next, value);
    return apply(out, flag, value ? value : next[0]), value ? 0 : 1;
}

static int translate(int argc, char **argv, struct export_arguments *out)
{
    for (int i = 1, usage = -1; i < argc; i++) {
        const char *arg = argv[i], *equals = strchr(arg, '=');
        size_t size = arg[0] == '-' && equals ? (size_t)(equals - arg) : strlen(arg);
        if (strcmp(arg, "--hydra") == 0) continue;
        const struct flag *flag = arg[0] == '-' && arg[1] && !is_own(arg, size) ? find(arg, size, &usage) : NULL;
        const char *value = flag && equals ? equals + 1 : NULL;
        if (usage >= 0) return usage;
        if (!flag && letters(out, arg)) continue;
        if (!flag && arg[0] == '-' && arg[1] && arg[1] != '-' && arg[2] && !is_own(arg, size) && (flag = find(arg, 2, &usage)) != NULL) {
            if (!flag->argument) flag = NULL;
            else value = arg + 2;
        }
        if (flag) {
            int used = take(out, flag, value, argc - i - 1, argv + i + 1, &usage);
            if (used < 0) return usage;
            i += used;
            continue;
        }
        cli_list_add(&out->args, arg);
        if (strcmp(arg, "-v") == 0 || strcmp(arg, "--verbose") == 0) cli_list_add(&out->args, "debug.verbose=true");
        if (arg[0] == '-' && !equals && is_own(arg, size) && i + 1 < argc) cli_list_add(&out->args, argv[++i]);
    }
    return -1;
}

static bool sets(const struct export_arguments *arguments, const char *key)
{
    for (size_t i = 0; i < arguments->args.count; i++)
        if (strncmp(arguments->args.items[i], key, strlen(key)) == 0) return true;
    return false;
}

int export_flags_translate(int argc, char **argv, struct export_arguments *out)
{
    cli_list_add(&out->args, argv[0]);
    int code = translate(argc, argv, out);
    /* Only of the flags: with keys, an adapter may say its rank and names itself. */
    if (code < 0 && sets(out, "base.lora_config.adapter_checkpoint=\"") && !sets(out, "base.lora_config.adapter_config="))
        code = cli_usage_error("--adapter_checkpoint requires --adapter_config");
    return code;
}

char *export_override(const char *key, const char *value, bool quoted) { return override_of(key, strlen(key), value, quoted); }

void export_arguments_free(struct export_arguments *arguments)
{
    for (size_t i = 0; i < arguments->owned.count; i++) free((void *)(uintptr_t)arguments->owned.items[i]);
    cli_list_free(&arguments->owned);
    cli_list_free(&arguments->args);
}

size_t export_flags_names(struct cli_option *options, size_t most)
{
    static bool unused;
    size_t count = 0;
    for (int i = 0; i < FLAG_COUNT && count < most; i++) options[count++] = (struct cli_option){flags[i].name, 0, CLI_FLAG, &unused, NULL, NULL};
    return count;
}

void export_flags_print(void)
{
    printf("\nflags of the original's older command, each the same as keys:\n\n");
    for (int i = 0; i < FLAG_COUNT; i++) {
        char left[80];
        snprintf(left, sizeof left, "%s%s%s%s%s", flags[i].letter ? flags[i].letter : "", flags[i].letter ? ", " : "", flags[i].name, flags[i].argument ? " " : "",
                 flags[i].argument ? flags[i].argument : "");
        printf("  %-44s %s\n", left, flags[i].keys);
    }
}
