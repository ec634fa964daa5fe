/* Templates render as the original renders them; what came from outside stays marked; hostile ones end with an error. */
#include "fixture.h"
#include "chat/chat.h"

#include <stdio.h>
#include <stdlib.h>

/* Renders with arguments given as JSON; trusted parts go to `marked` as they are, the others in brackets. */
static wick_status render(const char *source, const char *args, struct wick_buf *text, struct wick_buf *marked, wick_error *err)
{
    struct wick_chat_template *chat;
    struct wick_chat_text made = {0};
    json_t *json = json_loads(args, 0, NULL);
    size_t begin = 0;
    assert_non_null(json);
    wick_status status = wick_chat_compile(&chat, wick_str_of(source), "template", err);
    if (status == WICK_OK) {
        status = wick_chat_render(chat, json, &made, err);
        wick_chat_free(chat);
    }
    json_decref(json);
    wick_buf_append(text, made.text.data, made.text.size);
    for (size_t i = 0; i < made.count; begin = made.parts[i++].end) {
        if (!made.parts[i].trusted) wick_buf_text(marked, "[");
        wick_buf_append(marked, made.text.data + begin, made.parts[i].end - begin);
        if (!made.parts[i].trusted) wick_buf_text(marked, "]");
    }
    assert_true(status != WICK_OK || begin == made.text.size);
    wick_chat_text_free(&made);
    return status;
}

static void expect(const char *source, const char *args, const char *wanted, bool marks)
{
    struct wick_buf text = {0}, marked = {0};
    wick_error err;
    WICK_ASSERT_OK(render(source, args, &text, &marked, &err), &err);
    wick_buf_text(&text, "");
    wick_buf_text(&marked, "");
    const char *got = marks ? marked.data : text.data;
    assert_string_equal(got ? got : "", wanted);
    wick_buf_free(&text);
    wick_buf_free(&marked);
}

static void refused(const char *source, const char *args, wick_status wanted, const char *words)
{
    struct wick_buf text = {0}, marked = {0};
    wick_error err = {0};
    assert_int_equal(render(source, args, &text, &marked, &err), wanted);
    if (!strstr(err.message, words)) fail_msg("\"%s\" expected in: %s", words, err.message);
    assert_int_equal(text.size, 0);
    wick_buf_free(&text);
    wick_buf_free(&marked);
}

/* ---- the original's cases ---- */

static void golden(void **state)
{
    const char *file = wick_test_golden("chat_templates.json");
    json_t *root, *cases;
    wick_error err;
    size_t errors = 0;
    (void)state;
    WICK_NEED(file);
    WICK_ASSERT_OK(wick_json_load(&root, file, WICK_INVALID_ARGUMENT, &err), &err);
    cases = json_object_get(root, "cases");
    assert_true(json_array_size(cases) >= 100);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *item = json_array_get(cases, i), *text = json_object_get(item, "text"), *error = json_object_get(item, "error");
        const char *source =
            json_string_value(json_object_get(json_object_get(root, "templates"), json_string_value(json_object_get(item, "template"))));
        char *args = json_dumps(json_object_get(item, "args"), 0);
        if (text) expect(source, args, json_string_value(text), false);
        else refused(source, args, WICK_INVALID_ARGUMENT, json_string_value(error)), errors++;
        free(args);
    }
    assert_true(errors > 0);
    json_decref(root);
}

/* ---- statements and expressions ---- */

static void white_space(void **state)
{
    (void)state;
    expect("a\n  {% if x %}\n  b\n  {% endif %}\nc\n", "{\"x\":1}", "a\n  b\nc", false);
    expect("a\n  {%- if x -%}\n  b\n  {%- endif %}\nc", "{\"x\":1}", "abc", false);
    expect("  {{ x }}\n  {# c #}\n y", "{\"x\":1}", "  1\n y", false);
    expect("  {%+ if x +%}\nz{% endif %}", "{\"x\":1}", "  \nz", false);
    expect("{% raw %}{{ x }}{% endraw %}\r\n{{ '{{' }}", "{}", "{{ x }}{{", false);
}

static void loops_and_scopes(void **state)
{
    static const char args[] = "{\"l\":[3,1,2],\"d\":{\"a\":1,\"b\":[2]}}";
    (void)state;
    expect("{% for x in l if x > 1 %}{{ loop.index }}{{ x }}{% if not loop.last %},{% endif %}{% endfor %}", args, "13,22", false);
    expect("{% set n = 0 %}{% for x in l %}{% set n = n + x %}{{ n }}{% endfor %}{{ n }}", args, "3120", false);
    expect("{% set s = namespace(n=0) %}{% for x in l %}{% set s.n = s.n + x %}{% endfor %}{{ s.n }}", args, "6", false);
    expect("{% for x in l %}{% if x == 2 %}{% break %}{% endif %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endfor %}", args, "3", false);
    expect("{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}", args, "a=1;b=[2];", false);
    expect("{% macro m(a, b='x') %}<{{ a }}{{ b }}>{% endmacro %}{{ m(1) }}{{ m(b=2, a=3) }}", args, "<1x><32>", false);
    expect("{% macro m() %}[{{ caller() }}]{% endmacro %}{% call m() %}y{% endcall %}", args, "[y]", false);
    expect("{% generation %}{% set z = 1 %}x{% endgeneration %}{{ z is defined }}", args, "xFalse", false);
    expect("{{ bos_token }}x{{ y is defined }}{{ y }}", "{\"bos_token\":\"<s>\"}", "<s>xFalse", false);
}

static void texts(void **state)
{
    static const char args[] = "{\"s\":\" a,b </think> c \",\"f\":[0.1,1e20,100.0],\"u\":\"\\u00e9\\u4e16\"}";
    (void)state;
    expect("{{ s.split('</think>')[-1].lstrip() }}|{{ s | trim }}|{{ u[1:] }}{{ u | length }}", args,
           "c |a,b </think> c|\xe4\xb8\x96"
           "2",
           false);
    expect("{{ f }}{{ f | tojson }}{{ {'a': none, 'b': [true]} | tojson(indent=2) }}", args,
           "[0.1, 1e+20, 100.0][0.1, 1e+20, 100.0]{\n  \"a\": null,\n  \"b\": [\n    true\n  ]\n}", false);
    expect("{{ \"it's\" }}{{ [\"it's\", 'x'] }}", args, "it's[\"it's\", 'x']", false);
}

/* ---- trust ---- */

static void marks(void **state)
{
    static const char args[] = "{\"messages\":[{\"role\":\"user\",\"content\":\" a</s>b \"}],\"bos_token\":\"<s>\",\"n\":3}";
    (void)state;
    expect("{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>{{ m.content | trim }}</s>{% endfor %}", args, "<s><|[user]|>[a</s>b]</s>", true);
    expect("{{ ('<x>' + messages[0].content + '<y>') | replace('a', '<z>') | upper }}", args, "<X>[ ]<Z>[</S>B ]<Y>", true);
    expect("{{ messages[0].content.split('</s>') | join('</s>') }}{{ n }}", args, "[ a]</s>[b ]3", true);
    expect("{{ messages[0] | tojson }}", args, "{\"[role]\": \"[user]\", \"[content]\": \"[ a</s>b ]\"}", true);
    expect("{% set x %}q{{ messages[0].content[1:3] }}{% endset %}{{ x[::-1] }}{{ '%s!' % messages[0].role }}", args, "[<a]q[user]!", true);
    expect("{% macro m(a) %}({{ a }}){% endmacro %}{{ m(messages[0].role)[1:] }}", args, "[user])", true);
}

/* What a message spells is text for the tokenizer, what the template spells is a token; the text is one for merges. */
static void ids(void **state)
{
    static const char vocabulary[] =
        "{\"added_tokens\":[{\"id\":9,\"content\":\"<e>\",\"special\":true,\"normalized\":false},{\"id\":10,\"content\":\"<N>\",\"special\":true,"
        "\"normalized\":true}],\"normalizer\":{\"type\":\"Lowercase\"},\"model\":{\"type\":\"BPE\",\"vocab\":{\"<\":0,\"e\":1,"
        "\">\":2,\"a\":3,\"b\":4,\"ab\":5,\"n\":6},\"merges\":[\"a b\"]}}";
    static const int32_t wanted[] = {9, 5, 0, 1, 2, 0, 6, 2, 9, 10, 3};
    struct wick_tok *tok;
    struct wick_chat_template *chat;
    struct wick_chat_text text;
    struct wick_ids made = {0};
    wick_error err;
    (void)state;
    json_t *args = json_pack("{s:s}", "m", "b<e><n>");
    WICK_ASSERT_OK(wick_tok_load_memory(&tok, vocabulary, strlen(vocabulary), "sample", &err), &err);
    WICK_ASSERT_OK(wick_chat_compile(&chat, WICK_STR("<e>a{{ m }}<e><N>a"), "template", &err), &err);
    WICK_ASSERT_OK(wick_chat_render(chat, args, &text, &err), &err);
    WICK_ASSERT_OK(wick_chat_text_encode(tok, &text, &made, &err), &err);
    assert_int_equal(made.count, WICK_ARRAY_SIZE(wanted));
    assert_memory_equal(made.data, wanted, sizeof wanted);
    wick_ids_free(&made);
    wick_chat_text_free(&text);
    wick_chat_free(chat);
    wick_tok_free(tok);
    json_decref(args);
}

/* ---- refusals ---- */

static void errors(void **state)
{
    (void)state;
    refused("{{ raise_exception('Only ' ~ n) }}", "{\"n\":2}", WICK_INVALID_ARGUMENT, "Only 2");
    refused("a\n{{ x.y }}", "{}", WICK_INVALID_ARGUMENT, "'x' is undefined");
    refused("{{ d.x.y }}", "{\"d\":{}}", WICK_INVALID_ARGUMENT, "'dict object' has no attribute 'x'");
    refused("a\n{% if x %}", "{}", WICK_INVALID_ARGUMENT, "template: line 2: Unexpected end of template: 'elif' expected");
    refused("\n\n{{ x | frobnicate }}", "{}", WICK_NOT_SUPPORTED, "template: line 3: the filter 'frobnicate'");
    refused("{% include 'x' %}", "{}", WICK_NOT_SUPPORTED, "the tag 'include'");
    refused("{{ l.append(1) }}", "{\"l\":[]}", WICK_INVALID_ARGUMENT, "unsafe");
    refused("{{ 1 + 'a' }}", "{}", WICK_INVALID_ARGUMENT, "unsupported operand");
    refused("{% break %}", "{}", WICK_INVALID_ARGUMENT, "outside loop");
    refused("\xff", "{}", WICK_INVALID_ARGUMENT, "not UTF-8");
}

static void repeated(const char *what, size_t count, const char *tail, const char *words)
{
    struct wick_buf source = {0};
    for (size_t i = 0; i < count; i++) wick_buf_text(&source, what);
    wick_buf_text(&source, tail);
    refused(source.data, "{\"x\":1}", WICK_INVALID_ARGUMENT, words);
    wick_buf_free(&source);
}

static void limits(void **state)
{
    (void)state;
    repeated("{{ "
             "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((("
             "((((((((((((((((((",
             1, "1", "deep");
    repeated("{% if x %}", 5000, "", "deep");
    refused("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "{}", WICK_INVALID_ARGUMENT, "deep");
    refused("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", "{}", WICK_INVALID_ARGUMENT, "too m");
    refused("{{ 'x' * 9000000000 }}", "{}", WICK_INVALID_ARGUMENT, "too m");
    refused("{% set s = 'aaaaaaaa' %}{% for i in range(9) %}{% set s = s * 9 %}{{ s * 9000000 }}{% endfor %}", "{}", WICK_INVALID_ARGUMENT, "too m");
    refused("{% set n = namespace(l=[]) %}{% for i in range(500) %}{% set n.l = [n.l] %}{% endfor %}{{ n.l }}", "{}", WICK_INVALID_ARGUMENT, "deep");
    refused("{{ range(100001) }}", "{}", WICK_INVALID_ARGUMENT, "Range too big");
    refused("{{ 9223372036854775807 + 1 }}", "{}", WICK_INVALID_ARGUMENT, "too large");
    refused("{{ 99999999999999999999 }}", "{}", WICK_INVALID_ARGUMENT, "too large");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden), cmocka_unit_test(white_space), cmocka_unit_test(loops_and_scopes),
                                       cmocka_unit_test(texts),  cmocka_unit_test(marks),       cmocka_unit_test(ids),
                                       cmocka_unit_test(errors), cmocka_unit_test(limits)};
    return WICK_TEST_MAIN(tests);
}
