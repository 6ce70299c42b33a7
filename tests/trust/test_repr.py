"""What a shell, a log, a traceback or a notebook shows of a value: its shape and policy, no row, no seed, no key."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pydantic import SecretStr
from rich.pretty import pretty_repr

import discreet
from discreet.convert.files.tables import Table
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Policy, Step

SEED = 918273645546372819
KEY = "Popocatepetl and Iztaccihuatl"
VALUES = ("Quetzalcoatl", "Tezcatlipoca", "Huitzilopochtli", "771717", "881818", "1931-07-09", KEY, str(SEED))
POLICY = {
    "attributes": {
        "name": {"role": "identifier"},
        "born": {"role": "key", "known": 0.3},
        "pay": {"role": "confidential", "sensitivity": 1.0, "values": {"500000..900000": 0.5}},
    },
    "risk": {"k_anonymity": {}},
    "limits": {"k_anonymity.k": 1},
    "plan": {
        "seed": SEED,
        "steps": [
            {"method": "pseudonymization", "columns": ["name"], "key": SecretStr(KEY)},
            {"method": "rounding", "columns": ["pay"], "base": 1},
        ],
    },
    "select": {"seed": SEED},
}


@pytest.fixture
def data() -> Microdata:
    frame = pl.DataFrame(
        {
            "name": list(VALUES[:3]),
            "pay": [771717, 881818, 881818],
            "born": pl.Series(["1931-07-09"] * 3).str.to_date(),
        }
    )
    labels = {"pay": {771717: "Huitzilopochtli"}}
    return Microdata(frame, Policy.from_dict(POLICY), "people.csv", labels=labels)


@pytest.fixture
def nouns(data: Microdata, tmp_path: Path) -> dict[str, Any]:
    release = discreet.mask(data)
    profile = discreet.analyze(data)
    discreet.write(Microdata(data.frame), tmp_path / "t.parquet")
    return {
        "Microdata": data,
        "Encoded": discreet.scan(tmp_path / "t.parquet", POLICY),
        "Release": release,
        "Profile": profile,
        "ColumnProfile": profile["pay"],
        "Policy": data.policy,
        "Plan": data.policy.plan,
        "Step": data.policy.plan.steps[0],
        "Assessment": discreet.assess(data, release),
        "Table": Table(data.frame),
    }


def views(noun: Any) -> list[str]:
    made = [repr(noun), str(noun), f"{noun}", pretty_repr(noun), repr([noun]), repr({"a": noun})]
    if hasattr(noun, "_repr_html_"):
        made.append(noun._repr_html_())
    try:
        raise AssertionError(f"not as it should be: {noun!r}")
    except AssertionError as error:
        made += traceback.format_exception(error)
    return made


def test_no_view_of_any_noun_shows_a_row_a_seed_or_a_key(nouns: dict[str, Any]) -> None:
    for name, noun in nouns.items():
        for view in views(noun):
            assert not [value for value in VALUES if value in view], (name, view)
            assert len(view) < (2000 if "<svg" not in view else 200_000)


def test_views_say_what_is_useful(nouns: dict[str, Any]) -> None:
    assert repr(nouns["Microdata"]) == (
        "<Microdata people.csv: 3 records x 3 columns; identifier: name; key: born; confidential: pay>"
    )
    assert "of people.csv: 3 records" in repr(nouns["Release"])
    assert "steps: pseudonymization, rounding" in repr(nouns["Release"])
    assert "people.csv: 3 records x 3 columns" in repr(nouns["Profile"])
    assert "role: confidential" in repr(nouns["ColumnProfile"])
    assert "1 of 1 limits" in repr(nouns["Assessment"])
    assert nouns["Policy"].digest() in repr(nouns["Policy"])
    assert repr(Step(method="rounding", columns=("pay",), base=100, how="random")) == (
        "Step(method='rounding', columns='pay', parameters='base=100, how=random')"
    )
    assert repr(Plan(seed=7)) == repr(Plan(seed=8))


def test_names_are_escaped_in_a_notebook() -> None:
    bad = "<script>alert(1)</script>"
    frame = pl.DataFrame({bad: [1]})
    policy = Policy.from_dict({"attributes": {bad: {"role": "key"}}})
    data = Microdata(frame, policy, bad)
    release = discreet.mask(data, {"steps": []})
    for noun in (data, policy, release, discreet.analyze(data)):
        assert "<script>" not in noun._repr_html_()
        assert "&lt;script&gt;" in noun._repr_html_()


def test_a_policy_is_told_from_another_by_its_digest_and_not_by_its_seed() -> None:
    made = [Policy.from_dict({"plan": {"seed": seed, "steps": [{"method": "rounding", "base": base}]}}).digest()
            for seed, base in ((1, 10), (2, 10), (2, 20))]  # fmt: skip
    assert made[0] == made[1] != made[2]


def test_many_names_are_counted_rather_than_listed() -> None:
    data = Microdata(pl.DataFrame({f"c{number}": [1] for number in range(500)}))
    assert "and 488 more" in repr(data)
    assert len(repr(data)) < 200


def test_no_traceback_with_local_variables_contains_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sentry, rich and IPython print local variables, and a job's log may be read by others."""
    from discreet.engine.draws.draw import KeyedDraw
    from discreet.keys.ring import KeyRing
    from discreet.testing import hospital

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setenv("DISCREET_HOME", str(tmp_path / "home"))
    plan = {"steps": [{"method": "noise", "columns": ["income"], "level": 0.3}]}
    release = discreet.mask(hospital(50), plan)
    secret = KeyRing().get(str(release.plan.key)).secret
    monkeypatch.setattr(KeyedDraw, "normal", fail)
    with pytest.raises(RuntimeError) as raised:
        discreet.mask(hospital(50), plan, key=release.plan.key)
    text = "".join(traceback.TracebackException.from_exception(raised.value, capture_locals=True).format())
    assert "secret = <secret>" in text
    for key in (secret, release.draw_key):
        assert repr(bytes(key)) not in text
        assert key.hex() not in text
