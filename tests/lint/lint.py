#!/usr/bin/env python3
"""Rules of the tree that a compiler does not know. lint.py SOURCE (layers | headers | names); exits 1 naming each breach."""
import os
import re
import subprocess
import sys
import tempfile

# Layers, lowest first: a folder includes itself and lower numbers (docs/tour.md). The longest matching prefix counts.
LAYERS = {
    "base": 0,
    "tensor": 1, "flat": 1,
    "ukernel": 2, "pte": 2, "tok": 2, "checkpoint": 2,
    "runtime": 3, "graph": 3,
    "ops": 4, "backends/xnnpack/fmt": 4, "backends/xnnpack/rt": 4,
    "exec": 5, "backends/xnnpack/aot": 5,
    "llm": 6, "devtools": 6, "export": 6,
    "models": 7,
    "api": 8,
}
# (from, to): why a folder may see another that the numbers forbid.
EXCEPTIONS = {
    ("backends/xnnpack/rt", "backends/xnnpack/fmt"): "rt reads payloads",
    ("backends/xnnpack/aot", "export"): "implements export's lowering contract",
    ("backends/xnnpack/fmt", "devtools"): "implements the inspector's printer contract",
}
# Contracts that may be seen from anywhere at or above base: headers without code behind them.
CONTRACTS = {
    "runtime/op.h": 2, "runtime/backend.h": 3, "graph/lower.h": 3, "ops/rules.h": 3, "pte/payload_printer.h": 2,
}
SMALL_LIBRARY = {"exit", "abort", "printf", "puts", "perror", "assert"}
NAMELESS = re.compile(r"^(utils?|misc|common|helpers?)([._-].*)?$")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
MACHINE_PATH = re.compile(r"(?<![\w.])/(work|farm|root|home/\w+)/")
LINES_MAX = 1200


def sources(root, *folders):
    for folder in folders:
        for at, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                path = os.path.join(at, name)
                yield os.path.relpath(path, root), path


def layer_of(path):
    best = max((prefix for prefix in LAYERS if path == prefix or path.startswith(prefix + "/")), key=len, default=None)
    return best, LAYERS.get(best)


def includes(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            found = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if found:
                yield number, found[1]


def check_layers(root):
    wrong, seen = [], 0
    for name, path in sources(root, "src"):
        if not name.endswith((".c", ".h")):
            continue
        seen += 1
        here = name[len("src/"):]
        folder, layer = layer_of(here)
        if folder is None:
            wrong.append(f"{name}: is in no layer; see the table in tests/lint/lint.py")
            continue
        for number, target in includes(path):
            if not os.path.exists(os.path.join(root, "src", target)):
                continue  # wick/*.h, a test's fixture, or a file beside
            to, low = layer_of(target)
            if target.endswith(".def") and layer == max(LAYERS.values()):
                continue  # the default tables are made of every list
            if to is None:
                wrong.append(f"{name}:{number}: {target} is in no layer")
                continue
            if to == folder or low < layer or (folder, to) in EXCEPTIONS or CONTRACTS.get(target, 99) <= layer:
                continue
            if here.endswith("_test.c") and low <= layer + 1:
                continue  # a test may look at a neighbour
            wrong.append(f"{name}:{number}: {folder} ({layer}) includes {target} of {to} ({low})")
    for name, path in sources(root, "tools"):
        if name.endswith((".c", ".h")):
            seen += 1
            for number, target in includes(path):
                if os.path.exists(os.path.join(root, "src", target)):
                    wrong.append(f"{name}:{number}: tools include only wick/*.h and their own folder, not {target}")
    return wrong, f"{seen} files"


# Templates: they want macros or constants of the file that includes them.
TEMPLATES = re.compile(r"(ukernel/generic/|\.tmpl\.h$|_test\.h$|/rig\.h$|/sample\.h$|/sample_files\.h$|pte/golden\.h$|flat/flatc\.h$)")


def compiles(root, include, language):
    flags = ["-std=c11"] if language == "c" else ["-std=c++17"]
    with tempfile.NamedTemporaryFile("w", suffix=".c" if language == "c" else ".cc") as file:
        file.write(f'#include "{include}"\nextern int wick_lint_unused;\n')
        file.flush()
        compiler = ["cc"] if language == "c" else ["c++"]
        run = subprocess.run(compiler + flags + ["-D_POSIX_C_SOURCE=200809L", "-DWICK_PROFILE_full=1", "-Wall", "-Wextra", "-Werror",
                                                 "-Wno-unused-function", "-Wno-unused-const-variable", "-fsyntax-only", f"-I{root}/include", f"-I{root}/src",
                                                 file.name], capture_output=True, text=True)
    return run.stderr if run.returncode else None


def check_headers(root):
    wrong, seen = [], 0
    for name, _ in sources(root, "include"):
        if name.endswith(".h"):
            for language in ("c", "c++"):
                seen += 1
                error = compiles(root, name[len("include/"):], language)
                if error:
                    wrong.append(f"{name} alone as {language}:\n{error}")
    for name, _ in sources(root, "src"):
        if name.endswith(".h") and not TEMPLATES.search(name):
            seen += 1
            error = compiles(root, name[len("src/"):], "c")
            if error:
                wrong.append(f"{name} alone:\n{error}")
    return wrong, f"{seen} headers"


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), text, flags=re.S)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


def check_names(root):
    wrong, seen = [], 0
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True)
    if listed.returncode == 0:
        names = listed.stdout.split("\n")
    else:
        names = [name for name, _ in sources(root, "src", "include", "tools", "tests", "docs", "cmake")]
    for name in names:
        path = os.path.join(root, name)
        if not name or not os.path.isfile(path) or name.startswith("tests/data/") or name.startswith("assets/"):
            continue
        seen += 1
        if NAMELESS.match(os.path.basename(name)):
            wrong.append(f"{name}: the name says nothing")
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        if name == "tests/lint/lint.py":
            continue
        for number, line in enumerate(text.split("\n"), 1):
            if UNFINISHED.search(line):
                wrong.append(f"{name}:{number}: unfinished: {line.strip()[:80]}")
            if MACHINE_PATH.search(line):
                wrong.append(f"{name}:{number}: a machine's path: {line.strip()[:80]}")
        if not name.endswith((".c", ".h")):
            continue
        if text.count("\n") > LINES_MAX:
            wrong.append(f"{name}: over {LINES_MAX} lines")
        if name.startswith("src/") and not re.search(r"_test\.[ch]$", name) and not TEMPLATES.search(name):
            code = without_comments(text)
            for number, line in enumerate(code.split("\n"), 1):
                for call in re.findall(r"(?<![\w.>])(\w+)\s*\(", line):
                    if call in SMALL_LIBRARY or (call == "fprintf"):
                        wrong.append(f"{name}:{number}: the library never calls {call}()")
    return wrong, f"{seen} files"


def main():
    root, rule = os.path.abspath(sys.argv[1]), sys.argv[2]
    wrong, what = {"layers": check_layers, "headers": check_headers, "names": check_names}[rule](root)
    for line in wrong:
        print(line)
    print(f"{rule}: {what}, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
