/* tools/cli/version.c - wick --version [--json]: what this build holds. */
#include "cli.h"

#include "wick/runtime.h"

#include <stdio.h>

static void print_names(const char *label, size_t (*count)(void), const char *(*name)(size_t), bool json, bool last)
{
    size_t n = count();
    printf(json ? "\"%s\":[" : "%s:", label);
    for (size_t i = 0; i < n; i++) printf(json ? "%s\"%s\"" : "%s%s", json ? (i ? "," : "") : " ", name(i));
    printf(json ? (last ? "]" : "],") : "\n");
}

int cli_version(bool json)
{
#if defined(__clang__)
    const char *compiler = "clang " __clang_version__;
#elif defined(__GNUC__)
    const char *compiler = "gcc " __VERSION__;
#else
    const char *compiler = "unknown";
#endif
    printf(json ? "{\"version\":\"%s\",\"compiler\":\"%s\",\"cpu_level\":\"%s\"," : "wick %s (%s), cpu level %s\n", wick_version(), compiler, wick_build_cpu());
    print_names("cpu_levels", wick_build_cpu_level_count, wick_build_cpu_level, json, false);
    print_names("backends", wick_build_backend_count, wick_build_backend, json, false);
    if (json) print_names("operators", wick_build_op_count, wick_build_op, json, true);
    else printf("operators: %zu\n", wick_build_op_count());
    if (json) printf("}\n");
    return CLI_DONE;
}
