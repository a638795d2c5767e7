"""One rank of scripts/compare-torch, under torchrun: main.py ROUNDS DATABASE JSON PROBLEM... (a name that is empty is
not given). Prints the table on rank 0; exits with 1 where a result is wrong."""

from __future__ import annotations

import json
import math
import os
import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from operands import Operands, operands_of
from problems import parsed, text_of
from table import table, wrong_ways
from timing import Stopwatch
from ways import Plans, Ways, add_plans, add_torchs, enable_symmetric_memory, shared_bytes

from overlaptune import Problem
from overlaptune.torch import World

#: A result may have this many times the error of PyTorch's plain product and collective, and ROUNDING more.
ALLOWANCE = 1.5
ROUNDING = 1 / 512


def checked(ways: Ways, operands: Operands) -> list[dict[str, Any]]:
    """Runs each way once more, and compares its result with the reference. The results of earlier runs are
    overwritten before."""
    checks: list[dict[str, Any]] = []
    for way in ways.found:
        if way.result is not None:
            way.result().fill_(math.nan)
        way.call()
        error = None if way.result is None else operands.relative_error(way.result())
        checks.append({"kind": way.kind, "way": way.name, "relative_error": error})
    plain = [check["relative_error"] for check in checks if check["kind"] == "plain"]
    allowed = ALLOWANCE * (plain[0] if plain else 0.0) + ROUNDING
    for check in checks:
        error = check["relative_error"]
        check["right"] = None if error is None else error <= allowed
        if error is not None and not math.isfinite(error):
            check["relative_error"] = None
    return checks


def measured(problem: Problem, world: World, stopwatch: Stopwatch, rounds: int, has_database: bool) -> dict[str, Any]:
    operands = operands_of(problem)
    ways = Ways([], [])
    plans = Plans(world, ways)
    add_plans(plans, world, operands, has_database)
    plans.capture()
    add_torchs(ways, operands)
    timed = stopwatch.timed([way.call for way in ways.found], rounds)
    checks = checked(ways, operands)
    answer = world.answer(problem)
    result = {"problem": text_of(problem),
              "answer": {"source": str(answer.source), "strategy": str(answer.strategy), "reason": answer.reason},
              "ways": [{**check, "times_us": each.times_us, "late": each.late} for check, each in zip(checks, timed)],
              "skipped": ways.skipped}
    torch.cuda.synchronize()
    plans.close()
    return result


def main() -> None:
    rounds, database, file, *problems = sys.argv[1:]
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    enable_symmetric_memory()
    torch.manual_seed(dist.get_rank())
    world = World(database=database or None, families=False)  # answers are compared, not recipes
    world.reserve(max(shared_bytes(parsed(text), world) for text in problems))
    stopwatch = Stopwatch()
    raw: dict[str, Any] = {
        "gpu": torch.cuda.get_device_name(), "ranks": world.size, "torch": torch.__version__,
        "nccl": ".".join(map(str, torch.cuda.nccl.version())), "rounds": int(rounds), "database": database,
        "problems": []}
    for text in problems:
        raw["problems"].append(measured(parsed(text), world, stopwatch, int(rounds), bool(database)))
        if world.rank == 0:
            print(f"measured: {text}", file=sys.stderr, flush=True)
            if file:  # after each problem, so that a run that is cut off leaves what it has
                Path(file).write_text(json.dumps(raw, indent=1) + "\n")
    if world.rank == 0:
        print(table(raw), flush=True)
    wrong = bool(wrong_ways(raw))
    dist.barrier()
    torch.cuda.synchronize()
    os._exit(1 if wrong else 0)  # plans and communicators end with the process


if __name__ == "__main__":
    main()
