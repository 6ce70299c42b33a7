"""The quick look over a file sees what a slow look sees, wherever its chunks end."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.convert.files import byte_scan as module
from discreet.convert.files.byte_scan import survey, without_blank_lines


@settings(deadline=None, max_examples=300)
@given(st.text(st.sampled_from('01+-,"\n\r \té€x'), max_size=30), st.integers(1, 9))
def test_the_quick_look_is_the_slow_look(text: str, size: int) -> None:
    content = text.encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CHUNK", size)
        seen = survey(content, ",")
    start = r'(?:^|[,\n" \t])'
    assert seen.padded == bool(re.search(rf"{start}(?:\+|-?0[0-9])".encode(), content))
    assert seen.blank_lines == bool(re.search(rb"(?:^|\n)\r?\n", content))
    assert seen.utf8
    assert not seen.nul


@pytest.mark.parametrize(
    ("content", "good"), [("é".encode(), True), ("é".encode()[:1], False), (b"\xff", False), (b"a\xc3", False)]
)
def test_utf8_is_judged_across_chunks(content: bytes, good: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CHUNK", 1)
        assert survey(b"abc" + content).utf8 == good


@settings(deadline=None, max_examples=200)
@given(st.lists(st.sampled_from(["a,b", "", "\r", '"x\n\ny",1', '"\r\n",2']), max_size=8))
def test_only_lines_that_hold_nothing_go(lines: list[str]) -> None:
    content = "".join(f"{line}\n" for line in lines).encode()
    kept = "".join(f"{line}\n" for line in lines if line.strip("\r")).encode()
    assert without_blank_lines(content) == kept
