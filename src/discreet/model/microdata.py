"""Microdata: a table with one row per record, its policy, and the number of each record in the original.

A Microdata is never modified: a masking method returns a new one, which shares the columns that it did not change.
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
from discreet.model.display import Described, format_shape, list_names
from discreet.model.policy import Policy

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

_NESTED = (pl.List, pl.Array, pl.Struct, pl.Object)


@dataclass(frozen=True, repr=False)
class Microdata(Described):
    """A table of records under a policy.

    ``records`` is the record number of each row: its row in the initial microdata, or a negative number for a simulated record.
    All random draws depend on it, and it links masked to original records; it is never written. ``cells`` is the meaning of the
    labels of masked columns (:class:`~discreet.model.cells.ColumnCells`). ``labels`` are value labels and ``variable_labels``
    variable labels, as in files of SPSS, Stata and SAS. ``notes`` say how the table was read, where that was
    guessed. ``cache`` holds what was derived from this table, such as encoded columns.
    """

    frame: pl.DataFrame
    policy: Policy = field(default_factory=Policy)
    source: str = "the data"
    records: NDArray[np.int64] = field(default=None)  # type: ignore[arg-type]
    labels: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)
    cache: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    variable_labels: Mapping[str, str] = field(default_factory=dict)
    cells: Mapping[str, ColumnCells] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    has_links: bool | None = None
    """Whether the record numbers were given, and so link the rows to another table; those of a table as read link nothing."""

    def __post_init__(self) -> None:
        if self.has_links is None:
            object.__setattr__(self, "has_links", self.records is not None)
        for name, dtype in self.frame.schema.items():
            if isinstance(dtype, _NESTED):
                raise DataError(
                    f"{self.source}: the column '{name}' holds nested values ({dtype}); only plain values can be masked"
                )
        floats = [name for name, dtype in self.frame.schema.items() if dtype.is_float()]
        if any(self.frame[name].is_nan().any() for name in floats):
            # NaN is treated as missing everywhere
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

    def __getstate__(self) -> dict[str, Any]:
        """The table without what was derived from it."""
        return {**vars(self), "cache": {}}

    def describe(self) -> tuple[str, dict[str, str]]:
        """Source, size and the columns by role; see :mod:`discreet.model.display`."""
        roles = {str(role): list_names(names) for role in Role if (names := self.named(role))}
        return f"{redact_credentials(self.source)}: {format_shape(len(self), len(self.columns))}", roles

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
        """The attribute of a column in the policy; a column that the policy does not name has the role 'other'."""
        if name not in self._names:
            raise DataError(f"{self.source} has no column '{name}'; {nearest(name, self.columns)}")
        return self.policy.attributes.get(name, _DEFAULT_ATTRIBUTE)

    def named(self, *roles: Role) -> list[str]:
        """The columns that have one of these roles, in the table's order."""
        return [name for name in self.columns if self.policy.attributes.get(name, _DEFAULT_ATTRIBUTE).role in roles]

    def level(self, name: str) -> Level:
        """The level of measurement: from the policy; default: from the column's type."""
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
        """The column names as a set: listing a frame's columns for each of thousands of columns would take quadratic time."""
        return frozenset(self.columns)

    @cached_property
    def is_initial(self) -> bool:
        """Whether the rows are the initial records in their order."""
        return bool((self.records == np.arange(len(self))).all())

    def replace(self, frame: pl.DataFrame, records: NDArray[np.int64] | None = None) -> Microdata:
        """Another table of the same source; give ``records`` where rows were removed, added or moved."""
        numbers = self.records if records is None else records
        cells = {name: meaning for name, meaning in self.cells.items() if name in frame.columns}
        return Microdata(
            frame, self.policy, self.source, numbers, self.labels, variable_labels=self.variable_labels, cells=cells,
            has_links=self.has_links or records is not None,
        )  # fmt: skip

    def with_columns(self, changed: Mapping[str, pl.Series], cells: Mapping[str, ColumnCells | None] | None = None) -> Microdata:
        """The same records with some columns replaced; the encoded columns of the others are kept.

        ``cells`` is the meaning of the labels of changed columns, or None for a column that now holds plain values. A column that
        it does not name keeps its meaning: its cells were suppressed or moved, but no new labels were written.
        """
        table = self.replace(self.frame.with_columns([series.alias(name) for name, series in changed.items()]))
        if cells:
            table = table.with_cells({**self.cells, **cells})
        return self._keep_derived(self._keep_encoded(table, set(changed)), set(changed))

    def with_cells(self, cells: Mapping[str, ColumnCells | None]) -> Microdata:
        """The same table with this meaning of its labels."""
        present = {name: meaning for name, meaning in cells.items() if meaning is not None and name in self._names}
        return self._keep_encoded(replace(self, cells=present, cache={}), set())

    def drop(self, names: Sequence[str]) -> Microdata:
        """The same records without some columns."""
        return self._keep_derived(self._keep_encoded(self.replace(self.frame.drop(names)), set(names)), set(names))

    def remember_derived(self) -> None:
        """From now on remember what is derived from single columns, here and in all tables that share them.

        A search masks one table many times: each column is then recoded, read and compared once per recoding. It costs memory,
        so a table that is masked once does not do it.
        """
        self.cache.setdefault("derived", {name: {} for name in self.columns})

    def derived(self, name: str) -> dict[Any, Any] | None:
        """What was derived from the values of a column; None unless :meth:`remember_derived` was called."""
        known: dict[str, dict[Any, Any]] | None = self.cache.get("derived")
        return None if known is None else known.setdefault(name, {})

    def _keep_encoded(self, table: Microdata, changed: set[str]) -> Microdata:
        encoded = self.cache.get("columns", {})
        table.cache["columns"] = {name: column for name, column in encoded.items() if name not in changed}
        return table

    def _keep_derived(self, table: Microdata, changed: set[str]) -> Microdata:
        """Pass on what was derived from the columns that did not change; only for the same rows under the same policy."""
        hierarchies = self.cache.get("hierarchies", {})
        table.cache["hierarchies"] = {key: hierarchy for key, hierarchy in hierarchies.items() if key[0] not in changed}
        if (derived := self.cache.get("derived")) is not None:
            table.cache["derived"] = {name: known for name, known in derived.items() if name not in changed}
        return table

    def take(self, rows: NDArray[np.int64]) -> Microdata:
        """The given rows, in the given order."""
        return self.replace(self.frame[rows], self.records[rows])

    def with_policy(self, policy: Policy) -> Microdata:
        """The same table under another policy."""
        table = Microdata(
            self.frame, policy, self.source, self.records, self.labels,
            variable_labels=self.variable_labels, cells=self.cells, notes=self.notes, has_links=self.has_links,
        )  # fmt: skip
        # the codes depend on the order in the policy, so only encoded columns with the same order are kept, and nothing else
        reordered = {name for name in self._names if table.attribute(name).order != self.attribute(name).order}
        return self._keep_encoded(table, reordered)

    def to_polars(self) -> pl.DataFrame:
        return self.frame

    def to_arrow(self) -> pa.Table:
        return self.frame.to_arrow()

    def to_pandas(self) -> pd.DataFrame:
        return self.frame.to_pandas()


_DEFAULT_ATTRIBUTE = Attribute()
