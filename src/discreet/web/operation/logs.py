"""The server's log: one line per event, as text for people or as JSON for programs.

A line holds ids, routes and durations. It never holds bodies, addresses with their queries, tokens, passwords or data values: the
fields below are all that is written beside the message, and messages are written with that in mind.
"""

from __future__ import annotations

import datetime
import json
import logging
import traceback
from contextvars import ContextVar
from typing import Literal

LogFormat = Literal["text", "json"]
FIELDS = (
    "request_id", "user_id", "method", "route", "status", "duration_ms", "job_id", "job_type", "job_state", "wait_seconds",
    "run_seconds",
)  # fmt: skip
"""Fields that a log line may have beside time, level, logger and message."""
current_request_id: ContextVar[str | None] = ContextVar("current_request_id", default=None)
"""The id of the request that is being worked on, also in the threads that work on it."""


class JsonFormatter(logging.Formatter):
    """One JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, object] = {
            "time": datetime.datetime.fromtimestamp(record.created, datetime.UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        entry |= {name: value for name in FIELDS if (value := getattr(record, name, None)) is not None}
        if "request_id" not in entry and (request_id := current_request_id.get()) is not None:
            entry["request_id"] = request_id
        if record.exc_info and record.exc_info[1] is not None:
            entry["exception"] = type(record.exc_info[1]).__name__
            # places without the exception's message, which can hold values of the data
            entry["trace"] = "".join(traceback.format_tb(record.exc_info[2]))
        return json.dumps(entry, ensure_ascii=True)


def configure_logs(log_format: LogFormat) -> None:
    """Write the log to standard error in a format, without what libraries say about their daily work."""
    handler = logging.StreamHandler()
    text = logging.Formatter("%(asctime)s %(name)s %(message)s")
    handler.setFormatter(JsonFormatter() if log_format == "json" else text)
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    for noisy in ("alembic", "uvicorn.access", "httpx2", "httpx", "httpcore", "authlib"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
