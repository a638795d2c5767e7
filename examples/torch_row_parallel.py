"""A row-parallel linear layer with sequence parallelism in PyTorch: y = reduce_scatter(x @ weight.T). Runs it as
a tuning database says, and compares it with torch.matmul and dist.reduce_scatter_tensor.

    torchrun --nproc-per-node 8 torch_row_parallel.py --libraries build/release --db cluster.db

It loads liboverlaptune.so and liboverlaptune-run.so and needs no compiler. The second one must have been built
with the NCCL release and the CUDA major version that PyTorch comes with. Without --db it runs `sequential`.
"""

import argparse
import ctypes
import os
import statistics
from ctypes import byref, c_char, c_char_p, c_double, c_int32, c_int64, c_size_t, c_void_p
from pathlib import Path

import torch
import torch.distributed as dist

GEMM_REDUCE_SCATTER, BF16, GRAPH = 1, 0, 0
SOURCES = ("exact", "predicted", "baseline")
STRATEGIES = ("sequential", "chunked", "signaled")
HIDDEN, FFN = 8192, 28672  # Llama-3-70B
REPETITIONS = 30


class Struct(ctypes.Structure):
    """A struct of overlaptune.h or run.h whose size is set."""

    def __init__(self, **fields):
        super().__init__(size=ctypes.sizeof(self), **fields)


def fields(kind, names):
    return [(name, kind) for name in names.split()]


class Platform(Struct):
    _fields_ = (fields(c_size_t, "size") + fields(c_char * 256, "machine name gpu_model") +
                fields(c_int32, "gpu_count sms compute_capability multicast_allowed") +
                fields(c_int64, "memory_bytes") +
                fields(c_char * 256, "driver_version cuda_version nccl_version topology transport details"))


class Problem(Struct):
    _fields_ = fields(c_size_t, "size") + fields(c_int64, "m n k") + fields(c_int32, "op dtype ranks reserved")


class Answer(Struct):
    _fields_ = (fields(c_size_t, "size") +
                fields(c_int32, "source strategy block_m block_n block_k stages cluster raster comm_ctas chunks "
                                "transport wave_group_count") +
                fields(c_double, "predicted_us measured_us baseline_us") +
                fields(c_char * 512, "reason") + fields(c_int64 * 192, "wave_groups") +
                fields(c_int32, "wait reserved"))


class Sizes(Struct):
    _fields_ = fields(c_size_t, "size") + fields(c_int64, "a_bytes b_bytes c_bytes shared_bytes temporary_bytes")


class Library:
    """A C library: `library.open(…)` calls ovt_open(…) and raises its error message."""

    def __init__(self, folder, name, last_error):
        path = next(Path(folder).rglob(name), None)
        if path is None:
            raise SystemExit(f"{folder}: no {name} in it; name its folder with --libraries")
        self._library = ctypes.CDLL(str(path))
        self._last_error = getattr(self._library, last_error)
        self._last_error.restype = c_char_p

    def __getattr__(self, name):
        def call(*arguments):
            if getattr(self._library, "ovt_" + name)(*arguments) != 0:
                raise RuntimeError(self._last_error().decode())

        return call


class Tuned:
    """Makes plans on PyTorch's communicator. Everything except running a plan is collective."""

    def __init__(self, folder, database):
        self.lib = Library(folder, "liboverlaptune-run.so", "ovt_run_last_error")
        dist.barrier()
        torch.cuda.synchronize()  # nothing runs on the communicator
        comm = dist.group.WORLD._get_backend(torch.device("cuda"))._comm_ptr()
        self.world = c_void_p()
        self.lib.world_create(c_void_p(comm), None, byref(self.world))
        self.answers = None
        if database:
            platform = Platform()
            self.lib.platform_detect(self.world, byref(platform))
            self.answers = Library(folder, "liboverlaptune.so", "ovt_last_error")
            self.database = c_void_p()
            paths = (c_char_p * 1)(os.fsencode(database))
            self.answers.open(paths, c_size_t(1), byref(platform), byref(self.database))

    def answer(self, problem):
        answer = Answer(source=2, chunks=1, reason=b"no database")  # sequential
        if self.answers:
            self.answers.query(self.database, byref(problem), c_int32(GRAPH), byref(answer))
        return answer

    def layers(self, weights, tokens):
        """A layer for each weight, which is [n, k] on this rank. Reserves memory for all, then makes the plans."""
        asked = []
        for weight in weights:
            problem = Problem(m=tokens, n=weight.shape[0], k=weight.shape[1], op=GEMM_REDUCE_SCATTER, dtype=BF16,
                              ranks=dist.get_world_size())
            asked.append((problem, self.answer(problem)))
        shared = 0
        for problem, answer in asked:
            sizes = Sizes()
            self.lib.plan_sizes(byref(problem), byref(answer), byref(sizes))
            shared = max(shared, sizes.shared_bytes)
        self.lib.world_reserve(self.world, c_int64(shared))
        return [RowParallelLinear(self, weight, *each) for weight, each in zip(weights, asked)]


class RowParallelLinear(torch.nn.Module):
    def __init__(self, tuned, weight, problem, answer):
        super().__init__()
        self.lib, self.weight, self.answer = tuned.lib, weight, answer
        self.plan = c_void_p()
        self.lib.plan_create(tuned.world, byref(problem), byref(answer), byref(self.plan))
        self.y = torch.empty(problem.m // problem.ranks, problem.n, dtype=weight.dtype, device=weight.device)

    def forward(self, x):
        """Returns y for x of [tokens, k], contiguous. The next call overwrites y."""
        operands = (c_void_p(each.data_ptr()) for each in (x, self.weight, self.y))
        self.lib.plan_run(self.plan, *operands, c_void_p(torch.cuda.current_stream().cuda_stream))
        return self.y


def captured(call):
    call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        call()
    return graph


def medians(graphs):
    """Median microseconds of each graph on the slowest rank; the graphs take turns."""
    token = torch.zeros(1, device="cuda")
    times = [[] for _ in graphs]
    for _ in range(REPETITIONS + 5):
        for graph, list_ in zip(graphs, times):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            dist.all_reduce(token)  # every rank waits for the others
            start.record()
            graph.replay()
            end.record()
            torch.cuda.synchronize()
            list_.append(1e3 * start.elapsed_time(end))
    slowest = torch.tensor(times, device="cuda")[:, 5:].contiguous()
    dist.all_reduce(slowest, dist.ReduceOp.MAX)
    return [statistics.median(each) for each in slowest.tolist()]


def relative_error(y, reference):
    squares = torch.stack([(y.float() - reference).square().sum(), reference.square().sum()])
    dist.all_reduce(squares)
    return (squares[0] / squares[1]).sqrt().item()


def compare(name, layer, tokens):
    weight = layer.weight
    x = torch.randn(tokens, weight.shape[1], device="cuda").to(weight.dtype)
    partial = torch.empty(tokens, weight.shape[0], device="cuda", dtype=weight.dtype)
    y = torch.empty_like(layer.y)

    def plain():
        torch.matmul(x, weight.t(), out=partial)
        dist.reduce_scatter_tensor(y, partial)

    graphs = [captured(lambda: layer(x)), captured(plain)]
    ours, theirs = medians(graphs)
    reference = torch.empty(y.shape, device="cuda")
    dist.reduce_scatter_tensor(reference, x.float() @ weight.float().t())
    errors = relative_error(layer.y, reference), relative_error(y, reference)
    right = errors[0] <= 1.5 * errors[1] + 1 / 512
    if dist.get_rank() == 0:
        answer = layer.answer
        print(f"{name:5} {tokens} x {weight.shape[0]} x {weight.shape[1]}: {STRATEGIES[answer.strategy]} "
              f"({SOURCES[answer.source]}: {answer.reason.decode()})\n"
              f"      plan {ours:.1f} us, torch {theirs:.1f} us, {theirs / ours:.3f} times as fast; relative error "
              f"{errors[0]:.2e}, torch {errors[1]:.2e}: {'ok' if right else 'WRONG'}", flush=True)
    return right


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--libraries", default=".", help="folder in which, or below which, the libraries are")
    parser.add_argument("--db", help="tuning database")
    parser.add_argument("--tokens", type=int, default=4096)
    options = parser.parse_args()
    os.environ["NCCL_NVLS_ENABLE"] = "0"  # no NVLink multicast, as in tuning; before NCCL starts
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    ranks = dist.get_world_size()
    torch.manual_seed(dist.get_rank())
    weights = [torch.randn(HIDDEN, k // ranks, device="cuda").to(torch.bfloat16) for k in (HIDDEN, FFN)]
    tuned = Tuned(options.libraries, options.db)
    layers = tuned.layers(weights, options.tokens)
    right = [compare(name, layer, options.tokens) for name, layer in zip(("o", "down"), layers)]
    torch.cuda.synchronize()
    os._exit(0 if all(right) else 1)  # graphs, plans and communicators end with the process


if __name__ == "__main__":
    main()
