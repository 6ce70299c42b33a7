"""Pages of the wizard and of the project speak of limits in sentences; names of fields are for policies and programs."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from fastapi.testclient import TestClient
from web_jobs import run

from discreet.assessment.limit_sentences import field_words, limit_sentence
from discreet.web.auth.accounts import User
from discreet.web.db.store import Store
from discreet.web.jobs import queue
from discreet.web.pages.forms.catalogue import spell_out
from discreet.web.pages.frontier import read_search
from discreet.web.projects import projects
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings

LIMIT = ("k_anonymity.k", 2)


@pytest.fixture
def database() -> None:
    """One database is enough here: the services are tested on each."""


def visible_text(page: str) -> str:
    """The text of the main part without attributes of elements and without parts that are folded away as names for programs."""
    main = page.partition("<main")[2].partition("</main>")[0]
    without_options = re.sub(r"<option.*?</option>", "", main, flags=re.DOTALL)
    names = r"<details><summary>(?:Its name and meaning|Name|Source and conditions)</summary>.*?</details>"
    folded = re.sub(names, "", without_options)
    return re.sub(r"<[^>]*>", " ", folded)


def test_a_search_is_shown_in_words(
    logged_in: TestClient, settings: Settings, store: Store, anna: User, released: Project
) -> None:
    run(settings, store, anna, released, "select", trials=2)
    with store.read() as connection:
        current = projects.get(connection, anna, released.id)
        job = queue.latest_job(connection, current, "select")
    assert job is not None
    home = f"/projects/{released.id}"
    page = logged_in.get(f"{home}/methods/wizard/{job.id}")
    assert page.status_code == 200
    text = visible_text(page.text)
    assert limit_sentence(*LIMIT) in text
    assert field_words(LIMIT[0])[0] in text.lower()
    assert re.findall(r"\b(?:k_anonymity|ncp|falsehood|associations|known_sets)\.[a-z_0-9]+", text) == []
    assert "remove_identifiers" not in text, "methods are named in words, too"

    for address in (home, f"{home}/methods/wizard"):
        text = visible_text(logged_in.get(address).text)
        if address == home:  # the policy file on this page is the place for names
            text = text.partition("Policy file")[0]
        assert limit_sentence(*LIMIT) in text, address
        assert LIMIT[0] not in text, address


def test_names_of_methods_in_a_sentence_become_words() -> None:
    assert spell_out("1. remove_identifiers; 2. local_suppression of zip") == "1. remove identifiers; 2. local suppression of zip"
    assert spell_out("birth_date stays") == "birth_date stays", "an attribute keeps its name"


@pytest.mark.parametrize(
    ("kept", "missed", "gaps", "verdict"),
    [
        (True, {}, 0, "meets every limit"),
        (False, {}, 2, "gaps left"),
        (False, {"k_anonymity.k": 0.5}, None, "a limit is not met"),
        (False, {}, None, "gaps not looked for"),
    ],
)
def test_a_plan_with_gaps_or_unexamined_is_not_said_to_miss_a_limit(
    kept: bool, missed: dict[str, float], gaps: int | None, verdict: str
) -> None:
    trial = {"number": 1, "risk": -2.0, "loss": 0.1, "kept": kept, "missed": missed, "gaps": gaps, "whole": True, "plan": {}}
    job = SimpleNamespace(partial=[trial], result=None, parameters={})
    search = read_search(job)  # type: ignore[arg-type]
    assert [plan.verdict for plan in search.plans] == [verdict]
    assert [point["verdict"] for point in search.chart_points] == [verdict]
