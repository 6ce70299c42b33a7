"""How a noun shows itself: the one door from the model to the drawings, opened only when somebody asks for a picture.

The nouns know nothing of charts; ``discreet.report.plots`` knows the nouns. It is loaded here by name, and nowhere else.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Shown:
    """Gives a result ``plot()`` and its picture in a notebook."""

    def plot(self) -> Any:
        """An Altair chart of the result; ``.save("chart.html")`` and ``.save("chart.svg")`` write it."""
        return _plots().plot(self)

    def _repr_html_(self) -> str:
        return str(_plots().as_html(self))


def _plots() -> Any:
    return import_module("discreet.report.plots")
