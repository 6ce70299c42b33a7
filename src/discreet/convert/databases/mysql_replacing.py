"""A MySQL or MariaDB table that takes the place of another and keeps what belongs to it.

MySQL cannot alter and fill a table in one transaction, so the new table is made beside the old one, as a copy of its
definition (columns, indexes, comments), changed where the new data need it, filled, and put in its place by one RENAME TABLE.
Grants and views hang on the name and stay. Triggers and foreign keys hang on the old table, so they are refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.convert.databases.database import quoting
from discreet.errors import SourceError

_quoted = quoting("mysql")
_FAMILIES = (
    ("tinyint", "smallint", "mediumint", "int", "bigint"),
    ("char", "varchar", "tinytext", "text", "mediumtext", "longtext"),
)
STRICT = "SET SESSION sql_mode = CONCAT(@@SESSION.sql_mode, ',STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO')"
"""A value that a kept column cannot hold is an error, never cut or rounded."""


@dataclass(frozen=True)
class _Column:
    type: str
    collation: str
    comment: str


class Copy:
    """The definition of the old table, as the new one takes it over."""

    def __init__(self, rows: Callable[..., list[Any]], schema: str | None, table: str, name: str) -> None:
        """``rows`` runs a query with values on the connection; ``name`` is the target for people."""
        self._rows, self._name, self._table = rows, name, table
        self._schema = schema or str(rows("SELECT DATABASE()")[0][0])

    def statements(self, beside: str, declared: Mapping[str, str], *, drop_dependents: bool) -> list[str]:
        """What turns the plain table ``beside``, which has the new columns as declared, into a copy of the old definition.

        Raises where an index, view, trigger or foreign key would be lost that nobody gave up.
        """
        wanted, old = self._columns(beside), self._columns(self._table)
        gone = [name for name in old if name not in wanted]
        lost = dict(self._lost_indexes(old, wanted))
        if not drop_dependents:
            self._refuse(gone, lost)
        indexed = {column for index, columns in self._indexes().items() if index not in lost for column in columns}
        changes = [f"DROP INDEX {_quoted(index)}" if index != "PRIMARY" else "DROP PRIMARY KEY" for index in lost]
        moved = [name for name in old if name in wanted] != [name for name in declared if name in old]
        before = ""
        for name, kind in declared.items():
            place = f" AFTER {_quoted(before)}" if before else " FIRST"
            if name not in old:
                changes.append(f"ADD COLUMN {_quoted(name)} {kind} NULL{place}")
            elif name not in indexed and (moved or _differs(old[name], wanted[name])):
                changes.append(f"MODIFY COLUMN {_quoted(name)} {kind} NULL{_comment(old[name].comment)}{place if moved else ''}")
            before = name
        changes += [f"DROP COLUMN {_quoted(name)}" for name in gone]
        new = _quoted(self._schema, beside)
        made = [f"DROP TABLE {new}", f"CREATE TABLE {new} LIKE {_quoted(self._schema, self._table)}"]
        return made + ([f"ALTER TABLE {new} {', '.join(changes)}"] if changes else [])

    def give_up(self, beside: str) -> list[str]:
        """What must go before the old table can: foreign keys of other tables that refer to it, and views on lost columns."""
        gone = [name for name in self._columns(self._table) if name not in self._columns(beside)]
        keys = [
            f"ALTER TABLE {_quoted(schema, table)} DROP FOREIGN KEY {_quoted(key)}" for schema, table, key in self._incoming()
        ]
        return keys + [f"DROP VIEW {_quoted(schema, view)}" for schema, view, _ in self._views(gone)]

    def _columns(self, table: str) -> dict[str, _Column]:
        found = self._rows(f"SHOW FULL COLUMNS FROM {_quoted(self._schema, table)}".replace("%", "%%"))
        return {row[0]: _Column(str(row[1]).lower(), str(row[2] or ""), str(row[8] or "")) for row in found}

    def _indexes(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for row in self._rows(f"SHOW INDEX FROM {_quoted(self._schema, self._table)}".replace("%", "%%")):
            found.setdefault(row[2], []).append(row[4] or "")
        return found

    def _lost_indexes(self, old: Mapping[str, _Column], wanted: Mapping[str, _Column]) -> Iterator[tuple[str, str]]:
        """Indexes with a column that is gone, or of which the new type is of another kind."""
        for index, columns in self._indexes().items():
            for name in columns:
                if name in old and (name not in wanted or not _alike(old[name].type, wanted[name].type)):
                    yield index, name
                    break

    def _refuse(self, gone: Sequence[str], lost: Mapping[str, str]) -> None:
        reasons = [f"the index {index} needs the column '{column}' as it was" for index, column in lost.items()]
        reasons += [
            f"the view {view} needs the column '{column}', which the new table does not have"
            for _, view, column in self._views(gone)
        ]
        reasons += [
            f"the trigger {name} belongs to the old table"
            for (name,) in self._rows(
                "SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = %s AND EVENT_OBJECT_TABLE = %s",
                (self._schema, self._table),
            )
        ]
        reasons += [f"the foreign key {key} of the table {table} refers to its rows" for _, table, key in self._incoming()]
        reasons += [
            f"its foreign key {key} belongs to the old table"
            for (key,) in self._rows(
                "SELECT DISTINCT CONSTRAINT_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = %s "
                "AND TABLE_NAME = %s AND REFERENCED_TABLE_NAME IS NOT NULL",
                (self._schema, self._table),
            )
        ]
        if reasons:
            more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
            raise SourceError(f"{self._name}: {reasons[0]}{more}; change it first, or add --drop-dependents to give it up")

    def _incoming(self) -> list[Any]:
        return self._rows(
            "SELECT DISTINCT TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME FROM information_schema.KEY_COLUMN_USAGE "
            "WHERE REFERENCED_TABLE_SCHEMA = %s AND REFERENCED_TABLE_NAME = %s AND NOT (TABLE_SCHEMA = %s AND TABLE_NAME = %s)",
            (self._schema, self._table, self._schema, self._table),
        )

    def _views(self, gone: Sequence[str]) -> list[tuple[str, str, str]]:
        """Views whose text names the table and a lost column; MariaDB has no catalog of what a view needs."""
        if not gone:
            return []
        views = self._rows("SELECT TABLE_SCHEMA, TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS")
        on_it = [(schema, view, text or "") for schema, view, text in views if _quoted(self._table) in (text or "")]
        return [
            (schema, view, column)
            for schema, view, text in on_it
            if (column := next((name for name in gone if f".{_quoted(name)}" in text), None)) is not None
        ]


def _comment(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "''")
    return f" COMMENT '{escaped}'" if text else ""


def _differs(old: _Column, wanted: _Column) -> bool:
    """Whether a column must change to hold what it is given; text also where it cannot hold every character."""
    return old.type != wanted.type or (bool(old.collation) and not old.collation.startswith("utf8mb4"))


def _alike(one: str, other: str) -> bool:
    """Whether values of one type can be kept in another without being changed, or are refused by the server."""
    if one == other:
        return True
    words = [kind.partition("(")[0].partition(" ")[0] for kind in (one, other)]
    return any(all(word in family for word in words) for family in _FAMILIES)
