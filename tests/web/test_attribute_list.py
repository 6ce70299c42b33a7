"""The page of all attributes: order by doubt, filters, values in bulk, distributions, and its weight with many columns."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import insert, update
from web_forms import form_values, log_in_as

from discreet import analyze, read
from discreet.model.attribute import Attribute
from discreet.web.auth.accounts import User
from discreet.web.db import tables
from discreet.web.db.store import Store, now
from discreet.web.jobs.distributions import MAX_BARS, describe_distributions
from discreet.web.pages.forms.attribute_list import AttributeFilter, draw_bars
from discreet.web.projects import policies, projects
from discreet.web.projects.attributes import AttributeRow
from discreet.web.projects.paging import describe_columns
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings

COLUMNS = 150


@pytest.fixture
def database() -> None:
    """One database is enough here: the services are tested on each."""


@pytest.fixture(scope="module")
def analyzed() -> tuple[pl.DataFrame, dict[str, Any]]:
    """A table with many columns and its profile, as the job analyzes it."""
    frame = pl.DataFrame({f"v{at:03d}": [at % 7, at % 3, None, 5, 6, at] for at in range(COLUMNS)}).with_columns(
        pl.Series("v000", ["<b>x</b>", "y", "y", "z", "z", "z"])
    )
    profile, distributions = analyze(read(frame)).to_dict(), describe_distributions(frame)
    for at, (name, finding) in enumerate(profile["attributes"].items()):
        finding["confidence"] = at / COLUMNS
        if (distribution := distributions.get(name)) is not None:
            finding["distribution"] = distribution
    return frame, profile


@pytest.fixture
def wide(analyzed: tuple[pl.DataFrame, dict[str, Any]], store: Store, settings: Settings, project: Project) -> str:
    """The address of the attributes of the table."""
    frame, profile = analyzed
    place = settings.folder(project.id) / "planted.parquet"
    frame.write_parquet(place)
    row = {
        "project_id": project.id, "name": "wide.csv", "file": place.name, "records": frame.height, "bytes": 1.0,
        "sha256": "0" * 64, "columns": describe_columns(place), "profile": profile, "created": now(),
    }  # fmt: skip
    with store.write() as connection:
        key = connection.execute(insert(tables.datasets).values(**row)).inserted_primary_key
        connection.execute(update(tables.projects).where(tables.projects.c.id == project.id).values(dataset_id=key[0]))
    return f"/projects/{project.id}/attributes"


@pytest.fixture
def post(logged_in: TestClient, wide: str) -> Callable[..., Any]:
    return lambda **fields: logged_in.post(wide, data={"csrf": logged_in.headers["x-csrf-token"], "base": "0", **fields})


@pytest.fixture
def saved(store: Store, anna: User, project: Project) -> Callable[[], dict[str, Any]]:
    def read_attributes() -> dict[str, Any]:
        with store.read() as connection:
            document = policies.policy_document(connection, projects.get(connection, anna, project.id))
        return dict(document.get("attributes") or {})

    return read_attributes


def names_on(page: str) -> list[str]:
    return re.findall(r'name="name\.\d+" value="([^"]+)"', page)


def test_the_doubtful_come_first_and_the_page_stays_light_with_many_columns(logged_in: TestClient, wide: str) -> None:
    page = logged_in.get(wide).text
    assert names_on(page) == [f"v{at:03d}" for at in range(50)]
    assert "page 1 of 3" in page
    assert len(page) < 200_000
    assert page.count("<path") <= 50
    assert (
        '<span class="badge bad">doubtful</span> <span class="soft" title="Confidence of the Analyzer, from 0 to 1">0.00' in page
    )
    assert "&lt;b&gt;x&lt;/b&gt; 1" in page
    assert names_on(logged_in.get(f"{wide}?page=3").text)[-1] == "v149"
    assert names_on(logged_in.get(f"{wide}?page=99").text)[-1] == "v149"


def test_filters_select_by_text_role_confidence_and_state(logged_in: TestClient, post: Callable[..., Any], wide: str) -> None:
    assert names_on(logged_in.get(f"{wide}?text=V14").text) == [f"v{at}" for at in range(140, 150)]
    assert names_on(logged_in.get(f"{wide}?confidence=sure").text)[0] == "v120"
    assert names_on(logged_in.get(f"{wide}?order=name&page=2").text)[0] == "v050"
    assert post(**{"pick": ["3", "5"], "bulk.role": "confidential"}).status_code == 303
    assert names_on(logged_in.get(f"{wide}?role=confidential&state=decided").text) == ["v003", "v005"]
    assert names_on(logged_in.get(f"{wide}?page=3").text)[-2:] == ["v003", "v005"], "what is decided comes last"
    assert "No attribute matches the filter" in logged_in.get(f"{wide}?text=nothing+of+that+name").text
    for nonsense in ("page=0", "page=x", "role=%00", "confidence=2", "order=..", "text=" + "x" * 5000):
        assert logged_in.get(f"{wide}?{nonsense}").status_code == 200, nonsense


def test_ticked_rows_get_common_values_on_top_of_their_own(
    logged_in: TestClient, post: Callable[..., Any], wide: str, saved: Callable[[], dict[str, Any]]
) -> None:
    shown = form_values(logged_in.get(wide).text)
    refused = post(**{**shown, "bulk.role": "key"})
    assert (refused.status_code, "tick the attributes" in refused.text) == (422, True)
    assert 'name="bulk.role"' in refused.text
    sent = {**shown, "pick": ["0", "1"], "bulk.role": "key", "bulk.known": "0,5", "sensitivity.1": "0.25", "filter.page": "1"}
    assert post(**sent).status_code == 303
    assert set(saved()) == {"v000", "v001"}
    assert saved()["v000"]["role"] == "key"
    assert (saved()["v000"]["known"], saved()["v001"]["known"], saved()["v001"]["sensitivity"]) == (0.5, 0.5, 0.25)
    assert post(**{**shown, "base": "1", "pick": ["4"], "bulk.role": shown["role.4"]}).headers["location"].endswith("done=saved")
    assert saved()["v004"].get("role", "other") == shown["role.4"], "a value that equals the proposal decides the attribute"
    assert post(**{"base": "2", "pick": ["4"], "bulk.role": shown["role.4"]}).headers["location"].endswith("done=nothing")
    wrong = post(**{**shown, "base": "2", "pick": ["2"], "bulk.known": "7"})
    assert (wrong.status_code, "v002.known" in wrong.text, saved().get("v002")) == (422, True, None)


def test_all_that_match_a_filter_are_set_at_once_and_the_filter_is_kept(
    post: Callable[..., Any], saved: Callable[[], dict[str, Any]]
) -> None:
    answer = post(**{"pick_all": "yes", "filter.confidence": "doubtful", "bulk.role": "other", "bulk.known": "0.125"})
    assert answer.headers["location"].endswith("/attributes?confidence=doubtful&done=saved")
    assert sorted(saved()) == [f"v{at:03d}" for at in range(75)]


def test_proposals_of_ticked_rows_alone_are_accepted(post: Callable[..., Any], saved: Callable[[], dict[str, Any]]) -> None:
    assert post(pick=["149", "7"], accept="ticked").status_code == 303
    assert sorted(saved()) == ["v007", "v149"]
    assert post(base="1", accept="all").status_code == 303
    assert len(saved()) == COLUMNS


def test_an_approver_reads_without_fields_and_a_release_reader_sees_nothing(
    logged_in: TestClient, store: Store, anna: User, project: Project, add_user: Callable[..., User], wide: str
) -> None:
    for name, role in (("carla", "approver"), ("rita", "release_reader")):
        add_user(name)
        with store.write() as connection:
            projects.set_role(connection, anna, project, name, role)
    log_in_as(logged_in, "carla")
    page = logged_in.get(wide).text
    assert "<svg" in page
    assert 'name="pick"' not in page
    assert 'name="bulk.role"' not in page
    assert 'name="role.' not in page
    log_in_as(logged_in, "rita")
    assert logged_in.get(wide).status_code == 403


@given(
    st.lists(st.tuples(st.booleans(), st.none() | st.sampled_from([0.0, 0.2, 0.49, 0.5, 0.8, 1.0])), max_size=12),
    st.sampled_from(["", "doubtful", "likely", "sure"]),
    st.sampled_from(["", "open", "decided"]),
)
def test_the_order_and_filters_agree_with_their_definition(
    rows: list[tuple[bool, float | None]], confidence: str, state: str
) -> None:
    listed = [
        AttributeRow(at, f"a{at}", "Int64", 1, 0, Attribute(), decided, None, "", sure) for at, (decided, sure) in enumerate(rows)
    ]
    selected = AttributeFilter(confidence=confidence, state=state).select(listed)
    low, high = {"": (-1.0, 2.0), "doubtful": (0.0, 0.5), "likely": (0.5, 0.8), "sure": (0.8, 2.0)}[confidence]
    expected = [row for row in listed if not confidence or (row.confidence is not None and low <= row.confidence < high)]
    expected = [row for row in expected if not state or row.decided == (state == "decided")]
    assert sorted(row.number for row in selected) == [row.number for row in expected]
    still_open = [row for row in selected if not row.decided]
    assert selected[: len(still_open)] == still_open
    doubts = [1.0 if row.confidence is None else row.confidence for row in still_open]
    assert doubts == sorted(doubts)


VALUES = st.none() | st.integers(-50, 50) | st.sampled_from([10**6])


@given(st.lists(VALUES, max_size=40))
def test_the_bars_count_every_value_once(values: list[int | None]) -> None:
    distribution = describe_distributions(pl.DataFrame({"x": pl.Series(values, dtype=pl.Int64)})).get("x")
    known = [value for value in values if value is not None]
    assert (distribution is None) == (not known)
    if distribution is None:
        return
    assert sum(distribution["counts"]) + distribution["others"] == len(known)
    if len(set(known)) <= MAX_BARS:
        assert distribution["counts"] == [known.count(value) for value in sorted(set(known))]
    else:
        low, high = np.quantile(known, [0.01, 0.99])
        width = (high - low) / MAX_BARS
        slow = [0] * MAX_BARS
        for value in known:
            slow[min(int((min(max(value, low), high) - low) / width), MAX_BARS - 1)] += 1
        assert sum(abs(a - b) for a, b in zip(slow, distribution["counts"], strict=True)) <= 2, "a value on a bound may be either"
    drawn = draw_bars(distribution)
    assert drawn is not None
    assert drawn.path.count("M") == sum(count > 0 for count in distribution["counts"])


def test_distributions_of_other_types_and_of_columns_that_have_none() -> None:
    frame = pl.DataFrame(
        {
            "town": ["a"] * 30 + [f"t{at % 15}" for at in range(30)],
            "day": [dt.date(2020, 1, 1) + dt.timedelta(days=at) for at in range(60)],
            "key": [f"k{at}" for at in range(60)],
            "none": pl.Series([None] * 60, dtype=pl.String),
            "flag": [True, False] * 30,
            "odd": [float("nan"), float("inf")] * 30,
        }
    )
    described = describe_distributions(frame)
    assert set(described) == {"town", "day", "flag"}
    assert (described["town"]["labels"][0], described["town"]["counts"][0]) == ("a", 30)
    assert described["town"]["others"] == 60 - sum(described["town"]["counts"])
    assert described["day"]["labels"] == ["2020-01-01", "2020-02-29"]
    assert described["flag"]["counts"] == [30, 30]
    assert draw_bars(None) is None
    assert draw_bars({"counts": []}) is None
