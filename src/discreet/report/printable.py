"""Texts as a report may show them: a value must not change how the words beside it are read."""

from __future__ import annotations

import unicodedata
from typing import Any

_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Embeddings, overrides and isolates of the direction of writing."""


def printable(text: str) -> str:
    r"""A text without control characters and controls of the direction of writing, which could reorder what stands beside it.

    >>> printable("a\x00b\u202ec\n")
    'a�b�c\n'
    """
    return "".join(
        "�"
        if character in _DIRECTIONS or (unicodedata.category(character) in ("Cc", "Cs") and character not in "\n\t")
        else character
        for character in text
    )


def show_text(value: Any) -> Any:
    """A printable text for a template; anything else, and markup of the template itself, as it is."""
    return printable(value) if type(value) is str else value
