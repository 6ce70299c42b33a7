"""The key ring: private whatever the umask, whole whoever writes at once, and never printed."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import discreet
from discreet.errors import PolicyError, SourceError
from discreet.keys.ring import KeyRing, RememberedRelease
from discreet.testing import hospital

PLAN = {"steps": [{"method": "noise", "columns": ["income"], "level": 0.3}]}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DISCREET_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def mode(place: Path) -> int:
    return stat.S_IMODE(place.stat().st_mode)


def test_each_release_has_a_key_of_its_own_that_repeats_it(home: Path) -> None:
    data = hospital(200)
    first, second = discreet.mask(data, PLAN), discreet.mask(data, PLAN)
    assert first.plan.key != second.plan.key
    assert not first.masked.frame.equals(second.masked.frame)
    again = discreet.mask(data, PLAN, key=first.plan.key)
    assert again.masked.frame.equals(first.masked.frame)
    assert again.draw_key == first.draw_key
    assert discreet.mask(data, {**PLAN, "key": first.plan.key}).masked.frame.equals(first.masked.frame)
    assert not discreet.mask(data, {**PLAN, "release": 2}, key=first.plan.key).masked.frame.equals(first.masked.frame)
    assert KeyRing().ids() == sorted([first.plan.key, second.plan.key])


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o777])
def test_files_are_their_owners_alone_whatever_the_umask(home: Path, mask: int) -> None:
    old = os.umask(mask)
    try:
        key = discreet.mask(hospital(50), PLAN).plan.key
    finally:
        os.umask(old)
    assert mode(home) == mode(home / "keys") == 0o700
    assert mode(home / "keys" / f"{key}.json") == 0o600
    assert not list((home / "keys").glob(".*"))


def test_the_secret_is_in_the_ring_and_nowhere_else(home: Path) -> None:
    release = discreet.mask(hospital(50), PLAN)
    secret = KeyRing().get(str(release.plan.key)).secret
    assert len(secret) == 32
    shown = (
        repr(release) + repr(KeyRing().get(str(release.plan.key))) + repr(KeyRing().entries()) + release.plan.model_dump_json()
    )
    for private in (secret, release.draw_key):
        assert private.hex() not in shown
        assert repr(private)[2:-1] not in shown


def test_a_ring_that_cannot_be_written_does_not_stop_a_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "home"
    blocked.write_text("a file where the folder should be")
    monkeypatch.setenv("DISCREET_HOME", str(blocked))
    release = discreet.mask(hospital(50), PLAN)
    assert release.plan.key is None
    assert "cannot be repeated" in " ".join(release.warnings)
    discreet.write(release, tmp_path / "masked.csv")


def test_an_unknown_key_is_one_sentence_and_two_ways_are_refused(home: Path) -> None:
    data = hospital(50)
    known = discreet.mask(data, PLAN).plan.key
    with pytest.raises(SourceError, match=f"has no key 'kabc'; .*{known}"):
        discreet.mask(data, PLAN, key="kabc")
    with pytest.raises(PolicyError, match="a key or a seed, not both"):
        discreet.mask(data, {**PLAN, "seed": 1, "key": known})
    with pytest.raises(PolicyError, match="the plan has the seed 1"):
        discreet.mask(data, {**PLAN, "seed": 1}, key=known)
    with pytest.raises(SourceError, match="no id of a key"):
        KeyRing().get("../../etc/passwd")


def test_a_key_goes_to_another_machine_and_back(home: Path, tmp_path: Path) -> None:
    here, there = KeyRing(), KeyRing(tmp_path / "there")
    key = here.add(bytes(range(32)), source="postgresql://me:pa@ss#word@host/db?password=x#people", plan="abc")
    assert key.source == "postgresql://host/db#people"
    here.remember("0" * 32, RememberedRelease(key.id, bytes(32), 5))
    assert there.import_text(here.export(key.id), "the file") == key
    assert there.import_text(here.export(key.id), "the file") == key
    assert [one.draw_key for one in there.recognise("0" * 32)] == [bytes(32)]
    assert [(one.id, number) for one, number in there.entries()] == [(key.id, 1)]
    with pytest.raises(SourceError, match="holds another key"):
        there.import_text(json.dumps({**json.loads(here.export(key.id)), "key": "ff" * 32}), "the file")
    for wrong in ("", "[]", '{"version": 1}', '{"version": 1, "id": "../x", "key": "' + "00" * 32 + '"}'):
        with pytest.raises(SourceError, match="is not a key"):
            there.import_text(wrong, "the file")
    there.delete(key.id)
    assert there.ids() == there.recognise("0" * 32) == []


def test_many_processes_write_one_ring(home: Path) -> None:
    script = "import sys; from discreet.keys.ring import KeyRing\nfor _ in range(40): KeyRing().add(bytes(32))"
    running = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(4)]
    assert [one.wait(60) for one in running] == [0, 0, 0, 0]
    assert len(KeyRing().entries()) == 160


def test_a_numeric_seed_is_warned_of_and_leaves_the_verdict_incomplete(home: Path) -> None:
    data = hospital(200)
    limited = data.with_policy(data.policy.with_(limits={"k_anonymity.k": 1}))
    unsafe, safe = discreet.mask(limited, {**PLAN, "seed": 7}), discreet.mask(limited, PLAN)
    assert "anybody can try seeds" in " ".join(unsafe.warnings)
    found = discreet.assess(limited, unsafe)
    assert found.status == "incomplete"
    assert any("anybody can try seeds" in gap for gap in found.gaps)
    assert discreet.assess(limited, safe).status == "met"
