/* tests/size/core_main.c - the least host of the `core` profile: opens a program and runs "forward" on zeroed inputs.
 * It is linked to measure what such a host carries (tests/size/size.sh). */
#include "wick/runtime.h"

int main(int argc, char **argv)
{
    wick_model *model;
    wick_runner *runner;
    wick_error error;
    if (argc < 2 || wick_model_open(argv[1], NULL, &model, &error) != WICK_OK) return 2;
    if (wick_runner_open(model, "forward", &runner, &error) != WICK_OK) return 3;
    wick_status status = wick_runner_run(runner, &error);
    wick_runner_close(runner);
    wick_model_unref(model);
    return status == WICK_OK ? 0 : 4;
}
