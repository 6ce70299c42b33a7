"""How far a verdict holds along one line: a guess, or all probabilities at once, moves from where it is given to either end.

A search asks for the state over an interval [a, b] of the line, which is certain for every value in it. Where risks rise along
the line, an interval is decided by its ends and bisection finds the place to any precision. Effective class sizes are not
monotone, so the certified interval grows step by step, and what lies beyond is left open.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from discreet.engine.runtime.progress import report_progress
from discreet.model.results import Status

Between = Callable[[float, float], Status]
"""The state that holds for every value from the first to the second (lower to upper), or ``incomplete``."""

PRECISION = 1e-3
"""The width of a bracket, as a share of the value, to which it is narrowed."""
_SMALLEST = 1e-4
_MOST_STEPS = 60


@dataclass(frozen=True)
class Side:
    """One direction of a search: the last value up to which the verdict holds for certain, and one where it is another."""

    holds: float
    flipped: float | None


def search_line(between: Between, status: Status, given: float, end: float, *, monotone: bool) -> Side:
    """Search from where a verdict with this status is given towards one end of the line."""

    def over(here: float, there: float) -> Status:
        return between(min(here, there), max(here, there))

    def is_flipped(place: float) -> bool:
        return over(place, place) not in (status, "incomplete")

    if given == end:
        return Side(end, None)
    if over(given, end) == status:
        return Side(end, None)
    flipped = end if is_flipped(end) else None
    if not monotone:
        return _march(over, is_flipped, status, given, end, flipped)
    # the verdict holds up to ``holds_to`` and not for certain up to ``open_from``; it is flipped at ``flipped``
    holds_to, open_from = given, end
    for step in range(_MOST_STEPS):
        if _is_narrow(holds_to, open_from):
            break
        report_progress("searching where a verdict changes", step, _MOST_STEPS)
        middle = _middle(holds_to, open_from)
        if over(given, middle) == status:
            holds_to = middle
        else:
            open_from = middle
            flipped = middle if is_flipped(middle) else flipped
    if flipped is None or flipped == open_from:
        return Side(holds_to, flipped)
    undecided = open_from  # epsilon leaves a zone open: narrow its far end too
    for step in range(_MOST_STEPS):
        if _is_narrow(undecided, flipped):
            break
        report_progress("searching where a verdict changes", step, _MOST_STEPS)
        middle = _middle(undecided, flipped)
        if is_flipped(middle):
            flipped = middle
        else:
            undecided = middle
    return Side(holds_to, flipped)


def search_grid(status_at: Callable[[float], Status], status: Status, given: float, end: float, places: int = 16) -> Side:
    """The same where nothing is known about the line but single values: tried at places that lie close together.

    A change between two places at which the state is the same is not found; of a change that is found, the place is.
    """
    holds_to, flipped = given, None
    for step in range(1, places + 1):
        report_progress("searching where a verdict changes", step, places)
        place = end if step == places else given + (end - given) * step / places
        if status_at(place) not in (status, "incomplete"):
            flipped = place
            break
        holds_to = place
    while flipped is not None and not _is_narrow(holds_to, flipped):
        middle = (holds_to + flipped) / 2
        if status_at(middle) not in (status, "incomplete"):
            flipped = middle
        else:
            holds_to = middle
    return Side(holds_to, flipped)


def _march(
    over: Between, is_flipped: Callable[[float], bool], status: Status, given: float, end: float, flipped: float | None
) -> Side:
    """Extend the certified interval by steps that double where they succeed and halve where they do not."""
    holds_to, step = given, (end - given) / 4
    for number in range(_MOST_STEPS):
        goal = end if flipped is None else flipped
        report_progress("searching where a verdict changes", number, _MOST_STEPS)
        place = goal if abs(goal - holds_to) <= abs(step) else holds_to + step
        if over(holds_to, place) == status:
            holds_to, step = place, step * 2
            if place == end:
                return Side(end, None)
            continue
        if place != flipped and is_flipped(place):
            flipped = place
        step /= 2
        if abs(step) <= PRECISION * max(abs(holds_to), _SMALLEST) / 2:
            break
    return Side(holds_to, flipped)


def _is_narrow(here: float, there: float) -> bool:
    return abs(here - there) <= max(PRECISION * max(abs(here), abs(there)), _SMALLEST * PRECISION)


def _middle(here: float, there: float) -> float:
    """The middle of an interval; by factors where its ends are far apart."""
    low, high = sorted((here, there))
    return math.sqrt(low * high) if low > 0 and high / low > 4 else (low + high) / 2
