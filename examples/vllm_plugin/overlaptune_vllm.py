"""A plugin of vLLM: its row-parallel linear layers overlap their product with the all-reduce behind it, from a number of
tokens on. Column-parallel layers of vLLM have no collective, and stay as they are.

    pip install examples/vllm_plugin            # into vLLM's environment, beside the wheel of overlaptune
    export OVERLAPTUNE_DB=cluster.db            # tuned for these GPUs; without it nothing changes
    export OVERLAPTUNE_VLLM_THRESHOLD=2048      # fewer tokens in a pass run vLLM's own product and all-reduce (1024)
    vllm serve … --tensor-parallel-size 4

At its end each worker logs what ran: `World.summary()`. Layers that are quantized, that do not reduce, or whose input is not
divided are left alone.

NOT RUN in vLLM. It was written against the sources of vLLM at commit 0036d38de46c (2026): tests/python/test_vllm_plugin.py holds
it against the signatures of the classes that it uses. The first two numbers of tokens make a plan each, which all ranks do together
and which takes up to a second; the third one makes a family of plans for up to 8192 tokens, which takes some seconds. More tokens
than that make another one. So warm up with three lengths, the longest that you serve among them.
"""

from __future__ import annotations

import atexit
import logging
import os
from typing import Any, Optional

DATABASE = "OVERLAPTUNE_DB"
THRESHOLD = "OVERLAPTUNE_VLLM_THRESHOLD"

logger = logging.getLogger("vllm.overlaptune")
_world: Optional[Any] = None
_registered = False


def _own_product(op: Any, x: Any, weight: Any) -> Any:
    """vLLM's: for few tokens, and where no plan can be made."""
    import torch
    from vllm.distributed import tensor_model_parallel_all_reduce

    return tensor_model_parallel_all_reduce(torch.nn.functional.linear(x, weight))


def world() -> Any:
    """The ranks of vLLM's tensor parallelism. The first call is collective: each rank makes its layers in the same order."""
    global _world
    if _world is None:
        from overlaptune import Launch
        from overlaptune.torch import World
        from vllm.distributed import get_tp_group

        _world = World(
            get_tp_group().device_group,
            database=os.environ[DATABASE],
            launch=Launch.EAGER,  # passes of many tokens are not captured
            threshold=int(os.environ.get(THRESHOLD, "1024")),
            own_product=_own_product,
        )
        atexit.register(lambda: logger.info("overlaptune:\n%s", _world.summary()))
    return _world


def overlaps(layer: Any) -> bool:
    """Whether a layer is a product of bf16 or fp16 whose result all ranks add up."""
    import torch
    from vllm.distributed import get_tensor_model_parallel_world_size

    return (
        type(layer.quant_method).__name__ == "UnquantizedLinearMethod"
        and layer.params_dtype in (torch.bfloat16, torch.float16)
        and layer.reduce_results
        and layer.input_is_parallel
        and layer.tp_size == get_tensor_model_parallel_world_size() > 1
    )


def register() -> None:
    """vLLM calls this in each of its processes, maybe more than once, before it makes a model."""
    global _registered
    if _registered or not os.environ.get(DATABASE):
        return
    from overlaptune.torch import gemm_all_reduce
    from vllm.model_executor.layers.linear import RowParallelLinear

    class OverlappedRowParallelLinear(RowParallelLinear):  # type: ignore[misc]
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self.world = world() if overlaps(self) else None

        def forward(self, input_: Any) -> Any:
            if self.world is None:
                return super().forward(input_)
            output = gemm_all_reduce(input_, self.weight, self.world, None if self.skip_bias_add else self.bias)
            if not self.return_bias:
                return output
            return output, self.bias if self.skip_bias_add else None

    RowParallelLinear.register_oot(OverlappedRowParallelLinear)
    _registered = True
