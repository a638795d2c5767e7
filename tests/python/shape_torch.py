"""The part of PyTorch that a layer of scripts/compare-step touches, without numbers: tensors have a shape and a type,
and operations refuse what does not fit."""

from __future__ import annotations

import math
import sys
import types
from typing import Any

import fake_torch

RANKS = 2


class Tensor:
    def __init__(self, shape, dtype="bf16"):
        self.shape, self.dtype, self.device = tuple(shape), dtype, "cuda:0"

    def combined(self, other):
        """The result of an operation element by element."""
        if not isinstance(other, Tensor):
            return self
        rank = max(len(self.shape), len(other.shape))
        pairs = list(zip(*((1,) * (rank - len(each.shape)) + each.shape for each in (self, other))))
        if any(a != b and 1 not in (a, b) for a, b in pairs):
            raise ValueError(f"{self.shape} and {other.shape} do not fit")
        return Tensor(map(max, pairs), "fp32" if "fp32" in (self.dtype, other.dtype) else self.dtype)

    def __gt__(self, other):
        return Tensor(self.shape, "bool")

    __add__ = __radd__ = __sub__ = __mul__ = __rmul__ = __truediv__ = combined

    def same(self, *_):
        return self

    __neg__ = __rpow__ = square = cos = sin = contiguous = clone = abs = clamp = same

    def numel(self):
        return math.prod(self.shape)

    def element_size(self):
        return {"fp32": 4, "e4m3": 1, "u8": 1}.get(self.dtype, 2)

    def __matmul__(self, other):
        if self.shape[-1] != other.shape[0] or self.dtype != other.dtype:
            raise ValueError(f"{self.shape} {self.dtype} @ {other.shape} {other.dtype}")
        return Tensor((*self.shape[:-1], other.shape[1]), self.dtype)

    def __getitem__(self, places):
        shape, rest = [], list(self.shape)
        for place in places if isinstance(places, tuple) else (places,):
            shape.append(1 if place is None else len(range(rest.pop(0))[place]))
        return Tensor((*shape, *rest), self.dtype)

    def to(self, dtype):
        return Tensor(self.shape, dtype)

    view = to

    def float(self):
        return self.to("fp32")

    def mean(self, dim, keepdim):
        return Tensor((*self.shape[:dim], 1), self.dtype)

    def chunk(self, count, dim):
        if self.shape[dim] % count != 0:
            raise ValueError(f"{self.shape} in {count}")
        return [Tensor((*self.shape[:dim], self.shape[dim] // count), self.dtype)] * count

    def unflatten(self, dim, sizes):
        missing = self.shape[dim] // -math.prod(sizes)
        sizes = [missing if size == -1 else size for size in sizes]
        if math.prod(sizes) != self.shape[dim]:
            raise ValueError(f"{self.shape}: {self.shape[dim]} as {sizes}")
        return Tensor((*self.shape[:dim], *sizes, *self.shape[dim + 1:]), self.dtype)

    def amax(self, dim):
        return Tensor(self.shape[:-1], self.dtype)

    def reshape(self, *shape):
        missing = self.numel() // -math.prod(shape)
        return Tensor((missing if size == -1 else size for size in shape), self.dtype)

    def flatten(self, dim=0):
        return Tensor((*self.shape[:dim], math.prod(self.shape[dim:])), self.dtype)

    def transpose(self, one, other):
        shape = list(self.shape)
        shape[one], shape[other] = shape[other], shape[one]
        return Tensor(shape, self.dtype)

    def t(self):
        return self.transpose(0, 1)

    def unsqueeze(self, dim):
        if dim == -1:
            return Tensor((*self.shape, 1), self.dtype)
        return Tensor((*self.shape[:dim], 1, *self.shape[dim:]), self.dtype)

    def squeeze(self, dim):
        return Tensor((*self.shape[:dim], *self.shape[dim + 1:]), self.dtype)


def all_gather(whole, part):
    if whole.shape != (RANKS * part.shape[0], *part.shape[1:]) or whole.dtype != part.dtype:
        raise ValueError(f"{part.shape} of each rank in {whole.shape}")


def scaled_product(x, weight, scale_a, scale_b, out_dtype, use_fast_accum, out):
    """torch._scaled_mm with a scale for each row."""
    if (x.dtype, weight.dtype) != ("e4m3", "e4m3") or x.shape[1] != weight.shape[0]:
        raise ValueError(f"{x.shape} {x.dtype} @ {weight.shape} {weight.dtype}")
    if (scale_a.shape, scale_b.shape) != ((x.shape[0], 1), (1, weight.shape[1])):
        raise ValueError(f"scales {scale_a.shape} and {scale_b.shape} of {x.shape} @ {weight.shape}")
    return Tensor((x.shape[0], weight.shape[1]), out_dtype)


def install(attention: Any) -> Any:
    """Takes PyTorch's place for the imports that follow. `attention` stands for scaled_dot_product_attention."""
    torch = types.ModuleType("torch")
    torch.Tensor, torch.dtype = Tensor, str
    torch.bfloat16, torch.float16, torch.float32 = "bf16", "fp16", "fp32"
    torch.float8_e4m3fn, torch.uint8 = "e4m3", "u8"
    torch.where = lambda condition, one, other: one
    torch.ones_like = lambda tensor: tensor
    torch._scaled_mm = scaled_product
    torch.randn = lambda *shape, device: Tensor(shape[0] if isinstance(shape[0], tuple) else shape, "fp32")
    torch.arange = lambda count, device, dtype: Tensor((count,), dtype)
    torch.empty = lambda shape, dtype, device: Tensor(shape, dtype)
    torch.zeros = lambda shape, dtype, device: Tensor(shape, dtype)
    torch.outer = lambda one, other: Tensor((*one.shape, *other.shape), one.dtype)
    torch.matmul = lambda one, other: one @ other
    torch.rsqrt = lambda tensor: tensor
    torch.cat = lambda parts, dim: Tensor((*parts[0].shape[:dim], sum(part.shape[dim] for part in parts)), parts[0].dtype)
    torch.as_tensor = lambda lent, device: Tensor(lent.__cuda_array_interface__["shape"], "i16")
    torch.cuda = types.SimpleNamespace()
    torch.autograd = types.SimpleNamespace(Function=object)
    torch.ops = types.SimpleNamespace(overlaptune=types.SimpleNamespace())
    torch.Tag = types.SimpleNamespace(pt2_compliant_tag=None)
    torch.library = fake_torch.Library(torch.ops.overlaptune)
    torch.nn = types.SimpleNamespace(Module=object, functional=types.SimpleNamespace(
        silu=lambda tensor: tensor, scaled_dot_product_attention=attention))
    distributed = types.ModuleType("torch.distributed")
    distributed.get_world_size = lambda: RANKS
    distributed.broadcast = lambda tensor, rank: None
    distributed.all_reduce = lambda tensor: None
    distributed.all_gather_into_tensor = all_gather
    distributed.reduce_scatter_tensor = lambda part, whole: all_gather(whole, part)
    distributed._symmetric_memory = types.ModuleType("torch.distributed._symmetric_memory")
    torch.distributed = distributed
    sys.modules.update({"torch": torch, "torch.distributed": distributed,
                        "torch.distributed._symmetric_memory": distributed._symmetric_memory,
                        **fake_torch.graph_modules(), **fake_torch.dtensor_modules()})
    return torch
