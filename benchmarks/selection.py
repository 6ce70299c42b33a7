"""The wizard against twenty plans by hand, on tables that it has not seen and on limits that owners set.

    python benchmarks/selection.py [--tables hr court ...] [--limits k3 k5 ...] [--seconds 60] [--data FOLDER]
                                   [--longest-by-hand 20] [--hand-seconds 120] [--no-hand] [--seed 7] [--minutes 180]
                                   [--results FILE] [--processor-time]

Tables: benchmarks/selection_tables.py; adult, census_income_kdd and nmes1988 are read from FOLDER or from the folder that
DISCREET_DATA names, as Parquet, and left out with a message where they are not there. Plans by hand:
benchmarks/selection_plans.py. Limits: k = 3, 5, 10; k = 5 with l = 2; largest probability of a link 0.2 and 0.09; no effective
class size below 5.

One line per table and limit: whether the limits are met (and how many plans by hand meet them), the objective of the wizard's
plan and of the best plan by hand, their ratio; then pairs of the wizard and the best by hand: false values of the worst
attribute, blank share of the worst key, largest change of a regression effect, gaps in the evidence that the plan causes; then
the plans tried, those that cannot run, the seconds, whether these are within 1.1 x budget + 5 s, and the load of the machine.
The best plan by hand has the least objective that meets the limits, of those without gaps if there is one, and of those that
leave no key more than 60 % blank if there is one. A summary of all lines follows.

A case takes at most --hand-seconds for the plans by hand and 1.1 x --seconds + 5 for the wizard; none is begun after --minutes.
With --results the cases are appended to a file, those that it has already are left out, and the table and summary of all cases in
it are printed: so the table can be completed in parts. With --processor-time seconds are those of the processor, for a machine
that does other things as well; nothing can be read off such a run about the clock, and the load says how busy the machine was.
All ten tables and seven limits take about two hours on two cores; `--tables hr survey visits --limits k5 risk0.09 --seconds 20
--hand-seconds 30` takes six minutes.
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

from selection_plans import plans_by_hand
from selection_tables import ANALYSES, FILES, GENERATED, load_table

import discreet
from discreet.engine.runtime.progress import OutOfTimeError, stop_after
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.selection.evaluation.evaluator import Evaluator
from discreet.selection.options import SelectOptions
from discreet.selection.outcome import LARGEST_CHANGE_OF_EFFECT, MOST_BLANK, Outcome
from discreet.selection.proposals import add_missing_hierarchies
from discreet.selection.trials import Trial
from discreet.selection.wizard import spell_out_losses

LIMITS: dict[str, tuple[dict[str, float], int]] = {
    "k3": ({"k_anonymity.k": 3}, 3),
    "k5": ({"k_anonymity.k": 5}, 5),
    "k10": ({"k_anonymity.k": 10}, 10),
    "k5l2": ({"k_anonymity.k": 5, "l_diversity.l": 2}, 5),
    "risk0.2": ({"target_linkage.max": 0.2}, 5),
    "risk0.09": ({"target_linkage.max": 0.09}, 12),
    "below5": ({"known_sets.below_5": 0}, 10),
}
"""Limits by name, with the class size that a statistician would aim at."""
HEADINGS = (
    "table", "limit", "met (by hand)", "objective", "by hand", "ratio", "false, worst attribute", "blank, worst key",
    "effect", "gaps", "plans", "cannot run", "seconds", "in time", "load",
)  # fmt: skip


def set_limits(data: Microdata, name: str) -> Microdata:
    """The table under the limits with a name, with all that a search would add to its policy."""
    limits, _ = LIMITS[name]
    measures = {limit.split(".")[0] for limit in limits}
    risk: dict[str, Any] = {measure: dict(data.policy.risk.get(measure, {})) for measure in measures}
    if "l_diversity" in risk:
        confidential = data.named(Role.CONFIDENTIAL) or [column for column in data.columns if column not in data.named(Role.KEY)]
        risk["l_diversity"] = {"sensitive": confidential[:1]}
    return data.with_policy(data.policy.with_(risk=risk, limits=limits))


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


def run_by_hand(evaluate: Evaluator, k: int, longest: float, seconds: float) -> dict[str, Outcome]:
    """The outcome of each plan by hand; one that takes too long is left out, and so are those for which no time is left."""
    outcomes: dict[str, Outcome] = {}
    end = time.monotonic() + seconds
    for name, plan in plans_by_hand(evaluate.data, k).items():
        try:
            with stop_after(min(time.monotonic() + longest, end)):
                outcome = evaluate(plan)
        except OutOfTimeError:
            print(f"  {name}: stopped", file=sys.stderr, flush=True)
            continue
        missed = ", ".join(outcome.missed) or outcome.error or "nothing"
        line = f"  {name}: objective {outcome.loss:.4f}, blank {outcome.blank:.2f}, misses {missed} ({outcome.seconds:.1f} s)"
        print(line, file=sys.stderr, flush=True)
        outcomes[name] = outcome
    return outcomes


def compare(table: str, limit: str, data: Microdata, arguments: argparse.Namespace) -> Comparison:
    """The wizard against the plans by hand, for one table and limit."""
    _, k = LIMITS[limit]
    options = SelectOptions(seconds=arguments.seconds, seed=arguments.seed, analyses=ANALYSES.get(table, ()))
    data = set_limits(data, limit)
    complete = data.with_policy(spell_out_losses(add_missing_hierarchies(data), data, options))
    evaluate = Evaluator(complete, options, patient=True)
    hand = {} if arguments.no_hand else run_by_hand(evaluate, k, arguments.longest_by_hand, arguments.hand_seconds)
    meeting = {name: outcome for name, outcome in hand.items() if outcome.meets_limits}
    best = min(meeting.values(), key=lambda outcome: outcome.rank) if meeting else None
    trials: list[Trial] = []
    began = time.monotonic()
    selection = discreet.select(
        data, seconds=arguments.seconds, seed=arguments.seed, analyses=list(options.analyses), on_trial=trials.append
    )
    seconds = time.monotonic() - began
    load = os.getloadavg()[0]
    print(*selection.sentences, sep="\n  ", file=sys.stderr, flush=True)
    if best is not None:
        print("  best by hand:", next(name for name, outcome in meeting.items() if outcome is best), file=sys.stderr)
    failed = [trial for trial in trials if trial.error is not None]
    for error in {trial.error for trial in failed}:
        print("  cannot run:", error, file=sys.stderr)
    met = not selection.standing  # gaps in the evidence are the policy's, not the plan's
    losses = {name: score.summary for name, score in selection.assessment.losses.items()}
    blank = max((share for name, share in _blank_shares(selection, data).items()), default=0.0)
    ratio = selection.loss / best.loss if best and best.loss and met else None
    gaps = evaluate(selection.plan).gaps  # the search looks for them only where there is time
    effect, effect_by_hand = losses["associations"]["effect"], best.measured["associations.effect"] if best else None
    in_time = seconds <= 1.1 * arguments.seconds + 5
    cells = [
        table, limit, f"{'yes' if met else 'no'} ({len(meeting)} of {len(hand)})", f"{selection.loss:.4f}",
        f"{best.loss:.4f}" if best else "–", f"{ratio:.2f}" if ratio is not None else "–",
        f"{_percent(losses['falsehood']['worst'])}, {_percent(best.measured['falsehood.worst']) if best else '–'}",
        f"{_percent(blank)}, {_percent(best.blank) if best else '–'}",
        f"{_percent(effect)}, {_percent(effect_by_hand)}",
        ", ".join("–" if number is None else str(number) for number in (gaps, best.gaps if best else None)),
        f"{len(trials)}", f"{len(failed) / max(1, len(trials)):.1%}", f"{seconds:.0f}",
        "yes" if in_time else "no", f"{load:.1f}",
    ]  # fmt: skip
    return Comparison(
        cells, met, best is not None, ratio, blank, best.blank if best else None, len(failed), len(trials), in_time,
        gaps, best.gaps if best else None, effect, effect_by_hand,
    )  # fmt: skip


def summarize(results: list[Comparison]) -> list[str]:
    """The goals of the benchmark, each with the number of cases that reach it."""
    required = [result for result in results if result.met_by_hand]
    ratios = [result.ratio for result in required if result.ratio is not None]
    failed, plans = sum(result.failed for result in results), sum(result.plans for result in results)
    too_blank = sum(result.blank > MOST_BLANK for result in results)
    avoided = sum(result.blank > MOST_BLANK for result in results if (result.blank_by_hand or 1.0) <= MOST_BLANK)
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
    parser.add_argument("--results", type=Path, help="file that cases are appended to, and whose cases are printed")
    parser.add_argument("--processor-time", action="store_true", help="count the processor's seconds")
    parser.add_argument("--data", type=Path, default=os.environ.get("DISCREET_DATA"))
    arguments = parser.parse_args()
    results = read_results(arguments.results)
    print_heading()
    for result in results:
        print(f"| {' | '.join(result.cells)} |", flush=True)
    done = {tuple(result.cells[:2]) for result in results}
    end = time.monotonic() + 60 * arguments.minutes
    for table in arguments.tables:
        limits = [limit for limit in arguments.limits if (table, limit) not in done]
        data = load_table(table, arguments.data and Path(arguments.data)) if limits else None
        if limits and data is None:
            print(f"{table} is left out: name the folder of {table}.parquet with --data or DISCREET_DATA", file=sys.stderr)
        for limit in limits if data is not None else ():
            if time.monotonic() > end:
                print(f"{table}, {limit} is left out: {arguments.minutes:g} minutes are over", file=sys.stderr)
                continue
            print(f"{table}, {limit}", file=sys.stderr, flush=True)
            results.append(compare(table, limit, data, arguments))
            print(f"| {' | '.join(results[-1].cells)} |", flush=True)
            if arguments.results is not None:
                with arguments.results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(results[-1]), ensure_ascii=False) + "\n")
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
