"""The code blocks of a section of a documentation page, for tests that follow the page to the letter."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def read_section(page: str, heading: str) -> str:
    """The text of a section, from its heading to the next one of the same level."""
    text = (DOCS / page).read_text(encoding="utf-8")
    match = re.search(rf"^## {re.escape(heading)}$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert match, f"{page} has no section '{heading}'"
    return match[1]


def read_blocks(section: str) -> list[str]:
    """The code blocks of a section in their order, without indentation."""
    blocks = re.findall(r"^( *)```\w*\n(.*?)^\1```$", section, re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(content).strip() for _, content in blocks]


def replace_all(text: str, replacements: dict[str, str]) -> str:
    """A text with hosts, ports and secrets replaced; each must occur, or the page and the test have come apart."""
    for old, new in replacements.items():
        assert old in text, f"the page has no {old!r} in: {text}"
        text = text.replace(old, new)
    return text
