"""A plan of the wizard that meets the limits meets them when the project adopts and generates it."""

from __future__ import annotations

import io

import numpy as np
import polars as pl
from web_jobs import run_new_job

from discreet.model.policy import Policy
from discreet.web.auth.accounts import User
from discreet.web.db.store import Store
from discreet.web.pages.forms import editing
from discreet.web.pages.frontier import read_search
from discreet.web.projects import datasets, policies, projects, releases
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings


def people() -> pl.DataFrame:
    rng = np.random.default_rng(12)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 80, 250),
            "town": rng.choice(["Ashford", "Brill", "Cove", "Dunster", "Ely", "Frome", "Goole"], 250),
            "sex": rng.choice(["f", "m"], 250),
            "illness": rng.choice(["flu", "asthma", "none"], 250),
        }
    )


def test_every_plan_that_meets_the_limits_can_be_adopted_and_generated(
    settings: Settings, store: Store, anna: User, project: Project
) -> None:
    buffer = io.BytesIO()
    people().write_csv(buffer)
    uploaded = datasets.receive_upload(settings, project, iter([buffer.getvalue()]), "people.csv")
    run_new_job(settings, store, anna, project, "import", upload=uploaded.name, name="people.csv")
    sections = {f"attributes.{name}": {"role": "key"} for name in ("age", "town", "sex")}
    sections |= {"attributes.illness": {"role": "confidential"}, "risk": {"k_anonymity": {}}, "limits": {"k_anonymity.k": 4}}
    with store.write() as connection:
        policies.edit(connection, anna, project, 0, sections)
    search = read_search(run_new_job(settings, store, anna, project, "select", trials=10, seed=4))
    assert search.failed_count == 0
    assert "age" in search.hierarchies
    candidates = [plan for plan in search.plans if plan.meets_limits and plan.whole_table]
    assert len(candidates) >= 3
    for candidate in candidates:
        with store.write() as connection:
            current = projects.get(connection, anna, project.id)
            plan = Policy.from_dict({"plan": candidate.plan}).plan
            editing.save_plan(connection, anna, current, current.revision, plan, "adopted", hierarchies=search.hierarchies)
        run_new_job(settings, store, anna, project, "generate")
        with store.read() as connection:
            release = releases.get(connection, projects.get(connection, anna, project.id))
        limits = {limit["limit"]: limit for limit in release.assessment["verdict"]["limits"]}
        assert limits["k_anonymity.k"]["kept"], candidate.plan
        assert limits["k_anonymity.k"]["found"] == candidate.numbers["k_anonymity.k"], candidate.plan
