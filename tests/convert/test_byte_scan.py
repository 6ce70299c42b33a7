"""The pass over the bytes of a file agrees with regular expressions, wherever its chunks end."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.convert.files import byte_scan as module
from discreet.convert.files.byte_scan import remove_blank_lines, scan_bytes


@settings(deadline=None, max_examples=300)
@given(st.text(st.sampled_from('01+-,"\n\r \té€x'), max_size=30), st.integers(1, 9))
def test_byte_scan_agrees_with_regular_expressions(text: str, size: int) -> None:
    content = text.encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CHUNK", size)
        scan = scan_bytes(content, ",")
    start = r'(?:^|[,\n" \t])'
    assert scan.padded_numbers == bool(re.search(rf"{start}(?:\+|-?0[0-9])".encode(), content))
    assert scan.blank_lines == bool(re.search(rb"(?:^|\n)\r?\n", content))
    assert scan.utf8
    assert not scan.nul


@pytest.mark.parametrize(
    ("content", "valid"), [("é".encode(), True), ("é".encode()[:1], False), (b"\xff", False), (b"a\xc3", False)]
)
def test_utf8_is_detected_across_chunk_boundaries(content: bytes, valid: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CHUNK", 1)
        assert scan_bytes(b"abc" + content).utf8 == valid


@settings(deadline=None, max_examples=200)
@given(st.lists(st.sampled_from(["a,b", "", "\r", '"x\n\ny",1', '"\r\n",2']), max_size=8))
def test_only_empty_lines_are_removed(lines: list[str]) -> None:
    content = "".join(f"{line}\n" for line in lines).encode()
    expected = "".join(f"{line}\n" for line in lines if line.strip("\r")).encode()
    assert remove_blank_lines(content) == expected
