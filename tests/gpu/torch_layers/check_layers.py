"""Checks the layers for PyTorch on GPUs, forward and backward, against products and collectives in fp32:

    NCCL_NVLS_ENABLE=0 PYTHONPATH=python torchrun --standalone --nproc-per-node 2 \\
        tests/gpu/torch_layers/check_layers.py [CASE ...]

The variables OVERLAPTUNE_LIBRARY and OVERLAPTUNE_RUN_LIBRARY name the libraries. It runs the named cases, or all, and
prints a line for each: `ok`, or `FAILED` with the rank and the reason. With OVERLAPTUNE_RANKS_PER_GPU=2 two ranks share
each GPU, which proves the results. A case that takes longer than LIMIT_S ends the
process with the places where it waits. The exit status is 0 if all are ok."""

from __future__ import annotations

import faulthandler
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable

import compile_cases
import dtensor_cases
import end_cases
import family_cases
import operand_cases
import result_cases
import scaled_cases
import torch
import torch.distributed as dist
import world_cases

from overlaptune.torch import World

LIMIT_S = 180
Case = Callable[[World], None]


def failure(case: Case, world: World) -> str:
    """The fault on this rank; empty: none."""
    torch.manual_seed(1000 + dist.get_rank())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            case(world)
        torch.cuda.synchronize()
    except Exception as error:  # the other ranks hear of it
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} ({os.path.basename(place.filename)}:{place.lineno})"
    return ""


def main() -> None:
    os.environ.setdefault("NCCL_NVLS_ENABLE", "0")  # no NVLink multicast; before NCCL starts
    local, sharing = int(os.environ["LOCAL_RANK"]), int(os.environ.get("OVERLAPTUNE_RANKS_PER_GPU", "1"))
    if sharing > 1:  # NCCL lets ranks share a GPU if it takes them for different hosts
        os.environ.update({"NCCL_HOSTID": f"rank-{local}", "NCCL_SOCKET_IFNAME": "lo", "NCCL_NET": "Socket"})
    device = torch.device("cuda", local // sharing)
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    rank = dist.get_rank()
    # In this order: the last ones end worlds, and at last the process group.
    cases: dict[str, Case] = {**operand_cases.CASES, **world_cases.CASES, **family_cases.CASES, **compile_cases.CASES,
                              **dtensor_cases.CASES, **scaled_cases.CASES, **result_cases.CASES, **end_cases.CASES}
    names = sys.argv[1:] or list(cases)
    unknown = [name for name in names if name not in cases]
    if unknown:
        sys.exit(f"no case {', '.join(unknown)}; expected some of {', '.join(cases)}")
    world = World(families=False)  # each number of rows has the plan that its case expects
    store = dist.distributed_c10d._get_default_store()
    failed = 0
    for number, name in enumerate(names):
        faulthandler.dump_traceback_later(LIMIT_S, exit=True)
        begin = time.monotonic()
        store.set(f"torch_layers/{number}/{rank}", failure(cases[name], world) or "-")
        found = {each: store.get(f"torch_layers/{number}/{each}").decode() for each in range(world.size)}
        wrong = {each: text for each, text in found.items() if text != "-"}
        failed += bool(wrong)
        if rank == 0:
            said = "ok" if not wrong else "FAILED " + "; ".join(f"rank {each}: {text}" for each, text in wrong.items())
            print(f"{name:32} {said} ({time.monotonic() - begin:.1f} s)", flush=True)
    faulthandler.cancel_dump_traceback_later()
    if rank == 0:
        print(f"{len(names) - failed} ok, {failed} FAILED, {world.size} ranks of {torch.cuda.get_device_name()}, "
              f"PyTorch {torch.__version__}", flush=True)
        time.sleep(0.5)  # the others read the store of this process to the end
    os._exit(1 if failed else 0)  # graphs, plans and communicators end with the process


if __name__ == "__main__":
    main()
