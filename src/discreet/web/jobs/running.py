"""A running job: its process and the messages received so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from discreet.web.jobs.outcomes import to_one_line
from discreet.web.jobs.process import WorkerProcess

MAX_POINTS = 5000
"""Maximum number of intermediate results per job."""


@dataclass
class RunningJob:
    """A running job and its process."""

    job: str
    kind: str
    process: WorkerProcess
    progress: dict[str, Any] = field(default_factory=dict)
    points: list[Any] = field(default_factory=list)
    has_new_points: bool = False
    progress_saved_at: float = 0.0
    points_saved_at: float = 0.0
    final_message: dict[str, Any] | None = None
    """The last message: result, failed, cancelled or error."""
    killed: bool = False

    def handle_message(self, message: dict[str, Any]) -> None:
        """Process a message from the worker."""
        event = message["event"]
        if event == "progress":
            numbers = [message.get(name) for name in ("done", "total")]
            if all(isinstance(number, int | float) for number in numbers):
                self.progress |= {"what": to_one_line(str(message.get("what"))), "done": numbers[0], "total": numbers[1]}
        elif event == "point" and len(self.points) < MAX_POINTS:
            self.points.append(message.get("point"))
            self.has_new_points = True
        elif event in ("result", "failed", "cancelled", "error"):
            self.final_message = message
