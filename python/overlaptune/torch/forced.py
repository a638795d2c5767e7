"""A config by hand for a strategy that was forced and that no answer has, for tests of each
strategy on any problem. Nothing here was tuned: one tile, and few wave groups."""

from __future__ import annotations

import dataclasses
from typing import Optional

from .. import run
from ..errors import ArgumentError
from ..values import Answer, Op, Problem, Strategy, Transport
from .strategies import TRANSPORTS, Way

BLOCK_M, BLOCK_N, BLOCK_K = 128, 256, 64
STAGES, CLUSTER, RASTER = 4, 1, 8
CTAS = 16
CHUNKS = 4
#: Most wave groups of a config by hand; run.h allows 192.
GROUPS = 8


def _rows(problem: Problem) -> int:
    """Rows of one row block (core/tiling.hpp)."""
    return problem.m if problem.op == Op.GEMM_ALL_REDUCE else problem.m // problem.ranks


def _swizzles(problem: Problem, blocks: int) -> list[int]:
    """Tiles of each swizzle group: the next RASTER panels of every row block, in all columns."""
    panels = -(-_rows(problem) // BLOCK_M)
    columns = -(-problem.n // BLOCK_N)
    return [
        blocks * columns * min(RASTER, panels - first) for first in range(0, panels, RASTER)
    ]


def _merged(tiles: list[int], most: int) -> list[int]:
    """At most this many groups, of neighbours."""
    count = min(most, len(tiles))
    ends = [len(tiles) * part // count for part in range(count + 1)]
    return [sum(tiles[begin:end]) for begin, end in zip(ends, ends[1:])]


def _sent_groups(problem: Problem, transport: Transport) -> tuple[int, ...]:
    """Wave groups in the order of `TileOrder`. A single swizzle group is cut behind half of its
    columns, but not for copy engines, which move whole rows."""
    blocks = 1 if problem.op == Op.GEMM_ALL_REDUCE else problem.ranks
    groups = _merged(_swizzles(problem, blocks), GROUPS)
    columns = -(-problem.n // BLOCK_N)
    if len(groups) == 1 and columns > 1 and transport != Transport.COPY_ENGINE:
        first = groups[0] // columns * (columns // 2)
        groups = [first, groups[0] - first]
    return tuple(groups)


def _arriving_groups(problem: Problem) -> tuple[int, ...]:
    """Wave groups in the order of `ArrivalOrder`: the rank's own row block, then each other one in
    two groups, or in one where there are many ranks."""
    own = _swizzles(problem, 1)
    most = 2 if problem.ranks <= 64 else 1
    return (sum(own), *(_merged(own, most) * (problem.ranks - 1)))


def _config(problem: Problem, strategy: Strategy, transport: Transport) -> Answer:
    by_ctas = CTAS if transport == Transport.PEER_ACCESS else 0
    config = dataclasses.replace(run.SEQUENTIAL, strategy=strategy, transport=transport)
    if strategy == Strategy.SEQUENTIAL:
        return dataclasses.replace(config, comm_ctas=by_ctas)
    if strategy == Strategy.CHUNKED:
        return dataclasses.replace(
            config, comm_ctas=CTAS, chunks=max(1, min(CHUNKS, _rows(problem)))
        )
    config = dataclasses.replace(
        config,
        block_m=BLOCK_M,
        block_n=BLOCK_N,
        block_k=BLOCK_K,
        stages=STAGES,
        cluster=CLUSTER,
        raster=RASTER,
    )
    if strategy == Strategy.WAITING:
        return dataclasses.replace(
            config, comm_ctas=by_ctas, wave_groups=_arriving_groups(problem)
        )
    groups = _sent_groups(problem, transport)
    if strategy == Strategy.PEER_STORE:  # its answers do not name its only transport
        return dataclasses.replace(
            config, transport=run.SEQUENTIAL.transport, wave_groups=groups
        )
    return dataclasses.replace(config, comm_ctas=CTAS, wave_groups=groups)


def forced(problem: Problem, way: Way) -> Optional[Answer]:
    """A config of this strategy, or None where the strategy cannot run the problem."""
    transport = TRANSPORTS[way.strategy][0] if way.transport is None else way.transport
    config = _config(problem, way.strategy, transport)
    try:
        run.sizes(problem, config)
    except ArgumentError:
        return None
    return dataclasses.replace(config, reason=f"{way} is forced; this config was not tuned")
