"""The tables with which the conformance kit tests a plug-in: one with every role and type, and edge cases derived from it."""

from __future__ import annotations

import numpy as np
import polars as pl

from discreet.engine.encoding.columns import encode
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.testing.draws import SampleDraw
from discreet.testing.hospital import hospital
from discreet.testing.sampler import Sampler, decode

_EDUCATION = ("none", "school", "college", "degree")


def sample(n: int = 60) -> Microdata:
    """A table with every role and level of measurement.

    It has identifiers; persons with several records; quasi-identifiers that are text, numbers, ordered categories and dates,
    with hierarchies; a sampling weight; and confidential numbers and categories with sensitivities.
    """
    sampler = Sampler(SampleDraw(11), np.arange(n, dtype=np.int64))
    base = hospital(n)
    frame = base.frame.with_columns(
        pl.Series("patient", 1 + sampler.below("patient", max(1, n // 2))),
        pl.Series("age", 18 + sampler.below("age", 60)),
        decode("education", sampler.pick("education", (1, 4, 3, 2)), _EDUCATION),
        pl.Series("height", (1500 + sampler.below("height", 500)) / 10),
        pl.Series("weight", 1.0 + sampler.below("weight", 8) / 4),
        pl.Series("income", sampler.amount("income", (0, 20_000, 45_000, 90_000)) / 1),
        pl.Series("smoker", sampler.below("smoker", 3) == 0),
    )
    attributes = base.policy.model_dump(exclude_defaults=True)["attributes"]
    attributes |= {
        "patient": {"role": "person"},
        "age": {"role": "key", "known": 0.3, "hierarchy": {"widths": (5, 20)}},
        "education": {
            "role": "key",
            "known": 0.2,
            "level": "ordinal",
            "order": _EDUCATION,
            "hierarchy": {"groups": ({"lower": _EDUCATION[:2], "higher": _EDUCATION[2:]},)},
        },
        "height": {"role": "key", "known": 0.05},
        "weight": {"role": "weight"},
        # few quasi-identifiers, so that a search over all generalizations is fast
        "marital": {"role": "other"},
        "admission_date": {"role": "other"},
    }
    return Microdata(frame, Policy.model_validate({"attributes": attributes}), "the kit's table")


def relatives(data: Microdata) -> dict[str, Microdata]:
    """Edge cases derived from a table, by a description that completes a sentence of the kit's messages."""
    size, blank = len(data), {name: pl.Series(name, [None] * len(data), dtype=dtype) for name, dtype in data.frame.schema.items()}
    records = np.arange(size, dtype=np.int64)
    holes = {
        name: pl.select(
            pl.when(pl.Series(SampleDraw(5).uniform(records, name) < 0.15)).then(None).otherwise(data.frame[name])
        ).to_series()
        for name in data.columns
    }
    return {
        "on a table without rows": data.take(records[:0]),
        "on a table of one row": data.take(records[:1]),
        "on a table of equal rows": data.replace(data.frame[np.zeros(min(size, 7), dtype=np.int64)], records[: min(size, 7)]),
        "on a table with nulls": data.with_columns({name: series.alias(name) for name, series in holes.items()}),
        "on a table of nulls": data.with_columns(blank),
        "under a policy that says nothing": data.with_policy(Policy()),
    }


def shuffled(data: Microdata) -> Microdata:
    """The same records in another order."""
    return data.take(SampleDraw(3).order(data.records, "shuffle"))


def fresh(data: Microdata) -> Microdata:
    """The same table without cached results."""
    return Microdata(data.frame.clone(), data.policy, data.source, data.records.copy(), data.labels)


class Snapshot:
    """A copy of a table, with its encoded columns, from before a plug-in used it."""

    def __init__(self, data: Microdata) -> None:
        self.values = data.frame.to_dict(as_series=False)
        self.records = data.records.copy()
        self.policy = data.policy
        self.codes = {column.name: column.codes.copy() for column in encode(data, data.columns)}

    def changes(self, data: Microdata) -> list[str]:
        """Descriptions of what has changed since the snapshot."""
        changes = [f"the column '{name}'" for name in data.columns if data.frame[name].to_list() != self.values[name]]
        if not np.array_equal(self.records, data.records):
            changes.append("the record numbers")
        if self.policy != data.policy:
            changes.append("the policy")
        cached = data.cache.get("columns", {})
        changed = [name for name, codes in self.codes.items() if name in cached and not np.array_equal(cached[name].codes, codes)]
        return changes + [f"the encoded column '{name}'" for name in changed]


def same(first_column: pl.Series, second_column: pl.Series) -> bool:
    """Whether two columns are equal; floats to a relative 1e-9, because sums in another order differ by rounding."""
    if first_column.dtype != second_column.dtype or len(first_column) != len(second_column):
        return False
    if not first_column.dtype.is_float():
        return bool(first_column.eq_missing(second_column).all())
    if not first_column.is_null().eq(second_column.is_null()).all():
        return False
    first, second = first_column.drop_nulls().to_numpy(), second_column.drop_nulls().to_numpy()
    return bool(np.allclose(first, second, rtol=1e-9, atol=1e-12, equal_nan=True))


def by_record(data: Microdata) -> pl.DataFrame:
    """The rows in the order of their record numbers."""
    return data.frame[np.argsort(data.records, kind="stable")]
