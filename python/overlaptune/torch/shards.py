"""Parts of weights as DTensors in state dicts: whole ones for torch.distributed.checkpoint, which takes plain tensors of
one name for copies of one another."""

from __future__ import annotations

from typing import Any

import torch
from torch.distributed.tensor import DTensor, Placement


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
