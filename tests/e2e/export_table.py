#!/usr/bin/env python3
"""Runs every row of the table "old -> new" in docs/export.md. export_table.py WICK SOURCE WORK [--fix]

A row: spellings of the original's older command, the same as keys, and what comes of it here:
  yes              exports, and the program is another one than without
  same program     exports, and the program is the same (the row is about something else: names, messages)
  no effect        exports the same program: what it refines is not there, or off
  refused: WORDS   ends with status 1 and an error with these words
All spellings must give one configuration, and every flag and key must have a row. --fix writes what was seen into the third column."""
import json
import pathlib
import random
import re
import shlex
import shutil
import struct
import subprocess
import sys

wick, source, work = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()
wick = str(pathlib.Path(wick).resolve())
page = source / "docs/export.md"
ROW = re.compile(r"^\| (?P<old>(?:`[^`]*`(?:, )?)*) ?\| `(?P<new>[^`]*)` \| (?P<here>[^|]*) \|$")
BASE = ["base.model_class=llama3_2", "base.checkpoint=model.pth", "base.params=params.json", "export.max_seq_length=16", "export.max_context_length=32"]


def wick_export(*arguments):
    return subprocess.run([wick, "export", "--quiet", *arguments], capture_output=True, text=True, cwd=work)


def make_adapter():
    """A small adapter of the q and v projections of the 6 layers, as PEFT writes it."""
    values, header, data = random.Random(1), {}, b""
    for layer in range(6):
        for name, rows in (("q_proj", 128), ("v_proj", 64)):
            for part, shape in (("A", (4, 128)), ("B", (rows, 4))):
                raw = struct.pack(f"<{shape[0] * shape[1]}f", *(values.uniform(-0.1, 0.1) for _ in range(shape[0] * shape[1])))
                key = f"base_model.model.model.layers.{layer}.self_attn.{name}.lora_{part}.weight"
                header[key] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
                data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (work / "adapter.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    (work / "adapter_config.json").write_text(json.dumps({"r": 4, "lora_alpha": 8, "target_modules": ["q_proj", "v_proj"]}))


def make_files():
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    story = source / "assets/story"
    for name, target in (("model.pth", "consolidated.00.pth"), ("story.pth", "consolidated.00.pth"), ("params.json", "params.json"), ("tokenizer.json", "tokenizer.json")):
        shutil.copy(story / target, work / name)
    params = json.loads((story / "params.json").read_text())
    (work / "wider_eps.json").write_text(json.dumps({**params, "norm_eps": 1e-3}))
    (work / "prune.json").write_text(json.dumps({str(i): i * 2 for i in range(512)}))
    make_adapter()


def judge(row, base):
    """What comes of a row: (fits, what was seen)."""
    here, made = row["here"], None
    configurations = {wick_export(*BASE, *shlex.split(text), "--cfg", "job").stdout for text in [row["new"], *row["spellings"]]}
    if len(configurations) != 1:
        return False, "spellings that differ: " + "; ".join(row["spellings"])
    for text in [row["new"], *row["spellings"][:1]]:
        arguments = shlex.split(text)
        named = any("output" in word or word == "-n" or word == "-o" for word in arguments)
        result = wick_export(*BASE, *([] if named else ["export.output_name=row.pte"]), *arguments)
        if result.returncode:
            return result.returncode == 1 and here.startswith("refused: ") and here[9:] in result.stderr, "refused: " + result.stderr.strip().removeprefix("wick: error: ")[:100]
        path = work / result.stdout.strip().splitlines()[-1]
        made = path.read_bytes()
    seen = ("no effect" if here == "no effect" else "same program") if made == base else "yes"
    return here == seen, seen


def main():
    lines = page.read_text().split("\n")
    make_files()
    first = wick_export(*BASE, "export.output_name=base.pte")
    if first.returncode:
        print(first.stderr)
        return 1
    base, wrong, rows, told = (work / "base.pte").read_bytes(), 0, 0, ""
    for i, line in enumerate(lines):
        match = ROW.match(line)
        if not match or "=" not in match["new"]:
            continue
        row = {"new": match["new"], "here": match["here"].strip(), "spellings": re.findall(r"`([^`]*)`", match["old"])}
        rows += 1
        told += " " + " ".join([row["new"], *row["spellings"]])
        fits, seen = judge(row, base)
        if fits:
            continue
        wrong += 1
        print(f"docs/export.md:{i + 1}: `{row['new']}` says '{row['here']}'; seen: {seen}")
        if "--fix" in sys.argv:
            lines[i] = line.replace(f"| {match['here']} |", f"| {seen} |")
    words = set(re.split(r"[\s=]+", told)) | set(told.split())
    help_text = subprocess.run([wick, "export", "--help"], capture_output=True, text=True).stdout.split("older command")[1]
    flags = {word for text in re.findall(r"^  (-[^\s,]+(?:, --\S+)?)", help_text, flags=re.M) for word in text.split(", ")}
    keys = {key["name"] for key in json.loads(subprocess.run([wick, "export", "--keys", "--json"], capture_output=True, text=True).stdout)}
    missing = sorted(flags - words) + sorted(key for key in keys if not key.startswith("wick.") and not re.search(rf"(?<![\w.]){re.escape(key)}(?![\w])", told))
    for name in missing:
        print(f"docs/export.md: no row runs {name}")
    if "--fix" in sys.argv:
        page.write_text("\n".join(lines))
    print(f"{rows} rows, {len(flags)} flags, {len(keys)} keys; {wrong + len(missing)} wrong" + ("" if not wrong else "; tests/e2e/export_table.py --fix writes what was seen"))
    return 1 if wrong or missing or rows < 80 else 0


if __name__ == "__main__":
    sys.exit(main())
