#!/usr/bin/env python3
"""Configurations that the original refuses, or exports into programs that it cannot run: refused here as clearly, or done right.
refused.py WICK GOLDEN WORK. Status 77 without the golden set."""
import json
import os
import pathlib
import subprocess
import sys

# What is said here; None: it is done, and the program runs.
HERE = {
    "llama32_8da4w_portable": None,  # the original's portable operators lack the quantized ones: its program fails at run time
    "llama32_localglobal": (None, "model.local_global_attention"),
    "llama32_tao8da4w": ("torchao modes cannot be combined with backend.xnnpack.enabled",),
    "llama32_tao8da3w": (None, "quantization.qmode=torchao:8da3w"),
    "llama32_tao_e4": (None, "quantization.embedding_quantize=torchao:4,32"),
    "llama32_shared_emb": ("model.use_shared_embedding: needs a quantization.qmode that starts with torchao:",),
}


def main():
    wick, golden, work = sys.argv[1], pathlib.Path(os.environ.get("WICK_GOLDEN") or sys.argv[2]), pathlib.Path(sys.argv[3])
    index = golden / "llm/index.json"
    cases = {name: case for name, case in json.loads(index.read_text()).items() if not case["ok"]} if index.exists() else {}
    work.mkdir(parents=True, exist_ok=True)
    seen = wrong = 0
    for name, case in cases.items():
        options = dict(case["overrides"])
        if not (golden / options["base.checkpoint"]).exists():
            continue
        for key in ("base.checkpoint", "base.params"):
            options[key] = golden / options[key]
        program, expected = work / f"{name}.pte", HERE.get(name, ())
        made = subprocess.run([wick, "export", "--quiet", *(f"{key}={value}" for key, value in options.items()), f"export.output_name={program}"], capture_output=True, text=True)
        seen += 1
        if made.returncode == 0:
            run = subprocess.run([wick, "run", program, "--tokens", "1,5,9", "--max-new-tokens", "4", "--temperature", "0", "--ignore-eos"], capture_output=True, text=True)
            good = (expected is None or None in expected) and run.returncode == 0 and len(run.stdout.split()) == 4
            print(f"{'ok' if good else 'WRONG'}: {name}: done; {run.stdout.strip() or run.stderr.strip()}")
        else:
            good = made.returncode == 1 and any(words and words in made.stderr for words in expected or ())
            print(f"{'ok' if good else 'WRONG'}: {name}: {made.stderr.strip()}")
        wrong += not good
    print(f"{seen} configurations that the original does not do, {wrong} wrong")
    return 77 if not seen else wrong != 0


if __name__ == "__main__":
    sys.exit(main())
