"""Comments of a policy file: they are read with the keys they stand above, and written above the same keys of another file.

A policy says why each attribute has its role in comments, which the data structures do not hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import yaml

Path = tuple[str, ...]
_DEPTH = 2
"""Sections, and the attributes or measures in them."""


@dataclass(frozen=True)
class Comments:
    """Comment lines by the path of the key below them, such as ``("attributes", "age")``; those at the top, and at the end."""

    top: tuple[str, ...] = ()
    above: Mapping[Path, tuple[str, ...]] = field(default_factory=dict)
    end: tuple[str, ...] = ()

    def insert(self, text: str) -> str:
        """The text of a policy with these comments above its keys; comments on keys that it does not have are left out."""
        lines = text.splitlines()
        for path, first, _, _ in sorted(_keys(text), key=lambda key: -key[1]):
            indent = " " * (len(lines[first]) - len(lines[first].lstrip()))
            lines[first:first] = [f"{indent}{comment}" for comment in self.above.get(path, ())]
        return "\n".join([*self.top, *lines, *self.end]) + "\n"


def read_comments(text: str) -> Comments:
    r"""The comments of a policy file.

    >>> comments = read_comments("# mine\n\nattributes:\n  # a guess\n  age: {role: key}  # as in 2020\n")
    >>> comments.top, comments.above
    (('# mine',), {('attributes', 'age'): ('# a guess', '# as in 2020')})
    """
    lines = text.splitlines()
    keys = sorted(_keys(text), key=lambda key: key[1])
    above: dict[Path, tuple[str, ...]] = {}
    top: list[str] = []
    for number, (path, first, last, column) in enumerate(keys):
        block: list[str] = []
        line = first - 1
        while line >= 0 and lines[line].lstrip().startswith("#"):
            block.insert(0, lines[line].strip())
            line -= 1
        if number == 0:
            top = [text.strip() for text in lines[: line + 1] if text.lstrip().startswith("#")]
        behind = lines[last][column:].strip() if last < len(lines) else ""
        if behind.startswith("#") and not any(other != path and other[: len(path)] == path for other, *_ in keys):
            block.append(behind)
        if block:
            above[path] = tuple(block)
    if not keys:
        return Comments(tuple(line.strip() for line in lines if line.lstrip().startswith("#")))
    end: list[str] = []
    for line_text in reversed(lines[max(last for _, _, last, _ in keys) + 1 :]):
        if line_text.lstrip().startswith("#"):
            end.insert(0, line_text.strip())
    return Comments(tuple(top), above, tuple(end))


def _keys(text: str) -> Iterator[tuple[Path, int, int, int]]:
    """The path of each key, its line, and where its value ends: line and column."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        return
    yield from _keys_below(root, ())


def _keys_below(node: yaml.Node | None, path: Path) -> Iterator[tuple[Path, int, int, int]]:
    if not isinstance(node, yaml.MappingNode) or len(path) >= _DEPTH or node.flow_style:
        return
    for key, value in node.value:
        own = (*path, str(key.value))
        yield own, key.start_mark.line, value.end_mark.line, value.end_mark.column
        yield from _keys_below(value, own)
