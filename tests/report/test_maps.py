"""The labels of the risk-utility map."""

from __future__ import annotations

import re
from typing import Any

from discreet.report import maps


def _texts(points: list[dict[str, Any]]) -> list[str]:
    svg = maps.standalone_svg(maps.risk_utility_map(points, "risk", "loss"), "a title", "a description")
    return re.findall(r"<text[^>]*>([^<]*release[^<]*)</text>", svg)


def _point(number: int, risk: float, loss: float) -> dict[str, Any]:
    return {"label": f"release {number}", "risk": risk, "loss": loss, "dominated": False, "verdict": maps.MET}


def test_labels_that_would_overlap_are_merged() -> None:
    points = [_point(1, 0.5, 0.1), _point(2, 0.1, 0.5), _point(3, 0.5, 0.1), _point(4, 0.101, 0.49)]
    assert sorted(_texts(points)) == ["release 1, release 3", "release 2, release 4"]


def test_labels_that_do_not_overlap_stay_separate() -> None:
    assert sorted(_texts([_point(1, 0.5, 0.1), _point(2, 0.1, 0.5), _point(3, 0.5, 0.5)])) == [
        "release 1",
        "release 2",
        "release 3",
    ]


def test_more_than_three_merged_labels_are_counted() -> None:
    assert _texts([_point(number, 0.5, 0.1) for number in range(1, 7)]) == ["release 1, release 2, release 3 and 3 more"]


def test_a_point_without_a_name_has_no_label() -> None:
    assert _texts([_point(1, 0.5, 0.1) | {"label": ""}, _point(2, 0.5, 0.1)]) == ["release 2"]
