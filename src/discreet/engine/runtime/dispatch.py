"""Which engine does what: the table of engines, made from the code of each, and the one way to it.

The local engine runs every plug-in: that is what a plug-in's own method does. Another engine has a table of *works* by kind and
name, each a function that is given the plug-in (for its parameters) and distributed tables. What it cannot do exactly stands in
the table as a gap, which is refused in a sentence and shown to people by ``discreet methods`` and ``discreet measures``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, TypeGuard, runtime_checkable

from discreet.errors import DataError, nearest
from discreet.model.cells import ColumnCells
from discreet.model.policy import Policy

LOCAL = "local"
_TABLES = {"spark": "discreet.engine.spark.works"}
"""Engine by engine the module that holds its table ``WORKS``; none of them imports the engine's library."""
WORDS = {"spark": "Spark"}


class Distributed(Protocol):
    """A table whose rows are somewhere else: what the verbs must know of it."""

    engine: str
    policy: Policy
    source: str
    cells: Mapping[str, ColumnCells]

    def __len__(self) -> int: ...

    def write(self, target: str, *, private: bool = False, formulas: str = "", overwrite: bool = True) -> None:
        """Write the table by its own engine.

        What is ``private`` is for its owner's eyes, where the place has rights; what matches ``formulas`` runs nowhere.
        """
        ...

    def in_release_order(self, key: bytes | None) -> Any:
        """The rows as a release is written: in the order of a release's key, or in that of the records' numbers."""
        ...

    def fingerprint(self, secret: bytes) -> bytes:
        """What the draws of a release depend on: the same as that of the same table on the local engine."""
        ...

    @property
    def is_initial(self) -> bool:
        """Whether the rows are numbered by where they stand, not by a plan or a link."""
        ...

    def linked(self, original: Any, link: Any) -> Any:
        """The same rows, tied to their originals by a link."""
        ...

    def link(self) -> Any:
        """For each row the number of its original, counted from 1."""
        ...


@runtime_checkable
class Written(Protocol):
    """A score whose records stay with its engine, which writes them too."""

    def write_all(self, found: Mapping[str, Any], target: str, *, overwrite: bool = True) -> None:
        """Write a row a record with columns MEASURE.FIELD of all scores found with it."""
        ...


def _by_the_data(_: Any) -> bool:
    return False


@dataclass(frozen=True)
class Gap:
    """What an engine cannot do of a plug-in: what it is, why not, and whether a plug-in with these parameters asks for it.

    Where the data decide, ``asked`` is left as it is and the work itself calls ``refuse``.
    """

    what: str
    why: str
    asked: Callable[[Any], bool] = _by_the_data

    def refuse(self, plugin: Any, engine: str) -> None:
        """Raise: the sentence names plug-in, gap, engine and reason."""
        word = WORDS.get(engine, engine)
        raise DataError(f"{plugin.name} cannot do {self.what} on {word}: {self.why}; read the table on the local engine for it")


@dataclass(frozen=True)
class Work:
    """How an engine does a plug-in's work: the function as ``module:function``, and what it refuses."""

    home: str
    gaps: tuple[Gap, ...] = ()

    def function(self) -> Callable[..., Any]:
        module, _, name = self.home.partition(":")
        found: Callable[..., Any] = getattr(import_module(module), name)
        return found


def works(engine: str) -> Mapping[tuple[str, str], Work]:
    """An engine's table, by kind (risk, masking, loss) and name."""
    table: Mapping[tuple[str, str], Work] = import_module(_TABLES[engine]).WORKS
    return table


def engines_of(kind: str, name: str) -> dict[str, str]:
    """The engines that a plug-in runs on, with what each of them cannot do of it (empty where it can do all)."""
    found = {LOCAL: ""}
    for engine in _TABLES:
        if (work := works(engine).get((kind, name))) is not None:
            found[engine] = "; ".join(gap.what for gap in work.gaps)
    return found


def work_of(engine: str, kind: str, plugin: Any) -> Callable[..., Any]:
    """The function that does a plug-in's work on an engine; what it cannot do exactly is refused by name."""
    word = WORDS.get(engine, engine)
    table = works(engine)
    work = table.get((kind, plugin.name))
    if work is None:
        able = ", ".join(name for other, name in sorted(table) if other == kind) or "nothing"
        raise DataError(f"{plugin.name} does not run on {word}; on {word} run {able}; read the table on the local engine for it")
    for gap in work.gaps:
        if gap.asked(plugin):
            gap.refuse(plugin, engine)
    return work.function()


def reader(source: Any, engine: str | None) -> Callable[..., Any] | None:
    """The function that reads a source on another engine: the one asked for, or the one that the source itself belongs to."""
    if engine not in (None, LOCAL, *_TABLES):
        raise DataError(f"there is no engine '{engine}'; {nearest(str(engine), [LOCAL, *_TABLES])}")
    for name, module in _TABLES.items():
        table = import_module(module)
        if engine == name or table.claims(source):
            return Work(table.READER).function()
    return None


class Elsewhere:
    """A measure that is asked as always, and whose work an engine does where the rows are."""

    def __init__(self, plugin: Any, kind: str, engine: str) -> None:
        self.plugin, self.kind, self.engine = plugin, kind, engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plugin, name)

    def for_limits(self, limits: Any, *, seconds: float) -> Any:
        """As the measure's own; what is returned works on the same engine."""
        return Elsewhere(self.plugin.for_limits(limits, seconds=seconds), self.kind, self.engine)

    def measure(self, data: Any, masked: Any = None, *, original: Any = None) -> Any:
        """A risk of ``data`` (beside its ``original``), or the loss of ``masked`` against ``data``."""
        return work_of(self.engine, self.kind, self.plugin)(self.plugin, data, masked if self.kind == "loss" else original)


def placed(kind: str, plugins: Iterable[Any], *tables: Any) -> list[Any]:
    """Measures as they work on the engine that these tables live on."""
    engine = engine_of(*tables)
    return list(plugins) if engine == LOCAL else [Elsewhere(one, kind, engine) for one in plugins]


def engine_of(*tables: Any) -> str:
    """The engine that some tables live on; they must live on one."""
    found = {table.engine if is_distributed(table) else LOCAL for table in tables if table is not None}
    if len(found) > 1:
        raise DataError(f"tables on different engines ({', '.join(sorted(found))}) cannot be compared; read both on one")
    return found.pop() if found else LOCAL


def is_distributed(table: Any) -> TypeGuard[Distributed]:
    """Whether a table lives on another engine than the local one."""
    return getattr(table, "engine", LOCAL) != LOCAL


def only_local(verb: str, *tables: Any) -> None:
    """Raise where a whole verb does not run on the engine of some tables."""
    if (engine := engine_of(*tables)) != LOCAL:
        raise DataError(f"{verb} does not run on {WORDS.get(engine, engine)}; read the table on the local engine for it")
