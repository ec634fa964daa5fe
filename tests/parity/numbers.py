#!/usr/bin/env python3
"""Element types, 8-bit caches and quantized linears in every combination that an export takes: the logits of each program stay as near to those of a
float program as its numbers allow. numbers.py WICK CHECKPOINTS WORK. Status 77: no checkpoint."""
import array
import pathlib
import shutil
import subprocess
import sys

PROMPT, STEPS = "1,17,300,42,5,99,511,256,7", 8
CACHE, SDPA = "model.use_kv_cache=true", "model.use_sdpa_with_kv_cache=true"
XNNPACK = ["backend.xnnpack.enabled=true", "backend.xnnpack.extended_ops=true"]
LINEARS = ["quantization.qmode=8da4w", "quantization.group_size=32"]
FP16, BF16 = "model.dtype_override=fp16", "model.dtype_override=bf16"
FLOAT, QUANTIZED = [CACHE], [CACHE, *LINEARS]
STATIC = ["model.static_quantize_kv_cache=true", "model.static_quantize_kv_cache_scale=0.05", "model.enable_dynamic_shape=false"]
# name, options, the program to compare with, largest difference of its largest logit
FORMS = [
    ("fp16", [CACHE, FP16], FLOAT, 5e-3),
    ("fp16_nokv", [FP16], FLOAT, 5e-3),
    ("fp16_sdpa", [CACHE, SDPA, FP16], FLOAT, 5e-3),
    ("fp16_sdpa_xnn", [CACHE, SDPA, FP16, *XNNPACK], FLOAT, 5e-3),
    ("bf16", [CACHE, BF16], FLOAT, 3e-2),
    ("bf16_nokv", [BF16], FLOAT, 3e-2),
    ("bf16_sdpa", [CACHE, SDPA, BF16], FLOAT, 3e-2),
    ("bf16_sdpa_xnn_off", [CACHE, SDPA, BF16, *XNNPACK], FLOAT, 3e-2),
    ("bf16_sdpa_xnn", [CACHE, SDPA, BF16, *XNNPACK, "backend.xnnpack.enable_bf16=true"], FLOAT, 3e-2),
    ("bf16_e4", [CACHE, BF16, "quantization.embedding_quantize='4,32'"], [CACHE, "quantization.embedding_quantize='4,32'"], 3e-2),
    # Quantized linears in half precision, with and without a delegate: the original's report "Missing out variants: quantized_decomposed::...".
    ("bf16_8da4w", [CACHE, BF16, *LINEARS], QUANTIZED, 8e-2),
    ("bf16_8da4w_sdpa", [CACHE, SDPA, BF16, *LINEARS], QUANTIZED, 8e-2),
    ("bf16_8da4w_xnn_off", [CACHE, SDPA, BF16, *LINEARS, *XNNPACK], QUANTIZED, 8e-2),
    ("bf16_8da4w_xnn", [CACHE, SDPA, BF16, *LINEARS, *XNNPACK, "backend.xnnpack.enable_bf16=true"], QUANTIZED, 8e-2),
    ("fp16_8da4w", [CACHE, FP16, *LINEARS], QUANTIZED, 5e-2),
    ("fp16_8da4w_xnn", [CACHE, SDPA, FP16, *LINEARS, *XNNPACK], QUANTIZED, 5e-2),
    ("8da4w_portable", [CACHE, SDPA, *LINEARS], [CACHE, SDPA, *LINEARS, *XNNPACK], 2e-2),
    ("int8_cache", [CACHE, "model.quantize_kv_cache=true"], FLOAT, 2e-2),
    ("int8_cache_sdpa", [CACHE, SDPA, "model.quantize_kv_cache=true"], FLOAT, 2e-2),
    ("int8_cache_sdpa_bf16", [CACHE, SDPA, BF16, "model.quantize_kv_cache=true"], FLOAT, 4e-2),
    ("int8_cache_fp16", [CACHE, FP16, "model.quantize_kv_cache=true"], FLOAT, 2e-2),
    ("int8_cache_static", [CACHE, *STATIC], FLOAT, 8e-2),
    ("int8_cache_static_bf16", [CACHE, BF16, *STATIC], FLOAT, 8e-2),
]
REFUSED = [  # options, what the message says
    ([SDPA, CACHE, *STATIC], "model.use_sdpa_with_kv_cache"),
    ([CACHE, *STATIC[:2]], "enable_dynamic_shape"),
    ([CACHE, *STATIC, "model.quantize_kv_cache=true"], "model.quantize_kv_cache"),
    ([CACHE, *STATIC, "model.static_quantize_kv_cache_scale=0"], "positive"),
    (["model.quantize_kv_cache=true"], "model.use_kv_cache"),
]


PREQUANTIZED = ["base.preq_mode=preq_8da4w_out_8da8w", CACHE]
REFUSED_OF = [  # checkpoint, options, what the message says
    ("spinquant", [CACHE], "base.preq_mode"),
    ("spinquant", [*PREQUANTIZED, "base.preq_group_size=64"], "quantization_args.group_size 32"),
    ("spinquant", [*PREQUANTIZED, "base.preq_group_size=48"], "none of 32"),
    ("spinquant", [CACHE, "base.preq_mode=preq_8da4w"], "output.scales"),
    ("spinquant", [*PREQUANTIZED, "base.use_lora=8"], "no adaptor"),
    ("spinquant", [*PREQUANTIZED, "base.preq_embedding_quantize='4,0'"], "tok_embeddings.weight holds integers that 4 bits do not"),
    ("qat_lora", [*PREQUANTIZED, "base.use_lora=4"], "lora_args.rank 8"),
    ("qat_lora", [CACHE, "quantization.use_qat=true"], "base.preq_mode"),
    ("llama3_2", [CACHE, "quantization.use_spin_quant=cuda"], "not supported"),
]


def export(wick, base, options, *more):
    return subprocess.run([wick, "export", "--quiet", *base, *options, *more], capture_output=True, text=True)


def logits(wick, program, forced=None):
    """Rows of the prompt's end and of each step; the tokens that were taken."""
    out = program.with_suffix(".f32")
    command = [wick, "run", program, "--tokens", PROMPT, "--max-new-tokens", str(STEPS), "--temperature", "0", "--ignore-eos", "--logits", out]
    run = subprocess.run(command + (["--force-tokens", forced] if forced else []), capture_output=True, text=True)
    values = array.array("f")
    if run.returncode == 0:
        values.frombytes(out.read_bytes())
    width = len(values) // STEPS
    rows = [values[i * width:(i + 1) * width] for i in range(STEPS)] if width else []
    return rows, ",".join(str(max(range(width), key=row.__getitem__)) for row in rows), run.stderr.strip()


def check(wick, base, work, name, options, reference, bound):
    program, other = work / f"{name}.pte", work / f"{name}_reference.pte"
    for path, what in ((program, options), (other, reference)):
        made = export(wick, base, what, f"export.output_name={path}")
        if made.returncode:
            return f"export: {made.stderr.strip()[-300:]}"
    wanted, tokens, problem = logits(wick, other)
    got, _, also = logits(wick, program, tokens)
    if not wanted or len(got) != len(wanted):
        return f"run: {problem} {also}"
    largest = max(abs(x) for row in wanted for x in row)
    worst = max(abs(a - b) for mine, theirs in zip(got, wanted) for a, b in zip(mine, theirs)) / largest
    print(f"     {name:24} {worst:.1e} of {bound:.0e} allowed")
    return None if worst <= bound else f"differs by {worst:.2e}, more than {bound:.0e}"


def main():
    wick, checkpoint, work = sys.argv[1], pathlib.Path(sys.argv[2]) / "llama3_2", pathlib.Path(sys.argv[3])
    if not checkpoint.is_dir():
        print(f"SKIP: {checkpoint} is not there")
        return 77
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    base = ["base.model_class=llama3_2", f"base.checkpoint={checkpoint}/consolidated.00.pth", f"base.params={checkpoint}/params.json",
            "export.max_seq_length=64", "export.max_context_length=64"]
    problems = [(form[0], check(wick, base, work, *form)) for form in FORMS]
    for options, text in REFUSED:
        made = export(wick, base, options, f"export.output_name={work}/no.pte")
        problems.append((" ".join(options), None if made.returncode == 1 and text in made.stderr else f"not refused over {text}: {made.stderr.strip()}"))
    for name, options, text in REFUSED_OF:
        at = checkpoint.parent / name
        made = export(wick, ["base.model_class=llama3_2", f"base.checkpoint={at}/consolidated.00.pth"], options, f"export.output_name={work}/no.pte")
        problems.append((f"{name} {' '.join(options)}", None if made.returncode == 1 and text in made.stderr else f"not refused over {text}: {made.stderr.strip()}"))
    made = export(wick, base, [FP16, f"export.output_dir={work}"])
    problems.append(("name", None if made.returncode == 0 and (work / "llama3_2_h.pte").exists() else "no llama3_2_h.pte"))
    failed = [(name, problem) for name, problem in problems if problem]
    for name, problem in failed:
        print(f"FAIL {name}: {problem}")
    print(f"{len(problems)} forms, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
