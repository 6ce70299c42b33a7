"""What the twenty plans by hand do to each table, under each limit; kept in a file, because nothing of it depends on the clock.

    python benchmarks/selection_by_hand.py FILE [--tables hr court ...] [--limits k3 k5 ...] [--data FOLDER] [--longest 60]

One line of JSON per table, limit and plan is appended to FILE; what it has already is left out. A plan that takes longer than
--longest seconds of the processor is stopped, and its line says so. benchmarks/selection.py reads the file with --by-hand. The
order is that of the limits, so that a run that is stopped has the same limits for all tables.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

if __name__ == "__main__":  # before anything reads a clock: the machine may do other things as well
    time.monotonic = time.perf_counter = time.process_time

from selection_limits import LIMITS, set_limits
from selection_plans import plans_by_hand
from selection_tables import ANALYSES, FILES, GENERATED, load_table

from discreet.engine.runtime.progress import OutOfTimeError, stop_after
from discreet.model.microdata import Microdata
from discreet.selection.evaluation.evaluator import Evaluator
from discreet.selection.options import SelectOptions
from discreet.selection.proposals import add_missing_hierarchies
from discreet.selection.wizard import spell_out_losses


@dataclass(frozen=True)
class HandOutcome:
    """The numbers of one plan by hand; ``rank`` orders them as the wizard orders its own plans."""

    table: str
    limit: str
    plan: str
    met: bool = False
    objective: float = 1.0
    rank: tuple[float, float, float] = (1e9, 1.0, 1.0)
    false: float = 0.0
    blank: float = 0.0
    effect: float | None = None
    gaps: int | None = None
    missed: str = ""
    seconds: float = 0.0


def best_of(outcomes: list[HandOutcome]) -> HandOutcome | None:
    """The plan that meets the limits at the least rank; None if no plan meets them."""
    return min((outcome for outcome in outcomes if outcome.met), key=lambda outcome: tuple(outcome.rank), default=None)


def run_plans(
    data: Microdata, table: str, limit: str, *, longest: float, seconds: float | None = None, known: frozenset[str] = frozenset()
) -> Iterator[HandOutcome]:
    """The outcome of each plan by hand that is not ``known``; without end if ``seconds`` is None, else as many as fit in."""
    options = SelectOptions(analyses=ANALYSES.get(table, ()))
    data = set_limits(data, limit)
    complete = data.with_policy(spell_out_losses(add_missing_hierarchies(data), data, options))
    plans = {name: plan for name, plan in plans_by_hand(complete, LIMITS[limit][1]).items() if name not in known}
    end = None if seconds is None else time.monotonic() + seconds
    evaluate = Evaluator(complete, options, patient=True) if plans else None
    for name, plan in plans.items():
        began = time.monotonic()
        try:
            with stop_after(min(began + longest, end) if end is not None else began + longest):
                outcome = evaluate(plan) if evaluate is not None else None
        except OutOfTimeError:
            yield HandOutcome(table, limit, name, missed="it was stopped", seconds=time.monotonic() - began)
            continue
        assert outcome is not None
        yield HandOutcome(
            table, limit, name, outcome.meets_limits, outcome.loss, outcome.rank, outcome.measured.get("falsehood.worst") or 0.0,
            outcome.blank, outcome.measured.get("associations.effect"), outcome.gaps,
            outcome.error or ", ".join(outcome.missed), time.monotonic() - began,
        )  # fmt: skip


def read_outcomes(file: Path | None) -> dict[tuple[str, str], list[HandOutcome]]:
    """The outcomes in a file, by table and limit."""
    outcomes: dict[tuple[str, str], list[HandOutcome]] = {}
    if file is not None and file.exists():
        for line in file.read_text(encoding="utf-8").splitlines():
            outcome = HandOutcome(**json.loads(line))
            outcomes.setdefault((outcome.table, outcome.limit), []).append(outcome)
    return outcomes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--tables", nargs="+", choices=[*GENERATED, *FILES], default=[*GENERATED, *FILES])
    parser.add_argument("--limits", nargs="+", choices=list(LIMITS), default=list(LIMITS))
    parser.add_argument("--longest", type=float, default=60, help="seconds of one plan")
    parser.add_argument("--data", type=Path, default=os.environ.get("DISCREET_DATA"))
    arguments = parser.parse_args()
    known = read_outcomes(arguments.file)
    folder = arguments.data and Path(arguments.data)
    tables = {name: data for name in arguments.tables if (data := load_table(name, folder)) is not None}
    for limit in arguments.limits:
        for table, data in tables.items():
            plans = frozenset(outcome.plan for outcome in known.get((table, limit), ()))
            for outcome in run_plans(data, table, limit, longest=arguments.longest, known=plans):
                with arguments.file.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(outcome), ensure_ascii=False) + "\n")
                print(f"{table}, {limit}, {outcome.plan}: {outcome.objective:.4f} {outcome.missed}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
