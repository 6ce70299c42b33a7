"""The wizard against twenty plans by hand, on tables that it has not seen and on limits that owners set.

    python benchmarks/selection.py [--tables hr court ...] [--limits k3 k5 ...] [--seconds 60] [--data FOLDER] [--by-hand FILE]
                                   [--resume FILE] [--minutes 180] [--longest-by-hand 20] [--hand-seconds 120] [--no-hand]
                                   [--seed 7] [--processor-time]

Tables: benchmarks/selection_tables.py; adult, census_income_kdd and nmes1988 are read from FOLDER or from the folder that
DISCREET_DATA names, as Parquet, and left out with a message where they are not there. Limits: benchmarks/selection_limits.py.
Plans by hand: benchmarks/selection_plans.py.

One line per table and limit: whether the limits are met (and how many plans by hand meet them); the seconds used of those that
are promised (1.1 x budget + 5); the objective of the wizard's plan and of the best plan by hand, their ratio; then pairs of the
wizard and the best by hand: false values of the worst attribute, suppressed values of the most suppressed key, largest change of
a named regression effect (lost above 25 %), gaps in the evidence that the plan causes; then the plans tried, the share that
cannot run, those that were stopped because they took too long, and the load of the machine. The best plan by hand has the least
objective that meets the limits, of those without gaps if there is one, and of those that leave no key more than 60 % blank if
there is one. A line for all cases and a summary follow.

The plans by hand do not depend on the clock: benchmarks/selection_by_hand.py runs them beforehand, on a machine that may be busy,
into the file that --by-hand names; without it they are run here, for at most --hand-seconds per case. The searches want a quiet
machine: each takes at most 1.1 x --seconds + 5, and none is begun after --minutes. With --resume the cases are appended to a
file, those that it has already are left out, and the table of all cases in it is printed: so it can be completed in parts. The
order is that of the limits, then of the tables. With --processor-time seconds are those of the processor, for a machine that does
other things as well; nothing can be read off such a run about the clock, and the load says how busy the machine was.

Nine tables and seven limits take about 70 minutes; `--tables hr survey visits --limits k5 risk0.09 --seconds 20 --hand-seconds
30` takes six.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

if "--processor-time" in sys.argv:  # before anything reads a clock
    time.monotonic = time.perf_counter = time.process_time

from selection_by_hand import HandOutcome, best_of, read_outcomes, run_plans
from selection_limits import LIMITS, set_limits
from selection_tables import ANALYSES, FILES, GENERATED, load_table

import discreet
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.selection.outcome import LARGEST_CHANGE_OF_EFFECT, MOST_BLANK
from discreet.selection.trials import Trial

HEADINGS = (
    "table", "limit", "met (by hand)", "seconds of promised", "objective", "by hand", "ratio", "false, worst attribute",
    "most suppressed key", "effects", "gaps", "plans", "cannot run", "stopped", "load",
)  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """The wizard's result for one table and limit beside the best plan by hand; ``cells`` is the line of the table."""

    cells: list[str]
    met: bool
    met_by_hand: bool
    ratio: float | None
    blank: float
    blank_by_hand: float | None
    failed: int
    plans: int
    in_time: bool
    gaps: int | None = None
    gaps_by_hand: int | None = None
    effect: float | None = None
    effect_by_hand: float | None = None


def compare(table: str, limit: str, data: Microdata, hand: list[HandOutcome], arguments: argparse.Namespace) -> Comparison:
    """The wizard against the plans by hand, for one table and limit."""
    best, meeting = best_of(hand), sum(outcome.met for outcome in hand)
    trials: list[Trial] = []
    began = time.monotonic()
    selection = discreet.select(
        set_limits(data, limit),
        seconds=arguments.seconds,
        seed=arguments.seed,
        analyses=list(ANALYSES.get(table, ())),
        on_trial=trials.append,
    )
    seconds = time.monotonic() - began
    load = os.getloadavg()[0]
    print(*selection.sentences, sep="\n  ", file=sys.stderr, flush=True)
    if best is not None:
        print("  best by hand:", best.plan, file=sys.stderr)
    errors = [trial.error for trial in trials if trial.error is not None]
    stopped = [error for error in errors if error.startswith("it was stopped")]  # by the clock: that plan may well run
    failed = [error for error in errors if error not in stopped]
    for error in dict.fromkeys(errors):
        print("  cannot run:", error, file=sys.stderr)
    met = not selection.standing  # gaps in the evidence are the policy's, not the plan's
    losses = {name: score.summary for name, score in selection.assessment.losses.items()}
    blank = max((share for name, share in _blank_shares(selection, data).items()), default=0.0)
    ratio = selection.loss / best.objective if best and best.objective and met else None
    gaps, effect = selection.gaps_of_plan, losses.get("associations", {}).get("effect")
    promised = 1.1 * arguments.seconds + 5
    cells = [
        table, limit, f"{'yes' if met else 'no'} ({meeting} of {len(hand)})", f"{seconds:.0f} of {promised:.0f}",
        f"{selection.loss:.4f}", f"{best.objective:.4f}" if best else "–", f"{ratio:.2f}" if ratio is not None else "–",
        f"{_percent(losses.get('falsehood', {}).get('worst'))}, {_percent(best.false) if best else '–'}",
        f"{_percent(blank)}, {_percent(best.blank) if best else '–'}",
        f"{_effect(effect)}, {_effect(best.effect) if best else '–'}",
        ", ".join("–" if number is None else str(number) for number in (gaps, best.gaps if best else None)),
        f"{len(trials)}", f"{len(failed) / max(1, len(trials)):.1%}", f"{len(stopped)}",
        f"{load:.1f}",
    ]  # fmt: skip
    return Comparison(
        cells, met, best is not None, ratio, blank, best.blank if best else None, len(failed), len(trials), seconds <= promised,
        gaps, best.gaps if best else None, effect, best.effect if best else None,
    )  # fmt: skip


def summary_row(results: list[Comparison]) -> list[str]:
    """One line for all cases: limits met, results in time, mean and worst ratio, effects kept, plans that cannot run."""
    required = [result for result in results if result.met_by_hand]
    ratios = [result.ratio for result in required if result.ratio is not None]
    failed, plans = sum(result.failed for result in results), sum(result.plans for result in results)
    mean = f"{sum(ratios) / len(ratios):.2f} on average, {max(ratios):.2f} at worst" if ratios else "–"
    met = f"{sum(result.met for result in results)} of {len(results)} (by hand {len(required)})"
    in_time = f"{sum(result.in_time for result in results)} of {len(results)} in time"
    kept = sum(result.effect is not None and result.effect <= LARGEST_CHANGE_OF_EFFECT for result in results)
    named = sum(result.effect is not None for result in results)
    return [
        "all", "", met, in_time, "", "", mean, "", f"{_percent(max(result.blank for result in results))} at most",
        f"{kept} of {named} kept", "", f"{plans}", f"{failed / max(1, plans):.1%}", "", "",
    ]  # fmt: skip


def summarize(results: list[Comparison]) -> list[str]:
    """The goals of the benchmark, each with the number of cases that reach it."""
    required = [result for result in results if result.met_by_hand]
    ratios = [result.ratio for result in required if result.ratio is not None]
    failed, plans = sum(result.failed for result in results), sum(result.plans for result in results)
    too_blank = sum(result.blank > MOST_BLANK for result in results)
    keeping = [result for result in results if result.blank_by_hand is not None and result.blank_by_hand <= MOST_BLANK]
    avoided = sum(result.blank > MOST_BLANK for result in keeping)
    lines = [
        f"limits met of those that a plan by hand meets: {sum(result.met for result in required)} of {len(required)}",
        f"cases with a key more than 60 % blank: {too_blank} of {len(results)}; of these a plan by hand avoids it in {avoided}",
        f"plans that cannot run: {failed} of {plans}",
        f"results in time: {sum(result.in_time for result in results)} of {len(results)}",
    ]
    without = [result for result in required if result.gaps_by_hand == 0]
    lines.append(
        f"plans without gaps where a plan by hand has none: {sum(result.gaps == 0 for result in without)} of {len(without)}"
    )
    lines.append(f"plans without gaps of those that meet the limits: {sum(one.met and one.gaps == 0 for one in results)}")
    held = [one for one in required if one.effect_by_hand is not None and one.effect_by_hand <= LARGEST_CHANGE_OF_EFFECT]
    if held:
        also = sum(one.effect is not None and one.effect <= LARGEST_CHANGE_OF_EFFECT for one in held)
        lines.append(f"named effects within 25 % where the best plan by hand keeps them so: {also} of {len(held)}")
    if ratios:
        worst, mean = max(ratios), sum(ratios) / len(ratios)
        lines.insert(1, f"objective as a share of the best by hand: {mean:.2f} on average, {worst:.2f} at worst")
    return lines


def _blank_shares(selection: Any, data: Microdata) -> Mapping[str, float]:
    """The share of each key's values that the plan suppresses."""
    return {name: change.suppressed for name, change in selection.changes.items() if name in data.named(Role.KEY)}


def _effect(value: Any) -> str:
    return "–" if value is None else f"{_percent(value)}{' (lost)' if value > LARGEST_CHANGE_OF_EFFECT else ''}"


def _percent(value: Any) -> str:
    return "–" if value is None else f"{100 * float(value):.0f} %"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", choices=[*GENERATED, *FILES], default=[*GENERATED, *FILES])
    parser.add_argument("--limits", nargs="+", choices=list(LIMITS), default=list(LIMITS))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--longest-by-hand", type=float, default=20, help="seconds of one plan by hand")
    parser.add_argument("--hand-seconds", type=float, default=120, help="seconds of all plans by hand of a case")
    parser.add_argument("--minutes", type=float, default=180, help="no case is begun later")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--no-hand", action="store_true")
    parser.add_argument("--by-hand", type=Path, help="file of benchmarks/selection_by_hand.py")
    parser.add_argument("--resume", type=Path, help="file that cases are appended to, and whose cases are printed")
    parser.add_argument("--processor-time", action="store_true", help="count the processor's seconds")
    parser.add_argument("--data", type=Path, default=os.environ.get("DISCREET_DATA"))
    arguments = parser.parse_args()
    results = read_results(arguments.resume)
    outcomes = read_outcomes(arguments.by_hand)
    print_heading()
    for result in results:
        print(f"| {' | '.join(result.cells)} |", flush=True)
    done = {tuple(result.cells[:2]) for result in results}
    cases = [(table, limit) for limit in arguments.limits for table in arguments.tables if (table, limit) not in done]
    end = time.monotonic() + 60 * arguments.minutes
    tables: dict[str, Microdata | None] = {}
    for table, limit in cases:
        if time.monotonic() > end:
            print(f"{table}, {limit} is left out: {arguments.minutes:g} minutes are over", file=sys.stderr)
            continue
        if table not in tables:
            tables[table] = load_table(table, arguments.data and Path(arguments.data))
        data = tables[table]
        if data is None:
            print(f"{table} is left out: name the folder of {table}.parquet with --data or DISCREET_DATA", file=sys.stderr)
            continue
        print(f"{table}, {limit}", file=sys.stderr, flush=True)
        hand = outcomes.get((table, limit), [])
        if not hand and not arguments.no_hand:
            hand = list(run_plans(data, table, limit, longest=arguments.longest_by_hand, seconds=arguments.hand_seconds))
        results.append(compare(table, limit, data, hand, arguments))
        print(f"| {' | '.join(results[-1].cells)} |", flush=True)
        if arguments.resume is not None:
            with arguments.resume.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(results[-1]), ensure_ascii=False) + "\n")
    if results:
        print(f"| {' | '.join(summary_row(results))} |")
        print("", *(f"- {line}" for line in summarize(results)), sep="\n")


def print_heading() -> None:
    print(f"| {' | '.join(HEADINGS)} |")
    print("|---" * len(HEADINGS) + "|", flush=True)


def read_results(file: Path | None) -> list[Comparison]:
    """The cases that earlier runs appended to a file."""
    if file is None or not file.exists():
        return []
    return [Comparison(**json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()
