"""Partitioning into groups that no person dominates, and generalizing the keys in each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from discreet.engine.encoding.columns import Column, encode, encode_series
from discreet.engine.encoding.unique_keys import unique_keys
from discreet.errors import DataError, ParameterError, nearest
from discreet.masking.step_words import list_words, say_required, say_value, say_weights
from discreet.model.attribute import Role
from discreet.model.cells import ColumnCells
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.engine.classes.persons import Persons
    from discreet.masking.balanced_partition.axes import Axis
    from discreet.masking.balanced_partition.partition import Partition

Share = Annotated[float, Field(gt=0, le=1)]
_OPEN_GROUPS = "balanced_partition.open_groups"
_FEWEST_HOLDERS = 2
"""Records or persons that must hold an end of a range for it to be published as it is, where no k says more."""


class BalancedPartition(MaskingMethod):
    """Splits the records at medians into groups with g >= g* and h <= h*, and publishes each key's range or mean by group.

    A set of records is split on the key with the least balance-variance ratio r_j = Delta g / v_j (Kartal & Li 2016, eq. 4). If a
    part would violate g* or h*, the next key is tried; a set that no key can split is a group (Table 3).

    >>> from discreet.engine.draws.draw import KeyedDraw
    >>> from discreet.testing import table
    >>> data = table({"who": [1, 1, 2, 3, 4, 4], "age": [20, 21, 22, 40, 41, 42]}, person=["who"], key=["age"])
    >>> BalancedPartition(g=0.4).mask(data, ["age"], KeyedDraw(7)).frame["age"].to_list()
    ['[20, 23]', '[20, 23]', '[20, 23]', '[40, 43]', '[40, 43]', '[40, 43]']
    """

    name: ClassVar[str] = "balanced_partition"
    citation: ClassVar[str] = (
        "Kartal, H. B. & Li, X.-B. (2016). Assessing and mitigating disclosure risk with multiple record linkage. "
        "Pre-ICIS SIGDSA/IFIP WG8.3 Symposium, paper 11, Table 3."
    )
    scope: ClassVar[Scope] = Scope.TABLE
    default_columns: ClassVar[str] = "the keys"
    preserves: ClassVar[str] = "Each key inside its group's range, or its sum over each group; all other attributes."
    inherits: ClassVar[Mapping[str, tuple[str, ...]]] = {"columns": ("repeated_records.keys", "k_anonymity.keys")}

    criterion: Literal["balance", "records", "persons"] = Field(
        default="balance",
        description="requirement on a group: g and h (balance), k records (records, as in Mondrian), or k persons (persons)",
    )
    g: Annotated[float, Field(ge=0, lt=1)] | None = Field(
        default=None, examples=[0.6], description="minimum g-balance of a group"
    )
    h: Share | dict[str, Share] | None = Field(
        default=None, description="maximum h-affiliation of a group, for all confidential attributes or per attribute"
    )
    k: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="minimum number of records or persons in a group, by criterion"
    )
    l: Annotated[int, Field(ge=1)] | None = Field(  # noqa: E741 - the literature's name
        default=None,
        description="minimum number of distinct values of each confidential attribute in a group (criterion records)",
    )
    publish: Literal["ranges", "means"] = Field(
        default="ranges", description="published for numbers and dates: the range or the mean of the group"
    )
    ends: Literal["rounded", "exact"] = Field(
        default="rounded",
        description="ends of published ranges: rounded outward where fewer than k (default: 2) records or persons, by criterion, "
        "hold the value, or as they are",
    )
    whole: bool = Field(default=False, description="round the means of integer columns")
    scale: Literal["range", "std", "none"] = Field(
        default="range",
        description="unit in which variances are compared: the range of the key, its standard deviation, or none",
    )
    weights: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(
        default_factory=dict, description="importance of keys, by which their variances are multiplied; default: 1"
    )
    seconds: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="time limit for splitting in seconds; the groups at that time are valid"
    )

    @model_validator(mode="after")
    def _each_criterion_has_its_own_limits(self) -> BalancedPartition:
        own = {"balance": ("g", "h"), "records": ("k", "l"), "persons": ("k",)}[self.criterion]
        for limit in ("g", "h", "k", "l"):
            if getattr(self, limit) is not None and limit not in own:
                raise ValueError(f"criterion: {self.criterion} takes {' and '.join(own)}, not {limit}")
        if getattr(self, own[0]) is None:
            raise ValueError(f"criterion: {self.criterion} needs {own[0]}")
        return self

    @classmethod
    def describe_step(cls, columns: str, parameters: Mapping[str, Any]) -> str:
        criterion, what = parameters.get("criterion", "balance"), parameters.get("publish", "ranges")
        if criterion == "balance":
            ends = [f"g-balance of at least {say_value(g)}" for g in (parameters.get("g"),) if g is not None]
            ends += [f"h-affiliation of at most {say_value(h)}" for h in (parameters.get("h"),) if h is not None]
            into = f"groups with {list_words(ends)}" if ends else "groups that are balanced as the policy requires"
        else:
            into = f"groups of at least {say_required(parameters.get('k'))} {criterion}"
        return f"split the records by {columns} into {into}, and release the {what} of each group{say_weights(parameters)}"

    def choose(self, data: Microdata) -> list[str]:
        return data.named(Role.KEY)

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        self._axes(data, columns)
        self._sensitive(data)
        self._persons(data)

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        groups = self.partition(data, columns)
        published = {name: self._publish(data, name, index, groups) for index, name in enumerate(columns)}
        cells = {
            name: self._describe_cells(data, name, series) for name, series in published.items() if series.dtype == pl.String
        }
        masked = data.with_columns(published, cells)
        masked.cache[_OPEN_GROUPS] = (groups.open_groups, groups.number)
        return masked

    def partition(self, data: Microdata, columns: Sequence[str]) -> Partition:
        """The groups of records, before their keys are generalized."""
        from discreet.masking.balanced_partition.partition import Requirements, partition_records

        axes, sensitive, persons = self._axes(data, columns), self._sensitive(data), self._persons(data)
        whole = np.zeros(len(data), dtype=np.int64)
        if len(data) and (shortfalls := self._shortfalls(whole, 1, sensitive, persons)):
            raise DataError(f"even all records of {data.source} as one group violate the requirements: {'; '.join(shortfalls)}")
        requirements = Requirements(
            by_balance=self.criterion == "balance",
            g=self.g or 0.0,
            h=tuple(self._max_h(column.name) for column in sensitive),
            records=self.k or 1 if self.criterion == "records" else 1,
            persons=self.k or 1 if self.criterion == "persons" else 1,
            values=self.l or 1,
        )
        weights = [self.weights.get(name, 1.0) for name in columns]
        return partition_records(axes, weights, persons, sensitive, requirements, seconds=self.seconds)

    def notes(self, before: Microdata, after: Microdata, columns: Sequence[str]) -> list[str]:
        left_open, groups = after.cache.get(_OPEN_GROUPS, (0, 0))
        if not left_open:
            return []
        time_limit = f"the time limit of {self.seconds:g} seconds ended the splitting"
        return [
            f"{time_limit}: {left_open:,} of {groups:,} groups might be split further; every group satisfies the requirements"
        ]

    def broken(self, before: Microdata, after: Microdata, final: Microdata, columns: Sequence[str]) -> list[str]:
        """Requirements that later steps violated, measured on the equivalence classes of the final table."""
        keys = [name for name in columns if name in final.columns]
        if final is after or not keys or not len(final):
            return []
        from discreet.engine.classes.groups import group_columns

        names = [column.name for column in self._sensitive(before) if column.name in final.columns]
        group, groups = group_columns([encode_series(final.frame[name]) for name in keys], len(final))
        shortfalls = self._shortfalls(
            group, groups, [encode_series(final.frame[name]) for name in names], self._persons(final, before)
        )
        return [f"the final table has groups that violate the requirements: {'; '.join(shortfalls)}"] if shortfalls else []

    def _axes(self, data: Microdata, columns: Sequence[str]) -> list[Axis]:
        from discreet.masking.balanced_partition.axes import build_axis

        if not columns:
            raise DataError(f"balanced_partition needs at least one attribute with the role key in {data.source}, or columns")
        for name in self.weights:
            if name not in columns:
                raise ParameterError(
                    f"balanced_partition.weights names '{name}', which is not partitioned; {nearest(name, columns)}"
                )
        return [build_axis(data, name, self.scale) for name in columns]

    def _sensitive(self, data: Microdata) -> list[Column]:
        """The confidential attributes that h or l limit."""
        if self.h is None and self.l is None:
            return []
        names = list(self.h) if isinstance(self.h, dict) else data.named(Role.CONFIDENTIAL)
        if not names:
            raise DataError(
                f"balanced_partition: {'h' if self.h else 'l'} needs an attribute with the role confidential in {data.source}"
            )
        return encode(data, names)

    def _max_h(self, name: str) -> float:
        if isinstance(self.h, dict):
            return self.h[name]
        return 1.0 if self.h is None else self.h

    def _persons(self, data: Microdata, original: Microdata | None = None) -> Persons:
        from discreet.engine.classes.persons import Persons, persons_of

        if self.criterion != "records":
            return persons_of(data, original)
        return Persons(np.arange(len(data)), len(data), pl.Series("record", data.records))

    def _shortfalls(self, group: NDArray[np.int64], groups: int, sensitive: Sequence[Column], persons: Persons) -> list[str]:
        """One sentence per requirement that the worst group violates, with the difference."""
        from discreet.engine.classes.groups import refine_groups
        from discreet.engine.classes.persons import count_persons

        counts = count_persons(group, groups, persons, sensitive)
        least_balance, shortfalls = float(counts.balance.min()), []
        if self.g is not None and least_balance < self.g:
            shortfalls.append(f"g-balance is {least_balance:.6g}, {self.g - least_balance:.6g} less than g = {self.g:g}")
        for column, by_group in zip(sensitive, counts.affiliation, strict=True):
            largest, allowed = float(by_group.max()), self._max_h(column.name)
            if largest > allowed:
                shortfalls.append(
                    f"h-affiliation of '{column.name}' is {largest:.6g}, {largest - allowed:.6g} more than h = {allowed:g}"
                )
            if self.l is not None:
                pairs, number = refine_groups(group, groups, column.codes, column.cardinality)
                group_of_pair = np.empty(number, dtype=np.int64)
                group_of_pair[pairs] = group
                values = int(np.bincount(group_of_pair, minlength=groups).min())
                if values < self.l:
                    shortfalls.append(f"'{column.name}' has {values} distinct values, {self.l - values} fewer than l = {self.l}")
        if self.k is not None:
            smallest = int((counts.records if self.criterion == "records" else counts.persons).min())
            if smallest < self.k:
                shortfalls.append(f"there are {smallest} {self.criterion}, {self.k - smallest} fewer than k = {self.k}")
        return shortfalls

    def _describe_cells(self, data: Microdata, name: str, published: pl.Series) -> ColumnCells | None:
        """The meaning of the published labels of a key."""
        from discreet.engine.cells.handover import describe_labels
        from discreet.engine.cells.hierarchies import usable_hierarchy

        return describe_labels(data, name, published, hierarchy=usable_hierarchy(data, name))

    def _count_holders(self, data: Microdata, axis: Axis) -> NDArray[np.int64]:
        """The persons that hold each value of a key, or the records, by criterion."""
        persons = self._persons(data)
        pairs = unique_keys(axis.codes.astype(np.int64) * persons.number + persons.codes)
        return np.bincount(pairs // persons.number, minlength=axis.column.cardinality)

    def _publish(self, data: Microdata, name: str, index: int, partition: Partition) -> pl.Series:
        """The published column of a key: unchanged if no group spans two values, else the groups' ranges or means."""
        from discreet.masking.balanced_partition.axes import build_axis, group_means, group_ranges

        low, high = partition.low[:, index], partition.high[:, index]
        if (low == high).all():
            return data.frame[name]
        axis = build_axis(data, name, self.scale)
        by_means = self.publish == "means" and not axis.is_category
        if by_means:
            published = group_means(axis, partition.group, low, high)
        else:
            enough = max(self.k or 0, _FEWEST_HOLDERS) if self.ends == "rounded" else 0
            published = group_ranges(axis, low, high, self._count_holders(data, axis), enough)
        if by_means and self.whole and data.frame.schema[name].is_integer():
            published = published.round(0, mode="half_to_even").cast(data.frame.schema[name])
        return published[partition.group]
