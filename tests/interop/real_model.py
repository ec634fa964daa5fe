#!/usr/bin/env python3
"""Our exports of the real SmolLM2-135M on the original's runtime: each form of export, the same tokens fed to both.

real_model.py WICK SOURCE CACHE GGUF. Takes minutes and the whole original: runs with WICK_ORACLE_PYTHON (as interop.py has it) and the GGUF that
`make demo` fetched; status 77 without. What our runtime chooses greedily is fed to both, so that a near tie does not end the comparison. Differences are relative to the largest logit of the case; the bounds of
quantized programs are those of the original against itself in other chunks, rounded up: on the 32 best logits of a step at most 0.15, and over all steps
of a form 0.03 in the mean, a Kullback-Leibler divergence of 0.06 in the mean, and the same best token wherever it leads by 0.05."""
import math
import os
import pathlib
import subprocess
import sys

from interop import FORMS, TOLERANCE, floats, skip, small_oracle

STEPS, BEST = 12, 32
TEXTS = ["The capital of France is", "def fibonacci(n):\n    if n", "Water boils at a temperature of", "Once upon a time, in a small village by the sea,"]


def row_figures(ours, theirs, largest):
    """Of one step: the largest and the mean difference on their 32 best, the divergence, and whether a clear best token is another one here."""
    best = sorted(range(len(theirs)), key=theirs.__getitem__, reverse=True)[:BEST]
    differences = [abs(ours[i] - theirs[i]) / largest for i in best]
    top, our_top = theirs[best[0]], max(ours)
    lse = top + math.log(math.fsum(math.exp(x - top) for x in theirs))
    our_lse = our_top + math.log(math.fsum(math.exp(x - our_top) for x in ours))
    kl = math.fsum(math.exp(t - lse) * ((t - lse) - (o - our_lse)) for o, t in zip(ours, theirs))
    wrong = (top - theirs[best[1]]) / largest > 0.05 and ours[best[0]] != our_top
    return max(differences), sum(differences) / BEST, kl, wrong


def figures_of(ours, theirs):
    """Rows of figures, a step each."""
    if len(ours) != len(theirs) or not ours:
        raise RuntimeError(f"{len(ours)} logits here, {len(theirs)} there")
    width, largest = len(theirs) // STEPS, max(abs(x) for x in theirs)
    return [row_figures(ours[i:i + width], theirs[i:i + width], largest) for i in range(0, len(theirs), width)]


def judge(rows, numbers):
    """(passes, text) of all rows of a form."""
    worst, mean = max(r[0] for r in rows), sum(r[1] for r in rows) / len(rows)
    kl, wrong = sum(r[2] for r in rows) / len(rows), sum(r[3] for r in rows)
    good = worst <= TOLERANCE["fp32"] if numbers == "fp32" else worst <= 0.15 and mean <= 0.03 and kl <= 0.06
    return good and not wrong and math.isfinite(worst), f"{len(rows)} steps, max {worst:.2e} mean {mean:.2e} KL {kl:.2e} wrong best {wrong}"


def ids(wick, *how):
    """The numbers that a command prints."""
    run = subprocess.run([wick, *how], capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(f"{' '.join(how[:2])}: {run.stderr.strip()[-300:]}")
    return [int(word) for word in run.stdout.replace(",", " ").split() if word.isdigit()]


def case(wick, there, program, text, nokv, work):
    lines = subprocess.run([wick, "tokenize", "--tokenizer", program.replace(".pte", ".tokenizer.json"), text], capture_output=True, text=True, check=True)
    tokens = ",".join(line.split("\t")[0] for line in lines.stdout.splitlines())
    common = ["run", program, "--tokens", tokens, "--max-new-tokens", str(STEPS), "--temperature", "0", "--ignore-eos", "--stats", "none"]
    forced = ",".join(map(str, ids(wick, *common)[-STEPS:]))
    ours, theirs = str(work / "ours.f32"), str(work / "theirs.f32")
    ids(wick, *common, "--force-tokens", forced, "--logits", ours)
    run = subprocess.run(there + [program, tokens, str(STEPS), "--force", forced, "--out", theirs] + (["--nokv"] if nokv else []), capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(f"the original {run.returncode}: {(run.stdout + run.stderr).strip()[-300:]}")
    return figures_of(floats(ours), floats(theirs))


def main():
    wick, source, cache, gguf = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
    if not gguf.exists():
        skip(f"{gguf} is missing; make demo fetches it")
    whole = os.environ.get("WICK_ORACLE_PYTHON")
    if not whole:
        skip("WICK_ORACLE_PYTHON is not set")
    oracle = small_oracle(source, cache)
    work = cache / "programs"
    work.mkdir(parents=True, exist_ok=True)
    passed = failed = 0
    program = str(work / "real_model.pte")
    for form, numbers, custom, options in FORMS:
        there = [whole, str(source / "tests/interop/oracle_llm.py")] if custom else [oracle, "llm"]
        try:
            ids(wick, "export", "--quiet", f"base.checkpoint={gguf}", *options, "export.max_seq_length=64", "export.max_context_length=64",
                f"export.output_name={program}")
            rows = [row for text in TEXTS for row in case(wick, there, program, text, "nokv" in form, work)]
            good, figures = judge(rows, numbers)
        except RuntimeError as fault:
            good, figures = False, str(fault)
        print(f"{'pass' if good else 'FAIL'} {form}: {figures}", flush=True)
        passed, failed = passed + good, failed + (not good)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
