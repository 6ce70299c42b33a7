"""The tables on which the conformance kit tries a plug-in: one that has everything, and its awkward relatives."""

from __future__ import annotations

import numpy as np
import polars as pl

from discreet.engine.encoding.columns import encode
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.testing.chances import Chances, named
from discreet.testing.draws import SampleDraw
from discreet.testing.hospital import hospital

_EDUCATION = ("none", "school", "college", "degree")


def sample(n: int = 60) -> Microdata:
    """A table with every role and level: identifiers, a person with several records, keys that are text, numbers, ordered

    words and dates, with hierarchies; a weight; confidential numbers and words with their sensitivities.
    """
    chances = Chances(SampleDraw(11), np.arange(n, dtype=np.int64))
    base = hospital(n)
    frame = base.frame.with_columns(
        pl.Series("patient", 1 + chances.below("patient", max(1, n // 2))),
        pl.Series("age", 18 + chances.below("age", 60)),
        named("education", chances.pick("education", (1, 4, 3, 2)), _EDUCATION),
        pl.Series("height", (1500 + chances.below("height", 500)) / 10),
        pl.Series("weight", 1.0 + chances.below("weight", 8) / 4),
        pl.Series("income", chances.amount("income", (0, 20_000, 45_000, 90_000)) / 1),
        pl.Series("smoker", chances.below("smoker", 3) == 0),
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
        # few enough keys that a search over all generalizations takes no time
        "marital": {"role": "other"},
        "admission_date": {"role": "other"},
    }
    return Microdata(frame, Policy.model_validate({"attributes": attributes}), "the kit's table")


def relatives(data: Microdata) -> dict[str, Microdata]:
    """Tables like this one that a plug-in meets sooner or later, by what is special about them."""
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
    """The same table without anything that was computed on it."""
    return Microdata(data.frame.clone(), data.policy, data.source, data.records.copy(), data.labels)


class Snapshot:
    """What a table was before a plug-in saw it, its encoded columns included."""

    def __init__(self, data: Microdata) -> None:
        self.values = data.frame.to_dict(as_series=False)
        self.records = data.records.copy()
        self.policy = data.policy
        self.codes = {column.name: column.codes.copy() for column in encode(data, data.columns)}

    def changes(self, data: Microdata) -> list[str]:
        """What is not any more as it was."""
        found = [f"the column '{name}'" for name in data.columns if data.frame[name].to_list() != self.values[name]]
        if not np.array_equal(self.records, data.records):
            found.append("the record numbers")
        if self.policy != data.policy:
            found.append("the policy")
        kept = data.cache.get("columns", {})
        changed = [name for name, codes in self.codes.items() if name in kept and not np.array_equal(kept[name].codes, codes)]
        return found + [f"the encoded column '{name}'" for name in changed]


def same(one: pl.Series, other: pl.Series) -> bool:
    """Whether two columns say the same; numbers to 1e-9 of their size, as sums taken in another order agree."""
    if one.dtype != other.dtype or len(one) != len(other):
        return False
    if not one.dtype.is_float():
        return bool(one.eq_missing(other).all())
    if not one.is_null().eq(other.is_null()).all():
        return False
    first, second = one.drop_nulls().to_numpy(), other.drop_nulls().to_numpy()
    return bool(np.allclose(first, second, rtol=1e-9, atol=1e-12, equal_nan=True))


def by_record(data: Microdata) -> pl.DataFrame:
    """The rows in the order of their record numbers."""
    return data.frame[np.argsort(data.records, kind="stable")]
