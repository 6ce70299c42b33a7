"""Work tells how far it is, and can be stopped there."""

from __future__ import annotations

import time

import pytest

from discreet.engine.runtime.progress import OutOfTimeError, progress_listener, report_progress, stop_after


def test_progress_without_a_listener_does_nothing() -> None:
    report_progress("counting", 1, 2)


def test_work_is_stopped_after_its_deadline_and_not_before() -> None:
    told: list[tuple[str, int, int]] = []
    with progress_listener(lambda *what: told.append(what)):
        with stop_after(time.monotonic() + 60):
            report_progress("counting", 1, 2)
        with pytest.raises(OutOfTimeError, match="counting"), stop_after(time.monotonic() - 1):
            report_progress("counting", 2, 2)
        with stop_after(None):
            report_progress("masking", 0, 1)
    assert told == [("counting", 1, 2), ("counting", 2, 2), ("masking", 0, 1)]
