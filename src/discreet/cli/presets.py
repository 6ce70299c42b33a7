"""discreet presets: limits that guidance names, with source and conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli import output
from discreet.cli.options import Json

if TYPE_CHECKING:
    from discreet.model.presets.catalogue import Preset

Name = Annotated[str | None, typer.Argument(help="Describe this one in full.", show_default=False)]


def presets(
    name: Name = None,
    yaml: Annotated[bool, typer.Option("--yaml", help="Print the limits of NAME to paste into a policy.")] = False,
    json: Json = False,
) -> None:
    """List the presets of limits, or describe one: limits, what is checked, conditions and source."""
    from discreet.errors import PolicyError
    from discreet.model.presets.catalogue import PRESETS, find_preset

    chosen = list(PRESETS.values()) if name is None else [find_preset(name)]
    if yaml and name is None:
        raise PolicyError("--yaml needs the name of a preset; discreet presets lists them")
    if yaml:
        _print_yaml(chosen[0])
    elif json:
        output.print_json({preset.name: preset.to_dict() for preset in chosen})
    elif name is None:
        rows = [
            (preset.name, preset.title, ", ".join(map(_format_limit, preset.limits.items())), _origin(preset))
            for preset in chosen
        ]
        output.print_table("", ("name", "for", "limits", "numbers"), rows)
    else:
        _print_preset(chosen[0])


def _origin(preset: Preset) -> str:
    """Whether the source names the numbers for this use."""
    return "starting values" if preset.starting_values else "of the source"


def _format_limit(limit: tuple[str, float]) -> str:
    """A limit with the direction that its measure gives it."""
    from discreet.registry import resolve_limit

    name, value = limit
    return f"{name} at {'least' if resolve_limit(name)[3] == 'high' else 'most'} {value:g}"


def _print_preset(preset: Preset) -> None:
    from discreet.model.presets.catalogue import NO_COMPLIANCE
    from discreet.registry import load, resolve_limit

    print(f"{preset.name}: {preset.title}\n")
    rows = []
    for name, value in preset.limits.items():
        _, measure, field, _ = resolve_limit(name)
        meaning = load("risk", measure).meaning.get(field, "")
        rows.append((name, _format_limit((name, value)).removeprefix(f"{name} "), meaning))
    output.print_table("Limits", ("limit", "required", "meaning"), rows)
    print(f"Checks that {preset.checks}.\n")
    print("Conditions:")
    for condition in preset.all_conditions():
        print(f"- {condition}")
    print(f"\nSource: {preset.citation}\n{NO_COMPLIANCE}")


def _print_yaml(preset: Preset) -> None:
    """Print the limits as a section of a policy; the comments name the preset and its source."""
    from discreet.model.presets.catalogue import NO_COMPLIANCE
    from discreet.model.yaml_text import dump_yaml

    print(f"# {preset.title}; checks that {preset.checks}")
    if preset.starting_values:
        print(f"# {preset.starting_values}")
    print(f"# Source: {preset.citation}")
    print(f"# {NO_COMPLIANCE}")
    print(dump_yaml({"limits": dict(preset.limits), "presets": [preset.name]}), end="")
