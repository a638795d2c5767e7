"""The part of PyTorch that the layers touch, without numbers: tensors have a shape, a type and a place."""

from __future__ import annotations

import math
import sys
import types
from typing import Any

RANKS = 4


class Tensor:
    requires_grad = False

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

    def to(self, dtype):
        return self if dtype == self.dtype else Tensor(self.shape, dtype, self.device, self.address)

    def new_empty(self, shape, dtype=None):
        return Tensor(shape, dtype or self.dtype, self.device, 8192)

    def new_zeros(self, shape):
        return self.new_empty(shape)

    def __getitem__(self, rows):
        return Tensor((len(range(*rows.indices(self.shape[0]))), *self.shape[1:]), self.dtype, self.device, self.address)

    def clone(self, memory_format=None):
        return Tensor(self.shape, self.dtype, self.device, 1 << 20)

    def view_as(self, other):
        return self


class Function:
    """Applies the forward function alone."""

    @classmethod
    def apply(cls, *args):
        ctx = types.SimpleNamespace(save_for_backward=lambda *saved: None, needs_input_grad=(True,) * len(args))
        return cls.forward(ctx, *args)


class Module:
    def __call__(self, *args, **options):
        return self.forward(*args, **options)


class Cuda(types.SimpleNamespace):
    capturing = False
    backend = "native"
    free = 1 << 30
    stream = 77
    calls: list[str] = []

    def current_device(self):
        return 0

    def current_stream(self, device):
        return types.SimpleNamespace(cuda_stream=self.stream)

    def is_current_stream_capturing(self):
        return self.capturing

    def get_allocator_backend(self):
        return self.backend

    def mem_get_info(self, device):
        return self.free, 1 << 40

    def synchronize(self, device):
        self.calls.append("synchronize")

    def empty_cache(self):
        self.calls.append("empty_cache")

    def Event(self):
        return types.SimpleNamespace(record=lambda stream: None, query=lambda: "late" not in self.calls)


class Store:
    """The store of a group. The other ranks say what this one says, or what `says` makes of it; those in `absent` say
    nothing."""

    def __init__(self):
        self.values, self.says, self.absent = {}, {}, set()

    def set(self, name, text):
        call = name.rsplit("/", 1)[0]
        for rank in range(RANKS):
            if rank not in self.absent:
                self.values[f"{call}/{rank}"] = self.says.get(rank, str)(text)
        self.values[name] = text

    def check(self, names):
        return all(name in self.values for name in names)

    def get(self, name):
        return self.values[name].encode()


class Backend:
    def __init__(self, pointer):
        self._comm_ptr = lambda: pointer


class Group:
    def __init__(self, backend: Any = Backend(1234), ranks: int = RANKS):
        self.backend, self.ranks = backend, ranks

    def _get_backend(self, device):
        return self.backend


class Library:
    """torch.library: operators run what they were given for a GPU; `shapes` has what tells the compiler the shape of a result."""

    def __init__(self, operators):
        self.operators, self.shapes = operators, {}

    def Library(self, name, kind):
        return (name, kind)

    def define(self, name, schema, *, lib, tags):
        pass

    def impl(self, name, device, run, *, lib):
        run.default = run  # the one overload
        setattr(self.operators, name.split("::")[1], run)

    def register_fake(self, name, shape, *, lib):
        self.shapes[name.split("::")[1]] = shape

    def register_autograd(self, name, backward, *, setup_context=None, lib):
        pass


def graph_modules() -> dict[str, Any]:
    """torch.fx, as far as operators say there that a compiler must keep them: `kept` lists them."""
    node: Any = types.ModuleType("torch.fx.node")
    node.kept = []
    node.has_side_effect = node.kept.append
    return {"torch.fx": types.ModuleType("torch.fx"), "torch.fx.node": node}


def dtensor_modules() -> dict[str, Any]:
    """torch.distributed.tensor: no tensor here is a DTensor."""
    tensor: Any = types.ModuleType("torch.distributed.tensor")
    tensor.DTensor = type("DTensor", (), {})
    tensor.Placement = object
    tensor.Shard = lambda dim: ("Shard", dim)
    tensor.Replicate = lambda: ("Replicate",)
    return {"torch.distributed.tensor": tensor}


def install() -> Any:
    """Takes PyTorch's place for the imports that follow."""
    there = sys.modules.get("torch")
    if there is not None and there.__version__ == "0.0":
        return there
    torch = types.ModuleType("torch")
    torch.__version__ = "0.0"
    torch.__file__ = "/nowhere/torch/__init__.py"
    torch.bfloat16, torch.float16, torch.float32 = "bf16", "fp16", "fp32"
    torch.float8_e4m3fn = "e4m3"
    torch.dtype = str
    torch.Tensor = Tensor
    torch.device = lambda kind, index: f"{kind}:{index}"
    torch.empty = lambda shape, dtype, device: Tensor(shape, dtype, device, 8192)
    torch.cat = lambda parts: Tensor((sum(part.shape[0] for part in parts), *parts[0].shape[1:]), parts[0].dtype,
                                     parts[0].device, 1 << 20)
    torch.autocast_dtype = None  # None: autocast is off
    torch.is_autocast_enabled = lambda kind: torch.autocast_dtype is not None
    torch.get_autocast_dtype = lambda kind: torch.autocast_dtype
    torch.contiguous_format = "contiguous"
    torch.Tag = types.SimpleNamespace(pt2_compliant_tag=None)
    torch.ops = types.SimpleNamespace(overlaptune=types.SimpleNamespace())
    torch.library = Library(torch.ops.overlaptune)
    torch.is_grad_enabled = lambda: True
    torch.zeros = lambda count, device: Tensor((count,), "fp32", device)
    torch.cuda = Cuda()
    torch._C = types.SimpleNamespace()
    torch.autograd = types.SimpleNamespace(Function=Function)
    torch.nn = types.SimpleNamespace(
        Module=Module, Parameter=lambda tensor: tensor,
        init=types.SimpleNamespace(uniform_=lambda tensor, low, high: None),
        functional=types.SimpleNamespace(
            linear=lambda x, weight, bias=None: Tensor((*x.shape[:-1], weight.shape[0]), x.dtype, x.device)))
    distributed = types.ModuleType("torch.distributed")
    distributed.group = types.SimpleNamespace(WORLD=Group())
    distributed.is_initialized = lambda: True
    distributed.get_rank = lambda group: min(1, group.ranks - 1)
    distributed.get_process_group_ranks = lambda group: list(range(group.ranks))
    distributed.get_world_size = lambda group: group.ranks
    distributed.all_reduce = lambda tensor, group: torch.cuda.calls.append("all_reduce")
    distributed.all_gather_into_tensor = lambda whole, x, group: torch.cuda.calls.append("all_gather")
    distributed.reduce_scatter_tensor = lambda part, x, group: torch.cuda.calls.append("reduce_scatter")
    store = Store()
    distributed.distributed_c10d = types.ModuleType("torch.distributed.distributed_c10d")
    distributed.distributed_c10d._get_default_store = lambda: store
    torch.distributed = distributed
    sys.modules.update({"torch": torch, "torch.distributed": distributed,
                        "torch.distributed.distributed_c10d": distributed.distributed_c10d,
                        **graph_modules(), **dtensor_modules()})
    return torch
