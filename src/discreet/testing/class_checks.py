"""What the class of a plug-in must say of itself, whatever it does with data."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from discreet import registry
from discreet.errors import DiscreetError, PluginError
from discreet.model.contracts import Plugin
from discreet.model.engine_work import EngineWork
from discreet.model.validation_errors import explain_validation_error
from discreet.testing.findings import Findings


def start(plugin: Any, kind: registry.Kind, base: type[Plugin], method: str) -> tuple[Findings, Any]:
    """Look at the class; an instance to try, or None where there is none."""
    cls = plugin if isinstance(plugin, type) else type(plugin)
    findings = Findings(f"{cls.__module__}.{cls.__qualname__}")
    if not issubclass(cls, base):
        findings.add(f"it is not a {base.__name__}: inherit from discreet.model.contracts.{base.__name__}")
        return findings, None
    _named(findings, cls, kind)
    _documented(findings, cls)
    config = cls.model_config
    findings.need(
        bool(config.get("frozen")), "it is not frozen: parameters must not change once they are set; leave model_config alone"
    )
    findings.need(
        config.get("extra") == "forbid", "it takes parameters that it does not know: leave extra='forbid' in model_config"
    )
    _signature(findings, cls, base, method)
    _runs_on_engines(findings, cls, 4 if kind == "masking" else 3)
    instance = plugin if not isinstance(plugin, type) else _example(findings, cls)
    if instance is not None:
        _survives_the_policy_file(findings, instance)
    return findings, instance


def _named(findings: Findings, cls: type[Plugin], kind: registry.Kind) -> None:
    if "name" in cls.model_fields:
        findings.add("'name' is a parameter: annotate it as ClassVar[str]")
        return
    name = getattr(cls, "name", None)
    if not isinstance(name, str):
        findings.add("it has no name: set name: ClassVar[str] to the name of its entry point")
        return
    rule = "use small letters, digits and underscores, a letter first"
    findings.need(bool(re.fullmatch(r"[a-z][a-z0-9_]*", name)), f"its name '{name}' cannot stand in a policy or a limit; {rule}")
    if name in registry.installed_names(kind):
        try:
            taken = registry.load(cast("Any", kind), name)
        except DiscreetError as error:
            findings.add(str(error))
        else:
            message = f"the name '{name}' belongs to {taken.__module__}.{taken.__qualname__}, which is installed; choose another"
            findings.need(taken.__module__ == cls.__module__ and taken.__qualname__ == cls.__qualname__, message)


def _documented(findings: Findings, cls: type[Plugin]) -> None:
    findings.need(bool(cls.__dict__.get("__doc__")), "it has no docstring: say what it does, and the formula")
    findings.need(
        ">>>" in (cls.__dict__.get("__doc__") or ""), "its docstring has no example: add a small one that runs, after >>>"
    )
    findings.need(bool(cls.citation), "it has no citation: say where the formula stands in the literature")
    _has_page(findings, cls)
    for name, field in cls.model_fields.items():
        findings.need(
            bool(field.description), f"the parameter '{name}' has no description: Field(description=…) makes the documentation"
        )


def _has_page(findings: Findings, cls: type[Plugin]) -> None:
    """A built-in has a page in the repository (not checked where the package is installed without it), others an address."""
    if not cls.__module__.startswith("discreet."):
        findings.need(
            bool(cls.documentation), "it has no documentation: set documentation: ClassVar[str] to the address of its page"
        )
        return
    folder = Path(__file__).resolve().parents[3] / "docs" / "methods"
    name = getattr(cls, "name", "")
    findings.need(not folder.is_dir() or (folder / f"{name}.md").is_file(), f"it has no page: write docs/methods/{name}.md")


def _runs_on_engines(findings: Findings, cls: type[Plugin], arguments: int) -> None:
    """What it declares for another engine can be loaded and called; not checked where the engine's library is missing."""
    work = cls.spark
    if work is None:
        return
    if not isinstance(work, EngineWork):
        findings.add(f"spark is {work!r}, not an EngineWork: spark: ClassVar[EngineWork | None] = EngineWork('module:function')")
        return
    if find_spec("pyspark") is None:
        return
    try:
        inspect.signature(work.load()).bind(*range(arguments))
    except PluginError as error:
        findings.add(f"its Spark work: {error}")
    except TypeError as error:
        findings.add(f"its Spark work '{work.function}' does not take {arguments} arguments, see EngineWork: {error}")


def _signature(findings: Findings, cls: type[Plugin], base: type[Plugin], method: str) -> None:
    """The method takes what it is called with; names count, since some are called by name."""
    expected, given = _parameters(getattr(base, method)), _parameters(getattr(cls, method))
    shown = ", ".join(_shown(parameter) for parameter in expected)
    extra = [own for own in given[len(expected) :] if own.default is inspect.Parameter.empty and own.kind in _NAMED]
    fits = len(given) >= len(expected) and all(
        own.name == other.name and (other.kind is not own.KEYWORD_ONLY or own.default is not inspect.Parameter.empty)
        for own, other in zip(given, expected, strict=False)
    )
    findings.need(
        fits and not extra,
        f"{method}{inspect.signature(getattr(cls, method))} has the wrong signature; it is called as {method}({shown})",
    )


_NAMED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def _parameters(function: Callable[..., Any]) -> Sequence[inspect.Parameter]:
    return list(inspect.signature(function).parameters.values())


def _shown(parameter: inspect.Parameter) -> str:
    return f"{parameter.name}=None" if parameter.kind is parameter.KEYWORD_ONLY else parameter.name


def _example(findings: Findings, cls: type[Plugin]) -> Any:
    if inspect.isabstract(cls):
        findings.add(f"it lacks {', '.join(sorted(cls.__abstractmethods__))}")
        return None
    try:
        return cls.example()
    except ValidationError as error:
        findings.add(
            f"example() breaks a rule of its own: {explain_validation_error(error, cls, cls.name)}; "
            "give the field examples=[…], or override example()"
        )
    except Exception as error:  # noqa: BLE001 - whatever a stranger's code raises is a finding
        findings.add(f"example() raises {type(error).__name__}: {error}")
    return None


def _survives_the_policy_file(findings: Findings, instance: Plugin) -> None:
    """A policy file, a form and the command line can say its parameters."""
    cls = type(instance)
    findings.attempt("its parameters as a JSON schema", cls.model_json_schema)
    read = findings.attempt("its parameters as a policy file says them", _read_back, instance)
    findings.need(read is None or read == instance, "its parameters are not the same after a policy file was written and read")


def _read_back(instance: Plugin) -> Plugin:
    return type(instance).model_validate(instance.model_dump(mode="json"))
