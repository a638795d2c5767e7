"""Layers of a model divided by PyTorch's means: parameters as DTensors, and torch.distributed.checkpoint."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterator

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as checkpoint
from compile_cases import Block, WIDTH, gradient_of, part, same_block
from references import close_to
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.parallel import SequenceParallel, parallelize_module

from overlaptune.torch import World
from overlaptune.torch.styles import ColwiseOverlap, RowwiseOverlap

CASES: dict[str, Callable[[World], None]] = {}


def case(function: Callable[[World], None]) -> Callable[[World], None]:
    CASES[function.__name__] = function
    return function


def whole_of(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


@contextlib.contextmanager
def checkpoint_folder(world: World) -> Iterator[str]:
    """One folder for all ranks, until all are through with it."""
    folder = [tempfile.mkdtemp() if world.rank == 0 else ""]
    dist.broadcast_object_list(folder, 0, group=world.group)
    yield folder[0]
    dist.barrier(group=world.group)
    if world.rank == 0:
        shutil.rmtree(folder[0])


@case
def parameters_as_dtensors(world: World) -> None:
    """A step of training: each gradient, the norm of all, and the checkpoint of the optimizer are those of the whole model."""
    mesh = DeviceMesh.from_group(world.group, "cuda")

    def divided() -> Block:
        block = same_block(world, True)
        parallelize_module(block, mesh, {"norm": SequenceParallel(sequence_dim=0), "up": ColwiseOverlap(world, dtensors=True),
                                         "down": RowwiseOverlap(world, dtensors=True)})
        block.up.prepare([64 * world.size])
        return block

    block, whole = divided(), same_block(world, True).float()
    torch.manual_seed(5)
    x = torch.randn(64 * world.size, WIDTH, device=world.device).bfloat16()
    block(part(world, x)).float().square().sum().backward()
    whole(x.float()).square().sum().backward()
    for (name, mine), right in zip(block.named_parameters(), whole.parameters()):
        close_to(f"gradient of {name}", whole_of(gradient_of(mine)), gradient_of(right))
    found, right = (torch.nn.utils.clip_grad_norm_(each.parameters(), 1.0) for each in (block, whole))
    close_to("norm of the gradients", whole_of(found), right)
    optimizer = torch.optim.AdamW(block.parameters(), lr=1e-3)
    optimizer.step()
    other = divided()
    again = torch.optim.AdamW(other.parameters(), lr=1e-3)
    with checkpoint_folder(world) as folder:
        model, state = get_state_dict(block, optimizer)
        checkpoint.save({"model": model, "state": state}, checkpoint_id=folder)
        model, state = get_state_dict(other, again)
        checkpoint.load({"model": model, "state": state}, checkpoint_id=folder)
        set_state_dict(other, again, model_state_dict=model, optim_state_dict=state)
    for (name, saved), loaded in zip(block.named_parameters(), other.parameters()):
        assert torch.equal(whole_of(saved), whole_of(loaded)), name
        for moment in ("exp_avg", "exp_avg_sq"):
            kept, got = optimizer.state[saved][moment], again.state[loaded][moment]
            assert torch.equal(whole_of(kept), whole_of(got)), f"{moment} of {name}"


@case
def checkpoints_have_whole_weights(world: World) -> None:
    """torch.distributed.checkpoint saves the parts of all ranks, and each gets its own back."""
    mesh = DeviceMesh.from_group(world.group, "cuda")
    styles = {"up": ColwiseOverlap(world), "down": RowwiseOverlap(world)}
    whole, block, other = (same_block(world, True) for _ in range(3))
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.zero_()
    for each in (block, other):
        parallelize_module(each, mesh, styles)
    state = block.state_dict()
    for name, right in whole.state_dict().items():
        found = state[name].full_tensor() if isinstance(state[name], DTensor) else state[name]
        assert torch.equal(found, right), name
    with checkpoint_folder(world) as folder:
        checkpoint.save(state, checkpoint_id=folder)
        loaded = other.state_dict()
        checkpoint.load(loaded, checkpoint_id=folder)
    other.load_state_dict(loaded)
    for (name, found), right in zip(other.named_parameters(), block.parameters()):
        assert torch.equal(found, right), name
