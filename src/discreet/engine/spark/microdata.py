"""The distributed table: a Spark frame with one row per record, its policy, and the numbers of its records.

As :class:`discreet.model.microdata.Microdata`, but the rows are on the cluster. ``shape`` is the same table without rows, so
that whatever is decided by names, types and the policy (roles, levels, checks) is decided by the same code on every engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from discreet.engine.spark.change_counts import ChangeCounts
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.fingerprint import table_fingerprint
from discreet.engine.spark.hidden_columns import HIDDEN, RECORD
from discreet.engine.spark.joins import quote
from discreet.engine.spark.numbering import number_records
from discreet.engine.spark.release_order import sort_for_release, tie_to_originals
from discreet.engine.spark.target import write_frame
from discreet.errors import redact_credentials
from discreet.model.attribute import Attribute, Level, Role
from discreet.model.cells import ColumnCells
from discreet.model.display import Described, list_names
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True, repr=False)
class SparkMicrodata(Described):
    """A table of records on Spark under a policy.

    ``frame`` has the attributes as columns, and the column ``RECORD`` where the records are numbered already. Use ``numbered``
    where record numbers are needed (draws, links, the order of rows); it is computed on first use.
    """

    engine: ClassVar[str] = "spark"

    frame: DataFrame
    policy: Policy = field(default_factory=Policy)
    source: str = "the data"
    record: str | None = None
    """A column of distinct integers that numbers the records; default: the order of rows does."""
    cells: Mapping[str, ColumnCells] = field(default_factory=dict)
    """What the labels of masked columns stand for."""

    def describe(self) -> tuple[str, dict[str, str]]:
        """Source and the columns by their role; the rows are not counted, which would run a job."""
        roles = {str(role): list_names(names) for role in Role if (names := self.named(role))}
        return f"{redact_credentials(self.source)}: {len(self.columns):,} columns on Spark", roles

    def __post_init__(self) -> None:
        self.shape.policy  # noqa: B018 - the policy is checked against the columns
        if self.record is not None and self.record not in self.columns:
            self.shape.attribute(self.record)

    @cached_property
    def shape(self) -> Microdata:
        """The table without its rows: names, types and the policy."""
        with translate_errors(self.source, "cannot be read"):
            empty = pl.DataFrame(self.frame.select(*[quote(name) for name in self.columns]).limit(0).toArrow())
        return Microdata(empty, self.policy, self.source, cells=self.cells)

    @cached_property
    def size(self) -> int:
        """The number of records, counted on first use."""
        with translate_errors(self.source):
            return self.frame.count()

    def __len__(self) -> int:
        return self.size

    @property
    def columns(self) -> list[str]:
        return [name for name in self.frame.columns if not name.startswith(HIDDEN)]

    def attribute(self, name: str) -> Attribute:
        return self.shape.attribute(name)

    def named(self, *roles: Role) -> list[str]:
        return self.shape.named(*roles)

    def level(self, name: str) -> Level:
        return self.shape.level(name)

    @cached_property
    def numbered(self) -> DataFrame:
        """The frame with the column ``RECORD``: a number per record that no partitioning changes."""
        return self.frame if RECORD in self.frame.columns else number_records(self.frame, self.record, self.source)

    @property
    def is_initial(self) -> bool:
        """Whether the records are numbered by position."""
        return RECORD not in self.frame.columns

    @property
    def initial(self) -> SparkMicrodata:
        """The same table with numbered records: the input of a plan's first step."""
        return self.replace(self.numbered)

    def replace(self, frame: DataFrame) -> SparkMicrodata:
        """Another table of the same source; the frame keeps the column ``RECORD`` where it holds the same records."""
        cells = {name: column for name, column in self.cells.items() if name in frame.columns}
        return replace(self, frame=frame, record=self.record if self.record in frame.columns else None, cells=cells)

    def with_cells(self, cells: Mapping[str, ColumnCells | None]) -> SparkMicrodata:
        """The same table with the meaning of these columns' labels; None says that a column holds plain values."""
        merged = {**self.cells, **cells}
        known = {name: column for name, column in merged.items() if column is not None and name in self.columns}
        return replace(self, cells=known)

    def occurring_cells(self) -> dict[str, ColumnCells]:
        """The meaning of the labels that occur in the table."""
        occurring = {}
        for name, cells in self.cells.items():
            column = self.frame[quote(name)]
            with translate_errors(self.source):
                rows = self.frame.select(quote(name)).where(column.isin(list(cells.labels))).distinct().collect()
            labels = {row[0] for row in rows}
            occurring[name] = ColumnCells(
                kind=cells.kind, labels={label: cell for label, cell in cells.labels.items() if label in labels}
            )
        return occurring

    def with_columns(self, changed: Mapping[str, Column]) -> SparkMicrodata:
        """The same records with some columns replaced."""
        return self.replace(self.frame.withColumns(dict(changed)))

    def drop(self, names: Sequence[str]) -> SparkMicrodata:
        """The same records without some columns."""
        return self.replace(self.frame.drop(*names))

    def with_policy(self, policy: Policy) -> SparkMicrodata:
        return replace(self, policy=policy)

    def changes(self) -> ChangeCounts:
        """A counter of the values that the steps of a plan change."""
        return ChangeCounts()

    def in_release_order(self, key: bytes | None) -> SparkMicrodata:
        """The rows in the order in which a release is written: by the release's key, or else by record number."""
        return sort_for_release(self, key)

    def fingerprint(self, secret: bytes) -> bytes:
        """What the draws of a release depend on: equal to that of the same table on the local engine."""
        return table_fingerprint(self, secret)

    def link(self) -> SparkMicrodata:
        """For each row the number of its original, counted from 1; confidential to the data controller."""
        from pyspark.sql import functions as f

        numbers = self.numbered.select((f.col(quote(RECORD)) + 1).alias("record"))
        return SparkMicrodata(numbers, source="the link")

    def linked(self, original: SparkMicrodata, link: SparkMicrodata) -> SparkMicrodata:
        """The same rows, with the record numbers of their originals from a link."""
        return tie_to_originals(self, original, link)

    def write(self, target: Any, *, private: bool = False, formulas: str = "", overwrite: bool = True) -> None:
        """Write by Spark: to a folder of Parquet or CSV (readable by its owner alone if ``private``), or to a catalog table."""
        write_frame(self.frame.drop(RECORD), str(target), self.source, private=private, formulas=formulas, overwrite=overwrite)

    def to_polars(self) -> pl.DataFrame:
        """All rows on this machine, in the order of their numbers."""
        return self._collect().drop(RECORD)

    def to_local(self) -> Microdata:
        """The same table on the local engine."""
        rows = self._collect()
        return Microdata(rows.drop(RECORD), self.policy, self.source, rows[RECORD].to_numpy().copy(), cells=self.cells)

    def _collect(self) -> pl.DataFrame:
        with translate_errors(self.source, "cannot be read"):
            return pl.DataFrame(self.numbered.orderBy(quote(RECORD)).toArrow())
