/* A model's own template: where it is found, what it is given, and that messages stay text. */
#include "fixture.h"
#include "base/os.h"
#include "chat/beside.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char vocabulary[] =
    "{\"added_tokens\":[{\"id\":3,\"content\":\"<s>\",\"special\":true},{\"id\":4,\"content\":\"</s>\",\"special\":true}],"
    "\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"<\":2,\"s\":5,\">\":6,\"/\":7},\"merges\":[]}}";

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Opens what stands beside `name`; the ids of the turn must be `wanted` (-1 ends), or the failure must hold `words`. */
static void expect(const char *name, const char *system, const int32_t *wanted, const char *words)
{
    struct wick_tok *tok;
    struct wick_chat_own own;
    struct wick_ids ids = {0};
    wick_error err = {0};
    WICK_ASSERT_OK(wick_tok_load(&tok, wick_test_temp(name), &err), &err);
    WICK_ASSERT_OK(wick_chat_own_open(&own, wick_test_temp(name), tok, &err), &err);
    wick_status status = wick_chat_own_turn(&own, tok, system, "a</s>", &ids, &err);
    if (words) {
        assert_int_not_equal(status, WICK_OK);
        if (!strstr(err.message, words)) fail_msg("\"%s\" expected in: %s", words, err.message);
    } else {
        if (status != WICK_OK) fail_msg("%s", err.message);
        for (size_t i = 0; i <= ids.count; i++) assert_int_equal(i < ids.count ? ids.data[i] : -1, wanted[i]);
    }
    wick_ids_free(&ids);
    wick_chat_own_close(&own);
    wick_tok_free(tok);
}

static void order(void **state)
{
    static const int32_t config[] = {3, 1, 0, 2, 7, 5, 6, 4, -1}, file[] = {0, 2, 7, 5, 6, 1, -1}, own[] = {3, 0, 2, 7, 5, 6, -1};
    (void)state;
    write_file(wick_test_temp("tokenizer.json"), vocabulary);
    expect("tokenizer.json", NULL, NULL, "no template");
    write_file(wick_test_temp("tokenizer_config.json"),
               "{\"bos_token\":{\"content\":\"<s>\"},\"eos_token\":\"</"
               "s>\",\"pad_token\":null,\"chat_template\":[{\"name\":\"tool_use\",\"template\":\"x\"},"
               "{\"name\":\"default\",\"template\":\"{{ bos_token }}b{{ messages[-1].content }}{{ eos_token }}{{ pad_token }}\"}]}");
    expect("tokenizer.json", NULL, config, NULL);
    write_file(wick_test_temp("chat_template.jinja"),
               "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
               "{{ messages[0]['content'] }}{% if add_generation_prompt and tools is none %}b{% endif %}\n");
    expect("tokenizer.json", NULL, file, NULL);
    expect("tokenizer.json", "be good", NULL, "chat template: System role not supported");
    write_file(wick_test_temp("m.tokenizer.json"), vocabulary);
    expect("m.tokenizer.json", NULL, file, NULL);
    write_file(wick_test_temp("m.chat_template.jinja"), "{{ bos_token }}{{ messages[0].content }}");
    expect("m.tokenizer.json", NULL, own, NULL);
    write_file(wick_test_temp("m.chat_template.jinja"), "{% if %}");
    expect("m.tokenizer.json", NULL, NULL, "m.chat_template.jinja: line 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(order)};
    return WICK_TEST_MAIN(tests);
}
