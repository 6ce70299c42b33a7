"""What pages say in words instead of raw names and numbers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.web.pages.rendering import environment
from discreet.web.workspace.drafts_map import lay_out

names = st.text(st.characters(categories=["L"]), min_size=1, max_size=5)


def format_detail(detail: dict[str, Any]) -> str:
    template = environment().from_string('{% from "parts.html" import format_detail %}{{ format_detail(detail) }}')
    return template.render(detail=detail)


@pytest.mark.parametrize(
    ("detail", "words"),
    [
        ({"name": "pages", "expires": 1802742326}, "name: pages; expires: 2027-02-16 01:45 UTC"),
        ({"user": "anna", "admin": True}, "user: anna; admin: yes"),
        ({"sections": ["attributes.Age", "attributes.Sex", "plan"]}, "sections: attributes Age, Sex; plan"),
    ],
)
def test_the_audit_log_shows_dates_and_names_and_no_raw_values(detail: dict[str, Any], words: str) -> None:
    assert format_detail(detail) == words


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("the two passwords are not the same", "The two passwords are not the same"),
        ("step 2 (sampling): removes records", "Step 2 (sampling): removes records"),
        ("anna changed the draft", "anna changed the draft"),
        ("age, name identify people", "age, name identify people"),
        ("'the' is not a number", "'the' is not a number"),
        ("thesis, title identify people", "thesis, title identify people"),
    ],
)
def test_messages_begin_with_a_capital_letter_and_names_stay_as_they_are(message: str, shown: str) -> None:
    assert environment().filters["sentence"](message) == shown


@given(st.lists(names, unique=True, min_size=1, max_size=4), st.lists(st.sampled_from(["plan", "limits", "risk"]), unique=True))
def test_every_section_is_named_once_in_the_history(attributes: list[str], others: list[str]) -> None:
    text = ", ".join([f"attributes.{name}" for name in attributes] + others)
    words = environment().filters["sections_in_words"](text)
    assert "attributes." not in words
    assert words == f"attribute{'s' if len(attributes) > 1 else ''} {', '.join(attributes)}" + (
        f"; {', '.join(others)}" if others else ""
    )


@given(st.lists(st.tuples(st.floats(0, 9), st.floats(0, 9)), min_size=1, max_size=5))
def test_the_axes_of_the_map_are_marked_where_their_numbers_stand(pairs: list[tuple[float, float]]) -> None:
    placed = lay_out([{"risk": risk, "loss": loss} for risk, loss in pairs], "k_anonymity.k", "ncp.loss")
    for axis, place in (("loss", "x"), ("risk", "y")):
        ticks = placed[f"{axis}_ticks"]
        for point in placed["points"]:
            position = point[place] if place == "x" else 100 - point[place]
            assert min(at for _, at in ticks) - 1e-9 <= position <= max(at for _, at in ticks) + 1e-9
            assert all(position == pytest.approx(at) for number, at in ticks if number == point[axis])
