"""Times of the same configs in several builds, in turn, in one process on each GPU: what a change of the kernels costs or
gains. Started by scripts/compare-builds under torchrun."""

from __future__ import annotations

import argparse
import dataclasses
import gzip
import importlib
import inspect
import json
import math
import os
import re
import statistics
import sys
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from timing import Stopwatch

#: Two builds cannot share one Python package: it opens one library.
PACKAGE = "overlaptune"
DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


@dataclass
class Build:
    """One build's Python package and a world on all ranks."""

    name: str
    package: Any
    world: Any


def imported(python: str, run_library: str, library: str) -> Any:
    """The package in a folder, with its two libraries."""
    operators = sys.modules.get(f"{PACKAGE}.torch.operators")
    if operators is not None:  # PyTorch has one operator of a name
        operators.library._destroy()
    for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
        del sys.modules[name]
    os.environ["OVERLAPTUNE_RUN_LIBRARY"] = run_library
    os.environ["OVERLAPTUNE_LIBRARY"] = library
    sys.path.insert(0, python)
    package = importlib.import_module(PACKAGE)
    importlib.import_module(f"{PACKAGE}.run").load()
    importlib.import_module(f"{PACKAGE}.torch")
    sys.path.pop(0)
    return package


def build(name: str, package: Any, **options: Any) -> Build:
    world = package.torch.World
    known = inspect.signature(world).parameters
    options["families"] = False  # winners are run. Each package counts the worlds' messages for itself, so they are alike
    return Build(name, package, world(**{key: value for key, value in options.items() if key in known}))


def answer_of(package: Any, line: str) -> Any:
    """The config of a canonical line, as the package takes it: a build of before takes its fields."""
    if not hasattr(package, "Wait"):
        return line
    strategy, *words = line.split()
    fields = dict(word.split("=", 1) for word in words)
    values: dict[str, Any] = {"strategy": package.Strategy[strategy.upper()]}
    if "tile" in fields:
        sides = re.fullmatch(r"(\d+)x(\d+)x(\d+)", fields["tile"])
        assert sides is not None, line
        values.update(zip(("block_m", "block_n", "block_k"), map(int, sides.groups())))
    for name, field in (("stages", "stages"), ("cluster", "cluster"), ("swizzle", "swizzle"), ("ctas", "comm_ctas"),
                        ("chunks", "chunks")):
        if name in fields:
            values[field] = int(fields[name])
    if "groups" in fields:
        values["wave_groups"] = tuple(map(int, fields["groups"].split(",")))
    transport = fields.get("transport", "ring")
    values["transport"] = package.Transport[transport.split("+")[0].upper()]
    if "wait" in fields:
        values["wait"] = package.Wait[fields["wait"].upper()]
    return dataclasses.replace(package.run.SEQUENTIAL, **values)


class Replay:
    """A captured plan with its operands, which the graph does not hold."""

    def __init__(self, plan: Any, operands: tuple[torch.Tensor, ...], into: int) -> None:
        self._plan, self._operands, self._into = plan, operands, into
        self._run()
        torch.cuda.synchronize()
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph, capture_error_mode="thread_local"):
            self._run()

    def _run(self) -> None:
        x, weight = self._operands[:2]
        self._plan.run(x.data_ptr(), weight.data_ptr(), self._into, torch.cuda.current_stream().cuda_stream)

    def __call__(self) -> None:
        self._graph.replay()

    def close(self) -> None:
        self._graph.reset()
        self._plan.close()


def replay_of(of: Build, problem: dict[str, Any], config: str) -> Replay:
    package = of.package
    asked = package.Problem(package.Op[problem["op"].upper()], problem["m"], problem["n"], problem["k"],
                            ranks=problem["ranks"], dtype=package.Dtype[problem["dtype"].upper()])
    answer = answer_of(package, config)
    of.world.reserve(package.run.sizes(asked, answer).shared_bytes)
    plan = of.world.plan_with(asked, answer)
    gathers = problem["op"] == "all_gather_gemm"
    scatters = problem["op"] == "gemm_reduce_scatter"
    device, dtype, ranks = of.world.device, DTYPES[problem["dtype"]], problem["ranks"]
    x = torch.randn(problem["m"] // (ranks if gathers else 1), problem["k"], device=device).to(dtype)
    w = torch.randn(problem["n"], problem["k"], device=device).to(dtype)
    y = torch.empty(problem["m"] // (ranks if scatters else 1), problem["n"], device=device, dtype=dtype)
    lent = plan.buffers()[1]
    return Replay(plan, (x, w, y), y.data_ptr() if lent is None else lent)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--before", required=True, action="append", help="PYTHON:RUN_LIBRARY:LIBRARY of another build")
    parser.add_argument("--after", required=True)
    parser.add_argument("--export", required=True, help="an exported database (.json.gz): its winners are run")
    parser.add_argument("--strategies", default="peer_store,waiting,signaled")
    parser.add_argument("--every", type=int, default=1, help="take every so many winners")
    parser.add_argument("--first", type=int, default=0, help="leave out so many winners")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--json", default="")
    arguments = parser.parse_args()
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    with gzip.open(arguments.export) as file:
        winners = [row["candidate"] for row in json.load(file)["winners"]]
    wanted = arguments.strategies.split(",")
    ranks = dist.get_world_size()
    chosen = [row for row in winners if row["config"].split()[0] in wanted and row["problem"]["ranks"] == ranks]
    # A build that knows no exclusive worlds has no gates either.
    builds = [build(f"before {number}", imported(*paths.split(":")), exclusive=True)
              for number, paths in enumerate(arguments.before)]
    after = imported(*arguments.after.split(":"))
    builds.append(build("exclusive", after, exclusive=True))
    builds.append(build("gate", after))
    for one in builds:
        one.world.reserve(6 << 30)
    watch = Stopwatch()
    rows: list[dict[str, Any]] = []
    for row in chosen[arguments.first :: arguments.every]:
        try:
            calls = [replay_of(one, row["problem"], row["config"]) for one in builds]
        except Exception as error:  # the same on every rank
            if rank == 0:
                print(f"skipped: {row['problem']} {row['config'][:60]}: {str(error)[:150]}", flush=True)
            continue
        timed = watch.timed(list(calls), arguments.rounds)
        times = [statistics.median(one.times_us) for one in timed]
        for call in calls:
            call.close()
        rows.append({"problem": row["problem"], "config": row["config"], "us": times,
                     "all_us": [one.times_us for one in timed]})
        if rank == 0:
            problem = row["problem"]
            shape = f"{problem['op']:20s} {problem['m']:6d} {problem['n']:6d} {problem['k']:6d}"
            words = "".join(f"  {one.name} {us / times[0]:6.3f}" for one, us in zip(builds[1:-1], times[1:-1]))
            print(f"{shape} {row['config'].split()[0]:10s} before 0 {times[0]:8.1f} us{words}  "
                  f"gate {times[-1] - times[-2]:+6.1f} us", flush=True)
    if rank == 0 and rows:
        for place, one in enumerate(builds[1:-1], 1):
            ratios = [row["us"][place] / row["us"][0] for row in rows]
            mean = math.exp(statistics.fmean(map(math.log, ratios)))
            print(f"{len(rows)} shapes: {one.name} / before 0: geometric mean {mean:.4f}, most {max(ratios):.3f}")
        gates = [row["us"][-1] - row["us"][-2] for row in rows]
        print(f"gate: median {statistics.median(gates):+.2f} us, most {max(gates):+.2f} us")
        if arguments.json:
            with open(arguments.json, "w") as out:
                json.dump(rows, out)
    os._exit(0)


if __name__ == "__main__":
    main()
