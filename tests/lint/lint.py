#!/usr/bin/env python3
"""Rules of the tree that a compiler does not know. lint.py SOURCE (layers | headers | names | owners), or
lint.py SOURCE docs WICK with the built command; exits 1 naming each breach."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

# Layers: a folder includes itself and lower numbers, and equal numbers do not see each other (docs/tour.md). `*` is any one folder; of
# the prefixes that match the longest counts. Folders that match one `*` are folders of their own.
LAYERS = {
    "base": 0,
    "tensor": 1, "flat": 1,
    "ukernel": 2, "pte": 2, "tok": 2, "checkpoint": 2,
    "runtime": 3, "graph": 3, "chat": 3,
    "ops": 4, "ops/*": 4, "backends/*": 4, "backends/*/fmt": 4, "backends/*/rt": 4,
    "exec": 5, "backends/*/aot": 5,
    "llm": 6, "devtools": 6, "export": 6,
    "models/*": 7,
    "api": 8,
}
# What a folder sees although the numbers forbid it, and why. `*` is the same folder on both sides.
EXCEPTIONS = {
    ("backends/*/rt", "backends/*/fmt"): "what runs payloads reads them",
    ("ops/*", "ops"): "what all operator families share stands above them",
    ("ops/*", "ops/copy"): "element conversion and views, which most families begin or end with",
}
# What a folder does not see although the numbers allow it.
FORBIDDEN = {
    ("backends/*/aot", "backends/*/rt"): "the two halves of a back-end do not see each other",
}
# Only tables name these: nobody includes from them but they themselves, whatever the numbers say.
PRIVATE = ("ops/", "backends/", "models/")
# A public header counts as one of the folder whose handles it describes.
PUBLIC = {"base.h": "base", "runtime.h": "exec", "llm.h": "llm", "profile.h": "llm", "export.h": "export", "inspect.h": "devtools"}
# Not in the tree: of the tests, or made by the build.
ELSEWHERE = {"fixture.h": "tests", "ukernel/levels.h": "made by src/ukernel/CMakeLists.txt from isa.def"}

# Templates and parts of tests: they want macros, constants or headers of the file that includes them.
TEMPLATES = re.compile(r"(ukernel/generic/|\.tmpl\.h$|_test\.h$)")

NAMELESS = re.compile(r"^(utils?|misc|common|helpers?)([._-].*)?$")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
OUTSIDE_PAPER = re.compile(r"\(facts\b|\bfacts:")
MACHINE_PATH = re.compile(r"(?<![\w.])/(work|farm|root|home/\w+)/")
NEVER_CALLED = {"exit", "_exit", "_Exit", "quick_exit", "abort", "assert", "printf", "vprintf", "fprintf", "vfprintf", "puts", "fputs", "putchar",
                "perror", "signal", "system", "alloca", "gets", "strcpy", "strcat", "sprintf", "strtok"}
LINES_MAX, LINES_MANY, FUNCTION_MAX, COLUMNS = 1200, 600, 70, 150

# Headers of an operating system or a processor, and who may ask for them.
SYSTEM = re.compile(r"^(unistd|fcntl|pthread|sched|signal|time|dirent|dlfcn|sys/.*|linux/.*)\.h$|^sys/")
SYSTEM_OWNERS = {"base/os_posix.c": "files, clocks, cores", "base/pool_posix.c": "threads", "ukernel/arm/dotprod/level.c": "features of the processor"}
PROCESSOR = re.compile(r"^(.*intrin|arm_neon|arm_sve|arm_acle|cpuid)\.h$")
PROCESSOR_OWNERS = {"base/sha256.c": "SHA instructions", "base/pool_posix.c": "the pause of a spinning thread"}

# A name that is said outside of its folder and its .def list (by a file, or a folder with its slash), and why.
SAID_ELSEWHERE = {
    ("ops/llama/", "llama"): "the namespace of operators",
    ("export/config_check.c", "xnnpack"): "keys of the original's configuration",
    ("tok/gguf_vocab.c", "llama"): "the name of a tokenizer model in GGUF",
}
# Operators are named where calls are made or recognised; all else takes them from tables.
CALLERS = ("ops/", "export/", "models/", "graph/irops.c", "exec/fuse/")


def sources(root, *folders):
    for folder in folders:
        for at, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                path = os.path.join(at, name)
                yield os.path.relpath(path, root), path


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def code_of(root):
    """(name, name below src, text) of every C file of the library."""
    for name, path in sources(root, "src"):
        if name.endswith((".c", ".h")):
            yield name, name[len("src/"):], read(path)


def is_test(name):
    return bool(re.search(r"_test\.[ch]$", name) or TEMPLATES.search(name) and "ukernel/generic" not in name)


def without_comments(text):
    return re.sub(r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), text, flags=re.S)


def without_strings(text):
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


def includes(text):
    for number, line in enumerate(text.split("\n"), 1):
        found = re.match(r'\s*#\s*include\s+(["<])([^">]+)[">]', line)
        if found:
            yield number, found[1] == '"', found[2]


# ---- layers ----

def layer_of(path):
    """(pattern, folder, number) of a file below src; folder is the pattern with the names that it matched."""
    parts, best = path.split("/")[:-1], (None, None, None)
    for pattern, number in LAYERS.items():
        wants = pattern.split("/")
        if len(wants) <= len(parts) and all(w in ("*", p) for w, p in zip(wants, parts)):
            if best[0] is None or len(wants) > len(best[0].split("/")):
                best = (pattern, "/".join(parts[:len(wants)]), number)
    return best


def listed(table, here, there):
    """The pair of patterns of `table` that says something about two places, or None."""
    for pair in table:
        if pair[0] == here[0] and pair[1] in (there[0], there[1]):
            star = [folder.split("/")[1] for pattern, folder in ((pair[0], here[1]), (pair[1], there[1])) if pattern.startswith("backends/*")]
            if len(set(star)) < 2:
                return pair
    return None


def judge_include(here, name, target, used):
    """None, or why a file of `here` may not include `target`."""
    there = layer_of(target)
    if there[0] is None:
        return "is in no layer; see the table in tests/lint/lint.py"
    if there[1] == here[1]:
        return None
    if listed(FORBIDDEN, here, there):
        return FORBIDDEN[listed(FORBIDDEN, here, there)]
    pair = listed(EXCEPTIONS, here, there)
    if pair:
        used.add(pair)
        return None
    inside = any(there[1].startswith(p) and here[1].startswith(p) for p in PRIVATE)
    if there[1].startswith(PRIVATE) and not inside:
        return "is of a folder that only the default tables know"
    return None if there[2] < here[2] else f"{here[1]} ({here[2]}) does not see {there[1]} ({there[2]})"


def check_layers(root):
    wrong, seen, used = [], 0, set()
    for name, inner, text in code_of(root):
        seen += 1
        here = layer_of(inner)
        if here[0] is None:
            wrong.append(f"{name}: is in no layer; see the table in tests/lint/lint.py")
            continue
        for number, quoted, target in includes(text):
            if not quoted or target in ELSEWHERE:
                continue
            if target.startswith("wick/"):
                owner = PUBLIC.get(target[len("wick/"):])
                why = judge_include(here, name, owner + "/", used) if owner else "has no row in tests/lint/lint.py"
            elif target.endswith(".def") and here[1] == "api":
                why = None  # the default tables are made of every list
            elif not os.path.exists(os.path.join(root, "src", target)):
                why = "does not exist; paths are relative to src"
            else:
                why = judge_include(here, name, target, used)
            if why:
                wrong.append(f"{name}:{number}: {target}: {why}")
    wrong += [f"tests/lint/lint.py: nobody needs the exception {pair}" for pair in EXCEPTIONS if pair not in used]
    for name, path in sources(root, "tools"):
        if name.endswith((".c", ".h")):
            seen += 1
            for number, quoted, target in includes(read(path)):
                beside = os.path.join(os.path.dirname(path), target)
                if quoted and not os.path.exists(beside) and not (target.startswith("wick/") and os.path.exists(os.path.join(root, "include", target))):
                    wrong.append(f"{name}:{number}: tools include only wick/*.h and their own folder, not {target}")
    return wrong, f"{seen} files"


# ---- headers ----

def compiles(root, include, language):
    """None, or what the compiler says of a file that includes only `include`."""
    compiler = ["cc", "-std=c11"] if language == "c" else ["c++", "-std=c++17"]
    with tempfile.NamedTemporaryFile("w", suffix=".c" if language == "c" else ".cc") as file:
        file.write(f'#include "{include}"\nextern int wick_lint_unused;\n')
        file.flush()
        run = subprocess.run(compiler + ["-D_POSIX_C_SOURCE=200809L", "-DWICK_PROFILE_full=1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function",
                                         "-Wno-unused-const-variable", "-fsyntax-only", f"-I{root}/include", f"-I{root}/src", file.name],
                             capture_output=True, text=True)
    return run.stderr if run.returncode else None


def check_headers(root):
    public = [name[len("include/"):] for name, _ in sources(root, "include") if name.endswith(".h")]
    inner = [name[len("src/"):] for name, _ in sources(root, "src") if name.endswith(".h") and not TEMPLATES.search(name)]
    languages = ("c", "c++") if shutil.which("c++") else ("c",)
    if len(languages) < 2:
        print("note: no C++ compiler; public headers are compiled as C11 alone")
    jobs = [(header, language) for header in public for language in languages] + [(header, "c") for header in inner]
    with ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        errors = pool.map(lambda job: compiles(root, *job), jobs)
    wrong = [f"{header} alone as {language}:\n{error}" for (header, language), error in zip(jobs, errors) if error]
    missing = [header for header in public if header[len("wick/"):] not in PUBLIC]
    return wrong + [f"include/{header}: has no row in tests/lint/lint.py" for header in missing], f"{len(jobs)} headers"


# ---- names ----

def long_functions(text):
    begin = None
    for number, line in enumerate(text.split("\n"), 1):
        if line == "{":
            begin = number
        elif line == "}" and begin:
            if number - begin > FUNCTION_MAX:
                yield begin, number - begin
            begin = None


def check_text(name, text, wrong):
    for number, line in enumerate(text.split("\n"), 1):
        if UNFINISHED.search(line):
            wrong.append(f"{name}:{number}: unfinished: {line.strip()[:80]}")
        if OUTSIDE_PAPER.search(line):
            wrong.append(f"{name}:{number}: cites what is not in the tree: {line.strip()[:80]}")
        if MACHINE_PATH.search(line):
            wrong.append(f"{name}:{number}: a machine's path: {line.strip()[:80]}")


def check_c(name, text, wrong, notes):
    lines = text.count("\n")
    if lines > LINES_MAX:
        wrong.append(f"{name}: {lines} lines; at most {LINES_MAX}")
    elif lines > LINES_MANY:
        notes.append(f"{name}: {lines} lines")
    if not text.startswith("/*"):
        wrong.append(f"{name}: does not begin by saying what it is")
    wrong += [f"{name}:{number}: a function of {length} lines; at most {FUNCTION_MAX}" for number, length in long_functions(text)]
    wide = sum(len(line) > COLUMNS for line in text.split("\n"))
    if wide:
        notes.append(f"{name}: {wide} lines wider than {COLUMNS}")
    if not name.startswith("src/") or is_test(name):
        return
    for number, line in enumerate(without_strings(without_comments(text)).split("\n"), 1):
        for call in re.findall(r"(?<![\w.>])(\w+)\s*\(", line):
            if call in NEVER_CALLED:
                wrong.append(f"{name}:{number}: the library never calls {call}()")


def check_names(root):
    wrong, notes, seen = [], [], 0
    git = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True)
    folders = ("src", "include", "tools", "tests", "docs", "cmake")
    for name in git.stdout.split("\n") if git.returncode == 0 else [name for name, _ in sources(root, *folders)]:
        path = os.path.join(root, name)
        if not name or not os.path.isfile(path) or name.startswith(("tests/data/", "assets/")):
            continue
        seen += 1
        if NAMELESS.match(os.path.basename(name)):
            wrong.append(f"{name}: the name says nothing")
        if name == "tests/lint/lint.py":
            continue
        text = read(path)
        check_text(name, text, wrong)
        if name.endswith((".c", ".h")):
            check_c(name, text, wrong, notes)
    for note in notes:
        print(f"note: {note}")
    return wrong, f"{seen} files, {len(notes)} notes"


# ---- owners ----

def rows(root, path, macro):
    return re.findall(rf"^{macro}\(([^\n]*)\)", read(os.path.join(root, "src", path)), flags=re.M)


def things(root):
    """(word, folders that may say it) of every family, back-end and level of instructions."""
    found = []
    for row in rows(root, "models/models.def", "WICK_FAMILY"):
        found.append((row, (f"models/{row}/",)))
    for row in rows(root, "backends/backends.def", "WICK_BACKEND"):
        id, name = row.split(",")[0], re.search(r'"([^"]*)"', row)[1]
        found += [(id, (f"backends/{id}/",)), (name, (f"backends/{id}/",))]
    for row in rows(root, "ukernel/isa.def", "WICK_ISA"):
        arch, level = [part.strip() for part in row.split(",")[:2]]
        found.append((level, (f"ukernel/{arch}/",)))  # a level may build on one before it
    return found


def check_owners(root):
    wrong, said, seen = [], set(), 0
    # The longest first: a name inside a longer one (one family in the next) is not said.
    words = [(word, re.compile(rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9])", re.I), owners) for word, owners in sorted(things(root), key=lambda t: -len(t[0]))]
    operators = {name for row in rows(root, "ops/ops.def", "WICK_OP") for name in re.findall(r'"([^"]*)"', row)}
    for name, inner, text in code_of(root):
        if is_test(inner):
            continue
        seen += 1
        for number, quoted, target in includes(text):
            allowed = SYSTEM_OWNERS if SYSTEM.match(target) else PROCESSOR_OWNERS if PROCESSOR.match(target) else None
            if not quoted and allowed is not None and inner not in allowed and not (allowed is PROCESSOR_OWNERS and re.match(r"ukernel/(?!ref|generic)\w+/", inner)):
                wrong.append(f"{name}:{number}: <{target}> belongs to src/base/os_*.c, pool_*.c or a level of src/ukernel")
        for number, line in enumerate(without_comments(text).split("\n"), 1):
            for operator in re.findall(r'"(\w+::[\w.]+)"', line):
                if operator in operators and not inner.startswith(CALLERS) and not re.match(r"backends/\w+/aot/", inner):
                    wrong.append(f"{name}:{number}: names the operator {operator}")
            line = re.sub(r'"\w+::[\w.]+"', '""', line)
            whole = line
            for word, pattern, owners in words:
                said_here, line = pattern.search(line), pattern.sub("", line)
                if not said_here or inner.startswith(owners) or re.match(r"\s*#\s*include", whole):
                    continue
                excuse = next((pair for pair in SAID_ELSEWHERE if pair[1] == word and (inner == pair[0] or pair[0].endswith("/") and inner.startswith(pair[0]))), None)
                said.add(excuse)
                if not excuse:
                    wrong.append(f"{name}:{number}: says {word}, which belongs to {owners[0]} and its list: {whole.strip()[:80]}")
    wrong += [f"tests/lint/lint.py: nobody needs the exception {pair}" for pair in SAID_ELSEWHERE if pair not in said]
    return wrong, f"{seen} files"


# ---- docs ----

def check_docs(root):
    """Files and links that the pages name exist, and docs/cli.md is what the command says of itself."""
    wick, wrong = sys.argv[3], []
    pages = ["README.md"] + [name for name, _ in sources(root, "docs") if name.endswith(".md")]
    files = {"/" + name for name, _ in sources(root, "src", "include", "tools", "tests", "cmake", "docs", ".ci")} | {"/CMakeLists.txt"}
    for page in pages:
        for number, line in enumerate(read(os.path.join(root, page)).split("\n"), 1):
            for link in re.findall(r"\]\(([^)#]+)", line):
                if "://" not in link and not os.path.exists(os.path.join(root, os.path.dirname(page), link)):
                    wrong.append(f"{page}:{number}: no {link}")
            for name in re.findall(r"`([\w./-]+\.(?:c|h|def|py|sh|cmake))`", line):
                if name not in ("x.c", "x_test.c") and not any(file.endswith("/" + name) for file in files):
                    wrong.append(f"{page}:{number}: no {name}")
            for name in re.findall(r"`((?:src|tests|tools|include|docs|cmake|assets)/[\w/.-]*)`", line):
                if not os.path.exists(os.path.join(root, name)):
                    wrong.append(f"{page}:{number}: no {name}")
    text = read(os.path.join(root, "docs/cli.md"))
    commands = re.findall(r"^WICK_COMMAND\((\w+)", read(os.path.join(root, "tools/cli/commands.def")), flags=re.M)
    for command in commands:
        said = subprocess.run([wick, command, "--help"], capture_output=True, text=True).stdout.strip()
        if f"## wick {command}\n" not in text or said not in text:
            wrong.append(f"docs/cli.md: is not what `wick {command} --help` says")
    return wrong, f"{len(pages)} pages, {len(commands)} commands"


def main():
    root, rule = os.path.abspath(sys.argv[1]), sys.argv[2]
    rules = {"layers": check_layers, "headers": check_headers, "names": check_names, "owners": check_owners, "docs": check_docs}
    wrong, what = rules[rule](root)
    for line in wrong:
        print(line)
    print(f"{rule}: {what}, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
