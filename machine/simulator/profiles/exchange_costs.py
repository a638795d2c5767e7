#!/usr/bin/env python3
"""Prints what exported databases of one number of GPUs say about exchanges beside a GEMM, for the sections `copy` and
`store` of a profile, and `queue` and `wait_share` of its collectives by peer access. docs/profiles.md says how the values
follow.

    machine/simulator/profiles/exchange_costs.py tests/data/heldout/h200x4_heldout.json.gz docs/results/2026-11-22-h200-nvlink-x4.json.gz
"""

import collections
import gzip
import json
import statistics
import sys

SMS = 132
ALL_SMS = 0  # in a probe
# Where the SM clock was not read from the GPU's counters it is a multiple of this. It is then that of another moment.
CLOCK_STEP_MHZ = 15
# Bytes of an exchange that take no time beside its latency.
FEW_BYTES = 256 << 10
# A config is limited by the links if it sends this share of what plain stores reach.
LINK_LIMITED = 0.75


def measurements(databases: list) -> list:
    """(database, probe, measurement) of every probe over NVLink."""
    rows = []
    for number, database in enumerate(databases):
        over_nvlink = {p["fingerprint"] for p in database["platforms"] if p["transport"] == "nvlink"}
        for run in database["probe_runs"]:
            if run["platform"] in over_nvlink:
                rows += [(number, m["probe"], m) for m in run["measurements"]]
    return rows


def median_us(measurement: dict) -> float:
    return measurement["time"]["median_us"]


def replays(rows: list) -> dict:
    """Microseconds of a graph replay, by database."""
    return {n: median_us(m) for n, p, m in rows if p["kind"] == "launch" and p["cost"] == "graph_replay"}


def show(name: str, values: list, digits: int = 2) -> None:
    listed = " ".join(f"{value:.{digits}f}" for value in sorted(values))
    print(f"{name}: median {statistics.median(values):.{digits}f} of {listed}" if values else f"{name}: not measured")


def smallest_copies(rows: list) -> list:
    replay = replays(rows)
    return [
        median_us(m) - replay[n]
        for n, p, m in rows
        if p["kind"] == "collective" and p["transport"] == "copy_engine" and p["comm_ctas"] == 0
        and p["collective"] in ("all_gather", "all_to_all") and p["bytes"] <= FEW_BYTES
    ]


def beside(rows: list) -> dict:
    """(factors on the GEMM at the same clock, factors on the exchange) by (transport, collective, CTAs), for generated
    GEMMs of 128 x 256 at K = 1024."""
    alone: dict = {}
    exchanges: dict = {}
    for n, p, m in rows:
        if p["kind"] == "gemm":
            alone[n, p["m"], p["n"], p["k"], p["block_m"], p["block_n"], p["stages"], p["cluster"], p["sms"]] = m
        elif p["kind"] == "collective":
            exchanges[n, p["transport"], p["collective"], p["comm_ctas"], p["bytes"]] = m
    replay = replays(rows)
    factors: dict = collections.defaultdict(lambda: ([], []))
    for n, p, m in rows:
        if p["kind"] != "concurrent" or (p["gemm"]["block_m"], p["gemm"]["block_n"], p["gemm"]["k"]) != (128, 256, 1024):
            continue
        g, c = p["gemm"], p["collective"]
        gemm = alone.get((n, g["m"], g["n"], g["k"], g["block_m"], g["block_n"], g["stages"], g["cluster"], SMS - c["comm_ctas"]))
        by_itself = exchanges.get((n, c["transport"], c["collective"], c["comm_ctas"], c["bytes"]))
        of_gemm, of_exchange = factors[c["transport"], c["collective"], c["comm_ctas"]]
        if gemm and all(each["sm_clock_mhz"] % CLOCK_STEP_MHZ for each in (m, gemm)):
            of_gemm.append(median_us(m) * m["sm_clock_mhz"] / median_us(gemm) / gemm["sm_clock_mhz"])
        if by_itself:
            of_exchange.append((m["collective_time"]["median_us"] - replay[n]) / (median_us(by_itself) - replay[n]))
    return factors


def sent_bytes(problem: dict) -> float:
    times = 2 if problem["op"] == "gemm_all_reduce" else 1
    return times * 2 * problem["m"] * problem["n"] * (problem["ranks"] - 1) / problem["ranks"]


def fastest_gemms(rows: list) -> dict:
    """Microseconds of the fastest GEMM on all SMs that was probed, without the replay, by (m, n, k)."""
    replay = replays(rows)
    fastest: dict = {}
    for number, probe, measured in rows:
        if probe["kind"] == "gemm" and probe["sms"] == ALL_SMS:
            shape = (probe["m"], probe["n"], probe["k"])
            time = median_us(measured) - replay[number]
            fastest[shape] = min(fastest.get(shape, time), time)
    return fastest


def beside_shares(databases: list, gemms: dict, store_rate: float) -> list:
    """Of `peer_store` between two m, the fastest config of each, where the links are the limit: by how much the time grows
    more than that of plain stores of as many bytes, over the growth of the GEMM alone."""
    shares = []
    for database in databases:
        fastest: dict = collections.defaultdict(dict)
        for run in database["tuning_runs"]:
            for candidate in run["candidates"]:
                problem = candidate["problem"]
                if candidate["verdict"] != "valid" or not candidate["config"].startswith("peer_store"):
                    continue
                if problem["op"] not in ("gemm_all_reduce", "gemm_all_to_all"):
                    continue
                of_m = fastest[problem["op"], problem["n"], problem["k"]]
                point = (median_us({"time": candidate["measured"]}), sent_bytes(problem))
                of_m[problem["m"]] = min(of_m.get(problem["m"], point), point)
        for (_, n, k), of_m in fastest.items():
            sizes = [m for m in sorted(of_m) if (m, n, k) in gemms]
            for fewer, more in zip(sizes, sizes[1:]):
                (less_time, less_bytes), (time, sent) = of_m[fewer], of_m[more]
                if sent / time * 1e-3 >= LINK_LIMITED * store_rate:
                    links = (sent - less_bytes) / store_rate * 1e-3
                    shares.append((time - less_time - links) / (gemms[more, n, k] - gemms[fewer, n, k]))
    return shares


def sum_gaps(databases: list) -> list:
    """Microseconds for each further group and each peer, of all-reduces by `peer_store` that differ in their groups alone
    (and in their swizzle); the fastest of each number of groups."""
    gaps = []
    for database in databases:
        fastest: dict = collections.defaultdict(dict)
        for run in database["tuning_runs"]:
            for candidate in run["candidates"]:
                problem, config = candidate["problem"], candidate["config"]
                if candidate["verdict"] != "valid" or not config.startswith("peer_store"):
                    continue
                if problem["op"] != "gemm_all_reduce":
                    continue
                fields = dict(field.split("=", 1) for field in config.split()[1:])
                same = (problem["m"], problem["n"], problem["k"], problem["ranks"], fields["tile"], fields["cluster"])
                groups = fields["groups"].count(",") + 1
                time = median_us({"time": candidate["measured"]})
                fastest[same][groups] = min(fastest[same].get(groups, time), time)
        for (_, _, _, ranks, _, _), times in fastest.items():
            counts = sorted(times)
            gaps += [(times[more] - times[fewer]) / (more - fewer) / (ranks - 1) for fewer, more in zip(counts, counts[1:])]
    return gaps


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    databases = []
    for path in sys.argv[1:]:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            databases.append(json.load(file))
    rows = measurements(databases)
    show("smallest exchange by copy engines, us without replay", smallest_copies(rows))
    replay = replays(rows)
    stores = [p["bytes"] / (median_us(m) - replay[n]) * 1e-3 for n, p, m in rows if p["kind"] == "copy" and p["ctas"] == 64]
    show("stores by 64 CTAs, GB/s", stores, 0)
    shares = beside_shares(databases, fastest_gemms(rows), statistics.median(stores))
    show("tiles of peer_store beside the GEMM, share", shares)
    show("a further group of an all-reduce by peer_store, us a peer", sum_gaps(databases))
    factors = beside(rows)
    copies = [f for (transport, collective, _), (gemms, _) in factors.items() for f in gemms
              if (transport, collective) == ("copy_engine", "all_to_all")]
    show("GEMM beside all-to-all by copy engines, factor", copies)
    for (transport, collective, ctas), (of_gemm, of_exchange) in sorted(factors.items()):
        if transport == "peer_access":
            show(f"GEMM beside {collective} by peer access, {ctas} CTAs", of_gemm)
            show(f"{collective} by peer access, {ctas} CTAs, beside a GEMM", of_exchange)
    return 0


if __name__ == "__main__":
    sys.exit(main())
