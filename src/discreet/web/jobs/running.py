"""A running job: its process and the messages received so far."""

from __future__ import annotations

import math
import time
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
    user_id: int = 0
    created: float = 0.0
    max_seconds: float = math.inf
    """Seconds that it may run, without pauses."""
    timed_out: bool = False
    paused: bool = False
    ran_before: float = 0.0
    """Seconds that it ran before its last pause."""
    resumed_at: float = field(default_factory=time.monotonic)

    @property
    def stretch(self) -> float:
        """Seconds since it was started or resumed; 0 while it is paused."""
        return 0.0 if self.paused else time.monotonic() - self.resumed_at

    @property
    def seconds_run(self) -> float:
        """Seconds that it ran, without pauses."""
        return self.ran_before + self.stretch

    def pause(self) -> None:
        """Let others have its place for a while."""
        self.ran_before, self.paused = self.seconds_run, True
        self.process.pause()
        self.progress |= {"what": "paused while it is another user's turn"}

    def resume(self) -> None:
        """Go on after a pause."""
        if self.paused:
            self.paused, self.resumed_at = False, time.monotonic()
            self.progress |= {"what": "continued"}
            self.process.resume()

    def stop(self) -> None:
        """Ask it to stop, which a paused process could not notice."""
        self.resume()
        self.process.request_stop()

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
