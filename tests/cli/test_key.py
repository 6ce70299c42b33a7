"""discreet key, mask --key and --write-policy: a release is repeated by the id of its key, and the secret is never printed."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import discreet
from discreet.cli.app import app
from discreet.keys.ring import KeyRing
from discreet.testing import hospital

RUN = CliRunner()
POLICY = """
attributes: {name: {role: identifier}, sex: {role: key}, income: {role: confidential}}
plan:
  steps:
    - {method: remove_identifiers}
    - {method: noise, columns: [income], level: 0.3}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DISCREET_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    discreet.write(hospital(200), "people.csv")
    Path("policy.yaml").write_text(POLICY)
    return tmp_path


def run(*arguments: str, code: int = 0) -> Result:
    result = RUN.invoke(app, list(arguments))
    assert result.exit_code == code, result.output + str(result.exception)
    return result


def test_a_release_is_repeated_by_its_key_and_by_the_written_policy() -> None:
    masked = json.loads(run("mask", "people.csv", "one.csv", "-p", "policy.yaml", "--write-policy", "made.yaml", "--json").stdout)
    run("mask", "people.csv", "other.csv", "-p", "policy.yaml")
    assert Path("one.csv").read_bytes() != Path("other.csv").read_bytes()
    run("mask", "people.csv", "again.csv", "-p", "policy.yaml", "--key", masked["key"])
    run("mask", "people.csv", "third.csv", "-p", "made.yaml")
    assert Path("one.csv").read_bytes() == Path("again.csv").read_bytes() == Path("third.csv").read_bytes()
    assert f"key: {masked['key']}" in Path("made.yaml").read_text()
    assert KeyRing().get(masked["key"]).secret.hex() not in Path("made.yaml").read_text()


def test_keys_are_listed_exported_imported_and_deleted_but_the_secret_is_never_printed() -> None:
    key = json.loads(run("mask", "people.csv", "one.csv", "-p", "policy.yaml", "--json").stdout)["key"]
    secret = KeyRing().get(key).secret.hex()
    listed = run("key", "list")
    (entry,) = json.loads(run("key", "list", "--json").stdout)["keys"]
    assert (entry["id"], entry["source"], entry["releases"]) == (key, "people.csv", 1)
    assert key in listed.stdout
    assert secret not in listed.output
    run("key", "export", key, "key.json")
    assert stat.S_IMODE(Path("key.json").stat().st_mode) == 0o600
    assert "--yes" in run("key", "delete", key, code=2).output
    run("key", "delete", key, "--yes")
    assert isinstance(RUN.invoke(app, ["mask", "people.csv", "two.csv", "-p", "policy.yaml", "--key", key]).exception, Exception)
    run("key", "import", "key.json")
    run("mask", "people.csv", "two.csv", "-p", "policy.yaml", "--key", key)
    assert Path("one.csv").read_bytes() == Path("two.csv").read_bytes()


def test_the_policy_of_select_repeats_the_release_that_was_measured() -> None:
    limits = "limits: {k_anonymity.k: 2}\nselect: {trials: 4}\n"
    Path("limited.yaml").write_text(POLICY + limits)
    selection = discreet.select(discreet.read("people.csv", "limited.yaml"))
    Path("sub").mkdir()
    Path("sub/chosen.yaml").write_text(selection.to_yaml(Path("sub")))
    release = discreet.mask(discreet.read("people.csv", "sub/chosen.yaml"))
    assert release.plan.key == selection.release.plan.key is not None
    assert release.draw_key == selection.release.draw_key
    assert release.masked.frame.equals(selection.release.masked.frame)
