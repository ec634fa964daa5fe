#!/usr/bin/env python3
"""Random tiny checkpoints of every family, exported and run, against a forward pass in numpy.

reference.py WICK WORK [NAME]: NAME takes the cases whose name has it. Each case is written by Meta's names (.pth, params.json) and by Hugging Face's
(.safetensors, config.json) where it exists so, exported in float in several forms, fed a prompt and some tokens more, and every row of logits must
agree to 1e-4 of the largest (in half precision 1e-2). Status 77: no numpy. families.py lists the cases, decoder.py is the reference."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

try:
    import numpy as np
except ModuleNotFoundError:
    # Another Python may stand before the system's, for which tools/setup.sh installs numpy.
    if os.path.exists("/usr/bin/python3") and "WICK_REFERENCE_AGAIN" not in os.environ:
        os.environ["WICK_REFERENCE_AGAIN"] = "1"
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
    print("SKIP: no numpy: tools/setup.sh test")
    sys.exit(77)

from checkpoint import write_pth, write_safetensors
from decoder import forward
from families import cases
from weights import hf_weights, random_weights

TOLERANCE, STEPS = 1e-4, 4
TOLERANCE_OF = {"fp16": 1e-2}
FORMS = {
    "nokv": ["model.use_kv_cache=false"],
    "kv": ["model.use_kv_cache=true"],
    "sdpa": ["model.use_kv_cache=true", "model.use_sdpa_with_kv_cache=true"],
    "sdpa_xnn": ["model.use_kv_cache=true", "model.use_sdpa_with_kv_cache=true", "backend.xnnpack.enabled=true", "backend.xnnpack.extended_ops=true"],
    "fp16": ["model.use_kv_cache=true", "model.dtype_override=fp16", "backend.xnnpack.enabled=true", "backend.xnnpack.extended_ops=true"],
    "static": ["model.use_kv_cache=true", "model.enable_dynamic_shape=false"],
}


def write(case, folder, weights):
    """The checkpoints of a case: [(naming, export options)]."""
    made = []
    if case.meta:
        at = folder / "meta"
        at.mkdir(parents=True)
        write_pth(at / "consolidated.00.pth", weights)
        (at / "params.json").write_text(json.dumps(case.params_json()))
        made.append(("meta", [f"base.model_class={case.meta}", f"base.checkpoint={at}/consolidated.00.pth", f"base.params={at}/params.json"]))
    if case.hf:
        at = folder / "hf"
        at.mkdir(parents=True)
        named = hf_weights(case.params, weights, case.own_names)
        write_safetensors(at / "model.safetensors", case.rewrite(named) if case.rewrite else named)
        (at / "config.json").write_text(json.dumps(case.config_json()))
        made.append(("hf", [f"base.checkpoint={at}/model.safetensors"]))
    return made


def run(wick, program, tokens, prompt):
    out = program.with_suffix(".f32")
    listed = ",".join(map(str, tokens[:prompt]))
    command = [wick, "run", str(program), "--tokens", listed, "--ignore-eos", "--max-new-tokens", str(len(tokens) - prompt + 1), "--temperature", "0",
               "--logits", str(out), "--quiet", "--force-tokens", ",".join(map(str, tokens[prompt:]))]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr.strip()
    return np.fromfile(out, "<f4").reshape(len(tokens) - prompt + 1, -1), None


def expected(case, weights, folder, tokens):
    """Logits of the last rows, for tokens by the ids that the program has; a pruned vocabulary's maps are written beside."""
    kept_in, kept_out = case.kept_ids
    for name, kept in (("input", kept_in), ("output", kept_out)):
        if kept:
            (folder / f"{name}.json").write_text(json.dumps({str(i): old for i, old in enumerate(kept)}))
    wanted = forward(case.params, weights, [kept_in[t] for t in tokens] if kept_in else tokens)[case.prompt - 1:]
    if kept_out:
        wanted[:, [i for i in range(wanted.shape[1]) if i not in kept_out]] = -np.inf
    return wanted


def distance(got, wanted):
    """Of the largest logit; infinite where one is hidden and the other is not."""
    shown = np.isfinite(wanted)
    if not np.array_equal(got[~shown], wanted[~shown]):
        return float("inf")
    return float(np.abs(got[shown] - wanted[shown]).max() / np.abs(wanted[shown]).max())


def check(wick, folder, case, forms):
    """Faults of a case, and how many programs it made."""
    rng = np.random.default_rng(len(case.name))
    weights = random_weights(case.params, len(case.name))
    folder.mkdir(parents=True)
    tokens = [int(t) for t in rng.integers(1, len(case.kept_ids[0] or []) or case.params["vocab_size"], case.prompt + STEPS)]
    wanted = expected(case, weights, folder, tokens)
    faults, count, worst = [], 0, 0.0
    for naming, source in write(case, folder, weights):
        for form, options in forms.items():
            program = folder / f"{naming}_{form}.pte"
            lengths = [f"export.max_seq_length={min(case.context, case.chunk)}", f"export.max_context_length={case.context}"]
            # Without a cache the whole sequence is one call.
            if form == "nokv":
                lengths[0] = f"export.max_seq_length={case.context}"
            export = subprocess.run([wick, "export", "--quiet", *source, *lengths, *options, *(o.format(folder=folder) for o in case.options), f"export.output_name={program}"],
                                    capture_output=True, text=True)
            count += 1
            got, why = (None, export.stderr.strip()) if export.returncode else run(wick, program, tokens, case.prompt)
            if got is None:
                faults.append(f"{naming} {form}: {why}")
                continue
            difference = distance(got, wanted)
            bound = TOLERANCE_OF.get(form, TOLERANCE)
            worst = max(worst, difference * TOLERANCE / bound)
            if not difference <= bound:
                faults.append(f"{naming} {form}: differs by {difference:.1e} of the largest logit")
    return faults, count, worst


def main():
    wick, work = sys.argv[1], pathlib.Path(sys.argv[2])
    wanted = sys.argv[3] if len(sys.argv) > 3 else ""
    shutil.rmtree(work, ignore_errors=True)
    bad = programs = 0
    for i, case in enumerate(c for c in cases() if wanted in c.name):
        # Far positions are the same in every form; a mask of all of them is not small.
        forms = FORMS if case.context <= 512 else {"sdpa_xnn": FORMS["sdpa_xnn"]}
        forms = {name: forms[name] for name in case.forms or forms}
        faults, count, worst = check(wick, work / str(i), case, forms)
        programs += count
        bad += len(faults)
        print(f"{'FAIL' if faults else 'pass'} {case.name}: {count} programs, worst difference {worst:.1e}")
        for fault in faults:
            print(f"     {fault}")
    print(f"{programs} programs, {bad} faults")
    return 1 if bad or not programs else 0


if __name__ == "__main__":
    sys.exit(main())
