/* Mutated chat templates: what compiles renders or is refused with a message; what came from outside is never trusted. */
#include "fuzz.h"

#include "chat/chat.h"

static json_t *args;

static void add(struct fuzz *fuzz, const char *text)
{
    size_t size = strlen(text);
    uint8_t *data = malloc(size);
    if (data) memcpy(data, text, size);
    fuzz_add(fuzz, data, size);
}

/* The letter Z comes from outside only: no template has one, and none can make it out of others but by its code. */
static void check_trust(struct fuzz *fuzz, const struct wick_chat_text *text)
{
    size_t begin = 0;
    for (size_t i = 0; i < text->count; begin = text->parts[i++].end) {
        FUZZ_REQUIRE(fuzz, text->parts[i].end > begin && text->parts[i].end <= text->text.size);
        FUZZ_REQUIRE(fuzz, !text->parts[i].trusted || !memchr(text->text.data + begin, 'Z', text->parts[i].end - begin));
    }
    FUZZ_REQUIRE(fuzz, begin == text->text.size);
}

static void run(struct fuzz *fuzz, const uint8_t *data, size_t size)
{
    struct wick_chat_template *chat;
    struct wick_chat_text text;
    wick_error err = {WICK_OK, ""};
    if (memchr(data, 'Z', size) || memchr(data, 'z', size) || memchr(data, '\\', size)) return;
    if (wick_chat_compile(&chat, (struct wick_str){(const char *)data, size}, "template", &err) != WICK_OK) {
        FUZZ_REQUIRE(fuzz, !chat && strncmp(err.message, "template: ", 10) == 0);
        return;
    }
    if (wick_chat_render(chat, args, &text, &err) == WICK_OK) check_trust(fuzz, &text);
    else FUZZ_REQUIRE(fuzz, text.count == 0 && text.text.size == 0 && err.message[0]);
    wick_chat_text_free(&text);
    wick_chat_free(chat);
}

static const char *const words[] = {"{%",
                                        "%}",
                                        "{{",
                                        "}}",
                                        "{#",
                                        "#}",
                                        "-%}",
                                        "{%-",
                                        "endfor",
                                        "endif",
                                        "for x in l",
                                        "set",
                                        "if",
                                        "else",
                                        "elif",
                                        "macro",
                                        "namespace()",
                                        "loop.",
                                        "messages",
                                        "[0]",
                                        "[::-1]",
                                        ".content",
                                        "|tojson",
                                        "|map('upper')",
                                        "|join",
                                        "|sort",
                                        "|list",
                                        ".split(",
                                        ".strip()",
                                        "range(9)",
                                        "~",
                                        "+",
                                        "*9",
                                        "%",
                                        "(",
                                        ")",
                                        "[",
                                        "]",
                                        "is defined",
                                        "not",
                                        "in",
                                        "'a'",
                                        "|replace('a','b')",
                                        "|indent",
                                        "|batch(2)",
                                        "|groupby('k')",
                                        "|format(1)",
                                        "loop(",
                                        "break",
                                        "1",
                                        ",",
                                        "=",
                                        NULL};

int main(int argc, char **argv)
{
    struct fuzz fuzz = {.words = words};
    args = json_loads(
        "{\"messages\":[{\"role\":\"user\",\"content\":\"Z aZ,Z\\nZ\"},{\"role\":\"tool\",\"content\":[{\"type\":\"text\",\"text\":\"Z\"}]}],"
        "\"l\":[3,\"Z\",1.5],\"d\":{\"k\":\"Z\",\"b\":[null,true]},\"bos_token\":\"<s>\",\"n\":2}",
        0, NULL);
    add(&fuzz, "{{ bos_token }}{% for m in messages %}{% if m.role == 'user' %}<{{ m.content | trim }}>\n{% elif m.content is iterable %}{% for c in "
               "m.content %}"
               "{{ c.text }}{% endfor %}{% else %}{{ raise_exception('no') }}{% endif %}{% endfor %}");
    add(&fuzz, "{% set ns = namespace(a=1, b='') %}{% for x in l %}{% set ns.b = ns.b ~ x %}{{ loop.index }}{{ loop.cycle(1, 2) }}{% endfor %}{{ "
               "ns.b[::-1] | upper }}"
               "{{ messages | tojson(indent=2) }}{{ d.items() | list }}");
    add(&fuzz,
        "{% macro f(a, b=2) %}({{ a }}{{ b }}{{ varargs }}){% endmacro %}{{ f(messages[0].content, b=n * 2 + 1) }}{% call f(1) %}q{% endcall %}"
        "{% filter upper %}a{{ n }}{% endfilter %}{%- with q = 1 -%}{{ q }}{% endwith %}");
    add(&fuzz, "{% set c = messages[0].content.split(',')[-1].lstrip() %}{{ c.replace('a', 'b') }}{{ '%s-%d' % (c, n) }}{{ l | sort(attribute='k') | "
               "join('-') }}"
               "{{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | list }}{# c #}{% raw %}{{ x }}{% endraw %}");
    int result = fuzz_main(&fuzz, argc, argv, run);
    json_decref(args);
    return result;
}
