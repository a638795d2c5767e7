"""A rank's process from cell to cell: its process groups, streams, worlds with their plans, operands, and captured
graphs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Optional

import torch
import torch.distributed as dist
from link import Link
from neighbours import LIMIT_S
from operands import Operands, operands_of
from patience import PATIENCE_S, bounded, finish_stream
from subjects import Subject, made_world, subject_of
from ways import M, N, Way, config_of, problem_of, rows, variants

from overlaptune import Error, run
from overlaptune.torch import World

Call = Callable[[], None]
TOKEN_ELEMENTS = 1 << 22
CLOSE_S = 15.0


class Session:
    """`group` is that of the plans, `other` that of neighbours; both have all ranks."""

    def __init__(self, link: Link, rank: int, size: int) -> None:
        self.link, self.rank, self.size = link, rank, size
        self.group: Any = dist.group.WORLD
        self.other: Any = dist.new_group(list(range(size)))
        self.main, self.side = torch.cuda.Stream(), torch.cuda.Stream()
        self.token = torch.zeros(TOKEN_ELEMENTS, device="cuda")
        self.sms: int = torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count
        self._worlds: dict[str, World] = {}
        self._subjects: dict[tuple[str, Way], Subject] = {}
        self._operands: dict[tuple[str, int], Operands] = {}
        self._graphs: list[torch.cuda.CUDAGraph] = []
        self._pool: Optional[torch.Tensor] = None
        self._warm_up()

    def _warm_up(self) -> None:
        """Makes the connections of `other`: an all-reduce, and a message each way between neighbouring ranks."""
        dist.all_reduce(self.token, group=self.other)
        partner = self.rank ^ 1
        if partner < self.size:
            for sender in (0, 1):
                if self.rank % 2 == sender:
                    dist.isend(self.token, dst=partner, group=self.other).wait()
                else:
                    dist.irecv(self.token, src=partner, group=self.other).wait()
        finish_stream(torch.cuda.current_stream(), 60.0, "the first messages of PyTorch")

    def meet(self, value: Any = None) -> list[Any]:
        return self.link.meet(value)

    # Worlds and plans.

    def _group_of(self, name: str) -> Any:
        return self.group if name == "first" else self.other

    def world(self, name: str = "first") -> World:
        """The world `first`, or `second` on the other group. It is made when first asked for, with memory for every
        way, so that no later plan makes it grow. Collective."""
        if name not in self._worlds:
            self._worlds[name] = self.new_world(name)
        return self._worlds[name]

    def new_world(self, name: str, ways: Optional[list[Way]] = None) -> World:
        """Another world, which the caller closes. `ways`: those that it reserves memory for; None: all."""
        world = made_world(self._group_of(name), LIMIT_S)
        every = [way for row in rows() for way in variants(*row)] if ways is None else ways
        sizes = [run.sizes(problem_of(way, self.size), config_of(way, self.size)) for way in every]
        world.reserve(max(each.shared_bytes for each in sizes))
        return world

    def subject(self, way: Way, name: str = "first") -> Subject:
        """The plan of a way in one of the two worlds; made when first asked for. Collective."""
        key = (name, way)
        if key not in self._subjects:
            self._subjects[key] = subject_of(way, self._group_of(name) if way.is_plain else self.world(name))
        return self._subjects[key]

    def close_worlds(self) -> None:
        """Ends the worlds, also dead ones. Collective. Raises Hung."""
        self.release_graphs()
        self._subjects.clear()
        for name in sorted(self._worlds):
            bounded(f"close of the {name} world", CLOSE_S, self._worlds.pop(name).close)

    # Operands.

    def operands(self, way: Way, number: int) -> Operands:
        """Set `number` for the op of a way. Sets stay allocated: NCCL remembers those of captured plans."""
        key = (way.op, number)
        if key not in self._operands:
            self._operands[key] = operands_of(problem_of(way, self.size), self.rank, number)
            finish_stream(torch.cuda.current_stream(), 30.0, "making the operands")
        return self._operands[key]

    def spare_result(self, number: int, like: torch.Tensor) -> torch.Tensor:
        """Memory for result `number` of many, which stays allocated."""
        if self._pool is None:
            self._pool = torch.empty(100, M * N, dtype=like.dtype, device="cuda")
        return self._pool[number][: like.numel()].view(like.shape)

    # Launches.

    def captured(self, call: Call, stream: Optional[torch.cuda.Stream] = None) -> torch.cuda.CUDAGraph:
        """A call as a CUDA graph. It lives until `release_graphs`."""
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.stream(stream or self.main):
            graph.capture_begin(capture_error_mode="thread_local")
            try:
                call()
            except BaseException:
                with suppress(RuntimeError):  # says again that the capture failed
                    graph.capture_end()
                raise
            graph.capture_end()
        self._graphs.append(graph)
        return graph

    def launched(self, call: Call, launch: str, stream: Optional[torch.cuda.Stream] = None) -> Call:
        """The call itself, or the replay of its graph; each on the stream that is current when it is called."""
        if launch == "eager":
            return call
        replay: Call = self.captured(call, stream).replay
        return replay

    def release_graphs(self) -> None:
        for graph in self._graphs:
            graph.reset()
        self._graphs.clear()

    def is_alive(self) -> bool:
        """Whether the GPU still does what it is told."""
        try:
            for stream in (self.main, self.side):
                finish_stream(stream, PATIENCE_S, "the stream")
        except Exception:  # whatever it is, this process cannot go on
            return False
        return True


def is_refusal(error: BaseException) -> bool:
    """Whether the library refused a call: wrong arguments, or no memory. Nothing was changed then."""
    return isinstance(error, Error) and error.status in (1, 5)
