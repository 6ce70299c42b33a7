"""What a reproduction of a paper consists of: published figures beside ours, with the difference explained, and charts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.model.microdata import Microdata

Generator = Callable[..., Microdata]


@dataclass(frozen=True)
class Comparison:
    """One figure of a paper and ours, with the reason why they differ, or a statement that they agree."""

    figure: str
    paper: str
    ours: str
    explanation: str


@dataclass(frozen=True)
class Reproduction:
    """Everything of one paper that could be recomputed."""

    number: str
    citation: str
    data: str
    comparisons: tuple[Comparison, ...]
    charts: Mapping[str, Any] = field(default_factory=dict)
    """Altair charts by file name."""

    def write(self, folder: Path) -> list[Path]:
        """Write the charts as standalone SVG files, and return their paths."""
        import vl_convert

        paths = []
        for name, chart in self.charts.items():
            path = folder / f"{self.number}_{name}.svg"
            path.write_text(vl_convert.vegalite_to_svg(chart.configure(background="white").to_dict()), encoding="utf-8")
            paths.append(path)
        return paths


@dataclass(frozen=True)
class Generators:
    """The generators of artificial data to use, because the papers' own data are confidential."""

    students: Generator
    patients: Generator
    items: Generator
