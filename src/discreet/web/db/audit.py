"""The audit log, a hash chain: each entry holds the hash of the previous one, so that edited or missing entries are detected.

An entry is written in the same transaction as the action it records. It never contains secrets or data values.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from sqlalchemy import Connection, insert, select, update

from discreet.web.db.store import now
from discreet.web.db.tables import audit, chain

FIRST_HASH = "0" * 64


def record(connection: Connection, who: str, action: str, project: int | None = None, **detail: Any) -> None:
    """Append an entry to the log."""
    # on every database, this update locks the end of the chain until the transaction ends
    connection.execute(update(chain).where(chain.c.id == 1).values(number=chain.c.number + 1))
    number, previous = connection.execute(select(chain.c.number, chain.c.hash).where(chain.c.id == 1)).one()
    entry = {"id": number, "at": round(now(), 3), "who": who, "action": action, "project_id": project, "detail": detail}
    entry_hash = _hash_entry(entry, previous)
    connection.execute(insert(audit).values(**entry, previous=previous, hash=entry_hash))
    connection.execute(update(chain).where(chain.c.id == 1).values(hash=entry_hash))


def verify_chain(connection: Connection) -> str | None:
    """None if the chain is intact; otherwise a sentence about the first missing or modified entry."""
    previous, expected = FIRST_HASH, 1
    for row in connection.execute(select(audit).order_by(audit.c.id)).mappings():
        entry = {name: row[name] for name in ("id", "at", "who", "action", "project_id", "detail")}
        if row["id"] != expected:
            return f"entry {expected} of the audit log is missing"
        if row["previous"] != previous or row["hash"] != _hash_entry(entry, previous):
            return f"entry {expected} of the audit log was changed after it was written"
        previous, expected = row["hash"], expected + 1
    end = connection.execute(select(chain.c.number, chain.c.hash).where(chain.c.id == 1)).one()
    return None if (end.number, end.hash) == (expected - 1, previous) else f"the audit log ends before entry {end.number}"


def list_entries(
    connection: Connection, project: int | None = None, limit: int = 200, before: int | None = None
) -> list[dict[str, Any]]:
    """Entries of one project or of all, newest first."""
    query = select(audit).order_by(audit.c.id.desc()).limit(limit)
    if project is not None:
        query = query.where(audit.c.project_id == project)
    if before is not None:
        query = query.where(audit.c.id < before)
    return [dict(row) for row in connection.execute(query).mappings()]


def _hash_entry(entry: dict[str, Any], previous: str) -> str:
    text = json.dumps([previous, entry], sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
