"""Writers of the checkpoint files that people have, in plain numpy: safetensors and PyTorch's zip format."""
import collections
import io
import json
import pickle
import struct
import sys
import types
import zipfile

import numpy as np


def write_safetensors(path, tensors):
    """tensors: {name: float32 array}."""
    header, at = {}, 0
    for name, t in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(t.shape), "data_offsets": [at, at + t.nbytes]}
        at += t.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for t in tensors.values():
            file.write(np.ascontiguousarray(t, "<f4").tobytes())


def _torch_names():
    """Stand-ins for the two names that a pickle of tensors refers to."""
    torch, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")

    def _rebuild_tensor_v2(*args):
        raise TypeError("only ever written")

    storage = type("FloatStorage", (), {"__module__": "torch"})
    _rebuild_tensor_v2.__module__, _rebuild_tensor_v2.__qualname__ = "torch._utils", "_rebuild_tensor_v2"
    torch.FloatStorage, torch._utils, utils._rebuild_tensor_v2 = storage, utils, _rebuild_tensor_v2
    return {"torch": torch, "torch._utils": utils}


class _Storage:
    def __init__(self, key, count):
        self.key, self.count = key, count


class _Tensor:
    def __init__(self, storage, shape):
        self.storage, self.shape = storage, shape

    def __reduce__(self):
        rebuild = sys.modules["torch._utils"]._rebuild_tensor_v2
        strides = tuple(int(np.prod(self.shape[i + 1:])) for i in range(len(self.shape)))
        return rebuild, (self.storage, 0, tuple(self.shape), strides, False, collections.OrderedDict())


class _Pickler(pickle.Pickler):
    def persistent_id(self, item):
        if isinstance(item, _Storage):
            return ("storage", sys.modules["torch"].FloatStorage, item.key, "cpu", item.count)
        return None


def write_pth(path, tensors):
    """tensors: {name: float32 array}; what torch.save makes of a dict of tensors."""
    before = {name: sys.modules.get(name) for name in ("torch", "torch._utils")}
    sys.modules.update(_torch_names())
    try:
        items = collections.OrderedDict((name, _Tensor(_Storage(str(i), t.size), t.shape)) for i, (name, t) in enumerate(tensors.items()))
        text = io.BytesIO()
        _Pickler(text, protocol=2).dump(items)
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("archive/data.pkl", text.getvalue())
        archive.writestr("archive/byteorder", "little")
        for i, t in enumerate(tensors.values()):
            archive.writestr(f"archive/data/{i}", np.ascontiguousarray(t, "<f4").tobytes())
        archive.writestr("archive/version", "3\n")
