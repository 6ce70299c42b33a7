"""The wizard against twenty plans made by hand and against random search with the same budget.

    python benchmarks/selection_random.py [--seconds 600] [--records 100000] [--only students adult] [--seeds 7] [--data FOLDER]

Limits: k = 5 on six keys, no record above the known_sets threshold, mean and correlation within 5 %. adult.parquet and
census_income_kdd.parquet (UCI, both under CC BY) are read from FOLDER, or from the folder that DISCREET_DATA names; without it
they are left out, and the benchmark says so. They are given the policy that ``analyze`` proposes. Losses are ncp over all
released attributes; a plan by hand counts where it keeps the limits.

With ``--trials N`` the budget is plans instead of seconds, which a busy machine does not change. ``--no-search`` tries the
plans by hand alone.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import discreet
from discreet.engine.runtime.progress import OutOfTimeError, stop_after
from discreet.model.attribute import Level, Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Policy
from discreet.selection.evaluation.evaluator import Evaluator
from discreet.selection.frontier import hypervolume
from discreet.selection.options import SelectOptions
from discreet.selection.proposals import add_missing_hierarchies, knowable_attributes
from discreet.selection.results import Selection
from discreet.selection.wizard import select, spell_out_losses
from discreet.testing import patients, students

K = 5
KEYS = {
    "students": ["gender", "ethnicity", "age", "parish", "grade", "birth_year"],
    "patients": ["birth_year", "sex", "race", "zip", "year", "days"],
}
FILES = ("adult", "census_income_kdd")
THRESHOLDS = {"students": 0.01, "patients": 20.0}
"""Orooji & Knapp's for the students. Every stay of a patient is sensitive and stays so when blanked, and one class of all
100,000 records would still have a risk of 0.02; 20 is a tenth of the risk of one who is found for certain."""
FILE_THRESHOLD = 20.0
LONGEST_BY_HAND = 120.0
OPTIONS = SelectOptions(loss="ncp.loss", truthful=False)


def tables(names: Sequence[str], records: int, folder: Path | None) -> Iterator[tuple[str, Microdata]]:
    for name in names:
        if name in KEYS:
            data = (students if name == "students" else patients)(records)
            yield name, limited(data, KEYS[name], THRESHOLDS[name])
            continue
        file = folder / f"{name}.parquet" if folder is not None else None
        if file is None or not file.exists():
            print(f"{name} is left out: name the folder of {name}.parquet with --data or DISCREET_DATA", file=sys.stderr)
            continue
        data = discreet.read(file)
        data = data.with_policy(discreet.analyze(data).policy())
        keys = sorted(data.named(Role.KEY), key=lambda key: -data.attribute(key).known)[:6]
        yield name, limited(data, keys, FILE_THRESHOLD)


def limited(data: Microdata, keys: list[str], threshold: float) -> Microdata:
    epsilon = data.policy.risk.get("known_sets", {}).get("epsilon", 0.01)
    risk = {"known_sets": {"alpha": 100, "epsilon": epsilon, "threshold": threshold}, "k_anonymity": {"keys": keys}}
    limits = {"k_anonymity.k": K, "known_sets.high_risk": 0, "integrity.mean": 0.05, "integrity.correlation": 0.05}
    return data.with_policy(data.policy.with_(risk=risk, limits=limits, plan=Plan()))


def by_hand(data: Microdata) -> dict[str, Plan]:
    """Twenty lists of methods that a statistician would write down."""
    keys = list(data.policy.risk["k_anonymity"]["keys"])
    known = data.policy.risk["known_sets"]
    base: list[dict[str, Any]] = [{"method": "remove_identifiers"}] if data.named(Role.IDENTIFIER) else []
    coarse = [
        {"method": "global_recoding", "columns": [name], "level": 1}
        for name in keys
        if data.attribute(name).hierarchy is not None
    ]
    numbers = [name for name in keys if data.frame.schema[name].is_numeric() and data.attribute(name).level in (None, "numeric")]
    full = {"method": "generalization", "columns": keys, "k": K}
    cut = full | {"algorithm": "partition"}
    balanced = {"method": "balanced_partition", "columns": keys, "criterion": "records", "k": K}
    mdav = {"method": "microaggregation", "columns": keys, "size": K, "how": "mdav", "whole": True, "exact_up_to": 2000}
    local = {"method": "local_suppression", "columns": keys, "k": K}
    known_all = [name for name in knowable_attributes(data) if name in data.columns]
    around = mdav | {"columns": known_all, "exact_up_to": 20_000}
    known_numbers = [name for name in known_all if data.level(name) is Level.NUMERIC]
    heavy = around | {"scale": "range", "missing": "category", "weights": dict.fromkeys(known_numbers, 16.0)}
    learnt = {"method": "targeted_suppression", "side": "sensitive", "missing": "category", **known}
    finds = learnt | {"side": "known"}
    top = [{"method": "top_bottom_coding", "columns": [name], "top_share": 0.02, "bottom_share": 0.02} for name in numbers]
    lists: dict[str, list[dict[str, Any]]] = {
        "full domain": [full],
        "full domain, then learnt": [full, learnt],
        "full domain 1 %, then learnt": [full | {"suppression_limit": 0.01}, learnt],
        "mdav of all known by range, numbers x 16, k = 400, then found by": [heavy | {"size": 400}, finds],
        "full domain 5 %, then learnt": [full | {"suppression_limit": 0.05}, learnt],
        "mdav of all known, k = 50, then found by": [around | {"size": 50}, finds],
        "full domain 5 %, then found by": [full | {"suppression_limit": 0.05}, finds],
        "mdav of all known, k = 200, then found by": [around | {"size": 200}, finds],
        "Mondrian, then learnt": [cut, learnt],
        "Mondrian, k = 10": [cut | {"k": 2 * K}, learnt],
        "Mondrian, k = 50": [cut | {"k": 10 * K}, learnt],
        "Mondrian, then found by": [cut, finds],
        "balanced ranges, then learnt": [balanced, learnt],
        "balanced means, then learnt": [balanced | {"publish": "means"}, learnt],
        "mdav, then learnt": [mdav, learnt],
        "mdav of all known, k = 800, then found by": [around | {"size": 800}, finds],
        "recoded, local suppression": [*coarse, local, learnt],
        "local suppression": [local, learnt],
        "top and bottom coding, full domain 5 %": [*top, full | {"suppression_limit": 0.05}, learnt],
        "top and bottom coding, Mondrian": [*top, cut, learnt],
    }
    assert len(lists) == 20
    return {name: Policy.from_dict({"plan": {"steps": [*base, *steps]}}).plan for name, steps in lists.items()}


def shares(found: Selection, chance: Selection, worst: float, *, kept: bool) -> str:
    """The hypervolume of the search by that of random search, and both: shares of the map, from the corner where the table is as
    it is and nothing is left. The whole map is 1, so that no search is more times as good as 1 by the other's share."""
    points = [[one for one in each.placed if one.kept or not kept] for each in (found, chance)]
    ours, theirs = (hypervolume(some, (worst, 1.0)) / worst if worst > 0 else 0.0 for some in points)
    return f"{ours / theirs:.2f} ({ours:.3f} by {theirs:.3f})" if theirs else f"{ours:.3f} to 0"


def search(data: Microdata, said: argparse.Namespace, seed: int, how: Literal["guided", "random"]) -> Selection:
    budget = {"trials": said.trials} if said.trials else {"seconds": said.seconds}
    return select(data, seed=seed, how=how, loss="ncp.loss", truthful=False, **budget)


def hand_made(name: str, data: Microdata) -> dict[str, float]:
    """The losses of the plans by hand that keep the limits."""
    evaluate = Evaluator(data, OPTIONS, patient=True)
    good: dict[str, float] = {}
    for title, plan in by_hand(data).items():
        try:
            with stop_after(time.monotonic() + LONGEST_BY_HAND):
                outcome = evaluate(plan)
        except OutOfTimeError:
            print(f"{name}: {title}: given up after {LONGEST_BY_HAND:.0f} s", file=sys.stderr, flush=True)
            continue
        missed = ", ".join(outcome.missed) or "nothing"
        told = f"{name}: {title}: loss {outcome.loss:.5f}, misses {missed} {outcome.error or ''} ({outcome.seconds:.1f} s)"
        print(told, file=sys.stderr, flush=True)
        if outcome.meets_limits:
            good[title] = outcome.loss
    return good


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--seconds", type=float, default=600)
    asked.add_argument("--trials", type=int)
    asked.add_argument("--records", type=int, default=100_000)
    asked.add_argument("--only", nargs="+", choices=[*KEYS, *FILES], default=[*KEYS, *FILES])
    asked.add_argument("--seeds", nargs="+", type=int, default=[7])
    asked.add_argument("--no-search", action="store_true")
    asked.add_argument("--no-hand", action="store_true")
    asked.add_argument("--no-random", action="store_true")
    asked.add_argument("--data", type=Path, default=os.environ.get("DISCREET_DATA"))
    said = asked.parse_args()
    print("| table | seed | limits kept | seconds | of processors | plans (sample + whole) | loss | best by hand |"
          " loss / by hand | loss by random search | hypervolume / random | the same within limits |"
          " a trial / its mask and measures |")  # fmt: skip
    print("|---" * 13 + "|")
    for name, data in tables(said.only, said.records, said.data and Path(said.data)):
        ready = data.with_policy(spell_out_losses(add_missing_hierarchies(data), data, OPTIONS))
        good = {} if said.no_hand else hand_made(name, ready)
        best = min(good, key=lambda title: good[title]) if good else "none keeps the limits"
        shown = f"{good[best]:.5f} ({best}; {len(good)} of 20 keep the limits)" if good else best
        worst = Evaluator(ready, OPTIONS).worst
        for seed in () if said.no_search else said.seeds:
            spent = time.process_time()
            found = search(data, said, seed, "guided")
            spent = time.process_time() - spent
            print(f"{name}: met {found.met}, loss {found.loss:.5f}", *found.sentences, sep="\n  ", file=sys.stderr, flush=True)
            by = f"{found.loss / good[best]:.3f}" if good and found.met else "–"
            ratios = ["–"] * 3
            if not said.no_random:
                chance = search(data, said, seed, "random")
                least = min((one.loss for one in chance.placed if one.kept), default=None)
                ratios = [f"{least:.5f}" if least is not None else "no plan keeps the limits"]
                ratios += [shares(found, chance, worst, kept=kept) for kept in (False, True)]
            print(
                f"| {name} | {seed} | {'yes' if found.met else 'no: ' + ', '.join(found.standing)} "
                f"| {found.seconds:.0f} | {spent:.0f} | {found.tried_on_sample} + {found.tried} | {found.loss:.5f} | {shown} "
                f"| {by} | {' | '.join(ratios)} | {found.searching / found.busy:.2f} |", flush=True,
            )  # fmt: skip


if __name__ == "__main__":
    main()
