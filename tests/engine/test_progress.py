"""Work tells how far it is, and can be stopped there."""

from __future__ import annotations

import time

import pytest

from discreet.engine.runtime.progress import OutOfTimeError, listening, tell, until


def test_nothing_happens_where_nobody_listens() -> None:
    tell("counting", 1, 2)


def test_work_is_stopped_after_its_moment_and_not_before() -> None:
    told: list[tuple[str, int, int]] = []
    with listening(lambda *what: told.append(what)):
        with until(time.monotonic() + 60):
            tell("counting", 1, 2)
        with pytest.raises(OutOfTimeError, match="counting"), until(time.monotonic() - 1):
            tell("counting", 2, 2)
        with until(None):
            tell("masking", 0, 1)
    assert told == [("counting", 1, 2), ("counting", 2, 2), ("masking", 0, 1)]
