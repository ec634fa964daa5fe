"""Writes tests/data/f8_values.f32: every byte as torch.float8_e4m3fn, then every byte as torch.float8_e5m2, decoded by torch to float32.

usage: python3 make_f8_values.py OUT        (needs: pip install torch numpy)
"""
import sys

import torch

codes = torch.arange(256, dtype=torch.uint8)
with open(sys.argv[1], "wb") as out:
    for kind in (torch.float8_e4m3fn, torch.float8_e5m2):
        out.write(codes.view(kind).to(torch.float32).numpy().astype("<f4").tobytes())
