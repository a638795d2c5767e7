#!/usr/bin/env python3
"""Writes the curves of the collectives of a simulated machine's profile, from the probes of exported databases.

    machine/simulator/profiles/curves.py docs/results/2026-11-22-h200-nvlink-x8.json.gz machine/simulator/profiles/h200-nvlink-x8.json
    machine/simulator/profiles/curves.py --check DATABASE… PROFILE   # exits with 1 where the profile has other curves

A collective is taken from the first database that has it. The profile already has an entry for it, with `launch_in_times_us`.

Each curve is the medians of the last probe of each size. Where a median is over 1.35 times its tenth percentile,
the measurement was disturbed, and the tenth percentile is taken. The rest of the profile, and the values `launch_in_times_us`,
`queue` and `wait_share` of a collective, stay as they are.
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
    kept = ",\n".join(f'      "{key}": {json.dumps(old[key])}' for key in ("launch_in_times_us", "queue", "wait_share"))
    return f"""    {{
      "transport": "{transport}",
      "collective": "{collective}",
      "ranks": {sourced(str(ranks), source)},
      "times_us": {sourced(pairs(default), f"{source}, {chosen}")},
      "times_us_by_ctas": {{"value": [
          {table}],
          "source": "{source}"}},
{kept}
    }}"""


def with_curves(profile: str, databases: dict) -> str:
    document = json.loads(profile)
    ranks = document["gpu"]["count"]["value"]
    old = {(e["transport"], e["collective"]): e for e in document["collectives"]}
    probed: dict = {}
    for source, database in databases.items():
        for key, times in probed_times(database, ranks).items():
            probed.setdefault(key, (times, source))
    entries = [
        entry(old[key], *key, ranks, *probed[key])
        for key in ((t, c) for t in TRANSPORTS for c in COLLECTIVES)
        if key in probed
    ]
    array = '  "collectives": [\n' + ",\n".join(entries) + "\n  ],\n"
    return ARRAY.sub(lambda _: array, profile, count=1)


def main() -> int:
    check = "--check" in sys.argv[1:]
    files = [pathlib.Path(argument) for argument in sys.argv[1:] if argument != "--check"]
    if len(files) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    *exported, profile = files
    databases = {}
    for path in exported:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            databases[path.name.removesuffix(".json.gz")] = json.load(file)
    text = profile.read_text(encoding="utf-8")
    wanted = with_curves(text, databases)
    if check:
        if wanted != text:
            print(f"{profile}: the curves are not those of {', '.join(databases)}; run {sys.argv[0]}", file=sys.stderr)
        return int(wanted != text)
    profile.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
