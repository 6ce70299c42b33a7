"""The risk-utility map as a picture."""

from __future__ import annotations

import re
from typing import Any

from discreet.report import maps


def _texts(points: list[dict[str, Any]]) -> list[str]:
    drawn = maps.image(maps.map_of(points, "risk", "loss"), "a title", "what it shows")
    return re.findall(r"<text[^>]*>([^<]*release[^<]*)</text>", drawn)


def _point(number: int, risk: float, loss: float) -> dict[str, Any]:
    return {"label": f"release {number}", "risk": risk, "loss": loss, "dominated": False, "verdict": maps.KEPT}


def test_names_at_one_place_stand_side_by_side() -> None:
    points = [_point(1, 0.5, 0.1), _point(2, 0.1, 0.5), _point(3, 0.5, 0.1), _point(4, 0.101, 0.49)]
    assert sorted(_texts(points)) == ["release 1, release 3", "release 2, release 4"]


def test_names_apart_are_left_alone() -> None:
    assert sorted(_texts([_point(1, 0.5, 0.1), _point(2, 0.1, 0.5), _point(3, 0.5, 0.5)])) == [
        "release 1",
        "release 2",
        "release 3",
    ]


def test_many_at_one_place_are_counted() -> None:
    assert _texts([_point(number, 0.5, 0.1) for number in range(1, 7)]) == ["release 1, release 2, release 3 and 3 more"]


def test_what_has_no_name_has_no_label() -> None:
    assert _texts([_point(1, 0.5, 0.1) | {"label": ""}, _point(2, 0.5, 0.1)]) == ["release 2"]
