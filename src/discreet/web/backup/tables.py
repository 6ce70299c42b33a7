"""The rows of the server's database as lines of JSON, the same for every database, so that a backup can move to another one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sqlalchemy import JSON, Connection, MetaData, Table, inspect, select, text
from sqlalchemy.sql.sqltypes import Integer

from discreet.web.db import tables as schema

LEFT_OUT = ("discreet_sessions", "discreet_links", "discreet_throttles", "discreet_pending_logins")
"""Tables that a backup does not hold: everybody logs in again, and asks for a new link."""
MEMBER_BYTES = 4 << 20
"""Rows are collected up to this size before they are written."""


def dump_tables(connection: Connection) -> Iterator[tuple[str, bytes]]:
    """Names of tables with some of their rows as lines of JSON, in an order in which they can be inserted."""
    for table in schema.metadata.sorted_tables:
        if table.name in LEFT_OUT:
            continue
        query = select(table).order_by(*table.primary_key.columns)
        lines, size, count = [], 0, 0
        result = connection.execution_options(stream_results=True, yield_per=200).execute(query)
        for row in result.mappings():
            line = json.dumps(dict(row), ensure_ascii=True).encode()
            lines.append(line)
            size, count = size + len(line), count + 1
            if size >= MEMBER_BYTES:
                yield table.name, b"\n".join(lines)
                lines, size = [], 0
        if lines or not count:
            yield table.name, b"\n".join(lines)


def insert_rows(connection: Connection, name: str, content: bytes) -> int:
    """Insert rows that :func:`dump_tables` wrote; returns how many."""
    rows = [json.loads(line) for line in content.splitlines()]
    if not rows:
        return 0
    known = schema.metadata.tables.get(name)
    # a table of an earlier version has no type of its own any more; its migration will read it
    table = (
        known if known is not None and set(rows[0]) <= set(known.c.keys()) else Table(name, MetaData(), autoload_with=connection)
    )
    connection.execute(table.insert(), [_bind(table, row) for row in rows])
    return len(rows)


def _bind(table: Table, row: dict[str, Any]) -> dict[str, Any]:
    """Values as the table's columns take them: a document in a column that is read back as text has to be one."""
    return {
        column: json.dumps(value) if isinstance(value, dict | list) and not isinstance(table.c[column].type, JSON) else value
        for column, value in row.items()
    }


def advance_sequences(connection: Connection) -> None:
    """On PostgreSQL, let numbers continue after the restored ones; other databases do so by themselves."""
    if connection.dialect.name != "postgresql":
        return
    for name in list_tables(connection):
        table = schema.metadata.tables.get(name)
        column = None if table is None else table.autoincrement_column
        if column is not None and isinstance(column.type, Integer):
            sequence = connection.execute(
                text("SELECT pg_get_serial_sequence(:name, :column)"), {"name": name, "column": column.name}
            )
            if (sequence_name := sequence.scalar()) is not None:
                highest = f"SELECT setval('{sequence_name}', GREATEST((SELECT COALESCE(MAX({column.name}), 0) FROM {name}), 1))"
                connection.execute(text(highest))


def list_tables(connection: Connection) -> list[str]:
    """The server's tables that a database has."""
    return sorted(name for name in inspect(connection).get_table_names() if name.startswith("discreet_"))


def drop_tables(connection: Connection) -> None:
    """Drop the server's tables, after a restore that did not succeed."""
    metadata = MetaData()
    metadata.reflect(connection, only=list_tables(connection))
    metadata.drop_all(connection)
