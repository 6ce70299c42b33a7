"""PostgreSQL tables: looked up by SQLAlchemy, carried in bulk by ADBC."""

from __future__ import annotations

from typing import Any

import polars as pl

from discreet.convert.databases.database import Database, Writing, quoting
from discreet.convert.databases.postgresql_replacing import Replacement
from discreet.convert.databases.rows import typed_text
from discreet.convert.files.column_names import unique
from discreet.convert.files.tables import Table
from discreet.errors import SourceError

_LONGEST = 63
_DUPLICATE = "42P07"
_TIMEOUT = "15"
# what ADBC gives as it is; everything else is asked for as text
_AS_IT_IS = (
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
_quoted = quoting("postgresql")


class PostgreSQL(Database):
    """One table of a PostgreSQL database."""

    def _read(self) -> Table:
        import adbc_driver_postgresql.dbapi as adbc
        import sqlalchemy as sa

        url = self.address.url.set(drivername="postgresql+psycopg").update_query_dict(self._timeout())
        engine = sa.create_engine(url, poolclass=sa.NullPool)
        inspector = sa.inspect(engine)
        if not inspector.has_table(self.address.table, schema=self.address.schema):
            raise self.no_table()
        columns = inspector.get_columns(self.address.table, schema=self.address.schema)
        if not columns:
            raise SourceError(f"{self.name}: has no columns")
        names = unique(column["name"] for column in columns)
        parts = [self._part(column["name"], column["type"]) for column in columns]
        with adbc.connect(self._conninfo()) as link, link.cursor() as cursor:
            cursor.execute(f"SELECT {', '.join(parts)} FROM {_quoted(self.address.schema, self.address.table)}")
            frame = pl.DataFrame(cursor.fetch_arrow_table().rename_columns(names))
        numeric = [name for name, column in zip(names, columns, strict=True) if _word(column["type"]) in ("NUMERIC", "MONEY")]
        return Table(typed_text(frame, numbers=numeric))

    def _part(self, name: str, kind: Any) -> str:
        quoted = _quoted(name)
        word = _word(kind)
        if word in _AS_IT_IS and not (word == "TIME" and kind.timezone):
            return quoted
        return f"{quoted}::numeric::text" if word == "MONEY" else f"{quoted}::text"

    def _exists(self) -> bool:
        import sqlalchemy as sa

        url = self.address.url.set(drivername="postgresql+psycopg").update_query_dict(self._timeout())
        inspector = sa.inspect(sa.create_engine(url, poolclass=sa.NullPool))
        return bool(inspector.has_table(self.address.table, schema=self.address.schema))

    def _write(self, table: Table, how: Writing) -> None:
        import adbc_driver_postgresql.dbapi as adbc

        frame = _storable(table.frame, self.name)
        schema, name, beside = self.address.schema, self.address.table, self.beside()
        if len(name.encode()) > _LONGEST:
            raise SourceError(f"{self.name}: a name in PostgreSQL has at most {_LONGEST} bytes")
        content = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
        with adbc.connect(self._conninfo()) as link, link.cursor() as cursor:
            if how.overwrite and self._is_table(cursor):
                try:
                    self._replace(cursor, content, drop_dependents=how.drop_dependents)
                except adbc.Error:
                    if not how.drop_dependents:
                        raise
                    link.rollback()  # the new rows may break a rule of the table, which is given up too
                    self._replace(cursor, content, drop_dependents=True, drop_rules=True)
            else:
                cursor.adbc_ingest(beside, content, mode="create", db_schema_name=schema)
                self._name_new_table(cursor, beside)
            link.commit()

    def _replace(self, cursor: Any, content: Any, *, drop_dependents: bool, drop_rules: bool = False) -> None:
        beside = self.beside()
        cursor.adbc_ingest(beside, content, mode="create", temporary=True)
        table, fresh = _quoted(self.address.schema, self.address.table), _quoted("pg_temp", beside)
        Replacement(cursor, table, fresh, self.name).run(drop_dependents=drop_dependents, drop_rules=drop_rules)
        cursor.execute(f"DROP TABLE {fresh}")

    def _is_table(self, cursor: Any) -> bool:
        """Whether the table is there; raises where it is a view."""
        place = _quoted(self.address.schema, self.address.table).replace("'", "''")
        cursor.execute(f"SELECT relkind FROM pg_class WHERE oid = to_regclass('{place}')")
        kinds = [str(kind) for (kind,) in cursor.fetchall()]
        if kinds and kinds[0] in ("v", "m"):
            raise self.is_view()
        return bool(kinds)

    def _name_new_table(self, cursor: Any, beside: str) -> None:
        schema, name = self.address.schema, self.address.table
        try:
            cursor.execute(f"ALTER TABLE {_quoted(schema, beside)} RENAME TO {_quoted(name)}")
        except Exception as error:
            if getattr(error, "sqlstate", None) == _DUPLICATE:
                raise self.written_first() from None
            raise

    def _conninfo(self) -> str:
        """The address as libpq takes it, with every value quoted."""
        from psycopg.conninfo import make_conninfo

        named = self.address.url.translate_connect_args(username="user", database="dbname")
        options = {key: given if isinstance(given, str) else ",".join(given) for key, given in self.address.url.query.items()}
        return make_conninfo("", **named, **self._timeout(), **options)

    def _timeout(self) -> dict[str, str]:
        return {} if "connect_timeout" in self.address.url.query else {"connect_timeout": _TIMEOUT}


def _word(kind: Any) -> str:
    return str(type(kind).__name__)


def _storable(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """The table in types that PostgreSQL has: no unsigned 64 bits, no spans of time."""
    for column in frame.columns:
        if len(column.encode()) > _LONGEST:
            raise SourceError(f"{name}: a name in PostgreSQL has at most {_LONGEST} bytes; got the column '{column}'")
    changes: list[pl.Expr] = []
    for column, dtype in frame.schema.items():
        if dtype == pl.UInt64:
            fits = (frame[column].max() or 0) < 2**63  # type: ignore[operator]
            changes.append(pl.col(column).cast(pl.Int64 if fits else pl.String))
        elif dtype.is_unsigned_integer():
            changes.append(pl.col(column).cast(pl.Int64))
        elif dtype == pl.Duration:
            changes.append(pl.col(column).dt.to_string("iso"))
        elif isinstance(dtype, pl.Datetime):
            changes.append(pl.col(column).cast(pl.Datetime("us", dtype.time_zone)))
    return frame.with_columns(changes)
