"""As much of PyTorch as the layers touch, without numbers: tensors have a shape, a type and a place."""

from __future__ import annotations

import math
import sys
import types
from typing import Any

RANKS = 4


class Tensor:
    def __init__(self, shape, dtype="bf16", device="cuda:0", address=4096, contiguous=True):
        self.shape, self.dtype, self.device = tuple(shape), dtype, device
        self.address, self.is_whole = address, contiguous

    def dim(self):
        return len(self.shape)

    def numel(self):
        return math.prod(self.shape)

    def data_ptr(self):
        return self.address

    def is_contiguous(self):
        return self.is_whole

    def contiguous(self):
        return self if self.is_whole else self.clone()

    def clone(self):
        return Tensor(self.shape, self.dtype, self.device, 1 << 20)

    def view_as(self, other):
        return self


class Function:
    """Applies the forward function alone."""

    @classmethod
    def apply(cls, *args):
        return cls.forward(types.SimpleNamespace(save_for_backward=lambda *saved: None), *args)


class Module:
    def __call__(self, *args):
        return self.forward(*args)


class Cuda(types.SimpleNamespace):
    capturing = False
    free = 1 << 30
    calls: list[str] = []

    def current_device(self):
        return 0

    def current_stream(self, device):
        return types.SimpleNamespace(cuda_stream=77)

    def is_current_stream_capturing(self):
        return self.capturing

    def mem_get_info(self, device):
        return self.free, 1 << 40

    def synchronize(self, device):
        self.calls.append("synchronize")

    def empty_cache(self):
        self.calls.append("empty_cache")


class Backend:
    def __init__(self, pointer):
        self._comm_ptr = lambda: pointer


class Group:
    def __init__(self, backend: Any = Backend(1234), ranks: int = RANKS):
        self.backend, self.ranks = backend, ranks

    def _get_backend(self, device):
        return self.backend


def install() -> Any:
    """Takes PyTorch's place for the imports that follow."""
    torch = types.ModuleType("torch")
    torch.__version__ = "0.0"
    torch.bfloat16, torch.float16, torch.float32 = "bf16", "fp16", "fp32"
    torch.dtype = str
    torch.Tensor = Tensor
    torch.device = lambda kind, index: f"{kind}:{index}"
    torch.empty = lambda shape, dtype, device: Tensor(shape, dtype, device, 8192)
    torch.zeros = lambda count, device: Tensor((count,), "fp32", device)
    torch.cuda = Cuda()
    torch.autograd = types.SimpleNamespace(Function=Function)
    torch.nn = types.SimpleNamespace(
        Module=Module, Parameter=lambda tensor: tensor,
        init=types.SimpleNamespace(uniform_=lambda tensor, low, high: None),
        functional=types.SimpleNamespace(
            linear=lambda x, weight: Tensor((*x.shape[:-1], weight.shape[0]), x.dtype, x.device)))
    distributed = types.ModuleType("torch.distributed")
    distributed.group = types.SimpleNamespace(WORLD=Group())
    distributed.is_initialized = lambda: True
    distributed.get_rank = lambda group: 1
    distributed.get_world_size = lambda group: group.ranks
    distributed.all_reduce = lambda tensor, group: torch.cuda.calls.append("all_reduce")
    torch.distributed = distributed
    sys.modules.update({"torch": torch, "torch.distributed": distributed})
    return torch
