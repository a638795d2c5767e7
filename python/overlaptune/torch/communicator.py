"""PyTorch's NCCL communicator of a group."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist

from ..errors import ArgumentError
from .exchange import wait_until


def communicator(group: Any, device: torch.device, limit_s: float) -> int:
    """The ncclComm_t of this group and GPU. Nothing of PyTorch's runs on it when this returns, as
    far as this call started it. Collective."""
    backend = group._get_backend(device)
    if not hasattr(backend, "_comm_ptr"):
        raise ArgumentError(
            f"group: its backend for CUDA is {backend.name()} of PyTorch {torch.__version__}; "
            "expected NCCL (init_process_group('nccl')) of PyTorch 2.7 or later"
        )
    # PyTorch makes the communicator when it first needs it. The current stream waits for the
    # collective, and so the event comes behind it and behind earlier ones of the group. Other
    # streams may wait for whatever they like.
    dist.all_reduce(torch.zeros(1, device=device), group=group)
    done = torch.cuda.Event()
    done.record(torch.cuda.current_stream(device))
    wait_until(done.query, limit_s, lambda: "group: its ranks did not come to an all-reduce")
    pointer = int(backend._comm_ptr())
    if pointer == 0:
        raise ArgumentError(
            f"group: PyTorch has no communicator on {device}, the current device; call "
            "torch.cuda.set_device with this rank's GPU before init_process_group"
        )
    return pointer
