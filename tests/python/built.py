"""The products of the build, and databases from its command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[2]
LIBRARY = os.environ["OVERLAPTUNE_LIBRARY"]
PROGRAM = os.environ["BUILD_PROGRAM"]
LAYOUT = os.environ["BUILD_LAYOUT"]
#: The products of a build with CUDA; None: there are none.
RUN_LAYOUT = os.environ.get("BUILD_RUN_LAYOUT")
RUN_LIBRARY = os.environ.get("BUILD_RUN_LIBRARY")
WHEELS = Path(os.environ["BUILD_WHEELS"])
VERSION = os.environ["BUILD_VERSION"]

SIMULATED = "rtx4090-pcie-x4"


def tool(*arguments: str) -> str:
    """Standard output of the command line tool."""
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{arguments}: {done.returncode}: {done.stderr}")
    return done.stdout


def tool_json(*arguments: str) -> Any:
    return json.loads(tool(*arguments, "--json"))


def tune(database: Path, *arguments: str) -> Any:
    return tool_json("tune", "--machine", f"sim:{SIMULATED}", "--db", str(database), "--quick-probe",
                     "--top-k", "2", *arguments)


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs code in a fresh interpreter; a variable that is empty is taken out of its environment."""
    merged = {name: text for name, text in {**os.environ, **environment}.items() if text}
    return subprocess.run([sys.executable, "-c", code], env=merged, capture_output=True, text=True)
