"""A quick look over every byte of a text file: what the fast reader cannot be trusted to notice by itself."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CHUNK = 1 << 20
_OVERLAP = 4
_TAB, _NEWLINE, _RETURN, _SPACE, _QUOTE, _PLUS, _MINUS, _ZERO, _NINE = b'\t\n\r "+-09'


@dataclass
class Survey:
    """What was seen."""

    utf8: bool = True
    nul: bool = False
    blank_lines: bool = False
    padded: bool = False
    """Some field may begin with 0 and a digit, or with a plus sign: a reader of numbers would lose it."""


def survey(source: Path | bytes, separator: str | None = None) -> Survey:
    """Look over a file; without a separator only the encoding is judged."""
    seen = Survey()
    decoder = codecs.getincrementaldecoder("utf-8")()
    tail = np.array([_NEWLINE], dtype=np.uint8)
    mark = ord(separator) if separator is not None and ord(separator) < 128 else _NEWLINE
    try:
        for chunk in chunks(source):
            content = np.frombuffer(chunk, dtype=np.uint8)
            if content.max(initial=0) >= 128 or decoder.getstate()[0]:
                decoder.decode(chunk)
            seen.nul = seen.nul or bool((content == 0).any())
            if separator is not None and not (seen.padded and seen.blank_lines):
                joined = np.concatenate([tail, content])
                seen.padded = seen.padded or _padded(joined, mark)
                seen.blank_lines = seen.blank_lines or _blank_lines(joined)
                tail = joined[-_OVERLAP:]
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        seen.utf8 = False
    return seen


def chunks(source: Path | bytes) -> Iterator[bytes]:
    """The bytes of a file, a mebibyte at a time."""
    if isinstance(source, bytes):
        yield from (source[start : start + _CHUNK] for start in range(0, len(source), _CHUNK))
        return
    with source.open("rb", buffering=0) as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def _padded(joined: NDArray[np.uint8], mark: int) -> bool:
    """Look only where a 0 stands before a digit, or a plus sign anywhere: both are rare, so the rest is cheap."""
    starts = np.zeros(256, dtype=np.bool_)
    starts[[mark, _NEWLINE, _QUOTE, _SPACE, _TAB]] = True
    digit = (joined - np.uint8(_ZERO)) <= _NINE - _ZERO  # wraps below '0', so one comparison is enough
    zeros = np.flatnonzero((joined[1:-1] == _ZERO) & digit[2:]) + 1
    before = joined[zeros - 1]
    if bool(starts[before].any()):
        return True
    negative = zeros[(before == _MINUS) & (zeros > 1)]
    pluses = np.flatnonzero(joined[1:] == _PLUS) + 1
    return bool(starts[joined[negative - 2]].any()) or bool(starts[joined[pluses - 1]].any())


def _blank_lines(joined: NDArray[np.uint8]) -> bool:
    newline = joined == _NEWLINE
    if bool((newline[:-1] & newline[1:]).any()):
        return True
    return bool((newline[:-2] & (joined[1:-1] == _RETURN) & newline[2:]).any())


def without_blank_lines(content: bytes) -> bytes:
    """The text without lines that hold nothing; a line break inside quotes is no line."""
    text = np.frombuffer(content, dtype=np.uint8)
    quoted = np.bitwise_xor.accumulate((text == _QUOTE).view(np.uint8)).astype(np.bool_)
    ends = np.flatnonzero((text == _NEWLINE) & ~quoted)
    starts = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
    lengths = ends - starts
    empty = (lengths == 0) | ((lengths == 1) & (text[starts] == _RETURN)) if len(ends) else np.zeros(0, np.bool_)
    keep = np.ones(len(text), dtype=np.bool_)
    keep[ends[empty]] = False
    keep[starts[empty]] = False
    return text[keep].tobytes()
