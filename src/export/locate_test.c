/* Checkpoints that are not named: found where the original and its download library leave them, or said where they were looked for. */
#include "export/locate.h"

#include "base/os.h"
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>

static wick_error err;

static void make(const char *base, const char *folder, const char *name, const char *text)
{
    char path[2048];
    snprintf(path, sizeof path, "%s/%s", base, folder);
    WICK_ASSERT_OK(wick_make_folder(path, &err), &err);
    if (!name) return;
    snprintf(path, sizeof path, "%s/%s/%s", base, folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* base.checkpoint after looking for a class; "" if it was refused. */
static const char *located(const char *model_class, const char *given)
{
    static char path[2048];
    struct wick_config config;
    struct wick_log log = {0};
    char override[256];
    WICK_ASSERT_OK(wick_config_init(&config, &err), &err);
    snprintf(override, sizeof override, "base.model_class=%s", model_class);
    WICK_ASSERT_OK(wick_config_override(&config, override, &err), &err);
    snprintf(override, sizeof override, "base.checkpoint=%s", given);
    WICK_ASSERT_OK(wick_config_override(&config, override, &err), &err);
    log.level = WICK_LOG_OFF;
    wick_status status = wick_locate_checkpoint(&config, &log, &err);
    snprintf(path, sizeof path, "%s", status == WICK_OK ? wick_config_text(&config, WICK_KEY_BASE_CHECKPOINT) : "");
    wick_config_release(&config);
    return path;
}

static void finds_what_is_there(void **state)
{
    (void)state;
    char home[1024], expected[2048];
    snprintf(home, sizeof home, "%s", wick_test_temp("home"));
    WICK_ASSERT_OK(wick_make_folder(home, &err), &err);
    static const char *const cleared[] = {"HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "XDG_CACHE_HOME"};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cleared); i++) unsetenv(cleared[i]);
    setenv("HOME", home, 1);

    assert_string_equal(located("smollm2", "here.pth"), "here.pth");
    assert_string_equal(located("smollm2", "null"), "");
    assert_non_null(strstr(err.message, "download HuggingFaceTB/SmolLM2-135M and name its folder"));
    assert_non_null(strstr(err.message, "meta_checkpoints/HuggingFaceTB_SmolLM2-135M.pth"));
    assert_string_equal(located("llama3", "null"), "");
    assert_non_null(strstr(err.message, "no weights are made up for base.model_class=llama3"));

    /* a snapshot of the download cache */
    make(home, ".cache", NULL, NULL);
    make(home, ".cache/huggingface", NULL, NULL);
    make(home, ".cache/huggingface/hub", NULL, NULL);
    make(home, ".cache/huggingface/hub/models--HuggingFaceTB--SmolLM2-135M", NULL, NULL);
    make(home, ".cache/huggingface/hub/models--HuggingFaceTB--SmolLM2-135M/refs", "main", "0123abcd\n");
    assert_string_equal(located("smollm2", "null"), "");
    make(home, ".cache/huggingface/hub/models--HuggingFaceTB--SmolLM2-135M/snapshots", NULL, NULL);
    make(home, ".cache/huggingface/hub/models--HuggingFaceTB--SmolLM2-135M/snapshots/0123abcd", NULL, NULL);
    snprintf(expected, sizeof expected, "%s/.cache/huggingface/hub/models--HuggingFaceTB--SmolLM2-135M/snapshots/0123abcd", home);
    assert_string_equal(located("smollm2", "null"), expected);
    make(home, ".cache/huggingface/hub/models--HuggingFaceTB--SmolLM2-135M/refs", "main", "../../x");
    assert_string_equal(located("smollm2", "null"), "");

    /* what the original converted goes first */
    make(home, ".cache/meta_checkpoints", "HuggingFaceTB_SmolLM2-135M.pth", "x");
    snprintf(expected, sizeof expected, "%s/.cache/meta_checkpoints/HuggingFaceTB_SmolLM2-135M.pth", home);
    assert_string_equal(located("smollm2", "null"), expected);
    setenv("HF_HOME", "/nowhere", 1);
    assert_string_equal(located("smollm2", "null"), "");
    assert_non_null(strstr(err.message, "/nowhere/hub/models--HuggingFaceTB--SmolLM2-135M"));
    unsetenv("HF_HOME");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_what_is_there)};
    return WICK_TEST_MAIN(tests);
}
