"""How long the operations of a layer keep a GPU busy, from the kernels of replays that followed one another without a
pause. All figures are microseconds of one layer: means over the layers of a pass and over the replays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Optional

from kernel_order import GEMM, KINDS, OPERATIONS, WAIT, Kernel, Unclear, kinds_of, operations_of
from layer_shape import PRODUCTS

NAME_LENGTH = 160  #: of kernels that are listed; the arguments of templates may be longer


def union_ns(kernels: Iterable[Kernel]) -> int:
    """The time in which at least one of the kernels runs."""
    total, until = 0, 0
    for start, end in sorted((kernel.start_ns, kernel.end_ns) for kernel in kernels):
        total += max(0, end - max(start, until))
        until = max(until, end)
    return total


def replays_of(kernels: Sequence[Kernel], a_replay: int, replays: int) -> list[list[Kernel]]:
    """The last replays, each with as many kernels as a replay has, in the order in which they began."""
    if len(kernels) < a_replay * replays or a_replay == 0:
        raise Unclear(f"{len(kernels)} kernels were recorded; {replays} replays have {a_replay} each")
    last = sorted(kernels, key=lambda kernel: kernel.start_ns)[-a_replay * replays:]
    parts = [last[first:first + a_replay] for first in range(0, len(last), a_replay)]
    if any(Counter(kernel.name for kernel in part) != Counter(kernel.name for kernel in parts[0]) for part in parts):
        raise Unclear("the replays have different kernels")
    return parts


def rows_of_replay(part: Sequence[Kernel], kinds: Sequence[str], operations: Optional[Sequence[str]],
                   next_start_ns: int) -> dict[str, int]:
    """Nanoseconds of one replay by row of the table, until the next one begins. Kernels that only wait count where
    nothing else runs."""
    def busy(kind: Optional[str] = None, operation: Optional[str] = None) -> int:
        return union_ns(kernel for place, kernel in enumerate(part)
                        if kinds[place] != WAIT and kind in (None, kinds[place])
                        and (operations is None or operation in (None, operations[place])))

    rows: dict[str, int] = {}
    if operations is not None:
        for name in OPERATIONS:
            rows[name] = busy(operation=name)
            if name in PRODUCTS:
                rows[f"{name}: GEMM"] = busy(GEMM, name)
                rows[f"{name}: exposed"] = rows[name] - rows[f"{name}: GEMM"]
    for kind in KINDS:
        if kind != WAIT:
            rows[f"all {kind}"] = busy(kind)
    covered = union_ns(part)
    rows["waits alone"] = covered - busy()
    rows["gap"] = next_start_ns - part[0].start_ns - covered
    rows["between replays"] = max(0, next_start_ns - max(kernel.end_ns for kernel in part))
    rows["total"] = next_start_ns - part[0].start_ns
    return rows


def listed(part: Sequence[Kernel], kinds: Sequence[str], operations: Optional[Sequence[str]]) -> list[dict[str, Any]]:
    """The kernels of a replay. Layers may differ: the first one has no layer before it in its graph."""
    return [{"name": kernel.name[:NAME_LENGTH], "kind": kinds[place],
             "operation": operations[place] if operations is not None else None, "stream": kernel.stream,
             "start_us": (kernel.start_ns - part[0].start_ns) / 1e3, "us": (kernel.end_ns - kernel.start_ns) / 1e3}
            for place, kernel in enumerate(part)]


def busy_times(kernels: Sequence[Kernel], a_replay: int, replays: int, layers: int) -> dict[str, Any]:
    """`kernels`: those of `replays` + 1 replays or more; the last one only says when the one before it ended. `busy_us` has
    no rows of operations where these cannot be told apart (`unclear` says why), and is empty where replays cannot."""
    try:
        parts = replays_of(kernels, a_replay, replays + 1)
    except Unclear as error:
        return {"busy_us": {}, "unclear": str(error), "kernels": []}
    why = ""
    sums: Counter[str] = Counter()
    kinds = [kinds_of(part) for part in parts[:replays]]
    operations: list[Optional[list[str]]] = [None] * replays
    try:
        operations = [operations_of(each, layers) for each in kinds]
    except Unclear as error:
        why = str(error)
    for number in range(replays):
        sums.update(rows_of_replay(parts[number], kinds[number], operations[number], parts[number + 1][0].start_ns))
    return {"busy_us": {name: ns / (1e3 * replays * layers) for name, ns in sums.items()}, "unclear": why,
            "kernels": listed(parts[0], kinds[0], operations[0])}
