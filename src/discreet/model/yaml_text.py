"""YAML as policies use it: read within bounds, and written without references.

A YAML alias stands for a whole earlier value, so that aliases of aliases let a few hundred bytes stand for billions of values. A
policy has no use for them: anchors, aliases and merge keys are refused, and no text that discreet writes contains one.
"""

from __future__ import annotations

import re
import time
from collections.abc import Hashable
from typing import Any

import yaml

from discreet.errors import PolicyError

MAX_DEPTH = 50
"""Mappings and lists inside each other. A policy has about six levels."""
MAX_VALUES = 2_000_000
"""Values in one text: a weight for each of a million categories fits."""


class _Loader(yaml.SafeLoader):
    """Keys are text, duplicate keys and references are errors, yes/no are text; depth, values and time are bounded."""

    def __init__(self, text: str, seconds: float | None = None) -> None:
        super().__init__(text)
        self._depth = self._values = 0
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self._seconds = seconds

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            sign = "*" if isinstance(event, yaml.AliasEvent) else "&"
            raise PolicyError(f"line {line}: '{sign}{event.anchor}': anchors and aliases are not allowed; write the value out")
        self._depth += 1
        self._values += 1
        if self._depth > MAX_DEPTH:
            raise PolicyError(f"line {line}: values are nested more than {MAX_DEPTH} levels deep")
        if self._values > MAX_VALUES:
            raise PolicyError(f"line {line}: the text has more than {MAX_VALUES:,} values")
        if self._deadline is not None and self._values % 256 == 0 and time.monotonic() > self._deadline:
            raise PolicyError(f"line {line}: reading was stopped after {self._seconds:g} seconds; send a shorter text")
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in rules if tag not in ("tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp")]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))


def _construct_mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Hashable, Any]:
    mapping: dict[Hashable, Any] = {}
    for key_node, value_node in node.value:
        if not isinstance(key_node, yaml.ScalarNode):
            raise PolicyError(f"line {key_node.start_mark.line + 1}: a key must be a single word or text")
        key = key_node.value
        if key in mapping:
            raise PolicyError(f"line {key_node.start_mark.line + 1}: '{key}' is named twice")
        mapping[key] = loader.construct_object(value_node, deep=True)
    return mapping


_Loader.add_constructor("tag:yaml.org,2002:map", _construct_mapping)


class PlainDumper(yaml.SafeDumper):
    """Writes a value that occurs twice twice, never as an alias."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def load_yaml(text: str, *, origin: str, seconds: float | None = None) -> Any:
    """The value of a YAML text; raises PolicyError where it is not YAML or exceeds a bound.

    >>> load_yaml("a: [1, yes]", origin="the policy")
    {'a': [1, 'yes']}
    >>> load_yaml("a: &x [1]", origin="the policy")
    Traceback (most recent call last):
    discreet.errors.PolicyError: the policy, line 1: '&x': anchors and aliases are not allowed; write the value out
    """
    try:
        loader = _Loader(text, seconds)
        try:
            return loader.get_single_data()
        finally:
            loader.dispose()
    except PolicyError as error:
        raise PolicyError(f"{origin}, {error}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        raise PolicyError(f"{origin}{where}: not YAML: {getattr(error, 'problem', None) or error}") from None


def dump_yaml(content: Any, *, width: int = 120) -> str:
    """A value as YAML, in the order of its keys."""
    text: str = yaml.dump(content, Dumper=PlainDumper, sort_keys=False, allow_unicode=True, width=width)
    return text
