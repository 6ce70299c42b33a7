"""A plug-in's declaration for an engine other than the local one: the function that does its work there, and its gaps.

Declarations are read without the engine's library: a function is named as ``module:function`` and imported when it is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NoReturn

from discreet.errors import DataError, PluginError

ENGINE_LABELS = {"spark": "Spark"}
"""The display name of each engine."""


def engine_label(engine: str) -> str:
    """The display name of an engine."""
    return ENGINE_LABELS.get(engine, engine)


def _never_requested(_: Any) -> bool:
    return False


@dataclass(frozen=True)
class Gap:
    """What a plug-in cannot do exactly on an engine, and why; shown by ``discreet methods`` and ``discreet measures``.

    ``requested_by`` says whether a plug-in with these parameters needs the feature, and is checked before anything is read.
    Where the data decide, leave it out and let the engine function itself call ``refuse``.
    """

    feature: str
    reason: str
    requested_by: Callable[[Any], bool] = _never_requested

    def refuse(self, plugin: Any, engine: str) -> NoReturn:
        """Raise DataError with the plug-in, the feature, the engine and the reason."""
        raise DataError(
            f"{plugin.name} cannot do {self.feature} on {engine_label(engine)}: {self.reason}; "
            "read the table on the local engine for it"
        )


@dataclass(frozen=True)
class EngineWork:
    """A plug-in's work on an engine: ``function`` as ``module:function``, and what it does not support.

    The function is called with the plug-in instance (for its parameters) and distributed tables:

    * risk measure: ``function(plugin, data, original)``, returns a Score
    * masking method: ``function(plugin, data, columns, draw)``, returns the engine's masked table
    * loss measure: ``function(plugin, original, masked)``, returns a Score

    ``original`` is None where a risk is measured on the release alone. On Spark the tables are
    :class:`~discreet.engine.spark.microdata.SparkMicrodata`, and a masking method returns
    :class:`~discreet.engine.spark.batches.Masked`.
    """

    function: str
    gaps: tuple[Gap, ...] = ()

    def load(self) -> Callable[..., Any]:
        """Import the function and return it."""
        module, _, name = self.function.partition(":")
        try:
            function: Callable[..., Any] = getattr(import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            raise PluginError(f"the engine function '{self.function}' cannot be loaded: {error}") from error
        return function
