#!/usr/bin/env python3
"""Weights outside of the program: the same logits as with all inside, one foundation under several programs, and what is said when a file is not the
right one. external.py WICK SOURCE WORK"""
import json
import pathlib
import random
import shutil
import struct
import subprocess
import sys

wick, source, work = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()
STORY = source / "assets/story"
FORM = ["model.use_kv_cache=true", "model.use_sdpa_with_kv_cache=true", "quantization.qmode=8da4w", "quantization.group_size=32", "backend.xnnpack.enabled=true",
        "backend.xnnpack.extended_ops=true", "export.max_seq_length=32", "export.max_context_length=64"]


def make_adapter(name, seed):
    values, header, data = random.Random(seed), {}, b""
    for layer in range(6):
        for part, shape in (("a", (4, 128)), ("b", (128, 4))):
            raw = struct.pack("<512f", *(values.uniform(-0.1, 0.1) for _ in range(512)))
            header[f"layers.{layer}.attention.wq.lora_{part}.weight"] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
            data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (work / name).write_bytes(struct.pack("<Q", len(text)) + text + data)


def export(name, *options):
    run = subprocess.run([wick, "export", "--quiet", f"base.checkpoint={STORY}/consolidated.00.pth", f"base.params={STORY}/params.json", *FORM, *options,
                          f"export.output_name={work}/{name}.pte"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return work / f"{name}.pte"


def adapter(seed):
    make_adapter(f"{seed}.safetensors", seed)
    return [f"base.lora_config.adapter_checkpoint={work}/{seed}.safetensors", "base.lora_config.lora_rank=4", "base.lora_config.lora_alpha=8"]


def logits(program, *data):
    out = work / "logits.f32"
    run = subprocess.run([wick, "run", str(program), "--tokens", "1,40,77,300", "--max-new-tokens", "3", "--temperature", "0", "--ignore-eos", "--logits", str(out),
                          *(word for file in data for word in ("--ptd", str(file)))], capture_output=True, text=True)
    return out.read_bytes() if run.returncode == 0 else run.stderr


def main():
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    inside = [export(f"inside{i}", *adapter(i)) for i in (1, 2)]
    outside = [export(f"outside{i}", *adapter(i), "export.foundation_weights_file=base", f"export.lora_weights_file=lora{i}.ptd") for i in (1, 2)]
    base, loras = work / "base.ptd", [work / "lora1.ptd", work / "lora2.ptd"]
    wanted = [logits(program) for program in inside]
    assert all(isinstance(rows, bytes) for rows in wanted) and wanted[0] != wanted[1], wanted
    for program, lora, rows in zip(outside, loras, wanted):
        assert logits(program, base, lora) == rows == logits(program, lora, base), "other logits than with all weights inside"
    # The programs are small; the foundation that the second export wrote serves the first.
    assert outside[0].stat().st_size < inside[0].stat().st_size / 4 and base.stat().st_size > inside[0].stat().st_size / 2
    again = export("again", "export.foundation_weights_file=base2")
    assert logits(again, work / "base2.ptd") == logits(again, base), "a foundation depends on the adapter over it"
    # What is missing is named.
    assert "needs a data file (.ptd)" in logits(outside[0]), logits(outside[0])
    assert "no named data with key" in logits(outside[0], base), logits(outside[0], base)
    assert "no named data with key" in logits(outside[0], base, loras[1]), "another adapter's weights were taken"
    # A byte-for-byte repeat, and nothing left beside the files.
    before = base.read_bytes(), outside[1].read_bytes()
    export("outside2", *adapter(2), "export.foundation_weights_file=base", "export.lora_weights_file=lora2.ptd")
    assert before == (base.read_bytes(), outside[1].read_bytes())
    # A folder in the way of the second file: neither that, nor the first, nor the program changes.
    (work / "blocked.ptd").mkdir()
    run = subprocess.run([wick, "export", "--quiet", f"base.checkpoint={STORY}/consolidated.00.pth", f"base.params={STORY}/params.json", *adapter(3),
                          "export.foundation_weights_file=blocked", f"export.output_name={work}/blocked.pte"], capture_output=True, text=True)
    assert run.returncode == 1 and "blocked.ptd" in run.stderr and not (work / "blocked.pte").exists(), run.stderr
    names = sorted(p.name for p in work.iterdir())
    assert not [n for n in names if "tmp" in n or n.startswith(".")], names
    run = subprocess.run([wick, "export", "--quiet", f"base.checkpoint={STORY}/consolidated.00.pth", "export.foundation_weights_file=x", "export.lora_weights_file=x.ptd",
                          f"export.output_name={work}/x.pte"], capture_output=True, text=True)
    assert run.returncode == 1 and "are one file" in run.stderr, run.stderr
    print("external weights: as inside")


main()
