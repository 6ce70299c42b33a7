"""Releases: drafts in a private store, exported with their reports, reproducible by their key."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from exports import exported_file
from sqlalchemy.exc import OperationalError
from web_jobs import CONTENT, STEPS, pass_gate, published_rows, run

import discreet
from discreet.errors import DiscreetError, PolicyError, SourceError
from discreet.keys.ring import KeyRing
from discreet.web.auth.accounts import User
from discreet.web.db import audit
from discreet.web.db.store import Store
from discreet.web.errors import Conflict, InvalidRequest, NotFound
from discreet.web.jobs import publishing, queue, releasing
from discreet.web.projects import datasets, policies, projects, publication, published_tables, release_files, releases, removal
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings


def test_deleting_a_project_removes_its_files_and_keys_but_not_the_audit_log(
    settings: Settings, store: Store, anna: User, released: Project
) -> None:
    with store.write() as connection:
        waiting = queue.submit(connection, anna, released, "risk")
    with pytest.raises(Conflict, match="still active"):
        removal.delete_project(store, settings, anna, released)
    with store.write() as connection:
        queue.cancel(connection, anna, released, waiting.id)
        other = projects.create(connection, anna, "Other")
    removal.delete_project(store, settings, anna, released)
    assert KeyRing(settings.home, project=f"project-{released.id}").ids() == []
    assert not (settings.home / "projects" / str(released.id)).exists()
    with store.read() as connection:
        assert [listed["project"].name for listed in projects.list_projects(connection, anna)] == [other.name]
        actions = [entry["action"] for entry in audit.list_entries(connection, released.id)]
        assert audit.verify_chain(connection) is None
    assert {"project made", "release made", "project deleted"} <= set(actions)


def test_a_release_whose_table_cannot_be_dropped_stays_published(
    settings: Settings, store: Store, anna: User, carl: User, released: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    pass_gate(settings, store, anna, carl, released, 1)

    def refuse(*_: object) -> None:
        raise OperationalError("DROP TABLE", {}, Exception("the table is being read"))

    monkeypatch.setattr(published_tables, "_drop_each", refuse)
    with pytest.raises(Conflict, match=released.table_name), store.write() as connection:
        publication.withdraw(connection, settings, anna, released, 1, "an error")
    with store.read() as connection:
        assert releases.get(connection, released).state == "published"
    assert len(published_rows(settings, released.table_name)) == 12
    monkeypatch.undo()
    with pytest.raises(Conflict, match="withdraw the release first"):
        removal.delete_project(store, settings, anna, released)
    with store.write() as connection:
        publication.withdraw(connection, settings, anna, released, 1, "an error")
    removal.delete_project(store, settings, anna, released)
    assert published_tables.list_tables(settings.published) == []


def test_the_same_key_reproduces_a_release(settings: Settings, store: Store, anna: User, released: Project) -> None:
    with store.write() as connection:
        plan = {"steps": STEPS, "release": 2}
        policies.edit(connection, anna, released, released.revision, {"plan": plan})
    run(settings, store, anna, released, "generate")
    with store.write() as connection:
        current = projects.get(connection, anna, released.id)
        other, first = releases.list_releases(connection, released)
        policies.edit(connection, anna, current, current.revision, {"plan": first.policy["plan"]})
    assert other.sha256 != first.sha256
    run(settings, store, anna, released, "generate")
    with store.read() as connection:
        second, _, first = releases.list_releases(connection, released)
    assert release_files.path(settings, first).read_bytes() == release_files.path(settings, second).read_bytes()
    assert first.sha256 == second.sha256


def test_a_summary_of_a_release_has_what_maps_and_lists_show(store: Store, released: Project) -> None:
    with store.read() as connection:
        full, short = releases.list_releases(connection, released), releases.list_summaries(connection, released)
    assert len(full) == len(short) > 0
    for release, summary in zip(full, short, strict=True):
        parts = {part: release.assessment[part] for part in ("after", "losses", "verdict")}
        assert (summary.assessment, summary.policy) == (parts, {"limits": release.policy["limits"]}), "nothing else was read"
        assert replace(summary, assessment={}, policy={}) == replace(release, assessment={}, policy={}, history=[])
        assert summary.status == release.status


def test_a_release_can_be_exported_in_every_format_with_its_reports(
    settings: Settings, store: Store, anna: User, released: Project
) -> None:
    with store.read() as connection:
        release = releases.get(connection, released)
        with pytest.raises(NotFound, match="no release 9"):
            releases.get(connection, released, 9)
        with pytest.raises(InvalidRequest, match="is not a loss"):
            releases.risk_loss_points([release], "k_anonymity.k", "k_anonymity.k")
    wanted = discreet.read(release_files.path(settings, release)).frame
    for form in ("csv", ".JSONL", "xlsx", "parquet"):
        exported = exported_file(settings, release, form)
        assert discreet.read(exported).frame.cast(pl.String).rows() == wanted.cast(pl.String).rows()
    before = exported_file(settings, release, "csv").stat().st_mtime_ns
    assert exported_file(settings, release, "csv").stat().st_mtime_ns == before, "written once"
    for form in ("sas7bdat", "exe", "../x", ""):
        with pytest.raises(InvalidRequest, match="not a format"):
            exported_file(settings, release, form)
    assert "sas7bdat" not in release_files.list_formats()
    public_report = json.loads(release_files.report_path(settings, release, "json").read_text())
    assert public_report["tables"]["original"]["source"] == "people.csv"
    assert public_report["made"]["by"] == "anna"
    assert public_report["confidential"] is False
    assert "riskiest" not in public_report
    assert set(public_report["tables"]["original"]) == {"source", "records", "attributes"}, "no hash of the original"
    assert "person3" not in release_files.report_path(settings, release).read_text()
    assert "Draft: not approved" in release_files.report_html(settings, release, short=True)
    for short in (False, True):
        assert release_files.report_pdf(settings, release, short=short).startswith(b"%PDF-")
    stored = release_files.report_html(settings, release, short=True)
    release_files.report_path(settings, release, short=True).unlink()  # as of a release from before there was a short report
    assert release_files.report_html(settings, release, short=True) == stored
    assert release_files.report_pdf(settings, release, short=True).startswith(b"%PDF-")
    full = release_files.report_path(settings, release, "json")
    content = full.read_text()
    full.write_text(json.dumps({"tables": public_report["tables"]}))
    with pytest.raises(NotFound, match=r"release 1 was generated by an earlier version.*generate the release again"):
        release_files.report_html(settings, release, short=True)
    full.write_text(content)
    with pytest.raises(NotFound, match="a job of kind report"):
        release_files.report_path(settings, release, "html", internal=True)
    run(settings, store, anna, released, "report", release=1, internal=True)
    assert release_files.report_path(settings, release, "html", internal=True).stat().st_mode & 0o077 == 0
    key = discreet.Policy.from_dict(release.policy).plan.key
    assert key in KeyRing(settings.home).ids()
    assert f"key: {key}" in releases.policy_yaml(release)
    assert KeyRing(settings.home).get(str(key)).secret.hex() not in releases.policy_yaml(release)
    assert "rounding" in releases.policy_yaml(release)


def test_the_meaning_of_labels_is_stored_with_a_release(
    settings: Settings, store: Store, anna: User, released: Project, tmp_path: Path
) -> None:
    steps = [
        {"method": "remove_identifiers"},
        {"method": "global_recoding", "columns": ["age"], "groups": {"1": [*range(20, 26)], "2": [*range(26, 32)]}},
    ]
    town = {"role": "confidential", "sensitivity": 1.0}
    changes = {"plan": {"steps": steps}, "risk": {"known_sets": {}}, "attributes.town": town}
    with store.write() as connection:
        policies.edit(connection, anna, released, released.revision, changes)
    run(settings, store, anna, released, "generate")
    run(settings, store, anna, released, "report", release=2, format="json", internal=True)
    with store.read() as connection:
        release = releases.get(connection, released, 2)
    internal_report = json.loads(release_files.report_path(settings, release, "json", internal=True).read_text())
    assert internal_report["verdict"]["limits"] == release.assessment["verdict"]["limits"], (
        "judged on the file as on the table in memory"
    )
    informed = internal_report["adversaries"][0]["fields"]
    assert all(field["informed"] for field in informed if field["field"] == "mean"), "the labels hold the true ages"
    (tmp_path / "people.csv").write_text(CONTENT)
    (tmp_path / "policy.yaml").write_text(releases.policy_yaml(release))
    original = discreet.read(tmp_path / "people.csv", tmp_path / "policy.yaml")
    downloaded = discreet.read(exported_file(settings, release, "csv"), tmp_path / "policy.yaml")
    assert discreet.assess(original, downloaded).after["known_sets"]["mean"] > 0


def test_the_risk_job_reports_records_to_the_owner(settings: Settings, store: Store, anna: User, released: Project) -> None:
    result = run(settings, store, anna, released, "risk")
    measures = {entry["measure"]: entry for entry in result["measures"]}
    assert set(measures) == {"k_anonymity", "known_sets", "target_linkage", "decision"}
    assert [entry["measure"] for entry in result["not_measured"]] == ["repeated_records"]
    assert "person" in result["not_measured"][0]["why"]
    worst = measures["k_anonymity"]["worst"][0]
    assert (worst["risk"], worst["cells"]["name"]) == (1.0, f"person{worst['record'] - 1}")
    assert measures["k_anonymity"]["histogram"]["rows"][0] == {"label": "1", "records": 12}
    assert [entry["measure"] for entry in result["adversaries"]] == ["known_sets", "k_anonymity", "target_linkage", "decision"]
    assert result["most_in_danger"][0]["chance"] == 1.0
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    only = run(settings, store, anna, released, "risk", measures=["k_anonymity"])
    assert [entry["measure"] for entry in only["measures"]] == ["k_anonymity"]


def test_an_invalid_plan_fails_and_leaves_no_release(settings: Settings, store: Store, anna: User, released: Project) -> None:
    with store.write() as connection:
        steps = [{"method": "noise", "columns": ["town"], "level": 0.1}]
        policies.edit(connection, anna, released, released.revision, {"plan": {"steps": steps}})
    with pytest.raises(DiscreetError, match="step 1"):
        run(settings, store, anna, released, "generate")
    with store.read() as connection:
        assert releases.get(connection, released).number == 1


def test_value_labels_are_kept_through_import_and_export(
    settings: Settings, store: Store, anna: User, project: Project, tmp_path: Path
) -> None:
    data = discreet.read(pl.DataFrame({"sex": [1, 2, 1], "age": [30, 40, 50]}))
    labelled = type(data)(data.frame, labels={"sex": {1: "female", 2: "male"}}, variable_labels={"age": "Age in years"})
    discreet.write(labelled, tmp_path / "x.sav")
    with (tmp_path / "x.sav").open("rb") as file:
        uploaded = datasets.receive_upload(settings, project, file, "x.sav")
    run(settings, store, anna, project, "import", upload=uploaded.name, name="x.sav")
    with store.write() as connection:
        policies.edit(connection, anna, project, 0, {"attributes.sex": {"role": "key"}})
    run(settings, store, anna, project, "generate")
    with store.read() as connection:
        release = releases.get(connection, projects.get(connection, anna, project.id))
    again = discreet.read(exported_file(settings, release, "sav"))
    assert {float(code): label for code, label in again.labels["sex"].items()} == {1.0: "female", 2.0: "male"}
    assert again.variable_labels["age"] == "Age in years"


def test_a_release_with_a_numeric_seed_is_refused_and_says_what_to_do(
    settings: Settings, store: Store, anna: User, released: Project
) -> None:
    plan = {"seed": 5, "steps": [{"method": "remove_identifiers"}]}
    with pytest.raises(PolicyError, match=r"remove plan\.seed"):
        releasing.refuse_seed(discreet.Policy.from_dict({"plan": plan}).plan.seed)
    with pytest.raises(PolicyError, match="anybody can try seeds"):
        publishing.publish_release({"release": {"policy": {"plan": plan}}})


def test_an_interrupted_job_gets_the_same_key_again(tmp_path: Path) -> None:
    data = discreet.read(pl.DataFrame({"age": [1, 2, 3]}), {"plan": {"steps": []}})
    inputs = {"home": str(tmp_path), "job": "ab12", "dataset": {"name": "people.csv"}}
    plan, secret = releasing.plan_with_key(data, inputs)
    assert (plan.key, len(secret)) == ("job-ab12", 32)
    assert releasing.plan_with_key(data, inputs) == (plan, secret)
    assert releasing.plan_with_key(data, inputs | {"job": "cd34"})[1] != secret


def test_a_policy_cannot_name_the_key_of_another_project(tmp_path: Path) -> None:
    data = discreet.read(pl.DataFrame({"age": [1, 2, 3]}), {"plan": {"steps": []}})
    inputs = {"home": str(tmp_path), "job": "ab12", "dataset": {"name": "people.csv"}, "project": {"id": 1}}
    plan, secret = releasing.plan_with_key(data, inputs)
    data = data.with_policy(data.policy.with_(plan=plan))
    assert releasing.plan_with_key(data, inputs | {"job": "cd34"}) == (plan, secret)
    with pytest.raises(SourceError, match="has no key 'job-ab12'"):
        releasing.plan_with_key(data, inputs | {"job": "ef56", "project": {"id": 2}})
