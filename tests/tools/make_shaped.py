#!/usr/bin/env python3
"""A checkpoint of a model's shape with weights of noise, as Hugging Face lays one out: make_shaped.py FOLDER 1b | 8b [--layers N] [--sparse] [--shards N]

For measuring export at size (tests/e2e/export_size.py). Weights are bfloat16, normal with the spread of a trained layer, from one block of noise that
is read at another place for each tensor. --sparse: holes instead, which read as zeros and take no room on disk."""
import argparse
import json
import os
import pathlib
import random
import struct

SHAPES = {
    "1b": {"hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8, "tie_word_embeddings": True},
    "8b": {"hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "tie_word_embeddings": False},
}
VOCAB, NOISE = 128256, 1 << 22


def tensors(shape):
    dim, hidden, kv = shape["hidden_size"], shape["intermediate_size"], shape["hidden_size"] // shape["num_attention_heads"] * shape["num_key_value_heads"]
    yield "model.embed_tokens.weight", (VOCAB, dim)
    for layer in range(shape["num_hidden_layers"]):
        at = f"model.layers.{layer}."
        for name, size in (("input_layernorm", (dim,)), ("post_attention_layernorm", (dim,)), ("self_attn.q_proj", (dim, dim)), ("self_attn.k_proj", (kv, dim)),
                           ("self_attn.v_proj", (kv, dim)), ("self_attn.o_proj", (dim, dim)), ("mlp.gate_proj", (hidden, dim)), ("mlp.up_proj", (hidden, dim)),
                           ("mlp.down_proj", (dim, hidden))):
            yield f"{at}{name}.weight", size
    yield "model.norm.weight", (dim,)
    if not shape["tie_word_embeddings"]:
        yield "lm_head.weight", (VOCAB, dim)


def noise():
    """bfloat16, twice over, so that a piece can begin anywhere in the first half."""
    values = random.Random(1)
    block = b"".join(struct.pack("<f", values.gauss(0, 0.02))[2:] for _ in range(NOISE // 16))
    pieces = [block[i * 2:] + block[:i * 2] for i in values.sample(range(NOISE // 16), 16)]
    return b"".join(pieces) * 2


def write_shard(path, shard, block, sparse, seed):
    header, at = {}, 0
    for name, size in shard:
        count = 1
        for n in size:
            count *= n
        header[name] = {"dtype": "BF16", "shape": list(size), "data_offsets": [at, at + 2 * count]}
        at += 2 * count
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    where = random.Random(seed)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        if sparse:
            file.truncate(file.tell() + at)
            return
        for name, size in shard:
            left = header[name]["data_offsets"][1] - header[name]["data_offsets"][0]
            if len(size) == 1:
                file.write(struct.pack("<H", 0x3F80) * (left // 2))
                continue
            while left:
                begin = where.randrange(NOISE) * 2
                piece = min(left, 2 * NOISE)
                file.write(block[begin:begin + piece])
                left -= piece


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("folder"), arguments.add_argument("shape", choices=SHAPES)
    arguments.add_argument("--layers", type=int), arguments.add_argument("--shards", type=int, default=2), arguments.add_argument("--sparse", action="store_true")
    given = arguments.parse_args()
    folder, shape = pathlib.Path(given.folder), dict(SHAPES[given.shape])
    shape["num_hidden_layers"] = given.layers or shape["num_hidden_layers"]
    folder.mkdir(parents=True, exist_ok=True)
    listed = list(tensors(shape))
    step = -(-len(listed) // given.shards)
    block, where = b"" if given.sparse else noise(), {}
    for i in range(given.shards):
        name, shard = f"model-{i + 1:05}-of-{given.shards:05}.safetensors", listed[i * step:(i + 1) * step]
        write_shard(folder / name, shard, block, given.sparse, i)
        where.update({tensor: name for tensor, _ in shard})
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": where}))
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": VOCAB, "rms_norm_eps": 1e-5, "rope_theta": 500000.0, "max_position_embeddings": 131072,
              "bos_token_id": 128000, "eos_token_id": 128001, "torch_dtype": "bfloat16", **shape,
              "rope_scaling": {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}}
    (folder / "config.json").write_text(json.dumps(config))
    print(f"{folder}: {sum(os.path.getsize(folder / f) for f in set(where.values())) / 1e9:.2f} GB in {given.shards} shards")


main()
