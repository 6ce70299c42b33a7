"""Where code may live and what it may import, checked on the source text (nothing is imported).

    errors, model -> engine -> registry -> convert | risks | losses | masking -> analysis | assessment
      -> selection -> report, reproduce, web, cli

Four rules:

1. Layers: a package imports only the packages below it, and a library is imported only where LIBRARIES says so. Imports in
   functions and for types count, and so does ``import_module``: its argument must be a constant or begin with one.
2. No cycles: no module imports itself through others (imports for types alone are left out).
3. Homes: a module of the engine that serves a single plug-in or package, directly or through other engine modules, belongs to
   that plug-in or package. Nothing but packages stands at the top of engine/.
4. Size: no folder holds more than MOST_MODULES modules.

Run ``python tools/borders.py``: one line per violation with the rule and what would work; exit code 1 where there is any.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "discreet"
MOST_MODULES = 25

_BASE = ("errors", "model", "engine")
_PLUGINS = (*_BASE, "registry")
_JUDGES = (*_PLUGINS, "convert", "risks", "losses", "masking", "verbs")
LAYERS: dict[str, tuple[str, ...]] = {
    "errors": (),
    "model": ("errors",),
    "engine": ("errors", "model"),
    "registry": _BASE,
    "convert": _PLUGINS,
    "risks": _PLUGINS,
    "losses": _PLUGINS,
    "masking": _PLUGINS,
    "keys": _BASE,  # the owner's secrets: below the verbs, which draw and look them up, and apart from what only uses draws
    "verbs": (*_PLUGINS, "convert", "masking", "analysis", "assessment", "selection", "keys"),
    "analysis": _JUDGES,
    "assessment": (*_PLUGINS, "convert", "risks", "losses", "masking", "keys"),
    "selection": (*_PLUGINS, "convert", "masking", "analysis", "assessment", "keys"),
    "report": (*_JUDGES, "analysis", "assessment", "selection", "keys"),
    "reproduce": (*_JUDGES, "analysis", "assessment", "selection", "report"),
    "web": (*_JUDGES, "analysis", "assessment", "selection", "report", "testing", "keys"),
    "cli": (*_JUDGES, "analysis", "assessment", "selection", "report", "reproduce", "web", "testing", "keys"),
    "testing": (*_JUDGES, "analysis", "assessment", "selection"),
}
"""For each package, which others it may import; itself always."""

OUTSIDE = ("errors", "model", "engine", "testing", "verbs", "registry")
"""What a plug-in of another distribution may import: the contract, the engine, and the conformance kit."""

ANYWHERE = ("*",)
ON_SPARK = ("engine.spark", "engine.known_sets_spark", "*.spark", "*.spark_*")
"""The modules that run on Spark: of the engine, and each plug-in's own."""
LIBRARIES: dict[str, tuple[str, ...]] = {
    "numpy": ANYWHERE,
    "polars": ANYWHERE,
    "pydantic": ANYWHERE,
    "pydantic_core": ANYWHERE,
    "yaml": ("model", "convert", "analysis", "selection", "cli", "report", "web"),
    "numba": ("engine.runtime.compiled",),
    "scipy": ("engine", "risks", "losses", "masking", "analysis", "assessment"),
    "rapidfuzz": ("engine", "risks", "analysis"),
    "threadpoolctl": ("engine",),
    "stdnum": ("engine.recognition",),
    "duckdb": ("convert", "engine"),
    "pyarrow": ("convert", "engine", "model", *ON_SPARK),
    "pandas": ("convert", "model"),
    "narwhals": ("convert",),
    "sqlalchemy": ("convert", "web"),
    "pyreadstat": ("convert",),
    "fastexcel": ("convert",),
    "xlsxwriter": ("convert",),
    "psycopg": ("convert",),
    "pymysql": ("convert",),
    "arrow_odbc": ("convert",),
    "pyodbc": ("convert",),
    "obstore": ("convert",),
    "adbc_driver_manager": ("convert",),
    "adbc_driver_postgresql": ("convert",),
    "typer": ("cli",),
    "click": ("cli",),
    "rich": ("cli",),
    "optuna": ("selection",),
    "altair": ("report", "reproduce"),
    "typst": ("report",),
    "vl_convert": ("report", "reproduce"),
    "jinja2": ("report", "web"),
    "markupsafe": ("report", "web"),
    "fastapi": ("web",),
    "starlette": ("web",),
    "uvicorn": ("web", "cli.serve"),
    "alembic": ("web",),
    "cryptography": ("web.backup",),
    "pwdlib": ("web",),
    "multipart": ("web",),
    "httpx2": ("web",),
    "authlib": ("web.auth.sso",),
    "joserfc": ("web.auth.sso",),
    "segno": ("web.pages.access.second_factor",),
    "psutil": ("web",),
    "pyspark": ON_SPARK,
    "py4j": ON_SPARK,
}
"""For each library, in which packages or modules it may be imported; ``*.spark`` is a module of that name in any package."""

LOADERS = ("discreet.registry", "discreet.model.engine_work", "discreet.engine.runtime.dispatch")
"""Modules whose task is to load what a name says (an entry point, a plug-in's Spark work): there a name may be a variable."""


@dataclass(frozen=True)
class Violation:
    """One place that breaks a rule."""

    path: str
    line: int
    rule: str
    instead: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}; {self.instead}"


@dataclass(frozen=True)
class Import:
    """One imported name, relative ones completed: ``from a import b`` is ``a.b``."""

    line: int
    name: str
    for_types: bool = False


@dataclass
class Module:
    """One source file: its dotted name, where it is, and what it imports."""

    name: str
    path: Path
    imports: list[Import] = field(default_factory=list)
    variable_imports: list[int] = field(default_factory=list)
    """Lines that call ``import_module`` with an argument that the text does not tell."""
    named: set[str] = field(default_factory=set)
    """String constants of the form ``package.module:function``: names that somebody loads later."""

    @property
    def shown_path(self) -> str:
        return str(self.path.relative_to(ROOT)) if self.path.is_relative_to(ROOT) else str(self.path)


def parse_module(path: Path, name: str) -> Module:
    """Read one file and collect its imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    module = Module(name, path)
    guarded = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        for_types = id(node) in guarded
        if isinstance(node, ast.Import):
            module.imports += [Import(node.lineno, alias.name, for_types) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = _absolute_base(node, name, path.name == "__init__.py")
            module.imports += [Import(node.lineno, f"{base}.{alias.name}", for_types) for alias in node.names]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "import_module":
            target = _constant_start(node.args[0]) if node.args else None
            if target is None:
                module.variable_imports.append(node.lineno)
            else:
                module.imports.append(Import(node.lineno, target))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(f"{PACKAGE}."):
            module.named.add(node.value.partition(":")[0])
    return module


def _absolute_base(node: ast.ImportFrom, module: str, is_package: bool) -> str:
    parts = module.split(".")
    start = ".".join(parts[: len(parts) - node.level + is_package]) if node.level else ""
    return ".".join(part for part in (start, node.module or "") if part)


def _constant_start(argument: ast.expr) -> str | None:
    """The constant that an argument is or begins with: ``f"discreet.convert.files.{name}"`` lies in that package."""
    if isinstance(argument, ast.JoinedStr) and argument.values:
        argument = argument.values[0]
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return argument.value.rstrip(".")
    return None


def layer_of(name: str) -> str:
    """The layer of a dotted name such as ``discreet.engine.classes``; the package's own names are the verbs'."""
    parts = name.split(".")
    if parts[1:] == ["__main__"]:
        return "cli"
    return parts[1] if len(parts) > 1 and parts[1] in LAYERS else "verbs"


def check_imports(module: Module, *, outside: bool = False) -> Iterator[Violation]:
    """Rule 1 for one module; ``outside`` where it belongs to another distribution."""
    own = module.name.split(".", maxsplit=1)[0]
    for imported in module.imports:
        top = imported.name.split(".")[0]
        if top == PACKAGE:
            yield from _check_layer(module, imported, outside)
        elif top != own and not outside and top not in sys.stdlib_module_names:
            yield from _check_library(module, imported.line, top)
    if module.name not in LOADERS and not outside and module.name != PACKAGE:
        for line in module.variable_imports:
            rule = "import_module with a name that the text does not tell"
            yield Violation(module.shown_path, line, rule, "begin the name with a constant package, or import it")


def _check_layer(module: Module, imported: Import, outside: bool) -> Iterator[Violation]:
    allowed: tuple[str, ...]
    if outside:
        here, allowed = "a plug-in", OUTSIDE
    elif module.name == PACKAGE:
        return  # the front door names the verbs and types of every layer, and loads them when they are used
    else:
        here = layer_of(module.name)
        allowed = (here, *LAYERS[here])
    there = layer_of(imported.name)
    if there in allowed:
        return
    both_plugins = {"risks", "losses", "masking"} >= {here, there}
    advice = (
        "put what both need into a package of engine/" if both_plugins else f"it may import {', '.join(allowed) or 'nothing'}"
    )
    yield Violation(module.shown_path, imported.line, f"{here} may not import {there} ({imported.name})", advice)


def _check_library(module: Module, line: int, library: str) -> Iterator[Violation]:
    inside = module.name.removeprefix(f"{PACKAGE}.")
    if library not in LIBRARIES:
        advice = "name it in pyproject.toml and in LIBRARIES of tools/borders.py, or do without"
        yield Violation(module.shown_path, line, f"{library} is no library of the project", advice)
    elif not any(_lies_in(inside, place) for place in LIBRARIES[library]):
        places = ", ".join(LIBRARIES[library])
        rule = f"{library} may not be imported in {inside}"
        yield Violation(module.shown_path, line, rule, f"it belongs to {places}: call something there")


def _lies_in(module: str, place: str) -> bool:
    if place == "*":
        return True
    if place.startswith("*."):
        wanted, leaf = place[2:], module.rpartition(".")[2]
        return leaf.startswith(wanted[:-1]) if wanted.endswith("*") else leaf == wanted
    return module == place or module.startswith(f"{place}.")


def resolve(name: str, modules: Mapping[str, Module]) -> str | None:
    """The module of the tree that a dotted name lies in."""
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return name or None


def import_graph(modules: Mapping[str, Module], *, with_types: bool = False) -> dict[str, dict[str, int]]:
    """For each module the modules that it imports, with the line; the front door, which imports everything late, is left out."""
    graph: dict[str, dict[str, int]] = {name: {} for name in modules}
    for name, module in modules.items():
        for imported in module.imports:
            target = resolve(imported.name, modules)
            if target not in (None, name, PACKAGE) and (with_types or not imported.for_types):
                graph[name].setdefault(str(target), imported.line)
    return graph


def check_cycles(modules: Mapping[str, Module]) -> Iterator[Violation]:
    """Rule 2: one violation per cycle, at the first of its imports found."""
    graph = import_graph(modules)
    finished: set[str] = set()
    for start in sorted(graph):
        trail: list[str] = []
        stack: list[tuple[str, Iterator[str]]] = [(start, iter(sorted(graph[start])))]
        trail.append(start)
        while stack:
            name, targets = stack[-1]
            target = next((target for target in targets if target not in finished), None)
            if target is None:
                finished.add(name)
                stack.pop()
                trail.pop()
            elif target in trail:
                cycle = [*trail[trail.index(target) :], target]
                advice = "move what both need into a module of its own"
                yield Violation(modules[name].shown_path, graph[name][target], f"import cycle {' -> '.join(cycle)}", advice)
            else:
                stack.append((target, iter(sorted(graph[target]))))
                trail.append(target)


def owner_of(name: str) -> str:
    """The plug-in (``risks.known_sets``) or package (``convert``) that a module outside the engine belongs to."""
    parts = name.split(".")
    return (
        ".".join(parts[1:3]) if len(parts) > 2 and parts[1] in ("risks", "losses", "masking") else parts[min(1, len(parts) - 1)]
    )


def check_homes(modules: Mapping[str, Module]) -> Iterator[Violation]:
    """Rule 3: an engine module with a single owner among its users, directly or through the engine, should live with it."""
    graph = import_graph(modules, with_types=True)
    for name, module in modules.items():
        for mentioned in module.named:
            target = resolve(mentioned, modules)
            if target not in (None, name, PACKAGE):
                graph[name].setdefault(str(target), 1)
    users: dict[str, set[str]] = {name: set() for name in modules}
    for name, targets in graph.items():
        for target in targets:
            users[target].add(name)

    def owners(name: str, seen: set[str]) -> set[str]:
        collected: set[str] = set()
        for user in users[name] - seen:
            seen.add(user)
            collected |= owners(user, seen) if layer_of(user) == "engine" else {owner_of(user)}
        return collected

    for name, module in sorted(modules.items()):
        if layer_of(name) != "engine" or module.path.name == "__init__.py":
            continue
        if len(name.split(".")) == 3:
            yield Violation(module.shown_path, 1, "a module stands at the top of engine/", "move it into a package by topic")
        served = owners(name, {name})
        if len(served) == 1:
            home = next(iter(served))
            yield Violation(module.shown_path, 1, f"{name} serves {home} alone", f"move it to {home.replace('.', '/')}/")


def check_sizes(folder: Path) -> Iterator[Violation]:
    """Rule 4."""
    for package in sorted({path.parent for path in folder.rglob("*.py")}):
        number = sum(1 for path in package.glob("*.py") if path.name != "__init__.py")
        if number > MOST_MODULES:
            shown = str(package.relative_to(ROOT)) if package.is_relative_to(ROOT) else str(package)
            yield Violation(
                shown, 1, f"{number} modules in one folder, more than {MOST_MODULES}", "group them into packages by topic"
            )


def load_tree(folder: Path) -> dict[str, Module]:
    """Every module under a ``src`` folder, by its dotted name."""
    modules = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        modules[name] = parse_module(path, name)
    return modules


def check_tree(folder: Path, *, outside: bool = False, whole: bool = False) -> list[Violation]:
    """The violations under a ``src`` folder; homes and sizes are judged only where the ``whole`` package is there."""
    modules = load_tree(folder)
    violations = [violation for module in modules.values() for violation in check_imports(module, outside=outside)]
    violations += check_cycles(modules)
    if whole:
        violations += [*check_homes(modules), *check_sizes(folder)]
    return violations


def main(arguments: Sequence[str] = ()) -> int:
    """Check the package and the example plug-in, or the ``src`` folders named (``--whole`` before them: homes and sizes too)."""
    whole, folders = "--whole" in arguments, [name for name in arguments if name != "--whole"]
    violations = [violation for name in folders for violation in check_tree(Path(name).resolve(), whole=whole)]
    if not folders:
        violations = check_tree(ROOT / "src", whole=True) + check_tree(ROOT / "examples" / "plugin" / "src", outside=True)
    for violation in violations:
        print(violation)
    if violations:
        print(f"{len(violations)} violation{'s' if len(violations) > 1 else ''} of the rules in tools/borders.py")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
