"""The ``plot()`` method and the notebook view of results."""

from __future__ import annotations

from typing import Any

from discreet.model.services import get_service


class Plottable:
    """Mixin for ``plot()`` and a chart in notebooks."""

    def plot(self) -> Any:
        """An Altair chart of the result; ``.save("chart.html")`` and ``.save("chart.svg")`` write it."""
        return get_service("plots").plot(self)

    def _repr_html_(self) -> str:
        return str(get_service("plots").as_html(self))
