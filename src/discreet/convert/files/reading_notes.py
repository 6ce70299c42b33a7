"""Notes on how a file was read, where that was guessed: a sheet, a row of column names, the order of day and month."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_NOTES: ContextVar[list[str] | None] = ContextVar("notes", default=None)


@contextmanager
def collect_notes() -> Iterator[list[str]]:
    """Collect the notes of everything that is read inside; without it they are dropped."""
    notes: list[str] = []
    token = _NOTES.set(notes)
    try:
        yield notes
    finally:
        _NOTES.reset(token)


def add_note(text: str) -> None:
    """Add a sentence, once."""
    notes = _NOTES.get()
    if notes is not None and text not in notes:
        notes.append(text)
