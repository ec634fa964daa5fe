#!/usr/bin/env python3
"""Runs an LLM .pte with the original runtime, all custom operators included, greedily.

Needs: pip install executorch==1.5.1 torch==2.13.0 . usage: oracle_llm.py MODEL.pte TOKENS STEPS [--out LOGITS.f32] [--force TOKENS] [--nokv] [--one-by-one] [--repeat N] [--ptd DATA.ptd] [--method NAME]
Prints the tokens and the speed; logits rows are float32, last position of each call.
"""
import argparse, time, warnings
warnings.filterwarnings("ignore")
import torch
from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401  registers llama::*
import executorch.kernels.quantized  # noqa: F401
from executorch.extension.pybindings.portable_lib import _load_for_executorch

a = argparse.ArgumentParser()
a.add_argument("model"); a.add_argument("tokens"); a.add_argument("steps", type=int)
a.add_argument("--out"); a.add_argument("--force"); a.add_argument("--nokv", action="store_true"); a.add_argument("--one-by-one", action="store_true"); a.add_argument("--repeat", type=int, default=1); a.add_argument("--ptd"); a.add_argument("--method", default="forward")
o = a.parse_args()
force = [int(x) for x in o.force.split(",")] if o.force else []
toks = [int(x) for x in o.tokens.split(",")]
t0 = time.time(); m = _load_for_executorch(o.model, o.ptd)
m.run_method(o.method, [torch.tensor([[toks[0]]])] + ([] if o.nokv else [torch.tensor([0])])); load = time.time() - t0
m = _load_for_executorch(o.model, o.ptd)  # afresh: that first call may have left state (convolution, recurrent) behind
best = (0, 0)
for _ in range(o.repeat):
    pos, rows, gen = 0, [], []
    def fwd(ts):
        global pos
        l = m.run_method(o.method, [torch.tensor([ts])] + ([] if o.nokv else [torch.tensor([pos])]))[0].float()
        pos += len(ts); row = l.reshape(-1, l.shape[-1])[-1]; rows.append(row.clone()); return int(row.argmax())
    t1 = time.time()
    if o.one_by_one:
        for t in toks: n = fwd([t])
    else: n = fwd(toks)
    t2 = time.time(); gen.append(n); seq = list(toks)
    for i in range(o.steps - 1):
        n = force[i] if i < len(force) else n
        if o.nokv: seq.append(n); n = fwd(seq)
        else: n = fwd([n])
        gen.append(n)
    t3 = time.time(); best = (max(best[0], len(toks) / (t2 - t1)), max(best[1], (o.steps - 1) / (t3 - t2) if o.steps > 1 else 0))
if o.out: torch.stack(rows).numpy().astype("<f4").tofile(o.out)
print("tokens", *gen); print(f"load_and_first_s {load:.3f} prefill_tok_s {best[0]:.2f} decode_tok_s {best[1]:.2f}")
