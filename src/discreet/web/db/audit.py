"""The audit log, a chain of keyed hashes: each entry holds the hash of the previous one under the installation's secret key.

Without the key, which is not in the database (:mod:`discreet.web.db.audit_key`), an entry cannot be rewritten so that the chain
still holds. Entries cut off at the end are noticed because the last committed entry is stored outside the database too, and is
printed in reports. An entry is written in the same transaction as the action it records. It never contains secrets or data.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, insert, select, update

from discreet.web.db.audit_key import AuditKey, Head
from discreet.web.db.store import HEAD, Store, now
from discreet.web.db.tables import audit, chain

FIRST_HASH = "0" * 64


def record(connection: Connection, who: str, action: str, project: int | None = None, **detail: Any) -> None:
    """Append an entry to the log."""
    # on every database, this update locks the end of the chain until the transaction ends
    connection.execute(update(chain).where(chain.c.id == 1).values(number=chain.c.number + 1))
    number, previous = connection.execute(select(chain.c.number, chain.c.hash).where(chain.c.id == 1)).one()
    entry = {"id": number, "at": round(now(), 3), "who": who, "action": action, "project_id": project, "detail": detail}
    entry_hash = _hash_entry(entry, previous, _key_of(connection))
    connection.execute(insert(audit).values(**entry, previous=previous, hash=entry_hash))
    connection.execute(update(chain).where(chain.c.id == 1).values(hash=entry_hash))
    connection.info[HEAD] = Head(number, entry_hash)


def verify_chain(connection: Connection, known: Sequence[Head] = ()) -> str | None:
    """None if the chain is intact and contains the known heads; otherwise a sentence about the first fault.

    ``known`` are ends of the log as earlier reports or exports print them, in addition to the one stored outside the database.
    """
    key = _key_of(connection)
    stored = key.read_head()
    expected_hashes = {head.number: head.hash for head in (*known, *([stored] if stored else []))}
    previous, expected = FIRST_HASH, 1
    for row in connection.execute(select(audit).order_by(audit.c.id)).mappings():
        entry = {name: row[name] for name in ("id", "at", "who", "action", "project_id", "detail")}
        if row["id"] != expected:
            return f"entry {expected} of the audit log is missing"
        if row["previous"] != previous or row["hash"] != _hash_entry(entry, previous, key):
            return f"entry {expected} of the audit log was changed after it was written"
        if expected_hashes.get(expected, row["hash"]) != row["hash"]:
            return f"entry {expected} of the audit log is not the one that was recorded outside the database"
        previous, expected = row["hash"], expected + 1
    if (longest := max(expected_hashes, default=0)) >= expected:
        return f"the audit log ends at entry {expected - 1}, but entry {longest} was recorded outside the database"
    end = connection.execute(select(chain.c.number, chain.c.hash).where(chain.c.id == 1)).one()
    return None if (end.number, end.hash) == (expected - 1, previous) else f"the audit log ends before entry {end.number}"


def read_head(connection: Connection) -> Head:
    """The end of the log, as reports and exports print it."""
    end = connection.execute(select(chain.c.number, chain.c.hash).where(chain.c.id == 1)).one()
    return Head(end.number, end.hash)


def stream_export(store: Store) -> Iterator[str]:
    """The whole log as lines of JSON, oldest entry first."""
    last = 0
    while True:
        with store.read() as connection:
            query = select(audit).where(audit.c.id > last).order_by(audit.c.id).limit(1000)
            rows = [dict(row) for row in connection.execute(query).mappings()]
        if not rows:
            return
        yield "".join(json.dumps(row, ensure_ascii=True) + "\n" for row in rows)
        last = rows[-1]["id"]


def list_entries(
    connection: Connection, project: int | None = None, limit: int = 200, before: int | None = None, offset: int = 0
) -> list[dict[str, Any]]:
    """Entries of one project or of all, newest first."""
    query = select(audit).order_by(audit.c.id.desc()).limit(limit).offset(offset)
    if project is not None:
        query = query.where(audit.c.project_id == project)
    if before is not None:
        query = query.where(audit.c.id < before)
    return [dict(row) for row in connection.execute(query).mappings()]


def _hash_entry(entry: dict[str, Any], previous: str, key: AuditKey) -> str:
    text = json.dumps([previous, entry], sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode()
    return hashlib.sha256(text).hexdigest() if entry["id"] <= key.unkeyed else key.sign(text)


def _key_of(connection: Connection) -> AuditKey:
    key = connection.get_execution_options().get("audit_key")
    if not isinstance(key, AuditKey):
        raise RuntimeError("the store was opened without the key of the audit log; open it with Store.open(settings)")
    return key
