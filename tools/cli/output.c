/* tools/cli/output.c - a result file that appears under its name only when it is whole. */
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The unfinished file, and what else is for the time being, for the signal handler; one command writes one at a time. */
static char unfinished[1024], scratch[3][1024];

static void drop_unfinished(void)
{
    if (unfinished[0]) unlink(unfinished);
    unfinished[0] = 0;
}

static void fail(wick_error *err, const char *path, int number)
{
    err->status = WICK_ACCESS_FAILED;
    snprintf(err->message, sizeof err->message, "%s: cannot write: %s", path, strerror(number));
}

bool cli_output_open(struct cli_output *out, const char *path, wick_error *err)
{
    struct stat status;
    /* Devices and pipes cannot be renamed over: they are written as they are. */
    bool direct = stat(path, &status) == 0 && !S_ISREG(status.st_mode);
    *out = (struct cli_output){.path = path, .direct = direct};
    int size = snprintf(unfinished, sizeof unfinished, "%s.%ld.part", path, (long)getpid());
    if (size < 0 || (size_t)size >= sizeof unfinished) {
        unfinished[0] = 0;
        fail(err, path, ENAMETOOLONG);
        return false;
    }
    if (direct) unfinished[0] = 0;
    out->file = fopen(direct ? path : unfinished, "wb");
    if (out->file) return true;
    fail(err, path, errno);
    unfinished[0] = 0;
    return false;
}

bool cli_output_close(struct cli_output *out, bool whole, wick_error *err)
{
    if (!out->file) return true;
    int number = fclose(out->file) == 0 ? 0 : errno;
    out->file = NULL;
    if (number == 0 && whole && !out->direct && rename(unfinished, out->path) != 0) number = errno;
    drop_unfinished();
    if (number) fail(err, out->path, number);
    return number == 0;
}

void cli_scratch(size_t slot, const char *path) { snprintf(scratch[slot], sizeof scratch[slot], "%s", path ? path : ""); }

void cli_abandon(void)
{
    drop_unfinished();
    for (size_t i = 0; i < sizeof scratch / sizeof scratch[0]; i++)
        if (scratch[i][0] && unlink(scratch[i]) != 0) rmdir(scratch[i]);
}
