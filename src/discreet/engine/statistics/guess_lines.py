"""How far verdicts hold along the parameters of a measure: each is a line of values at which its fields are computed.

Where a field is known to rise or to fall along the line, its states at two values decide all values between them, and bisection
finds the flip: certified. For any other field the line is tried on a grid, and the answer says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from discreet.engine.runtime.progress import OutOfTimeError, stop_after
from discreet.engine.statistics.verdict_search import Side, search_grid, search_line
from discreet.model.contracts import Direction
from discreet.model.results import Status
from discreet.model.sensitivity import Box, LimitStatus, Reach, Sensitivity

Numbers = Sequence[Mapping[str, float | None]]
"""The summary fields for each intruder; the worst counts."""


@dataclass(frozen=True)
class GuessLine:
    """One parameter: what it is, where it is given, from where to where it is searched, and the fields at any value of it.

    ``monotone`` are the fields that never turn along the line.
    """

    kind: str
    given: float
    span: tuple[float, float]
    numbers_at: Callable[[float], Numbers]
    monotone: Collection[str]
    attribute: str | None = None


@dataclass(frozen=True)
class Judge:
    """The limits (field: number) of one measure, and which direction of each field is safer."""

    measure: str
    limits: Mapping[str, float]
    better: Mapping[str, Direction]

    def worst(self, field: str, numbers: Numbers) -> float | None:
        """The field of the worse intruder; None where one of them has none."""
        values = [fields.get(field) for fields in numbers]
        known = [value for value in values if value is not None]
        if len(known) < len(values) or not known:
            return None
        return max(known) if self.better[field] == "low" else min(known)

    def status(self, field: str, numbers: Numbers) -> Status:
        number = self.worst(field, numbers)
        if number is None:
            return "incomplete"
        required = self.limits[field]
        return "met" if (number <= required if self.better[field] == "low" else number >= required) else "not met"


def examine_lines(
    judge: Judge, records: int, given: Numbers, lines: Sequence[GuessLine], seconds: float, basis: str, *,
    corners: Callable[[float], tuple[Numbers, Numbers]] | None = None, notes: Sequence[str] = (),
) -> Sensitivity:  # fmt: skip
    """Search every line for every limit; ``given`` are the fields at the guesses as given.

    ``corners`` gives the fields where every guess is a share less, and where every guess is a share more. It is only for
    measures whose fields all rise, or all fall, with every guess: then both corners decide the whole box.
    """
    deadline = time.monotonic() + seconds
    status = {field: judge.status(field, given) for field in judge.limits}
    verdicts = []
    for field, required in judge.limits.items():
        number = judge.worst(field, given)
        verdicts.append(LimitStatus(f"{judge.measure}.{field}", required, status[field], number, number, judge.better[field]))
    reaches: list[Reach] = []
    all_notes = list(notes)
    box = None
    try:
        with stop_after(deadline):
            decided = [field for field in judge.limits if status[field] != "incomplete"]
            for line in lines:
                reaches.extend(_reach(judge, field, status[field], line) for field in decided)
            if corners is not None and decided:
                box = _box(judge, decided, status, corners)
    except OutOfTimeError:
        all_notes.append("the time was up before every guess was searched; give more seconds")
    return Sensitivity(
        judge.measure, records, tuple(verdicts), tuple(reaches), box, basis=basis, notes=tuple(dict.fromkeys(all_notes))
    )


def _reach(judge: Judge, field: str, status: Status, line: GuessLine) -> Reach:
    known: dict[float, Status] = {}

    def status_at(value: float) -> Status:
        if value not in known:
            known[value] = judge.status(field, line.numbers_at(value))
        return known[value]

    def between(low: float, high: float) -> Status:
        return status_at(low) if status_at(low) == status_at(high) else "incomplete"

    known[line.given] = status
    is_monotone = field in line.monotone
    sides: list[Side] = []
    for end in line.span:
        if is_monotone:
            sides.append(search_line(between, status, line.given, end, monotone=True))
        else:
            sides.append(search_grid(status_at, status, line.given, end))
    return Reach(
        f"{judge.measure}.{field}", line.kind, line.attribute, line.given, status, sides[0].holds, sides[1].holds,
        sides[0].flipped, sides[1].flipped, line.span, "certified" if is_monotone else "grid",
    )  # fmt: skip


def _box(
    judge: Judge, fields: Sequence[str], status: Mapping[str, Status], corners: Callable[[float], tuple[Numbers, Numbers]]
) -> Box:
    """The largest share by which every guess may be off at once."""

    def between(_: float, share: float) -> Status:
        low, high = corners(share)
        same = all(judge.status(field, low) == judge.status(field, high) == status[field] for field in fields)
        return "met" if same else "incomplete"

    reach = search_line(between, "met", 0.0, 1.0, monotone=True)
    return Box(reach.holds, False, tuple(f"{judge.measure}.{field}" for field in fields))
