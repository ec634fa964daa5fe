/* Ids of generation_config.json and config.json: numbers, lists, null, both files, a multi-modal one; a broken file is named. */
#include "export/special_ids.h"
#include "fixture.h"

#include <stdio.h>
#include <string.h>

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    fclose(file);
}

/* One tensor of no elements: all that a checkpoint needs. */
static struct wick_checkpoint *open_checkpoint(const char **path)
{
    static const char bytes[] = "\x3c\0\0\0\0\0\0\0{\"w\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}}        ";
    struct wick_checkpoint *checkpoint;
    wick_error err;
    *path = wick_test_temp("model.safetensors");
    FILE *file = fopen(*path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, 8 + 0x3c, file), 8 + 0x3c);
    fclose(file);
    WICK_ASSERT_OK(wick_checkpoint_open(&checkpoint, *path, &err), &err);
    return checkpoint;
}

static void files(void **state)
{
    (void)state;
    static const struct {
        const char *generation, *config;
        bool has_bos;
        int64_t bos;
        uint32_t count;
        int64_t eos[3];
    } cases[] = {
        {"{}", "{\"bos_token_id\": 1, \"eos_token_id\": 2}", true, 1, 1, {2}},
        {"{\"bos_token_id\": 5, \"eos_token_id\": [7, 8, 7]}", "{\"bos_token_id\": 1, \"eos_token_id\": 9}", true, 5, 3, {7, 8, 9}},
        {"{\"bos_token_id\": null, \"eos_token_id\": null}", "{\"bos_token_id\": null}", false, 0, 0, {0}},
        {"{\"eos_token_id\": [\"x\", -1, 3]}", "{\"text_config\": {\"bos_token_id\": 4, \"eos_token_id\": 6}}", true, 4, 2, {3, 6}},
    };
    const char *path, *generation = wick_test_temp("generation_config.json"), *config = wick_test_temp("config.json");
    struct wick_checkpoint *checkpoint = open_checkpoint(&path);
    struct wick_special_ids ids;
    wick_error err;
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cases); i++) {
        write_text(generation, cases[i].generation);
        write_text(config, cases[i].config);
        WICK_ASSERT_OK(wick_special_ids_find(&ids, checkpoint, path, &err), &err);
        assert_int_equal(ids.has_bos, cases[i].has_bos);
        assert_int_equal(ids.bos, cases[i].bos);
        assert_int_equal(ids.eos_count, cases[i].count);
        for (uint32_t k = 0; k < ids.eos_count; k++) assert_int_equal(ids.eos[k], cases[i].eos[k]);
    }
    write_text(generation, "{\"eos_token_id\": ");
    assert_int_equal(wick_special_ids_find(&ids, checkpoint, path, &err), WICK_INVALID_CONFIG);
    assert_non_null(strstr(err.message, "generation_config.json"));
    wick_checkpoint_close(checkpoint);
}

static void many_ends(void **state)
{
    (void)state;
    char text[400] = "{\"eos_token_id\": [0";
    for (int i = 1; i < 40; i++) snprintf(text + strlen(text), sizeof text - strlen(text), ",%d", i);
    const char *path, *generation = wick_test_temp("generation_config.json");
    write_text(generation, strcat(text, "]}"));
    struct wick_checkpoint *checkpoint = open_checkpoint(&path);
    struct wick_special_ids ids;
    wick_error err;
    WICK_ASSERT_OK(wick_special_ids_find(&ids, checkpoint, path, &err), &err);
    assert_int_equal(ids.eos_count, WICK_EOS_IDS_MAX);
    wick_checkpoint_close(checkpoint);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files), cmocka_unit_test(many_ends)};
    return WICK_TEST_MAIN(tests);
}
