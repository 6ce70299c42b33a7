"""DuckDB tables, natively. The connection sees nothing but its own file: no other files, no variables, no downloads."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from discreet.convert.databases.database import Database, Writing, database_file, quoting
from discreet.convert.databases.locking import only_writer
from discreet.convert.databases.rows import typed_text
from discreet.convert.files.column_names import unique
from discreet.convert.files.tables import Table
from discreet.convert.writing.atomic import apart, replacing
from discreet.errors import SourceError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_MAGIC, _AT = b"DUCK", 8
_SHUT = {
    "autoinstall_known_extensions": "false", "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}  # fmt: skip
_AS_TEXT = ("HUGEINT", "UHUGEINT", "BIGNUM", "VARINT", "INTERVAL", "BIT", "TIME WITH TIME ZONE", "UUID", "JSON")
_NUMBERS = ("HUGEINT", "UHUGEINT", "BIGNUM", "VARINT")
_WAIT = 15.0
_GIVEN = "discreet_given"
_quoted = quoting("postgresql")


class DuckDB(Database):
    """One table of a DuckDB file."""

    def _read(self) -> Table:
        path = database_file(self.address, _MAGIC, _AT, "DuckDB", must_exist=True)
        with closing(_patiently(_connect, path)) as link:
            kind, schema = self._find(link)
            if kind is None:
                raise self.no_table()
            place = _quoted(schema, self.address.table)
            shape = link.sql(f"SELECT * FROM {place} LIMIT 0")
            types = dict(zip(shape.columns, map(str, shape.types), strict=True))
            parts = [f"{_quoted(n)}::VARCHAR AS {_quoted(n)}" if t in _AS_TEXT else _quoted(n) for n, t in types.items()]
            content = link.sql(f"SELECT {', '.join(parts)} FROM {place}").to_arrow_table()
        frame = pl.DataFrame(content.rename_columns(unique(content.column_names)))
        return Table(typed_text(frame, numbers=[name for name, word in types.items() if word in _NUMBERS]))

    def _exists(self) -> bool:
        path = database_file(self.address, _MAGIC, _AT, "DuckDB", must_exist=False)
        if not path.exists() or not path.stat().st_size:
            return False
        with closing(_patiently(_connect, path)) as link:
            kind, _ = self._find(link)
        if kind == "view":
            raise self.is_view()
        return kind is not None

    def _write(self, table: Table, how: Writing) -> None:
        """Into a new file that takes the old one's place: DuckDB leaves what it drops in its free pages.

        One run at a time copies, changes and swaps the file; the next one starts from what the one before left.
        """
        path = database_file(self.address, _MAGIC, _AT, "DuckDB", must_exist=False)
        with only_writer(path):
            self._write_alone(path, table, how)

    def _write_alone(self, path: Path, table: Table, how: Writing) -> None:
        there = path.exists()
        with (
            _held(path) as held,
            replacing(path, private=how.private, overwrite=there) as temporary,
            apart(temporary) as fresh,
        ):
            if held is None:
                with closing(_open(fresh)) as link:
                    _confine(link, fresh.parent)
                    self._replace(link, table.frame, overwrite=how.overwrite)
                return
            new = fresh.with_name("new.duckdb")
            _confine(held, fresh.parent)
            self._copy(held, new)
            with closing(_open(new)) as link:
                _confine(link, fresh.parent)
                self._replace(link, table.frame, overwrite=how.overwrite)
                self._copy(link, fresh)

    def _copy(self, link: DuckDBPyConnection, file: Path) -> None:
        """Copy all that a database holds into a new file."""
        (name,) = link.execute("SELECT current_database()").fetchall()[0]
        copy, place = _quoted(self.beside()), str(file).replace("'", "''")
        link.execute(f"ATTACH '{place}' AS {copy}")
        link.execute(f"COPY FROM DATABASE {_quoted(name)} TO {copy}")
        link.execute(f"CHECKPOINT {copy}")
        link.execute(f"DETACH {copy}")

    def _replace(self, link: DuckDBPyConnection, frame: pl.DataFrame, *, overwrite: bool) -> None:
        """Write beside and rename, all in one transaction."""
        kind, schema = self._find(link)
        if kind == "view":
            raise self.is_view()
        if kind is not None and not overwrite:
            raise self.written_first()
        seen = Counter(name.lower() for name in frame.columns)
        if twice := next((name for name in frame.columns if seen[name.lower()] > 1), None):
            raise SourceError(f"{self.name}: to DuckDB the column '{twice}' and another are one name; rename one of them")
        beside = self.beside()
        link.register(_GIVEN, frame.to_arrow(compat_level=pl.CompatLevel.oldest()))
        link.execute("BEGIN TRANSACTION")
        try:
            link.execute(f"CREATE TABLE {_quoted(schema, beside)} AS SELECT * FROM {_GIVEN}")
            link.execute(f"DROP TABLE IF EXISTS {_quoted(schema, self.address.table)}")
            link.execute(f"ALTER TABLE {_quoted(schema, beside)} RENAME TO {_quoted(self.address.table)}")
            link.execute("COMMIT")
        except BaseException:
            link.execute("ROLLBACK")
            raise

    def _find(self, link: DuckDBPyConnection) -> tuple[str | None, str]:
        """Whether the name is a table, a view or neither; and its schema."""
        schema = self.address.schema or "main"
        asked = [schema, self.address.table]
        for kind, catalog, column in (("table", "duckdb_tables()", "table_name"), ("view", "duckdb_views()", "view_name")):
            sought = f"SELECT 1 FROM {catalog} WHERE lower(schema_name) = lower(?) AND lower({column}) = lower(?)"
            if link.execute(sought, asked).fetchall():
                return kind, schema
        return None, schema


@contextmanager
def _held(path: Path) -> Iterator[DuckDBPyConnection | None]:
    """A database that nobody else can write to meanwhile; None where there is none yet."""
    if not path.exists() or not path.stat().st_size:
        yield None
        return
    with closing(_patiently(_open, path)) as link:
        link.execute("CHECKPOINT")  # what a killed writer left in its log belongs to the database, and its log to no other
        yield link


def _patiently(connect: Callable[[Path], DuckDBPyConnection], path: Path) -> DuckDBPyConnection:
    """Open a file that another program, or another thread, may have open for a moment."""
    import duckdb

    started = time.monotonic()
    while True:
        try:
            return connect(path)
        except (duckdb.IOException, duckdb.ConnectionException) as error:
            held = "lock" in str(error) or "different configuration" in str(error)
            if not held or time.monotonic() - started > _WAIT:
                raise
            time.sleep(0.05)


def _connect(path: Path) -> DuckDBPyConnection:
    """Open a file to read; the connection sees no other."""
    import duckdb

    return duckdb.connect(str(path), read_only=True, config={**_SHUT, "enable_external_access": "false"})


def _open(path: Path) -> DuckDBPyConnection:
    """Open a file to write to; it is confined before anything of its content is run."""
    import duckdb

    return duckdb.connect(str(path), config=dict(_SHUT))


def _confine(link: DuckDBPyConnection, folder: Path) -> None:
    """From now on the connection sees its own file and those in one folder."""
    link.execute("SET allowed_directories = [$1]", [str(folder)])
    link.execute("SET enable_external_access = false")
