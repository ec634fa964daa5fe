"""A decoder's forward pass in plain numpy and double precision: what a program's logits are compared with.

Params are params.json's keys (the original's ModelArgs); what Hugging Face's models have beyond them is under "wick": see DEFAULTS. Weights go by
Meta's names. A mixer or feed-forward of another kind is a function of another file, in MIXERS or FEED_FORWARDS."""
import math

import numpy as np

DEFAULTS = {
    "norm_eps": 1e-5, "rope_theta": 10000.0, "use_hf_rope": False, "partial_rotary_factor": 1.0, "use_scaled_rope": False, "rope_scale_factor": 8,
    "high_freq_factor": 4, "attention_qkv_bias": False, "use_qk_norm": False, "qk_norm_before_rope": False, "qk_norm_affine": True, "scale_query_by": 1.0,
    "rms_norm_add_unit_offset": False, "act_fn": "silu", "use_q_gate": False, "use_attn_o_gate": False, "use_attn_o_norm": False,
    "use_residual_gate": False, "use_ffn_learnable_scales": False, "num_kv_shared_layers": 0, "layer_types": None, "moe": False,
    # What params.json has no key for, or the original does not read.
    "rope": None,                 # ("linear", factor), ("dynamic", factor, trained), ("yarn", factor, trained), ("longrope", short, long, trained, longest)
    "context": 64,                # of the program: what chooses between a rope's factors
    "output_bias": False, "mlp_bias": False,
    "sink": None,                 # (s, w): the first s positions and a window of w are seen; positions turn as their slots of a ring of 2w lie
    "windows": None,              # per layer: how many positions back a query sees, itself included; 0: all
    "local_theta": None,          # base of rope in layers with a window
    "no_rope": (),                # layers that do not turn
    "sandwich": False,            # norms after each half too
    "embedding_scale": 1.0, "query_scale": None, "attention_cap": None, "logit_cap": None,
}


def norm(x, weight, p):
    y = x / np.sqrt((x * x).mean(-1, keepdims=True) + p["norm_eps"])
    return y if weight is None else y * (weight + (1.0 if p["rms_norm_add_unit_offset"] else 0.0))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def activation(p):
    if p["act_fn"] == "silu":
        return lambda x: x * sigmoid(x)
    if p["act_fn"] == "gelu":
        return lambda x: x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))
    return lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


# ---- rope ----

def frequencies(p, rd, theta, scaled):
    """(rd / 2) turns a position, and what cos and sin are multiplied by. float32 where the models are: positions are far from 1."""
    f = np.float32(1) / np.float32(theta) ** (np.arange(0, rd, 2, dtype=np.float32) / np.float32(rd))
    rope, amplitude = p["rope"] if scaled else None, 1.0
    if p["use_scaled_rope"] and scaled:
        wave, hf, factor = 2 * np.pi / f, p["high_freq_factor"], p["rope_scale_factor"]
        smooth = (8192 / wave - 1) / (hf - 1)
        f = np.where(wave < 8192 / hf, f, np.where(wave > 8192, f / factor, (1 - smooth) * f / factor + smooth * f))
    if rope and rope[0] == "linear":
        f = f / rope[1]
    elif rope and rope[0] == "dynamic":
        _, factor, trained = rope
        base = theta * (factor * max(p["context"], trained) / trained - (factor - 1)) ** (rd / (rd - 2))
        f = np.float32(1) / np.float32(base) ** (np.arange(0, rd, 2, dtype=np.float32) / np.float32(rd))
    elif rope and rope[0] == "yarn":
        _, factor, trained = rope
        low, high = (rd * math.log(trained / (turns * 2 * math.pi)) / (2 * math.log(theta)) for turns in (32, 1))
        low, high = max(math.floor(low), 0), min(math.ceil(high), rd - 1)
        kept = 1 - np.clip((np.arange(rd // 2) - low) / max(high - low, 0.001), 0, 1)
        f, amplitude = f / factor * (1 - kept) + f * kept, 0.1 * math.log(factor) + 1
    elif rope and rope[0] == "longrope":
        _, short, long, trained, longest = rope
        f = 1 / theta ** (np.arange(0, rd, 2) / rd) / np.array(long if p["context"] > trained else short)
        amplitude = math.sqrt(1 + math.log(longest / trained) / math.log(trained)) if longest > trained else 1.0
    return f, amplitude


def rotate(x, positions, p, theta, scaled):
    """x (S, heads, D)."""
    rd = int(x.shape[-1] * p["partial_rotary_factor"]) if p["use_hf_rope"] else x.shape[-1]
    f, amplitude = frequencies(p, rd, theta, scaled)
    angle = (positions[:, None].astype(f.dtype) * f)[:, None, :].astype(np.float64)
    c, s = np.cos(angle) * amplitude, np.sin(angle) * amplitude
    out = x.copy()
    if p["use_hf_rope"]:
        a, b = x[..., :rd // 2], x[..., rd // 2:rd]
        out[..., :rd // 2], out[..., rd // 2:rd] = a * c - b * s, b * c + a * s
    else:
        a, b = x[..., 0::2], x[..., 1::2]
        out[..., 0::2], out[..., 1::2] = a * c - b * s, a * s + b * c
    return out


# ---- the two halves of a layer ----

def linear(x, w, name, bias=False):
    y = x @ w[name + ".weight"].T
    return y + w[name + ".bias"] if bias else y


def attention(p, w, layer, x, kept):
    """kept: keys and values of layers that others share."""
    n, at = len(x), f"layers.{layer}.attention."
    heads, kv, dim = p["n_heads"], p["n_kv_heads"], p["head_dim"]
    window = p["windows"][layer] if p["windows"] else 0
    local = bool(window and p["local_theta"])
    theta, positions = p["local_theta"] if local else p["rope_theta"], np.arange(n)
    if p["sink"]:
        sink, window = p["sink"]
        places = np.where(positions < sink, positions, sink + (positions - sink) % (2 * window))
    else:
        sink, places = 0, positions
    turn = (lambda y: y) if layer in p["no_rope"] else (lambda y: rotate(y, places, p, theta, not local))
    shared = p["num_kv_shared_layers"] and layer >= p["n_layers"] - p["num_kv_shared_layers"]

    def place(y, name, scale):
        def normed(z):
            return norm(z, w[at + name + ".weight"] if p["qk_norm_affine"] else None, p) * scale if p["use_qk_norm"] else z
        return turn(normed(y)) if p["qk_norm_before_rope"] else normed(turn(y))

    q = linear(x, w, at + "wq", p["attention_qkv_bias"]).reshape(n, heads, -1)
    gate = None
    if p["use_q_gate"]:
        q, gate = q[..., :dim], q[..., dim:].reshape(n, -1)
    q = place(q, "q_norm_fn", p["scale_query_by"])
    if shared:
        k, v = kept["donor"]
    else:
        k = place(linear(x, w, at + "wk", p["attention_qkv_bias"]).reshape(n, kv, dim), "k_norm_fn", 1.0)
        v = linear(x, w, at + "wv", p["attention_qkv_bias"]).reshape(n, kv, dim)
        kept["donor"] = k, v
    k, v = (np.repeat(y, heads // kv, axis=1) for y in (k, v))
    scores = np.einsum("shd,thd->hst", q, k) * (p["query_scale"] or dim ** -0.5)
    if p["attention_cap"]:
        scores = np.tanh(scores / p["attention_cap"]) * p["attention_cap"]
    back = positions[:, None] - positions[None, :]
    scores = np.where((back >= 0) & ((back < window) | (window == 0) | (positions[None, :] < sink)), scores, -np.inf)
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    y = np.einsum("hst,thd->shd", scores / scores.sum(-1, keepdims=True), v)
    if p["use_attn_o_norm"]:
        y = norm(y, None, p)
    y = y.reshape(n, -1)
    if p["use_attn_o_gate"]:
        y = y * sigmoid(linear(x, w, at + "og"))
    if gate is not None:
        y = y * sigmoid(gate)
    return linear(y, w, at + "wo", p["output_bias"])


def feed_forward(p, w, layer, x):
    at, bias = f"layers.{layer}.feed_forward.", p["mlp_bias"]
    return linear(activation(p)(linear(x, w, at + "w1", bias)) * linear(x, w, at + "w3", bias), w, at + "w2", bias)


MIXERS = {}
FEED_FORWARDS = {"moe": None}


def residual(p, w, name, stream, branch):
    if not p["use_residual_gate"]:
        return stream + branch
    g = w[name + ".gate"] / 0.3
    beta = sigmoid(g)
    alpha = np.sqrt(np.maximum(sigmoid(-g) * (1 + beta), 1e-3))
    return alpha * stream + beta * branch


def forward(params, weights, tokens):
    """Logits (S, vocabulary) of every position."""
    p = {**DEFAULTS, **params}
    p.setdefault("n_kv_heads", p["n_heads"])
    p.setdefault("head_dim", p["dim"] // p["n_heads"])
    w = {name: t.astype(np.float64) for name, t in weights.items()}
    x, kept = w["tok_embeddings.weight"][np.array(tokens)] * p["embedding_scale"], {}
    for layer in range(p["n_layers"]):
        at, kind = f"layers.{layer}.", p["layer_types"][layer] if p["layer_types"] else "attention"
        if kind == "skip_attention":
            branch = np.zeros_like(x)
        else:
            branch = MIXERS[kind](p, w, layer, norm(x, w[at + "attention_norm.weight"], p)) if kind in MIXERS else \
                attention(p, w, layer, norm(x, w[at + "attention_norm.weight"], p), kept)
        if p["sandwich"]:
            branch = norm(branch, w[at + "post_attention_norm.weight"], p)
        if p["use_residual_gate"]:
            branch = norm(branch, None, p)
        x = residual(p, w, at + "add_attn", x, branch)
        normed = norm(x, w[at + "ffn_norm.weight"], p)
        branch = FEED_FORWARDS["moe"](p, w, layer, normed) if p["moe"] else feed_forward(p, w, layer, normed)
        if p["sandwich"]:
            branch = norm(branch, w[at + "post_ffn_norm.weight"], p)
        if p["use_ffn_learnable_scales"]:
            branch = norm(branch * w[at + "post_ffn_norm.weight"], None, {**p, "norm_eps": p["norm_eps"]})
        x = residual(p, w, at + "add_ffn", x, branch)
    logits = norm(x, w["norm.weight"], p) @ w.get("output.weight", w["tok_embeddings.weight"]).T
    return logits if not p["logit_cap"] else np.tanh(logits / p["logit_cap"]) * p["logit_cap"]
