"""The content of a report page as a tree of elements, which the typesetter places one by one.

The page template is the one definition of what a report says, so a PDF is made from the page and not from the evidence. Only the
page's own markup becomes elements: values of the data are escaped there, and arrive here as plain text.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

from discreet.report.printable import printable

Element = dict[str, Any]
"""``t``: name of the element; ``c``: its classes; ``k``: elements and texts inside; spans of cells; the SVG of a chart; ``w``:
the width of a chart, or of the widest one in a figure, in pixels."""

_MAIN = re.compile(r"<main>(.*)</main>", re.DOTALL)
_SVG = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
_NOT_PRINTED = ("details", "script", "style")
"""Tables of charts are folded away on the page, and are not printed there either."""
_CONTAINERS = ("main", "section", "div", "figure", "table", "thead", "tbody", "tr", "ul", "ol")
"""Elements in which white space between others is the layout of the template."""
_VOID = ("br", "wbr", "img", "hr")
_LONGEST_WORD = 18
_SPACES = re.compile(r"[ \t\r\n\f]+")


def parse_page(page: str) -> list[Element]:
    """The elements inside ``<main>`` of a report page, charts as their static SVG."""
    main_part = _MAIN.search(page)
    parser = _PageParser(page if main_part is None else main_part[1])
    return parser.top["k"]  # type: ignore[no-any-return]


class _PageParser(HTMLParser):
    """Builds the tree; elements that are not printed are skipped with all that is inside."""

    def __init__(self, content: str) -> None:
        super().__init__(convert_charrefs=True)
        self.top: Element = {"t": "main", "c": [], "k": []}
        self._open = [self.top]
        self._skipped: list[str] = []
        self._drawings = _SVG.findall(content)
        self._placed = 0
        # an SVG is kept as written: the parser would change the case of its names
        self.feed(_SVG.sub("<svg></svg>", content))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element."""
        if tag == "svg":
            drawing = self._drawings[self._placed]
            self._placed += 1
            if not self._skipped:
                width = _width(drawing)
                self._open[-1]["k"].append({"t": "svg", "c": [], "k": [], "svg": drawing, "alt": _describe(drawing), "w": width})
                for figure in (element for element in self._open if element["t"] == "figure"):
                    figure["w"] = max(width, figure.get("w", 0.0))
            self._skipped.append(tag)
        elif tag in _VOID:
            if not self._skipped:
                self._open[-1]["k"].append({"t": tag, "c": [], "k": []})
        elif self._skipped or tag in _NOT_PRINTED:
            self._skipped.append(tag)
        else:
            given = {name: value or "" for name, value in attrs}
            element: Element = {"t": tag, "c": given.get("class", "").split(), "k": []}
            element |= {name: int(given[name]) for name in ("colspan", "rowspan") if name in given}
            self._open[-1]["k"].append(element)
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost element of this name."""
        if self._skipped:
            if self._skipped[-1] == tag:
                self._skipped.pop()
        elif len(self._open) > 1 and self._open[-1]["t"] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        """Add a text, whose long words may be broken."""
        layout = data.isspace() and self._open[-1]["t"] in _CONTAINERS
        if not self._skipped and not layout:
            keep = any(element["t"] == "pre" for element in self._open)
            self._open[-1]["k"] += break_words(printable(data) if keep else _SPACES.sub(" ", printable(data)))


def break_words(text: str) -> list[str | Element]:
    """The text in pieces, with an element ``wbr`` where a word that would not fit into a column may be broken.

    >>> [piece if isinstance(piece, str) else "|" for piece in break_words("see reidentification.prosecutor_max")]
    ['see reidentification.', '|', 'prosecutor_', '|', 'max']
    """
    pieces: list[str | Element] = [""]
    for run in re.split(r"(\s+)", text):
        if len(run) <= _LONGEST_WORD:
            pieces[-1] += run  # type: ignore[operator]
            continue
        for part in re.findall(rf"[^._,;:/-]{{1,{_LONGEST_WORD}}}[._,;:/-]?|[._,;:/-]", run):
            pieces[-1] += part
            pieces += [{"t": "wbr", "c": [], "k": []}, ""]
        del pieces[-2:]
    return [piece for piece in pieces if piece]


def _width(drawing: str) -> float:
    """The width of an SVG in pixels.

    >>> _width('<svg class="chart" width="320.5" viewBox="0 0 1 1">'), _width('<svg viewBox="0 0 400 200">')
    (320.5, 400.0)
    """
    given = re.search(r'^<svg\b[^>]*?\bwidth="([\d.]+)', drawing) or re.search(r'\bviewBox="[\d.-]+ [\d.-]+ ([\d.]+)', drawing)
    return 480.0 if given is None else float(given[1])


def _describe(drawing: str) -> str:
    """The title of an SVG, as text."""
    import html

    title = re.search(r"<title[^>]*>(.*?)</title>", drawing, re.DOTALL)
    return "" if title is None else printable(html.unescape(title[1]))
