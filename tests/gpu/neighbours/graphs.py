"""Neighbours that are more of the same: other plans in a graph, many graphs, many operands."""

from __future__ import annotations

import torch
from beside import Beside, prepared
from operands import Operands
from patience import PATIENCE_S, finish_stream
from ways import TILES, Way, plain

GRAPHS = 70
REPLAYS = 20
SETS = 100


def _partner(way: Way) -> Way:
    """Another way, for a plan of the same world."""
    if way.is_plain:
        return plain("gemm_all_reduce" if way.op == "gemm_reduce_scatter" else "gemm_reduce_scatter")
    strategy = "peer_store" if way.strategy == "signaled" else "signaled"
    return Way(strategy, "peer_access", "gemm_reduce_scatter", TILES[0])


def _poison_all(b: Beside, sets: list[Operands]) -> None:
    with torch.cuda.stream(b.session.main):
        for each in sets:
            each.poison()
    finish_stream(b.session.main, PATIENCE_S, "filling with NaN")


def _check_all(b: Beside, sets: list[Operands], what: str) -> None:
    finish_stream(b.session.main, PATIENCE_S, what)
    b.subject.check()
    for number, each in enumerate(sets):
        each.check(f"{what}: number {number}")


def two_plans_one_graph(b: Beside) -> None:
    """Two plans of one world in one graph, replayed many times."""
    s = b.session
    partner = prepared(s, _partner(b.way), "eager", b.turn, number=1)

    def both() -> None:
        b.subject.enqueue(b.operands)
        partner.subject.enqueue(partner.operands)

    graph = s.captured(both)
    sets = [b.operands, partner.operands]
    _poison_all(b, sets)
    s.meet()
    with torch.cuda.stream(s.main):
        for _ in range(REPLAYS):
            graph.replay()
    _check_all(b, sets, "the replays")


def graphs_70(b: Beside) -> None:
    """Many graphs that live at once, replayed in turn without a pause."""
    s = b.session
    two = [b.operands, s.operands(b.way, 1)]
    sets = [two[i % 2].elsewhere(s.spare_result(i, two[i % 2].c)) for i in range(GRAPHS)]

    def enqueue(operands: Operands) -> None:
        b.subject.enqueue(operands)

    graphs = [s.captured(lambda each=each: enqueue(each)) for each in sets]  # type: ignore[misc]
    _poison_all(b, sets)
    s.meet()
    with torch.cuda.stream(s.main):
        for _ in range(2):
            for graph in graphs:
                graph.replay()
    _check_all(b, sets, "the graphs")


def operand_sets_100(b: Beside) -> None:
    """Many operand sets in turn, without a pause."""
    s = b.session
    two = [b.operands, s.operands(b.way, 1)]
    sets = []
    with torch.cuda.stream(s.main):
        for number in range(SETS):
            own = two[number % 2]
            c = s.spare_result(number, own.c)
            sets.append(Operands(own.problem, own.a.clone(), own.b.clone(), c, own.reference))
    _poison_all(b, sets)
    s.meet()
    with torch.cuda.stream(s.main):
        for each in sets:
            b.subject.enqueue(each)
    _check_all(b, sets, "the operand sets")
