#!/usr/bin/env python3
"""Writes the curves of the collectives of a simulated machine's profile, from the probes of an exported database.

    machine/sim/profiles/curves.py docs/results/2026-11-22-h200-nvlink-x8.json.gz machine/sim/profiles/h200-nvlink-x8.json
    machine/sim/profiles/curves.py --check DATABASE PROFILE    # exits with 1 where the profile has other curves

Each curve is the medians of the last probe of each size. Where a median is over 1.35 times its tenth percentile,
the measurement was disturbed, and the tenth percentile is taken. The rest of the profile, and the values `queue` and
`wait_share` of a collective, stay as they are. (`queue` and `wait_share` are read by transport and collective.)
"""

import gzip
import json
import pathlib
import re
import sys

TRANSPORTS = ("ring", "symmetric", "peer_access")
COLLECTIVES = ("all_reduce", "reduce_scatter", "all_gather", "all_to_all")
MOST_DISTURBED = 1.35
ARRAY = re.compile(r'  "collectives": \[\n.*?\n  \],\n', re.DOTALL)


def probed_times(database: dict, ranks: int) -> dict:
    """Microseconds by (transport, collective), then by CTAs, then by bytes, of platforms over NVLink."""
    over_nvlink = {p["fingerprint"] for p in database["platforms"] if p["transport"] == "nvlink"}
    times: dict = {}
    for run in database["probe_runs"]:
        if run["platform"] not in over_nvlink:
            continue
        for measurement in run["measurements"]:
            probe = measurement["probe"]
            if probe["kind"] != "collective" or probe["ranks"] != ranks:
                continue
            time = measurement["time"]
            disturbed = time["median_us"] > MOST_DISTURBED * time["p10_us"]
            by_ctas = times.setdefault((probe["transport"], probe["collective"]), {})
            curve = by_ctas.setdefault(probe["comm_ctas"], {})
            curve[probe["bytes"]] = round(time["p10_us" if disturbed else "median_us"], 1)
    return times


def pairs(curve: dict) -> str:
    return "[" + ", ".join(f"[{size}, {curve[size]}]" for size in sorted(curve)) + "]"


def sourced(value: str, source: str) -> str:
    return f'{{"value": {value}, "source": {json.dumps(source)}}}'


def entry(old: dict, transport: str, collective: str, ranks: int, by_ctas: dict, source: str) -> str:
    rows = sorted(ctas for ctas in by_ctas if ctas > 0)
    default = by_ctas.get(0, by_ctas[rows[-1]])
    table = ",\n          ".join(f"[{ctas}, {pairs(by_ctas[ctas])}]" for ctas in rows)
    chosen = "NCCL's choice of CTAs" if 0 in by_ctas else f"{rows[-1]} CTAs"
    kept = "".join(f',\n      "{key}": {json.dumps(old[key])}' for key in ("queue", "wait_share"))
    return f"""    {{
      "transport": "{transport}",
      "collective": "{collective}",
      "ranks": {sourced(str(ranks), source)},
      "times_us": {sourced(pairs(default), f"{source}, {chosen}")},
      "times_us_by_ctas": {{"value": [
          {table}],
          "source": "{source}"}},
      "launch_in_times_us": {{"value": {json.dumps(old["launch_in_times_us"]["value"])}, "source": "graph replay, as launch.graph_replay_us"}}{kept}
    }}"""


def with_curves(profile: str, database: dict, source: str) -> str:
    document = json.loads(profile)
    ranks = document["gpu"]["count"]["value"]
    old = {(e["transport"], e["collective"]): e for e in document["collectives"]}
    times = probed_times(database, ranks)
    entries = [
        entry(old[key], *key, ranks, times[key], source)
        for key in ((t, c) for t in TRANSPORTS for c in COLLECTIVES)
        if key in times
    ]
    array = '  "collectives": [\n' + ",\n".join(entries) + "\n  ],\n"
    return ARRAY.sub(lambda _: array, profile, count=1)


def main() -> int:
    check = "--check" in sys.argv[1:]
    files = [pathlib.Path(argument) for argument in sys.argv[1:] if argument != "--check"]
    if len(files) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    database, profile = files
    with gzip.open(database, "rt", encoding="utf-8") as file:
        measured = json.load(file)
    text = profile.read_text(encoding="utf-8")
    wanted = with_curves(text, measured, database.name.removesuffix(".json.gz"))
    if check:
        if wanted != text:
            print(f"{profile}: the curves are not those of {database}; run {sys.argv[0]}", file=sys.stderr)
        return int(wanted != text)
    profile.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
