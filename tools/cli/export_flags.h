/* tools/cli/export_flags.h - the flags of the original's older command, as overrides of the configuration. */
#ifndef WICK_EXPORT_FLAGS_H
#define WICK_EXPORT_FLAGS_H

#include "cli.h"

/* The arguments of `wick export` with every such flag replaced by section.key=value. */
struct export_arguments {
    struct cli_list args;  /* args.items[0] is the command's name */
    struct cli_list owned; /* texts made here */
};

/* Returns -1 to go on, else the exit code (usage was wrong, which is said). Options of the command itself are left as they are. */
int export_flags_translate(int argc, char **argv, struct export_arguments *out);
void export_arguments_free(struct export_arguments *arguments);
/* key="value" in the quotes of the override grammar, or key=value as it stands; free() it. NULL: no memory. */
char *export_override(const char *key, const char *value, bool quoted);
/* Fills in options that are known by name only, at most `most`; returns how many. */
size_t export_flags_names(struct cli_option *options, size_t most);
/* For --help: flag, argument and what it sets, a line each. */
void export_flags_print(void);

#endif
