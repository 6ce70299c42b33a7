"""The risk page shows how much each attribute contributes to the scores of special uniques."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import insert

from discreet.testing import table
from discreet.web.auth.accounts import User
from discreet.web.db import tables
from discreet.web.db.store import Store, now
from discreet.web.jobs.measuring import measure_risks
from discreet.web.projects.projects import Project

ROWS = {"age": [44, 44, 55, 55], "sex": ["f", "m", "f", "f"], "job": ["nurse", "nurse", "nurse", "judge"]}


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_the_contribution_of_each_attribute_is_a_bar(store: Store, project: Project, anna: User, logged_in: TestClient) -> None:
    result = measure_risks(table(ROWS, key=list(ROWS)), ["special_uniques", "rare_combinations"])["result"]
    assert not result["not_measured"]
    row = {
        "id": "a" * 32, "project_id": project.id, "user_id": anna.id, "kind": "risk", "parameters": {}, "state": "done",
        "what": "", "result": result, "created": now(), "started": now(), "finished": now(),
    }  # fmt: skip
    with store.write() as connection:
        connection.execute(insert(tables.jobs).values(**row))
    page = logged_in.get(f"/projects/{project.id}/risk")
    assert page.status_code == 200
    shares = {entry["attribute"]: entry["share"] for entry in result["measures"][0]["attributes"]}
    assert shares == {"age": 2 / 6, "sex": 3 / 6, "job": 3 / 6}
    for name, share in shares.items():
        assert f'<meter min="0" max="1" value="{share}" aria-label="Share of {name}">' in page.text
    assert page.text.count('aria-label="Share of') == len(shares)
    for index, bars in ((0, {"age": 2, "sex": 3, "job": 3}), (1, {"age": 4, "sex": 4, "job": 4})):
        address = f"/projects/{project.id}/risk/{row['id']}/{index}/attributes.svg"
        assert address in page.text
        drawn = logged_in.get(address)
        assert drawn.status_code == 200
        assert all(f"{name}: {value}" in drawn.text for name, value in bars.items())
    assert logged_in.get(f"/projects/{project.id}/risk/{row['id']}/2/attributes.svg").status_code == 404
