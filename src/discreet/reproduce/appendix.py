"""Appendix A of Truta et al. (2003): ten patients, microaggregation of Age, then sampling, which leaves some Ages unique."""

from __future__ import annotations

from collections import Counter

import polars as pl

from discreet import verbs
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.report import charts
from discreet.reproduce.results import Comparison

_ROWS = (
    ("John Wayne", 123456789, 44, "MI", "AIDS", 45_500, 1_200),
    ("Mary Gore", 323232323, 44, "MI", "Asthma", 37_900, 2_500),
    ("John Banks", 232345656, 55, "MI", "AIDS", 67_000, 3_000),
    ("Jesse Casey", 333333333, 44, "MI", "Asthma", 21_000, 1_000),
    ("Jack Stone", 444444444, 55, "MI", "Asthma", 90_000, 900),
    ("Mike Kopi", 666666666, 45, "MI", "Diabetes", 48_000, 750),
    ("Angela Simms", 777777777, 25, "IN", "Diabetes", 49_000, 1_200),
    ("Nike Wood", 888888888, 35, "MI", "AIDS", 66_000, 2_200),
    ("Mikhail Aaron", 999999999, 55, "MI", "AIDS", 69_000, 4_200),
    ("Sam Pall", 100000000, 45, "MI", "Tuberculosis", 34_000, 3_100),
)
"""Table A.1 as printed; its people are fictitious."""
_ROLES = {
    "Name": "identifier", "SSN": "identifier", "Age": "key", "State": "key", "Diagnosis": "confidential",
    "Income": "confidential", "Billing": "confidential",
}  # fmt: skip
_STEPS = [
    {"method": "remove_identifiers"},
    {"method": "microaggregation", "columns": ["Age"], "size": 2},
    {"method": "sampling", "fraction": 0.8},
]
_SAMPLES = 60


def patients() -> Microdata:
    """Table A.1 with the roles of Figure A.4."""
    policy = Policy.from_dict({"attributes": {name: {"role": role} for name, role in _ROLES.items()}})
    return Microdata(pl.DataFrame(_ROWS, schema=list(_ROLES), orient="row"), policy, "Table A.1")


def compare_appendix_a() -> tuple[list[Comparison], object]:
    """The masked microdata of Figure A.6: the number of records, and how many are unique in Age."""
    data = patients()
    grouped_ages = verbs.mask(data, {"steps": _STEPS[:2]}).masked.frame["Age"]
    samples_by_uniques = Counter(_count_unique_ages(data, seed) for seed in range(_SAMPLES))
    release = verbs.mask(data, {"seed": 0, "steps": _STEPS})
    ours = f"2 in {samples_by_uniques[2]} of {_SAMPLES} samples, 1 in {samples_by_uniques[1]}, 0 in {samples_by_uniques[0]}"
    comparisons = [
        Comparison(
            "Appendix A: records in the masked microdata", "8", str(release.t), "the same: ten with a sampling factor of 0.8"
        ),
        Comparison(
            "Appendix A: smallest group of equal Age before sampling", "2 or more",
            str(min(Counter(grouped_ages.to_list()).values())),
            "the same: 25 and 35 become 30, the other ages are groups already",
        ),
        Comparison(
            "Appendix A: records unique in Age after sampling", "2", ours,
            "the sample is random, and the paper does not give its seed; a release with a sample unique is warned about",
        ),
    ]  # fmt: skip
    rows = [
        {"label": f"{uniques} unique", "series": "after", "records": samples}
        for uniques, samples in sorted(samples_by_uniques.items())
    ]
    return comparisons, charts.bar_chart(rows, f"records unique in Age, by sample ({_SAMPLES} samples)", legend=False)


def _count_unique_ages(data: Microdata, seed: int) -> int:
    counts = Counter(verbs.mask(data, {"seed": seed, "steps": _STEPS}).masked.frame["Age"].to_list())
    return sum(count == 1 for count in counts.values())
