"""The borders between the rooms of the package: which may import which, and which library may be used where.

    errors, model -> engine -> registry -> convert | risks | losses | masking -> analysis | assessment
      -> selection -> report, web, cli

Read from the source text (nothing is imported), wherever an import stands: on top, in a function, or for types only.
Run ``python tools/borders.py``: it prints a line a breach with the rule and what would work, and exits 1 where there is one.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "discreet"

_BASE = ("errors", "model", "engine")
_METHODS = (*_BASE, "registry")
_JUDGES = (*_METHODS, "convert", "risks", "losses", "masking", "verbs")
ROOMS: dict[str, tuple[str, ...]] = {
    "errors": (),
    "model": ("errors",),
    "engine": ("errors", "model"),
    "registry": _BASE,
    "convert": _METHODS,
    "risks": _METHODS,
    "losses": _METHODS,
    "masking": _METHODS,
    "keys": _BASE,  # the owner's secrets: below the verbs, which draw and look them up, and apart from what only uses draws
    "verbs": (*_METHODS, "convert", "masking", "analysis", "assessment", "selection", "keys"),
    "analysis": _JUDGES,
    "assessment": _JUDGES,
    "selection": (*_JUDGES, "analysis", "assessment", "keys"),
    "report": (*_JUDGES, "analysis", "assessment", "selection", "keys"),
    "web": (*_JUDGES, "analysis", "assessment", "selection", "report", "testing", "keys"),
    "cli": (*_JUDGES, "analysis", "assessment", "selection", "report", "web", "testing", "keys"),
    "testing": (*_JUDGES, "analysis", "assessment", "selection"),
}
"""Room by room, which other rooms it may import; itself always."""

DOORS = {("discreet.model.showing", "discreet.report.plots")}
"""The one import against the way, module by module: a result draws itself, and the drawings are loaded when it is asked to."""

OUTSIDE = ("errors", "model", "engine", "testing", "verbs", "registry")
"""What a plug-in of another distribution may import: the contract, the counting, and the kit."""

ANYWHERE = ("*",)
LIBRARIES: dict[str, tuple[str, ...]] = {
    "numpy": ANYWHERE,
    "polars": ANYWHERE,
    "pydantic": ANYWHERE,
    "pydantic_core": ANYWHERE,
    "yaml": ("model", "convert", "analysis", "selection", "cli", "report", "web"),
    "numba": ("engine.compiled",),
    "scipy": ("engine", "risks", "losses", "masking", "analysis", "assessment"),
    "rapidfuzz": ("engine", "analysis"),
    "duckdb": ("convert", "engine"),
    "pyarrow": ("convert", "engine", "model"),
    "pandas": ("convert", "model"),
    "narwhals": ("convert",),
    "sqlalchemy": ("convert", "web"),
    "pyreadstat": ("convert",),
    "fastexcel": ("convert",),
    "xlsxwriter": ("convert",),
    "psycopg": ("convert",),
    "pymysql": ("convert",),
    "adbc_driver_manager": ("convert",),
    "adbc_driver_postgresql": ("convert",),
    "typer": ("cli",),
    "click": ("cli",),
    "rich": ("cli",),
    "optuna": ("selection",),
    "altair": ("report",),
    "vl_convert": ("report",),
    "jinja2": ("report", "web"),
    "markupsafe": ("report", "web"),
    "fastapi": ("web",),
    "starlette": ("web",),
    "uvicorn": ("web", "cli.serve"),
    "alembic": ("web",),
    "pwdlib": ("web",),
    "multipart": ("web",),
    "httpx2": ("web",),
    "psutil": ("web",),
    "pyspark": ("engine.spark",),
    "py4j": ("engine.spark",),
}
"""Library by library, in which rooms or modules it may be imported."""


@dataclass(frozen=True)
class Breach:
    """One import that crosses a border."""

    path: str
    line: int
    rule: str
    instead: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}; {self.instead}"


def imports(tree: ast.AST, module: str, is_package: bool) -> Iterator[tuple[int, str]]:
    """Every imported name with its line, relative ones made whole: ``from a import b`` is ``a.b``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            parts = module.split(".")
            start = ".".join(parts[: len(parts) - node.level + is_package]) if node.level else ""
            base = ".".join(part for part in (start, node.module or "") if part)
            for alias in node.names:
                yield node.lineno, f"{base}.{alias.name}"
        elif isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "import_module":
            yield from (
                (node.lineno, word.value)
                for word in node.args[:1]
                if isinstance(word, ast.Constant) and isinstance(word.value, str)
            )


def room_of(name: str) -> str:
    """The room that a full name such as ``discreet.engine.classes.groups`` lies in; the package's own names are the verbs'."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in ROOMS else "verbs"


def check_file(path: Path, module: str, *, outside: bool = False) -> list[Breach]:
    """The breaches in one file; ``outside`` where it belongs to another distribution."""
    where = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    own = module.split(".", maxsplit=1)[0]
    found = []
    for line, name in imports(tree, module, path.name == "__init__.py"):
        top = name.split(".")[0]
        if top == PACKAGE:
            found += _crossing(where, line, module, name, outside)
        elif top != own and not outside and top not in sys.stdlib_module_names:
            found += _library(where, line, module, top)
    return found


def _crossing(where: str, line: int, module: str, name: str, outside: bool) -> list[Breach]:
    there = room_of(name)
    if (module, name) in DOORS:
        return []
    if outside:
        allowed: Sequence[str] = OUTSIDE
        here = "a plug-in"
    elif module == PACKAGE:
        return []  # the front door names the verbs and types of every room, and loads them when they are used
    else:
        here = room_of(module)
        allowed = (here, *ROOMS[here])
    if there in allowed:
        return []
    shared = {"risks", "losses", "masking"} >= {here, there}
    instead = "put what both need into a new module in engine/" if shared else f"it may import {', '.join(allowed) or 'nothing'}"
    return [Breach(where, line, f"{here} may not import {there} ({name})", instead)]


def _library(where: str, line: int, module: str, library: str) -> list[Breach]:
    inside = module.removeprefix(f"{PACKAGE}.")
    if library not in LIBRARIES:
        rule = f"{library} is no library of the project"
        return [Breach(where, line, rule, "name it in pyproject.toml and in LIBRARIES of tools/borders.py, or do without")]
    rooms = LIBRARIES[library]
    if rooms == ANYWHERE or any(inside == room or inside.startswith((f"{room}.", f"{room}_")) for room in rooms):
        return []
    return [
        Breach(
            where, line, f"{library} may not be imported in {inside}", f"it belongs to {', '.join(rooms)}: call something there"
        )
    ]


def check_tree(folder: Path, *, outside: bool = False) -> list[Breach]:
    """The breaches in every Python file under a ``src`` folder."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found += check_file(path, module, outside=outside)
    return found


def main(arguments: Sequence[str] = ()) -> int:
    """Check the package and the example plug-in, or the ``src`` folders named."""
    breaches = [breach for folder in arguments for breach in check_tree(Path(folder).resolve())]
    if not arguments:
        breaches = check_tree(ROOT / "src") + check_tree(ROOT / "examples" / "plugin" / "src", outside=True)
    for breach in breaches:
        print(breach)
    if breaches:
        print(f"{len(breaches)} import{'s' if len(breaches) > 1 else ''} across a border")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
