"""Who did what, in a chain: every entry holds the hash of the one before, so an edit or a gap shows.

An entry is written in the same transaction as what it tells of. Secrets and data values are never in it.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from sqlalchemy import Connection, insert, select, update

from discreet.web.db.store import now
from discreet.web.db.tables import audit, chain

FIRST = "0" * 64


def note(connection: Connection, who: str, action: str, project: int | None = None, **detail: Any) -> None:
    """Add an entry to the chain."""
    # the update locks the chain's end until this transaction is over, on every database
    connection.execute(update(chain).where(chain.c.id == 1).values(number=chain.c.number + 1))
    number, previous = connection.execute(select(chain.c.number, chain.c.hash).where(chain.c.id == 1)).one()
    entry = {"id": number, "at": round(now(), 3), "who": who, "action": action, "project_id": project, "detail": detail}
    made = _hash(entry, previous)
    connection.execute(insert(audit).values(**entry, previous=previous, hash=made))
    connection.execute(update(chain).where(chain.c.id == 1).values(hash=made))


def check(connection: Connection) -> str | None:
    """None where the chain is whole; else a sentence on the first entry that is not as it was written."""
    previous, expected = FIRST, 1
    for row in connection.execute(select(audit).order_by(audit.c.id)).mappings():
        entry = {name: row[name] for name in ("id", "at", "who", "action", "project_id", "detail")}
        if row["id"] != expected:
            return f"entry {expected} of the audit log is missing"
        if row["previous"] != previous or row["hash"] != _hash(entry, previous):
            return f"entry {expected} of the audit log was changed after it was written"
        previous, expected = row["hash"], expected + 1
    end = connection.execute(select(chain.c.number, chain.c.hash).where(chain.c.id == 1)).one()
    return None if (end.number, end.hash) == (expected - 1, previous) else f"the audit log ends before entry {end.number}"


def entries(
    connection: Connection, project: int | None = None, limit: int = 200, before: int | None = None
) -> list[dict[str, Any]]:
    """The newest entries first, of one project or of all."""
    query = select(audit).order_by(audit.c.id.desc()).limit(limit)
    if project is not None:
        query = query.where(audit.c.project_id == project)
    if before is not None:
        query = query.where(audit.c.id < before)
    return [dict(row) for row in connection.execute(query).mappings()]


def _hash(entry: dict[str, Any], previous: str) -> str:
    text = json.dumps([previous, entry], sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
