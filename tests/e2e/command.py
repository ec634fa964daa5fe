#!/usr/bin/env python3
"""The command as scripts meet it: exit statuses, result files that appear whole or not at all, what is said first. command.py WICK SOURCE WORK"""
import fcntl
import json
import os
import pathlib
import signal
import subprocess
import sys

wick, source, work = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
story = source / "assets/story"
EXPORT = ["export", "--quiet", "base.model_class=llama3_2", f"base.checkpoint={story}/consolidated.00.pth", f"base.params={story}/params.json",
          "model.use_kv_cache=true"]
failed = 0


def check(condition, what):
    global failed
    failed += not condition
    print(("ok: " if condition else "WRONG: ") + what)


def run(*arguments, **options):
    return subprocess.run([wick, *map(str, arguments)], capture_output=True, text=True, **options)


def said(result, status, words, what):
    check(result.returncode == status and words in result.stderr, f"{what}: status {result.returncode}, {result.stderr.strip()[:160]!r}")


def statuses():
    said(run("export"), 2, "name a checkpoint", "export without anything")
    said(run("export", "--checkpont", "x"), 2, "did you mean --checkpoint?", "an unknown flag")
    said(run("export", "--checkpoint"), 2, "--checkpoint wants FILE", "a flag without its value")
    said(run("export", "--xnnpack=1"), 2, "takes no value", "a value for a flag that takes none")
    said(run("export", "--use_"), 2, "could be", "a beginning of several flags")
    said(run("export", "--adapter_checkpoint", "x"), 2, "--adapter_checkpoint requires --adapter_config", "half an adapter")
    said(run("export", "--config-path", "x"), 2, "--config-name", "a folder without a name")
    said(run("export", "model.nope=1"), 1, "Key 'nope' not in 'ModelConfig'", "an unknown key")
    said(run("export", "--config", "nobody.yaml"), 1, "nobody.yaml", "a missing file")
    said(run("export", "base.checkpoint=nobody.pth"), 1, "nobody.pth", "a missing checkpoint")
    said(run("export", "--cfg", "job", "base.checkpoint=nobody.pth"), 0, "", "a configuration alone opens nothing")


def same_configuration():
    """Other spellings of one configuration."""
    keys = run("export", "--cfg", "job", "backend.xnnpack.enabled=true", "debug.verbose=true", "quantization.embedding_quantize=4,32",
               "base.metadata={\"a\":\"b\\\\\"}", "quantization.calibration_tasks=[wikitext,\"a,b\"]", "model.use_kv_cache=true").stdout
    flags = run("export", "--cfg", "job", "-Xv", "-E4,32", "-m", "{\"a\":\"b\\\\\"}", "--calibration_tasks", "wikitext", "a,b", "--use-kv-cache").stdout
    check(keys == flags and "wikitext" in keys, "flags, short and joined, are keys")
    (work / "c.yaml").write_text("export: {output_name: x}\n")
    one, other = (run("export", *how, "--cfg", "job").stdout for how in (["--config", work / "c.yaml"], ["--config-path", work, "--config-name", "c"]))
    check(one == other and '"x"' in one, "--config is --config-path and --config-name")
    check(run("export", f"--config={work}/c.yaml", "--hydra", "--cfg", "job").stdout == one, "--config=FILE; --hydra says nothing")
    check(run("export", "--model", "smollm2", "--cfg=job").stdout == run("export", "base.model_class=smollm2", "--cfg", "job").stdout, "--model")
    printed = work / "printed.yaml"
    printed.write_text(keys)
    again = run("export", "--config", printed, "--cfg", "job").stdout
    strip = [line.split("  # default")[0] for line in keys.splitlines()]
    check([line.split("  # default")[0] for line in again.splitlines()] == strip, "a printed configuration is a file that means the same")


def interrupted():
    """Ctrl-C in the middle of an export: status 130 and nothing left. A narrow pipe holds it where it prints the graph."""
    folder = work / "interrupted"
    folder.mkdir()
    ours, theirs = os.pipe()
    fcntl.fcntl(theirs, 1031, 4096)  # F_SETPIPE_SZ
    process = subprocess.Popen([wick, *EXPORT, f"export.output_name={folder}/model.pte", "--dump-after", "graph"], stdout=theirs, stderr=subprocess.PIPE)
    os.close(theirs)
    first = os.read(ours, 1)
    process.send_signal(signal.SIGINT)
    while os.read(ours, 65536):
        pass
    process.wait()
    check(first and process.returncode == 130 and not list(folder.iterdir()), f"an interrupted export: status {process.returncode}, left {list(folder.iterdir())}")
    process.stderr.close()


def results():
    """--logits FILE is whole or what it was."""
    program, logits = work / "story.pte", work / "logits.f32"
    check(run(*EXPORT, f"export.output_name={program}").returncode == 0, "an export")
    logits.write_text("before")
    said(run("run", program, "--tokens", "1,2,3000000", "--logits", logits), 1, "", "a token that is none")
    check(logits.read_text() == "before", "a failed run leaves the file that was there")
    check(run("run", program, "--tokens", "1,2", "--max-new-tokens", "3", "--temperature", "0", "--ignore-eos", "--logits", logits).returncode == 0, "a run")
    check(logits.stat().st_size % 12 == 0 and logits.stat().st_size > 12, "and three rows")
    said(run("run", program, "--tokens", "1,2", "--logits", work / "no/where"), 1, "no/where: cannot write: No such file", "a folder that is not there")
    check(not list(work.glob("*.part")), "no temporary file is left")


def faults_first():
    """A damaged program without a tokenizer: the program's fault is said."""
    folder = work / "cut"
    folder.mkdir()
    whole = (work / "story.pte").read_bytes()
    for size in (0, 4, 100, len(whole) // 2, len(whole) - 1):
        (folder / "model.pte").write_bytes(whole[:size])
        result = run("run", folder / "model.pte", "--prompt", "once")
        check(result.returncode == 1 and "tokenizer" not in result.stderr and "model.pte" in result.stderr, f"cut to {size}: {result.stderr.strip()[:120]}")
    (folder / "model.pte").write_bytes(whole)
    said(run("run", folder / "model.pte", "--prompt", "once"), 1, "tokenizer", "a whole program without a tokenizer")


def other_ids():
    """Ids of special tokens that were copied from another model are said."""
    def warnings(metadata):
        result = run("export", *EXPORT[2:], f"base.tokenizer_path={story}/tokenizer.json", f"base.metadata={metadata}", f"export.output_name={work}/ids.pte")
        return [line for line in result.stderr.splitlines() if "warning: base.metadata" in line] if result.returncode == 0 else [result.stderr]
    check(warnings('{"get_bos_id":0,"get_eos_ids":[1]}') == [], "ids of the tokenizer's special tokens")
    said_of = warnings('{"get_bos_id":300,"get_eos_ids":[1,128001]}')
    check(len(said_of) == 2 and "get_bos_id: 300 is the plain text" in said_of[0] and "get_eos_ids: 128001 is outside the vocabulary of 1024" in said_of[1], f"others: {said_of}")
    empty = run(*EXPORT, "base.metadata=", f"export.output_name={work}/ids.pte")
    check(empty.returncode == 0, "no metadata")


def names():
    """Where the program goes: folder and name, a path of its own, the class."""
    def path(*more):
        return run(*EXPORT, *more, cwd=work).stdout.strip()
    check(path("export.output_dir=made/here", "export.output_name=x") == "made/here/x.pte" and (work / "made/here/x.pte").exists(), "a folder that is made, and a name")
    check(path("export.output_dir=made", "export.output_name=y.pte") == "y.pte" and (work / "y.pte").exists(), "a name that ends in .pte is a path of its own")
    check(path("export.output_dir=made") == "made/llama3_2.pte", "the class where there is no name")


def debugging():
    """debug.verbose: the table of calls, beside the results; debug.profile_memory: what lives when, and that nothing lies on what lives."""
    options = ["-qmode", "8da4w", "-G", "32", "-X", "debug.verbose=true", "debug.profile_memory=true", f"export.output_name={work}/debug.pte"]
    result = run("export", *EXPORT[2:], *options, cwd=work)
    table = result.stderr.splitlines()
    rows = {row[2].strip(): (int(row[3]), int(row[4])) for row in (line.split("\u2502") for line in table) if len(row) == 6 and row[3].strip().isdigit()}
    total = rows.pop("Total", None)
    check(result.returncode == 0 and total == (sum(row[0] for row in rows.values()), sum(row[1] for row in rows.values())) and total[0] == 43, f"43 linears are delegated: {total}")
    check(f"Number of delegated nodes: {total[0]}" in table and f"Number of non-delegated nodes: {total[1]}" in table and result.stdout == f"{work}/debug.pte\n", "totals; results alone on standard output")
    subgraphs = int(table[0].removeprefix("Total delegated subgraphs: "))
    inside = json.loads(run("inspect", work / "debug.pte", "--json").stdout)
    check(subgraphs == len(inside["program"]["execution_plan"][0]["delegates"]) == 25, f"{subgraphs} delegates")
    events = json.loads((work / "memory_profile.json").read_text())["traceEvents"]
    lives = {}
    for event in events:
        lives.setdefault(event["tid"], []).append((event["args"]["offset"], event["args"]["offset"] + event["dur"]))
    apart = all(a[1] <= b[0] for spans in lives.values() for a, b in zip(sorted(spans), sorted(spans)[1:]))
    caches = {event["name"] for event in events if event["args"]["op_name"] == "state"}
    check(apart and len(lives) > 100 and len(caches) == 12, f"a trace of {len(lives)} calls, {len(caches)} states")


subprocess.run(["rm", "-rf", work], check=True)
work.mkdir(parents=True)
statuses()
same_configuration()
interrupted()
results()
faults_first()
other_ids()
names()
debugging()
sys.exit(failed != 0)
