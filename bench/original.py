"""bench/original.py MODEL.pte - the original's runtime as a worker for compare.py: reads `prefill COUNT` or `decode DEPTH TOKENS` lines,
answers each with seconds. Ids are what compare.py gives wick: 1, 2, 3, ... within the vocabulary. First line it prints: seconds from start to
the first token of a prompt of one.

Needs `pip install executorch torch`; the thread count is the runtime's own (all cores)."""
import sys
import time
import warnings

warnings.filterwarnings("ignore")
import torch
from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401  registers llama::*
import executorch.kernels.quantized  # noqa: F401
from executorch.extension.pybindings.portable_lib import _load_for_executorch

CHUNK = int(sys.argv[2]) if len(sys.argv) > 2 else 0


def main():
    begin = time.perf_counter()
    model = _load_for_executorch(sys.argv[1])

    def feed(ids, position):
        chunk = CHUNK or len(ids)
        for at in range(0, len(ids), chunk):
            part = ids[at:at + chunk]
            model.forward([torch.tensor([part]), torch.tensor([position + at])])

    feed([1], 0)
    print(time.perf_counter() - begin, flush=True)
    for line in sys.stdin:
        command, *numbers = line.split()
        numbers = [int(n) for n in numbers]
        if command == "prefill":
            begin = time.perf_counter()
            feed([1 + i % 1000 for i in range(numbers[0])], 0)
        else:
            feed([1 + i % 1000 for i in range(numbers[0])], 0)
            begin = time.perf_counter()
            for i in range(numbers[1]):
                feed([7], numbers[0] + i)
        print(time.perf_counter() - begin, flush=True)


main()
