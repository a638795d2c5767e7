"""A rank of scripts/neighbours without GPUs. NEIGHBOURS_FAKE (JSON) says how cells end: from "NEIGHBOUR" or "NEIGHBOUR ROW"
to one of the endings below, on all ranks or, as a list, on each rank. Others end right."""

from __future__ import annotations

import json
import os
import sys
import time

from cells import cell_of
from link import Link, Parted

RANK = int(os.environ["RANK"])


def ending(cell):
    endings = json.loads(os.environ.get("NEIGHBOURS_FAKE", "{}"))
    found = endings.get(f"{cell.neighbour} {cell.way.row}", endings.get(cell.neighbour, "right"))
    return found[RANK] if isinstance(found, list) else found


def run(link, cell, how):
    """The outcome, its text, and whether the process lives."""
    if how == "hang":
        time.sleep(600)
    if how == "die":
        print("terminate called", flush=True)
        os._exit(9)
    if how == "leave":
        os._exit(0)
    values = link.meet(RANK)
    assert values == list(range(int(os.environ["WORLD_SIZE"]))), values
    if how == "hang later":
        time.sleep(600)
    if how == "die later":
        os._exit(9)
    if how == "meet again":
        link.meet()
    kind, _, text = how.partition(": ")
    return kind, text, kind != "lost"


def main():
    start = os.environ.get("NEIGHBOURS_FAKE_START", "")
    link = Link()
    message = link.next()
    assert message["do"] == "begin" and message["rendezvous"]
    if start == "die":
        print("no NCCL here", flush=True)
        os._exit(1)
    if start == "no_gpus":
        link.say("no_gpus", text="1 GPU")
        os._exit(77)
    link.say("ready")
    while True:
        cell = cell_of(link.next()["cell"])
        try:
            outcome, text, alive = run(link, cell, ending(cell))
        except Parted as parted:
            outcome, text, alive = "parted", str(parted), True
        if cell.beside.leaves and outcome == "right":
            sys.exit(0)
        link.say("end", outcome=outcome, text=text, alive=alive, seconds=0.1)


if __name__ == "__main__":
    main()
