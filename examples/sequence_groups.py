"""Runs a plan of `overlaptune sequences` with PyTorch: transformer blocks, forward and backward, with sequence-parallel
groups of different sizes, beside the plan with one static degree. Checks that both have the same loss and gradients.

    overlaptune sequences --lengths lengths.txt --gpus 8 --gpus-per-node 8 --batch 256 --max-length 64k \\
        --db cluster.db --model config.json --costs no_zero.json --out plan.json
    torchrun --nproc-per-node 8 sequence_groups.py --plan plan.json --config config.json --layers 4

Attention is sequence-parallel as in DeepSpeed-Ulysses (Jacobs et al. 2023): an all-to-all before it gives each GPU all
tokens of some heads, one after it gives back all heads of some tokens. Parameters are whole on every GPU, so plan with
a `b1` near 0 in --costs ({"b1": 0.001}). With --cpu it runs in fp32 over gloo, to look at without GPUs.
"""

import argparse
import json
import statistics
import time
from collections import Counter

import torch
import torch.distributed as dist
import torch.nn.functional as F


class Exchange(torch.autograd.Function):
    """All-to-all of equal parts: part i of dimension 0 goes to rank i of the group. Its own backward."""

    @staticmethod
    def forward(ctx, tensor, group):
        ctx.group = group
        tensor = tensor.contiguous()  # first: empty_like keeps strides
        out = torch.empty_like(tensor)
        dist.all_to_all_single(out, tensor, group=group)
        return out

    @staticmethod
    def backward(ctx, gradient):
        return Exchange.apply(gradient, ctx.group), None


class Place:
    """This rank's part of a micro-batch: its group, and which sequences the group has."""

    def __init__(self, group, groups, rank):
        self.degree = group["degree"]
        self.index = rank - group["first_gpu"]
        self.group = groups.get((self.degree, group["first_gpu"]))
        self.lengths = group["sequences"]

    def to_heads(self, x):
        """(own tokens, heads, width) -> (all tokens of the group, heads / degree, width), by sequence."""
        if self.degree == 1:
            return x
        tokens, heads, width = x.shape
        parts = x.view(tokens, self.degree, heads // self.degree, width).transpose(0, 1)
        parts = Exchange.apply(parts, self.group)  # from each rank its tokens of our heads
        pieces = parts.split([length // self.degree for length in self.lengths], dim=1)
        return torch.cat([piece.flatten(0, 1) for piece in pieces])

    def to_tokens(self, x):
        """The inverse of `to_heads`."""
        if self.degree == 1:
            return x
        pieces = [piece.unflatten(0, (self.degree, -1)) for piece in x.split(self.lengths)]
        parts = Exchange.apply(torch.cat(pieces, dim=1), self.group)  # our tokens, heads of each rank
        return parts.transpose(0, 1).flatten(1, 2)

    def tokens(self, make):
        """This rank's rows of every sequence; `make(length, number)` gives a whole one."""
        rows = []
        for length, number in self.lengths_with_numbers:
            own = length // self.degree
            rows.append(make(length, number)[self.index * own:(self.index + 1) * own])
        return torch.cat(rows)


class Block(torch.nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.sizes = sizes
        hidden, heads, kv_heads, width = sizes["hidden"], sizes["heads"], sizes["kv_heads"], sizes["head_dim"]
        self.qkv = torch.nn.Linear(hidden, (heads + 2 * kv_heads) * width, bias=False)
        self.out = torch.nn.Linear(heads * width, hidden, bias=False)
        self.gate_up = torch.nn.Linear(hidden, 2 * sizes["intermediate"], bias=False)
        self.down = torch.nn.Linear(sizes["intermediate"], hidden, bias=False)

    def forward(self, x, place):
        s = self.sizes
        qkv = self.qkv(F.rms_norm(x, x.shape[-1:]))
        q, k, v = qkv.view(len(x), -1, s["head_dim"]).split([s["heads"], s["kv_heads"], s["kv_heads"]], dim=1)
        if s["kv_heads"] < place.degree:  # a GPU needs at least one head
            k, v = (t.repeat_interleave(place.degree // s["kv_heads"], dim=1) for t in (k, v))
        q, k, v = (place.to_heads(t) for t in (q, k, v))
        attended = []
        for each in zip(*(t.split(place.lengths) for t in (q, k, v))):
            rows = [t.transpose(0, 1).unsqueeze(0) for t in each]
            rows = F.scaled_dot_product_attention(*rows, is_causal=True, enable_gqa=True)
            attended.append(rows.squeeze(0).transpose(0, 1))
        x = x + self.out(place.to_tokens(torch.cat(attended)).flatten(1))
        gate, up = self.gate_up(F.rms_norm(x, x.shape[-1:])).chunk(2, dim=-1)
        return x + self.down(F.silu(gate) * up)


def read_sizes(file):
    with open(file) as text:
        config = json.load(text)
    heads = config["num_attention_heads"]
    return {"hidden": config["hidden_size"], "intermediate": config["intermediate_size"], "heads": heads,
            "kv_heads": config.get("num_key_value_heads", heads),
            "head_dim": config.get("head_dim", config["hidden_size"] // heads)}


def places_of(micro_batches, groups, rank):
    """What this rank does in each micro-batch (None: nothing). Sequences of one length are numbered, so that every
    plan of a batch has the same ones."""
    seen = Counter()
    places = []
    for part in micro_batches:
        own = None
        for group in part["groups"]:
            numbered = []
            for length in group["sequences"]:
                numbered.append((length, seen[length]))
                seen[length] += 1
            if 0 <= rank - group["first_gpu"] < group["degree"]:
                own = Place(group, groups, rank)
                own.lengths_with_numbers = numbered
        places.append(own)
    return places


def run(places, inputs, blocks, total_tokens):
    """Forward and backward of all micro-batches; the loss of this rank's tokens."""
    loss_sum = torch.zeros((), device=next(blocks.parameters()).device, dtype=torch.float64)
    for place, x in zip(places, inputs):
        if place is None:
            continue
        y = x
        for block in blocks:
            y = block(y, place)
        loss = y.float().square().mean(dim=-1).sum() / total_tokens
        loss.backward()
        loss_sum += loss.detach().double()
    return loss_sum


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plan", required=True, help="what overlaptune sequences --out wrote")
    parser.add_argument("--config", required=True, help="the model's config.json")
    parser.add_argument("--layers", type=int, default=2, help="blocks that run; times are multiplied to the model's")
    parser.add_argument("--batch", type=int, default=0, help="which batch of the plan")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--cpu", action="store_true")
    arguments = parser.parse_args()

    dist.init_process_group("gloo" if arguments.cpu else "nccl")
    rank, world = dist.get_rank(), dist.get_world_size()
    device = torch.device("cpu") if arguments.cpu else torch.device("cuda", rank % torch.cuda.device_count())
    dtype = torch.float32 if arguments.cpu else torch.bfloat16
    if not arguments.cpu:
        torch.cuda.set_device(device)
    with open(arguments.plan) as text:
        plan = json.load(text)
    if plan["gpus"] != world:
        raise SystemExit(f"{arguments.plan}: a plan for {plan['gpus']} GPUs: expected {world}, as many as there are ranks")
    batch = plan["batches"][arguments.batch]
    groups = {}  # every rank must make every group, in the same order
    degree = 2
    while degree <= world:
        for first in range(0, world, degree):
            groups[degree, first] = dist.new_group(list(range(first, first + degree)))
        degree *= 2

    torch.manual_seed(1)
    sizes = read_sizes(arguments.config)
    blocks = torch.nn.ModuleList(Block(sizes) for _ in range(arguments.layers)).to(device, dtype)

    def sequence(length, number):
        generator = torch.Generator().manual_seed(length * 100_003 + number)
        return torch.randn(length, sizes["hidden"], generator=generator).to(device, dtype)

    tokens = sum(sum(group["sequences"]) for part in batch["micro_batches"] for group in part["groups"])
    results = {}
    for name, parts in (("planned", batch["micro_batches"]), ("static", batch["static_micro_batches"])):
        places = places_of(parts, groups, rank)
        inputs = [place.tokens(sequence) if place else None for place in places]
        times = []
        for _ in range(arguments.repetitions + 1):  # the first one warms up
            blocks.zero_grad()
            dist.barrier()
            if not arguments.cpu:
                torch.cuda.synchronize()
            start = time.perf_counter()
            loss = run(places, inputs, blocks, tokens)
            if not arguments.cpu:
                torch.cuda.synchronize()
            elapsed = torch.tensor([time.perf_counter() - start], device=device)
            dist.all_reduce(elapsed, dist.ReduceOp.MAX)
            times.append(elapsed.item() * 1e6)
        gradients = torch.stack([p.grad.float().flatten()[::97].sum() if p.grad is not None
                                 else torch.zeros((), device=device) for p in blocks.parameters()])
        for tensor in (loss, gradients):
            dist.all_reduce(tensor)
        predicted = sum(part["time_us"] for part in parts)
        results[name] = (statistics.median(times[1:]), predicted, loss.item(), gradients)
    if rank == 0:
        for name, (measured, predicted, loss, _) in results.items():
            print(f"{name:8} {measured / 1e3:10.2f} ms for {arguments.layers} layers; "
                  f"predicted for the model {predicted / 1e3:10.2f} ms; loss {loss:.6f}")
        print(f"speedup {results['static'][0] / results['planned'][0]:.3f}, "
              f"predicted {results['static'][1] / results['planned'][1]:.3f}")
    tolerance = 1e-5 if arguments.cpu else 2e-3
    planned, static = results["planned"], results["static"]
    if abs(planned[2] - static[2]) > tolerance * abs(static[2]):
        raise SystemExit(f"the losses differ: {planned[2]} and {static[2]}")
    worst = ((planned[3] - static[3]).abs().max() / static[3].abs().max()).item()
    if worst > 50 * tolerance:
        raise SystemExit(f"the gradients differ by {worst:.1e} of the largest")
    if rank == 0:
        print("loss and gradients are the same")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
