"""Idempotency keys: a request that is sent again with its key gets the first answer again, and nothing is done twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Header
from pydantic import BaseModel
from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from discreet.web.auth.security import Access
from discreet.web.core import Core
from discreet.web.db.store import now
from discreet.web.db.tables import answers
from discreet.web.errors import Conflict

KEPT = 24 * 3600.0
"""Seconds for which an answer is remembered."""

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=120,
        pattern=r"^[!-~]+$",
        description="The same key sends the same request at most once.",
    ),
]


def once(core: Core, access: Access, key: str | None, asked: Any, act: Callable[[Connection], BaseModel]) -> dict[str, Any]:
    """Do something in one transaction, once a key; what it gives as plain values."""
    if key is None:
        with core.store.write() as connection:
            return act(connection).model_dump(mode="json")
    text = json.dumps(asked.model_dump(mode="json") if isinstance(asked, BaseModel) else asked, sort_keys=True)
    request = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    try:
        with core.store.write() as connection:
            if (found := _found(connection, access, key, request)) is not None:
                return found
            connection.execute(delete(answers).where(answers.c.at < now() - KEPT))
            # the key is taken first: the same request at the same time waits here until this one is over
            row = {"user_id": access.user.id, "key": key, "request": request, "status": 200, "body": "", "at": now()}
            connection.execute(insert(answers).values(**row))
            made = act(connection).model_dump(mode="json")
            mine = (answers.c.user_id == access.user.id, answers.c.key == key)
            connection.execute(update(answers).where(*mine).values(body=json.dumps(made)))
            return made
    except IntegrityError:  # the same key came twice at once, and the other was first
        with core.store.read() as connection:
            if (found := _found(connection, access, key, request)) is not None:
                return found
        raise


def _found(connection: Connection, access: Access, key: str, request: str) -> dict[str, Any] | None:
    row = connection.execute(select(answers).where(answers.c.user_id == access.user.id, answers.c.key == key)).one_or_none()
    if row is None or row.at < now() - KEPT:
        return None
    if row.request != request:
        raise Conflict(f"the idempotency key '{key}' was used for another request; use a new one")
    body: dict[str, Any] = json.loads(row.body)
    return body
