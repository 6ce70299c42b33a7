"""discreet methods and discreet measures: what is installed, with parameters, types, defaults and citation."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from discreet.cli import show
from discreet.cli.options import Json

Name = Annotated[str | None, typer.Argument(help="One of them, in full.", show_default=False)]


def methods(name: Name = None, json: Json = False) -> None:
    """List the masking methods, or tell one in full."""
    _list(["masking"], name, json)


def measures(name: Name = None, json: Json = False) -> None:
    """List the risk and loss measures, or tell one in full."""
    _list(["risk", "loss"], name, json)


def _list(kinds: list[str], name: str | None, json: bool) -> None:
    from discreet.errors import PolicyError, nearest
    from discreet.registry import describe

    found = [one for kind in kinds for one in describe(kind)]  # type: ignore[arg-type]
    if name is not None:
        known = [one["name"] for one in found]
        found = [one for one in found if one["name"] == name]
        if not found:
            raise PolicyError(f"there is no '{name}' here; {nearest(name, known)}")
    if json:
        show.as_json({one["name"]: one for one in found})
        return
    if name is None:
        rows = [
            (one["name"], one["kind"], one["summary"], ", ".join(p["name"] for p in one["parameters"]), ", ".join(one["engines"]))
            for one in found
        ]
        show.table("", ("name", "kind", "what it does", "parameters", "engines"), rows)
    for one in found if name is not None else []:
        _tell(one)


def _tell(one: dict[str, Any]) -> None:
    print(f"{one['name']} ({one['kind']}): {one['summary']}\n")
    if one["parameters"]:
        rows = [(p["name"], p["type"], p["default"], p["description"]) for p in one["parameters"]]
        show.table("Parameters", ("name", "type", "default", "meaning"), rows)
    if one["fields"]:
        show.table("Fields", ("name", "better", "meaning"), [(f["name"], f["better"], f["meaning"]) for f in one["fields"]])
    if one["record_fields"]:
        show.table("Fields per record", ("name", "meaning"), [(f["name"], f["meaning"]) for f in one["record_fields"]])
    engines = [(name, "all of it" if not without else f"all but {without}") for name, without in one["engines"].items()]
    show.table("Engines", ("engine", "what it can do"), engines)
    for label, key in (("Preserves", "preserves"), ("From", "citation")):
        if one.get(key):
            print(f"{label}: {one[key]}")
