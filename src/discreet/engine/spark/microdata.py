"""The distributed table: a Spark frame with a record a row, its policy, and who each record is.

As :class:`discreet.model.microdata.Microdata`, but the rows are on the cluster. ``shape`` is the same table without rows, so
that whatever is decided by names, types and the policy (roles, levels, checks) is decided by the same code as anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.engine.spark.errors import told
from discreet.engine.spark.joins import quoted
from discreet.errors import DataError, redact_credentials
from discreet.model.attribute import Attribute, Level, Role
from discreet.model.cells import ColumnCells
from discreet.model.display import Described, list_names
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import Column, DataFrame

    from discreet.engine.spark.change_counts import Changes

HIDDEN = "discreet: "
"""How the columns begin that are no attributes; they are never written."""
RECORD = f"{HIDDEN}record"
"""The column of a numbered frame that says who each row is."""


@dataclass(frozen=True, repr=False)
class SparkMicrodata(Described):
    """A table of records on Spark under a policy.

    ``frame`` has the attributes as columns, and the column :data:`RECORD` where the records are numbered already. Ask for
    ``numbered`` where a record's number is needed (randomness, links, the order of rows): it is made when first asked for.
    """

    engine: ClassVar[str] = "spark"

    frame: DataFrame
    policy: Policy = field(default_factory=Policy)
    source: str = "the data"
    record: str | None = None
    """A column of distinct integers that numbers the records, where the order of rows does not."""
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
        """The table without its rows: names, types and the policy's words on them."""
        import polars as pl

        with told(self.source, "cannot be read"):
            empty = pl.from_arrow(self.frame.select(*[quoted(name) for name in self.columns]).limit(0).toArrow())
        assert isinstance(empty, pl.DataFrame)
        return Microdata(empty, self.policy, self.source, cells=self.cells)

    @cached_property
    def size(self) -> int:
        """How many records there are, counted when first asked for."""
        with told(self.source):
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
        """The frame with the column :data:`RECORD`: a number a record that no partitioning changes."""
        from discreet.engine.spark.numbering import number_records

        return self.frame if RECORD in self.frame.columns else number_records(self.frame, self.record, self.source)

    @property
    def is_initial(self) -> bool:
        """Whether the rows are numbered by where they stand."""
        return RECORD not in self.frame.columns

    @property
    def initial(self) -> SparkMicrodata:
        """The same table with numbered records: what a plan begins with."""
        return self.replace(self.numbered)

    def replace(self, frame: DataFrame) -> SparkMicrodata:
        """Another table of the same source; keep the column :data:`RECORD` where records stay who they are."""
        cells = {name: one for name, one in self.cells.items() if name in frame.columns}
        return replace(self, frame=frame, record=self.record if self.record in frame.columns else None, cells=cells)

    def with_cells(self, cells: Mapping[str, ColumnCells | None]) -> SparkMicrodata:
        """The same table whose labels stand for this as well; None says that a column holds plain values."""
        made = {name: one for name, one in {**self.cells, **cells}.items() if one is not None and name in self.columns}
        return replace(self, cells=made)

    def occurring_cells(self) -> dict[str, ColumnCells]:
        """What the labels that occur stand for, without those of which nothing is left."""
        made = {}
        for name, one in self.cells.items():
            with told(self.source):
                rows = self.frame.select(quoted(name)).where(self.frame[quoted(name)].isin(list(one.labels))).distinct().collect()
            held = {row[0] for row in rows}
            made[name] = ColumnCells(kind=one.kind, labels={label: cell for label, cell in one.labels.items() if label in held})
        return made

    def with_columns(self, changed: Mapping[str, Column]) -> SparkMicrodata:
        """The same records with some columns replaced."""
        return self.replace(self.frame.withColumns(dict(changed)))

    def drop(self, names: Sequence[str]) -> SparkMicrodata:
        """The same records without some columns."""
        return self.replace(self.frame.drop(*names))

    def with_policy(self, policy: Policy) -> SparkMicrodata:
        return replace(self, policy=policy)

    def changes(self) -> Changes:
        """Counts what the steps of a plan change."""
        from discreet.engine.spark.change_counts import Changes

        return Changes()

    def in_release_order(self, key: bytes | None) -> SparkMicrodata:
        """The rows as a release is written: in the order of a release's key, or in that of the records' numbers."""
        from discreet.engine.spark.release_order import in_release_order

        return in_release_order(self, key)

    def fingerprint(self, secret: bytes) -> bytes:
        """What the draws of a release depend on: the same as that of the same table on the local engine."""
        from discreet.engine.spark.fingerprint import table_fingerprint

        return table_fingerprint(self, secret)

    def link(self) -> SparkMicrodata:
        """For each row the number of its original, counted from 1: what only the owner may hold."""
        from pyspark.sql import functions as f

        numbers = self.numbered.select((f.col(quoted(RECORD)) + 1).alias("record"))
        return SparkMicrodata(numbers, source="the link")

    def linked(self, original: SparkMicrodata, link: SparkMicrodata) -> SparkMicrodata:
        """The same rows, tied to their originals by a link."""
        from discreet.engine.spark.release_order import linked

        return linked(self, original, link)

    def write(self, target: Any, *, private: bool = False, formulas: str = "", overwrite: bool = True) -> None:
        """Write by Spark: to a folder of Parquet or CSV (its owner's alone where ``private``), or to a table of the catalog."""
        from discreet.engine.spark.target import write_frame

        write_frame(self.frame.drop(RECORD), str(target), self.source, private=private, formulas=formulas, overwrite=overwrite)

    def to_polars(self) -> pl.DataFrame:
        """All rows here, in the order of their numbers: for tables that fit this machine."""
        import polars as pl

        with told(self.source, "cannot be read"):
            made = pl.from_arrow(self.numbered.orderBy(f"`{RECORD}`").drop(RECORD).toArrow())
        assert isinstance(made, pl.DataFrame)
        return made

    def to_local(self) -> Microdata:
        """The same table on the local engine."""
        import polars as pl

        with told(self.source, "cannot be read"):
            made = pl.from_arrow(self.numbered.orderBy(f"`{RECORD}`").toArrow())
        if not isinstance(made, pl.DataFrame):
            raise DataError(f"{self.source}: cannot be read")
        return Microdata(made.drop(RECORD), self.policy, self.source, made[RECORD].to_numpy().copy(), cells=self.cells)
