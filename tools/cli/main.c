/* tools/cli/main.c - the `wick` command: picks the subcommand. */
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct cli_command commands[] = {
#define WICK_COMMAND(name, summary, usage) {#name, summary, usage, wick_command_##name},
#include "commands.def"
#undef WICK_COMMAND
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

const struct cli_command *cli_find(const char *name)
{
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

static void print_help(FILE *to)
{
    fprintf(to, "wick - language models on small machines: checkpoint to program, program to text\n\nusage: wick COMMAND [OPTIONS]\n\n");
    for (int i = 0; i < COMMAND_COUNT; i++) fprintf(to, "  %-11s %s\n", commands[i].name, commands[i].summary);
    fprintf(to, "\n`wick COMMAND --help` says more; `wick --version` what this build holds.\n");
}

/* Results that never reached their reader are a failure: a full disk behind a pipe, say. */
static int check_output(int code)
{
    if (code != CLI_DONE || (fflush(stdout) == 0 && !ferror(stdout))) return code;
    fprintf(stderr, "wick: error: standard output: cannot write: %s\n", strerror(errno));
    return CLI_FAILED;
}

const char *cli_program = "wick";

int main(int argc, char **argv)
{
    if (argc > 0) cli_program = argv[0];
    if (argc < 2) {
        print_help(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return CLI_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) return check_output(cli_version(argc > 2 && strcmp(argv[2], "--json") == 0));
    const struct cli_command *command = cli_find(argv[1]);
    if (command) return check_output(command->run(argc - 1, argv + 1));
    return cli_usage_error("unknown command '%s'; `wick --help` lists them", argv[1]);
}
