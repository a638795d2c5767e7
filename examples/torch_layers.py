"""The tensor-parallel products of a Llama-3-70B layer in PyTorch. With sequence parallelism qkv and gate_up gather their
input, o and down scatter their sum; without it o and down add up. Compares each with PyTorch's own product and
collective, and its gradients with theirs. With several numbers of tokens the world's memory grows on the way.

    torchrun --nproc-per-node 8 torch_layers.py --db cluster.db --tokens 1024,4096

It needs the overlaptune package (pip install ./python, or the wheel), and its two libraries: those of the wheel, of the
system, or those that OVERLAPTUNE_LIBRARY and OVERLAPTUNE_RUN_LIBRARY name. Without --db it runs `sequential`.
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

from overlaptune import Op
from overlaptune.torch import ColumnParallelLinear, RowParallelLinear, World
from overlaptune.torch.products import problem_of

HIDDEN, FFN, QKV = 8192, 28672, (64 + 2 * 8) * 128
ROUNDS, WARM_UP = 30, 5
Layer = Any


def all_gather(x: torch.Tensor, ranks: int) -> torch.Tensor:
    whole = torch.empty(ranks * x.shape[0], x.shape[1], dtype=x.dtype, device=x.device)
    dist.all_gather_into_tensor(whole, x)
    return whole


def reduce_scatter(x: torch.Tensor, ranks: int) -> torch.Tensor:
    part = torch.empty(x.shape[0] // ranks, x.shape[1], dtype=x.dtype, device=x.device)
    dist.reduce_scatter_tensor(part, x)
    return part


def plain(layer: Layer, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """The layer's result by PyTorch's product and collective, one after the other."""
    if layer.op == Op.ALL_GATHER_GEMM:
        return all_gather(x, layer.world.size) @ weight.t()
    if layer.op == Op.GEMM_REDUCE_SCATTER:
        return reduce_scatter(x @ weight.t(), layer.world.size)
    y = x @ weight.t()
    dist.all_reduce(y)
    return y


def plain_gradients(layer: Layer, x: torch.Tensor, grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Gradients of x and of the weight in fp32, for this gradient of the result."""
    x, weight, grad = x.float(), layer.weight.float(), grad.float()
    if layer.op == Op.ALL_GATHER_GEMM:
        return reduce_scatter(grad @ weight, layer.world.size), grad.t() @ all_gather(x, layer.world.size)
    if layer.op == Op.GEMM_REDUCE_SCATTER:
        grad = all_gather(grad, layer.world.size)
    return grad @ weight, grad.t() @ x


def captured(call: Callable[[], torch.Tensor]) -> tuple[Any, torch.Tensor]:
    """A CUDA graph of the call, and its result."""
    call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        result = call()
    return graph, result


def medians(graphs: list[Any]) -> list[float]:
    """Median microseconds of each graph on the slowest rank; the graphs take turns."""
    token = torch.zeros(1, device="cuda")
    times: list[list[float]] = [[] for _ in graphs]
    for _ in range(WARM_UP + ROUNDS):
        for graph, list_ in zip(graphs, times):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            dist.all_reduce(token)  # every rank waits for the others
            start.record()
            graph.replay()
            end.record()
            torch.cuda.synchronize()
            list_.append(1e3 * start.elapsed_time(end))
    slowest = torch.tensor(times, device="cuda")[:, WARM_UP:].contiguous()
    dist.all_reduce(slowest, dist.ReduceOp.MAX)
    return [statistics.median(each) for each in slowest.tolist()]


def relative_error(y: torch.Tensor, reference: torch.Tensor) -> float:
    squares = torch.stack([(y.float() - reference).square().sum(), reference.square().sum()])
    dist.all_reduce(squares)
    return float((squares[0] / squares[1]).sqrt().item())


def worst_gradient(layer: Layer, x: torch.Tensor) -> float:
    """The larger relative error of the two gradients."""
    layer.weight.grad = None
    x = x.clone().requires_grad_()
    y = layer(x)
    grad = torch.randn_like(y)
    if layer.op == Op.GEMM_ALL_REDUCE:
        dist.broadcast(grad, 0)  # a sum that all ranks have has the same gradient on all
    y.backward(grad)
    references = plain_gradients(layer, x.detach(), grad)
    return max(map(relative_error, (x.grad, layer.weight.grad), references))


def compare(name: str, layer: Layer, tokens: int) -> bool:
    gathers = layer.op == Op.ALL_GATHER_GEMM
    rows = tokens // layer.world.size if gathers else tokens
    x = torch.randn(rows, layer.weight.shape[1], device="cuda").to(layer.weight.dtype)
    with torch.no_grad():
        (ours, y), (theirs, their_y) = captured(lambda: layer(x)), captured(lambda: plain(layer, x, layer.weight))
        times = medians([ours, theirs])
        reference = plain(layer, x.float(), layer.weight.float())
        errors = relative_error(y, reference), relative_error(their_y, reference)
    gradient = worst_gradient(layer, x)
    right = errors[0] <= 1.5 * errors[1] + 1 / 512 and gradient <= 1 / 64
    problem = problem_of(layer.world, layer.op, layer.weight, tokens)
    answer = layer.world.answer(problem)
    if dist.get_rank() == 0:
        print(f"{name:12}{problem.op}:{problem.m},{problem.n},{problem.k}:{problem.dtype}:{problem.ranks}: "
              f"{answer.strategy} ({answer.source}: {answer.reason})\n"
              f"            layer {times[0]:.1f} us, torch {times[1]:.1f} us, {times[1] / times[0]:.3f} times as fast; "
              f"relative error {errors[0]:.2e}, torch {errors[1]:.2e}, gradients {gradient:.2e}: "
              f"{'ok' if right else 'WRONG'}", flush=True)
    return right


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--db", help="tuning database")
    parser.add_argument("--tokens", default="4096", help="one number or several, as in 1024,4096")
    options = parser.parse_args()
    os.environ.setdefault("NCCL_NVLS_ENABLE", "0")  # no NVLink multicast, as in tuning; before NCCL starts
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    torch.manual_seed(dist.get_rank())
    world = World(database=options.db)
    layers = {"qkv": ColumnParallelLinear(world, HIDDEN, QKV), "o": RowParallelLinear(world, HIDDEN, HIDDEN),
              "gate_up": ColumnParallelLinear(world, HIDDEN, 2 * FFN), "down": RowParallelLinear(world, FFN, HIDDEN),
              "o, sum": RowParallelLinear(world, HIDDEN, HIDDEN, sequence_parallel=False),
              "down, sum": RowParallelLinear(world, FFN, HIDDEN, sequence_parallel=False)}
    right = []
    for tokens in map(int, options.tokens.split(",")):
        for layer in layers.values():
            layer.prepare([tokens])  # before a graph is captured: a world does not grow under graphs
        right += [compare(name, layer, tokens) for name, layer in layers.items()]
    torch.cuda.synchronize()
    os._exit(0 if all(right) else 1)  # graphs, plans and communicators end with the process


if __name__ == "__main__":
    main()
