"""The workspace: the draft on a sample, thresholds, brushed bars, single records, and the whole table in place of the preview."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import numpy as np
import polars as pl
import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from web_jobs import run

import discreet
from discreet.web.auth.accounts import User
from discreet.web.db.store import Store
from discreet.web.errors import InvalidRequest
from discreet.web.projects import datasets, policies, projects, risk_sample
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings
from discreet.web.workspace import desk, preview
from discreet.web.workspace.drafts_map import lay_out
from discreet.web.workspace.file_codes import FileCodes
from discreet.web.workspace.multiples import describe_multiples, make_bars
from discreet.web.workspace.preview import compute_preview
from discreet.web.workspace.risks import RecordRisks, wilson_interval
from discreet.web.workspace.shares import Share
from discreet.web.workspace.view import RISK, View

SIZE = 400
ATTRIBUTES: dict[str, Any] = {
    "name": {"role": "identifier"},
    "age": {"role": "key", "known": 0.4},
    "town": {"role": "key", "known": 0.5},
    "ill": {"role": "confidential", "sensitivity": 1.0},
}
STEPS = [{"method": "remove_identifiers"}, {"method": "global_recoding", "columns": ["age"], "width": 20}]


def make_frame(size: int = SIZE, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "name": [f"person {at}" for at in range(size)], "age": rng.integers(18, 90, size),
            "town": rng.choice(["A", "B", "C"], size), "ill": rng.choice(["Flu", "Cancer", None], size),
        }
    )  # fmt: skip


@pytest.fixture
def drafted(settings: Settings, store: Store, anna: User, project: Project) -> Project:
    """A project with a table, a plan and limits."""
    content = make_frame().write_csv().encode()
    uploaded = datasets.receive_upload(settings, project, iter([content]), "people.csv")
    run(settings, store, anna, project, "import", upload=uploaded.name, name="people.csv")
    sections = {f"attributes.{name}": attribute for name, attribute in ATTRIBUTES.items()}
    with store.write() as connection:
        policies.edit(
            connection, anna, project, 0,
            {**sections, "limits": {"k_anonymity.k": 3}, "plan": {"steps": STEPS}, "risk": {"k_anonymity": {}}},
        )  # fmt: skip
    with store.read() as connection:
        return projects.get(connection, anna, project.id)


def positions_of(page: str) -> list[dict[str, Any]]:
    return json.loads(unescape(page.split("data-positions='")[1].split("'", maxsplit=1)[0]))


def class_sizes(frame: pl.DataFrame, keys: list[str]) -> list[int]:
    """The slow obvious count."""
    rows = frame.select(keys).rows()
    return [sum(other == row for other in rows) for row in rows]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_the_page_answers_before_the_preview_is_there(drafted: Project, logged_in: TestClient) -> None:
    page = logged_in.get(f"/projects/{drafted.id}/workspace")
    assert page.status_code == 200
    assert "Show the preview" in page.text
    assert "<script>" not in page.text
    assert " style=" not in page.text


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_counts_above_each_threshold_are_those_of_the_classes(drafted: Project, logged_in: TestClient) -> None:
    page = logged_in.get(f"/projects/{drafted.id}/workspace?now=yes").text
    frame = make_frame()
    before = class_sizes(frame, ["age", "town"])
    after = class_sizes(frame.with_columns(pl.col("age") // 20), ["age", "town"])
    for position in positions_of(page):
        k = round(1 / position["threshold"])
        assert position["before"] == sum(size < k for size in before), k
        assert position["after"] == sum(size < k for size in after), k
        assert position["after_low"] == position["after_high"] == position["after"], "the whole table is exact"


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_brushed_bar_filters_the_records_and_pages_hold_all_of_them(drafted: Project, logged_in: TestClient) -> None:
    frame = make_frame()
    sizes = class_sizes(frame, ["age", "town"])
    address = f"/projects/{drafted.id}/workspace?now=yes&sort=before"
    k = next(position for position in positions_of(logged_in.get(address).text) if round(1 / position["threshold"]) == 3)
    expected = [at + 1 for at, (size, town) in enumerate(zip(sizes, frame["town"], strict=True)) if size < 3 and town == "B"]
    bars = make_bars(frame["town"])
    at = bars.labels.index("B")
    seen: list[int] = []
    number = 1
    while True:
        page = logged_in.get(f"{address}&at={k['at']}&on=town&bar={at}&page={number}").text
        seen += [int(part.split('"')[0]) for part in page.split('id="record-')[1:] if part.split('"')[0].isdecimal()]
        number += 1
        if 'id="next"' not in page:
            break
    assert sorted(seen) == expected
    assert len(seen) == len(set(seen))
    assert "no such bar" in logged_in.get(f"{address}&on=town&bar=99").text


@given(
    st.lists(st.one_of(st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]), st.just(float("nan"))), min_size=1, max_size=40),
    st.sampled_from([0.0, 0.1, 0.3, 1.0]),
)
def test_the_order_of_the_records_is_that_of_a_plain_sort(values: list[float], threshold: float) -> None:
    risks = RecordRisks("k_anonymity", np.arange(len(values)), np.array(values[::-1]), np.array(values), len(values), 0.2)
    for side, numbers in (("before", values[::-1]), ("after", values)):
        ordered = sorted((at for at, risk in enumerate(numbers) if risk > threshold), key=lambda at: (-numbers[at], at))
        assert risks.order_above(side, threshold).tolist() == ordered
        for band in risks.bands:
            within = [at for at, risk in enumerate(numbers) if band.low <= risk < band.high]
            assert risks.order_within(side, band).tolist() == sorted(within, key=lambda at: (-numbers[at], at))


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_record_says_whom_it_hides_among_and_what_would_help(drafted: Project, logged_in: TestClient) -> None:
    frame = make_frame()
    sizes = class_sizes(frame, ["age", "town"])
    unique = sizes.index(1)
    page = logged_in.get(f"/projects/{drafted.id}/workspace?now=yes&record={unique + 1}").text
    card = page.split('id="card-panel"')[1].split("</section>")[0]
    assert "itself alone" in card
    assert "in the sample" not in card, "all records are in the preview"
    assert re.search(r"\b1 record\s+that is easier to find|\b[\d,]+ records\s+that are easier to find", page)
    assert page.index('id="verdict"') < page.index('id="plan"') < page.index('id="records"'), "a phone shows them in this order"
    assert "age + town" in card
    same_town = int((frame["town"] == frame["town"][unique]).sum())
    assert f"without it the record hides among <strong>{same_town}</strong>" in card
    assert "method=global_recoding&amp;columns=age" in card
    assert logged_in.get(f"/projects/{drafted.id}/workspace?now=yes&record={SIZE + 1}").status_code == 404


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_record_outside_the_sample_is_counted_in_the_whole_table(
    drafted: Project, logged_in: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(risk_sample, "MOST_RECORDS", 50)
    monkeypatch.setattr(desk, "PREVIEWS", preview.Previews())
    frame = make_frame()
    sizes = class_sizes(frame, ["age", "town"])
    place = f"/api/v1/projects/{drafted.id}/workspace/records"
    cards = [logged_in.get(f"{place}/{at + 1}").json() for at in range(0, SIZE, 23)]
    assert not all(card["in_sample"] for card in cards)
    for at, card in zip(range(0, SIZE, 23), cards, strict=True):
        assert card["sets"][0]["records"] == sizes[at]
        assert {cell["name"]: cell["before"] for cell in card["cells"]} == frame.row(at, named=True)
        without = {step["columns"][0]: step["records"] for step in card["help"] if step["columns"]}
        for name, other in (("age", "town"), ("town", "age")):
            count = int((frame[other] == frame[other][at]).sum())
            assert without.get(name, sizes[at]) == count


def test_drafts_of_one_sample_share_what_is_known_of_the_original(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, rows = make_frame(), np.arange(SIZE)
    drafts = [
        discreet.Policy.from_dict({"attributes": ATTRIBUTES, "limits": limits, "plan": {"steps": [*STEPS[:1], step]}})
        for limits in ({"k_anonymity.k": 3}, {"known_sets.high_risk": 5, "ncp.loss": 0.5})
        for step in (STEPS[1], {"method": "rounding", "columns": ["age"], "base": 7})
    ]
    reads: list[Any] = []
    read = preview.verbs.read
    monkeypatch.setattr(preview.verbs, "read", lambda *given: reads.append(given) or read(*given))
    table = preview.SampleTable()
    shared = [compute_preview(frame, rows, SIZE, draft, table) for draft in drafts]
    assert len(reads) == 1, "the sample is read once, not for each draft"
    for draft, one in zip(drafts, shared, strict=True):
        alone = compute_preview(frame, rows, SIZE, draft)
        assert one.release.masked.frame.equals(alone.release.masked.frame)
        assert one.assessment.to_dict() == alone.assessment.to_dict()
        assert (one.multiples, one.risks.counts) == (alone.multiples, alone.risks.counts)
        for own, other in zip(*([*side.shares.attributes, *side.shares.sets] for side in (one, alone)), strict=True):
            assert own == Share(other.label, pytest.approx(other.before), pytest.approx(other.after))


def test_labels_of_points_that_share_a_place_on_the_map_are_one_text() -> None:
    places = [(0.1, 5.0), (0.1, 5.0), (0.9, 1.0), (0.1, 5.01)]
    points = [{"release": at, "loss": loss, "risk": risk} for at, (loss, risk) in enumerate(places, 1)]
    drawn = lay_out(points, "k_anonymity.k", "ncp.loss")["points"]
    assert [point["text"] for point in drawn] == ["1, 2, 4", "", "3", ""]
    assert [point["on_left"] for point in drawn] == [False, False, True, False], "what is at the right has its text inside"
    sides = [{"label": side.upper(), "side": side, "loss": 0.9, "risk": 1.0} for side in "ab"]
    drawn = lay_out([*sides, {"label": "7", "side": "", "loss": 0.9, "risk": 1.0}], "k_anonymity.k", "ncp.loss")["points"]
    assert [(point["text"], point["on_left"]) for point in drawn] == [("A", False), ("B, 7", True), ("", True)]


@given(st.data())
def test_codes_of_a_file_find_the_records_that_agree(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.one_of(st.none(), st.sampled_from("abc")), min_size=1, max_size=20))
    file = tmp_path_factory.mktemp("codes") / "t.parquet"
    pl.DataFrame({"town": pl.Series(values, dtype=pl.String), "age": [len(value or "") for value in values]}).write_parquet(file)
    for most in (0, 10**6):
        codes = FileCodes(most)
        for value in (*values, "d", None):
            assert codes.find_agreeing(file, "town", value).tolist() == [one == value for one in values]
        assert codes.find_agreeing(file, "age", 1).tolist() == [value is not None for value in values]
        assert codes.held_bytes <= most


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_the_whole_table_takes_the_place_of_the_preview(
    drafted: Project, settings: Settings, store: Store, anna: User, logged_in: TestClient
) -> None:
    address = f"/projects/{drafted.id}/workspace?now=yes"
    assert "Run on the whole table" in logged_in.get(address).text
    run(settings, store, anna, drafted, "generate")
    page = logged_in.get(address).text
    assert "whole table</span>" in page
    assert "release 1</a>" in page
    assert "Run on the whole table" not in page
    stored = next(settings.folder(drafted.id).glob("releases/*/risks-confidential.parquet"))
    assert stored.stat().st_mode & 0o077 == 0
    assert pl.read_parquet(stored)["before"].to_list() == [1 / size for size in class_sizes(make_frame(), ["age", "town"])]
    with store.write() as connection:
        current = projects.get(connection, anna, drafted.id)
        policies.edit(connection, anna, current, current.revision, {"plan": {"steps": STEPS[:1]}})
    assert "Run on the whole table" in logged_in.get(address).text, "another plan is another draft"


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize("limits", [{"k_anonymity.k": 3}, {"known_sets.high_risk": 5}])
def test_distributions_and_shares_become_those_of_the_whole_table_after_its_run(
    settings: Settings, store: Store, anna: User, drafted: Project, logged_in: TestClient, monkeypatch: pytest.MonkeyPatch,
    limits: dict[str, float],
) -> None:  # fmt: skip
    with store.write() as connection:
        policies.edit(connection, anna, drafted, drafted.revision, {"limits": limits})
    monkeypatch.setattr(preview, "PREVIEWS", own := preview.Previews())
    monkeypatch.setattr(desk, "PREVIEWS", own)
    monkeypatch.setattr(preview, "draw_rows", lambda file, _: (make_frame()[:60], np.arange(60), SIZE))
    address = f"/api/v1/projects/{drafted.id}/workspace"
    sampled = logged_in.post(address, json={}).json()
    assert (sampled["is_sample"], sampled["whole_attributes"], sampled["whole_shares"]) == (True, False, False)
    assert {sum(one["before"]) for one in sampled["attributes"]} == {60}
    run(settings, store, anna, drafted, "generate")
    whole = logged_in.post(address, json={}).json()
    assert (whole["is_sample"], whole["whole_attributes"], whole["whole_shares"]) == (False, True, True)
    for one in whole["attributes"]:
        counted = make_bars(make_frame()[one["name"]])
        assert one["before"] == counted.count(make_frame()[one["name"]])
        assert sum(one["after"] or one["own_after"]) == SIZE
    before = {row["label"]: row["before"] for row in whole["by_set"]}
    if "k_anonymity.k" in limits:
        assert before["age"] == sum(size < 3 for size in class_sizes(make_frame(), ["age"]))
    else:
        assert sum(before.values()) > sum(row["before"] for row in sampled["by_set"]) > 0
    page = logged_in.get(f"/projects/{drafted.id}/workspace?now=yes").text
    for panel in ("multiples-panel", "shares-panel"):
        part = page.split(f'id="{panel}"')[1].split("</section>")[0]
        assert "all 400 records" in part
        assert "sample of" not in part
    chosen = logged_in.get(f"{address}/records", params={"attribute": "town", "bar": 0, "sort": "before", "threshold": 0}).json()
    town = next(one for one in whole["attributes"] if one["name"] == "town")
    assert chosen["total"] == town["before"][0], "a brushed bar holds the records of the whole table"


@given(st.integers(1, 60).flatmap(lambda size: st.tuples(st.integers(0, size), st.just(size))))
def test_wilsons_interval_solves_its_equation(case: tuple[int, int]) -> None:
    count, size = case
    low, high = wilson_interval(count, size)
    share = count / size
    assert 0 <= low <= share <= high <= 1
    for end in (low, high):
        if 0 < end < 1:
            assert (share - end) ** 2 == pytest.approx(1.959964**2 * end * (1 - end) / size, abs=1e-9)


@pytest.mark.parametrize(("towns", "ages"), [(3, 30), (10, 60), (40, 90)])
def test_the_interval_of_a_sample_holds_the_number_of_the_whole_table(towns: int, ages: int) -> None:
    rng = np.random.default_rng(towns)
    size, drawn = 30_000, 3_000
    frame = pl.DataFrame({"age": rng.integers(0, ages, size), "town": np.minimum(rng.geometric(2 / towns, size), towns)})
    policy = discreet.Policy.from_dict(
        {"attributes": {"age": {"role": "key"}, "town": {"role": "key"}}, "limits": {"k_anonymity.k": 5},
         "plan": {"steps": [{"method": "rounding", "columns": ["age"], "base": 3}]}}
    )  # fmt: skip
    whole = compute_preview(frame, np.arange(size), size, policy).risks
    inside = total = 0
    for seed in range(2):
        rows = np.sort(np.random.default_rng(seed).choice(size, drawn, replace=False))
        sample = compute_preview(frame[rows], rows, size, policy).risks
        for threshold in sample.thresholds:
            for truth, count in zip(whole.count_above(threshold), sample.count_above(threshold), strict=True):
                total += 1
                inside += count.low <= truth.measured <= count.high
    assert inside / total >= 0.95


def test_bars_of_shared_values_count_every_record_once() -> None:
    frame = make_frame()
    policy = discreet.Policy.from_dict({"attributes": ATTRIBUTES, "plan": {"steps": STEPS}})
    data = discreet.read(frame, policy)
    from discreet.masking.generate import generate

    multiples = describe_multiples(generate(data, policy.plan))
    assert [one.name for one in multiples] == ["age", "town", "ill"], "changed first, and no identifier"
    for one in multiples:
        assert sum(one.before) == SIZE
        assert sum(one.after or one.own_after or []) == SIZE
    ill = multiples[-1]
    assert ill.before[-1] == int(frame["ill"].is_null().sum())
    assert (multiples[0].own_bars is None, multiples[0].changed) == (False, SIZE)


@given(st.lists(st.one_of(st.none(), st.integers(-50, 50)), min_size=1, max_size=60))
def test_every_value_falls_into_one_bar_and_intervals_are_in_order(values: list[int | None]) -> None:
    column = pl.Series("x", values, dtype=pl.Int64)
    bars = make_bars(column)
    assigned = bars.assign(column)
    assert sum(bars.count(column)) == len(values)
    assert [at == len(bars.labels) - 1 for at in assigned] == [value is None for value in values]
    known = sorted((value, at) for value, at in zip(values, assigned, strict=True) if value is not None)
    if bars.edges:
        assert [at for _, at in known] == sorted(at for _, at in known)


def test_a_view_is_its_address() -> None:
    view = View.from_query({"at": "3", "on": "risk", "bar": "2", "sort": "before", "known.age": "0.5"})
    assert (view.at, view.on, view.bar, view.sort, view.known) == (3, RISK, 2, "before", {"known.age": "0.5"})
    query = dict(part.split("=") for part in view.to_query().removeprefix("?").split("&"))
    assert View.from_query(query) == view
    column = View.from_query({"on": "risk", "of": "attribute", "bar": "1"})
    assert column.on == "risk"
    assert "of=attribute" in column.to_query()
    for wrong in ({"at": "-1"}, {"page": "x"}, {"sort": "name"}, {"record": "9" * 12}):
        with pytest.raises(InvalidRequest):
            View.from_query(wrong)


def test_bands_hold_every_record_and_risk_falls_into_its_own() -> None:
    rng = np.random.default_rng(3)
    before, after = 10 ** rng.uniform(-7, 2, 500), np.where(rng.random(500) < 0.3, 0.0, 10 ** rng.uniform(-3, 1, 500))
    risks = RecordRisks("known_sets", np.arange(500), before, after, 500, 0.01)
    assert sum(band.before for band in risks.bands) == sum(band.after for band in risks.bands) == 500
    for band in risks.bands:
        assert band.before == sum(band.low <= risk < band.high for risk in before)
        assert band.after == sum(band.low <= risk < band.high for risk in after)
    places = [risks.place(threshold) for threshold in risks.thresholds]
    assert places == sorted(places)
    assert 0.01 in risks.thresholds


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_every_change_is_undone_and_redone_and_a_new_one_starts_a_branch(
    drafted: Project, store: Store, anna: User, logged_in: TestClient
) -> None:
    address, csrf = f"/projects/{drafted.id}/workspace", {"csrf": logged_in.headers["x-csrf-token"]}

    def limits() -> Any:
        with store.read() as connection:
            return policies.policy_document(connection, projects.get(connection, anna, drafted.id)).get("limits")

    def change(k: int) -> None:
        with store.write() as connection:
            current = projects.get(connection, anna, drafted.id)
            policies.edit(connection, anna, current, current.revision, {"limits": {"k_anonymity.k": k}}, f"k is {k}")

    def press(button: str) -> int:
        return logged_in.post(address, data={**csrf, "do": button}).status_code

    for k in (4, 5, 6):
        change(k)
    for expected in (5, 4, 3):
        assert press("undo") == 303
        assert limits() == {"k_anonymity.k": expected}
    for expected in (4, 5):
        assert press("redo") == 303
        assert limits() == {"k_anonymity.k": expected}
    assert "k is 6" in logged_in.get(address).text
    change(9)
    assert press("redo") == 409, "what was undone is on another branch"
    assert press("undo") == 303
    assert limits() == {"k_anonymity.k": 5}
    assert press("redo") == 303
    assert limits() == {"k_anonymity.k": 9}


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_the_rest_interface_says_what_the_page_shows(drafted: Project, logged_in: TestClient) -> None:
    place = f"/api/v1/projects/{drafted.id}"
    tried = logged_in.post(f"{place}/workspace", json={})
    assert tried.status_code == 200, tried.text
    content = tried.json()
    assert content["positions"] == positions_of(logged_in.get(f"/projects/{drafted.id}/workspace").text)
    assert (content["verdict"]["whole"], content["is_sample"]) == (False, False)
    sizes = class_sizes(make_frame(), ["age", "town"])
    listed = logged_in.get(f"{place}/workspace/records", params={"sort": "before", "threshold": 0.5, "size": 500}).json()
    assert [row["record"] for row in listed["rows"]] == [at + 1 for at, size in enumerate(sizes) if size == 1]
    assert listed["total"] == len(listed["rows"])
    card = logged_in.get(f"{place}/workspace/records/1").json()
    assert card["sets"][0]["records"] == sizes[0]
    by_attribute = {row["label"]: row["before"] for row in content["by_attribute"]}
    small = sum(size < 3 for size in sizes)
    assert by_attribute["age"] == small - sum(size < 3 for size in class_sizes(make_frame(), ["town"]))
    assert logged_in.get(f"{place}/workspace/map").json()["points"] == []
    assert logged_in.post(f"{place}/workspace", json={"known": {"name": 0.5}}).status_code == 422
    assert logged_in.post(f"{place}/policy/undo").json()["revision"] == drafted.revision + 1
    assert logged_in.post(f"{place}/policy/redo").json()["policy"]["plan"] == {"steps": STEPS}


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_guesses_are_tried_without_saving_them(drafted: Project, store: Store, anna: User, logged_in: TestClient) -> None:
    with store.write() as connection:
        sections = {"risk": {"known_sets": {"threshold": 1}}, "limits": {"known_sets.high_risk": 5}}
        policies.edit(connection, anna, drafted, drafted.revision, sections)
    address = f"/projects/{drafted.id}/workspace?now=yes"
    counts = []
    for known in ("0.1", "0.9"):
        page = logged_in.get(f"{address}&known.age={known}&known.town={known}").text
        assert "tried, not saved" in page
        counts.append(positions_of(page)[-2]["threshold"])
    assert counts[0] < counts[1], "the more is known, the higher the risk"
    assert "tried, not saved" not in logged_in.get(address).text
    csrf = {"csrf": logged_in.headers["x-csrf-token"], "base": str(drafted.revision + 1), "back": "workspace"}
    sent = logged_in.post(f"/projects/{drafted.id}/risk/guesses", data={**csrf, "action": "save", "known.age": "0.9"})
    assert sent.headers["location"] == f"/projects/{drafted.id}/workspace"
