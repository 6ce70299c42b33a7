"""The states of a release: draft, submitted, approved or returned, published, superseded or withdrawn."""

from __future__ import annotations

from typing import Literal

from discreet.web.errors import Conflict

State = Literal["draft", "submitted", "returned", "approved", "published", "superseded", "withdrawn", "purged"]

PUBLIC = ("approved", "published")
"""Releases that somebody answers for: their project cannot be deleted."""
OPEN_TO_READERS = (*PUBLIC, "superseded")
"""What a release reader sees."""
SUBMITTABLE = ("draft", "returned")
PURGEABLE = ("draft", "submitted", "returned", "withdrawn")
"""Releases that a purge deletes; of the others it deletes the link to the originals alone."""


def check_publishable(number: int, state: str) -> None:
    """Raise unless a release is approved and not published yet."""
    if state != "approved":
        what = "is published already" if state == "published" else f"is {state}; only an approved release can be published"
        raise Conflict(f"release {number} {what}", state=state)
