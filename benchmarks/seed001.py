"""The experiment of Orooji & Knapp (2018) on suppression: Table 2, Figure 2 and Figure 3, and what driving it to zero costs.

Prints Markdown. Without arguments on ``students(1,009,993)``; with a number on that many students: then the threshold is raised
in proportion, for the least risk there is grows as records become fewer.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from discreet.engine.draws.draw import KeyedDraw
from discreet.engine.known_sets.sums import known_sets
from discreet.losses.ncp.measure import Ncp
from discreet.masking.generalization.method import Generalization
from discreet.masking.targeted_generalization.method import TargetedGeneralization
from discreet.masking.targeted_suppression.method import TargetedSuppression
from discreet.model.microdata import Microdata
from discreet.risks.known_sets.measure import KnownSets
from discreet.testing import students
from discreet.testing.students import KNOWN

RECORDS = 1_009_993
KEYS = list(KNOWN)
DRAW = KeyedDraw(1)
OURS: dict[str, dict[str, Any]] = {
    "one pass, as in the paper (`passes: 1`, `category`)": {"passes": 1, "missing": "category"},
    "one pass, `wildcard`": {"passes": 1},
    "`until_safe`, `category`": {"missing": "category"},
    "`until_safe`, `wildcard`": {},
    "`until_safe`, `choose: fewest`": {"choose": "fewest"},
    "`until_safe`, `choose: fewest`, `side: cheapest`": {"choose": "fewest", "side": "cheapest"},
}
MODELS: dict[str, dict[str, Any]] = {
    **{f"k-anonymity, k = {k}": {"k": k} for k in (2, 5, 10, 25, 100, 1000, 100_000)},
    "l-diversity, l = 2, 17 attributes": {"l": 2},
    "t-closeness, t = 0.2, 17 attributes": {"t": 0.2},
    "t-closeness, t = 0.01, 17 attributes": {"t": 0.01},
}


def fresh(data: Microdata) -> Microdata:
    """The same table with nothing remembered of it."""
    return Microdata(data.frame, data.policy, data.source)


def main() -> None:
    size = int(sys.argv[1]) if len(sys.argv) > 1 else RECORDS
    threshold = 0.01 * max(1.0, RECORDS / size)
    data = students(size)
    for warm in (TargetedSuppression(threshold=5), TargetedSuppression(threshold=5, choose="fewest", side="cheapest")):
        warm.mask(students(1000), warm.choose(data), DRAW)
    took = []
    for _ in range(3):
        table = fresh(data)
        started = time.perf_counter()
        known_sets(table, epsilon=0.01, max_sets=1_000_000)
        took.append(time.perf_counter() - started)
    one = min(took)
    print(f"{size:,} students, threshold {threshold:.4g}; one known_sets run: {one:.2f} s\n")
    print("| | high-risk records | values suppressed | NCP of the 10 keys | times one known_sets run |\n|---|---|---|---|---|")
    print(f"| original | {_high(data, threshold, 'category'):,} | | | |")
    pictures = {"before": _picture(data, "category")}
    for name, parameters in OURS.items():
        method = TargetedSuppression(threshold=threshold, **parameters)
        masked, seconds = _masked(method, data)
        high = _high(masked, threshold, method.missing)
        pictures[name] = _picture(masked, method.missing)
        least = masked.cache["targeted_suppression"].cost_bound
        bound = "" if least is None else f" (at least {least:,.0f})"
        print(f"| {name} | {high:,} | {_blanked(masked):,}{bound} | {_ncp(data, masked):.4%} | {seconds / one:.1f} |", flush=True)
    if size <= 100_000:
        masked, seconds = _masked(TargetedGeneralization(threshold=threshold), data)
        left = len(masked.cache["targeted_generalization"].remaining)
        told = f"| {left:,} | {_blanked(masked):,} | {_ncp(data, masked):.4%} | {seconds / one:.1f} |"
        print(f"| `targeted_generalization` {told}", flush=True)
    _histograms(pictures)
    print("\n| model (`generalization`, `partition`) | high-risk records | NCP of the 10 keys | seconds |\n|---|---|---|---|")
    for name, parameters in MODELS.items():
        method = Generalization(algorithm="partition", **parameters)
        started = time.perf_counter()
        masked = method.mask(fresh(data), KEYS, DRAW)
        seconds = time.perf_counter() - started
        print(f"| {name} | {_high(masked, threshold, 'category'):,} | {_ncp(data, masked):.4%} | {seconds:.1f} |", flush=True)


def _masked(method: Any, data: Microdata) -> tuple[Microdata, float]:
    table = fresh(data)
    started = time.perf_counter()
    masked = method.mask(table, method.choose(table), DRAW)
    return masked, time.perf_counter() - started


def _high(data: Microdata, threshold: float, missing: Any) -> int:
    return int(KnownSets(threshold=threshold, missing=missing).measure(data)["high_risk"])


def _picture(data: Microdata, missing: Any) -> dict[str, int]:
    return dict(KnownSets(missing=missing).measure(data)["histogram"])


def _blanked(masked: Microdata) -> int:
    return sum(masked.frame.null_count().row(0))


def _ncp(data: Microdata, masked: Microdata) -> float:
    return float(Ncp(attributes=tuple(KEYS)).measure(data, masked)["loss"])


def _histograms(pictures: dict[str, dict[str, int]]) -> None:
    """Figure 2: all histograms on one logarithmic scale, a row a power of ten."""
    bins = sorted({int(label[2:]) for one in pictures.values() for label in one if label != "0"})
    print("\n| risk | " + " | ".join(pictures) + " |\n|---" + "|---" * len(pictures) + "|")
    print("| 0 | " + " | ".join(f"{one['0']:,}" for one in pictures.values()) + " |")
    for power in range(bins[0], bins[-1] + 1):
        cells = " | ".join(f"{one.get(f'1e{power:+03d}', 0):,}" for one in pictures.values())
        print(f"| {10.0**power:g} to {10.0 ** (power + 1):g} | {cells} |")


if __name__ == "__main__":
    main()
