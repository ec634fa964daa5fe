#!/usr/bin/env python3
"""Rotations of a model (wick.quantization.rotations): in float they change nothing, and with few bits they bring a model whose weights have outliers nearer
to its float self. rotations.py WICK WORK. Status 77: no numpy."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

try:
    import numpy as np
except ModuleNotFoundError:
    # As in reference.py: another Python may stand before the system's.
    if os.path.exists("/usr/bin/python3") and "WICK_REFERENCE_AGAIN" not in os.environ:
        os.environ["WICK_REFERENCE_AGAIN"] = "1"
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
    print("SKIP: no numpy: tools/setup.sh test")
    sys.exit(77)

from checkpoint import write_pth, write_safetensors
from weights import random_weights

PROMPT, STEPS = 24, 4
# Sizes: powers of two; 3 * 2^n and 5 * 2^n, which take the other orthogonal matrix and R4 in blocks.
SIZES = {"powers of two": {"dim": 128, "hidden_dim": 256, "n_heads": 4}, "odd parts": {"dim": 96, "hidden_dim": 160, "n_heads": 3}}
BASE = {"n_layers": 2, "vocab_size": 160, "n_kv_heads": 1, "norm_eps": 1e-5, "rope_theta": 10000.0}
CACHE = ["model.use_kv_cache=true"]
LINEARS = ["quantization.qmode=8da4w", "quantization.group_size=32"]
XNNPACK = ["model.use_sdpa_with_kv_cache=true", "backend.xnnpack.enabled=true", "backend.xnnpack.extended_ops=true"]
faults = []


def fault(text):
    print(f"FAIL {text}")
    faults.append(text)


def outliers(weights):
    """A few weights much larger than the others of their group, as trained models have them: a group's scale suits few of its numbers."""
    rng = np.random.default_rng(7)
    for name, weight in weights.items():
        if weight.ndim == 2:
            size = np.sqrt(np.mean(weight**2))
            weight[rng.random(weight.shape) < 0.02] *= 12
            weight *= size / np.sqrt(np.mean(weight**2))
    return weights


def logits(wick, program, tokens):
    out = program.with_suffix(".f32")
    command = [wick, "run", str(program), "--tokens", ",".join(map(str, tokens[:PROMPT])), "--ignore-eos", "--max-new-tokens", str(STEPS + 1), "--temperature", "0",
               "--logits", str(out), "--quiet", "--force-tokens", ",".join(map(str, tokens[PROMPT:]))]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        fault(f"{program.name}: {done.stderr.strip()}")
        return None
    return np.fromfile(out, "<f4")


class Model:
    def __init__(self, wick, folder, params):
        self.wick, self.folder, self.params, self.count = wick, folder, params, 0
        folder.mkdir(parents=True)
        write_pth(folder / "consolidated.00.pth", outliers(random_weights(params, 11)))
        (folder / "params.json").write_text(json.dumps(params))
        self.tokens = [int(t) for t in np.random.default_rng(5).integers(1, params["vocab_size"], PROMPT + STEPS)]

    def export(self, options):
        program = self.folder / f"{self.count}.pte"
        self.count += 1
        return program, subprocess.run([self.wick, "export", "--quiet", "base.model_class=llama3_2", f"base.checkpoint={self.folder}/consolidated.00.pth",
                                        "export.max_seq_length=64", "export.max_context_length=64", *options, f"export.output_name={program}"],
                                       capture_output=True, text=True)

    def logits(self, *options):
        program, made = self.export(options)
        if made.returncode:
            fault(f"{' '.join(options)}: {made.stderr.strip()}")
            return None
        return logits(self.wick, program, self.tokens)

    def refused(self, options, text):
        made = self.export(options)[1]
        if made.returncode != 1 or text not in made.stderr:
            fault(f"{' '.join(options)}: not refused over {text}: {made.stderr.strip()}")


def distance(a, b):
    return float("inf") if a is None or b is None or a.shape != b.shape else float(np.sqrt(np.mean((a - b) ** 2)) / np.sqrt(np.mean(b ** 2)))


def learned(path, params, write):
    """Random orthogonal matrices by the names that SpinQuant gives learned ones."""
    rng = np.random.default_rng(3)
    turn = lambda n: np.linalg.qr(rng.standard_normal((n, n)))[0].astype(np.float32)
    matrices = {"R1": turn(params["dim"])}
    for layer in range(params["n_layers"]):
        matrices[f"model.layers.{layer}.self_attn.R2"] = turn(params["dim"] // params["n_heads"])
    write(path, matrices)
    return matrices


def check(wick, folder, name, sizes):
    model = Model(wick, folder, {**BASE, **sizes})
    learned(folder / "R.bin", model.params, write_pth)
    same = [["r1"], ["r2"], ["r3"], ["r4"], ["r1,r2,r3,r4"], ["r1,r2", f"wick.quantization.rotation_file={folder}/R.bin"]]
    plain = model.logits(*CACHE)
    for words, *more in same:
        turned = model.logits(*CACHE, f"wick.quantization.rotations={words}", *more)
        worst = np.abs(turned - plain).max() / np.abs(plain).max() if turned is not None else np.inf
        print(f"     {name}, {words}{' learned' if more else ''}: float logits differ by {worst:.1e}")
        if not worst <= 1e-4:
            fault(f"{name}, {words}: float logits differ by {worst:.1e}, more than 1e-4")
    for form, options, words, least in (("8da4w", LINEARS, "r1,r2", 1.3), ("8da4w", LINEARS, "r1,r2,r4", 1.3), ("8da4w xnnpack", LINEARS + XNNPACK, "r1,r2,r4", 1.3),
                                        ("embedding 4,32", ["quantization.embedding_quantize='4,32'"], "r1", 1.15)):
        without, turned = (distance(model.logits(*CACHE, *options, *more), plain) for more in ([], [f"wick.quantization.rotations={words}"]))
        print(f"     {name}, {form}: RMS error {without:.3f} of the logits, with {words} {turned:.3f}")
        if not turned * least <= without:
            fault(f"{name}, {form}: RMS error {without:.3f}, with {words} {turned:.3f}: not {least} times less")
    return model


def check_refusals(model):
    matrices = learned(model.folder / "R.safetensors", model.params, write_safetensors)
    rotations = "wick.quantization.rotations=r1,r2"
    file = f"wick.quantization.rotation_file={model.folder}/R.safetensors"
    model.refused([*CACHE, "wick.quantization.rotations=r1,r5"], "'r5' is none of")
    model.refused([*CACHE, file], "needs wick.quantization.rotations")
    model.refused([*CACHE, rotations, "quantization.use_spin_quant=native"], "use_spin_quant")
    model.refused([*CACHE, rotations, f"wick.quantization.rotation_file={model.folder}/none.bin"], "none.bin")
    matrices["R1"][3] *= 1.5
    write_safetensors(model.folder / "R.safetensors", matrices)
    model.refused([*CACHE, rotations, file], "R1 is not orthogonal")
    del matrices["R1"]
    write_safetensors(model.folder / "R.safetensors", matrices)
    model.refused([*CACHE, rotations, file], "R1 is missing")
    matrices["R1"] = np.eye(model.params["dim"] + 1, dtype=np.float32)
    write_safetensors(model.folder / "R.safetensors", matrices)
    model.refused([*CACHE, rotations, file], f"R1 is not [{model.params['dim']}")


def main():
    wick, work = sys.argv[1], pathlib.Path(sys.argv[2])
    shutil.rmtree(work, ignore_errors=True)
    models = [check(wick, work / name.replace(" ", "_"), name, sizes) for name, sizes in SIZES.items()]
    check_refusals(models[0])
    print(f"{sum(m.count for m in models)} programs, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
