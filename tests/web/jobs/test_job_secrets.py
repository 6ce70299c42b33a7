"""What a job is told stays with it: passwords, values in errors, and files of others."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from discreet.errors import SourceError
from discreet.web.auth.accounts import User
from discreet.web.db import audit
from discreet.web.db.store import Store
from discreet.web.db.tables import jobs as job_table
from discreet.web.errors import Invalid
from discreet.web.jobs import work
from discreet.web.jobs.supervisor import Supervisor
from discreet.web.projects import datasets
from discreet.web.projects import policy_sandbox as confined
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings


class TestSecrets:
    def test_a_connected_database_is_read_and_its_password_told_to_nobody(
        self, settings: Settings, store: Store, anna: User, project: Project, desk: Any, tmp_path: Path, postgresql: str
    ) -> None:
        import sqlite3

        with sqlite3.connect(tmp_path / "source.db") as link:
            link.execute("CREATE TABLE people (age INTEGER)")
            link.executemany("INSERT INTO people VALUES (?)", [(1,), (2,)])
            link.execute("CREATE TABLE discreet_users (password TEXT)")
        link.close()
        connected = replace(
            settings,
            sources={
                "here": f"sqlite:///{tmp_path}/source.db",
                "there": "postgresql://bob:hunter2@127.0.0.1:1/d?connect_timeout=2",
            },
        )
        assert datasets.sources(connected) == ["here", "there"]
        assert datasets.tables(connected, "here") == ["people"]
        with pytest.raises(SourceError) as told:
            datasets.tables(connected, "there")
        assert "hunter2" not in str(told.value)
        found = replace(desk, settings=connected).in_process("import", source="here", table="people")
        assert (found["say"], found["made"]["records"], found["made"]["name"]) == ("result", 2, "people")
        found = replace(desk, settings=connected).in_process("import", source="there", table="people")
        assert found["say"] == "failed"
        assert "hunter2" not in json.dumps(found)
        for source, table, words in (("here", "discreet_users", "the server's own"), ("nowhere", "people", "no database")):
            with pytest.raises(Invalid, match=words):
                replace(desk, settings=connected).in_process("import", source=source, table=table)
        with store.read() as connection:
            written = json.dumps([dict(row._mapping) for row in connection.execute(select(job_table))], default=str)
            assert "hunter2" not in written
            assert "hunter2" not in json.dumps(audit.entries(connection))

    def test_errors_of_the_program_tell_where_but_no_values(
        self, settings: Settings, store: Store, anna: User, project: Project, desk: Any, monkeypatch: pytest.MonkeyPatch,
        fake: Callable[[str], None], caplog: pytest.LogCaptureFixture,
    ) -> None:  # fmt: skip
        value = "John " + "Wayne"  # not in a line of the program as a whole

        def broken(*_: Any) -> Any:
            raise ValueError(value)

        monkeypatch.setitem(work.WORK, "import", broken)
        place = datasets.receive(settings, project, iter([b"x"]), "x.csv")
        found = desk.in_process("import", upload=place.name, name="x.csv")
        assert (found["say"], found["type"]) == ("error", "ValueError")
        assert value not in json.dumps(found)
        fake("say(say='error', type='ValueError', trace='File x.py, line 1')")
        supervisor = Supervisor(settings, store)
        supervisor.start()
        with caplog.at_level(logging.ERROR):
            made = desk.wait(desk.imported())
        supervisor.stop()
        assert made.what.startswith("an error of the program (ValueError)")
        assert "File x.py, line 1" in caplog.text

    def test_a_file_that_cannot_be_read_is_told_by_the_name_it_came_with(
        self, settings: Settings, store: Store, anna: User, project: Project, desk: Any
    ) -> None:
        place = datasets.receive(settings, project, iter([b"no workbook"]), "x.xlsx")
        found = desk.in_process("import", upload=place.name, name="/home/me/Budget.xlsx")
        assert found["say"] == "failed"
        assert "'Budget.xlsx'" in found["sentence"]
        assert str(settings.home) not in found["sentence"]

    @pytest.mark.parametrize(
        "policy",
        [
            {"attributes": {"age": {"hierarchy": {"file": "/etc/passwd"}}}},
            {"attributes": {"age": {"hierarchy": {"file": "../../other/files/x"}}}},
            {"risk": {"decision": {"dictionaries": ["/srv/people.csv"]}}},
            {"risk": {"decision": {"dictionaries": ["~/people.parquet"]}}},
            {"risk": {"target_linkage": {"register": "postgresql://localhost/x#users"}}},
            {"plan": {"steps": [{"method": "pseudonymization", "key_file": "/root/key"}]}},
            {"plan": {"steps": [{"method": "pseudonymization", "key_file": "C:\\key"}]}},
        ],
    )
    def test_a_policy_from_the_web_names_nothing_outside_its_project(self, policy: dict[str, Any]) -> None:
        with pytest.raises(Invalid, match="a policy on this server cannot name"):
            confined.check(policy)

    def test_values_that_look_like_paths_are_values(self) -> None:
        confined.check({"attributes": {"road": {"values": {"/a/b.csv": 1.0}, "hierarchy": {"file": "roads.csv"}}}})
        confined.check({"plan": {"steps": [{"method": "global_recoding", "columns": ["road"], "map": {"x": "/north"}}]}})
