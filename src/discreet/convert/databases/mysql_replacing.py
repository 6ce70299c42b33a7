"""Replacing a MySQL or MariaDB table while preserving its indexes, comments, grants and views.

MySQL cannot alter and fill a table in one transaction. A temporary table is therefore created as a copy of the old
definition (columns, indexes, comments), changed where the new data need it, filled, and renamed by one RENAME TABLE.
Grants and views refer to the name, so they are preserved. Triggers and foreign keys belong to the old table and would be
lost, which is an error that names them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.convert.databases.database import identifier_quoter
from discreet.errors import SourceError

_quoted = identifier_quoter("mysql")
_TYPE_FAMILIES = (
    ("tinyint", "smallint", "mediumint", "int", "bigint"),
    ("char", "varchar", "tinytext", "text", "mediumtext", "longtext"),
)
STRICT_MODE = "SET SESSION sql_mode = CONCAT(@@SESSION.sql_mode, ',STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO')"
"""A value that an existing column cannot represent is an error; it is never truncated or rounded."""


@dataclass(frozen=True)
class _Column:
    type: str
    collation: str
    comment: str


class DefinitionCopy:
    """Copies the definition of the old table to the new one."""

    def __init__(self, rows: Callable[..., list[Any]], schema: str | None, table: str, name: str) -> None:
        """``rows`` runs a query with values on the connection; ``name`` is the displayed name of the target."""
        self._rows, self._name, self._table = rows, name, table
        self._schema = schema or str(rows("SELECT DATABASE()")[0][0])

    def statements(self, temporary: str, declared: Mapping[str, str], *, drop_dependents: bool) -> list[str]:
        """Statements that recreate the table ``temporary``, which has the new columns, as a copy of the old definition.

        ``declared`` are the types of the new columns. Raises SourceError if an index, view, trigger or foreign key would be
        lost, unless ``drop_dependents`` is set.
        """
        new, old = self._columns(temporary), self._columns(self._table)
        dropped = [name for name in old if name not in new]
        lost_indexes = dict(self._lost_indexes(old, new))
        if not drop_dependents:
            self._refuse_losses(dropped, lost_indexes)
        indexed = {column for index, columns in self._indexes().items() if index not in lost_indexes for column in columns}
        changes = [f"DROP INDEX {_quoted(index)}" if index != "PRIMARY" else "DROP PRIMARY KEY" for index in lost_indexes]
        reordered = [name for name in old if name in new] != [name for name in declared if name in old]
        previous = ""
        for name, column_type in declared.items():
            position = f" AFTER {_quoted(previous)}" if previous else " FIRST"
            if name not in old:
                changes.append(f"ADD COLUMN {_quoted(name)} {column_type} NULL{position}")
            elif name not in indexed and (reordered or _must_change(old[name], new[name])):
                comment = _comment_clause(old[name].comment)
                changes.append(f"MODIFY COLUMN {_quoted(name)} {column_type} NULL{comment}{position if reordered else ''}")
            previous = name
        changes += [f"DROP COLUMN {_quoted(name)}" for name in dropped]
        temporary_name = _quoted(self._schema, temporary)
        create = [f"DROP TABLE {temporary_name}", f"CREATE TABLE {temporary_name} LIKE {_quoted(self._schema, self._table)}"]
        return create + ([f"ALTER TABLE {temporary_name} {', '.join(changes)}"] if changes else [])

    def drop_statements(self, temporary: str) -> list[str]:
        """Statements that drop what the replacement breaks: foreign keys that refer to the table, views on dropped columns."""
        dropped = [name for name in self._columns(self._table) if name not in self._columns(temporary)]
        foreign_keys = [
            f"ALTER TABLE {_quoted(schema, table)} DROP FOREIGN KEY {_quoted(key)}"
            for schema, table, key in self._incoming_foreign_keys()
        ]
        return foreign_keys + [f"DROP VIEW {_quoted(schema, view)}" for schema, view, _ in self._views_on(dropped)]

    def _columns(self, table: str) -> dict[str, _Column]:
        rows = self._rows(f"SHOW FULL COLUMNS FROM {_quoted(self._schema, table)}".replace("%", "%%"))
        return {row[0]: _Column(str(row[1]).lower(), str(row[2] or ""), str(row[8] or "")) for row in rows}

    def _indexes(self) -> dict[str, list[str]]:
        indexes: dict[str, list[str]] = {}
        for row in self._rows(f"SHOW INDEX FROM {_quoted(self._schema, self._table)}".replace("%", "%%")):
            indexes.setdefault(row[2], []).append(row[4] or "")
        return indexes

    def _lost_indexes(self, old: Mapping[str, _Column], new: Mapping[str, _Column]) -> Iterator[tuple[str, str]]:
        """Pairs of index and column, for indexes on a column that is dropped or changes to an incompatible type."""
        for index, columns in self._indexes().items():
            for name in columns:
                if name in old and (name not in new or not _same_type_family(old[name].type, new[name].type)):
                    yield index, name
                    break

    def _refuse_losses(self, dropped: Sequence[str], lost_indexes: Mapping[str, str]) -> None:
        reasons = [f"the index {index} needs the column '{column}' as it was" for index, column in lost_indexes.items()]
        reasons += [
            f"the view {view} needs the column '{column}', which the new table does not have"
            for _, view, column in self._views_on(dropped)
        ]
        reasons += [
            f"the trigger {name} belongs to the old table"
            for (name,) in self._rows(
                "SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = %s AND EVENT_OBJECT_TABLE = %s",
                (self._schema, self._table),
            )
        ]
        reasons += [
            f"the foreign key {key} of the table {table} refers to its rows" for _, table, key in self._incoming_foreign_keys()
        ]
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
            raise SourceError(f"{self._name}: {reasons[0]}{more}; change it first, or add --drop-dependents to drop it")

    def _incoming_foreign_keys(self) -> list[Any]:
        return self._rows(
            "SELECT DISTINCT TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME FROM information_schema.KEY_COLUMN_USAGE "
            "WHERE REFERENCED_TABLE_SCHEMA = %s AND REFERENCED_TABLE_NAME = %s AND NOT (TABLE_SCHEMA = %s AND TABLE_NAME = %s)",
            (self._schema, self._table, self._schema, self._table),
        )

    def _views_on(self, dropped: Sequence[str]) -> list[tuple[str, str, str]]:
        """Views whose definition mentions the table and a dropped column; MariaDB has no catalog of dependencies of views."""
        if not dropped:
            return []
        views = self._rows("SELECT TABLE_SCHEMA, TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS")
        on_table = [(schema, view, text or "") for schema, view, text in views if _quoted(self._table) in (text or "")]
        return [
            (schema, view, column)
            for schema, view, text in on_table
            if (column := next((name for name in dropped if f".{_quoted(name)}" in text), None)) is not None
        ]


def _comment_clause(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "''")
    return f" COMMENT '{escaped}'" if text else ""


def _must_change(old: _Column, new: _Column) -> bool:
    """Whether a column must change to store the new values; text also if its character set is limited."""
    return old.type != new.type or (bool(old.collation) and not old.collation.startswith("utf8mb4"))


def _same_type_family(first: str, second: str) -> bool:
    """Whether the server stores values of one type in the other unchanged, or rejects them."""
    if first == second:
        return True
    names = [column_type.partition("(")[0].partition(" ")[0] for column_type in (first, second)]
    return any(all(name in family for name in names) for family in _TYPE_FAMILIES)
