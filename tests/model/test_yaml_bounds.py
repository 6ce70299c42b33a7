"""A policy text is read within bounds of references, depth and time."""

from __future__ import annotations

import time

import pytest

from discreet.errors import PolicyError
from discreet.model.policy import Policy, parse_policy
from discreet.model.yaml_text import MAX_DEPTH, dump_yaml, load_yaml

ALIAS_BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n" for level in range(1, 9)
)
"""A few hundred bytes that stand for 9 ** 9 values."""


@pytest.mark.trust("Bad input", "A policy of a few hundred bytes cannot stand for billions of values")
@pytest.mark.parametrize(
    "text", [ALIAS_BOMB, "limits: &l {k_anonymity.k: 2}\njudge: *l\n", "plan: &p\n  seed: 1\n", "a: {<<: *b}", "a: &x 1"]
)
def test_anchors_and_aliases_are_refused_with_their_line(text: str) -> None:
    started = time.process_time()
    with pytest.raises(PolicyError, match=r"line \d+: '[&*]\w+': anchors and aliases are not allowed"):
        parse_policy(text)
    assert time.process_time() - started < 5


def test_deep_values_are_refused() -> None:
    with pytest.raises(PolicyError, match="nested more than"):
        load_yaml("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), origin="the policy")
    assert load_yaml("[" * 20 + "]" * 20, origin="the policy")


def test_reading_stops_at_its_deadline() -> None:
    text = "attributes:\n" + "".join(f"  a{number}: {{role: key}}\n" for number in range(60_000))
    with pytest.raises(PolicyError, match=r"stopped after 0\.2 seconds"):
        parse_policy(text, seconds=0.2)


def test_what_is_written_has_no_reference() -> None:
    shared = ["a", "b"]
    text = dump_yaml({"first": shared, "second": shared, "third": {"x": shared}})
    assert "&" not in text
    assert load_yaml(text, origin="it") == {"first": shared, "second": shared, "third": {"x": shared}}
    assert parse_policy(Policy().to_yaml()) == Policy()
