"""A policy as YAML for people: one line per attribute, after its reason as a comment."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from discreet.model.policy import Policy
from discreet.model.yaml_text import PlainDumper

_WIDTH = 118


class _FlowMapping(dict[str, Any]):
    """A mapping that is written on one line."""


class _Dumper(PlainDumper):
    """Writes :class:`_FlowMapping` in braces."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Text; in double quotes, with escapes, if it has line breaks or other characters that cannot be seen."""
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if text.isprintable() else '"')


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(
    _FlowMapping, lambda dumper, data: dumper.represent_mapping("tag:yaml.org,2002:map", data, flow_style=True)
)


def render_policy(policy: Policy, reasons: Mapping[str, str], heading: Sequence[str]) -> str:
    """The policy as text, from which :func:`~discreet.model.policy.parse_policy` reads the same policy."""
    content = _without_zero_decimals(policy.model_dump(mode="json", exclude_defaults=True))
    attributes = content.pop("attributes", {})
    parts = [_comment(line, "") for line in heading] + [""]
    if attributes or policy.attributes:
        parts.append("attributes:")
        for name in policy.attributes:
            parts.append(_comment(reasons.get(name, ""), "  "))
            parts.append(_entry(name, attributes.get(name, {})))
    rest = yaml.dump(
        {name: _one_line_per_entry(part) for name, part in content.items()},
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=_WIDTH,
    )
    parts += ["", rest.rstrip("\n") if content else "", *_suggest_limits(policy)]
    return "\n".join(part for part in parts if part is not None).rstrip("\n") + "\n"


def _entry(name: str, attribute: Mapping[str, Any]) -> str:
    """One attribute as a block entry; it is dumped inside a mapping to get the right indentation."""
    text = yaml.dump(
        {"attributes": {name: _FlowMapping(attribute)}}, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH
    )
    return text.split("\n", 1)[1].rstrip("\n")


def _one_line_per_entry(part: Any) -> Any:
    """A section with one line per measure, or per step."""
    if isinstance(part, dict):
        return {
            name: _one_line_per_entry(inner)
            if isinstance(inner, list)
            else _FlowMapping(inner)
            if isinstance(inner, dict)
            else inner
            for name, inner in part.items()
        }
    if isinstance(part, list):
        return [_FlowMapping(entry) if isinstance(entry, dict) else entry for entry in part]
    return part


def _suggest_limits(policy: Policy) -> list[str]:
    """A comment with examples of limits, if the policy has none."""
    if policy.limits:
        return []
    examples = {"known_sets": "known_sets.high_risk_share: 0.05, known_sets.below_5: 0", "k_anonymity": "k_anonymity.k: 5"}
    suggested = [limit for name, limit in examples.items() if name in policy.risk]
    if not suggested:
        return []
    return ["", f"# Set the limits that the release must meet, for example\n# limits: {{{', '.join(suggested)}}}"]


def _comment(text: str, indent: str) -> str:
    """Comment lines; characters that YAML does not allow even in a comment are written as escapes."""
    clean = "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)
    if clean.startswith("  "):
        return f"{indent}#{clean}"
    lines = textwrap.wrap(clean, _WIDTH - len(indent), break_long_words=False, break_on_hyphens=False) or [""]
    return "\n".join(f"{indent}# {line}".rstrip() for line in lines)


def _without_zero_decimals(value: Any) -> Any:
    """The content with whole floats as integers: 5, not 5.0."""
    if isinstance(value, dict):
        return {name: _without_zero_decimals(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_without_zero_decimals(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value
