"""A policy as YAML for people: a line an attribute, its reason before it as a comment."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from discreet.model.policy import Policy

_WIDTH = 118


class _Flow(dict[str, Any]):
    """A mapping that is written on one line."""


class _Dumper(yaml.SafeDumper):
    """Writes :class:`_Flow` in braces."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Text with breaks or signs that cannot be seen in double quotes, where each is written as an escape."""
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if text.isprintable() else '"')


_Dumper.add_representer(str, _text)
_Dumper.add_representer(_Flow, lambda dumper, data: dumper.represent_mapping("tag:yaml.org,2002:map", data, flow_style=True))


def as_yaml(policy: Policy, reasons: Mapping[str, str], heading: Sequence[str]) -> str:
    """The text; :func:`~discreet.model.policy.parse_policy` reads the same policy back."""
    content = _whole(policy.model_dump(mode="json", exclude_defaults=True))
    attributes = content.pop("attributes", {})
    parts = [_comment(line, "") for line in heading] + [""]
    if attributes or policy.attributes:
        parts.append("attributes:")
        for name in policy.attributes:
            parts.append(_comment(reasons.get(name, ""), "  "))
            parts.append(_entry(name, attributes.get(name, {})))
    rest = yaml.dump(
        {name: _lines(part) for name, part in content.items()}, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH
    )
    parts += ["", rest.rstrip("\n") if content else "", *_limits(policy)]
    return "\n".join(part for part in parts if part is not None).rstrip("\n") + "\n"


def _entry(name: str, attribute: Mapping[str, Any]) -> str:
    """One attribute as a block entry; dumped inside a mapping so that its indentation is right."""
    text = yaml.dump({"attributes": {name: _Flow(attribute)}}, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH)
    return text.split("\n", 1)[1].rstrip("\n")


def _lines(part: Any) -> Any:
    """A line a measure, a line a step."""
    if isinstance(part, dict):
        return {
            name: _lines(inner) if isinstance(inner, list) else _Flow(inner) if isinstance(inner, dict) else inner
            for name, inner in part.items()
        }
    if isinstance(part, list):
        return [_Flow(one) if isinstance(one, dict) else one for one in part]
    return part


def _limits(policy: Policy) -> list[str]:
    if policy.limits:
        return []
    wanted = {"known_sets": "known_sets.high_risk_share: 0.05, known_sets.below_5: 0", "k_anonymity": "k_anonymity.k: 5"}
    said = [limit for name, limit in wanted.items() if name in policy.risk]
    return ["", f"# What the release must keep is for you to say, such as\n# limits: {{{', '.join(said)}}}"] if said else []


def _comment(text: str, indent: str) -> str:
    """Lines of comment; what YAML would not take even in a comment is written as an escape."""
    clean = "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)
    if clean.startswith("  "):
        return f"{indent}#{clean}"
    lines = textwrap.wrap(clean, _WIDTH - len(indent), break_long_words=False, break_on_hyphens=False) or [""]
    return "\n".join(f"{indent}# {line}".rstrip() for line in lines)


def _whole(value: Any) -> Any:
    """Whole floats as people write them: 5, not 5.0."""
    if isinstance(value, dict):
        return {name: _whole(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_whole(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value
