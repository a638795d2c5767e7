"""Measured times of a layer's operations as a document that `overlaptune db import` takes: one run of probes on a
platform that the database has."""

from __future__ import annotations

import json
import secrets
import statistics
import subprocess
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter")


def utc_now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def new_run(platform: dict[str, Any], program_version: str, host: str, command_line: str) -> dict[str, Any]:
    """A run without measurements."""
    return {"uid": secrets.token_hex(16), "platform": platform["fingerprint"], "program_version": program_version,
            "host": host, "command_line": command_line, "seed": 0, "started_at": utc_now(), "finished_at": None,
            "measurements": []}


def probe_of(work: str, amount: int, ranks: int) -> dict[str, Any]:
    return {"kind": "layer", "work": work, "amount": amount, "ranks": ranks if work in COLLECTIVES else 1}


def row_of(probe: dict[str, Any], times_us: list[float]) -> dict[str, Any]:
    """A measurement, from the time of one run of the operation in each round (two or more)."""
    median, tenths = statistics.median(times_us), statistics.quantiles(times_us, n=10, method="inclusive")
    return {"probe": probe,
            # Tenths of equal times differ from the median by rounding.
            "time": {"median_us": median, "p10_us": min(tenths[0], median), "p90_us": max(tenths[-1], median),
                     "count": len(times_us)},
            "collective_time": None, "library_tile": None, "sm_clock_mhz": None, "power_w": None}


def document_of(platform: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
    return {"format": "overlaptune", "format_version": 3, "platforms": [platform],
            "probe_runs": [{**run, "finished_at": utc_now()}], "tuning_runs": [], "winners": []}


def platform_row(program: str, database: str, fingerprint: str) -> dict[str, Any]:
    """A platform of the database as an export has it. Raises ValueError where it is simulated."""
    done = subprocess.run([program, "db", "export", "--db", database], capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError(f"overlaptune db export: {done.stderr.strip() or f'exit status {done.returncode}'}")
    platform: dict[str, Any] = next(each for each in json.loads(done.stdout)["platforms"]
                                    if each["fingerprint"] == fingerprint)
    if platform["machine"] != "cuda":
        raise ValueError(f"--store: {platform['machine']}:{platform['name']} is simulated: expected a platform of GPUs")
    return platform


def stored(program: str, database: str, document: dict[str, Any], file: Path) -> str:
    """Imports the document, which is in the file until then; rows that the database has already stay. Why it is not
    stored, or nothing."""
    file.write_text(json.dumps(document, indent=1) + "\n")
    done = subprocess.run([program, "db", "import", "--db", database, str(file)], capture_output=True, text=True)
    if done.returncode == 0:
        return ""
    return (f"not stored: {done.stderr.strip() or f'exit status {done.returncode}'}; the times are in {file}: repeat "
            f"`overlaptune db import --db {database} {file}`")


def table_of(rows: list[dict[str, Any]]) -> str:
    """Rows with tokens, name, work, amount, assumed_us, us."""
    lines = ["| tokens | operation | work | amount | assumed µs | measured µs | measured / assumed |",
             "| -----: | --------- | ---- | -----: | ---------: | ----------: | -----------------: |"]
    lines += [f"| {row['tokens']} | {row['name']} | {row['work']} | {row['amount']} | {row['assumed_us']:.1f} | "
              f"{row['us']:.1f} | {row['us'] / row['assumed_us']:.2f} |" for row in rows]
    return "\n".join(lines)
