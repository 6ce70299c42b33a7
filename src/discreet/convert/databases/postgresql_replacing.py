"""Replacing the content of a PostgreSQL table while preserving everything that belongs to it.

Owner, grants, comments, row-level security, indexes and views belong to the table object. Dropping it and renaming another
would lose them, so the table is truncated, altered and filled in one transaction: other sessions see the old table or the
new one. Columns without dependents are recreated if their order has changed; others keep their position.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.convert.databases.database import identifier_quoter
from discreet.errors import SourceError

_quoted = identifier_quoter("postgresql")
_MAX_COLUMN_NUMBER = 1000
"""PostgreSQL counts all columns that a table ever had, up to 1,600; near this limit columns are not reordered."""
_INTEGER_TYPES = ("smallint", "integer", "bigint")
_TEXT_TYPES = ("text", "character varying")
# defaults, sequences and extended statistics are dropped with their column
_DROPPED_WITH_COLUMN = ("pg_attrdef", "pg_statistic_ext", "pg_type")
# indexes and constraints are rebuilt when a column changes type; views, policies, triggers and functions forbid the change
_REBUILT_ON_TYPE_CHANGE = ("pg_class", "pg_constraint")


@dataclass(frozen=True)
class _Column:
    name: str
    number: int
    type: str
    generated: bool = False


@dataclass(frozen=True)
class _Dependent:
    """An object that depends on a column: its catalog, and how PostgreSQL describes it."""

    column: str
    catalog: str
    description: str


class Replacement:
    """Replaces the content of a table by that of a temporary table, in the same transaction."""

    def __init__(self, cursor: Any, table: str, source: str, name: str) -> None:
        """``table`` and ``source`` (the temporary table) are quoted names; ``name`` is the displayed name of the target."""
        self._cursor, self._table, self._source, self._name = cursor, table, source, name

    def run(self, *, drop_dependents: bool, drop_constraints: bool = False) -> None:
        """Replace columns and rows; raises SourceError, before any change, if an object that depends on them would be lost.

        ``drop_dependents`` drops such objects; ``drop_constraints`` also drops the table's constraints.
        """
        self._cursor.execute(f"LOCK TABLE {self._table} IN ACCESS EXCLUSIVE MODE")
        old, new = self._columns(self._table), self._columns(self._source)
        dropped = [column for name, column in old.items() if name not in new]
        keep_type = self._columns_keeping_type(old, new)
        changed = [
            column for name, column in old.items() if name in new and column.type != new[name].type and name not in keep_type
        ]
        added = [column for name, column in new.items() if name not in old]
        recreated = self._columns_to_recreate(
            old, new, [column.name for column in old.values() if column.name in new] + [column.name for column in added]
        )
        changed = [column for column in changed if column.name not in recreated]
        self._refuse_losses(dropped, changed, drop=drop_dependents)
        dropped, added = (
            dropped + [old[name] for name in recreated if name in old],
            [*(column for column in added if column.name not in recreated)],
        )
        added += [new[name] for name in recreated]
        triggers, forced = self._suspend_triggers_and_policies()
        self._truncate(drop=drop_dependents)
        cascade = " CASCADE" if drop_dependents else ""
        blocked = (
            {column.column for column in self._dependents(changed) if column.catalog not in _REBUILT_ON_TYPE_CHANGE}
            if drop_dependents
            else set()
        )
        for column in old.values():
            if column.generated and column.name in new and column not in changed:
                self._alter(f"ALTER COLUMN {_quoted(column.name)} DROP EXPRESSION")
        for column in [*dropped, *(column for column in changed if column.name in blocked or column.generated)]:
            self._alter(f"DROP COLUMN {_quoted(column.name)}{cascade}")
        for column in changed:
            if column.name in blocked or column.generated:
                added.append(new[column.name])
            else:
                self._alter_type(column, new[column.name].type)
        for column in added:
            self._alter(f"ADD COLUMN {_quoted(column.name)} {column.type}")
        if drop_constraints:
            self._drop_constraints()
        names = ", ".join(map(_quoted, new))
        self._cursor.execute(f"INSERT INTO {self._table} ({names}) OVERRIDING SYSTEM VALUE SELECT {names} FROM {self._source}")
        self._restore_triggers_and_policies(triggers, forced=forced)
        self._cursor.execute(
            f"ANALYZE {self._table}"
        )  # otherwise the planner's statistics still contain frequent values of the old rows

    def _columns(self, table: str) -> dict[str, _Column]:
        rows = self._query(
            "SELECT attname, attnum, format_type(atttypid, atttypmod), attgenerated <> '' FROM pg_attribute "
            f"WHERE attrelid = {_literal(table)}::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
        )
        return {name: _Column(name, number, column_type, generated) for name, number, column_type, generated in rows}

    def _columns_keeping_type(self, old: dict[str, _Column], new: dict[str, _Column]) -> set[str]:
        """Columns with dependents whose type can store the new values without loss (integers, text), so it is not changed."""
        compatible = [
            column
            for name, column in old.items()
            if name in new
            and column.type != new[name].type
            and any(
                _without_length(column.type) in family and new[name].type in family for family in (_INTEGER_TYPES, _TEXT_TYPES)
            )
        ]
        return {column.column for column in self._dependents(compatible)}

    def _columns_to_recreate(self, old: dict[str, _Column], new: dict[str, _Column], order: Sequence[str]) -> list[str]:
        """Columns to drop and add again so that they have the order of the data; none if any of them has dependents."""
        names = list(new)
        first = next((index for index, (column, name) in enumerate(zip(order, names, strict=True)) if column != name), len(names))
        displaced = [old[name] for name in names[first:] if name in old]
        if (
            not displaced
            or max(column.number for column in old.values()) > _MAX_COLUMN_NUMBER
            or self._dependents(displaced)
            or self._have_comments_or_grants(displaced)
        ):
            return []
        return names[first:]

    def _have_comments_or_grants(self, columns: Sequence[_Column]) -> bool:
        """Whether one of the columns has a comment or a grant."""
        numbers = ", ".join(str(column.number) for column in columns)
        return bool(
            self._query(
                f"SELECT 1 FROM pg_attribute WHERE attrelid = {_literal(self._table)}::regclass AND attnum IN ({numbers}) "
                "AND (attacl IS NOT NULL OR col_description(attrelid, attnum) IS NOT NULL)"
            )
        )

    def _dependents(self, columns: Iterable[_Column]) -> list[_Dependent]:
        name_of_number = {item.number: item.name for item in columns}
        if not name_of_number:
            return []
        rows = self._query(
            "SELECT d.refobjsubid, d.classid::regclass::text, pg_describe_object(d.classid, d.objid, d.objsubid) "
            "FROM pg_depend d LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid "
            f"WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = {_literal(self._table)}::regclass "
            f"AND d.refobjsubid IN ({', '.join(map(str, name_of_number))}) AND c.relkind IS DISTINCT FROM 'S' "
            f"AND NOT (d.classid = 'pg_class'::regclass AND d.objid = d.refobjid) ORDER BY 3"
        )
        dependents = [
            _Dependent(name_of_number[number], catalog, description.removeprefix("rule _RETURN on "))
            for number, catalog, description in rows
        ]
        return [item for item in dependents if item.catalog not in _DROPPED_WITH_COLUMN]

    def _refuse_losses(self, dropped: Sequence[_Column], changed: Sequence[_Column], *, drop: bool) -> None:
        if drop:
            return
        losses = [(dependent, "which the new table does not have") for dependent in self._dependents(dropped)]
        types = {dependent.name: dependent.type for dependent in changed}
        losses += [
            (dependent, f"which is no longer {types[dependent.column]}")
            for dependent in self._dependents(changed)
            if dependent.catalog not in _REBUILT_ON_TYPE_CHANGE
        ]
        if losses:
            dependent, reason = losses[0]
            more = f" (and {len(losses) - 1} more)" if len(losses) > 1 else ""
            raise SourceError(
                f"{self._name}: the {dependent.description} needs the column '{dependent.column}', {reason}{more}; "
                "change it first, or add --drop-dependents to drop it"
            )

    def _truncate(self, *, drop: bool) -> None:
        """Remove all rows; the server deletes their files when the transaction ends."""
        table_id = f"{_literal(self._table)}::regclass"
        references = self._query(
            "SELECT conrelid::regclass::text, conname FROM pg_constraint "
            f"WHERE confrelid = {table_id} AND conrelid <> {table_id} "
            "AND contype = 'f' ORDER BY 2"
        )
        if references and not drop:
            table, key = references[0]
            raise SourceError(
                f"{self._name}: the foreign key {key} of the table {table} refers to its rows; "
                "change it first, or add --drop-dependents to drop it"
            )
        for table, key in references:
            self._cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {_quoted(key)}")
        self._cursor.execute(f"TRUNCATE {self._table}")

    def _alter_type(self, column: _Column, column_type: str) -> None:
        name = _quoted(column.name)
        self._alter(f"ALTER COLUMN {name} DROP DEFAULT")
        self._alter(f"ALTER COLUMN {name} TYPE {column_type} USING NULL")

    def _drop_constraints(self) -> None:
        table_id = f"{_literal(self._table)}::regclass"
        for (constraint,) in self._query(f"SELECT conname FROM pg_constraint WHERE conrelid = {table_id} AND contype <> 'n'"):
            self._alter(f"DROP CONSTRAINT {_quoted(constraint)} CASCADE")
        for (name,) in self._query(f"SELECT attname FROM pg_attribute WHERE attrelid = {table_id} AND attnum > 0 AND attnotnull"):
            self._alter(f"ALTER COLUMN {_quoted(name)} DROP NOT NULL")

    def _suspend_triggers_and_policies(self) -> tuple[list[tuple[str, str]], bool]:
        """Disable triggers and forced row-level security, so that the rows are inserted as they are."""
        table_id = f"{_literal(self._table)}::regclass"
        triggers = self._query(
            f"SELECT tgname, tgenabled FROM pg_trigger WHERE tgrelid = {table_id} AND NOT tgisinternal AND tgenabled <> 'D'"
        )
        for name, _ in triggers:
            self._alter(f"DISABLE TRIGGER {_quoted(name)}")
        forced = bool(self._query(f"SELECT 1 FROM pg_class WHERE oid = {table_id} AND relforcerowsecurity"))
        if forced:
            self._alter("NO FORCE ROW LEVEL SECURITY")
        return [(name, state) for name, state in triggers], forced

    def _restore_triggers_and_policies(self, triggers: Iterable[tuple[str, str]], *, forced: bool) -> None:
        remaining = {
            name for (name,) in self._query(f"SELECT tgname FROM pg_trigger WHERE tgrelid = {_literal(self._table)}::regclass")
        }
        for name, state in triggers:
            if name in remaining:
                mode = {"R": "REPLICA ", "A": "ALWAYS "}.get(state, "")
                self._alter(f"ENABLE {mode}TRIGGER {_quoted(name)}")
        if forced:
            self._alter("FORCE ROW LEVEL SECURITY")

    def _alter(self, change: str) -> None:
        self._cursor.execute(f"ALTER TABLE {self._table} {change}")

    def _query(self, query: str) -> list[Any]:
        self._cursor.execute(query)
        return list(self._cursor.fetchall())


def _without_length(column_type: str) -> str:
    """The name of a type without its length: ``character varying`` for ``character varying(20)``."""
    return column_type.partition("(")[0]


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
