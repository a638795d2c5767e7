"""Whether the layers have the same results. The reference has its products and their sums in fp32."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor

Result = tuple[Tensor, Tensor]

#: A result may have this many times the error of PyTorch's layer with NCCL, and ROUNDING more.
ALLOWANCE = 1.5
ROUNDING = 1 / 512


@dataclass
class Way:
    """A captured pass, and the memory in which it leaves its result."""

    replay: Callable[[], object]
    result: Result


def run_once(way: Way, input_sum: Tensor) -> Result:
    """The result of one pass: what the layers add last, and all that they added before. Earlier results are overwritten
    first. The copies are made before another pass may use the same memory."""
    for tensor in way.result:
        tensor.fill_(math.nan)
    torch.cuda.synchronize()
    dist.barrier()  # no rank writes to the others before they are ready
    way.replay()
    h, residual = way.result
    copies = h.float(), residual.float() - input_sum
    torch.cuda.synchronize()
    return copies


def relative_error(result: Result, reference: Result) -> float:
    """The larger one of the two tensors', over all ranks; infinite where a number is not finite."""
    errors = []
    for found, right in zip(result, reference):
        squares = torch.stack([(found - right).double().square().sum(), right.double().square().sum()])
        dist.all_reduce(squares)
        errors.append(float((squares[0] / squares[1]).sqrt().item()))
    return max(errors) if all(map(math.isfinite, errors)) else math.inf


def errors_of(results: dict[str, Result], reference: Result) -> dict[str, float]:
    """By way, and of the tuned layer to the other two."""
    errors = {name: relative_error(result, reference) for name, result in results.items()}
    for other in ("sequential", "torch"):
        errors[f"tuned to {other}"] = relative_error(results["tuned"], results[other])
    return errors


def is_right(errors: dict[str, float]) -> bool:
    allowed = ALLOWANCE * errors["torch"] + ROUNDING
    return all(errors[name] <= allowed for name in ("sequential", "tuned"))
