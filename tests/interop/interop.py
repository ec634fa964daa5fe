#!/usr/bin/env python3
"""Our exports run on the original's runtime, and give there what they give here.

interop.py WICK SOURCE CACHE. The original is the 19 MB wheel without PyTorch: fetched once by pip into CACHE (or taken from WICK_ORACLE, a built
oracle_run) and skipped, status 77, where it cannot be had. Programs with llama:: operators need the whole package: with WICK_ORACLE_PYTHON, a Python
that has executorch and torch, they are checked too, else counted as left out in the last line."""
import array
import json
import os
import pathlib
import random
import struct
import subprocess
import sys

VERSION = "1.5.1"
TOLERANCE = {"fp32": 2e-4, "8da4w": 2e-2, "16bit": 2e-2, "int8kv": 2e-2}  # of the largest logit, as for the golden programs
STEPS = 8
MODELS = [  # name, model class, checkpoint, parameters, prompt
    ("story", "llama3_2", "assets/story/consolidated.00.pth", "assets/story/params.json", [1, 17, 300, 42, 5, 99]),
    ("llama2", "llama2", "tests/data/golden/checkpoints/llama2", None, [1, 17, 300, 42, 5, 99, 511, 256, 7]),
    ("llama3_2", "llama3_2", "tests/data/golden/checkpoints/llama3_2", None, [1, 17, 300, 42, 5, 99, 511, 256, 7]),
    ("qwen2_5", "qwen2_5_0_5b", "tests/data/golden/checkpoints/qwen2_5_0_5b", None, [1, 17, 300, 42, 5, 99, 511, 256, 7]),
    ("qwen3", "qwen3_0_6b", "tests/data/golden/checkpoints/qwen3_0_6b", None, [1, 17, 300, 42, 5, 99, 511, 256, 7]),
    ("phi_4_mini", "phi_4_mini", "tests/data/golden/checkpoints/phi_4_mini", None, [1, 17, 300, 42, 5, 99, 511, 256, 7]),
    ("smollm2", "smollm2", "tests/data/golden/checkpoints/smollm2", None, [1, 17, 300, 42, 5, 99, 511, 256, 7]),
    ("lfm2", "lfm2_350m", "tests/data/golden/checkpoints/lfm2", None, [1, 17, 300, 42, 5, 99, 511, 256, 7]),
]
QUANTIZED = ["quantization.qmode=8da4w", "quantization.group_size=32", "quantization.embedding_quantize='4,32'"]
XNNPACK = ["backend.xnnpack.enabled=true", "backend.xnnpack.extended_ops=true"]
FORMS = [  # name, numbers, has llama:: operators, options
    ("fp32_nokv", "fp32", False, ["model.use_kv_cache=false"]),
    ("fp32_nokv_xnn", "fp32", False, ["model.use_kv_cache=false"] + XNNPACK),
    ("fp32_kv", "fp32", False, ["model.use_kv_cache=true"]),
    ("fp32_kv_xnn", "fp32", False, ["model.use_kv_cache=true"] + XNNPACK),
    ("8da4w_kv", "8da4w", False, ["model.use_kv_cache=true"] + QUANTIZED),
    ("8da4w_kv_xnn", "8da4w", False, ["model.use_kv_cache=true"] + QUANTIZED + XNNPACK),
    ("fp32_sdpa", "fp32", True, ["model.use_kv_cache=true", "model.use_sdpa_with_kv_cache=true"]),
    ("fp32_sdpa_xnn", "fp32", True, ["model.use_kv_cache=true", "model.use_sdpa_with_kv_cache=true"] + XNNPACK),
    ("8da4w_sdpa_xnn", "8da4w", True, ["model.use_kv_cache=true", "model.use_sdpa_with_kv_cache=true"] + QUANTIZED + XNNPACK),
    ("fp16_kv", "16bit", False, ["model.use_kv_cache=true", "model.dtype_override=fp16"]),
    ("bf16_kv_xnn", "16bit", False, ["model.use_kv_cache=true", "model.dtype_override=bf16", "backend.xnnpack.enable_bf16=true"] + XNNPACK),
    ("fp16_sdpa_xnn", "16bit", True, ["model.use_kv_cache=true", "model.use_sdpa_with_kv_cache=true", "model.dtype_override=fp16"] + XNNPACK),
    ("bf16_8da4w_sdpa", "16bit", True, ["model.use_kv_cache=true", "model.use_sdpa_with_kv_cache=true", "model.dtype_override=bf16"] + QUANTIZED),
    ("fp32_qkv_sdpa", "int8kv", True, ["model.use_kv_cache=true", "model.use_sdpa_with_kv_cache=true", "model.quantize_kv_cache=true"]),
]
# Checkpoints of quantized weights: one form each.
SPUN = ["base.preq_mode=preq_8da4w_out_8da8w", "model.use_kv_cache=true", "model.use_sdpa_with_kv_cache=true"]
ONLY = [
    (("spinquant", "llama3_2", "tests/data/golden/checkpoints/spinquant", None, [1, 17, 300, 42, 5, 99, 511, 256, 7]),
     ("native_xnn", "8da4w", True, SPUN + ["quantization.use_spin_quant=native"] + XNNPACK)),
    (("qat_lora", "llama3_2", "tests/data/golden/checkpoints/qat_lora", None, [1, 17, 300, 42, 5, 99, 511, 256, 7]),
     ("adapted_xnn", "8da4w", True, SPUN + ["quantization.use_qat=true", "base.use_lora=8"] + XNNPACK)),
    (("qat_lora", "llama3_2", "tests/data/golden/checkpoints/qat_lora", None, [1, 17, 300, 42, 5, 99, 511, 256, 7]),
     ("adapted_kv", "8da4w", False, [SPUN[0], SPUN[1], "quantization.use_qat=true", "base.use_lora=8"])),
]


def skip(why):
    print(f"SKIP: {why}")
    sys.exit(77)


def small_oracle(source, cache):
    """The path of oracle_run: WICK_ORACLE, or built once from the wheel."""
    given = os.environ.get("WICK_ORACLE")
    if given:
        return given
    built = cache / "oracle_run"
    if built.exists():
        return str(built)
    cache.mkdir(parents=True, exist_ok=True)
    fetch = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "--dest", str(cache), f"executorch=={VERSION}"],
                           capture_output=True, text=True)
    wheels = list(cache.glob("executorch-*.whl"))
    if fetch.returncode or not wheels:
        skip(f"executorch {VERSION} cannot be fetched: {fetch.stderr.strip()[-200:]}")
    subprocess.run([sys.executable, "-m", "zipfile", "-e", str(wheels[0]), str(cache)], check=True)
    wheel = cache / "executorch"
    build = subprocess.run(["c++", "-std=c++20", "-O2", "-w", "-DC10_USING_CUSTOM_GENERATED_MACROS", f"-I{wheel}/include",
                            f"-I{wheel}/include/executorch/runtime/core/portable_type/c10", str(source / "tests/interop/oracle_run.cpp"), "-o", str(built),
                            f"-L{wheel}/lib", f"-Wl,-rpath,{wheel}/lib", "-Wl,--no-as-needed", "-lexecutorch", "-lexecutorch_kernels_optimized",
                            "-lexecutorch_kernels_quantized", "-lexecutorch_backend_xnnpack", "-lexecutorch_threadpool"], capture_output=True, text=True)
    if build.returncode:
        skip(f"the driver of the original does not build: {build.stderr.strip()[-300:]}")
    return str(built)


def floats(path):
    values = array.array("f")
    with open(path, "rb") as file:
        values.frombytes(file.read())
    return values


def checkpoint_options(source, checkpoint, params):
    path = source / checkpoint
    if path.is_dir():
        files = [p for p in sorted(path.iterdir()) if p.suffix in (".pth", ".safetensors", ".gguf", ".pt")]
        if not files:
            return None
        params = next((str(p) for p in path.iterdir() if p.name == "params.json"), None)
        path = files[0]
    elif not path.exists():
        return None
    else:
        params = str(source / params)
    return [f"base.checkpoint={path}"] + ([f"base.params={params}"] if params else [])


def compare(ours, theirs):
    if len(ours) != len(theirs) or not ours:
        return float("inf")
    largest = max(abs(x) for x in theirs)
    worst = max(abs(a - b) for a, b in zip(ours, theirs))
    return worst / largest if worst == worst else float("inf")


def make_adapter(path):
    """Rank 4 at the values of the story model, Meta's names."""
    values, header, data = random.Random(7), {}, b""
    for layer in range(6):
        for part, shape in (("a", (4, 128)), ("b", (64, 4))):
            raw = struct.pack(f"<{shape[0] * shape[1]}f", *(values.uniform(-0.2, 0.2) for _ in range(shape[0] * shape[1])))
            header[f"layers.{layer}.attention.wv.lora_{part}.weight"] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
            data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def check_methods(wick, source, work, whole):
    """A program of two methods, one with an adapter: (passed, failed)."""
    make_adapter(work / "adapter.safetensors")
    lora = f"{{adapter_checkpoint:{work}/adapter.safetensors,lora_rank:4,lora_alpha:8}}"
    program, ours, theirs, counts, rows = str(work / "methods.pte"), str(work / "methods.ours"), str(work / "methods.theirs"), [0, 0], []
    subprocess.run([wick, "export", "--quiet", *checkpoint_options(source, *MODELS[0][2:4]), *FORMS[8][3], f"multimethod.methods=[{{method_name:plain}},{{method_name:tuned,lora_config:{lora}}}]",
                    "multimethod.share_mutable_buffers=true", "export.max_seq_length=64", "export.max_context_length=64", f"export.output_name={program}"], check=True, stdout=subprocess.DEVNULL)
    for method in ("plain", "tuned"):
        subprocess.run([wick, "run", program, "--method", method, "--tokens", "1,17,300,42,5,99", "--max-new-tokens", str(STEPS), "--temperature", "0", "--ignore-eos", "--logits", ours],
                       check=True, stdout=subprocess.DEVNULL)
        subprocess.run([whole, str(source / "tests/interop/oracle_llm.py"), program, "1,17,300,42,5,99", str(STEPS), "--method", method, "--out", theirs], check=True, capture_output=True)
        worst = compare(floats(ours), floats(theirs))
        rows.append(floats(ours))
        print(f"{'pass' if worst <= TOLERANCE['8da4w'] else 'FAIL'} method {method}: worst difference {worst:.2e} of {TOLERANCE['8da4w']:.0e} allowed")
        counts[worst > TOLERANCE["8da4w"]] += 1
    if compare(*rows) < 1e-2:
        print("FAIL: both methods give the same logits")
        counts[1] += 1
    return counts


def main():
    wick, source, cache = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    oracle = small_oracle(source, cache)
    whole = os.environ.get("WICK_ORACLE_PYTHON")
    work = cache / "programs"
    work.mkdir(parents=True, exist_ok=True)
    passed = failed = left_out = 0
    for (model, model_class, checkpoint, params, prompt), (form, numbers, custom, options) in [(m, f) for m in MODELS for f in FORMS] + ONLY:
        base = checkpoint_options(source, checkpoint, params)
        if base is None or (custom and not whole):
            left_out += 1
            continue
        tokens = ",".join(map(str, prompt))
        program, ours, theirs = (str(work / f"{model}_{form}{end}") for end in (".pte", ".ours", ".theirs"))
        export = subprocess.run([wick, "export", f"base.model_class={model_class}", *base, *options, "export.max_seq_length=64",
                                 "export.max_context_length=64", f"export.output_name={program}"], capture_output=True, text=True)
        if export.returncode:
            print(f"FAIL {model} {form}: {export.stderr.strip()[-300:]}")
            failed += 1
            continue
        here = subprocess.run([wick, "run", program, "--tokens", tokens, "--max-new-tokens", str(STEPS), "--temperature", "0", "--ignore-eos", "--logits", ours],
                              capture_output=True, text=True)
        command = [whole, str(source / "tests/interop/oracle_llm.py")] if custom else [oracle, "llm"]
        there = subprocess.run(command + [program, tokens, str(STEPS), "--out", theirs] + (["--nokv"] if "nokv" in form else []),
                               capture_output=True, text=True)
        if here.returncode or there.returncode:
            print(f"FAIL {model} {form}: ours {here.returncode} {here.stderr.strip()[-200:]}; the original {there.returncode} {there.stderr.strip()[-300:]}")
            failed += 1
            continue
        worst = compare(floats(ours), floats(theirs))
        good = worst <= TOLERANCE[numbers]
        print(f"{'pass' if good else 'FAIL'} {model} {form}: worst difference {worst:.2e} of {TOLERANCE[numbers]:.0e} allowed")
        passed, failed = passed + good, failed + (not good)
    if whole:
        good, bad = check_methods(wick, source, work, whole)
        passed, failed = passed + good, failed + bad
    print(f"{passed} passed, {failed} failed, {left_out} left out")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
