"""Idempotency keys: a repeated request with the same key gets the stored response and is not executed again."""

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

ANSWER_LIFETIME = 24 * 3600.0
"""Seconds for which a response is stored."""

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=120,
        pattern=r"^[!-~]+$",
        description="Requests with the same key are executed at most once.",
    ),
]


def run_once(core: Core, access: Access, key: str | None, body: Any, act: Callable[[Connection], BaseModel]) -> dict[str, Any]:
    """Run an action in one transaction, at most once per key; returns its result as JSON values."""
    if key is None:
        with core.store.write() as connection:
            return act(connection).model_dump(mode="json")
    text = json.dumps(body.model_dump(mode="json") if isinstance(body, BaseModel) else body, sort_keys=True)
    request_hash = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    try:
        with core.store.write() as connection:
            if (stored := _stored_answer(connection, access, key, request_hash)) is not None:
                return stored
            connection.execute(delete(answers).where(answers.c.at < now() - ANSWER_LIFETIME))
            # insert the key before acting: a simultaneous request with the same key blocks here until this one has finished
            row = {"user_id": access.user.id, "key": key, "request": request_hash, "status": 200, "body": "", "at": now()}
            connection.execute(insert(answers).values(**row))
            answer = act(connection).model_dump(mode="json")
            this_key = (answers.c.user_id == access.user.id, answers.c.key == key)
            connection.execute(update(answers).where(*this_key).values(body=json.dumps(answer)))
            return answer
    except IntegrityError:  # a simultaneous request with the same key was first
        with core.store.read() as connection:
            if (stored := _stored_answer(connection, access, key, request_hash)) is not None:
                return stored
        raise


def _stored_answer(connection: Connection, access: Access, key: str, request_hash: str) -> dict[str, Any] | None:
    row = connection.execute(select(answers).where(answers.c.user_id == access.user.id, answers.c.key == key)).one_or_none()
    if row is None or row.at < now() - ANSWER_LIFETIME:
        return None
    if row.request != request_hash:
        raise Conflict(f"the idempotency key '{key}' was used for another request; use a new one")
    body: dict[str, Any] = json.loads(row.body)
    return body
