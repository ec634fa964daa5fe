/* tools/cli/inspect.c - wick inspect: what is in a program. */
#include "cli.h"

#include "wick/inspect.h"

#include <stdio.h>
#include <stdlib.h>

int wick_command_inspect(int argc, char **argv)
{
    struct cli_list rest = {0};
    int code = cli_parse(cli_find("inspect"), NULL, 0, argc, argv, &rest, "wick inspect model.pte --json");
    if (code >= 0) return code;
    if (rest.count != 1) return cli_usage_error("inspect: name one file");
    char *text;
    wick_error err = {0};
    wick_status status = wick_inspect(rest.items[0], cli_settings.json ? WICK_INSPECT_JSON : WICK_INSPECT_TEXT, &text, &err);
    cli_list_free(&rest);
    if (status != WICK_OK) return cli_fail(&err);
    fputs(text, stdout);
    wick_inspect_free(text);
    return CLI_DONE;
}
