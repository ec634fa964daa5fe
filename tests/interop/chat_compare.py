#!/usr/bin/env python3
"""chat_compare.py CHAT_LINES GOLDEN: templates rendered by us and by Jinja as Hugging Face sets it up: the texts must be equal, and where Jinja fails we
must fail. Golden templates and pieces of templates that use every tag, filter, test and method. Exits 77 without jinja2."""
import json
import os
import subprocess
import sys

try:
    import jinja2
    import jinja2.ext
    import jinja2.sandbox
except ImportError:
    sys.exit(77)


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


def environment():
    env = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda form: "now"
    return env


ARGS = {"messages": [{"role": "system", "content": "Be  nice.\n"}, {"role": "user", "content": " Hällo <x> 'q' \"d\" & \n\tline "},
                     {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1, "b": [1.5, True, None]}}}]},
                     {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image"}]}],
        "n": 7, "neg": -3, "x": 2.5, "big": 12345678901, "s": "a,b,,c", "t": "  the quick brown Fox  ", "e": "", "u": "ÄÖß\u00e9\u4e16\U0001f642", "none": None,
        "yes": True, "no": False, "l": [3, 1, 2], "names": ["b", "A", "c", "a"], "d": {"z": 1, "a": "x", "m": [1, 2]}, "empty": [], "nested": [[1, 2], [3, 4]],
        "objs": [{"k": "b", "v": 2, "in": {"q": 1}}, {"k": "A", "v": 1, "in": {"q": 0}}, {"k": "b", "v": 3, "in": {"q": 2}}], "bos_token": "<s>", "eos_token": "</s>",
        "floats": [0.1, 1e20, 1e-7, 100.0, 1.0, 123456.789, 1e16, 3.14], "multi": "one\n\ntwo\n  three"}

EXPRESSIONS = """n + 1|n - 10|n * 3|n / 2|n // 2|n % 4|neg // 2|neg % 2|neg // 2.0|x ** 2|2 ** 10|2 ** -1|-n|+n|-n|abs|n + x|'a' + 'b'|'a' ~ 1 ~ none ~ yes|'ab' * 3|3 * 'ab'|[1] * 2|[1] + [2]|(1,) + (2,)
1 < 2 < 3|1 < 3 < 2|n == 7.0|n != 7|'a' < 'b'|n in l|2 in l|'a' in s|'z' not in s|'z' in d|yes == 1|not yes|not not e|yes and n|e or 'x'|no or none|n if yes else 0|n if no|(n if no) is undefined|1 if no else 2 if no else 3
messages[0].role|messages[0]['role']|messages[-1].role|messages[1:]|length|messages[::-1][0].role|s[1:3]|s[::-1]|s[-2:]|s[:-1]|l[5]|l[5] is defined|u[1]|u[1:3]|u[-1]|u|length|l[::2]|l[-1:0:-1]|l[10:]|l[-10:2]
missing|missing is defined|missing.x|missing.x is defined|d.missing|d.missing is defined|d['missing'] is undefined|messages[0].content.strip()|d.a|d['a']|d.items()|list|d.keys()|list|d.values()|list|d.get('z')|d.get('q', 5)|d.get('q')|d|length
'a%sb%d' % ('x', 3)|'%05.2f|%x|%-5s|' % (x, 255, 'k')|'%(a)s' % {'a': 1}|'{} {}'.format(1, 'b')|'{0}{1}{0}'.format('a', 'b')|'{{x}}{y}'.format(y=1)
s.split(',')|s.split(',', 1)|t.split()|t.split(None, 1)|t.split(None, 2)|s.rsplit(',', 1)|s.rsplit(',')|multi.splitlines()|multi.splitlines(True)|t.strip()|t.lstrip()|t.rstrip()|'xxaxx'.strip('x')|'xyaxy'.lstrip('yx')|t.upper()|u.lower()|u.upper()|u.title()|t.title()|u.capitalize()|"it's a dog".title()
s.replace(',', ';')|s.replace(',', ';', 2)|'abc'.replace('', '-')|s.find('b')|s.find('q')|s.rfind(',')|u.find('é')|s.count(',')|s.index('b')|s.startswith('a')|s.endswith(('b', 'c'))|', '.join(names)|s.partition(',')|s.rpartition(',')|'x'.partition(',')|'12'.isdigit()|'a1'.isalnum()|'ab'.isalpha()|' '.isspace()|'AB'.isupper()|'ab'.islower()|'5'.zfill(3)|'-5'.zfill(4)|'a'.ljust(3) ~ '|'|'a'.rjust(3, '*')|'prefix'.removeprefix('pre')|'prefix'.removesuffix('fix')|'aBc'.swapcase()
t|trim|'xxaxx'|trim('x')|n|string|x|string|t|upper|t|title|u|capitalize|t|lower|l|length|s|length|'3'|int|'3.7'|int|'x'|int|'x'|int(5)|'3'|int + 1|3.9|int|'2.5'|float|'x'|float|'1e3'|float|n|float|yes|int|missing|default('d')|e|default('d')|e|default('d', true)|none|default('d')|missing|d('q')|neg|abs|2.567|round(2)|2.5|round|3.5|round|2.1|round(0, 'ceil')|2.9|round(method='floor')|7|round
l|sort|names|sort|names|sort(case_sensitive=true)|l|sort(reverse=true)|objs|sort(attribute='k')|map(attribute='v')|list|objs|sort(attribute='in.q')|map(attribute='v')|join(',')|d|dictsort|d|dictsort(reverse=true)|d|items|list|objs|map(attribute='k')|list|names|map('upper')|list|names|map('replace', 'a', 'q')|list|objs|map(attribute='zz', default='-')|list|objs|map(attribute='in.q')|sum
objs|selectattr('v', 'equalto', 2)|list|objs|selectattr('v', '>', 1)|map(attribute='k')|list|objs|rejectattr('v', 'eq', 2)|list|length|objs|selectattr('zz')|list|objs|selectattr('k', 'defined')|list|length|l|select('odd')|list|l|reject('odd')|list|l|select|list|names|unique|list|objs|groupby('k')|list|length|l|first|l|last|empty|first|empty|last is undefined|l|reverse|list|s|reverse|l|join('-')|objs|join('+', attribute='k')|l|sum|objs|sum(attribute='v')|l|min|l|max|names|min|names|max|l|batch(2)|list|l|batch(2, 0)|list|'abc'|list|d|list|nested|map('first')|list|nested|map('join', '-')|join(';')
multi|indent|multi|indent(2, true)|multi|indent(2, blank=true)|multi|indent('> ')|'ab'|center(6) ~ '|'|'ab'|center(5) ~ '|'|t|wordcount|'<a href="x">&\\'</a>'|escape|'<'|e|safe|'long text here for truncation'|truncate(12)|'long text here'|truncate(9, true)|'long text here'|truncate(100)|'%s-%s'|format('a', 'b')|s|attr('upper') is callable|'a b/ä'|urlencode
d|tojson|messages|tojson|d|tojson(indent=2)|messages[2]|tojson(indent=4)|u|tojson|u|tojson(ensure_ascii=true)|floats|tojson|d|tojson(sort_keys=true)|d|tojson(separators=(',', ':'))|empty|tojson|empty|tojson(indent=2)|{}|tojson|none|tojson|'\\n\\t\\x01\\x7f"\\\\'|tojson|missing|tojson|(1, 2)|tojson|big|tojson|{1: 2, none: 3, true: 4}|tojson
d|l|floats|nested|messages|(1,)|()|{}|none|yes|{'a': none, 1: 'x'}|["a'b", 'a"b', "a'\\"b", 'ä\\n\\u200b']|1.0|1e100|-0.0|x|[x, yes]|'é'|["\\x7f\\u00a0"]
n is number|n is integer|x is float|yes is boolean|yes is integer|yes is number|yes is true|no is false|n is true|s is string|d is mapping|l is iterable|s is iterable|n is iterable|l is sequence|d is sequence|none is none|missing is none|n is odd|n is even|n is divisibleby 7|n is divisibleby(2)|n is eq 7|n is ne 7|n is gt 5|n is lt(5)|n is in [7]|n is not in [7]|'a' is in s|s is lower|'A' is upper|n is sameas n|range is callable|n is not none|e is none|'upper' is filter|'odd' is test|n is ge 7|n is le 6|x is escaped
range(3)|list|range(1, 7, 2)|list|range(5, 0, -2)|list|range(0)|list|dict(a=1, b=2)|dict([('a', 1)])|dict({'a': 1}, b=2)|namespace(a=1).a|range(200000)|length|[1, 2][0]|{'a': 1}.a|{'items': 1}.items is callable|"a" "b"|1_000|0.5e1|'\\u00e9\\x41\\101\\q'
1 + 'a'|'a' + 1|none + 1|missing + 1|l.foo.bar|1 / 0|1 % 0|n()|missing()|none.x|none['x']|l['a']|n[0]|l.append(1)|d.update({})|d.pop('a')|[1] < ['a']|1 < 'a'|none < 1|'a' in 5|5 in 'abc'|raise_exception('boom')|missing|upper|missing|length|missing|list|none|length|n|length|none|upper|for x|n|sum|(none|list)|missing|join(',')|undefined_function(1)|'x' is notest|x | nofilter|s.nomethod()|'%d' % 'x'|'%s' % ()|dict(1)|'abc'.index('z')|u|int|l[1:'a']""".split("\n")

TEMPLATES = [
    "{% for m in messages %}{{ loop.index }}/{{ loop.length }} {{ loop.first }} {{ loop.last }} {{ loop.revindex }} {{ loop.revindex0 }} {{ m.role }}\n{% endfor %}",
    "{% for m in messages if m.role == 'user' %}{{ loop.index0 }}{{ m.role }}{% else %}none{% endfor %}", "{% for x in empty %}x{% else %}none{% endfor %}",
    "{% for a, b in d.items() %}{{ a }}={{ b }};{% endfor %}", "{% for a in d %}{{ a }}{% endfor %}", "{% for c in u %}[{{ c }}]{% endfor %}",
    "{% for x in l %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% if x == 2 %}{% break %}{% endif %}{% endfor %}",
    "{% for a in nested %}{% set outer = loop %}{% for b in a %}{{ outer.index }}.{{ loop.index }}={{ b }} {{ loop.depth }}{% endfor %}{% endfor %}",
    "{% for x in l %}{{ loop.cycle('a', 'b') }}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.changed(x > 1) }}{% endfor %}",
    "{% set x = 1 %}{% for i in l %}{% set x = x + i %}{{ x }} {% endfor %}{{ x }}", "{% set ns = namespace(t=0) %}{% for i in l %}{% set ns.t = ns.t + i %}{% endfor %}{{ ns.t }}",
    "{% for i in l %}{% if loop.first %}{% set y = 5 %}{% endif %}{{ y is defined }}{% endfor %}", "{% if yes %}{% set q = 3 %}{% endif %}{{ q }}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set c = 1, 2 %}{{ c }}", "{% set a, b = (1, 2, 3) %}", "{% set t %}  hi {{ n }}{% endset %}[{{ t }}]{{ t is string }}", "{% set t | upper | trim %}  hi {% endset %}[{{ t }}]",
    "{% macro m(a, b=2, c='x') %}<{{ a }} {{ b }} {{ c }}>{% endmacro %}{{ m(1) }}{{ m(1, c=3) }}{{ m(b=5, a=4) }}{{ m() }}{{ m(1)|length }}", "{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, q=3) }}",
    "{% macro f(x) %}{% if x > 0 %}{{ x }}{{ f(x - 1) }}{% endif %}{% endmacro %}{{ f(5) }}", "{% macro m() %}[{{ caller() }}]{% endmacro %}{% call m() %}in{{ n }}{% endcall %}",
    "{% macro m(l) %}{% for x in l %}{{ caller(x) }}{% endfor %}{% endmacro %}{% call(x) m(l) %}<{{ x }}>{% endcall %}", "{% set v = 1 %}{% macro m() %}{{ v }}{% endmacro %}{% set v = 2 %}{{ m() }}",
    "{% filter upper %}abc {{ t }}{% endfilter %}", "{% with a = 1, b = n %}{{ a }}{{ b }}{% endwith %}{{ a is defined }}", "{% generation %}{% set z = 1 %}x{% endgeneration %}{{ z is defined }}",
    "{% for item in [{'n': 1, 'c': [{'n': 2, 'c': []}]}] recursive %}{{ item.n }}{{ loop.depth }}{{ loop(item.c) }}{% endfor %}",
    "a\n  {% if yes %}\n  b\n  {% endif %}\nc\n", "a\n  {%- if yes -%}\n  b\n  {%- endif %}\nc\n\n", "  {{ n }}  \n  {# comment #}\n x {# c #} y\n{#- c -#}\n z", "{% if yes +%}\nx{% endif %}", "  {%+ if yes %}x{% endif %}",
    "{% raw %}{{ x }}{% if %}{% endraw %} {%- raw -%}  a {% endraw -%}  b", "{{ '{{' }}{{ \"%}\" }}", "{{ {'a': {'b': 1}}['a']['b'] }}", "x{{- ' y ' -}} z", "a\r\nb\rc\n", "\n\n", "{% if no %}a{% elif n == 7 %}b{% else %}c{% endif %}",
    "{% if n > 5 and (s or e) and not no %}ok{% endif %}", "{% for i in range(3) %}{{ i }}{{ ',' if not loop.last }}{% endfor %}", "{{ messages | map(attribute='role') | join(', ') }}", "{% set j = joiner('|') %}{% for x in l %}{{ j() }}{{ x }}{% endfor %}",
    "{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}", "{{ strftime_now('%Y') | length > 0 }}", "{% set ns = namespace() %}{% set ns.x = 1 %}{{ ns.x }}{{ ns.y is defined }}", "{% set d.x = 1 %}", "{{ 1, 2 }}",
    "{% for k, v in d|dictsort %}{{ k }}{{ v }}{% endfor %}", "{% for a, b in l %}{% endfor %}", "{% for x in n %}{% endfor %}", "{% for x in missing %}a{% else %}b{% endfor %}", "{% for x in none %}{% endfor %}", "{{ loop }}{{ x.y }}", "{% if %}{% endif %}", "{% for %}", "{{ }}", "{{ 1 + }}",
    "{% endif %}", "{% if yes %}", "{{ (1 }}", "{% unknown %}", "{{ 'a }}", "{# x", "{{ a b }}", "{% set = 1 %}", "{% set x %}", "{% include 'x' %}", "{% macro %}{% endmacro %}", "text only", "{{ messages[1].content }}{{ messages[1]['content'] | trim | tojson }}",
    "   {% set x = 1 %}   \n   {% set y = 2 %}\nq", "{% set x = 1 -%}\n\n   {{ x }}", "{%- for m in messages %}\n{{ m.role }}\n{%- endfor %}", "<{{ ' a ' | trim }}>\n\n", "{{ bos_token }}{% for m in messages %}{{ m['role'] | capitalize + ': ' }}{% endfor %}{{ eos_token }}",
    "{{ [1, 2, 3,] }}{{ (1, 2,) }}{{ {'a': 1,} }}", "{{ 5 if no }}|{{ -2 ** 2 }}|{{ 2 ** 3 ** 2 }}|{{ not 1 == 2 }}|{{ 1 + 2 ~ 3 }}|{{ 10 - 2 - 3 }}|{{ -x | abs }}", "{{ messages[3].content is iterable and messages[3].content is not string and messages[3].content is not mapping }}",
    "{{ 'x' if messages[2].content is none else 'y' }}{{ messages[2].tool_calls is defined and messages[2].tool_calls }}", "{{ messages[2].tool_calls[0].function.arguments | items | list }}", "{% set messages = messages[1:] %}{{ messages | length }}", "{{ namespace(a=1) is mapping }}",
    "{% for m in messages %}{% if m.content is string %}{{ m.content | replace('\\n', ' ') }}{% endif %}{% endfor %}", "{% set content = messages[1].content.split('<x>')[-1].lstrip() %}{{ content }}", "{{ '' if loop is defined }}", "{{ caller is defined }}", "{{ l | tojson(indent=none) }}",
    "{% macro a(x) %}{{ b(x) }}{% endmacro %}{% macro b(y) %}({{ y }}){% endmacro %}{{ a(1) }}", "{% set f %}{% for x in l %}{{ x }}{% endfor %}{% endset %}{{ f }}", "{{ u | upper | lower }}{{ 'ﬁ ǆ ŉ' }}", "{% for x in l | sort %}{{ x }}{% endfor %}{% for x in (1, 2) %}{{ x }}{% endfor %}",
    "{% break %}", "{% for i in l %}{% for j in l %}{% if j == 1 %}{% break %}{% endif %}{{ j }}{% endfor %};{% endfor %}", "{{ d.items }}" if False else "", "{{ s.upper }}" if False else "", "{{ x is defined and x > 1 }}", "{% if x is defined %}a{% endif %}{% if not zz is defined %}b{% endif %}",
]


def split_expressions(line):
    """At single bars that stand between whole expressions: filters are bars too, so pieces are joined while the next one is a filter's call."""
    env = environment()
    words = set(env.filters) | {"format", "nofilter"}
    parts, out = line.split("|"), []
    for part in parts:
        name = part.strip().split("(")[0].split(" ")[0].split("[")[0].split(".")[0]
        if out and (name in words or unbalanced(out[-1])):
            out[-1] += "|" + part
        else:
            out.append(part)
    return out


def unbalanced(text):
    quote, depth = "", 0
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote and text[i - 1] != "\\" else quote
        elif c in "'\"":
            quote = c
        else:
            depth += (c in "([{") - (c in ")]}")
    return bool(quote) or depth > 0


def wanted(env, case):
    try:
        return {"text": env.from_string(case["template"]).render(**case["args"])}
    except Exception as error:  # whatever it is, ours must fail too
        return {"error": f"{type(error).__name__}: {error}"}


def main():
    program, golden = sys.argv[1], os.path.join(sys.argv[2], "chat_templates.json")
    cases = [{"template": t, "args": ARGS} for t in TEMPLATES if t]
    for line in EXPRESSIONS:
        cases += [{"template": "{{ " + e + " }}", "args": ARGS} for e in split_expressions(line)]
    if os.path.exists(golden):
        data = json.load(open(golden))
        cases += [{"template": data["templates"][c["template"]], "args": c["args"], "expected": c} for c in data["cases"]]
    got = subprocess.run([program], input="".join(json.dumps(c) + "\n" for c in cases), capture_output=True, text=True)
    lines = [json.loads(line) for line in got.stdout.splitlines()]
    if len(lines) != len(cases):
        print(f"{len(lines)} answers to {len(cases)} cases: {got.stderr}")
        return 1
    env, bad = environment(), 0
    for case, ours in zip(cases, lines):
        theirs = case.get("expected") or wanted(env, case)
        same = ours.get("text") == theirs.get("text") if "text" in theirs else "error" in ours
        if "expected" in case and "error" in theirs:
            same = ours.get("error") == theirs["error"]
        if not same:
            bad += 1
            print(f"{case['template'][:200]!r}\n  ours   {ours.get('text', 'error: ' + ours.get('error', ''))!r}\n  theirs {theirs.get('text', theirs.get('error'))!r}")
    print(f"{len(cases)} templates, {bad} differ")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
