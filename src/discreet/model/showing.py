"""How a result shows itself: ``plot()``, and its picture in a notebook."""

from __future__ import annotations

from typing import Any

from discreet.model.services import service


class Shown:
    """Gives a result ``plot()`` and its picture in a notebook."""

    def plot(self) -> Any:
        """An Altair chart of the result; ``.save("chart.html")`` and ``.save("chart.svg")`` write it."""
        return service("plots").plot(self)

    def _repr_html_(self) -> str:
        return str(service("plots").as_html(self))
