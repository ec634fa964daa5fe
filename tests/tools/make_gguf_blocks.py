"""Writes tests/data/gguf_blocks.bin: random blocks of each GGUF type and what the `gguf` package decodes them to.

usage: python3 make_gguf_blocks.py OUT        (needs: pip install gguf)

Per type, little-endian: u32 ggml type, u32 blocks, the blocks, then their elements as float32.
"""
import sys

import gguf
import numpy as np

TYPES = ["F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q4_K", "Q5_K", "Q6_K", "Q2_K", "Q3_K", "IQ4_NL", "IQ4_XS", "TQ1_0", "TQ2_0", "MXFP4"]
# Where each block holds float16 scales; they are made finite (normal, subnormal, zero and negative ones all occur).
SCALES = {"Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208],
          "Q2_K": [80, 82], "Q3_K": [108], "IQ4_NL": [0], "IQ4_XS": [0], "TQ1_0": [52], "TQ2_0": [64]}
BLOCKS = {"F16": 64, "BF16": 64}


def main():
    rng = np.random.default_rng(20)
    with open(sys.argv[1], "wb") as out:
        for name in TYPES:
            kind = gguf.GGMLQuantizationType[name]
            block, size = gguf.GGML_QUANT_SIZES[kind]
            blocks = BLOCKS.get(name, 12 if block == 32 else 5)
            data = rng.integers(0, 256, (blocks, size), dtype=np.uint8)
            if name in BLOCKS:
                data[:, 1] &= 0xBF  # no infinity, no NaN
            for at in SCALES.get(name, []):
                data[:, at + 1] &= 0xBF
            data[0] = 255 if name not in ("F16", "BF16") else 0
            for at in SCALES.get(name, []):
                data[0, at:at + 2] = [1, 0x80] if at % 4 == 0 else [0xFF, 0x7B]  # -2^-24, 65504
            values = gguf.dequantize(data.reshape(1, -1), kind)
            out.write(np.array([int(kind), blocks], dtype="<u4").tobytes())
            out.write(data.tobytes())
            out.write(values.astype("<f4").tobytes())


main()
