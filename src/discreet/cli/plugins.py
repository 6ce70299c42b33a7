"""discreet methods and discreet measures: what is installed, with parameters, types, defaults and citation."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from discreet.cli import output
from discreet.cli.options import Json

Name = Annotated[str | None, typer.Argument(help="Describe this one in full.", show_default=False)]


def methods(name: Name = None, json: Json = False) -> None:
    """List the masking methods, or describe one in full."""
    _print_plugins(["masking"], name, json)


def measures(name: Name = None, json: Json = False) -> None:
    """List the risk and loss measures, or describe one in full."""
    _print_plugins(["risk", "loss"], name, json)


def _print_plugins(kinds: list[str], name: str | None, json: bool) -> None:
    from discreet.errors import PolicyError, nearest
    from discreet.registry import describe

    plugins = [plugin for kind in kinds for plugin in describe(kind)]  # type: ignore[arg-type]
    if name is not None:
        known = [plugin["name"] for plugin in plugins]
        plugins = [plugin for plugin in plugins if plugin["name"] == name]
        if not plugins:
            raise PolicyError(f"there is no {' or '.join(kinds)} plug-in '{name}'; {nearest(name, known)}")
    if json:
        output.print_json({plugin["name"]: plugin for plugin in plugins})
        return
    if name is None:
        rows = [
            (
                plugin["name"], plugin["kind"], plugin["summary"], ", ".join(p["name"] for p in plugin["parameters"]),
                ", ".join(plugin["engines"]),
            )
            for plugin in plugins
        ]  # fmt: skip
        output.print_table("", ("name", "kind", "description", "parameters", "engines"), rows)
    for plugin in plugins if name is not None else []:
        _print_plugin(plugin)


def _print_plugin(plugin: dict[str, Any]) -> None:
    """Print one method or measure: parameters, fields, engines, what it preserves, and its citation."""
    print(f"{plugin['name']} ({plugin['kind']}): {plugin['summary']}\n")
    if plugin["parameters"]:
        rows = [(p["name"], p["type"], p["default"], p["description"]) for p in plugin["parameters"]]
        output.print_table("Parameters", ("name", "type", "default", "meaning"), rows)
    if plugin["fields"]:
        fields = [(field["name"], field["better"], field["meaning"]) for field in plugin["fields"]]
        output.print_table("Fields", ("name", "better", "meaning"), fields)
    if plugin["record_fields"]:
        record_fields = [(field["name"], field["meaning"]) for field in plugin["record_fields"]]
        output.print_table("Fields per record", ("name", "meaning"), record_fields)
    engines = [(name, f"all but {missing}" if missing else "all") for name, missing in plugin["engines"].items()]
    output.print_table("Engines", ("engine", "supports"), engines)
    for label, key in (("Preserves", "preserves"), ("Reference", "citation")):
        if plugin.get(key):
            print(f"{label}: {plugin[key]}")
