#!/usr/bin/env python3
"""One random model in the layouts that people have checkpoints in, exported with base.checkpoint alone, against a forward pass in numpy.

layouts.py WICK WORK [NAME]. Each layout is a function that writes a folder and gives what base.checkpoint is, more options, and the weights (by Meta's
names) that the model then has: where a layout quantizes, those that its numbers stand for. Status 77: no numpy."""
import json
import os
import pathlib
import shutil
import struct
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
from packed import FORMS, each_linear, pairs_from_halves, write_typed
from weights import hf_weights, random_weights

TOLERANCE, STEPS, PROMPT = 1e-4, 4, 9
PARAMS = {"dim": 64, "hidden_dim": 128, "n_heads": 4, "n_kv_heads": 2, "n_layers": 2, "vocab_size": 160, "rope_theta": 10000.0, "context": 64}
CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4,
          "num_key_value_heads": 2, "num_hidden_layers": 2, "vocab_size": 160, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": False,
          "bos_token_id": 1, "eos_token_id": 2}
TEMPLATE = "{% for m in messages %}{{ m['content'] }}{% endfor %}"


def params_json():
    return {k: v for k, v in PARAMS.items() if k != "context"}


def write_hf_files(at, config=None):
    (at / "config.json").write_text(json.dumps({**CONFIG, **(config or {})}))
    (at / "generation_config.json").write_text(json.dumps({"bos_token_id": 1, "eos_token_id": [2, 5]}))
    (at / "tokenizer.json").write_text(json.dumps({"version": "1.0", "added_tokens": [], "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}))
    (at / "tokenizer_config.json").write_text(json.dumps({"chat_template": TEMPLATE}))


# ---- layouts without quantization ----

def hf_sharded(at, weights):
    write_hf_files(at)
    named = list(hf_weights(PARAMS, weights).items())
    where, half = {}, len(named) // 2
    for i, part in enumerate((named[:half], named[half:])):
        file = f"model-{i + 1:05}-of-00002.safetensors"
        write_safetensors(at / file, dict(part))
        where.update({name: file for name, _ in part})
    (at / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": where}))
    return at, [], weights


def hf_single(at, weights):
    write_hf_files(at)
    write_safetensors(at / "model.safetensors", hf_weights(PARAMS, weights))
    return at, [], weights


def meta_folder(at, weights):
    (at / "params.json").write_text(json.dumps(params_json()))
    write_pth(at / "consolidated.00.pth", weights)
    return at, [], weights


COLUMN_CUT = (".wo.weight", ".w2.weight")


def meta_shards(at, weights, count=2, columns=COLUMN_CUT):
    (at / "params.json").write_text(json.dumps(params_json()))
    for i in range(count):
        part = {}
        for name, t in weights.items():
            axis = 1 if name.endswith(columns) else 0
            part[name] = t if t.ndim == 1 else np.split(t, count, axis)[i]
        write_pth(at / f"consolidated.{i:02}.pth", part)
    return at, [], weights


def meta_shards_llama2(at, weights):
    return meta_shards(at, weights, 4, COLUMN_CUT + ("tok_embeddings.weight",))


TUNE = {"attention.wq": "attn.q_proj", "attention.wk": "attn.k_proj", "attention.wv": "attn.v_proj", "attention.wo": "attn.output_proj",
        "feed_forward.": "mlp.", "attention_norm.weight": "sa_norm.scale", "ffn_norm.weight": "mlp_norm.scale"}


def torchtune(at, weights):
    named = {}
    for name, t in weights.items():
        for old, new in TUNE.items():
            name = name.replace(old, new)
        named["norm.scale" if name == "norm.weight" else name] = t
    (at / "params.json").write_text(json.dumps(params_json()))
    write_pth(at / "model.pth", named)
    return at / "model.pth", [], weights


# ---- GGUF ----

GGUF_LAYER = {"attention.wq": "attn_q", "attention.wk": "attn_k", "attention.wv": "attn_v", "attention.wo": "attn_output", "attention_norm": "attn_norm",
              "ffn_norm": "ffn_norm", "feed_forward.w1": "ffn_gate", "feed_forward.w2": "ffn_down", "feed_forward.w3": "ffn_up"}
GGUF_TOP = {"tok_embeddings.weight": "token_embd.weight", "norm.weight": "output_norm.weight", "output.weight": "output.weight"}


def gguf_names(weights):
    named = {}
    for name, t in weights.items():
        if name in GGUF_TOP:
            named[GGUF_TOP[name]] = t
            continue
        _, layer, rest = name.split(".", 2)
        stem = rest.rsplit(".", 1)[0]
        named[f"blk.{layer}.{GGUF_LAYER[stem]}.weight"] = t
    return named


def gguf_text(text):
    return struct.pack("<Q", len(text)) + text.encode()


def write_gguf(path, tensors, metadata):
    """metadata: {key: int, float or str}; tensors in float32."""
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    for key, value in metadata.items():
        out += gguf_text(key)
        if isinstance(value, str):
            out += struct.pack("<I", 8) + gguf_text(value)
        elif isinstance(value, float):
            out += struct.pack("<If", 6, value)
        else:
            out += struct.pack("<IH", 2, value) if key in ("split.no", "split.count") else struct.pack("<Ii", 5 if key.startswith("split") else 4, value)
    at = 0
    for name, t in tensors.items():
        out += gguf_text(name) + struct.pack("<I", t.ndim) + b"".join(struct.pack("<Q", n) for n in reversed(t.shape)) + struct.pack("<IQ", 0, at)
        at += t.nbytes + -t.nbytes % 32
    out += bytes(-len(out) % 32)
    for t in tensors.values():
        out += np.ascontiguousarray(t, "<f4").tobytes() + bytes(-t.nbytes % 32)
    path.write_bytes(out)


GGUF_META = {"general.architecture": "llama", "llama.block_count": 2, "llama.embedding_length": 64, "llama.feed_forward_length": 128, "llama.context_length": 64,
             "llama.attention.head_count": 4, "llama.attention.head_count_kv": 2, "llama.attention.layer_norm_rms_epsilon": 1e-5, "llama.rope.freq_base": 10000.0,
             "llama.vocab_size": 160, "tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.eos_token_id": 2, "tokenizer.ggml.eot_token_id": 5,
             "tokenizer.chat_template": TEMPLATE}


def gguf(at, weights):
    write_gguf(at / "model.gguf", gguf_names(weights), GGUF_META)
    return at / "model.gguf", [], weights


def gguf_split(at, weights):
    named = list(gguf_names(weights).items())
    for i in range(3):
        split = {"split.no": i, "split.count": 3, "split.tensors.count": len(named)}
        write_gguf(at / f"model-{i + 1:05}-of-00003.gguf", dict(named[i::3]), {**(GGUF_META if i == 0 else {}), **split})
    return at, [], weights


# ---- quantized ----

META_NAMES = {"q_proj": "attention.wq", "k_proj": "attention.wk", "v_proj": "attention.wv", "o_proj": "attention.wo",
              "gate_proj": "feed_forward.w1", "down_proj": "feed_forward.w2", "up_proj": "feed_forward.w3"}


def quantized(name):
    pack, about = FORMS[name]

    def layout(at, weights):
        write_hf_files(at, {"quantization_config": about})
        tensors, meant = each_linear(weights, PARAMS, pack)
        write_typed(at / "model.safetensors", tensors)
        held = dict(weights)
        for hf, t in meant.items():
            if hf.endswith("_proj.weight"):
                kind = hf.split(".")[-2]
                turned = pairs_from_halves(t, PARAMS["dim"] // PARAMS["n_heads"]) if kind in ("q_proj", "k_proj") else t
                held[f"layers.{hf.split('.')[2]}.{META_NAMES[kind]}.weight"] = turned
        return at, [], held

    layout.__name__ = name
    return layout


# ---- adapters: the weights that the model has are W + scale * B A ----

RANK, ALPHA = 3, 12


def adapter_halves(weights, targets):
    """{linear: (A, B)} by Meta's names and order of rows, and the weights with them."""
    rng, halves, merged = np.random.default_rng(5), {}, dict(weights)
    for name, t in weights.items():
        if name.endswith(tuple(f"{target}.weight" for target in targets)):
            a = (rng.standard_normal((RANK, t.shape[1])) / np.sqrt(t.shape[1])).astype(np.float32)
            b = (rng.standard_normal((t.shape[0], RANK)) * 0.1).astype(np.float32)
            halves[name.removesuffix(".weight")] = a, b
            merged[name] = (t + ALPHA / RANK * (b @ a)).astype(np.float32)
    return halves, merged


def adapter_peft(at, weights):
    """Over a Hugging Face checkpoint: B's rows stand as those of q and k do there."""
    base, options, _ = hf_single(at, weights)
    halves, merged = adapter_halves(weights, ("wq", "wk", "wv", "wo", "w1", "w2", "w3"))
    named = {}
    for meta_name, (a, b) in halves.items():
        ((name, rows),) = hf_weights(PARAMS, {f"{meta_name}.weight": b}).items()
        stem = "base_model.model." + name.removesuffix(".weight")
        named[f"{stem}.lora_A.weight"], named[f"{stem}.lora_B.weight"] = a, rows
    write_safetensors(at / "adapter_model.safetensors", named)
    (at / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "r": RANK, "lora_alpha": ALPHA, "target_modules": "all-linear", "bias": "none", "use_dora": False}))
    return base, [f"base.lora_config.adapter_checkpoint={at}/adapter_model.safetensors", f"base.lora_config.adapter_config={at}/adapter_config.json"], merged


def adapter_tune(at, weights):
    """torchtune's names in a .pt file, over Meta's."""
    base, options, _ = meta_folder(at, weights)
    halves, merged = adapter_halves(weights, ("wq", "wv", "w2"))
    named = {}
    for name, (a, b) in halves.items():
        for old, new in TUNE.items():
            name = name.replace(old, new)
        named[f"{name}.lora_a.weight"], named[f"{name}.lora_b.weight"] = a, b
    write_pth(at / "adapter_0.pt", named)
    return base, [f"base.lora_config.adapter_checkpoint={at}/adapter_0.pt", f"base.lora_config.lora_rank={RANK}", f"base.lora_config.lora_alpha={ALPHA}"], merged


def adapter_meta_rslora(at, weights):
    base, options, _ = meta_folder(at, weights)
    halves, _ = adapter_halves(weights, ("wk", "w3"))
    merged = dict(weights)
    for name, (a, b) in halves.items():
        merged[f"{name}.weight"] = (weights[f"{name}.weight"] + ALPHA / np.sqrt(RANK) * (b @ a)).astype(np.float32)
    write_safetensors(at / "a.safetensors", {f"{name}.lora_{half}.weight": t for name, pair in halves.items() for half, t in zip("ab", pair)})
    (at / "a.json").write_text(json.dumps({"r": RANK, "lora_alpha": ALPHA, "use_rslora": True}))
    return base, [f"base.lora_config.adapter_checkpoint={at}/a.safetensors", f"base.lora_config.adapter_config={at}/a.json"], merged


def adapter_refusals(wick, at):
    """What is no such adapter is refused by name."""
    at.mkdir(parents=True)
    rng = np.random.default_rng(1)
    base, _, _ = meta_folder(at, random_weights(PARAMS, 1))
    good = {"layers.0.attention.wq.lora_a.weight": rng.standard_normal((RANK, 64)).astype(np.float32), "layers.0.attention.wq.lora_b.weight": rng.standard_normal((64, RANK)).astype(np.float32)}
    config = {"r": RANK, "lora_alpha": ALPHA}
    cases = [("has no lora_B beside it", dict(list(good.items())[:1]), config), ("belongs to no linear", {**good, "layers.9.attention.wq.lora_a.weight": good["layers.0.attention.wq.lora_a.weight"]}, config),
             ("use_dora: not supported", good, {**config, "use_dora": True}), ("the model wants [4, 64]", good, {**config, "r": 4}), ("has no rank", good, {}),
             ("bias 'all': not supported", good, {**config, "bias": "all"})]
    for words, tensors, text in cases:
        write_safetensors(at / "a.safetensors", tensors)
        (at / "a.json").write_text(json.dumps(text))
        run = subprocess.run([wick, "export", "--quiet", f"base.checkpoint={base}", f"base.lora_config.adapter_checkpoint={at}/a.safetensors",
                              f"base.lora_config.adapter_config={at}/a.json", f"export.output_name={at}/x.pte"], capture_output=True, text=True)
        if run.returncode != 1 or words not in run.stderr or (at / "x.pte").exists():
            yield f"status {run.returncode}, not '{words}': {run.stderr.strip()}"


LAYOUTS = [hf_single, hf_sharded, meta_folder, meta_shards, meta_shards_llama2, torchtune, gguf, gguf_split, adapter_peft, adapter_tune, adapter_meta_rslora, *map(quantized, FORMS)]
WITH_IDS = (hf_single, hf_sharded, gguf, gguf_split)


def run(wick, program, tokens):
    out = program.with_suffix(".f32")
    command = [wick, "run", str(program), "--tokens", ",".join(map(str, tokens[:PROMPT])), "--ignore-eos", "--max-new-tokens", str(len(tokens) - PROMPT + 1),
               "--temperature", "0", "--logits", str(out), "--quiet", "--force-tokens", ",".join(map(str, tokens[PROMPT:]))]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(done.stderr.strip())
    return np.fromfile(out, "<f4").reshape(len(tokens) - PROMPT + 1, -1)


def check_files(wick, program):
    """Ids of the checkpoint are metadata of the program, its chat template stands beside it."""
    methods = subprocess.run([wick, "inspect", "--json", str(program)], capture_output=True, text=True, check=True).stdout
    for name in ("get_bos_id", "get_eos_ids"):
        if name not in methods:
            raise AssertionError(f"no {name} in the program")
    if program.with_suffix(".chat_template.jinja").read_text() != TEMPLATE:
        raise AssertionError("another chat template")


def check(wick, folder, layout):
    folder.mkdir(parents=True)
    weights = random_weights(PARAMS, 11)
    tokens = [int(t) for t in np.random.default_rng(5).integers(1, PARAMS["vocab_size"], PROMPT + STEPS)]
    checkpoint, options, held = layout(folder, weights)
    program = folder / "model.pte"
    export = subprocess.run([wick, "export", "--quiet", f"base.checkpoint={checkpoint}", "export.max_seq_length=64", "export.max_context_length=64",
                             "model.use_kv_cache=true", *options, f"export.output_name={program}"], capture_output=True, text=True)
    if export.returncode:
        raise AssertionError(export.stderr.strip())
    wanted, got = forward(PARAMS, held, tokens)[PROMPT - 1:], run(wick, program, tokens)
    difference = float(np.abs(got - wanted).max() / np.abs(wanted).max())
    if not difference <= TOLERANCE:
        raise AssertionError(f"differs by {difference:.1e} of the largest logit")
    if layout in WITH_IDS:
        check_files(wick, program)
    return difference


def main():
    wick, work = sys.argv[1], pathlib.Path(sys.argv[2])
    wanted = sys.argv[3] if len(sys.argv) > 3 else ""
    shutil.rmtree(work, ignore_errors=True)
    bad = count = 0
    for layout in LAYOUTS:
        if wanted not in layout.__name__:
            continue
        count += 1
        try:
            print(f"pass {layout.__name__}: worst difference {check(wick, work / layout.__name__, layout):.1e}")
        except AssertionError as fault:
            bad += 1
            print(f"FAIL {layout.__name__}: {fault}")
    if wanted in "adapter_refusals":
        count += 1
        for fault in adapter_refusals(wick, work / "adapter_refusals"):
            bad += 1
            print(f"FAIL adapter_refusals: {fault}")
    print(f"{count} layouts, {bad} faults")
    return 1 if bad or not count else 0


if __name__ == "__main__":
    sys.exit(main())
