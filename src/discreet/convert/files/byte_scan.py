"""One fast pass over the bytes of a text file for what the CSV reader does not report: encoding, blank lines, padded numbers."""

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
class ByteScan:
    """The properties of a text file that one pass over its bytes determines."""

    utf8: bool = True
    nul: bool = False
    blank_lines: bool = False
    padded_numbers: bool = False
    """Some field may begin with a leading zero or a plus sign, which parsing it as a number would lose."""


def scan_bytes(source: Path | bytes, separator: str | None = None) -> ByteScan:
    """Scan a file; without a separator only the encoding and zero bytes are checked."""
    scan = ByteScan()
    decoder = codecs.getincrementaldecoder("utf-8")()
    tail = np.array([_NEWLINE], dtype=np.uint8)
    # a few bytes of each chunk are carried over, so that a pattern across a chunk boundary is not missed
    separator_byte = ord(separator) if separator is not None and ord(separator) < 128 else _NEWLINE
    try:
        for chunk in read_chunks(source):
            content = np.frombuffer(chunk, dtype=np.uint8)
            if content.max(initial=0) >= 128 or decoder.getstate()[0]:
                decoder.decode(chunk)
            scan.nul = scan.nul or bool((content == 0).any())
            if separator is not None and not (scan.padded_numbers and scan.blank_lines):
                joined = np.concatenate([tail, content])
                scan.padded_numbers = scan.padded_numbers or _has_padded_numbers(joined, separator_byte)
                scan.blank_lines = scan.blank_lines or _has_blank_lines(joined)
                tail = joined[-_OVERLAP:]
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        scan.utf8 = False
    return scan


def read_chunks(source: Path | bytes) -> Iterator[bytes]:
    """Yield the bytes of a file, one mebibyte at a time."""
    if isinstance(source, bytes):
        yield from (source[start : start + _CHUNK] for start in range(0, len(source), _CHUNK))
        return
    with source.open("rb", buffering=0) as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def _has_padded_numbers(content: NDArray[np.uint8], separator: int) -> bool:
    """Whether a field may begin with a leading zero (also after a minus sign) or with a plus sign.

    Only zeros before a digit and plus signs are examined; both are rare, so this is one comparison per byte.
    """
    starts_field = np.zeros(256, dtype=np.bool_)
    starts_field[[separator, _NEWLINE, _QUOTE, _SPACE, _TAB]] = True
    digit = (content - np.uint8(_ZERO)) <= _NINE - _ZERO  # wraps below '0', so one comparison is enough
    zeros = np.flatnonzero((content[1:-1] == _ZERO) & digit[2:]) + 1
    previous = content[zeros - 1]
    if bool(starts_field[previous].any()):
        return True
    negative = zeros[(previous == _MINUS) & (zeros > 1)]
    pluses = np.flatnonzero(content[1:] == _PLUS) + 1
    return bool(starts_field[content[negative - 2]].any()) or bool(starts_field[content[pluses - 1]].any())


def _has_blank_lines(content: NDArray[np.uint8]) -> bool:
    newline = content == _NEWLINE
    if bool((newline[:-1] & newline[1:]).any()):
        return True
    return bool((newline[:-2] & (content[1:-1] == _RETURN) & newline[2:]).any())


def remove_blank_lines(content: bytes) -> bytes:
    """Remove empty lines; a line break inside quotes does not end a line."""
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
