"""Trains blocks of tensor-parallel layers beside what else a training program does, on 4 GPUs: tensor parallelism over 2,
and over the other 2

    fsdp          FSDP2: gathers of weights and sums of gradients on streams of their own
    1f1b          PyTorch's pipeline schedule: receives that are posted before the other stage sends
    interleaved   the same with two stages on each GPU

    NCCL_NVLS_ENABLE=0 PYTHONPATH=python torchrun --standalone --nproc-per-node 4 \\
        tests/gpu/torch_programs/train.py 1f1b --steps 100 --db cluster.db [--strategies signaled,waiting]

The variables OVERLAPTUNE_LIBRARY and OVERLAPTUNE_RUN_LIBRARY name the libraries. It trains twice from the same weights:
with `sequential`, then with what the database answers or with the named strategies. Each step must end within LIMIT_S, and
each loss must be that of `sequential` to within TOLERANCE. Exit status: 0, or 1 with the step that was not so."""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, Optional

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleInterleaved1F1B

from overlaptune.torch import ColumnParallelLinear, RowParallelLinear, World

HIDDEN, FFN, BLOCKS = 8192, 14336, 8
TOKENS, MICROBATCHES = 4096, 8
LIMIT_S = 20.0
#: Sums of bf16 values in another order; a lost or doubled tile changes the loss by more.
TOLERANCE = 0.01
Step = Callable[[], Optional[torch.Tensor]]


class Block(torch.nn.Module):
    """An MLP with sequence parallelism: x[TOKENS / 2, HIDDEN] on each rank."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.norm = torch.nn.RMSNorm(HIDDEN, dtype=torch.bfloat16, device=world.device)
        self.up = ColumnParallelLinear(world, HIDDEN, FFN)
        self.down = RowParallelLinear(world, FFN, HIDDEN)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(torch.nn.functional.silu(self.up(self.norm(x))))


def square(y: torch.Tensor, target: Optional[torch.Tensor] = None) -> torch.Tensor:
    return (y.float() if target is None else y.float() - target.float()).pow(2).mean()


def blocks_of(world: World, count: int) -> torch.nn.Sequential:
    blocks = torch.nn.Sequential(*[Block(world) for _ in range(count)])
    blocks[0].up.prepare([TOKENS])
    blocks[0].down.prepare([TOKENS])
    return blocks


def fsdp_step(world: World, mesh: DeviceMesh) -> Step:
    model = blocks_of(world, BLOCKS)
    for block in model:
        fully_shard(block, mesh=mesh["other"])
    fully_shard(model, mesh=mesh["other"])
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)

    def step() -> torch.Tensor:
        x = torch.randn(TOKENS // 2, HIDDEN, device=world.device, dtype=torch.bfloat16)
        loss = square(model(x))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()

    return step


def pipeline_step(world: World, mesh: DeviceMesh, interleaved: bool) -> Step:
    group = mesh["other"].get_group()
    stage, stages_here = dist.get_rank(group), 2 if interleaved else 1
    example = torch.empty(TOKENS // 2, HIDDEN, device=world.device, dtype=torch.bfloat16)
    parts = [blocks_of(world, BLOCKS // (2 * stages_here)) for _ in range(stages_here)]
    stages = [
        PipelineStage(part, stage + 2 * i, 2 * stages_here, world.device, example, example, group=group)
        for i, part in enumerate(parts)
    ]
    schedule: Any = (
        ScheduleInterleaved1F1B(stages, MICROBATCHES, loss_fn=square)
        if interleaved
        else Schedule1F1B(stages[0], MICROBATCHES, loss_fn=square)
    )
    optimizer = torch.optim.SGD([value for part in parts for value in part.parameters()], lr=1e-4)

    def step() -> Optional[torch.Tensor]:
        x = torch.randn(MICROBATCHES * TOKENS // 2, HIDDEN, device=world.device, dtype=torch.bfloat16)
        losses: list[torch.Tensor] = []
        if stage == 0:
            schedule.step(x)
        else:
            schedule.step(target=x, losses=losses)
        optimizer.step()
        optimizer.zero_grad()
        return torch.stack(losses).mean().detach() if losses else None

    return step


def timed(step: Step) -> tuple[float, Optional[float]]:
    """Seconds and the loss of a step; ends the process where the step does not end."""
    begin = time.time()
    loss = step()
    end = torch.cuda.Event()
    end.record()
    while not end.query():
        if time.time() - begin > LIMIT_S:
            print(f"rank {dist.get_rank()}: a step has not ended in {LIMIT_S:.0f} s", flush=True)
            os._exit(1)
        time.sleep(0.0005)
    return time.time() - begin, None if loss is None else loss.item()


def trained(what: str, mesh: DeviceMesh, steps: int, **options: Any) -> tuple[list[float], list[Optional[float]]]:
    """Times in seconds and losses of steps with a world of these options."""
    torch.manual_seed(1 + dist.get_rank())
    world = World(group=mesh["tp"].get_group(), **options)
    step = fsdp_step(world, mesh) if what == "fsdp" else pipeline_step(world, mesh, what == "interleaved")
    if dist.get_rank() == 0:
        ways = [f"{problem.op.name.lower()} {world.answer(problem).strategy.name.lower()}" for problem in world._plans]
        print(f"{what}: {', '.join(ways)} {dict(world.fallbacks)}", flush=True)
    dist.barrier()
    seconds, losses = zip(*[timed(step) for _ in range(steps)])
    torch.cuda.synchronize()
    del step
    world.close()
    return list(seconds), list(losses)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("fsdp", "1f1b", "interleaved"))
    parser.add_argument("--db", help="a database of 2 such GPUs")
    parser.add_argument("--strategies", help="force these, with commas")
    parser.add_argument("--free-sms", type=int, default=0, help="SMs that plans leave to the other kernels")
    parser.add_argument("--steps", type=int, default=100)
    arguments = parser.parse_args()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    mesh = init_device_mesh("cuda", (2, 2), mesh_dim_names=("other", "tp"))
    reference = min(arguments.steps, 20)
    plain_s, plain = trained(arguments.what, mesh, reference, strategies=["sequential"])
    forced = arguments.strategies.split(",") if arguments.strategies else None
    ours_s, ours = trained(arguments.what, mesh, arguments.steps, database=arguments.db, strategies=forced,
                           free_sms=arguments.free_sms)
    rank = dist.get_rank()
    failed = False
    for step, (expected, loss) in enumerate(zip(plain, ours)):
        if expected is not None and not abs(loss - expected) <= TOLERANCE * expected:
            print(f"rank {rank}: step {step}: the loss is {loss:.6f}; with `sequential` it is {expected:.6f}", flush=True)
            failed = True
            break
    if rank == 3:
        print(f"{arguments.what}: {len(ours)} steps ended; median {statistics.median(ours_s) * 1e3:.1f} ms, "
              f"`sequential` {statistics.median(plain_s[2:] or plain_s) * 1e3:.1f} ms; last loss {ours[-1]:.6f}", flush=True)
    sys.stdout.flush()
    os._exit(1 if failed else 0)


if __name__ == "__main__":
    main()
