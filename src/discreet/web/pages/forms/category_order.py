"""The order of an attribute's categories as a form says it: a place each, and a button that moves one by one place."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.datastructures import FormData

VALUE, PLACE = "ordered.", "place."


def sent(form: FormData) -> list[str] | None:
    """The categories, lowest first, after what was typed and pressed; None where the form has no list of them."""
    numbers = [key.removeprefix(VALUE) for key in form if key.startswith(VALUE)]
    if not numbers:
        return None
    values = {number: str(form[VALUE + number]) for number in numbers}
    ranked = arranged([(values[number], str(form.get(PLACE + number, "")).strip()) for number in numbers])
    direction, _, number = str(form.get("action", "")).partition(".")
    if direction in ("up", "down") and values.get(number) in ranked:
        ranked = moved(ranked, values[number], -1 if direction == "up" else 1)
    also = str(form.get("also", "")).strip()
    return [*ranked, also] if also else ranked


def arranged(rows: Sequence[tuple[str, str]]) -> list[str]:
    """Values by the places typed beside them; one that was given another's place stands there, and the other makes room.

    A place left empty takes the value out of the order; what is no number leaves it where it was.

    >>> arranged([("low", "1"), ("high", "2"), ("middle", "2")])
    ['low', 'middle', 'high']
    >>> arranged([("high", "3"), ("low", "2"), ("middle", "3")])
    ['low', 'middle', 'high']
    >>> arranged([("low", "1"), ("none", "")])
    ['low']
    """
    placed = []
    for was, (value, typed) in enumerate(rows, 1):
        if not typed:
            continue
        place = int(typed) if typed.isdecimal() and len(typed) < 10 else was
        # one that came from below stands before whoever has the place, one from above behind
        placed.append((place, (place > was) - (place < was), was, value))
    return [value for *_, value in sorted(placed)]


def moved(values: Sequence[str], value: str, by: int) -> list[str]:
    """One value by one place up (-1) or down (1), where there is one.

    >>> moved(["low", "high", "middle"], "middle", -1)
    ['low', 'middle', 'high']
    >>> moved(["low", "high"], "low", -1)
    ['low', 'high']
    """
    made = list(values)
    at = made.index(value)
    to = min(max(at + by, 0), len(made) - 1)
    made[at], made[to] = made[to], made[at]
    return made
