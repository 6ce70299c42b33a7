"""PostgreSQL tables: SQLAlchemy inspects them, ADBC transfers the rows in bulk."""

from __future__ import annotations

from typing import Any

import polars as pl

from discreet.convert.databases.database import Database, WriteOptions, identifier_quoter
from discreet.convert.databases.postgresql_replacing import Replacement
from discreet.convert.databases.rows import parse_text_columns
from discreet.convert.files.column_names import unique_names
from discreet.convert.files.tables import Table
from discreet.errors import SourceError

_MAX_NAME_BYTES = 63
_TABLE_EXISTS = "42P07"
_CONNECT_TIMEOUT = "15"
# types that ADBC transfers natively; all others are selected as text
_NATIVE_TYPES = (
    "BOOLEAN",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "REAL",
    "DOUBLE_PRECISION",
    "TEXT",
    "VARCHAR",
    "DATE",
    "TIMESTAMP",
    "TIME",
)
_quoted = identifier_quoter("postgresql")


class PostgreSQL(Database):
    """One table of a PostgreSQL database."""

    def _read(self, max_rows: int | None) -> Table:
        import adbc_driver_postgresql.dbapi as adbc
        import sqlalchemy as sa

        url = self.address.url.set(drivername="postgresql+psycopg").update_query_dict(self._timeout())
        engine = sa.create_engine(url, poolclass=sa.NullPool)
        inspector = sa.inspect(engine)
        if not inspector.has_table(self.address.table, schema=self.address.schema):
            raise self.table_missing_error()
        columns = inspector.get_columns(self.address.table, schema=self.address.schema)
        if not columns:
            raise SourceError(f"{self.name}: has no columns")
        names = unique_names(column["name"] for column in columns)
        expressions = [self._select_expression(column["name"], column["type"]) for column in columns]
        with adbc.connect(self._conninfo()) as connection, connection.cursor() as cursor:
            query = f"SELECT {', '.join(expressions)} FROM {_quoted(self.address.schema, self.address.table)}"
            cursor.execute(query if max_rows is None else f"{query} LIMIT {max_rows:d}")
            frame = pl.DataFrame(cursor.fetch_arrow_table().rename_columns(names))
        numeric = [
            name for name, column in zip(names, columns, strict=True) if _type_name(column["type"]) in ("NUMERIC", "MONEY")
        ]
        return Table(parse_text_columns(frame, numbers=numeric))

    def _select_expression(self, name: str, column_type: Any) -> str:
        quoted = _quoted(name)
        type_name = _type_name(column_type)
        if type_name in _NATIVE_TYPES and not (type_name == "TIME" and column_type.timezone):
            return quoted
        return f"{quoted}::numeric::text" if type_name == "MONEY" else f"{quoted}::text"

    def _exists(self) -> bool:
        import sqlalchemy as sa

        url = self.address.url.set(drivername="postgresql+psycopg").update_query_dict(self._timeout())
        inspector = sa.inspect(sa.create_engine(url, poolclass=sa.NullPool))
        return bool(inspector.has_table(self.address.table, schema=self.address.schema))

    def _write(self, table: Table, options: WriteOptions) -> None:
        import adbc_driver_postgresql.dbapi as adbc

        frame = _to_storable_types(table.frame, self.name)
        schema, name, temporary = self.address.schema, self.address.table, self.temporary_table_name()
        if len(name.encode()) > _MAX_NAME_BYTES:
            raise SourceError(f"{self.name}: a name in PostgreSQL has at most {_MAX_NAME_BYTES} bytes")
        content = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
        with adbc.connect(self._conninfo()) as connection, connection.cursor() as cursor:
            if options.overwrite and self._is_table(cursor):
                try:
                    self._replace(cursor, content, drop_dependents=options.drop_dependents)
                except adbc.Error:
                    if not options.drop_dependents:
                        raise
                    connection.rollback()  # the new rows may violate a constraint, which is dropped too
                    self._replace(cursor, content, drop_dependents=True, drop_constraints=True)
            else:
                cursor.adbc_ingest(temporary, content, mode="create", db_schema_name=schema)
                self._rename_into_place(cursor, temporary)
            connection.commit()

    def _replace(self, cursor: Any, content: Any, *, drop_dependents: bool, drop_constraints: bool = False) -> None:
        temporary = self.temporary_table_name()
        cursor.adbc_ingest(temporary, content, mode="create", temporary=True)
        table, source = _quoted(self.address.schema, self.address.table), _quoted("pg_temp", temporary)
        Replacement(cursor, table, source, self.name).run(drop_dependents=drop_dependents, drop_constraints=drop_constraints)
        cursor.execute(f"DROP TABLE {source}")

    def _is_table(self, cursor: Any) -> bool:
        """Whether the table exists; raises SourceError if it is a view."""
        name_literal = _quoted(self.address.schema, self.address.table).replace("'", "''")
        cursor.execute(f"SELECT relkind FROM pg_class WHERE oid = to_regclass('{name_literal}')")
        relation_kinds = [str(kind) for (kind,) in cursor.fetchall()]
        if relation_kinds and relation_kinds[0] in ("v", "m"):
            raise self.view_error()
        return bool(relation_kinds)

    def _rename_into_place(self, cursor: Any, temporary: str) -> None:
        schema, name = self.address.schema, self.address.table
        try:
            cursor.execute(f"ALTER TABLE {_quoted(schema, temporary)} RENAME TO {_quoted(name)}")
        except Exception as error:
            if getattr(error, "sqlstate", None) == _TABLE_EXISTS:
                raise self.concurrent_write_error() from None
            raise

    def _conninfo(self) -> str:
        """The address as a connection string for libpq, with every value quoted."""
        from psycopg.conninfo import make_conninfo

        arguments = self.address.url.translate_connect_args(username="user", database="dbname")
        options = {key: value if isinstance(value, str) else ",".join(value) for key, value in self.address.url.query.items()}
        return make_conninfo("", **arguments, **self._timeout(), **options)

    def _timeout(self) -> dict[str, str]:
        return {} if "connect_timeout" in self.address.url.query else {"connect_timeout": _CONNECT_TIMEOUT}


def _type_name(column_type: Any) -> str:
    return str(type(column_type).__name__)


def _to_storable_types(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """Convert to types that PostgreSQL has: no unsigned integers, no durations."""
    for column in frame.columns:
        if len(column.encode()) > _MAX_NAME_BYTES:
            raise SourceError(f"{name}: a name in PostgreSQL has at most {_MAX_NAME_BYTES} bytes; got the column '{column}'")
    conversions: list[pl.Expr] = []
    for column, dtype in frame.schema.items():
        if dtype == pl.UInt64:
            fits = (frame[column].max() or 0) < 2**63  # type: ignore[operator]
            conversions.append(pl.col(column).cast(pl.Int64 if fits else pl.String))
        elif dtype.is_unsigned_integer():
            conversions.append(pl.col(column).cast(pl.Int64))
        elif dtype == pl.Duration:
            conversions.append(pl.col(column).dt.to_string("iso"))
        elif isinstance(dtype, pl.Datetime):
            conversions.append(pl.col(column).cast(pl.Datetime("us", dtype.time_zone)))
    return frame.with_columns(conversions)
