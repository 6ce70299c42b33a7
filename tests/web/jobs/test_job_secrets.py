"""Jobs do not disclose passwords, data values in errors, or files outside the project."""

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
from discreet.web.errors import InvalidRequest, WebError
from discreet.web.jobs import work
from discreet.web.jobs.supervisor import Supervisor
from discreet.web.projects import datasets, policy_sandbox, sources
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings


class TestSecrets:
    def test_the_password_of_a_connected_database_is_never_shown(
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
        with store.write() as connection:
            for source in connected.sources:
                sources.grant(connection, connected, anna, "anna", source)
        with store.read() as connection:
            assert sources.list_sources(connection, connected, anna) == ["here", "there"]
            assert sources.list_tables(connection, connected, anna, "here") == ["people"]
            with pytest.raises(SourceError) as refused:
                sources.list_tables(connection, connected, anna, "there")
        assert "hunter2" not in str(refused.value)
        message = replace(desk, settings=connected).in_process("import", source="here", table="people")
        assert (message["event"], message["row"]["records"], message["row"]["name"]) == ("result", 2, "people")
        message = replace(desk, settings=connected).in_process("import", source="there", table="people")
        assert message["event"] == "failed"
        assert "hunter2" not in json.dumps(message)
        for source, table, words in (
            ("here", "discreet_users", "belong to the server"),
            ("nowhere", "people", "was not granted"),
        ):
            with pytest.raises(WebError, match=words):
                replace(desk, settings=connected).in_process("import", source=source, table=table)
        with store.read() as connection:
            written = json.dumps([dict(row._mapping) for row in connection.execute(select(job_table))], default=str)
            assert "hunter2" not in written
            assert "hunter2" not in json.dumps(audit.list_entries(connection))

    def test_internal_errors_are_logged_without_data_values(
        self, settings: Settings, store: Store, anna: User, project: Project, desk: Any, monkeypatch: pytest.MonkeyPatch,
        fake: Callable[[str], None], caplog: pytest.LogCaptureFixture,
    ) -> None:  # fmt: skip
        value = "John " + "Wayne"  # not in a line of the program as a whole

        def broken(*_: Any) -> Any:
            raise ValueError(value)

        monkeypatch.setitem(work.HANDLERS, "import", broken)
        place = datasets.receive_upload(settings, project, iter([b"x"]), "x.csv")
        message = desk.in_process("import", upload=place.name, name="x.csv")
        assert (message["event"], message["type"]) == ("error", "ValueError")
        assert value not in json.dumps(message)
        fake("send(event='error', type='ValueError', trace='File x.py, line 1')")
        supervisor = Supervisor(settings, store)
        supervisor.start()
        with caplog.at_level(logging.ERROR):
            job = desk.wait(desk.imported())
        supervisor.stop()
        assert job.what.startswith("internal error (ValueError)")
        assert "File x.py, line 1" in caplog.text

    def test_an_unreadable_file_is_reported_by_its_original_name(
        self, settings: Settings, store: Store, anna: User, project: Project, desk: Any
    ) -> None:
        place = datasets.receive_upload(settings, project, iter([b"no workbook"]), "x.xlsx")
        message = desk.in_process("import", upload=place.name, name="/home/me/Budget.xlsx")
        assert message["event"] == "failed"
        assert "'Budget.xlsx'" in message["sentence"]
        assert str(settings.home) not in message["sentence"]

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
    def test_a_policy_from_the_web_cannot_name_outside_files(self, policy: dict[str, Any]) -> None:
        with pytest.raises(InvalidRequest, match="a policy on this server cannot name"):
            policy_sandbox.check_confined(policy)

    def test_values_that_look_like_paths_are_values(self) -> None:
        policy_sandbox.check_confined({"attributes": {"road": {"values": {"/a/b.csv": 1.0}, "hierarchy": {"file": "roads.csv"}}}})
        policy_sandbox.check_confined(
            {"plan": {"steps": [{"method": "global_recoding", "columns": ["road"], "map": {"x": "/north"}}]}}
        )
