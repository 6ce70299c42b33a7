"""Quotas of projects on the administrator's page: shown without names, set, and applied at once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient
from web_forms import log_in_as

from discreet.web.auth.accounts import User
from discreet.web.db.store import Store
from discreet.web.errors import DiskFull
from discreet.web.projects import projects, quotas
from discreet.web.settings import Settings


@pytest.fixture
def database() -> None:
    """One database is enough here: the services are tested on each."""


def test_an_administrator_sets_the_quota_of_a_project_without_being_told_its_name(
    logged_in: TestClient, settings: Settings, store: Store, add_user: Callable[..., User]
) -> None:
    bert = add_user("bert")
    with store.write() as connection:
        secret = projects.create(connection, bert, "Merger with Umbrella")
    csrf = {"csrf": logged_in.headers["x-csrf-token"]}
    page = logged_in.get("/admin/limits").text
    assert f'<th scope="row">Project {secret.id}</th><td data-label="Owner">bert</td>' in page
    assert "Umbrella" not in page
    address = "/admin/limits/quota"
    sent = {**csrf, "project": str(secret.id), "gigabytes": "0,000001", "jobs": "2", "hours": ""}
    assert logged_in.post(address, data=sent).headers["location"] == "/admin/limits#projects"
    assert "1.0 KB" in logged_in.get("/admin/limits").text
    with store.read() as connection:
        assert quotas.get_quota(connection, settings, "project", secret.id) == quotas.Quota(1000.0, 2, 48.0)
        with pytest.raises(DiskFull, match="the project's quota leaves"):
            quotas.check_room(connection, settings, secret.id, 2000)
    for wrong, status in (({"project": "99"}, 404), ({"project": "x"}, 422), ({"gigabytes": "-1"}, 422), ({"jobs": "nan"}, 422)):
        assert logged_in.post(address, data={**sent, **wrong}).status_code == status, wrong
    log_in_as(logged_in, "bert")
    refused = logged_in.post(address, data={**sent, "csrf": logged_in.headers["x-csrf-token"]})
    assert refused.status_code == 403
