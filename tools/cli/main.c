/* tools/cli/main.c - the `wick` command: picks the subcommand. */
#include "cli.h"

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

int cli_version(bool json); /* version.c */

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return CLI_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) return cli_version(argc > 2 && strcmp(argv[2], "--json") == 0);
    const struct cli_command *command = cli_find(argv[1]);
    if (command) return command->run(argc - 1, argv + 1);
    return cli_usage_error("unknown command '%s'; `wick --help` lists them", argv[1]);
}
