"""The wizard against twenty plans made by hand and against random search with the same budget.

    python benchmarks/selection.py [--seconds 600] [--records 100000] [--only students] [adult.parquet census_income_kdd.parquet]

Limits: k = 5 on six keys, no record above the known_sets threshold, mean and correlation within 5 %. A file is given the
policy that ``analyze`` proposes. Losses are ncp over all released attributes; a plan by hand counts where it keeps the limits.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import discreet
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Policy
from discreet.selection.evaluate import Evaluator
from discreet.selection.frontier import Placed, hypervolume
from discreet.selection.options import SelectOptions
from discreet.testing import patients, students

K = 5
KEYS = {
    "students": ["gender", "ethnicity", "age", "parish", "grade", "birth_year"],
    "patients": ["birth_year", "sex", "race", "zip", "year", "days"],
}
THRESHOLDS = {"students": 0.01, "patients": 20.0}
"""Orooji & Knapp's for the students. Every stay of a patient is sensitive and stays so when blanked, and one class of all
100,000 records would still have a risk of 0.02; 20 is a tenth of the risk of one who is found for certain."""
FILE_THRESHOLD = 20.0


def tables(names: list[str], records: int, files: list[Path]) -> Iterator[tuple[str, Microdata]]:
    for name in names:
        data = (students if name == "students" else patients)(records)
        yield name, limited(data, KEYS[name], THRESHOLDS[name])
    for file in files:
        data = discreet.read(file)
        data = data.with_policy(discreet.analyze(data).policy())
        keys = sorted(data.named(Role.KEY), key=lambda key: -data.attribute(key).known)[:6]
        yield file.stem, limited(data, keys, FILE_THRESHOLD)


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
    learnt = {"method": "targeted_suppression", "side": "sensitive", "missing": "category", **known}
    finds = learnt | {"side": "known"}
    top = [{"method": "top_bottom_coding", "columns": [name], "top_share": 0.02, "bottom_share": 0.02} for name in numbers]
    lists: dict[str, list[dict[str, Any]]] = {
        "full domain": [full],
        "full domain, then learnt": [full, learnt],
        "full domain 1 %, then learnt": [full | {"suppression_limit": 0.01}, learnt],
        "full domain 2 %, then learnt": [full | {"suppression_limit": 0.02}, learnt],
        "full domain 5 %, then learnt": [full | {"suppression_limit": 0.05}, learnt],
        "full domain 10 %, then learnt": [full | {"suppression_limit": 0.1}, learnt],
        "full domain 5 %, then found by": [full | {"suppression_limit": 0.05}, finds],
        "full domain, k = 10": [full | {"k": 2 * K, "suppression_limit": 0.02}, learnt],
        "Mondrian, then learnt": [cut, learnt],
        "Mondrian, k = 10": [cut | {"k": 2 * K}, learnt],
        "Mondrian, k = 50": [cut | {"k": 10 * K}, learnt],
        "Mondrian, then found by": [cut, finds],
        "balanced ranges, then learnt": [balanced, learnt],
        "balanced means, then learnt": [balanced | {"publish": "means"}, learnt],
        "mdav, then learnt": [mdav, learnt],
        "mdav, k = 10": [mdav | {"size": 2 * K}, learnt],
        "recoded, local suppression": [*coarse, local, learnt],
        "local suppression": [local, learnt],
        "top and bottom coding, full domain 5 %": [*top, full | {"suppression_limit": 0.05}, learnt],
        "top and bottom coding, Mondrian": [*top, cut, learnt],
    }
    assert len(lists) == 20
    return {name: Policy.from_dict({"plan": {"steps": [*base, *steps]}}).plan for name, steps in lists.items()}


def volume(points: tuple[Placed, ...], worst: float, *, kept: bool) -> float:
    return hypervolume([one for one in points if one.kept or not kept], (worst, 1.0)) / worst if worst > 0 else 0.0


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("files", nargs="*", type=Path)
    asked.add_argument("--seconds", type=float, default=600)
    asked.add_argument("--records", type=int, default=100_000)
    asked.add_argument("--only", choices=["students", "patients", "files"])
    said = asked.parse_args()
    names = [name for name in KEYS if said.only in (None, name)]
    print("| table | limits kept | seconds | plans (sample + whole) | loss | best by hand | loss / by hand |"
          " hypervolume / random | the same within limits | time / mask and measure |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, data in tables(names, said.records, said.files):
        found = discreet.select(data, seconds=said.seconds, seed=7)
        print(f"{name}: met {found.met}, loss {found.loss:.5f}", *found.sentences, sep="\n  ", file=sys.stderr, flush=True)
        chance = discreet.select(data, seconds=said.seconds, seed=7, how="random")
        ready = data.with_policy(found.policy)
        evaluate = Evaluator(ready, SelectOptions())
        tried = {title: evaluate(plan) for title, plan in by_hand(ready).items()}
        good = {title: outcome.loss for title, outcome in tried.items() if outcome.kept}
        best = min(good, key=lambda title: good[title]) if good else "none keeps the limits"
        by = f"{found.loss / good[best]:.3f}" if good and found.met else "–"
        ratios = [
            f"{a / b:.3f}" if (b := volume(chance.placed, evaluate.worst, kept=kept)) else f"{a:.3f} to 0"
            for kept in (False, True)
            for a in [volume(found.placed, evaluate.worst, kept=kept)]
        ]
        shown = f"{good[best]:.5f} ({best}; {len(good)} of 20 keep the limits)" if good else best
        print(
            f"| {name} | {'yes' if found.met else 'no: ' + ', '.join(found.standing)} | {found.seconds:.0f} "
            f"| {found.tried_on_sample} + {found.tried} | {found.loss:.5f} | {shown} | {by} "
            f"| {ratios[0]} | {ratios[1]} | {found.seconds / found.busy:.2f} |", flush=True,
        )  # fmt: skip
        print(f"<!-- {name}: {' / '.join(found.sentences[1:2])} -->", flush=True)


if __name__ == "__main__":
    main()
