"""Read the order of categories from a form: a position per category, and buttons that move one up or down."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.datastructures import FormData

VALUE_PREFIX, POSITION_PREFIX = "ordered.", "place."


def read_order(form: FormData) -> list[str] | None:
    """The categories, lowest first, after typed positions and a pressed button; None if the form has no list of them."""
    numbers = [key.removeprefix(VALUE_PREFIX) for key in form if key.startswith(VALUE_PREFIX)]
    if not numbers:
        return None
    values = {number: str(form[VALUE_PREFIX + number]) for number in numbers}
    ranked = arrange([(values[number], str(form.get(POSITION_PREFIX + number, "")).strip()) for number in numbers])
    direction, _, number = str(form.get("action", "")).partition(".")
    if direction in ("up", "down") and values.get(number) in ranked:
        ranked = move(ranked, values[number], -1 if direction == "up" else 1)
    added = str(form.get("also", "")).strip()
    return [*ranked, added] if added else ranked


def arrange(rows: Sequence[tuple[str, str]]) -> list[str]:
    """Sort values by the positions typed next to them; a value moved to an occupied position displaces the other one.

    An empty position removes the value from the order; a position that is not a number leaves the value where it was.

    >>> arrange([("low", "1"), ("high", "2"), ("middle", "2")])
    ['low', 'middle', 'high']
    >>> arrange([("high", "3"), ("low", "2"), ("middle", "3")])
    ['low', 'middle', 'high']
    >>> arrange([("low", "1"), ("none", "")])
    ['low']
    """
    ranked = []
    for current, (value, typed) in enumerate(rows, 1):
        if not typed:
            continue
        position = int(typed) if typed.isdecimal() and len(typed) < 10 else current
        # on a tie, a value that moved up comes before the occupant of the position, one that moved down after it
        ranked.append((position, (position > current) - (position < current), current, value))
    return [value for *_, value in sorted(ranked)]


def move(values: Sequence[str], value: str, by: int) -> list[str]:
    """Move one value up (-1) or down (1) by one position, if there is one.

    >>> move(["low", "high", "middle"], "middle", -1)
    ['low', 'middle', 'high']
    >>> move(["low", "high"], "low", -1)
    ['low', 'high']
    """
    order = list(values)
    source = order.index(value)
    target = min(max(source + by, 0), len(order) - 1)
    order[source], order[target] = order[target], order[source]
    return order
