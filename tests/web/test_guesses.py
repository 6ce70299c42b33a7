"""Sliders of the probabilities of being known: measured on a sample, confirmed by a job, saved into the policy."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from fastapi.testclient import TestClient
from web_jobs import run

import discreet
from discreet.web.auth.accounts import User
from discreet.web.db.store import Store
from discreet.web.errors import InvalidRequest
from discreet.web.projects import datasets, policies, projects
from discreet.web.projects.projects import Project
from discreet.web.projects.risk_sample import MOST_RECORDS, RiskSamples, units_of
from discreet.web.settings import Settings

FRAME = pl.DataFrame(
    {
        "name": ["a", "b", "c", "d", "e", "f"],
        "age": [30, 30, 40, 50, 50, 50],
        "town": ["A", "B", "A", "A", "B", "B"],
        "birth": [1, 2, 3, 1, 2, 3],
        "ill": ["x", "y", "y", "x", "x", "y"],
    }
)
ATTRIBUTES: dict[str, Any] = {
    "name": {"role": "identifier"},
    "age": {"role": "key", "known": 0.3},
    "town": {"role": "key", "known": [0.1, 0.4]},
    "birth": {"role": "key", "known": 0.4},
    "ill": {"role": "confidential", "sensitivity": 1.0, "values": {"x": 1.0}},
}
RISK = {"known_sets": {"threshold": 20, "epsilon": 0}}


@pytest.fixture
def measured(settings: Settings, store: Store, anna: User, project: Project) -> Project:
    """A project with a table and a policy, in which town and birth are known together."""
    uploaded = datasets.receive_upload(settings, project, iter([FRAME.write_csv().encode()]), "people.csv")
    run(settings, store, anna, project, "import", upload=uploaded.name, name="people.csv")
    sections = {f"attributes.{name}": attribute for name, attribute in ATTRIBUTES.items()}
    with store.write() as connection:
        policies.edit(connection, anna, project, 0, {**sections, "risk": RISK, "known_together": [["town", "birth"]]})
    with store.read() as connection:
        return projects.get(connection, anna, project.id)


def expected(**known: float) -> Any:
    attributes = {
        name: attribute | {"known": known[name]} if name in known else attribute for name, attribute in ATTRIBUTES.items()
    }
    policy = {"attributes": attributes, "known_together": [["town", "birth"]], "risk": RISK}
    return discreet.risk(discreet.read(FRAME, policy))["known_sets"]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_the_sample_is_measured_with_the_probabilities_of_the_sliders(measured: Project, logged_in: TestClient) -> None:
    address = f"/projects/{measured.id}/risk/guesses"
    page = logged_in.get(f"/projects/{measured.id}/risk")
    assert page.status_code == 200
    assert '<label for="known-1">age</label>' in page.text
    assert '<label for="known-2">town + birth</label>' in page.text
    assert 'name="known.ill"' not in page.text
    assert "<script>" not in page.text
    answer = logged_in.get(address, params={"known.age": "0.9", "known.town": "0,5"})
    assert answer.status_code == 200, answer.text
    found, score = answer.json(), expected(age=0.9, town=0.5, birth=0.5)
    assert (found["records"], found["of"], found["is_sample"]) == (6, 6, False)
    values = {field["field"]: field["value"] for field in found["fields"]}
    for name in ("high_risk", "mean", "max", "effective_k_min"):
        assert values[name] == pytest.approx(score[name]), name
    assert sum(row["records"] for row in found["histogram"]) == 6
    for wrong, words in (("2", "from 0 to 1"), ("much", "from 0 to 1"), ("nan", "from 0 to 1")):
        refused = logged_in.get(address, params={"known.age": wrong})
        assert (refused.status_code, words in refused.json()["message"]) == (422, True)
    assert logged_in.get(address, params={"known.name": "0.5"}).status_code == 422


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_the_form_does_the_same_without_scripts(measured: Project, logged_in: TestClient) -> None:
    csrf = {"csrf": logged_in.headers["x-csrf-token"], "base": str(measured.revision)}
    sent = logged_in.post(
        f"/projects/{measured.id}/risk/guesses", data={**csrf, "action": "show", "known.age": "0.9", "known.town": "0.5"}
    )
    assert sent.status_code == 303
    page = logged_in.get(sent.headers["location"])
    assert "All 6 records" in page.text
    assert 'value="0.9"' in page.text
    assert f"{expected(age=0.9, town=0.5, birth=0.5)['high_risk']:,}" in page.text.split('id="guesses-fields"')[1]
    wrong = logged_in.get(f"/projects/{measured.id}/risk", params={"known.age": "7"})
    assert (wrong.status_code, "from 0 to 1" in wrong.text) == (422, True)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_saving_sets_what_was_moved_and_nothing_else(measured: Project, store: Store, anna: User, logged_in: TestClient) -> None:
    csrf = {"csrf": logged_in.headers["x-csrf-token"], "base": str(measured.revision)}
    sent = logged_in.post(
        f"/projects/{measured.id}/risk/guesses", data={**csrf, "action": "save", "known.age": "0.75", "known.town": "0.4"}
    )
    assert sent.status_code == 303, sent.text
    assert "guesses=saved" in sent.headers["location"]
    with store.read() as connection:
        document = policies.policy_document(connection, projects.get(connection, anna, measured.id))
    assert document["attributes"]["age"] == {"role": "key", "known": 0.75}
    assert document["attributes"]["town"]["known"] == [0.1, 0.4], "a slider that was not moved leaves a range as it is"
    assert document["known_together"] == [["town", "birth"]]
    assert "saved into the policy" in logged_in.get(sent.headers["location"]).text


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_job_confirms_on_the_whole_table_beside_the_policys_own_measurement(
    measured: Project, settings: Settings, store: Store, anna: User, logged_in: TestClient
) -> None:
    run(settings, store, anna, measured, "risk", measures=["known_sets"])
    before = logged_in.get(f"/projects/{measured.id}/risk").text
    run(settings, store, anna, measured, "risk", measures=["known_sets"], known={"age": 0.9, "town": 0.5, "birth": 0.5})
    page = logged_in.get(f"/projects/{measured.id}/risk").text
    assert "Confirmed on all 6 records" in page
    assert "With age 0.9, town 0.5, birth 0.5" in page
    assert page.count('id="measure-known_sets"') == before.count('id="measure-known_sets"') == 1
    confirmed = page.split("Confirmed on all 6 records")[1].split("</section>")[0]
    assert f'<td class="number">{expected(age=0.9, town=0.5, birth=0.5)["high_risk"]:,}</td>' in confirmed


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_policy_with_scenarios_and_groups_keeps_them(measured: Project, store: Store, anna: User) -> None:
    with store.write() as connection:
        project = projects.get(connection, anna, measured.id)
        policy = policies.current_policy(connection, project)
        added = policy.with_(scenarios={"neighbour": {"age": 0.9}})
        policies.replace(connection, anna, project, project.revision, added, "scenarios")
    with store.read() as connection:
        again = policies.current_policy(connection, projects.get(connection, anna, measured.id))
    assert again.scenarios == {"neighbour": {"age": 0.9}}
    assert again.known_together == (("town", "birth"),)


def test_a_large_table_is_sampled_and_the_answer_says_so(tmp_path: Any) -> None:
    rng = np.random.default_rng(1)
    size = MOST_RECORDS + 5_000
    file = tmp_path / "table.parquet"
    frame = pl.DataFrame(
        {"age": rng.integers(0, 90, size), "town": rng.integers(0, 30, size), "ill": rng.choice(["x", "y"], size)}
    )
    frame.write_parquet(file)
    policy = discreet.Policy.from_dict({"attributes": {name: ATTRIBUTES[name] for name in ("age", "town", "ill")}, "risk": RISK})
    samples = RiskSamples()
    first = samples.measure(file, policy, {"age": 0.9})
    assert (first["records"], first["of"], first["is_sample"]) == (MOST_RECORDS, size, True)
    assert samples.measure(file, policy, {"age": 0.9}) == first
    means = [
        next(field["value"] for field in samples.measure(file, policy, {"age": known})["fields"] if field["field"] == "mean")
        for known in (0.1, 0.5, 0.9)
    ]
    assert means == sorted(means)
    assert means[0] < means[-1]
    file.unlink()
    with pytest.raises(FileNotFoundError):
        samples.measure(file, policy, {"age": 0.9})


def test_too_many_sets_are_refused_with_a_sentence(tmp_path: Any) -> None:
    file = tmp_path / "table.parquet"
    names = [f"x{at}" for at in range(13)]
    pl.DataFrame({name: [1, 2, 2] for name in names}).write_parquet(file)
    policy = discreet.Policy.from_dict(
        {"attributes": {name: {"role": "key", "known": 0.9, "sensitivity": 0.1} for name in names}}
    )
    with pytest.raises(InvalidRequest, match="the sample could not be measured: more than 3,000 known sets"):
        RiskSamples().measure(file, policy, {})
    assert [unit.names for unit in units_of(policy, [*names, "other"])] == [(name,) for name in names]
