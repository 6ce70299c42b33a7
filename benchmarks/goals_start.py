"""Goals for small tables: what the command line and a first call in Python take, on a machine that never ran them and warm.

python benchmarks/goals_start.py

A run is cold if its folder of compiled code is empty; Python's own compiled modules are those of the installation either way.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from discreet.testing import students

FIRST = "  - {method: remove_identifiers}\n"
PLANS = {
    "pram, sampling": "  - {method: pram, columns: [lunch], retention: 0.8}\n  - {method: sampling, fraction: 0.8}\n",
    "local suppression": "  - {method: local_suppression, k: 3, columns: [gender, ethnicity, age, grade]}\n",
    "microaggregation": "  - {method: microaggregation, columns: [age, birth_year], size: 3}\n",
    "full domain": "  - {method: generalization, k: 3, columns: [age, birth_month, birth_year], suppression_limit: 0.05}\n",
    "Mondrian": "  - {method: generalization, algorithm: partition, k: 3, columns: [age, birth_month, birth_year]}\n",
    "targeted suppression": "  - {method: targeted_suppression}\n",
}
"""Steps after remove_identifiers."""
COMMAND_LINE = "from discreet.cli import main; main()"
IN_PYTHON = "import sys, discreet; discreet.risk(discreet.read(sys.argv[1], sys.argv[2]))"


def run_quietly(program: str, *arguments: object, cache: Path | None = None) -> None:
    """Run a Python program in a process of its own, with a folder for compiled code that may be empty."""
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    if cache is not None:
        environment["XDG_CACHE_HOME"] = str(cache)
    command = [sys.executable, "-c", program, *map(str, arguments)]
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=300)


def least_seconds(job: Callable[[], object], times: int) -> float:
    """The shortest of several runs, because other work on the machine only adds to it."""
    took = []
    for _ in range(times):
        started = time.perf_counter()
        job()
        took.append(time.perf_counter() - started)
    return min(took)


def print_start_goals(print_row: Callable[[str, str, str, str], None], times: int = 5) -> None:
    """One row per command and plan: python's start, the first run ever, warm, and the goals of both."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table, policy, out = folder / "table.csv", folder / "policy.yaml", folder / "out.csv"
        data = students(1000, dense=True)
        data.frame.select(data.columns[:20]).write_csv(table)
        run_quietly(COMMAND_LINE, "analyze", table, "-o", policy)
        start = least_seconds(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True), times)
        jobs: dict[str, tuple[str, tuple[object, ...], str]] = {
            "--help": (COMMAND_LINE, ("--help",), ""),
            "analyze": (COMMAND_LINE, ("analyze", table), ""),
            "risk": (COMMAND_LINE, ("risk", table, "-p", policy), "under 2.5 / 1.0 s"),
            "discreet.risk in Python": (IN_PYTHON, (table, policy), ""),
        }
        proposed = policy.read_text(encoding="utf-8")
        for plan, steps in PLANS.items():
            planned = folder / f"{plan}.yaml"
            planned.write_text(proposed.replace(FIRST, FIRST + steps), encoding="utf-8")
            goal = "under 4 / 1.2 s" if plan == "pram, sampling" else "under 4 s"
            jobs[f"mask, {plan}"] = COMMAND_LINE, ("mask", table, out, "--overwrite", "-p", planned), goal
        jobs["assess"] = COMMAND_LINE, ("assess", table, out, "-p", policy), ""
        for work, (program, arguments, goal) in jobs.items():
            cache = folder / f"cache {work}"
            cold = least_seconds(lambda p=program, a=arguments, c=cache: run_quietly(p, *a, cache=c), 1)
            warm = least_seconds(lambda p=program, a=arguments, c=cache: run_quietly(p, *a, cache=c), times)
            print_row(
                f"{work}, 1,000 x 20, first run ever / warm", f"python's start {start:.2f} s", f"{cold:.2f} / {warm:.2f} s", goal
            )


if __name__ == "__main__":
    print("| work | peer or floor | measured | goal |\n|---|---|---|---|")
    print_start_goals(lambda *cells: print("| " + " | ".join(cells) + " |", flush=True), *(int(given) for given in sys.argv[1:2]))
