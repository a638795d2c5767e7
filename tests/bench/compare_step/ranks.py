"""The begin of every program of scripts/compare-step on its rank: it joins the others, and takes its pointwise operations."""

from __future__ import annotations

import os
import sys
from typing import Any

import torch
import torch.distributed as dist
from layer import Stack, operand
from pointwise import EAGER, Pointwise, compiled


def say(text: str) -> None:
    if dist.get_rank() == 0:
        print(text, file=sys.stderr, flush=True)


def start(question: dict[str, Any]) -> None:
    """Joins the other ranks. NCCL lets ranks share a GPU if it takes them for different hosts."""
    local = int(os.environ["LOCAL_RANK"])
    if question["ranks_per_gpu"] > 1:
        os.environ.update({"NCCL_HOSTID": f"overlaptune-rank-{local}", "NCCL_SOCKET_IFNAME": "lo",
                           "NCCL_NET": "Socket"})
    device = torch.device("cuda", local // question["ranks_per_gpu"])
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    torch.manual_seed(dist.get_rank())
    torch.set_grad_enabled(False)


def pointwise_for(question: dict[str, Any], stack: Stack) -> tuple[Pointwise, str]:
    """Compiled operations, each tried once; PyTorch's own ones where a rank cannot compile. And which, with the
    reason."""
    if question["pointwise"] == "eager":
        return EAGER, "eager"
    why = ""
    kernels = EAGER
    try:
        kernels = compiled()
        qkv, gate_up = (torch.zeros((stack.cos.shape[0], columns), dtype=stack.h.dtype, device="cuda")
                        for columns in (stack.shape.qkv, 2 * stack.shape.width))
        kernels.add_norm(stack.h, stack.residual, stack.layers[0].norms["mlp norm"], stack.shape.epsilon)
        kernels.rope(qkv, stack.cos, stack.sin, stack.shape.rotated)
        gated = kernels.activation(gate_up)
        for name, x in (("qkv", stack.h), ("gate_up", stack.h), ("down", gated)):
            operand(stack.shape, kernels, name, x)
        torch.cuda.synchronize()
    except Exception as error:  # a compiler, its own compiler or a driver may be missing
        why = " ".join(str(error).split())[:200] or type(error).__name__
    failed = torch.tensor([float(bool(why))], device="cuda")
    dist.all_reduce(failed, dist.ReduceOp.MAX)
    if failed.item() == 0:
        return kernels, "compiled"
    return EAGER, f"eager, as torch.compile failed: {why or 'on another rank'}"
