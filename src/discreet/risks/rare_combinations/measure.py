"""Rare combinations: values of chosen sets of keys that fewer records share than must (the rule of mu-Argus)."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.classes.groups import refine_groups
from discreet.engine.encoding.columns import Column, encode
from discreet.errors import DataError
from discreet.model.attribute import Role
from discreet.model.contracts import Direction, RiskMeasure
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.risks.rare_combinations.counts import KeySet, Missing, count_sets, list_key_classes, list_sets

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_SETS = 20_000
_BLOCK = 1 << 12
_NAMED = 5
"""Rare sets of a record that are named; further ones are counted."""


class RareCombinations(RiskMeasure):
    """Combinations of key values that occur fewer than ``threshold`` times, for chosen sets of keys or all small ones.

    Statistics offices often require that every combination of, say, three identifying values occurs in several records, and not
    of all keys together (k-anonymity). A record is unsafe if one of its combinations is rare.

    >>> from discreet.testing import table
    >>> data = table({"age": [44, 44, 55], "sex": ["f", "f", "f"], "job": ["a", "b", "a"]}, key=["age", "sex", "job"])
    >>> score = RareCombinations(sets=(("age", "sex"), ("sex", "job")), threshold=2).measure(data)
    >>> score["records"], score.per_record["sets"].to_list()
    (2, [None, 'sex + job', 'age + sex'])
    """

    name: ClassVar[str] = "rare_combinations"
    citation: ClassVar[str] = (
        "Hundepool, A. et al. (2012). Statistical disclosure control. Wiley; de Waal, A. G. & Willenborg, L. C. "
        "R. J. (1996). A view on statistical disclosure control for microdata. Survey Methodology 22(1), 95-103."
    )
    better: ClassVar[Mapping[str, Direction]] = {"records": "low", "combinations": "low", "fewest": "high"}
    worst: ClassVar[Mapping[str, float]] = {"fewest": 1.0}
    meaning: ClassVar[Mapping[str, str]] = {
        "records": "unsafe records: records with at least one rare combination",
        "combinations": "rare combinations: different values of a set of keys that fewer than threshold records share",
        "fewest": "records of the rarest combination; empty where there is none",
        "by_size": "rare combinations by the number of their keys",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "rare": "number of sets of keys whose combination is rare in the record",
        "fewest": "records that share its rarest combination; empty where every combination has a null that is no value",
        "sets": "the sets of keys whose combination is rare in the record; the first five, and how many more",
    }
    original_use: ClassVar[Literal["none", "optional", "required"]] = "optional"

    keys: tuple[str, ...] = Field(default=(), description="quasi-identifiers for dimension; default: role key")
    sets: tuple[Annotated[tuple[str, ...], Field(min_length=1)], ...] = Field(
        default=(), description="sets of keys whose combinations must be common; default: all sets of up to dimension keys"
    )
    dimension: Annotated[int, Field(ge=1)] = Field(default=3, description="largest number of keys of a set, where sets is empty")
    threshold: Annotated[int, Field(ge=2)] = Field(default=3, description="records that must share a combination; fewer are rare")
    missing: Missing = Field(
        default="category",
        description="a null is one more value, agrees with anything (wildcard), or makes no combination (ignore)",
    )

    def uses_original(self, data: Microdata) -> bool:
        """Only where nulls are no values does an intruder who knows the original values learn more than the release shows."""
        return self.missing != "category"

    def reads(self, data: Microdata) -> list[str]:
        if self.sets:
            return list(dict.fromkeys(name for names in self.sets for name in names))
        return list(dict.fromkeys(self.keys)) or data.named(Role.KEY)

    def working_bytes(self, sample: Microdata, records: int, *, by_record: bool = False) -> float:
        return records * (120.0 + (len(self._list_sets(self.reads(sample))) / 8 + 40 if by_record else 0))

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        columns = self._encode_keys(data, original)
        sets = self._list_sets([column.name for column in columns])
        classes = list_key_classes(columns, len(data))
        size = len(classes.counts)
        rare_sets, fewest = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        by_size = {str(number): 0 for number in sorted({len(keys) for keys in sets})}
        by_key = np.zeros(len(columns), dtype=np.int64)
        unsafe_by_key = np.zeros((len(columns), size), dtype=np.bool_)
        flags: dict[KeySet, NDArray[np.uint8]] = {}
        for keys, counts, representatives in count_sets(classes, [column.null_code for column in columns], sets, self.missing):
            rare = (counts > 0) & (counts < self.threshold)
            fewest = np.where((counts > 0) & ((fewest == 0) | (counts < fewest)), counts, fewest)
            if not rare.any():
                continue
            rare_sets += rare
            number = int(rare[representatives].sum())
            by_size[str(len(keys))] += number
            by_key[list(keys)] += number
            unsafe_by_key[list(keys)] |= rare
            flags[keys] = np.packbits(rare)
        seen = fewest[fewest > 0]
        summary: dict[str, int | float | Mapping[str, int | float] | None] = {
            "records": int(classes.counts[rare_sets > 0].sum()),
            "combinations": sum(by_size.values()),
            "fewest": int(seen.min()) if len(seen) else None,
            "by_size": by_size,
        }
        per_attribute = pl.DataFrame(
            {
                "attribute": [column.name for column in columns],
                "combinations": by_key,
                "records": (unsafe_by_key * classes.counts).sum(axis=1),
            }
        )

        def list_records() -> pl.DataFrame:
            names = _name_rare_sets(flags, [column.name for column in columns], size)
            smallest = pl.Series(fewest[classes.ids])
            return pl.DataFrame(
                {
                    "rare": rare_sets[classes.ids],
                    "fewest": pl.select(pl.when(smallest > 0).then(smallest)).to_series(),
                    "sets": names.gather(pl.Series(classes.ids)),
                }
            )

        return Score(self.name, summary, list_records, per_attribute)

    def explain(self, data: Microdata, record: int, *, original: Microdata | None = None) -> list[str]:
        columns = self._encode_keys(data, original)
        classes = list_key_classes(columns, len(data))
        own = classes.ids[record]
        sets = self._list_sets([column.name for column in columns])
        nulls = [column.null_code for column in columns]
        rare = [
            (int(counts[own]), len(keys), " + ".join(columns[key].name for key in keys))
            for keys, counts, _ in count_sets(classes, nulls, sets, self.missing)
            if 0 < counts[own] < self.threshold
        ]
        of = f"record {record + 1:,} of {len(data):,}"
        if not rare:
            return [f"{of}: at least {self.threshold} records share each of its combinations"]
        head = (
            f"{of}: {len(rare):,} of {len(sets):,} sets of keys have a combination that fewer than {self.threshold} records share"
        )
        named = [
            f"{names}: {'no other record has' if count == 1 else f'{count:,} records share'} these values"
            for count, _, names in sorted(rare)[:_NAMED]
        ]
        return [head, *named, *([f"{len(rare) - _NAMED:,} further sets"] if len(rare) > _NAMED else [])]

    def _encode_keys(self, data: Microdata, original: Microdata | None) -> list[Column]:
        names = self.reads(data)
        if not names:
            raise DataError(f"rare_combinations needs sets, or at least one attribute with the role key in {data.source}")
        width, most = len(names), min(self.dimension, len(names))
        number = len(self.sets) or sum(comb(width, size) for size in range(1, most + 1))
        if number > _MOST_SETS:
            raise DataError(
                f"rare_combinations would count {number:,} sets of up to {self.dimension} of {width} keys, more than "
                f"{_MOST_SETS:,}; use a smaller dimension, fewer keys, or name the sets"
            )
        columns = encode(data, names)
        blank = [column.name for column in columns if column.has_null]
        if self.missing != "category" and original is not None and blank:
            raise DataError(
                f"rare_combinations is not defined for an intruder who knows the original values where '{blank[0]}' is "
                f"suppressed and missing: {self.missing} takes a null for no value; use missing: category, or known_sets"
            )
        return columns

    def _list_sets(self, names: list[str]) -> list[KeySet]:
        if not self.sets:
            return list_sets(len(names), self.dimension)
        place = {name: key for key, name in enumerate(names)}
        return list(dict.fromkeys(tuple(sorted({place[name] for name in chosen})) for chosen in self.sets))


def _name_rare_sets(flags: Mapping[KeySet, NDArray[np.uint8]], names: list[str], size: int) -> pl.Series:
    """For each class the names of its rare sets; classes with the same rare sets share one text."""
    ids, number = np.zeros(size, dtype=np.int64), min(size, 1)
    for packed in flags.values():
        ids, number = refine_groups(ids, number, np.unpackbits(packed, count=size), 2)
    first = np.empty(number, dtype=np.int64)
    first[ids[::-1]] = np.arange(size - 1, -1, -1)
    labels = [" + ".join(names[key] for key in keys) for keys in flags]
    texts: list[str | None] = []
    for begin in range(
        0, number, _BLOCK
    ):  # a block of patterns at a time: there may be as many as classes, and thousands of sets
        rows = first[begin : begin + _BLOCK]
        bits = [packed[rows >> 3] >> (7 - (rows & 7)).astype(np.uint8) & 1 for packed in flags.values()]
        rare = np.array(bits, dtype=np.uint8).reshape(len(flags), len(rows))
        texts += [_join_labels([labels[index] for index in np.flatnonzero(rare[:, pattern])]) for pattern in range(len(rows))]
    return pl.Series("sets", texts, dtype=pl.String).gather(pl.Series(ids))


def _join_labels(labels: list[str]) -> str | None:
    if not labels:
        return None
    more = f"; {len(labels) - _NAMED:,} more" if len(labels) > _NAMED else ""
    return "; ".join(labels[:_NAMED]) + more
