"""The ways to run a plan that are tried: every strategy by every transport, with each op, tile and kind of wait that it
has (core/*_traits.hpp, core/config/transport.hpp), and PyTorch's own product and collective as `plain`."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Optional

from overlaptune import Op, Problem
from tiles import Order, arrival_groups, wave_groups

#: A plan has several waves of tiles on 132 SMs, and takes less than a millisecond.
M, N, K = 4096, 8192, 1024
CTAS = 16
CHUNKS = 4

ALL_OPS = ("gemm_reduce_scatter", "all_gather_gemm", "gemm_all_reduce", "gemm_all_to_all")
GEMM_FIRST = ("gemm_reduce_scatter", "gemm_all_reduce", "gemm_all_to_all")
#: Ops whose collective a transport carries; all, where none are named.
CARRIED = {
    "symmetric": ("gemm_reduce_scatter", "all_gather_gemm", "gemm_all_reduce"),
    "copy_engine": ("all_gather_gemm", "gemm_all_to_all"),
}
#: Strategies with their ops and transports.
STRATEGIES = (
    ("sequential", ALL_OPS, ("ring", "symmetric", "copy_engine", "peer_access")),
    ("chunked", ALL_OPS, ("ring", "symmetric")),
    ("signaled", GEMM_FIRST, ("ring", "symmetric", "copy_engine", "peer_access")),
    ("waiting", ("all_gather_gemm",), ("copy_engine", "peer_access")),
    ("peer_store", GEMM_FIRST, ("peer_access",)),
)
GENERATED = ("signaled", "waiting", "peer_store")


@dataclass(frozen=True)
class Tile:
    rows: int
    columns: int
    cluster: int
    stages: int = 4


#: Two consumers of 64 rows, two in clusters that share loads, and three.
TILES = (Tile(128, 256, 1), Tile(128, 256, 2), Tile(192, 192, 1))


@dataclass(frozen=True)
class Way:
    strategy: str
    transport: str
    op: str
    tile: Optional[Tile] = None  #: None: cuBLASLt chooses
    wait: str = "driver"

    @property
    def row(self) -> str:
        """Its row of the table."""
        return f"{self.strategy}/{self.transport}"

    @property
    def is_plain(self) -> bool:
        return self.strategy == "plain"

    @property
    def waits_by_nccl(self) -> bool:
        """Whether only kernels of NCCL wait for the other ranks."""
        return self.transport in ("ring", "symmetric", "nccl")

    def __str__(self) -> str:
        text = f"{self.row} {self.op}"
        if self.tile is not None:
            text += f" {self.tile.rows}x{self.tile.columns} cluster={self.tile.cluster}"
        return text + (" wait=kernel" if self.wait == "kernel" else "")


def plain(op: str) -> Way:
    return Way("plain", "nccl", op)


def way_of(values: dict[str, Any]) -> Way:
    """A way from the JSON of `dataclasses.asdict`."""
    tile = values.get("tile")
    return dataclasses.replace(Way(**values), tile=None if tile is None else Tile(**tile))


def variants(strategy: str, transport: str) -> list[Way]:
    """All ways of one row. Neighbours in the list differ in everything that they can differ in."""
    ops = next(ops for name, ops, _ in STRATEGIES if name == strategy)
    ops = tuple(op for op in ops if op in CARRIED.get(transport, ALL_OPS) or strategy == "waiting")
    tiles: tuple[Optional[Tile], ...] = TILES if strategy in GENERATED else (None,)
    kernel_waits = strategy == "signaled" and transport != "copy_engine"
    waits = ("driver", "kernel") if kernel_waits else ("driver",)
    found = []
    pairs = len(ops) * len(tiles)
    for turn in range(pairs * len(waits)):
        pair, round_of_pairs = turn % pairs, turn // pairs
        tile = tiles[(pair % len(ops) + pair // len(ops)) % len(tiles)]
        wait = waits[(pair + round_of_pairs) % len(waits)]
        found.append(Way(strategy, transport, ops[pair % len(ops)], tile, wait))
    return found


def rows() -> list[tuple[str, str]]:
    return [(name, transport) for name, _, transports in STRATEGIES for transport in transports]


def problem_of(way: Way, ranks: int) -> Problem:
    return Problem(op=Op[way.op.upper()], m=M, n=N, k=K, ranks=ranks)


def config_of(way: Way, ranks: int) -> str:
    """The line of a way's config."""
    line = way.strategy
    # Copy engines move whole swizzle groups, of which lower ones give more.
    swizzle = 4 if way.transport == "copy_engine" or way.strategy == "waiting" else 8
    if way.tile is not None:
        tile = way.tile
        line += f" tile={tile.rows}x{tile.columns}x64 stages={tile.stages} cluster={tile.cluster} swizzle={swizzle}"
    if way.strategy != "peer_store":  # it has no choice of transport, and no CTAs beside it
        line += f" ctas={comm_ctas(way)} transport={way.transport}"
    if way.strategy == "chunked":
        line += f" chunks={CHUNKS}"
    if way.wait != "driver":
        line += f" wait={way.wait}"
    if way.tile is None:
        return line
    blocks = 1 if way.op == "gemm_all_reduce" else ranks
    order = Order(M // blocks, N, blocks, way.tile.rows, way.tile.columns, swizzle)
    if way.strategy == "waiting":
        groups = arrival_groups(dataclasses.replace(order, blocks=1), ranks)
    else:
        groups = wave_groups(order, way.transport == "copy_engine")
    return line + " groups=" + ",".join(map(str, groups))


def comm_ctas(way: Way) -> int:
    if way.strategy == "sequential":
        return CTAS if way.transport == "peer_access" else 0
    if (way.strategy, way.transport) == ("waiting", "copy_engine"):
        return 0
    return CTAS
