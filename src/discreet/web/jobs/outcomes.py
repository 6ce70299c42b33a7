"""How jobs end, in words: done, failed, cancelled or interrupted, or back in the queue."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Row, select, update

from discreet.errors import DiscreetError
from discreet.web.db.store import Store, now
from discreet.web.db.tables import jobs, users
from discreet.web.jobs.job_types import REPEATABLE
from discreet.web.jobs.results import settle

if TYPE_CHECKING:
    from discreet.web.jobs.running import Running

log = logging.getLogger("discreet.web.jobs")
ATTEMPTS = 2
"""How often a job is begun that the server's end cuts."""


def conclude(connection: Connection, one: Running, code: int) -> None:
    """Say how a job ended."""
    this = (jobs.c.id == one.job, jobs.c.state == "running")
    job = connection.execute(select(jobs).where(*this).with_for_update()).one_or_none()
    if job is None:
        return
    values: dict[str, Any] = {"partial": list(one.points)} if one.points else {}
    said = (one.ending or {}).get("say")
    if said == "result":
        assert one.ending is not None
        who = connection.execute(select(users.c.name).where(users.c.id == job.user_id)).scalar_one()
        try:
            with connection.begin_nested():
                result, sentence = settle(connection, job, one.ending, who)
        except DiscreetError as error:
            end(connection, one.job, "failed", str(error), **values)
            return
        total = max(job.total, 1.0)
        end(connection, one.job, "done", sentence, result=result, done=total, total=total, **values)
    elif said == "cancelled" or one.process.asked_at is not None:
        how = "" if said == "cancelled" else "; it did not stop by itself, so its process was ended"
        end(connection, one.job, "cancelled", f"cancelled{how}", **values)
    elif said == "failed":
        assert one.ending is not None
        end(connection, one.job, "failed", str(one.ending.get("sentence")), **values)
    elif said == "error":
        assert one.ending is not None
        log.error("job %s (%s): %s\n%s", one.job, one.kind, one.ending.get("type"), one.ending.get("trace"))
        why = one.ending.get("sentence") or program_error(str(one.ending.get("type")))
        end(connection, one.job, "failed", str(why), **values)
    else:
        log.error("job %s (%s) ended with code %s", one.job, one.kind, code)
        log.debug("job %s wrote: %s", one.job, bytes(one.process.complaints).decode(errors="replace"))
        end(connection, one.job, "failed", death(code), **values)


def end(connection: Connection, identity: str, state: str, what: str, **values: Any) -> None:
    """Write a job's last state."""
    text = line(what)
    final = {"state": state, "what": text, "finished": now(), "cancelling": False, "pid": None}
    connection.execute(update(jobs).where(jobs.c.id == identity).values(**final, **values))
    log.info("job %s is %s", identity, state)


def recover(store: Store) -> None:
    """Jobs that ran when an earlier server died: again where that gives the same, else marked."""
    with store.write() as connection:
        for job in connection.execute(select(jobs).where(jobs.c.state == "running")).all():
            if job.cancelling:
                end(connection, job.id, "cancelled", "cancelled; the server stopped before it had")
            elif job.kind in REPEATABLE and job.attempts < ATTEMPTS:
                requeue(connection, job, "the server stopped while this ran; it waits to run again", job.attempts)
            else:
                again = "the server stopped while this ran" + (" for the second time" if job.attempts > 1 else "")
                end(connection, job.id, "interrupted", f"{again}; start it anew where it is still wanted")


def requeue(connection: Connection, job: Row[Any], text: str, attempts: int) -> None:
    """Let a job wait again."""
    values = {"state": "queued", "what": text, "attempts": attempts, "pid": None, "done": 0, "total": 0, "partial": None}
    connection.execute(update(jobs).where(jobs.c.id == job.id).values(**values))


def line(text: str) -> str:
    """A sentence as the database keeps it: one line that can be printed."""
    shown = "".join(sign if sign.isprintable() else " " for sign in text).strip()
    return shown if len(shown) <= 400 else shown[:399] + "…"


def program_error(kind: str) -> str:
    return f"an error of the program ({kind}); the server's log says where, and the table was not harmed"


def death(code: int) -> str:
    if code == -9:
        return "the system ended the job's process (signal 9), most likely because memory ran out; everything else goes on"
    if code < 0:
        return f"the job's process was ended by signal {-code}; everything else goes on"
    return f"the job's process ended before it was done (exit code {code}); everything else goes on"
