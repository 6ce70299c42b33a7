"""How a file was read where that was guessed: notes in sentences, and each choice with its value and its reason."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

_NOTES: ContextVar[list[str] | None] = ContextVar("notes", default=None)
_CHOICES: ContextVar[dict[str, Choice] | None] = ContextVar("choices", default=None)


@dataclass(frozen=True)
class Choice:
    """The value of one reading option, as the policy gives it or as the reader decided, and why."""

    option: str
    """The field of the policy's section ``read``; ``dates.NAME`` for one column."""
    value: str
    reason: str
    given: bool = False
    """Whether the policy gives it."""
    alternatives: tuple[str, ...] = ()
    """Other values that fit as well, where the reader could not decide."""


@contextmanager
def collect_notes() -> Iterator[list[str]]:
    """Collect the notes of everything that is read inside; without it they are dropped."""
    notes: list[str] = []
    token = _NOTES.set(notes)
    try:
        yield notes
    finally:
        _NOTES.reset(token)


@contextmanager
def collect_choices() -> Iterator[dict[str, Choice]]:
    """Collect the choices of everything that is read inside, by option; without it they are dropped."""
    choices: dict[str, Choice] = {}
    token = _CHOICES.set(choices)
    try:
        yield choices
    finally:
        _CHOICES.reset(token)


def add_note(text: str) -> None:
    """Add a sentence, once."""
    notes = _NOTES.get()
    if notes is not None and text not in notes:
        notes.append(text)


def record_choice(choice: Choice) -> None:
    """Record a choice; a later one for the same option replaces it."""
    choices = _CHOICES.get()
    if choices is not None:
        choices[choice.option] = choice
