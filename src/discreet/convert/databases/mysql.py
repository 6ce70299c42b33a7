"""MySQL and MariaDB tables, through PyMySQL."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import polars as pl

from discreet.convert.databases.database import Database, WriteOptions, identifier_quoter
from discreet.convert.databases.mysql_replacing import STRICT_MODE, DefinitionCopy
from discreet.convert.databases.rows import (
    BATCH_ROWS,
    apply_types_to_empty_columns,
    frame_from_rows,
    parse_text_columns,
    row_batches,
)
from discreet.convert.files.column_names import unique_names
from discreet.convert.files.normalise import durations_as_text
from discreet.convert.files.tables import Table
from discreet.errors import SourceError

if TYPE_CHECKING:
    from sqlalchemy import Engine

_MICROSECONDS_PER_DAY = 86_400_000_000  # in microseconds
_COLUMN_TYPES: list[tuple[Any, str]] = [
    (pl.Boolean, "BOOLEAN"), (pl.Int8, "SMALLINT"), (pl.Int16, "SMALLINT"), (pl.Int32, "INT"), (pl.Int64, "BIGINT"),
    (pl.UInt8, "SMALLINT"), (pl.UInt16, "INT"), (pl.UInt32, "BIGINT"), (pl.UInt64, "BIGINT UNSIGNED"),
    (pl.Date, "DATE"), (pl.Datetime, "DATETIME(6)"), (pl.Time, "TIME(6)"),
    (pl.String, "LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"),
]  # fmt: skip
_TEMPORARY_TABLE = re.compile(r"(discreet_[0-9a-f]{16})(?:_old)?")
_TABLE_EXISTS = 1050
_quoted = identifier_quoter("mysql")


class MySQL(Database):
    """One table of a MySQL or MariaDB database."""

    def _engine(self) -> Engine:
        import sqlalchemy as sa

        url = self.address.url.set(drivername="mysql+pymysql")
        if "charset" not in url.query:
            url = url.update_query_dict({"charset": "utf8mb4"})
        return sa.create_engine(url, poolclass=sa.NullPool)

    def _read(self, max_rows: int | None) -> Table:
        import sqlalchemy as sa

        engine = self._engine()
        inspector = sa.inspect(engine)
        if not inspector.has_table(self.address.table, schema=self.address.schema):
            raise self.table_missing_error()
        reflected = inspector.get_columns(self.address.table, schema=self.address.schema)
        table = sa.table(_quoted_name(self.address.table), schema=self.address.schema and _quoted_name(self.address.schema))
        with engine.connect().execution_options(stream_results=True) as connection:
            # names are taken from the result set, because reflection returns a ` in a name doubled
            names = list(connection.execute(sa.select(sa.text("*")).select_from(table).limit(0)).keys())
            types = {name: column["type"] for name, column in zip(unique_names(names), reflected, strict=True)}
            expressions = [
                _select_expression(sa.column(_quoted_name(name)), column["type"])
                for name, column in zip(names, reflected, strict=True)
            ]
            result = connection.execute(sa.select(*expressions).select_from(table).limit(max_rows))
            frame = frame_from_rows(([tuple(row) for row in batch] for batch in result.partitions(BATCH_ROWS)), list(types))
        return Table(_apply_declared_types(frame, types))

    def _exists(self) -> bool:
        import sqlalchemy as sa

        inspector = sa.inspect(self._engine())
        if self.address.table in inspector.get_view_names(schema=self.address.schema):
            raise self.view_error()
        return bool(inspector.has_table(self.address.table, schema=self.address.schema))

    def _write(self, table: Table, options: WriteOptions) -> None:
        import sqlalchemy as sa

        engine = self._engine()
        inspector = sa.inspect(engine)
        schema, name, temporary = self.address.schema, self.address.table, self.temporary_table_name()
        if name in inspector.get_view_names(schema=schema):
            raise self.view_error()
        frame = _to_storable_types(table.frame, self.name)
        # with a list of rows the driver interprets % as a placeholder, in names too
        names = ", ".join(_quoted(column).replace("%", "%%") for column in frame.columns)
        placeholders = ", ".join(["%s"] * frame.width)
        types = {column: _column_type(dtype) for column, dtype in frame.schema.items()}
        definition = ", ".join(f"{_quoted(column)} {column_type} NULL" for column, column_type in types.items())
        with engine.connect() as connection:
            _drop_abandoned_tables(connection, inspector.get_table_names(schema=schema), schema)
            _execute(connection, STRICT_MODE)
            copy = DefinitionCopy(lambda query, values=None: _query(connection, query, values), schema, name, self.name)
            replaces = options.overwrite and inspector.has_table(name, schema=schema)
            connection.exec_driver_sql("SELECT GET_LOCK(%s, 0)", (temporary,))  # the server releases it when the session ends
            try:
                _execute(
                    connection,
                    f"CREATE TABLE {_quoted(schema, temporary)} ({definition}) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
                )
                if replaces:
                    for statement in copy.statements(temporary, types, drop_dependents=options.drop_dependents):
                        _execute(connection, statement)
                for rows in row_batches(frame):
                    connection.exec_driver_sql(
                        f"INSERT INTO {_quoted(schema, temporary)} ({names}) VALUES ({placeholders})", rows
                    )
                connection.commit()
                for statement in copy.drop_statements(temporary) if replaces and options.drop_dependents else ():
                    _execute(connection, statement)
                self._rename_into_place(connection, temporary, replaces=replaces)
            except BaseException:
                connection.rollback()
                _execute(connection, f"DROP TABLE IF EXISTS {_quoted(schema, temporary)}")
                raise

    def _rename_into_place(self, connection: Any, temporary: str, *, replaces: bool) -> None:
        """Rename in one statement, which MySQL executes atomically."""
        schema, name = self.address.schema, self.address.table
        target, new, old = _quoted(schema, name), _quoted(schema, temporary), _quoted(schema, f"{temporary}_old")
        if not replaces:
            try:
                _execute(connection, f"RENAME TABLE {new} TO {target}")
            except Exception as error:
                if error.args[:1] == (_TABLE_EXISTS,):
                    raise self.concurrent_write_error() from None
                raise
            return
        _execute(connection, f"RENAME TABLE {target} TO {old}, {new} TO {target}")
        _execute(connection, f"DROP TABLE {old}")


def _drop_abandoned_tables(connection: Any, names: list[str], schema: str | None) -> None:
    """Drop temporary tables of killed processes: those named like a lock that no session holds."""
    for name in names:
        match = _TEMPORARY_TABLE.fullmatch(name)
        if match and connection.exec_driver_sql("SELECT IS_FREE_LOCK(%s)", (match[1],)).scalar() == 1:
            _execute(connection, f"DROP TABLE IF EXISTS {_quoted(schema, name)}")


def _quoted_name(name: str) -> Any:
    from sqlalchemy import quoted_name

    return quoted_name(name, quote=True)


def _query(connection: Any, query: str, values: Any = None) -> list[Any]:
    cursor = connection.connection.driver_connection.cursor()
    cursor.execute(query, values or ())
    return list(cursor.fetchall())


def _execute(connection: Any, statement: str) -> None:
    connection.connection.driver_connection.cursor().execute(statement)  # without parameters a % is an ordinary character


def _column_type(dtype: pl.DataType) -> str:
    return next((column_type for candidate, column_type in _COLUMN_TYPES if dtype == candidate), "DOUBLE")


def _select_expression(column: Any, column_type: Any) -> Any:
    """The expression that selects a column; a FLOAT is cast to double, because the server sends it with six digits."""
    return (column + 0.0).label(column.name) if type(column_type).__name__ == "FLOAT" else column


def _apply_declared_types(frame: pl.DataFrame, types: dict[str, Any]) -> pl.DataFrame:
    """Convert the driver's values to the declared column types: booleans, times of day, decimals."""
    frame = apply_types_to_empty_columns(frame, types)
    conversions: list[pl.Expr | pl.Series] = []
    for name, column_type in types.items():
        type_name, values = type(column_type).__name__, frame[name].drop_nulls()
        if type_name == "TINYINT" and column_type.display_width == 1 and (not len(values) or values.is_in([0, 1]).all()):
            conversions.append(pl.col(name).cast(pl.Boolean))
        elif type_name == "BIT" and values.dtype == pl.Binary:
            bits = [None if value is None else int.from_bytes(value) for value in frame[name].to_list()]
            conversions.append(pl.Series(name, bits, dtype=pl.Int64))
        elif type_name == "TIME" and values.dtype == pl.Duration:
            microseconds = values.cast(pl.Int64)
            if microseconds.is_between(0, _MICROSECONDS_PER_DAY, closed="left").all():
                conversions.append((pl.col(name).cast(pl.Int64) * 1000).cast(pl.Time))
        elif type_name in ("DATE", "DATETIME", "TIMESTAMP") and values.dtype == pl.String:  # MySQL's zero date means missing
            conversions.append(pl.col(name).replace({"0000-00-00": None, "0000-00-00 00:00:00": None}))
    numbers = [name for name, column_type in types.items() if type(column_type).__name__ in ("DECIMAL", "NUMERIC", "BIGINT")]
    dates = [name for name, column_type in types.items() if type(column_type).__name__ in ("DATE", "DATETIME", "TIMESTAMP")]
    return parse_text_columns(frame.with_columns(conversions), numbers, dates)


def _to_storable_types(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """Convert to types that MySQL has; a datetime with a time zone is stored in UTC."""
    conversions: list[pl.Expr] = durations_as_text(frame.schema)
    for column, dtype in frame.schema.items():
        if dtype.is_float() and bool(frame[column].is_infinite().any()):
            raise SourceError(f"{name}: the column '{column}' holds infinity, which MySQL cannot represent")
        if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:
            conversions.append(pl.col(column).dt.convert_time_zone("UTC").dt.replace_time_zone(None))
    return frame.with_columns(conversions)
