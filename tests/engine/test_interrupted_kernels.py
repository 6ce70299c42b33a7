"""Ctrl-C while a compiled kernel is called is Ctrl-C, and no fault of the interpreter."""

from __future__ import annotations

import pytest

from discreet.engine.runtime.compiled import _run


def test_an_interrupt_during_a_call_is_raised_as_one() -> None:
    """One of fourteen interrupted searches ended with a SystemError, and the plans that it had found were lost."""

    def interrupted(*_: object) -> None:
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    with pytest.raises(KeyboardInterrupt):
        _run(interrupted, ())


def test_other_faults_stay_what_they_are() -> None:
    def broken(*_: object) -> None:
        raise SystemError("unknown opcode")

    with pytest.raises(SystemError, match="unknown opcode"):
        _run(broken, ())
    assert _run(max, (1, 2)) == 2
