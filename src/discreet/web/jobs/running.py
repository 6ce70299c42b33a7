"""A job and its process, and what it has said so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from discreet.web.jobs.outcomes import line
from discreet.web.jobs.process import Process

POINTS = 5000
"""Results so far that one job may tell."""


@dataclass
class Running:
    """A job and its process."""

    job: str
    kind: str
    process: Process
    news: dict[str, Any] = field(default_factory=dict)
    points: list[Any] = field(default_factory=list)
    new_points: bool = False
    told_at: float = 0.0
    told_points_at: float = 0.0
    ending: dict[str, Any] | None = None
    """What it said last of all: result, failed, cancelled or error."""
    stopped: bool = False

    def hear(self, message: dict[str, Any]) -> None:
        """Take in a message."""
        word = message["say"]
        if word == "progress":
            numbers = [message.get(name) for name in ("done", "total")]
            if all(isinstance(number, int | float) for number in numbers):
                self.news |= {"what": line(str(message.get("what"))), "done": numbers[0], "total": numbers[1]}
        elif word == "point" and len(self.points) < POINTS:
            self.points.append(message.get("point"))
            self.new_points = True
        elif word in ("result", "failed", "cancelled", "error"):
            self.ending = message
