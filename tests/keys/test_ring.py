"""The key ring: private whatever the umask, consistent under concurrent writers, and never printed."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from patience import patient

import discreet
from discreet.errors import PolicyError, SourceError
from discreet.keys.ring import KeyRing, RememberedRelease
from discreet.testing import hospital

PLAN = {"steps": [{"method": "noise", "columns": ["income"], "level": 0.3}]}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DISCREET_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_each_release_has_its_own_key_that_reproduces_it(home: Path) -> None:
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
def test_key_files_are_readable_only_by_their_owner_whatever_the_umask(home: Path, mask: int) -> None:
    old = os.umask(mask)
    try:
        key = discreet.mask(hospital(50), PLAN).plan.key
    finally:
        os.umask(old)
    assert mode(home) == mode(home / "keys") == 0o700
    assert mode(home / "keys" / f"{key}.json") == 0o600
    assert not list((home / "keys").glob(".*"))


def test_the_secret_is_not_in_any_repr_or_plan(home: Path) -> None:
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


def test_an_unknown_key_or_a_key_and_a_seed_are_clear_errors(home: Path) -> None:
    data = hospital(50)
    known = discreet.mask(data, PLAN).plan.key
    with pytest.raises(SourceError, match=f"has no key 'kabc'; .*{known}"):
        discreet.mask(data, PLAN, key="kabc")
    with pytest.raises(PolicyError, match="a key or a seed, not both"):
        discreet.mask(data, {**PLAN, "seed": 1, "key": known})
    with pytest.raises(PolicyError, match="the plan has a seed; remove one"):
        discreet.mask(data, {**PLAN, "seed": 1}, key=known)
    with pytest.raises(SourceError, match="not a valid key id"):
        KeyRing().get("../../etc/passwd")


def test_a_key_can_be_exported_to_another_machine(home: Path, tmp_path: Path) -> None:
    here, there = KeyRing(), KeyRing(tmp_path / "there")
    key = here.add(bytes(range(32)), source="postgresql://me:pa@ss#word@host/db?password=x#people", plan="abc")
    assert key.source == "postgresql://host/db#people"
    here.remember("0" * 32, RememberedRelease(key.id, bytes(32), 5))
    assert there.import_text(here.export(key.id), "the file") == key
    assert there.import_text(here.export(key.id), "the file") == key
    assert [item.draw_key for item in there.recognise("0" * 32)] == [bytes(32)]
    assert [(item.id, number) for item, number in there.entries()] == [(key.id, 1)]
    with pytest.raises(SourceError, match="holds another key"):
        there.import_text(json.dumps({**json.loads(here.export(key.id)), "key": "ff" * 32}), "the file")
    for wrong in ("", "[]", '{"version": 1}', '{"version": 1, "id": "../x", "key": "' + "00" * 32 + '"}'):
        with pytest.raises(SourceError, match="is not a key"):
            there.import_text(wrong, "the file")
    there.delete(key.id)
    assert there.ids() == there.recognise("0" * 32) == []


def test_concurrent_processes_can_write_to_one_ring(home: Path) -> None:
    script = "import sys; from discreet.keys.ring import KeyRing\nfor _ in range(40): KeyRing().add(bytes(32))"
    processes = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(4)]
    assert [process.wait(patient(60)) for process in processes] == [0, 0, 0, 0]
    assert len(KeyRing().entries()) == 160


def test_a_numeric_seed_gives_a_warning_and_an_incomplete_verdict(home: Path) -> None:
    data = hospital(200)
    limited = data.with_policy(data.policy.with_(limits={"k_anonymity.k": 1}))
    unsafe, safe = discreet.mask(limited, {**PLAN, "seed": 7}), discreet.mask(limited, PLAN)
    assert "anybody can try seeds" in " ".join(unsafe.warnings)
    assessment = discreet.assess(limited, unsafe)
    assert assessment.status == "incomplete"
    assert any("anybody can try seeds" in gap for gap in assessment.gaps)
    assert discreet.assess(limited, safe).status == "met"


def test_a_job_of_a_server_sees_the_keys_of_its_own_project_alone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = KeyRing(home, project="project-1").add(b"a" * 32)
    foreign = KeyRing(home, project="project-2").add(b"b" * 32)
    ring = KeyRing(home, project="project-1")
    assert ring.ids() == [own.id]
    with pytest.raises(SourceError) as raised:
        ring.get(foreign.id)
    assert f"no key '{foreign.id}'" in str(raised.value)
    monkeypatch.setenv("DISCREET_KEY_PROJECT", "project-1")
    with pytest.raises(SourceError, match="no key"):
        discreet.mask(hospital(50), {**PLAN, "key": foreign.id})
    KeyRing(home, project="project-2").remember("0" * 32, RememberedRelease(foreign.id, b"c" * 32))
    assert KeyRing().recognise("0" * 32) == []
    monkeypatch.delenv("DISCREET_KEY_PROJECT")
    assert len(KeyRing().ids()) == 2, "the owner of the server sees all of them"


def test_a_file_that_is_no_key_does_not_hide_the_others(home: Path) -> None:
    key = KeyRing().add(b"a" * 32)
    (home / "keys" / "broken.json").write_text("{")
    (home / "keys" / "other.json").write_text("[1]")
    assert [entry.id for entry, _ in KeyRing().entries()] == [key.id]
    assert [sentence.partition(":")[0].rpartition("/")[2] for sentence in KeyRing().unreadable()] == ["broken.json", "other.json"]


def test_a_home_and_keys_that_others_can_read_are_made_private_by_whatever_uses_them(home: Path) -> None:
    key = discreet.mask(hospital(50), PLAN).plan.key
    for use in (lambda: KeyRing().ids(), lambda: discreet.mask(hospital(50), PLAN)):
        for path, rights in ((home, 0o755), (home / "keys", 0o755), (home / "keys" / f"{key}.json", 0o644)):
            path.chmod(rights)
        use()
        assert (mode(home), mode(home / "keys"), mode(home / "keys" / f"{key}.json")) == (0o700, 0o700, 0o600)


def test_a_home_that_everybody_shares_is_refused(home: Path) -> None:
    home.mkdir()
    home.chmod(0o1777)
    with pytest.raises(SourceError, match="everybody shares this folder"):
        discreet.mask(hospital(50), PLAN)


def test_no_message_contains_the_seed(home: Path) -> None:
    with pytest.raises(PolicyError) as raised:
        discreet.mask(hospital(50), {**PLAN, "seed": 7_654_321}, key="k123")
    assert "7654321" not in str(raised.value)
