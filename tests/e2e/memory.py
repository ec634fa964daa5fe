#!/usr/bin/env python3
"""The peak of memory that an export predicts is what `wick run` then takes: memory.py WICK SOURCE [GGUF]. In several forms of the story model and, where it
is, of SmolLM2, within 10 %. Prompts are as long as a call takes."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

KV, SDPA = ["model.use_kv_cache=true"], ["model.use_kv_cache=true", "model.use_sdpa_with_kv_cache=true"]
XNN, Q = ["backend.xnnpack.enabled=true", "backend.xnnpack.extended_ops=true"], ["quantization.qmode=8da4w", "quantization.group_size=32"]
FORMS = {"fp32_kv": KV, "fp32_sdpa": SDPA, "fp32_sdpa_xnn": SDPA + XNN, "8da4w_sdpa_xnn": SDPA + XNN + Q + ["quantization.embedding_quantize='4,32'"],
         "8da4w_sdpa": SDPA + Q, "int8_sdpa_xnn": SDPA + XNN + ["quantization.qmode=int8"], "fp16_sdpa_xnn": SDPA + XNN + ["model.dtype_override=fp16"]}


def measured(wick, program, tokens):
    """Peak resident bytes of a run. The system's own count at its end would have this script's memory in it, from before the exec."""
    ids, peak = ",".join(str(3 + i * 7 % 900) for i in range(tokens)), 0
    with subprocess.Popen([wick, "run", str(program), "--tokens", ids, "--max-new-tokens", "16", "--ignore-eos", "--temperature", "0"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as run:
        while run.poll() is None:
            try:
                status = pathlib.Path(f"/proc/{run.pid}/status").read_text()
            except OSError:
                break
            found = re.search(r"^Name:\s+wick$[\s\S]*VmHWM:\s+(\d+) kB", status, re.M)
            peak = max(peak, int(found[1]) * 1024 if found else 0)
            time.sleep(0.001)
    assert run.returncode == 0 and peak
    return peak


def main():
    wick, source = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    models = [("story", [f"base.checkpoint={source}/assets/story/consolidated.00.pth", f"base.params={source}/assets/story/params.json"], 256, 512)]
    if len(sys.argv) > 3 and os.path.exists(sys.argv[3]):
        models.append(("smollm2", [f"base.checkpoint={sys.argv[3]}"], 512, 1024))
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "model.pte"
        for name, checkpoint, tokens, context in models:
            for form, options in FORMS.items():
                run = subprocess.run([wick, "export", *checkpoint, *options, f"export.max_seq_length={tokens}", f"export.max_context_length={context}",
                                      f"export.output_name={program}"], capture_output=True, text=True)
                assert run.returncode == 0, run.stderr
                predicted = float(re.search(r"predicted peak of a run ([\d.]+) MB", run.stderr + run.stdout)[1]) * 1e6
                seen = measured(wick, program, tokens - 1)
                good = abs(predicted / seen - 1) <= 0.1
                bad += not good
                print(f"{'pass' if good else 'FAIL'} {name} {form}: predicted {predicted / 1e6:.1f} MB, {seen / 1e6:.1f} MB seen ({predicted / seen - 1:+.0%})", flush=True)
    return 1 if bad else 0


sys.exit(main())
