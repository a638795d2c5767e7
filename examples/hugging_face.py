"""A Llama of Hugging Face, tensor-parallel by PyTorch's parallelize_module and compiled: once with PyTorch's styles, once
with those of overlaptune. Compares the logits of both with those of the whole model in fp32, and their times.

    torchrun --nproc-per-node 8 hugging_face.py --db cluster.db --tokens 1024,4096

Random weights; the widths are those of Llama-3-70B, unless --hidden says others. It needs transformers, and what
torch_layers.py needs.
"""

from __future__ import annotations

import argparse
import os
import statistics
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from transformers import LlamaConfig, LlamaForCausalLM

from overlaptune.torch import World
from overlaptune.torch.styles import ColwiseOverlap, RowwiseOverlap

COLUMNS = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.gate_proj", "mlp.up_proj")
ROWS = ("self_attn.o_proj", "mlp.down_proj")
HEAD, ROUNDS = 128, 12


def whole_model(hidden: int, layers: int, device: torch.device) -> Any:
    """The same on every rank."""
    config = LlamaConfig(hidden_size=hidden, intermediate_size=7 * hidden // 2, num_hidden_layers=layers,
                         num_attention_heads=hidden // HEAD, num_key_value_heads=max(hidden // HEAD // 8, dist.get_world_size()),
                         head_dim=HEAD, vocab_size=4096, max_position_embeddings=1 << 15, attn_implementation="sdpa",
                         initializer_range=hidden**-0.5)  # larger scores of attention would hide errors of products
    torch.manual_seed(0)
    with device:
        return LlamaForCausalLM(config).eval()


def divided(model: Any, mesh: DeviceMesh, column: Any, row: Any) -> Any:
    """The model in bf16, with its layers divided among the ranks, and compiled."""
    styles = {f"model.layers.*.{name}": column() for name in COLUMNS}
    styles.update({f"model.layers.*.{name}": row() for name in ROWS})
    parallelize_module(model.bfloat16(), mesh, styles)
    model.compile()
    return model


def logits(model: Any, tokens: torch.Tensor) -> torch.Tensor:
    result: torch.Tensor = model(tokens, use_cache=False).logits
    return result


def medians(models: list[Any], tokens: torch.Tensor) -> list[float]:
    """Microseconds of a pass of each model, on the slowest rank; the models take turns."""
    token = torch.zeros(1, device="cuda")
    times: list[list[float]] = [[] for _ in models]
    for _ in range(ROUNDS):
        for model, list_ in zip(models, times):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            dist.all_reduce(token)  # every rank waits for the others
            start.record()
            logits(model, tokens)
            end.record()
            torch.cuda.synchronize()
            list_.append(1e3 * start.elapsed_time(end))
    slowest = torch.tensor(times, device="cuda")
    dist.all_reduce(slowest, dist.ReduceOp.MAX)
    return [statistics.median(each) for each in slowest.tolist()]


def relative_error(found: torch.Tensor, right: torch.Tensor) -> float:
    return float((found.float() - right).norm() / right.norm())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--db", help="tuning database")
    parser.add_argument("--tokens", default="4096", help="one number or several, as in 1024,4096")
    parser.add_argument("--hidden", type=int, default=8192, help="width of the model: a head for each 128, as many for each rank")
    parser.add_argument("--layers", type=int, default=4)
    options = parser.parse_args()
    os.environ.setdefault("NCCL_NVLS_ENABLE", "0")  # no NVLink multicast, as in tuning; before NCCL starts
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    torch.set_grad_enabled(False)
    world = World(database=options.db)
    mesh = DeviceMesh.from_group(world.group, "cuda")
    whole = whole_model(options.hidden, options.layers, device)
    plain = divided(whole_model(options.hidden, options.layers, device), mesh, ColwiseParallel, RowwiseParallel)
    ours = divided(whole_model(options.hidden, options.layers, device), mesh,
                   lambda: ColwiseOverlap(world, sequence_parallel=False),
                   lambda: RowwiseOverlap(world, sequence_parallel=False))
    right = True
    for count in map(int, options.tokens.split(",")):
        tokens = torch.randint(0, 4096, (1, count), generator=torch.Generator().manual_seed(count)).to(device)
        reference = logits(whole, tokens)
        errors = [relative_error(logits(model, tokens), reference) for model in (plain, ours)]
        times = medians([plain, ours], tokens)
        worst = torch.tensor(errors, device=device)
        dist.all_reduce(worst, dist.ReduceOp.MAX)
        errors = worst.tolist()
        ok = errors[1] <= min(1.5 * errors[0] + 1 / 512, 1 / 16)
        right &= ok
        if dist.get_rank() == 0:
            print(f"{count} tokens: PyTorch {times[0]:.0f} us, overlaptune {times[1]:.0f} us, "
                  f"{times[0] / times[1]:.3f} times as fast; relative error of logits {errors[0]:.2e} and "
                  f"{errors[1]:.2e}: {'ok' if ok else 'WRONG'}", flush=True)
    if dist.get_rank() == 0:
        print(world.summary(), flush=True)
    torch.cuda.synchronize()
    os._exit(0 if right else 1)  # plans and communicators end with the process


if __name__ == "__main__":
    main()
