"""Runs a plan of `overlaptune sequences` with PyTorch: transformer blocks, forward and backward, with sequence-parallel
groups of different sizes, beside the plan with one static degree. Checks that both have the same loss and gradients, and
prints their times beside the predicted ones, for the batch and for each micro-batch.

    overlaptune sequences --lengths lengths.txt --gpus 8 --gpus-per-node 8 --batch 256 --max-length 64k \\
        --db cluster.db --model config.json --costs no_zero.json --out plan.json
    torchrun --nproc-per-node 8 sequence_groups.py --plan plan.json --config config.json --layers 4

Attention is sequence-parallel as in DeepSpeed-Ulysses (Jacobs et al. 2023): an all-to-all before it gives each GPU all
tokens of some heads, one after it gives back all heads of some tokens. Parameters are whole on every GPU, so plan with
a `b1` near 0 in --costs ({"b1": 0.001}). All ranks wait for each other between micro-batches, as they would to gather
parameters. Times are those of the slowest rank; the two plans take turns.

Ranks may share a GPU (--ranks-per-gpu 2). That proves the results; the ranks run in turn, so the times mean nothing. With
--cpu it runs in fp32 over gloo, to look at without GPUs.
"""

import argparse
import json
import os
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
    return {"layers": config["num_hidden_layers"], "hidden": config["hidden_size"],
            "intermediate": config["intermediate_size"], "heads": heads,
            "kv_heads": config.get("num_key_value_heads", heads),
            "head_dim": config.get("head_dim", config["hidden_size"] // heads)}


def places_of(micro_batches, groups, rank):
    """The place of this rank in each micro-batch (None: it has nothing to do). Sequences of one length are numbered, so
    that every plan of a batch has the same ones."""
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


def batch_lengths(micro_batches):
    """The padded lengths of a plan, sorted."""
    return sorted(length for part in micro_batches for group in part["groups"] for length in group["sequences"])


class Clock:
    """Marks between micro-batches, at which all ranks wait for each other."""

    def __init__(self, device):
        self.on_gpu = device.type == "cuda"
        self.token = torch.zeros(1, device=device)
        self.marks = []

    def mark(self):
        dist.all_reduce(self.token)
        if self.on_gpu:  # the host goes on: launches are ahead of the GPU
            self.marks.append(torch.cuda.Event(enable_timing=True))
            self.marks[-1].record()
        else:
            self.marks.append(time.perf_counter())

    def times_us(self):
        """Between the marks, on the slowest rank."""
        if self.on_gpu:
            torch.cuda.synchronize()
            times = [1e3 * start.elapsed_time(end) for start, end in zip(self.marks, self.marks[1:])]
        else:
            times = [1e6 * (end - start) for start, end in zip(self.marks, self.marks[1:])]
        slowest = torch.tensor(times, device=self.token.device)
        dist.all_reduce(slowest, dist.ReduceOp.MAX)
        return slowest.tolist()


def run(places, inputs, blocks, total_tokens, clock):
    """Forward and backward of all micro-batches; the loss of this rank's tokens."""
    loss_sum = torch.zeros((), device=next(blocks.parameters()).device, dtype=torch.float64)
    clock.mark()
    for place, x in zip(places, inputs):
        if place is None:
            clock.mark()
            continue
        y = x
        for block in blocks:
            y = block(y, place)
        loss = y.float().square().mean(dim=-1).sum() / total_tokens
        loss.backward()
        loss_sum += loss.detach().double()
        clock.mark()
    return loss_sum


def described(part):
    """The groups of a micro-batch: their degrees and tokens."""
    return ", ".join(f"{group['tokens']} tokens on {group['degree']}" for group in part["groups"])


def compared(plans, measured, layers, model_layers):
    """Rows of the table: plan, micro-batch, measured and predicted ms of the whole model, error in percent. `measured`
    has, by plan, the microseconds of each micro-batch in each repetition, for `layers` layers."""
    rows = []
    for name, parts in plans.items():
        scale = model_layers / layers / 1e3
        whole = scale * statistics.median(map(sum, measured[name]))
        each = [scale * statistics.median(times) for times in zip(*measured[name])]
        predicted = [part["time_us"] / 1e3 for part in parts]
        rows.append((name, "all", whole, sum(predicted)))
        rows += [(name, described(part), *times) for part, *times in zip(parts, each, predicted)]
    return [(*row, 100 * (row[3] / row[2] - 1)) for row in rows]


def table_of(rows):
    """The rows as Markdown. An error above 0 is a prediction that is too long."""
    lines = ["| plan | micro-batch | measured ms | predicted ms | error % |", "|---|---|--:|--:|--:|"]
    lines += [f"| {name} | {what} | {measured:.2f} | {predicted:.2f} | {error:+.1f} |"
              for name, what, measured, predicted, error in rows]
    return "\n".join(lines)


def gradient_sums(blocks, device):
    """One number for each parameter: the sum of some of its gradients."""
    return torch.stack([p.grad.float().flatten()[::97].sum() if p.grad is not None
                        else torch.zeros((), device=device) for p in blocks.parameters()])


def report(arguments, sizes, rows, measured):
    print(f"times of {arguments.layers} layers, multiplied to the {sizes['layers']} of the model; medians of "
          f"{arguments.repetitions}, slowest rank")
    if arguments.ranks_per_gpu > 1 or arguments.cpu:
        print("RANKS SHARE A GPU OR A CPU: the times mean nothing. Only the results are checked.")
    print(table_of(rows))
    whole = {name: times for name, what, *times in rows if what == "all"}
    print(f"speedup over the static degree {whole['static'][0] / whole['planned'][0]:.3f}, "
          f"predicted {whole['static'][1] / whole['planned'][1]:.3f}")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"layers": arguments.layers, "model_layers": sizes["layers"], "times_us": measured,
                       "rows": [dict(zip(("plan", "micro_batch", "measured_ms", "predicted_ms", "error_percent"), row))
                                for row in rows]}, file, indent=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plan", required=True, help="what overlaptune sequences --out wrote")
    parser.add_argument("--config", required=True, help="the model's config.json")
    parser.add_argument("--layers", type=int, default=2, help="blocks that run; times are multiplied to the model's")
    parser.add_argument("--batch", type=int, default=0, help="which batch of the plan")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--ranks-per-gpu", type=int, default=1, help="ranks that share a GPU, to prove the results (1)")
    parser.add_argument("--json", help="file for the times of all repetitions")
    parser.add_argument("--cpu", action="store_true")
    arguments = parser.parse_args()
    sizes = read_sizes(arguments.config)
    for name, value, most in (("--layers", arguments.layers, sizes["layers"]),
                              ("--repetitions", arguments.repetitions, 1000),
                              ("--ranks-per-gpu", arguments.ranks_per_gpu, 64)):
        if not 1 <= value <= most:
            parser.error(f"{name} {value}: expected 1 to {most}")

    local = int(os.environ["LOCAL_RANK"])
    if arguments.ranks_per_gpu > 1:  # NCCL lets ranks share a GPU if it takes them for different hosts
        os.environ.update({"NCCL_HOSTID": f"rank-{local}", "NCCL_SOCKET_IFNAME": "lo", "NCCL_NET": "Socket"})
    device = torch.device("cpu") if arguments.cpu else torch.device("cuda", local // arguments.ranks_per_gpu)
    dtype = torch.float32 if arguments.cpu else torch.bfloat16
    if not arguments.cpu:
        torch.cuda.set_device(device)
    dist.init_process_group("gloo" if arguments.cpu else "nccl")
    rank, world = dist.get_rank(), dist.get_world_size()
    with open(arguments.plan) as text:
        plan = json.load(text)
    if plan["gpus"] != world:
        raise SystemExit(f"{arguments.plan}: a plan for {plan['gpus']} GPUs: expected {world}, as many as there are ranks")
    if not 0 <= arguments.batch < len(plan["batches"]):
        raise SystemExit(f"--batch {arguments.batch}: expected 0 to {len(plan['batches']) - 1}, a batch of {arguments.plan}")
    batch = plan["batches"][arguments.batch]
    groups = {}  # every rank must make every group, in the same order
    degree = 2
    while degree <= world:
        for first in range(0, world, degree):
            groups[degree, first] = dist.new_group(list(range(first, first + degree)))
        degree *= 2

    torch.manual_seed(1)
    blocks = torch.nn.ModuleList(Block(sizes) for _ in range(arguments.layers)).to(device, dtype)

    def sequence(length, number):
        generator = torch.Generator().manual_seed(length * 100_003 + number)
        return torch.randn(length, sizes["hidden"], generator=generator).to(device, dtype)

    if batch_lengths(batch["micro_batches"]) != batch_lengths(batch["static_micro_batches"]):
        raise SystemExit(f"{arguments.plan}: groups pad their sequences differently: expected a plan without --pad")
    tokens = sum(sum(group["sequences"]) for part in batch["micro_batches"] for group in part["groups"])
    plans = {"planned": batch["micro_batches"], "static": batch["static_micro_batches"]}
    work = {}
    for name, parts in plans.items():
        places = places_of(parts, groups, rank)
        work[name] = places, [place.tokens(sequence) if place else None for place in places]
    measured = {name: [] for name in plans}
    results = {}
    for repetition in range(arguments.repetitions + 1):  # the first one warms up
        for name, (places, inputs) in work.items():
            blocks.zero_grad()
            clock = Clock(device)
            loss = run(places, inputs, blocks, tokens, clock)
            times = clock.times_us()
            if repetition > 0:
                measured[name].append(times)
            if repetition == arguments.repetitions:
                results[name] = loss, gradient_sums(blocks, device)
    for tensors in results.values():
        for tensor in tensors:
            dist.all_reduce(tensor)
    rows = compared(plans, measured, arguments.layers, sizes["layers"])
    if rank == 0:
        report(arguments, sizes, rows, measured)
    tolerance = 1e-5 if arguments.cpu else 2e-3
    (loss, gradients), (static_loss, static_gradients) = results["planned"], results["static"]
    if not abs((loss - static_loss).item()) <= tolerance * abs(static_loss.item()):
        raise SystemExit(f"the losses differ: {loss.item()} and {static_loss.item()}")
    worst = ((gradients - static_gradients).abs().max() / static_gradients.abs().max()).item()
    if not worst <= 50 * tolerance:
        raise SystemExit(f"the gradients differ by {worst:.1e} of the largest")
    if rank == 0:
        print(f"loss and gradients are the same; loss {loss.item():.6f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
