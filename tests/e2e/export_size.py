#!/usr/bin/env python3
"""Export at size: export_size.py WICK SOURCE WORK [1b | 8b] [--layers N] [--sparse]. Makes a checkpoint of that shape, exports it to 8da4w with a 4-bit
embedding, and holds it against the bounds: for the 1b shape 25 s, in proportion for fewer layers, and 1.6 x the output + 512 MB of memory. Two layers
of the 1b shape by default. Status 77: too little room on disk."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

WHOLE, SECONDS, FIXED_SECONDS = 1.236e9, 25.0, 3.0
FORM = ["model.use_kv_cache=true", "model.use_sdpa_with_kv_cache=true", "backend.xnnpack.enabled=true", "backend.xnnpack.extended_ops=true", "quantization.qmode=8da4w",
        "quantization.group_size=32", "quantization.embedding_quantize=\"4,32\"", "export.max_seq_length=2048", "export.max_context_length=2048"]


def main():
    wick, source, work = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()
    options = sys.argv[4:] or ["1b", "--layers", "2"]
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    if shutil.disk_usage(work).free < (8 << 30 if "--sparse" not in options else 6 << 30):
        print("SKIP: less than 8 GB of room on disk")
        return 77
    try:
        subprocess.run([sys.executable, str(source / "tests/tools/make_shaped.py"), str(work / "model"), *options], check=True)
        run = subprocess.run([wick, "export", f"base.checkpoint={work}/model", *FORM, f"export.output_name={work}/model.pte"], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        seconds, rss = map(float, re.search(r"([\d.]+) s, peak RSS ([\d.]+) MB", run.stderr + run.stdout).groups())
        output, parameters = (work / "model.pte").stat().st_size, sum(f.stat().st_size for f in (work / "model").glob("*.safetensors")) / 2
    finally:
        shutil.rmtree(work, ignore_errors=True)
    most_seconds, most_rss = SECONDS * parameters / WHOLE + FIXED_SECONDS * (len(sys.argv) <= 4), 1.6 * output / 1e6 + 512
    print(f"{parameters / 1e9:.2f}e9 weights, output {output / 1e6:.0f} MB: {seconds:.1f} s (bound {most_seconds:.0f}), {rss:.0f} MB (bound {most_rss:.0f})")
    assert rss < most_rss, "too much memory"
    assert seconds < most_seconds, "too slow"
    return 0


sys.exit(main())
