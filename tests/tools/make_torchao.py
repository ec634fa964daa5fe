"""Writes tests/data/torchao.pt, linears that torchao quantized, and torchao.f32, what it says their weights are.

usage: python3 make_torchao.py FOLDER        (needs: pip install torch torchao)

In order: a (16, 64) int4 in groups of 32; b (16, 64) int8 by rows, weights only; c (8, 64) int8 by rows with int8 activations; d (8, 32) int4 in groups
of 32 with int8 activations, bfloat16.
"""
import sys

import torch
from torchao.quantization import (Int8DynamicActivationInt8WeightConfig, Int8DynamicActivationIntxWeightConfig, Int8WeightOnlyConfig,
                                  IntxWeightOnlyConfig, quantize_)
from torchao.quantization.granularity import PerGroup

torch.manual_seed(4)
model = torch.nn.ModuleDict({"a": torch.nn.Linear(64, 16, bias=False), "b": torch.nn.Linear(64, 16, bias=False), "c": torch.nn.Linear(64, 8, bias=False),
                             "d": torch.nn.Linear(32, 8, bias=False, dtype=torch.bfloat16)})
configs = {"a": IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(32)), "b": Int8WeightOnlyConfig(version=2),
           "c": Int8DynamicActivationInt8WeightConfig(version=2),
           "d": Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int4, weight_granularity=PerGroup(32))}
for name, config in configs.items():
    quantize_(model, config, filter_fn=lambda module, path: path == name)
torch.save(model.state_dict(), f"{sys.argv[1]}/torchao.pt")
with open(f"{sys.argv[1]}/torchao.f32", "wb") as out:
    for name in configs:
        out.write(model[name].weight.dequantize().to(torch.float32).contiguous().numpy().astype("<f4").tobytes())
