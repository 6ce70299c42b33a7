"""Local suppression: suppressing the values that make records rare."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from discreet.engine.classes.groups import class_sizes
from discreet.engine.encoding.columns import Column, encode
from discreet.errors import DataError, ParameterError, nearest
from discreet.masking.requirements import Strata, need_other_columns
from discreet.masking.step_words import say_strata, say_value, say_weights
from discreet.model.attribute import Role
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.microdata import Microdata
from discreet.model.notes import Note

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_RECORDS_CHECKED_AGAIN = 50_000
_MAX_SETS_OF_KEYS = 20_000


class LocalSuppression(MaskingMethod):
    """Suppresses single key values until at least k records agree with every record, where a blank agrees with any value.

    Of each record with fewer than k agreeing records, the cheapest set of values is suppressed that leaves a combination which
    k records share. Records are treated one after the other, the costliest first; a record that earlier blanks have made safe
    keeps its values. With ``blanks: discount`` blanks do not count as agreement, so that all such records are treated. With
    ``blanks: category`` a blank is a value of its own: k records share every combination of values and blanks that is released,
    as k-anonymity with ``missing: category`` counts. With ``sets``, k records must agree on each of these sets of keys instead of
    on all keys together, with ``dimension`` on each set of so many keys, with ``strata`` within each stratum. Without k, a step
    suppresses what the policy's rare_combinations finds.

    >>> from discreet.engine.draws.draw import KeyedDraw
    >>> from discreet.testing import table
    >>> data = table({"sex": ["f", "f", "m"], "town": ["A", "A", "A"]}, key=["sex", "town"])
    >>> LocalSuppression(k=2).mask(data, ["sex", "town"], KeyedDraw(7)).frame.rows()
    [('f', 'A'), ('f', 'A'), (None, 'A')]
    """

    name: ClassVar[str] = "local_suppression"
    citation: ClassVar[str] = (
        "Willenborg, L. & de Waal, T. (2001). Elements of Statistical Disclosure Control, chapter 5. Springer; Templ, M., "
        "Kowarik, A. & Meindl, B. (2015). Statistical disclosure control for micro-data using the R package sdcMicro. JSS 67(4)."
    )
    scope: ClassVar[Scope] = Scope.TABLE
    default_columns: ClassVar[str] = "the keys"
    preserves: ClassVar[str] = "Every value that is not suppressed; all attributes but the keys."
    inherits: ClassVar[Mapping[str, tuple[str, ...]]] = {"columns": ("k_anonymity.keys",)}
    inherits_without_k: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "k": ("rare_combinations.threshold",), "sets": ("rare_combinations.sets",), "columns": ("rare_combinations.keys",),
        "dimension": ("rare_combinations.dimension",),
    }  # fmt: skip

    k: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="minimum number of records that agree with each record"
    )
    threshold: Annotated[float, Field(gt=0, le=1)] | None = Field(
        default=None, description="maximum risk 1 / (agreeing records) of a record; instead of k"
    )
    importance: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(
        default_factory=dict, description="cost of suppressing a value of an attribute; default: 1"
    )
    blanks: Literal["match", "discount", "category"] = Field(
        default="match",
        description="match: a blank agrees with any value (wildcard); discount: only equal values agree; "
        "category: a blank is a value of its own, and k records share every combination",
    )
    sets: tuple[Annotated[tuple[str, ...], Field(min_length=1)], ...] = Field(
        default=(), description="sets of keys on each of which k records must agree; default: all keys together"
    )
    dimension: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="k records must agree on each set of up to so many keys, where sets is empty"
    )
    strata: tuple[str, ...] = Field(default=(), description="columns within whose combinations k records must agree")

    @classmethod
    def inherited_by(cls, parameters: Mapping[str, Any]) -> Mapping[str, tuple[str, ...]]:
        names_k = parameters.get("k") is not None or parameters.get("threshold") is not None
        return cls.inherits if names_k else cls.inherits_without_k

    @model_validator(mode="after")
    def _either_k_or_threshold(self) -> Self:
        if (self.k is None) == (self.threshold is None):
            raise ValueError(
                "local_suppression needs either k or threshold, or a policy that uses rare_combinations, whose threshold is its k"
            )
        if (self.sets or self.dimension) and self.blanks != "match":
            # a blank that another set needs can only add agreement where it agrees with any value
            raise ValueError(
                f"local_suppression takes sets and dimension with blanks: match only, not with blanks: {self.blanks}"
            )
        return self

    @classmethod
    def example(cls) -> Self:
        return cls(k=2)

    @property
    def required_k(self) -> int:
        """The required k: the smallest with 1 / k at most the threshold."""
        return self.k if self.k is not None else math.ceil(1 / (self.threshold or 1.0) - 1e-9)

    @classmethod
    def describe_step(cls, columns: str, parameters: Mapping[str, Any]) -> str:
        k, threshold = parameters.get("k"), parameters.get("threshold")
        records = f"at least {k} records" if k is not None else "as many records as the policy requires"
        meaning = {
            "category": f"{records} share every combination, a blank being a value",
            "discount": f"{records} agree with every record in equal values",
        }.get(str(parameters.get("blanks", "match")), f"{records} agree with every record, where a blank agrees with any value")
        risk = f", so that no risk is above {say_value(threshold)}" if threshold is not None else ""
        small = f" in each set of up to {size} of them" if (size := parameters.get("dimension")) is not None else ""
        rest = f"{small}{risk}{say_strata(parameters)}{say_weights(parameters)}"
        return f"suppress single values of {columns} until {meaning}{rest}"

    def choose(self, data: Microdata) -> list[str]:
        return [name for name in data.named(Role.KEY) if name not in self.strata]

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        if not columns:
            raise DataError("local_suppression needs keys: name columns, or give attributes the role key")
        need_other_columns(self.name, data, "strata", self.strata, columns)
        for name in self.importance:
            if name not in columns:
                raise ParameterError(f"local_suppression.importance names '{name}', which is not a key; {nearest(name, columns)}")
        for name in (name for names in self.sets for name in names):
            if name not in columns:
                raise ParameterError(f"local_suppression.sets names '{name}', which is not a key; {nearest(name, columns)}")

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        self.check(data, columns)
        if not len(data):
            return data
        strata = Strata.of(data, self.strata)
        small = np.flatnonzero(strata.sizes < self.required_k)
        if self.strata and len(small):
            title = strata.title(data, int(small[0]))
            raise DataError(
                f"{int(strata.sizes[small[0]]):,} records in the stratum {title} cannot form a class of {self.required_k:,}; "
                "require a smaller k, or join strata"
            )
        for keys in self._list_sets(columns):
            data = self._suppress(data, keys, strata)
        return data

    def _list_sets(self, columns: Sequence[str]) -> list[list[str]]:
        """The sets of keys on which k records must agree, each in the order of the columns.

        Sets of fewer than ``dimension`` keys need no turn of their own: who agrees on a set agrees on its subsets.
        """
        if self.sets or self.dimension is None:
            return [[name for name in columns if name in names] for names in self.sets] or [list(columns)]
        number = math.comb(len(columns), min(self.dimension, len(columns)))
        if number > _MAX_SETS_OF_KEYS:
            raise DataError(
                f"local_suppression would treat {number:,} sets of {self.dimension} of {len(columns)} keys, more than "
                f"{_MAX_SETS_OF_KEYS:,}; use a smaller dimension, fewer columns, or name the sets"
            )
        return [list(names) for names in combinations(columns, min(self.dimension, len(columns)))]

    def _suppress(self, data: Microdata, columns: Sequence[str], strata: Strata) -> Microdata:
        """Suppress values until k records of its stratum agree with every record on these columns.

        Sets can be treated one after the other: a further blank never takes agreement away from a set that was treated before.
        """
        encoded = encode(data, columns)
        suppressed = np.zeros((len(data), len(columns)), dtype=np.bool_)
        for rows in strata.rows() if self.strata else [np.arange(len(data))]:
            part = [Column(column.name, column.codes[rows], column.values, column.has_null) for column in encoded]
            suppressed[rows] = self._find_suppressions(part if self.strata else encoded, len(rows))
        changed = {
            name: data.frame[name].set(pl.Series(suppressed[:, index]), None)
            for index, name in enumerate(columns)
            if suppressed[:, index].any()
        }
        return data.with_columns(changed) if changed else data

    def _find_suppressions(self, columns: Sequence[Column], size: int) -> NDArray[np.bool_]:
        from discreet.masking.local_suppression.categories import find_class_suppressions
        from discreet.masking.local_suppression.search import find_suppressions

        costs = [self.importance.get(column.name, 1.0) for column in columns]
        if self.blanks == "category":
            return find_class_suppressions(columns, size, self.required_k, costs)
        return find_suppressions(columns, size, self.required_k, costs, blanks_agree=self.blanks == "match")

    def notes(self, before: Microdata, after: Microdata, columns: Sequence[str]) -> list[str]:
        suppressed = {name: after.frame[name].null_count() - before.frame[name].null_count() for name in columns}
        by_attribute = ", ".join(f"{name} {number:,}" for name, number in suppressed.items() if number)
        total = f"{sum(suppressed.values()):,} of {len(before) * len(columns):,} values suppressed"
        # the public text leaves out the counts by attribute, which may be small
        return [Note(f"{total}: {by_attribute}", total)] if by_attribute else []

    def broken(self, before: Microdata, after: Microdata, final: Microdata, columns: Sequence[str]) -> list[str]:
        present = [name for name in columns if name in final.columns]
        strata = [name for name in self.strata if name in final.columns]
        complete = [*present, *strata] == [*columns, *self.strata] and len(final) == len(after)
        if complete and final.frame.select(*present, *strata).equals(after.frame.select(*present, *strata)):
            return []
        if not present or not len(final):
            return []
        if len(final) > _MAX_RECORDS_CHECKED_AGAIN:
            return ["a later step changed keys or records; measure k_anonymity with missing: wildcard again"]
        is_rare = np.zeros(len(final), dtype=np.bool_)
        for keys in filter(None, self._list_sets(present)):
            encoded = encode(final, keys)
            for rows in Strata.of(final, strata).rows():
                part = [Column(column.name, column.codes[rows], column.values, column.has_null) for column in encoded]
                is_rare[rows] |= class_sizes(part, len(rows), wildcard=True) < self.required_k
        rare = int(is_rare.sum())
        return [f"{rare:,} records of the final table agree with fewer than {self.required_k} records"] if rare else []
