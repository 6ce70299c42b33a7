"""A PostgreSQL table that gets new content and stays the same object, so that all that belongs to it stays too.

Owner, grants, comments, row-level security, indexes and views hang on the table itself. Dropping it and renaming another
would lose them, so it is emptied, altered and filled inside one transaction: other sessions see the old table or the new
one. Columns that nothing hangs on are made anew where their order has changed; others keep their place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.convert.databases.database import quoting
from discreet.errors import SourceError

_quoted = quoting("postgresql")
_MANY = 1000
"""PostgreSQL counts the columns that a table ever had, up to 1,600; near that, the order is left as it is."""
_WHOLE = ("smallint", "integer", "bigint")
_TEXT = ("text", "character varying")
# defaults, sequences and extended statistics go with their column
_GOES_ALONG = ("pg_attrdef", "pg_statistic_ext", "pg_type")
# indexes and constraints are rebuilt when a column changes its type; views, policies, triggers and functions forbid it
_REBUILT = ("pg_class", "pg_constraint")


@dataclass(frozen=True)
class _Column:
    name: str
    number: int
    type: str
    generated: bool = False


@dataclass(frozen=True)
class _Dependent:
    """Something that needs a column: of which catalog it is, and how PostgreSQL describes it."""

    column: str
    catalog: str
    description: str


class Replacement:
    """The new content of a table, from a temporary table of the same transaction."""

    def __init__(self, cursor: Any, table: str, fresh: str, name: str) -> None:
        """``table`` and ``fresh`` are quoted names; ``name`` is the target for people."""
        self._cursor, self._table, self._fresh, self._name = cursor, table, fresh, name

    def run(self, *, drop_dependents: bool, drop_rules: bool = False) -> None:
        """Replace columns and rows; raises before anything is changed where something that belongs to the table would go.

        ``drop_dependents`` gives it up; ``drop_rules`` gives up the table's constraints too, where the new rows break one.
        """
        self._cursor.execute(f"LOCK TABLE {self._table} IN ACCESS EXCLUSIVE MODE")
        old, new = self._columns(self._table), self._columns(self._fresh)
        gone = [one for name, one in old.items() if name not in new]
        kept = self._kept_types(old, new)
        changed = [one for name, one in old.items() if name in new and one.type != new[name].type and name not in kept]
        added = [one for name, one in new.items() if name not in old]
        moved = self._movable(old, new, [one.name for one in old.values() if one.name in new] + [one.name for one in added])
        changed = [one for one in changed if one.name not in moved]
        self._refuse(gone, changed, drop=drop_dependents)
        gone, added = gone + [old[name] for name in moved if name in old], [*(one for one in added if one.name not in moved)]
        added += [new[name] for name in moved]
        triggers, forced = self._pause()
        self._empty(drop=drop_dependents)
        cascade = " CASCADE" if drop_dependents else ""
        blocked = {one.column for one in self._dependents(changed) if one.catalog not in _REBUILT} if drop_dependents else set()
        for one in old.values():
            if one.generated and one.name in new and one not in changed:
                self._alter(f"ALTER COLUMN {_quoted(one.name)} DROP EXPRESSION")
        for one in [*gone, *(one for one in changed if one.name in blocked or one.generated)]:
            self._alter(f"DROP COLUMN {_quoted(one.name)}{cascade}")
        for one in changed:
            if one.name in blocked or one.generated:
                added.append(new[one.name])
            else:
                self._alter_type(one, new[one.name].type)
        for one in added:
            self._alter(f"ADD COLUMN {_quoted(one.name)} {one.type}")
        if drop_rules:
            self._drop_rules()
        names = ", ".join(map(_quoted, new))
        self._cursor.execute(f"INSERT INTO {self._table} ({names}) OVERRIDING SYSTEM VALUE SELECT {names} FROM {self._fresh}")
        self._resume(triggers, forced=forced)
        self._cursor.execute(f"ANALYZE {self._table}")  # else the statistics go on showing frequent values of the old rows

    def _columns(self, table: str) -> dict[str, _Column]:
        rows = self._rows(
            "SELECT attname, attnum, format_type(atttypid, atttypmod), attgenerated <> '' FROM pg_attribute "
            f"WHERE attrelid = {_literal(table)}::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
        )
        return {name: _Column(name, number, kind, generated) for name, number, kind, generated in rows}

    def _kept_types(self, old: dict[str, _Column], new: dict[str, _Column]) -> set[str]:
        """Columns whose type something else needs and which can hold the new values without loss: whole numbers and text."""
        fitting = [
            one
            for name, one in old.items()
            if name in new
            and one.type != new[name].type
            and any(_family(one.type) in kinds and new[name].type in kinds for kinds in (_WHOLE, _TEXT))
        ]
        return {one.column for one in self._dependents(fitting)}

    def _movable(self, old: dict[str, _Column], new: dict[str, _Column], order: Sequence[str]) -> list[str]:
        """Columns to be made anew so that the table's order is that of the data: only where nothing belongs to any of them."""
        names = list(new)
        first = next((at for at, (one, other) in enumerate(zip(order, names, strict=True)) if one != other), len(names))
        moved = [old[name] for name in names[first:] if name in old]
        if not moved or max(one.number for one in old.values()) > _MANY or self._dependents(moved) or self._described(moved):
            return []
        return names[first:]

    def _described(self, columns: Sequence[_Column]) -> bool:
        """Whether a comment or a grant hangs on one of the columns."""
        numbers = ", ".join(str(one.number) for one in columns)
        return bool(
            self._rows(
                f"SELECT 1 FROM pg_attribute WHERE attrelid = {_literal(self._table)}::regclass AND attnum IN ({numbers}) "
                "AND (attacl IS NOT NULL OR col_description(attrelid, attnum) IS NOT NULL)"
            )
        )

    def _dependents(self, columns: Iterable[_Column]) -> list[_Dependent]:
        named = {one.number: one.name for one in columns}
        if not named:
            return []
        rows = self._rows(
            "SELECT d.refobjsubid, d.classid::regclass::text, pg_describe_object(d.classid, d.objid, d.objsubid) "
            "FROM pg_depend d LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid "
            f"WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = {_literal(self._table)}::regclass "
            f"AND d.refobjsubid IN ({', '.join(map(str, named))}) AND c.relkind IS DISTINCT FROM 'S' "
            f"AND NOT (d.classid = 'pg_class'::regclass AND d.objid = d.refobjid) ORDER BY 3"
        )
        found = [_Dependent(named[number], catalog, words.removeprefix("rule _RETURN on ")) for number, catalog, words in rows]
        return [one for one in found if one.catalog not in _GOES_ALONG]

    def _refuse(self, gone: Sequence[_Column], changed: Sequence[_Column], *, drop: bool) -> None:
        if drop:
            return
        ways = [(one, "which the new table does not have") for one in self._dependents(gone)]
        types = {one.name: one.type for one in changed}
        ways += [
            (one, f"which is no longer {types[one.column]}") for one in self._dependents(changed) if one.catalog not in _REBUILT
        ]
        if ways:
            one, why = ways[0]
            more = f" (and {len(ways) - 1} more)" if len(ways) > 1 else ""
            raise SourceError(
                f"{self._name}: the {one.description} needs the column '{one.column}', {why}{more}; "
                "change it first, or add --drop-dependents to give it up"
            )

    def _empty(self, *, drop: bool) -> None:
        """Take all rows away; the files that held them are removed when the transaction ends."""
        here = f"{_literal(self._table)}::regclass"
        references = self._rows(
            f"SELECT conrelid::regclass::text, conname FROM pg_constraint WHERE confrelid = {here} AND conrelid <> {here} "
            "AND contype = 'f' ORDER BY 2"
        )
        if references and not drop:
            table, key = references[0]
            raise SourceError(
                f"{self._name}: the foreign key {key} of the table {table} refers to its rows; "
                "change it first, or add --drop-dependents to give it up"
            )
        for table, key in references:
            self._cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {_quoted(key)}")
        self._cursor.execute(f"TRUNCATE {self._table}")

    def _alter_type(self, column: _Column, kind: str) -> None:
        name = _quoted(column.name)
        self._alter(f"ALTER COLUMN {name} DROP DEFAULT")
        self._alter(f"ALTER COLUMN {name} TYPE {kind} USING NULL")

    def _drop_rules(self) -> None:
        here = f"{_literal(self._table)}::regclass"
        for (rule,) in self._rows(f"SELECT conname FROM pg_constraint WHERE conrelid = {here} AND contype <> 'n'"):
            self._alter(f"DROP CONSTRAINT {_quoted(rule)} CASCADE")
        for (name,) in self._rows(f"SELECT attname FROM pg_attribute WHERE attrelid = {here} AND attnum > 0 AND attnotnull"):
            self._alter(f"ALTER COLUMN {_quoted(name)} DROP NOT NULL")

    def _pause(self) -> tuple[list[tuple[str, str]], bool]:
        """Let the rows in as they are: no trigger changes them, and no policy is asked; both are resumed at the end."""
        here = f"{_literal(self._table)}::regclass"
        triggers = self._rows(
            f"SELECT tgname, tgenabled FROM pg_trigger WHERE tgrelid = {here} AND NOT tgisinternal AND tgenabled <> 'D'"
        )
        for name, _ in triggers:
            self._alter(f"DISABLE TRIGGER {_quoted(name)}")
        forced = bool(self._rows(f"SELECT 1 FROM pg_class WHERE oid = {here} AND relforcerowsecurity"))
        if forced:
            self._alter("NO FORCE ROW LEVEL SECURITY")
        return [(name, state) for name, state in triggers], forced

    def _resume(self, triggers: Iterable[tuple[str, str]], *, forced: bool) -> None:
        left = {
            name for (name,) in self._rows(f"SELECT tgname FROM pg_trigger WHERE tgrelid = {_literal(self._table)}::regclass")
        }
        for name, state in triggers:
            if name in left:
                how = {"R": "REPLICA ", "A": "ALWAYS "}.get(state, "")
                self._alter(f"ENABLE {how}TRIGGER {_quoted(name)}")
        if forced:
            self._alter("FORCE ROW LEVEL SECURITY")

    def _alter(self, change: str) -> None:
        self._cursor.execute(f"ALTER TABLE {self._table} {change}")

    def _rows(self, query: str) -> list[Any]:
        self._cursor.execute(query)
        return list(self._cursor.fetchall())


def _family(kind: str) -> str:
    """A type without its length: ``character varying(20)`` is text of some length."""
    return kind.partition("(")[0]


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
