"""Layouts of quantized checkpoints: GPTQ, AWQ, torchao's and 8-bit floats, as their libraries pack them, and the weights that they mean."""
import json
import struct

import numpy as np

from weights import hf_weights

GROUP = 32
NAMES = {np.dtype("<f4"): "F32", np.dtype("<f2"): "F16", np.dtype("<i4"): "I32", np.dtype("i1"): "I8", np.dtype("u1"): "U8"}


class Float8:
    """E4M3 codes."""

    def __init__(self, codes):
        self.codes = codes


def write_typed(path, tensors):
    """As checkpoint.write_safetensors, in the type of each array."""
    header, data = {}, b""
    for name, t in tensors.items():
        kind, t = ("F8_E4M3", t.codes) if isinstance(t, Float8) else (NAMES[np.ascontiguousarray(t).dtype], np.ascontiguousarray(t))
        header[name] = {"dtype": kind, "shape": list(t.shape), "data_offsets": [len(data), len(data) + t.nbytes]}
        data += t.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def is_linear(name):
    return name.endswith("_proj.weight")


def quantize(t, bits, group, group_of=None):
    """Asymmetric integers (out, in) with half-precision scales and zeros (groups, out), and what they mean in half precision."""
    out, columns = t.shape
    group_of = np.arange(columns) // group if group_of is None else group_of
    count, top = int(group_of.max()) + 1, 2**bits - 1
    scale, zero = np.zeros((count, out), np.float16), np.zeros((count, out), np.int64)
    for g in range(count):
        part = t[:, group_of == g]
        low, high = np.minimum(part.min(1), 0), np.maximum(part.max(1), 0)
        scale[g] = np.maximum((high - low) / top, 1e-4).astype(np.float16)
        zero[g] = np.clip(np.round(-low / scale[g].astype(np.float32)), 0, top)
    s, z = scale.astype(np.float32)[group_of].T, zero[group_of].T
    q = np.clip(np.round(t / s) + z, 0, top).astype(np.int64)
    return q, scale, zero, ((q - z).astype(np.float32) * s).astype(np.float16).astype(np.float32)


def stream(values, bits):
    """(n, m) integers to (n * bits / 32, m) words: element k of a column in bits k * bits.. of the column."""
    n, m = values.shape
    flat = ((values[:, :, None] >> np.arange(bits)) & 1).transpose(0, 2, 1).reshape(n * bits, m)
    words = (flat.reshape(n * bits // 32, 32, m).astype(np.uint64) << np.arange(32, dtype=np.uint64)[None, :, None]).sum(1)
    return words.astype(np.uint32).view(np.int32)


def each_linear(weights, params, pack):
    """The tensors of the checkpoint by Hugging Face's names, and the float weights they mean."""
    tensors, meant = {}, {}
    for name, t in hf_weights(params, weights).items():
        if is_linear(name):
            parts, meant[name] = pack(t)
            tensors.update({name[:-len(".weight")] + tail: part for tail, part in parts.items()})
        else:
            tensors[name] = meant[name] = t
    return tensors, meant


def gptq(bits, order=False, second=False):
    def pack(t):
        columns = t.shape[1]
        group_of = np.random.default_rng(columns).permutation(columns) // GROUP if order else None
        q, scale, zero, meant = quantize(t, bits, GROUP, group_of)
        stored = (zero - (0 if second else 1)) & (2**bits - 1)
        index = (np.arange(columns) // GROUP if group_of is None else group_of).astype("<i4")
        return {".qweight": stream(q.T, bits), ".qzeros": stream(stored.T, bits).T, ".scales": scale, ".g_idx": index}, meant
    return pack


def awq(t):
    order = (0, 2, 4, 6, 1, 3, 5, 7)

    def words(values):
        return sum(values[:, order[i]::8].astype(np.uint64) << np.uint64(4 * i) for i in range(8)).astype(np.uint32).view(np.int32)

    q, scale, zero, meant = quantize(t, 4, GROUP)
    return {".qweight": words(q.T), ".qzeros": words(zero), ".scales": scale}, meant


E4M3 = np.array([(m / 8 + (e > 0)) * 2.0**(max(e, 1) - 7) for e in range(16) for m in range(8)][:-1])


def float8(t, scale):
    """Nearest codes of t / scale, and their values times scale."""
    size = np.abs(t / scale)
    code = np.abs(size[..., None] - E4M3).argmin(-1)
    return Float8((code | (t < 0) << 7).astype(np.uint8)), (np.where(t < 0, -1, 1) * E4M3[code]).astype(np.float32) * scale


def float8_blocks(t, block=32):
    rows, columns = (n // block for n in t.shape)
    scale = (np.abs(t.reshape(rows, block, columns, block)).max((1, 3)) / 448).astype(np.float32)
    codes, meant = float8(t, np.kron(scale, np.ones((block, block), np.float32)))
    return {".weight": codes, ".weight_scale_inv": scale}, meant


def float8_rows(t):
    scale = (np.abs(t).max(1, keepdims=True) / 448).astype(np.float32)
    codes, meant = float8(t, scale)
    return {".weight": codes, ".weight_scale": scale}, meant


def float8_one(t):
    scale = np.float32(np.abs(t).max() / 448)
    codes, meant = float8(t, scale)
    return {".weight": codes, ".weight_scale": np.array([scale])}, meant


def torchao(t):
    groups = t.reshape(t.shape[0], -1, GROUP)
    scale = (np.abs(groups).max(-1) / 7.5).astype(np.float32)
    q = np.clip(np.round(groups / scale[..., None]), -8, 7)
    return ({"._weight_qdata": q.reshape(t.shape).astype("i1"), "._weight_scale": scale, "._weight_zero_point": np.zeros(scale.shape, "i1")},
            (q * scale[..., None]).reshape(t.shape).astype(np.float32))


def torchao_packed(t):
    groups = t.reshape(t.shape[0], -1, GROUP)
    low, high = groups.min(-1), groups.max(-1)
    scale = ((high - low) / 15).astype(np.float32)
    zero = (low + 8 * scale).astype(np.float32)
    q = np.clip(np.round((groups - low[..., None]) / scale[..., None]), 0, 15).astype(np.int64) - 8
    flat = q.reshape(t.shape) & 15
    return ({"._weight_qdata": (flat[:, ::2] | flat[:, 1::2] << 4).astype("u1"), "._weight_scale": scale.T, "._weight_zero_point": zero.T},
            (q * scale[..., None] + zero[..., None]).reshape(t.shape).astype(np.float32))


FORMS = {
    "gptq_4": (gptq(4), {"quant_method": "gptq", "bits": 4, "group_size": GROUP}),
    "gptq_4_ordered": (gptq(4, order=True), {"quant_method": "gptq", "bits": 4, "group_size": GROUP, "desc_act": True}),
    "gptq_3": (gptq(3), {"quant_method": "gptq", "bits": 3, "group_size": GROUP}),
    "gptq_8_second": (gptq(8, second=True), {"quant_method": "gptq", "bits": 8, "group_size": GROUP, "checkpoint_format": "gptq_v2"}),
    "gptq_2": (gptq(2), {"quant_method": "gptq", "bits": 2, "group_size": GROUP}),
    "awq": (awq, {"quant_method": "awq", "bits": 4, "group_size": GROUP}),
    "float8_blocks": (float8_blocks, {"quant_method": "fp8", "weight_block_size": [32, 32]}),
    "float8_rows": (float8_rows, {"quant_method": "fp8"}),
    "float8_one": (float8_one, {"quant_method": "fp8"}),
    "torchao": (torchao, {"quant_method": "torchao"}),
    "torchao_packed": (torchao_packed, {"quant_method": "torchao"}),
}


def pairs_from_halves(t, head):
    """The inverse of weights.halves_from_pairs."""
    return t.reshape(-1, 2, head // 2, *t.shape[1:]).swapaxes(1, 2).reshape(t.shape)
