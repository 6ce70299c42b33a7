"""MySQL and MariaDB tables, through PyMySQL."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import polars as pl

from discreet.convert.databases.database import Database, Writing, quoting
from discreet.convert.databases.mysql_replacing import STRICT, Copy
from discreet.convert.databases.rows import BATCH, frame_of, row_batches, typed_if_empty, typed_text
from discreet.convert.files.column_names import unique
from discreet.convert.files.normalise import printable
from discreet.convert.files.tables import Table
from discreet.errors import SourceError

if TYPE_CHECKING:
    from sqlalchemy import Engine

_DAY = 86_400_000_000  # in microseconds
_TYPES: list[tuple[Any, str]] = [
    (pl.Boolean, "BOOLEAN"), (pl.Int8, "SMALLINT"), (pl.Int16, "SMALLINT"), (pl.Int32, "INT"), (pl.Int64, "BIGINT"),
    (pl.UInt8, "SMALLINT"), (pl.UInt16, "INT"), (pl.UInt32, "BIGINT"), (pl.UInt64, "BIGINT UNSIGNED"),
    (pl.Date, "DATE"), (pl.Datetime, "DATETIME(6)"), (pl.Time, "TIME(6)"),
    (pl.String, "LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"),
]  # fmt: skip
_BESIDE = re.compile(r"(discreet_[0-9a-f]{16})(?:_old)?")
_DUPLICATE = 1050
_quoted = quoting("mysql")


class MySQL(Database):
    """One table of a MySQL or MariaDB database."""

    def _engine(self) -> Engine:
        import sqlalchemy as sa

        url = self.address.url.set(drivername="mysql+pymysql")
        if "charset" not in url.query:
            url = url.update_query_dict({"charset": "utf8mb4"})
        return sa.create_engine(url, poolclass=sa.NullPool)

    def _read(self) -> Table:
        import sqlalchemy as sa

        engine = self._engine()
        inspector = sa.inspect(engine)
        if not inspector.has_table(self.address.table, schema=self.address.schema):
            raise self.no_table()
        reflected = inspector.get_columns(self.address.table, schema=self.address.schema)
        table = sa.table(_named(self.address.table), schema=self.address.schema and _named(self.address.schema))
        with engine.connect().execution_options(stream_results=True) as link:
            # the names come from the server itself: reflection leaves a ` in a name doubled
            names = list(link.execute(sa.select(sa.text("*")).select_from(table).limit(0)).keys())
            kinds = {name: column["type"] for name, column in zip(unique(names), reflected, strict=True)}
            parts = [_part(sa.column(_named(name)), column["type"]) for name, column in zip(names, reflected, strict=True)]
            result = link.execute(sa.select(*parts).select_from(table))
            frame = frame_of(([tuple(row) for row in batch] for batch in result.partitions(BATCH)), list(kinds))
        return Table(_as_declared(frame, kinds))

    def _exists(self) -> bool:
        import sqlalchemy as sa

        inspector = sa.inspect(self._engine())
        if self.address.table in inspector.get_view_names(schema=self.address.schema):
            raise self.is_view()
        return bool(inspector.has_table(self.address.table, schema=self.address.schema))

    def _write(self, table: Table, how: Writing) -> None:
        import sqlalchemy as sa

        engine = self._engine()
        inspector = sa.inspect(engine)
        schema, name, beside = self.address.schema, self.address.table, self.beside()
        if name in inspector.get_view_names(schema=schema):
            raise self.is_view()
        frame = _storable(table.frame, self.name)
        # with a list of rows the driver takes % for a mark of its own, in names too
        names = ", ".join(_quoted(column).replace("%", "%%") for column in frame.columns)
        marks = ", ".join(["%s"] * frame.width)
        declared = {column: _declared(dtype) for column, dtype in frame.schema.items()}
        definition = ", ".join(f"{_quoted(column)} {kind} NULL" for column, kind in declared.items())
        with engine.connect() as link:
            _sweep(link, inspector.get_table_names(schema=schema), schema)
            _run(link, STRICT)
            copy = Copy(lambda query, values=None: _rows(link, query, values), schema, name, self.name)
            replaces = how.overwrite and inspector.has_table(name, schema=schema)
            link.exec_driver_sql("SELECT GET_LOCK(%s, 0)", (beside,))  # the server takes it from whoever is gone
            try:
                _run(
                    link,
                    f"CREATE TABLE {_quoted(schema, beside)} ({definition}) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
                )
                if replaces:
                    for statement in copy.statements(beside, declared, drop_dependents=how.drop_dependents):
                        _run(link, statement)
                for rows in row_batches(frame):
                    link.exec_driver_sql(f"INSERT INTO {_quoted(schema, beside)} ({names}) VALUES ({marks})", rows)
                link.commit()
                for statement in copy.give_up(beside) if replaces and how.drop_dependents else ():
                    _run(link, statement)
                self._put_in_place(link, beside, replaces=replaces)
            except BaseException:
                link.rollback()
                _run(link, f"DROP TABLE IF EXISTS {_quoted(schema, beside)}")
                raise

    def _put_in_place(self, link: Any, beside: str, *, replaces: bool) -> None:
        """Rename in one statement, which MySQL carries out whole or not at all."""
        schema, name = self.address.schema, self.address.table
        place, new, old = _quoted(schema, name), _quoted(schema, beside), _quoted(schema, f"{beside}_old")
        if not replaces:
            try:
                _run(link, f"RENAME TABLE {new} TO {place}")
            except Exception as error:
                if error.args[:1] == (_DUPLICATE,):
                    raise self.written_first() from None
                raise
            return
        _run(link, f"RENAME TABLE {place} TO {old}, {new} TO {place}")
        _run(link, f"DROP TABLE {old}")


def _sweep(link: Any, names: list[str], schema: str | None) -> None:
    """Drop what killed runs left beside their targets: tables with the name of a lock that nobody holds."""
    for name in names:
        match = _BESIDE.fullmatch(name)
        if match and link.exec_driver_sql("SELECT IS_FREE_LOCK(%s)", (match[1],)).scalar() == 1:
            _run(link, f"DROP TABLE IF EXISTS {_quoted(schema, name)}")


def _named(name: str) -> Any:
    from sqlalchemy import quoted_name

    return quoted_name(name, quote=True)


def _rows(link: Any, query: str, values: Any = None) -> list[Any]:
    cursor = link.connection.driver_connection.cursor()
    cursor.execute(query, values or ())
    return list(cursor.fetchall())


def _run(link: Any, statement: str) -> None:
    link.connection.driver_connection.cursor().execute(statement)  # without a list of values % is just a sign


def _declared(dtype: pl.DataType) -> str:
    return next((word for kind, word in _TYPES if dtype == kind), "DOUBLE")


def _part(column: Any, kind: Any) -> Any:
    """A FLOAT is sent with six digits unless it is made a double first."""
    return (column + 0.0).label(column.name) if type(kind).__name__ == "FLOAT" else column


def _as_declared(frame: pl.DataFrame, kinds: dict[str, Any]) -> pl.DataFrame:
    """What the column types say beyond the driver's values: truth values, times of a day, numbers sent as decimals."""
    frame = typed_if_empty(frame, kinds)
    changes: list[pl.Expr | pl.Series] = []
    for name, kind in kinds.items():
        word, values = type(kind).__name__, frame[name].drop_nulls()
        if word == "TINYINT" and kind.display_width == 1 and (not len(values) or values.is_in([0, 1]).all()):
            changes.append(pl.col(name).cast(pl.Boolean))
        elif word == "BIT" and values.dtype == pl.Binary:
            bits = [None if value is None else int.from_bytes(value) for value in frame[name].to_list()]
            changes.append(pl.Series(name, bits, dtype=pl.Int64))
        elif word == "TIME" and values.dtype == pl.Duration:
            spans = values.cast(pl.Int64)
            if spans.is_between(0, _DAY, closed="left").all():
                changes.append((pl.col(name).cast(pl.Int64) * 1000).cast(pl.Time))
        elif word in ("DATE", "DATETIME", "TIMESTAMP") and values.dtype == pl.String:  # MySQL's zero for a missing date
            changes.append(pl.col(name).replace({"0000-00-00": None, "0000-00-00 00:00:00": None}))
    numbers = [name for name, kind in kinds.items() if type(kind).__name__ in ("DECIMAL", "NUMERIC", "BIGINT")]
    moments = [name for name, kind in kinds.items() if type(kind).__name__ in ("DATE", "DATETIME", "TIMESTAMP")]
    return typed_text(frame.with_columns(changes), numbers, moments)


def _storable(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """The table in types that MySQL has; a moment with a zone is kept in UTC."""
    changes: list[pl.Expr] = printable(frame.schema)
    for column, dtype in frame.schema.items():
        if dtype.is_float() and bool(frame[column].is_infinite().any()):
            raise SourceError(f"{name}: the column '{column}' holds infinity, which MySQL cannot hold")
        if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:
            changes.append(pl.col(column).dt.convert_time_zone("UTC").dt.replace_time_zone(None))
    return frame.with_columns(changes)
