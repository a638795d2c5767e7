"""Hands the sequences of a plan of `overlaptune sequences` to a training loop: a batch sampler for PyTorch's DataLoader, and
the table that Megatron's hybrid context parallelism schedules by.

    overlaptune sequences --lengths lengths.txt --gpus 8 --gpus-per-node 8 --batch 256 --max-length 64k \\
        --db cluster.db --model config.json --out plan.json

    plan = read_plan("plan.json")
    loader = DataLoader(dataset, batch_sampler=PlanSampler(plan, rank), collate_fn=pack)

Line i of lengths.txt, counted from 0 without empty lines, is `dataset[i]`. As a program it prints the table of one batch:

    python sequence_sampler.py plan.json --batch 0 > sample_id_groups.json
"""

import argparse
import json


def read_plan(file):
    with open(file) as text:
        return json.load(text)


def group_of(part, rank):
    """The group of a micro-batch that a rank belongs to; None: the rank has nothing to do."""
    for group in part["groups"]:
        if 0 <= rank - group["first_gpu"] < group["degree"]:
            return group
    return None


class PlanSampler:
    """For each micro-batch of each batch the indices of the sequences that this rank's group packs together; an empty
    list where the rank is idle. `groups` has the group of each of these micro-batches: its GPUs, and in `sequences` the
    lengths to pad to."""

    def __init__(self, plan, rank):
        if not 0 <= rank < plan["gpus"]:
            raise ValueError(f"rank {rank}: expected 0 to {plan['gpus'] - 1}, a GPU of the plan")
        self.groups = [group_of(part, rank) for batch in plan["batches"] for part in batch["micro_batches"]]

    def __len__(self):
        return len(self.groups)

    def __iter__(self):
        return iter([group["indices"] if group else [] for group in self.groups])


def sample_id_groups(plan, batch):
    """By micro-batch and rank, the samples that the rank works on. A sample is named by its place in the global batch.
    Error: a rank without a sample, which Megatron does not allow."""
    parts = plan["batches"][batch]["micro_batches"]
    indices = sorted(index for part in parts for group in part["groups"] for index in group["indices"])
    places = {index: place for place, index in enumerate(indices)}
    table = []
    for number, part in enumerate(parts):
        groups = [group_of(part, rank) for rank in range(plan["gpus"])]
        if None in groups:
            raise ValueError(f"batch {batch}: GPU {groups.index(None)} has no sequence in micro-batch {number}: expected "
                             "one on every GPU; plan with fewer GPUs or a larger --least-degree")
        table.append([[places[index] for index in group["indices"]] for group in groups])
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", help="what overlaptune sequences --out wrote")
    parser.add_argument("--batch", type=int, default=0, help="which batch of the plan")
    arguments = parser.parse_args()
    plan = read_plan(arguments.plan)
    if not 0 <= arguments.batch < len(plan["batches"]):
        parser.error(f"--batch {arguments.batch}: expected 0 to {len(plan['batches']) - 1}, a batch of {arguments.plan}")
    try:
        print(json.dumps(sample_id_groups(plan, arguments.batch)))
    except ValueError as error:
        raise SystemExit(f"{arguments.plan}: {error}")


if __name__ == "__main__":
    main()
