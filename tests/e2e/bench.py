#!/usr/bin/env python3
"""wick bench as a user meets it: bench.py WICK SOURCE WORK. Numbers are only held against each other, never against a speed."""
import json
import pathlib
import subprocess
import sys


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def check(what, good, seen=""):
    print(f"{'ok' if good else 'FAIL'}: {what} {'' if good else seen}")
    return not good


def main():
    wick, source, work = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    work.mkdir(parents=True, exist_ok=True)
    program, failed = source / "tests/data/golden/llm/story_8da4w/model.pte", 0
    short = ["-p", "1,16,100000", "-d", "8", "-n", "4", "--reps", "3"]
    code, out, err = run(wick, "bench", program, *short, "--threads", "1,2", "--json", "--compare", program, "--svg", work / "chart.svg")
    failed += check("ends well", code == 0, err)
    results = json.loads(out) if code == 0 else []
    failed += check("one object a model and thread count", [r["threads"] for r in results] == [1, 1, 2, 2], out[:300])
    for r in results:
        rates = r["prefill"] + r["decode"]
        failed += check("lengths", [p["tokens"] for p in r["prefill"]] == [1, 16] and [d["context"] for d in r["decode"]] == [8], str(rates))
        failed += check("a median between least and most", all(0 < x["tok_s_min"] <= x["tok_s"] <= x["tok_s_max"] for x in rates), str(rates))
        failed += check("load, first token, memory", r["load_ms"] > 0 and r["first_token_ms"] > 0 and r["peak_rss_bytes"] > 1 << 20, str(r)[:300])
        limits = r["limits"]
        failed += check("shares of the limits", limits["share_decode"] > 0 and limits["share_prefill"] > 0, str(limits))
        failed += check("operators", any(o["multiply_adds"] > 0 for o in r["prefill_operators"]) and len(r["decode_operators"]) > 5, str(r["decode_operators"])[:300])
    failed += check("a prompt that does not fit is said", "100000" in err and "left out" in err, err)
    chart = (work / "chart.svg").read_text() if code == 0 else ""
    failed += check("a chart", chart.startswith("<svg") and chart.rstrip().endswith("</svg>") and chart.count("tok/s") == 12, chart[:200])
    code, out, err = run(wick, "bench", program, "-p", "4", "-d", "4", "-n", "2", "--reps", "1", "--no-limits", "--operators", "--compare", program)
    failed += check("the table", code == 0 and "prefill" in out and "against" in out and "custom_sdpa" in out, out + err)
    code, out, err = run(wick, "bench", program, "-p", "4", "-d", "4", "--no-limits", "--layers")
    failed += check("no record, no layers", code == 1 and "debug.generate_etrecord" in err, out + err)
    story = source / "assets/story"
    code, out, err = run(wick, "export", "--quiet", f"base.checkpoint={story}/consolidated.00.pth", f"base.params={story}/params.json", "model.use_kv_cache=true",
                         "model.use_sdpa_with_kv_cache=true", "backend.xnnpack.enabled=true", "backend.xnnpack.extended_ops=true", "debug.generate_etrecord=true",
                         f"export.output_name={work}/recorded.pte")
    failed += check("an export with its record", code == 0, err)
    record = json.loads((work / "recorded.etrecord.json").read_text())["methods"][0]["instructions"]
    failed += check("layers of delegates", any(i.get("delegate") and any(c["operator"] == "aten::linear.out" and c["layer"] for c in i["calls"]) for i in record), str(record)[:300])
    code, out, err = run(wick, "bench", work / "recorded.pte", "-p", "4", "-d", "4", "-n", "2", "--reps", "1", "--no-limits", "--layers", "--json")
    layers = json.loads(out)[0] if code == 0 else {}
    names = {row["name"] for row in layers.get("prefill_layers", [])}
    failed += check("time by layer", any(name.startswith("layers.5") for name in names), str(names) + err)
    failed += check("the same work by layer", sum(r["multiply_adds"] for r in layers["prefill_layers"]) == sum(r["multiply_adds"] for r in layers["prefill_operators"]), str(names))
    for words, code_wanted, text in ((["bench"], 2, "name one program"), (["bench", program, "-p", "x"], 2, "-p"), (["bench", program, "--reps", "0"], 2, "--reps"),
                                     (["bench", work / "missing.pte"], 1, "missing.pte"), (["bench", source / "README.md"], 1, "")):
        code, out, err = run(wick, *words)
        failed += check(f"refused: {' '.join(map(str, words[1:]))[-40:]}", code == code_wanted and text in err and not out, f"{code} {err}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
