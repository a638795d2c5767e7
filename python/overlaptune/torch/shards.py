"""Tensors of which each rank has a part, as PyTorch's DTensors say which: operands of the products, parameters of layers,
and state dicts for torch.distributed.checkpoint, which takes plain tensors of one name for copies of one another."""

from __future__ import annotations

from typing import Any

import torch
from torch.distributed.tensor import DTensor, Placement

from ..errors import ArgumentError
from .world import World


def part(tensor: torch.Tensor) -> torch.Tensor:
    """This rank's part of a DTensor; a plain tensor is one."""
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def checked_part(name: str, tensor: torch.Tensor, expected: Placement, world: World) -> torch.Tensor:
    """This rank's part of an operand. Its gradient has the placement of the operand. Raises ArgumentError for a DTensor
    that is divided in another way, or among another number of ranks. (That they are those of the world is not looked at:
    torch.compile could not follow.)"""
    if not isinstance(tensor, DTensor):
        return tensor
    mesh = tensor.device_mesh
    if mesh.ndim != 1 or mesh.size() != world.size or tensor.placements != (expected,):
        raise ArgumentError(
            f"{name}: a DTensor {tensor.placements} on a mesh of {tuple(mesh.shape)}; expected a plain tensor, this rank's "
            f"part, or {(expected,)} on the {world.size} ranks of the world"
        )
    return tensor.to_local(grad_placements=[expected])


def make_dtensors(layer: torch.nn.Module, mesh: Any, placements: dict[str, Placement]) -> None:
    """Makes these parameters, of which the layer has this rank's part, DTensors on the mesh."""
    for name, placement in placements.items():
        parameter = getattr(layer, name)
        if parameter is not None:
            whole = DTensor.from_local(parameter.detach(), mesh, [placement], run_check=False)
            setattr(layer, name, torch.nn.Parameter(whole, requires_grad=parameter.requires_grad))


def as_dtensors(layer: torch.nn.Module, mesh: Any, placements: dict[str, Placement]) -> None:
    """From now on `layer.state_dict()` has these parameters as DTensors on the mesh, and `load_state_dict` takes such ones.
    Plain tensors stay where a wrapper has made DTensors of its own (FSDP2), and where the layer has 8 bits: scales of rows
    differ from rank to rank."""

    def after_state_dict(module: Any, state: Any, prefix: str, _: Any) -> None:
        if module.weight.dtype == torch.float8_e4m3fn:
            return
        for name, placement in placements.items():
            part = state.get(prefix + name)
            if part is not None and not isinstance(part, DTensor):
                state[prefix + name] = DTensor.from_local(part, mesh, [placement], run_check=False)

    def before_load(_: Any, state: Any, prefix: str, *__: Any) -> None:
        for name in placements:
            given = state.get(prefix + name)
            if isinstance(given, DTensor) and given.device_mesh == mesh:
                state[prefix + name] = given.to_local()

    layer.register_state_dict_post_hook(after_state_dict)
    layer.register_load_state_dict_pre_hook(before_load)
