"""Which engine holds a table, and the function that does a plug-in's work on that engine.

The local engine runs every plug-in by its own method. For another engine a plug-in declares an
:class:`~discreet.model.engine_work.EngineWork` in the class attribute with the engine's name (``spark``). What it cannot do
exactly is declared there as a gap: it raises an error and is listed by ``discreet methods`` and ``discreet measures``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any, Protocol, TypeGuard, runtime_checkable

from discreet.errors import DataError, nearest
from discreet.model.cells import ColumnCells
from discreet.model.contracts import LossMeasure, Plugin
from discreet.model.engine_work import EngineWork, engine_label
from discreet.model.policy import Policy

LOCAL = "local"
_SOURCES = {"spark": "discreet.engine.spark.source_types"}
"""For each other engine the module that recognises its sources; none of them imports the engine's library."""

Alternatives = Callable[[], Iterable[str]]
"""The names of the plug-ins of the same kind that run on an engine; called only for an error message."""


class Distributed(Protocol):
    """A table whose rows are on another engine: what the verbs need to know of it."""

    engine: str
    policy: Policy
    source: str
    cells: Mapping[str, ColumnCells]

    def __len__(self) -> int: ...

    def write(self, target: str, *, private: bool = False, formulas: str = "", overwrite: bool = True) -> None:
        """Write the table by its own engine.

        A ``private`` target is readable by its owner alone, where the store has permissions; cells that match ``formulas`` are
        escaped, so that no spreadsheet runs them.
        """
        ...

    def in_release_order(self, key: bytes | None) -> Any:
        """The rows in the order in which a release is written: by the release's key, or else by record number."""
        ...

    def fingerprint(self, secret: bytes) -> bytes:
        """What the draws of a release depend on: equal to that of the same table on the local engine."""
        ...

    @property
    def is_initial(self) -> bool:
        """Whether the records are numbered by position, not by a plan or a link."""
        ...

    def linked(self, original: Any, link: Any) -> Any:
        """The same rows, with the record numbers of their originals from a link."""
        ...

    def link(self) -> Any:
        """For each row the number of its original, counted from 1."""
        ...


@runtime_checkable
class WritesRecords(Protocol):
    """A score whose per-record values stay with its engine, which also writes them."""

    def write_all(self, scores: Mapping[str, Any], target: str, *, overwrite: bool = True) -> None:
        """Write one row per record with columns MEASURE.FIELD of all these scores."""
        ...


def declared_work(plugin: type[Plugin], engine: str) -> EngineWork | None:
    """The work that a plug-in's class declares for an engine.

    A subclass that redefines the local work (``measure`` or ``mask``) does not inherit the engine work of its parent, which would
    return the parent's numbers under the subclass's name.
    """
    for ancestor in plugin.__mro__:
        attributes = vars(ancestor)
        if engine in attributes:
            work: EngineWork | None = attributes[engine]
            return work
        if "measure" in attributes or "mask" in attributes:
            return None
    return None


def describe_engines(plugin: type[Plugin]) -> dict[str, str]:
    """The engines that a plug-in runs on, each with what it cannot do there (empty: it can do everything)."""
    engines = {LOCAL: ""}
    for engine in _SOURCES:
        if (work := declared_work(plugin, engine)) is not None:
            engines[engine] = "; ".join(gap.feature for gap in work.gaps)
    return engines


def load_engine_function(plugin: Plugin, engine: str, alternatives: Alternatives) -> Callable[..., Any]:
    """The function that does a plug-in's work on an engine; raises DataError where a parameter asks for one of its gaps."""
    label = engine_label(engine)
    work = declared_work(type(plugin), engine)
    if work is None:
        others = ", ".join(alternatives()) or "no plug-ins of this kind"
        raise DataError(
            f"{plugin.name} does not run on {label}; on {label} run {others}; read the table on the local engine for it"
        )
    for gap in work.gaps:
        if gap.requested_by(plugin):
            gap.refuse(plugin, engine)
    return work.load()


def find_reader(source: Any, engine: str | None) -> Callable[..., Any] | None:
    """The function that reads a source on another engine: the engine named, or the one that the source belongs to."""
    if engine not in (None, LOCAL, *_SOURCES):
        raise DataError(f"there is no engine '{engine}'; {nearest(str(engine), [LOCAL, *_SOURCES])}")
    for name, module in _SOURCES.items():
        types = import_module(module)
        if engine == name or types.is_engine_source(source):
            return EngineWork(types.READER).load()
    return None


class RemoteMeasure:
    """A measure with the methods of the local one, whose work is done by the engine that holds the rows."""

    def __init__(self, plugin: Plugin, engine: str, alternatives: Alternatives) -> None:
        self.plugin, self.engine, self.alternatives = plugin, engine, alternatives

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plugin, name)

    def for_limits(self, limits: Any, *, seconds: float) -> Any:
        """The measure for these limits, on the same engine."""
        plugin: Any = self.plugin
        return RemoteMeasure(plugin.for_limits(limits, seconds=seconds), self.engine, self.alternatives)

    def sampled(self) -> Any:
        """The measure on a sample of its attacks, on the same engine."""
        plugin: Any = self.plugin
        sample = plugin.sampled()
        return self if sample == plugin else RemoteMeasure(sample, self.engine, self.alternatives)

    def measure(self, data: Any, masked: Any = None, *, original: Any = None) -> Any:
        """A risk of ``data`` (beside its ``original``), or the loss of ``masked`` against ``data``."""
        function = load_engine_function(self.plugin, self.engine, self.alternatives)
        return function(self.plugin, data, masked if isinstance(self.plugin, LossMeasure) else original)


def engine_of(*tables: Any) -> str:
    """The engine that some tables live on; raises DataError where they live on different ones."""
    engines = {table.engine if is_distributed(table) else LOCAL for table in tables if table is not None}
    if len(engines) > 1:
        raise DataError(f"tables on different engines ({', '.join(sorted(engines))}) cannot be compared; read both on one")
    return engines.pop() if engines else LOCAL


def is_distributed(table: Any) -> TypeGuard[Distributed]:
    """Whether a table lives on another engine than the local one."""
    return getattr(table, "engine", LOCAL) != LOCAL


def require_local(verb: str, *tables: Any) -> None:
    """Raise DataError where a whole verb does not run on the engine of some tables."""
    if (engine := engine_of(*tables)) != LOCAL:
        raise DataError(f"{verb} does not run on {engine_label(engine)}; read the table on the local engine for it")
