#!/usr/bin/env python3
"""Programs of several methods: each gives what a program of it alone gives, the file holds once what they have in common, also in data files; caches
that methods share lie at the same place; adapters merged into weights. methods.py WICK SOURCE WORK"""
import json
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys

wick, source, work = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()
STORY = source / "assets/story"
CACHE = ["model.use_kv_cache=true", "model.use_sdpa_with_kv_cache=true", "export.max_seq_length=32", "export.max_context_length=64"]
QUANTIZED = ["quantization.qmode=8da4w", "quantization.group_size=32", "backend.xnnpack.enabled=true", "backend.xnnpack.extended_ops=true"]


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


def run_export(name, *options):
    return subprocess.run([wick, "export", "--quiet", f"base.checkpoint={STORY}/consolidated.00.pth", f"base.params={STORY}/params.json", *CACHE, *options,
                           f"export.output_name={work}/{name}.pte"], capture_output=True, text=True)


def export(name, *options):
    run = run_export(name, *options)
    assert run.returncode == 0, run.stderr
    return work / f"{name}.pte"


def refused(words, *options):
    run = run_export("refused", *options)
    assert run.returncode == 1 and words in run.stderr and not (work / "refused.pte").exists(), run.stderr


def lora(seed, key="+base.lora_config"):
    return [f"{key}.adapter_checkpoint={work}/{seed}.safetensors", f"{key}.lora_rank=4", f"{key}.lora_alpha=8"]


def methods(**adapters):
    items = [f"{{method_name:{name}" + (f",lora_config:{{adapter_checkpoint:{work}/{seed}.safetensors,lora_rank:4,lora_alpha:8}}" if seed else "") + "}" for name, seed in adapters.items()]
    return f"multimethod.methods=[{','.join(items)}]"


def logits(program, method="forward", *data):
    out = work / "logits.f32"
    run = subprocess.run([wick, "run", str(program), "--method", method, "--tokens", "1,40,77,300", "--max-new-tokens", "3", "--temperature", "0", "--ignore-eos",
                          "--logits", str(out), *(word for file in data for word in ("--ptd", str(file)))], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return out.read_bytes()


def check_methods(*options):
    alone = {"plain": export("alone0", *options), "one": export("alone1", *options, *lora(1)), "two": export("alone2", *options, *lora(2))}
    wanted = {name: logits(program) for name, program in alone.items()}
    assert len(set(wanted.values())) == 3
    listed = methods(two=2, plain=None, one=1, again=1)
    several = export("several", *options, listed)
    apart = export("apart", *options, listed, "multimethod.share_mutable_buffers=true")
    outside = export("outside", *options, listed, "export.foundation_weights_file=base")
    for name in wanted:
        assert logits(several, name) == logits(apart, name) == logits(outside, name, work / "base.ptd") == wanted[name], name
    assert logits(several, "again") == wanted["one"]
    # The foundation once, and the first adapter once though two methods have it: what more methods cost are their tables and payloads.
    sizes = {name: program.stat().st_size for name, program in alone.items()}
    adapters = sizes["two"] - sizes["plain"] + sizes["one"] - sizes["plain"]
    assert several.stat().st_size < sizes["plain"] + adapters + 3 * 130000, (several.stat().st_size, sizes)
    assert outside.stat().st_size < several.stat().st_size / 2
    told = subprocess.run([wick, "inspect", str(apart)], capture_output=True, text=True).stdout
    assert re.findall(r"^method (\S+): \d\d+ values", told, re.M) == ["again", "one", "plain", "two"], told
    assert len(set(re.findall(r"planned buffer 2: (\d+) bytes", told))) == 1 and told.count("planned buffer 2") == 4, told


def difference(a, b):
    rows = [struct.unpack(f"<{len(x) // 4}f", x) for x in (a, b)]
    return max(abs(x - y) for x, y in zip(*rows)) / max(abs(x) for x in rows[1])


def check_merged():
    plain, beside, merged = export("plain"), export("beside", *lora(1)), export("merged", *lora(1), "wick.lora.merge=true")
    assert difference(logits(merged), logits(beside)) < 1e-4 < 1e-2 < difference(logits(merged), logits(plain))
    assert abs(merged.stat().st_size - plain.stat().st_size) < 4096, "merging adds calls or weights"
    # Quantized after the sum: as near to the float model as one whose adapter stands beside quantized weights.
    quantized = export("merged_quantized", *QUANTIZED, *lora(1), "wick.lora.merge=true")
    assert difference(logits(quantized), logits(beside)) < 0.1, difference(logits(quantized), logits(beside))
    both = export("both", methods(plain=None, one=1, two=2), "wick.lora.merge=true")
    assert logits(both, "plain") == logits(plain) and logits(both, "one") == logits(merged) != logits(both, "two")


def main():
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    for seed in (1, 2):
        make_adapter(f"{seed}.safetensors", seed)
    check_methods()
    check_methods(*QUANTIZED)
    first = (work / "several.pte").read_bytes()
    check_merged()
    assert export("several", *QUANTIZED, methods(two=2, plain=None, one=1, again=1)).read_bytes() == first, "not the same file twice"
    refused("two methods are called a", "multimethod.methods=[{method_name:a},{method_name:b},{method_name:a}]")
    refused("also the name of a constant method", methods(get_n_layers=None))
    refused("two weights are called", methods(one=1, two=2), "export.lora_weights_file=lora")
    missing = f"multimethod.methods=[{{method_name:a}},{{method_name:b,lora_config:{{adapter_checkpoint:{work}/1.safetensors}}}}]"
    refused("multimethod.methods.1.lora_config: it has no rank", missing)
    print("several methods: each as alone")


main()
