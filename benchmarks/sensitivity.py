"""How long it takes to say how far verdicts hold, as ratios to plain runs of known_sets, all in one process. Prints Markdown.

python benchmarks/sensitivity.py [records ...]

Times are processor times, the best of a few runs, so that the ratios hold on a busy machine as well.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from discreet.engine.known_sets.sums import known_sets
from discreet.model.microdata import Microdata
from discreet.risks.known_sets.measure import KnownSets
from discreet.risks.known_sets.sensitivity.influence import Influence
from discreet.risks.known_sets.sensitivity.influence_table import tabulate_influence
from discreet.testing import hospital, students

TIMES = 3


def processor_seconds(job: Callable[[], object]) -> float:
    """The least processor time of a few runs."""
    best = float("inf")
    for _ in range(TIMES):
        started = time.process_time()
        job()
        best = min(best, time.process_time() - started)
    return best


def influence_walk(data: Microdata, measure: KnownSets, threshold: float) -> Callable[[], object]:
    """The one more walk for the elasticities of all guesses, after a plain run."""
    sums = known_sets(data, epsilon=measure.epsilon, max_sets=measure.max_sets)
    risk = sums.per_record.risk * measure.alpha
    high_risk = int((risk > threshold).sum())

    def walk() -> object:
        influence = Influence(data, sums.names, sums.tree, sums.slots, measure.missing, None)
        return tabulate_influence(influence, risk[influence.first], threshold, measure.alpha, high_risk)

    return walk


def with_attributes(data: Microdata, number: int) -> Microdata:
    """The table with probabilities for this many attributes only."""
    kept, seen = {}, 0
    for name, attribute in data.policy.attributes.items():
        seen += attribute.known > 0
        kept[name] = attribute if seen <= number else attribute.model_copy(update={"known": 0.0})
    return data.with_policy(data.policy.with_(attributes=kept))


def report(name: str, data: Microdata, *, examined: bool) -> None:
    """One line: a plain run, the walk for the influence of all guesses, and all answers on two limits."""
    plain = KnownSets()
    score = plain.measure(data)
    threshold = float(score["quantiles"]["0.9"])
    measure = KnownSets(threshold=threshold)
    measure.measure(data)
    once = processor_seconds(lambda: measure.measure(data))
    walk = influence_walk(data, measure, threshold)
    walk()
    more = processor_seconds(walk)
    guesses = sum((one.known > 0) + (one.sensitivity > 0) for one in data.policy.attributes.values())
    all_answers = ""
    if examined:
        limits = {"high_risk": 0.12 * len(data), "mean": 1.05 * score["mean"]}
        started = time.process_time()
        measure.examine_guesses(data, limits, seconds=120)
        all_answers = f"{(time.process_time() - started) / once:.0f}"
    cells = (name, f"{len(data):,}", guesses, score["sets"], f"{once:.3f}", f"{more / once:.2f}", all_answers)
    print("|", " | ".join(map(str, cells)), "|", flush=True)


def main() -> None:
    sizes = [int(size) for size in sys.argv[1:]] or [15_000, 100_000, 400_000]
    print(
        "| table | records | guesses | sets | plain run (s) | influence of all guesses / plain | everything, 2 limits / plain |"
    )
    print("|---|---|---|---|---|---|---|")
    for size in sizes:
        for maker in (students, hospital):
            data = maker(size)
            report(maker.__name__, data, examined=size <= 100_000)
        few = with_attributes(students(size), 6)
        report("students, 6 attributes known", few, examined=False)


if __name__ == "__main__":
    main()
