"""A paper repeated: its figure beside ours, with the difference explained, and the charts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.errors import PolicyError, nearest
from discreet.model.microdata import Microdata

Maker = Callable[..., Microdata]


@dataclass(frozen=True)
class Line:
    """One figure of a paper, ours, and why they differ (or that they do not)."""

    what: str
    paper: str
    ours: str
    why: str


@dataclass(frozen=True)
class Reproduction:
    """What could be had of one paper."""

    number: str
    citation: str
    data: str
    lines: tuple[Line, ...]
    charts: Mapping[str, Any] = field(default_factory=dict)
    """File name to chart."""

    def write(self, folder: Path) -> list[Path]:
        """Write the charts as SVG files that stand alone."""
        import vl_convert

        made = []
        for name, chart in self.charts.items():
            path = folder / f"{self.number}_{name}.svg"
            path.write_text(vl_convert.vegalite_to_svg(chart.configure(background="white").to_dict()), encoding="utf-8")
            made.append(path)
        return made


@dataclass(frozen=True)
class Makers:
    """Where generated data come from: the papers' own are confidential."""

    students: Maker
    patients: Maker
    items: Maker


def reproduce(number: str, makers: Makers, records: int | None = None) -> Reproduction:
    """Repeat one paper on generated data of about so many records."""
    from discreet.reproduce import linkage, risk

    known: dict[str, Callable[[Makers, int | None], Reproduction]] = {
        "000": risk.known_sets,
        "001": risk.suppression,
        "002": linkage.masked_microdata,
        "003": linkage.repeated_records,
        "004": linkage.decision,
    }
    if number not in known:
        raise PolicyError(f"there is no paper '{number}'; {nearest(number, known)}")
    return known[number](makers, records)


NUMBERS = ("000", "001", "002", "003", "004")
