"""Microdata: a table with a record a row, its policy, and who each record is.

Nothing is written back: a masking method returns a new Microdata that shares what it did not change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.errors import DataError, PolicyError, nearest, redact_credentials
from discreet.model.attribute import Attribute, Level, Role
from discreet.model.cells import ColumnCells
from discreet.model.display import Described, list_names, shape_of
from discreet.model.policy import Policy

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

_NESTED = (pl.List, pl.Array, pl.Struct, pl.Object)


@dataclass(frozen=True, repr=False)
class Microdata(Described):
    """A table of records under a policy.

    ``records`` says who each row is: the row's number in the initial microdata, or a negative number for a
    simulated record. It keys every random choice and is the link from masked to original; it is never written.
    ``cells`` says what the labels of masked columns stand for (:class:`~discreet.model.cells.ColumnCells`).
    ``labels`` are the words for a column's codes and ``variable_labels`` those for the column itself, as files of SPSS,
    Stata and SAS hold them.
    """

    frame: pl.DataFrame
    policy: Policy = field(default_factory=Policy)
    source: str = "the data"
    records: NDArray[np.int64] = field(default=None)  # type: ignore[arg-type]
    labels: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)
    cache: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    variable_labels: Mapping[str, str] = field(default_factory=dict)
    cells: Mapping[str, ColumnCells] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, dtype in self.frame.schema.items():
            if isinstance(dtype, _NESTED):
                raise DataError(
                    f"{self.source}: the column '{name}' holds nested values ({dtype}); only plain values can be masked"
                )
        floats = [name for name, dtype in self.frame.schema.items() if dtype.is_float()]
        if any(self.frame[name].is_nan().any() for name in floats):
            # a float that is not a number is a missing value to every reader
            object.__setattr__(self, "frame", self.frame.with_columns(pl.col(floats).fill_nan(None)))
        if self.records is None:
            object.__setattr__(self, "records", np.arange(self.frame.height, dtype=np.int64))
        elif len(self.records) != self.frame.height:
            raise DataError(f"{self.source}: {len(self.records)} record numbers for {self.frame.height} records")
        unknown = [name for name in self.policy.attributes if name not in self.frame.columns]
        unknown = [name for name in unknown if name not in self.released_without]
        if unknown:
            raise PolicyError(
                f"{self.policy.origin}: the attribute '{unknown[0]}' is not a column of {self.source}; "
                f"{nearest(unknown[0], self.frame.columns)}"
            )

    def describe(self) -> tuple[str, dict[str, str]]:
        """Source, size and the columns by their role; see :mod:`discreet.model.display`."""
        roles = {str(role): list_names(names) for role in Role if (names := self.named(role))}
        return f"{redact_credentials(self.source)}: {shape_of(len(self), len(self.columns))}", roles

    @property
    def released_without(self) -> set[str]:
        """Attributes that a release may lack: identifiers, persons and households are removed by design."""
        return set(self.policy.named(Role.IDENTIFIER, Role.PERSON, Role.HOUSEHOLD))

    def __len__(self) -> int:
        return self.frame.height

    @property
    def columns(self) -> list[str]:
        return self.frame.columns

    @property
    def schema(self) -> pl.Schema:
        """The columns' names and types."""
        return self.frame.schema

    def attribute(self, name: str) -> Attribute:
        """What the policy says of a column; a column it does not name has the role 'other'."""
        if name not in self._names:
            raise DataError(f"{self.source} has no column '{name}'; {nearest(name, self.columns)}")
        return self.policy.attributes.get(name, _PLAIN)

    def named(self, *roles: Role) -> list[str]:
        """The columns that have one of these roles, in the table's order."""
        return [name for name in self.columns if self.policy.attributes.get(name, _PLAIN).role in roles]

    def level(self, name: str) -> Level:
        """The level of measurement: the policy's word, or what the column's type says."""
        attribute = self.attribute(name)
        if attribute.level is not None:
            return attribute.level
        if attribute.order is not None:
            return Level.ORDINAL
        dtype = self.schema[name]
        if dtype.is_numeric():
            return Level.NUMERIC
        return Level.DATE if dtype.is_temporal() else Level.NOMINAL

    @cached_property
    def _names(self) -> frozenset[str]:
        """Listing a frame's columns takes as long as it is wide, which is too long to do for each of thousands."""
        return frozenset(self.columns)

    @cached_property
    def is_initial(self) -> bool:
        """Whether rows still are the initial records in their order."""
        return bool((self.records == np.arange(len(self))).all())

    def replace(self, frame: pl.DataFrame, records: NDArray[np.int64] | None = None) -> Microdata:
        """Another table of the same source; give ``records`` where rows went, came or moved."""
        kept = self.records if records is None else records
        cells = {name: one for name, one in self.cells.items() if name in frame.columns}
        return Microdata(frame, self.policy, self.source, kept, self.labels, variable_labels=self.variable_labels, cells=cells)

    def with_columns(self, changed: Mapping[str, pl.Series], cells: Mapping[str, ColumnCells | None] | None = None) -> Microdata:
        """The same records with some columns replaced; the encoded forms of the others stay.

        ``cells`` says what the labels of changed columns stand for, or None where a column now holds plain values. A column
        that it does not name keeps what was said of it: its cells were blanked or moved, but not made anew.
        """
        made = self.replace(self.frame.with_columns([series.alias(name) for name, series in changed.items()]))
        if cells:
            made = made.with_cells({**self.cells, **cells})
        return self._keep_encoded(made, set(changed))

    def with_cells(self, cells: Mapping[str, ColumnCells | None]) -> Microdata:
        """The same table whose labels stand for this."""
        kept = {name: one for name, one in cells.items() if one is not None and name in self._names}
        return self._keep_encoded(replace(self, cells=kept, cache={}), set())

    def drop(self, names: Sequence[str]) -> Microdata:
        """The same records without some columns."""
        return self._keep_encoded(self.replace(self.frame.drop(names)), set(names))

    def _keep_encoded(self, made: Microdata, changed: set[str]) -> Microdata:
        encoded = self.cache.get("columns", {})
        made.cache["columns"] = {name: column for name, column in encoded.items() if name not in changed}
        return made

    def take(self, rows: NDArray[np.int64]) -> Microdata:
        """Some of the rows, in the order given."""
        return self.replace(self.frame[rows], self.records[rows])

    def with_policy(self, policy: Policy) -> Microdata:
        """The same table under another policy."""
        made = Microdata(
            self.frame, policy, self.source, self.records, self.labels,
            variable_labels=self.variable_labels, cells=self.cells,
        )  # fmt: skip
        # codes follow the policy's order, and whatever else is cached its weights: only columns that neither touches stay
        moved = {name for name in self._names if made.attribute(name).order != self.attribute(name).order}
        return self._keep_encoded(made, moved)

    def to_polars(self) -> pl.DataFrame:
        return self.frame

    def to_arrow(self) -> pa.Table:
        return self.frame.to_arrow()

    def to_pandas(self) -> pd.DataFrame:
        return self.frame.to_pandas()


_PLAIN = Attribute()


def _order(policy: Policy, name: str) -> tuple[str, ...] | None:
    """The order that decides a column's codes."""
    return policy.attributes.get(name, _PLAIN).order
