"""The rank program of scripts/neighbours on stand-ins for PyTorch, CUDA's driver and worlds of plans. Results are always
right, and nothing waits: it shows that each neighbour does its steps in an order that all ranks share."""

from __future__ import annotations

import sys
import types
from types import SimpleNamespace
from unittest import mock

import neighbours

neighbours.LIMIT_S = 0.2  # before the modules that take it

from overlaptune import errors, run  # noqa: E402


class Tensor:
    """Any tensor. Its value is 0; it equals what it is compared with."""

    shape, dtype = (64, 64), "bf16"

    def __getattr__(self, name):
        return lambda *given, **named: self

    def __getitem__(self, place):
        return self

    def __eq__(self, other):
        return SimpleNamespace(all=lambda: SimpleNamespace(item=lambda: True))

    def data_ptr(self):
        return 4096

    def numel(self):
        return 4096

    def item(self):
        return 0.0

    __mul__ = __sub__ = __truediv__ = __matmul__ = lambda self, other: self


class Graph:
    capturing: list[Graph] = []

    def capture_begin(self, capture_error_mode):
        assert capture_error_mode == "thread_local"
        Graph.capturing.append(self)

    def capture_end(self):
        Graph.capturing.remove(self)

    def replay(self):
        assert not Graph.capturing

    def reset(self):
        for world in World.all:
            world.graphs.discard(self)


class World:
    """A world whose next run ends in the time-out, if it is `dying`."""

    all: list[World] = []

    def __init__(self, group=None, *, time_limit=300.0):
        assert time_limit == neighbours.LIMIT_S
        self.size, self.reserved, self.graphs, self.dying = 2, 0, set(), False
        World.all.append(self)

    def reserve(self, size):
        self.reserved = size

    def plan_with(self, problem, answer):
        if problem.m > 10_000:
            raise errors.OutOfMemoryError("not enough memory")
        assert self.reserved >= problem.n
        return problem

    def enqueue(self, plan, a, b, c):
        assert self in World.all, "closed"
        self.graphs.update(Graph.capturing)

    def check(self):
        if self.dying:
            raise errors.UnavailableError("rank 1 did not come within 0.2 s")

    def close(self):
        if self.graphs:
            raise errors.ArgumentError("a CUDA graph holds a plan: delete it first")
        World.all.remove(self)


class Stream:
    cuda_stream = 7

    def __init__(self, *given):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        pass

    def wait_event(self, event):
        pass

    def wait_stream(self, stream):
        pass


def install():
    """Takes the places of PyTorch and of the library of plans for the imports that follow."""
    torch, cuda = types.ModuleType("torch"), mock.MagicMock()
    for name in ("zeros", "empty", "randn", "stack", "cat", "mm"):
        setattr(torch, name, lambda *given, **named: Tensor())
    torch.bfloat16 = torch.int32 = torch.uint8 = "a type"
    torch.device = lambda *given: "cuda"
    torch.Tensor = Tensor
    torch.Generator = mock.MagicMock()
    torch.linalg = SimpleNamespace(vector_norm=lambda tensor: tensor)
    torch.backends = mock.MagicMock()
    torch.cuda = cuda
    cuda.Stream = cuda.ExternalStream = Stream
    cuda.stream = cuda.current_stream = cuda.default_stream = lambda *given: Stream()
    cuda.Event = lambda: SimpleNamespace(record=lambda stream: None, query=lambda: True)
    cuda.CUDAGraph = Graph
    cuda.device_count = lambda: 2
    cuda.current_device = lambda: 0
    cuda.get_device_properties = lambda device: SimpleNamespace(multi_processor_count=132)
    cuda.mem_get_info = lambda: (1 << 36, 1 << 36)
    distributed = mock.MagicMock()
    distributed.get_world_size = lambda group: 2
    torch.distributed = distributed
    sys.modules.update({"torch": torch, "torch.distributed": distributed})
    sys.modules["overlaptune.torch"] = SimpleNamespace(World=World)
    run.sizes = lambda problem, answer: SimpleNamespace(shared_bytes=problem.n)


def with_dying_worlds(module, name):
    """The world dies in the neighbours that are to see that."""
    found = getattr(module, name)

    def neighbour(beside):
        if not beside.way.is_plain:
            beside.subject.world.dying = True
        return found(beside)

    setattr(module, name, neighbour)


def main():
    install()
    import driver_api
    import failures
    import rank
    import worlds

    driver_api._library = lambda: mock.MagicMock(**{f"{name}.return_value": 0 for name in DRIVER_CALLS})
    with_dying_worlds(failures, "late_10s")
    with_dying_worlds(worlds, "two_worlds_other_order")
    with_dying_worlds(failures, "killed_rank")
    rank.main()


DRIVER_CALLS = (
    "cuModuleLoadData", "cuModuleGetFunction", "cuFuncSetAttribute", "cuLaunchKernel", "cuLaunchCooperativeKernel",
    "cuDeviceGet", "cuDeviceGetDevResource", "cuDevSmResourceSplitByCount", "cuDevResourceGenerateDesc",
    "cuGreenCtxCreate", "cuGreenCtxStreamCreate", "cuStreamDestroy_v2", "cuGreenCtxDestroy")

if __name__ == "__main__":
    main()
