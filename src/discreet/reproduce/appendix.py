"""Appendix A of Truta et al. (2003): ten patients, microaggregation of Age, then a sample, and the groups that it breaks."""

from __future__ import annotations

from collections import Counter

import polars as pl

from discreet import verbs
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.report import charts
from discreet.reproduce.reproduction import Line

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
"""Table A.1, as printed; its people are made up by the paper."""
_ROLES = {
    "Name": "identifier", "SSN": "identifier", "Age": "key", "State": "key", "Diagnosis": "confidential",
    "Income": "confidential", "Billing": "confidential",
}  # fmt: skip
_STEPS = [
    {"method": "remove_identifiers"},
    {"method": "microaggregation", "columns": ["Age"], "size": 2},
    {"method": "sampling", "fraction": 0.8},
]
_SEEDS = 60


def patients() -> Microdata:
    """Table A.1 with the roles of Figure A.4."""
    policy = Policy.from_dict({"attributes": {name: {"role": role} for name, role in _ROLES.items()}})
    return Microdata(pl.DataFrame(_ROWS, schema=list(_ROLES), orient="row"), policy, "Table A.1")


def appendix() -> tuple[list[Line], object]:
    """The masked microdata of Figure A.6: how many records, and how many are alone with their Age."""
    data = patients()
    grouped = verbs.mask(data, {"steps": _STEPS[:2]}).masked.frame["Age"]
    alone = Counter(_alone(data, seed) for seed in range(_SEEDS))
    first = verbs.mask(data, {"seed": 0, "steps": _STEPS})
    told = f"{alone[2]} of {_SEEDS} seeds give two, {alone[1]} one, {alone[0]} none"
    lines = [
        Line("Appendix A: records in the masked microdata", "8", str(first.t), "the same: ten at a sampling factor of 0.8"),
        Line(
            "Appendix A: smallest group of equal Age before sampling", "2 or more",
            str(min(Counter(grouped.to_list()).values())), "the same: 25 and 35 become 30, the other ages are groups already",
        ),
        Line(
            "Appendix A: records alone with their Age after sampling", "2", told,
            "which records fall out is chance, and the paper's seed is not told; a release with one alone is warned of",
        ),
    ]  # fmt: skip
    rows = [{"label": f"{number} alone", "series": "after", "records": count} for number, count in sorted(alone.items())]
    return lines, charts.bars(rows, f"records alone with their Age, by seed ({_SEEDS} samples)", legend=False)


def _alone(data: Microdata, seed: int) -> int:
    ages = Counter(verbs.mask(data, {"seed": seed, "steps": _STEPS}).masked.frame["Age"].to_list())
    return sum(count == 1 for count in ages.values())
