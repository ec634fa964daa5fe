"""Writes tests/data/torch_views.pt, a checkpoint with every dtype and kind of view, and torch_views.f32, its values.

usage: python3 make_torch_views.py FOLDER        (needs: torch)

torch_views.f32 holds, tensor after tensor in the order of the file, all elements in row-major order as float32.
torch_protocol4.pt is the same in pickle protocol 4; torch_legacy.pt and torch_legacy_views.pt are files of the format before PyTorch 1.6.
"""
import sys

import torch


def main():
    folder = sys.argv[1]
    generator = torch.Generator().manual_seed(3)

    def normal(*sizes):
        return torch.randn(*sizes, generator=generator)

    base = normal(6, 7, 8)
    whole = torch.arange(-9, 40)
    state = {
        "plain": base,
        "tied": base,
        "transposed": base.transpose(0, 2),
        "permuted": base.permute(1, 2, 0),
        "sliced": base[1:4, 2:, ::3],
        "offset": base[3:],
        "expanded": normal(1, 5).expand(4, 5),
        "scalar": torch.tensor(3.5),
        "empty": torch.zeros(0, 5),
        "long_transposed": normal(3, 300).t(),
        "channels_last": normal(2, 3, 4, 5).to(memory_format=torch.channels_last),
        "parameter": torch.nn.Parameter(normal(3, 4)),
        "f16": normal(3, 3).half(),
        "f64": normal(3, 3).double(),
        "bf16_transposed": normal(33, 9).bfloat16().t(),
        "i64": whole * 1000003,
        "i32": whole.int(),
        "i16": whole.short(),
        "i8": whole.to(torch.int8),
        "u8": (whole + 9).to(torch.uint8),
        "u16": (whole + 9).to(torch.uint16),
        "u32": (whole + 9).to(torch.uint32),
        "u64": (whole + 9).to(torch.uint64),
        "bool": normal(17) > 0,
    }
    wrapped = {"epoch": 3, "rate": 0.1, "far": 1 << 40, "below": -(1 << 40), "none": None, "model": state, "steps": [1, (2, "x")]}
    torch.save(wrapped, f"{folder}/torch_views.pt")
    torch.save(state, f"{folder}/torch_protocol4.pt", pickle_protocol=4)
    torch.save({"w": normal(2)}, f"{folder}/torch_legacy.pt", _use_new_zipfile_serialization=False)
    torch.save(wrapped, f"{folder}/torch_legacy_views.pt", _use_new_zipfile_serialization=False)
    with open(f"{folder}/torch_views.f32", "wb") as out:
        for tensor in state.values():
            out.write(tensor.detach().to(torch.float32).contiguous().numpy().astype("<f4").tobytes())


main()
