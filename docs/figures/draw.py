#!/usr/bin/env python3
"""Draws the figures of docs/: `docs/figures/draw.py PROGRAM`, with the built program, whose simulator gives the
times of the strategies. With --check it writes nothing, and fails where a file is not as it would be drawn."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from svg import Figure

HERE = Path(__file__).parent
MACHINE = "sim:h200-nvlink-x8"
#: A problem with a config of each strategy that has its op; all-gather + GEMM is the same product the other way round.
RUNS = (
    ("gemm_reduce_scatter:8192,8192,3584:bf16:8", (
        "sequential transport=ring",
        "chunked ctas=16 transport=symmetric chunks=4",
        "signaled tile=128x256x64 stages=4 cluster=2 swizzle=1 ctas=16 transport=peer_access wait=kernel "
        "groups=1040,464,232,120,112,80",
        "peer_store tile=128x192x64 stages=4 cluster=2 swizzle=8 "
        "groups=128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,192,128,512",
    )),
    ("all_gather_gemm:8192,3584,8192:bf16:8", (
        "sequential transport=ring",
        "waiting tile=128x256x64 stages=4 cluster=2 swizzle=4 transport=copy_engine groups=112,112,112,112,112,112,112,112",
    )),
)


def rooms() -> Figure:
    figure = Figure("The rooms, and who may use whom", 372)
    rows = (
        (52, (("cli", "one file a subcommand"),)),
        (124, (("tuner", "propose, judge, keep"), ("query", "answers, C library"), ("reports", "tables, HTML"),
               ("planning", "groups, steps, advice"))),
        (196, (("probes", "what to measure"), ("workload", "models of layers"), ("model", "pure functions"),
               ("machine", "simulated, CUDA"), ("db", "SQLite"))),
        (268, (("run", "plans on streams"), ("kernels", "device code"), ("strategies", "a folder each, a side a room"),
               ("json", "documents of others"))),
        (330, (("core", "values and their rules"),)),
    )
    for y, boxes in rows:
        width = min(260.0, 852 / len(boxes) - 16)
        for number, (name, what) in enumerate(boxes):
            figure.box(24 + 852 * (number + 0.5) / len(boxes) - width / 2, y, width, 36, name, what)
    for (y, _), (below, _) in zip(rows, rows[1:]):
        figure.arrow((450, y + 36), (450, below))
    figure.text(464, 112, "a row uses rows below it, and a few of its own row", "note")
    return figure


def traced(program: str, problem: str, config: str) -> list[dict[str, object]]:
    """The activities of the config's own run, in microseconds."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        subprocess.run([program, "run", "--machine", MACHINE, "--problem", problem, "--config", config, "--trace", str(trace)],
                       check=True, capture_output=True)
        events = json.loads(trace.read_text())["traceEvents"]
    first = min(event["pid"] for event in events)
    return [event for event in events if event["ph"] == "X" and event["pid"] == first]


def strategies(program: str) -> Figure:
    runs = [(problem, config, traced(program, problem, config)) for problem, configs in RUNS for config in configs]
    extent = max(float(event["ts"]) + float(event["dur"]) for _, _, events in runs for event in events)
    figure = Figure(f"The strategies on one axis ({MACHINE}: simulated)", 92 + 52 * len(runs) + 24 * len(RUNS))
    scale = 700 / extent
    y, shown = 44, ""
    for problem, config, events in runs:
        if problem != shown:
            shown = problem
            figure.text(24, y + 14, problem, "note")
            y += 24
        figure.text(24, y + 24, config.split()[0], "strong")
        end = 0.0
        for event in events:
            start, length = float(event["ts"]), float(event["dur"])
            lane = 0 if event["cat"] == "gemm" else 1
            figure.rect(150 + scale * start, y + 19 * lane, max(1.0, scale * length), 17, "send" if lane else "gemm")
            end = max(end, start + length)
        figure.text(154 + scale * end, y + 24, f"{end:.0f} µs", "note")
        y += 52
    figure.line(150, y, 850, y)
    figure.text(150, y + 16, "0", "note")
    figure.text(850, y + 16, f"{extent:.0f} µs", "note", "end")
    figure.rect(330, y + 8, 12, 10, "gemm")
    figure.text(346, y + 17, "GEMM", "note")
    figure.rect(410, y + 8, 12, 10, "send")
    figure.text(426, y + 17, "exchange between the GPUs", "note")
    return figure


#: The parts of each time that the model adds up, in units of no meaning: lane (0: GEMM, 1: exchange), begin, length,
#: kind, name. The names are the symbols of docs/model.md.
PARTS = (
    ("sequential", "T = t₀ + G + g + C", (
        (0, 12, 300, "gemm", "G"), (1, 324, 250, "send", "C"))),
    ("chunked", "a piece starts g after its GEMM and after the piece before", (
        (0, 12, 84, "gemm", "p₁"), (0, 104, 84, "gemm", "p₂"), (0, 196, 84, "gemm", "p₃"), (0, 288, 84, "gemm", "p₄"),
        (1, 104, 66, "send", "u₁"), (1, 196, 66, "send", "u₂"), (1, 288, 66, "send", "u₃"), (1, 380, 60, "send", "u₄"))),
    ("signaled", "one GEMM; τ after a group's last tile its piece starts, at the earliest g after the piece before", (
        (0, 12, 150, "gemm", "p₁"), (0, 162, 90, "gemm", "p₂"), (0, 252, 60, "gemm", "p₃"), (0, 312, 30, "gemm", ""),
        (1, 172, 104, "send", "u₁"), (1, 286, 62, "send", "u₂"), (1, 358, 40, "send", "u₃"), (1, 408, 22, "send", ""))),
    ("waiting", "rows arrive piece by piece; the GEMM ends with the latest of its chains", (
        (1, 24, 90, "send", "a₁"), (1, 120, 90, "send", "a₂"), (1, 216, 90, "send", "a₃"), (1, 312, 40, "send", "a₄"),
        (0, 12, 85, "gemm", "own rows"), (0, 97, 17, "wait", ""), (0, 114, 85, "gemm", ""), (0, 199, 11, "wait", ""),
        (0, 210, 85, "gemm", ""), (0, 295, 11, "wait", ""), (0, 306, 46, "gemm", ""), (0, 352, 40, "gemm", "R"))),
    ("peer_store", "SMs run ahead of the links by 1.4 waves; own tiles wait for the peers' and for s + r", (
        (0, 12, 70, "gemm", "peers'"), (0, 82, 34, "own", "own"), (0, 116, 70, "gemm", "peers'"), (0, 186, 34, "own", "own"),
        (0, 220, 70, "gemm", "peers'"), (0, 290, 24, "wait", ""), (0, 314, 40, "own", "own"),
        (1, 30, 78, "send", "links"), (1, 120, 78, "send", "links"), (1, 222, 78, "send", "links"))),
)


def model() -> Figure:
    figure = Figure("The times that the model adds up (lengths are chosen to show the parts)", 76 + 76 * len(PARTS))
    y, scale = 44, 730 / 580
    for name, rule, bars in PARTS:
        figure.text(24, y + 36, name, "strong")
        figure.text(120, y + 14, rule, "note")
        for lane, begin, length, kind, words in bars:
            x, width = 120 + scale * begin, scale * length
            figure.rect(x, y + 20 + 19 * lane, width, 17, kind)
            if words:
                figure.text(x + width / 2, y + 33 + 19 * lane, words, "bar", "middle")
        y += 76
    figure.line(120, y, 850, y)
    figure.text(120, y + 16, "0, then t₀", "note")
    for x, kind, words in ((330, "gemm", "GEMM"), (410, "own", "own tiles"), (500, "send", "exchange"), (590, "wait", "SMs wait")):
        figure.rect(x, y + 8, 12, 10, kind)
        figure.text(x + 16, y + 17, words, "note")
    return figure


def warps() -> Figure:
    figure = Figure("A CTA of the GEMM on Hopper: warps, and what lies between them", 380)
    figure.box(24, 60, 170, 50, "scheduling warp", "takes positions of the queue")
    figure.box(24, 170, 170, 50, "loading warp", "TMA loads of A and B")
    figure.box(700, 170, 176, 50, "consumers", "1 to 3 warpgroups: wgmma")
    figure.box(700, 290, 176, 50, "storing warps", "one for each consumer: TMA")
    figure.box(330, 60, 230, 50, "ring of items", "4; barriers full and empty each")
    figure.box(330, 170, 230, 50, "ring of stages", "A and B; barriers full and empty each")
    figure.box(330, 290, 230, 50, "staging buffers", "C; barriers filled and free each")
    figure.box(24, 290, 170, 50, "memory", "here, or of the tile's owner")
    figure.arrow((194, 85), (330, 85), note="the next item")
    figure.arrow((445, 110), (445, 140), (109, 140), (109, 170), note="")
    figure.arrow((560, 85), (788, 85), (788, 170), note="which tile")
    figure.arrow((194, 195), (330, 195), note="fills")
    figure.arrow((560, 195), (700, 195), note="multiply")
    figure.arrow((788, 220), (788, 255), (445, 255), (445, 290))
    figure.text(620, 250, "write their results", "note", "middle")
    figure.arrow((560, 315), (700, 315), note="filled")
    figure.arrow((788, 340), (788, 360), (109, 360), (109, 340))
    figure.text(450, 356, "store, then signal the counter of the wave group", "note", "middle")
    figure.text(24, 50, "queue in global memory, shared by all CTAs", "note")
    return figure


def stored_order(rank: int, ranks: int, groups: int) -> list[tuple[int, int]]:
    """Group and owner of each share, in the rank's order: the next ranks' first, its own behind the peers' of the next
    group (strategies/peer_store/store_order.hpp, sums)."""
    order = []
    for group in range(groups):
        order += [(group, (rank + step) % ranks) for step in range(1, ranks)]
        if group > 0:
            order.append((group - 1, rank))
    return [*order, (groups - 1, rank)]


def tile_order() -> Figure:
    ranks, groups = 2, 4
    figure = Figure("peer_store: the order of tiles on two ranks, sums", 250)
    width = 90
    ends = []
    for rank in range(ranks):
        y = 70 + 100 * rank
        figure.text(24, y + 24, f"rank {rank}", "strong")
        for number, (group, owner) in enumerate(stored_order(rank, ranks, groups)):
            x = 90 + (width + 8) * number
            own = owner == rank
            figure.rect(x, y, width, 38, "own" if own else "send")
            figure.text(x + width / 2, y + 16, f"group {group}", "bar", "middle")
            figure.text(x + width / 2, y + 31, "own: adds up" if own else f"to rank {owner}", "bar", "middle")
            ends.append((rank, group, owner, x))
    for rank, group, owner, x in ends:
        if owner == rank:
            continue
        to = next(each for each in ends if each[0] == owner and each[1] == group and each[2] == owner)
        down = rank < owner
        figure.arrow((x + width, 70 + 100 * rank + (38 if down else 0)), (to[3] + 12, 70 + 100 * owner + (0 if down else 38)))
    figure.text(90, 236, "An arrow is a wait: an own tile needs the peer's, which come a group earlier in the peer's order.", "note")
    return figure


def waits() -> Figure:
    figure = Figure("Who waits for whom over NVLink, in a run of a plan", 330)
    for rank, x in ((0, 40), (1, 500)):
        figure.text(x, 58, f"rank {rank}", "strong")
        figure.box(x, 70, 360, 40, "gate", "counters to zero, then tells the peers")
        figure.box(x, 150, 360, 40, "kernel: stores or sends", "tiles, rows or parts into the peer's memory")
        figure.box(x, 230, 360, 40, "kernel: waits and uses", "until the counter or flag has what the item needs")
        figure.arrow((x + 180, 110), (x + 180, 150))
        figure.arrow((x + 180, 190), (x + 180, 230))
    figure.arrow((400, 84), (500, 84), note="ready")
    figure.arrow((500, 98), (400, 98))
    figure.arrow((400, 175), (500, 240), note="")
    figure.arrow((500, 175), (400, 240), note="")
    figure.text(450, 168, "data, then signal", "note", "middle")
    figure.text(40, 296, "A rank writes to a peer only behind the gate, and ends its run only when all that peers store here has arrived:", "note")
    figure.text(40, 312, "so it is never two runs ahead. Every wait has a limit, and ends where the world is said to be dead.", "note")
    return figure


def drawn(program: str) -> dict[str, str]:
    figures = {"rooms": rooms(), "strategies": strategies(program), "model": model(), "warps": warps(),
               "tile-order": tile_order(), "waits": waits()}
    return {f"{name}.svg": figure.done() for name, figure in figures.items()}


def main(arguments: list[str]) -> int:
    check = "--check" in arguments
    programs = [each for each in arguments if each != "--check"]
    if len(programs) != 1:
        print("usage: draw.py [--check] PROGRAM", file=sys.stderr)
        return 2
    stale = 0
    for name, text in drawn(programs[0]).items():
        file = HERE / name
        if not check:
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            print(f"FAILED: {name} is not as it is drawn: run docs/figures/draw.py")
            stale += 1
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
