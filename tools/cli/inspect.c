/* tools/cli/inspect.c - wick inspect: what is in a program. */
#include "cli.h"

#include "wick/inspect.h"

#include <stdio.h>
#include <stdlib.h>

/* The calls of a method as they are in the program, then as they run here. */
static int show_nodes(const char *path, const char *method)
{
    wick_error err = {0};
    for (int fused = 0; fused < 2; fused++) {
        wick_model_options options;
        wick_model *model;
        char *text;
        wick_model_options_init(&options);
        options.no_fuse = !fused;
        if (wick_model_open(path, &options, &model, &err) != WICK_OK) return cli_fail(&err);
        wick_status status = wick_inspect_nodes(model, method, &text, &err);
        wick_model_unref(model);
        if (status != WICK_OK) return cli_fail(&err);
        printf("%s\n%s", fused ? "\noptimised" : "as in the program", text);
        wick_inspect_free(text);
    }
    return CLI_DONE;
}

int wick_command_inspect(int argc, char **argv)
{
    bool optimised = false;
    const char *method = "forward";
    const struct cli_option options[] = {
        {"--optimised", 0, CLI_FLAG, &optimised, NULL, "list a method's calls before and after optimisation"},
        {"--method", 0, CLI_TEXT, &method, "NAME", "which (default forward)"},
    };
    struct cli_list rest = {0};
    int code = cli_parse(cli_find("inspect"), options, sizeof options / sizeof *options, argc, argv, &rest, "wick inspect model.pte --json");
    if (code >= 0) return code;
    if (rest.count != 1) return cli_usage_error("inspect: name one file");
    if (optimised && cli_settings.json) return cli_usage_error("inspect: --optimised is not supported with --json");
    if (optimised) {
        code = show_nodes(rest.items[0], method);
        cli_list_free(&rest);
        return code;
    }
    char *text;
    wick_error err = {0};
    wick_status status = wick_inspect(rest.items[0], cli_settings.json ? WICK_INSPECT_JSON : WICK_INSPECT_TEXT, &text, &err);
    cli_list_free(&rest);
    if (status != WICK_OK) return cli_fail(&err);
    fputs(text, stdout);
    wick_inspect_free(text);
    return CLI_DONE;
}
