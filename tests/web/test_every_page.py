"""Every address of the application in a real browser: accessible and not too wide, in light mode, dark mode and on a phone."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx2 as httpx
import pytest
from fastapi.routing import APIRoute
from patience import browser_wait, patient, wait_until

from discreet import Client
from discreet.reproduce.appendix import patients
from discreet.testing import hospital
from discreet.web.auth import accounts
from discreet.web.pages import routes
from discreet.web.serving import open_transaction

LONG = browser_wait(120)
SIZE = {"width": 1280, "height": 900}
STEPS = [{"method": "microaggregation", "columns": ["Age"], "size": 2}, {"method": "sampling", "fraction": 0.8}]
LIMITS = {"k_anonymity.k": 2}
PLACE = "/projects/{number}"
ADDRESSES: dict[str, list[str]] = {
    "/": ["/"],
    "/account": ["/account"],
    "/account/second-factor": ["/account/second-factor"],
    "/admin/audit": ["/admin/audit", "/admin/audit?check=yes"],
    "/admin/jobs": ["/admin/jobs"],
    "/admin/limits": ["/admin/limits"],
    "/admin/users": ["/admin/users"],
    "/api/docs": ["/api/docs"],
    "/login": ["/login?next=/account"],
    "/login/enrol": ["/login/enrol"],
    "/login/oidc": ["/login/oidc"],
    "/login/oidc/callback": ["/login/oidc/callback"],
    "/projects/new": ["/projects/new"],
    "/rescue/{secret}": ["/rescue/{rescue}", "/rescue/of-nobody"],
    "/welcome/{secret}": ["/welcome/{secret}", "/welcome/of-nobody"],
    PLACE: ["{full}", "{empty}"],
    f"{PLACE}/assess": ["{full}/assess", "{full}/assess?release=1", "{full}/assess?release=2&against=1", "{empty}/assess"],
    f"{PLACE}/attribute": ["{full}/attribute"],
    f"{PLACE}/attributes": ["{full}/attributes", "{empty}/attributes"],
    f"{PLACE}/attributes/{{name:path}}": ["{full}/attributes/Age", "{full}/attributes/Diagnosis"],
    f"{PLACE}/charts/map.svg": ["{full}/charts/map.svg?risk=k_anonymity.k&loss=changed_values.share"],
    f"{PLACE}/charts/searches/{{job}}.svg": ["{full}/charts/searches/{search}.svg"],
    f"{PLACE}/data": ["{full}/data", "{full}/data?f.Age=old", "{empty}/data"],
    f"{PLACE}/data/preview/{{job_id}}": ["{full}/data/preview/{preview}", "{full}/data/preview/{unreadable}"],
    f"{PLACE}/delete": ["{full}/delete"],
    f"{PLACE}/events": ["{full}/events"],
    f"{PLACE}/generate": ["{full}/generate", "{empty}/generate"],
    f"{PLACE}/hierarchy.csv": ["{full}/hierarchy.csv?name=Diagnosis"],
    f"{PLACE}/groups": ["{full}/groups"],
    f"{PLACE}/methods": ["{full}/methods", "{empty}/methods"],
    f"{PLACE}/methods/measures/{{kind}}/{{name}}": [
        "{full}/methods/measures/risk/known_sets", "{full}/methods/measures/loss/changed_values",
    ],
    f"{PLACE}/methods/steps/new": ["{full}/methods/steps/new?method=noise", "{empty}/methods/steps/new?method=noise"],
    f"{PLACE}/methods/steps/{{step_number}}": ["{full}/methods/steps/1", "{full}/methods/steps/9"],
    f"{PLACE}/methods/wizard": ["{full}/methods/wizard", "{empty}/methods/wizard"],
    f"{PLACE}/methods/wizard/{{job}}": ["{full}/methods/wizard/{search}"],
    f"{PLACE}/people": ["{full}/people"],
    f"{PLACE}/purge": ["{full}/purge"],
    f"{PLACE}/policy": ["{full}/policy"],
    f"{PLACE}/policy.yaml": ["{full}/policy.yaml"],
    f"{PLACE}/release": ["{full}/release", "{empty}/release"],
    f"{PLACE}/release-settings": ["{full}/release-settings"],
    f"{PLACE}/releases/{{release}}/download": ["{full}/releases/1/download?format=csv"],
    f"{PLACE}/releases/{{release}}/policy.yaml": ["{full}/releases/1/policy.yaml"],
    f"{PLACE}/releases/{{release}}/report": ["{full}/releases/1/report"],
    f"{PLACE}/releases/{{release}}/table": ["{full}/releases/1/table", "{full}/releases/2/table?against=1"],
    f"{PLACE}/risk": ["{full}/risk", "{empty}/risk"],
    f"{PLACE}/risk/guesses": ["{busy}/risk/guesses"],
    f"{PLACE}/risk/{{job}}/{{index}}.svg": ["{full}/risk/{risk}/0.svg"],
    f"{PLACE}/risk/{{job}}/{{index}}/attributes.svg": ["{full}/risk/{risk}/1/attributes.svg"],
    f"{PLACE}/workspace": [
        "{full}/workspace?now=yes", "{busy}/workspace?now=yes&record=7&on=sex&bar=0", "{empty}/workspace", "{busy}/workspace",
    ],
    f"{PLACE}/workspace/drafts": ["{busy}/workspace/drafts", "{empty}/workspace/drafts"],
    f"{PLACE}/workspace/compare": [
        "{busy}/workspace/compare?now=yes", "{busy}/workspace/compare", "{full}/workspace/compare?now=yes",
        "{empty}/workspace/compare",
    ],
}  # fmt: skip
"""Each route with addresses that show its different states."""
REFUSED = ("/welcome/of-nobody", "/rescue/of-nobody", "/login/oidc", "/login/oidc/callback", "{full}/methods/steps/9")
OUTSIDE = ("/login", "/welcome/", "/rescue/")
"""Pages for visitors who are not logged in."""


def test_every_route_of_the_application_is_checked_here() -> None:
    parts = [module for _, module in inspect.getmembers(routes, inspect.ismodule)]
    every = {
        route.path for part in parts for route in part.router.routes if isinstance(route, APIRoute) and "GET" in route.methods
    }
    assert set(ADDRESSES) == every


@dataclass(frozen=True)
class Filled:
    """The projects and jobs that the addresses name."""

    names: dict[str, str]
    client: Client

    def fill_in(self, address: str) -> str:
        """An address with the names filled in."""
        return address.format(**self.names)


@pytest.fixture(scope="module")
def filled(server_on_sqlite: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    server, folder = server_on_sqlite, tmp_path_factory.mktemp("tables")
    with httpx.Client(base_url=server.url, timeout=patient(60)) as person:
        assert person.post("/login", data={"name": server.name, "password": server.password}).status_code == 303
        person.headers["x-csrf-token"] = person.get("/").text.split('name="csrf" content="')[1].split('"')[0]
        token = person.post("/api/v1/tokens", json={"name": "pages", "scopes": ["read", "write", "release"]}).json()["secret"]
        link = person.post("/admin/users", data={"name": "Petra", "csrf": person.headers["x-csrf-token"]})
        secret = link.text.split("/welcome/")[1].split("<")[0].strip()
    with open_transaction(server.home, None) as connection:
        _, rescue = accounts.create_rescue_link(connection, server.name)
    with Client(server.url, token) as client:
        full, empty, busy = (client.create_project(f"Every page, {kind}")["id"] for kind in ("full", "empty", "busy"))
        data = patients()
        data.frame.write_csv(folder / "patient.csv")
        client.upload(full, folder / "patient.csv")
        (folder / "visits.csv").write_text("Visits 2020;;;\nid;dob;income;note\n1;01/03/1970;1,5;NA\n2;02/04/1981;2,5;x\n")
        preview = client.preview(full, folder / "visits.csv")
        unreadable = client.preview(full, preview["staged"], read={"dates": {"dob": "%Y"}})
        previews = {"preview": preview["staged"]["preview"], "unreadable": unreadable["staged"]["preview"]}
        sections = {f"attributes.{name}": {"role": attribute.role.value} for name, attribute in data.policy.attributes.items()}
        client.edit(
            full,
            {
                **sections,
                "risk": {"k_anonymity": {}, "special_uniques": {}},
                "loss": {"changed_values": {}},
                "limits": LIMITS,
                "plan": {},
            },
        )
        client.edit(full, {"plan": {"steps": STEPS}})
        risk = client.submit(full, "risk")
        client.run(full, "generate")
        client.edit(full, {"plan": {"steps": STEPS, "release": 2}})
        client.run(full, "generate")
        client.submit_release(full, 1, "For the teaching course.")
        search = client.submit(full, "select", {"trials": 4})
        large = hospital(2000)
        large.frame.write_parquet(folder / "hospital.parquet")
        client.upload(busy, folder / "hospital.parquet")
        policy = large.policy.model_dump(mode="json", exclude_defaults=True)
        client.set_policy(busy, {**policy, "limits": {"k_anonymity.k": 3}})
        wait_for_job(client, full, risk)
        wait_for_job(client, full, search)
        places = {"full": full, "empty": empty, "busy": busy}
        names = {name: f"/projects/{number}" for name, number in places.items()}
        yield Filled({**names, "secret": secret, "risk": risk, "search": search, "rescue": rescue, **previews}, client)


def wait_for_job(client: Client, project: int, job: str) -> None:
    """Wait until a job has ended."""

    def ended_job() -> dict[str, Any]:
        state = client.job(project, job)
        return {} if state["state"] in ("queued", "running") else state

    state = wait_until(ended_job, "the job did not end", seconds=300)
    assert state["state"] == "done", state


@pytest.fixture(scope="module")
def person(server_on_sqlite: Any, browser: Any) -> Any:
    """The cookies of the administrator, logged in once for all pages."""
    server, context = server_on_sqlite, browser.new_context()
    page = context.new_page()
    page.goto(f"{server.url}/login")
    page.get_by_label("Name").fill(server.name)
    page.get_by_label("Password").fill(server.password)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"{server.url}/")
    state = context.storage_state()
    context.close()
    return state


@pytest.fixture(scope="module")
def window(person: Any, watched_by_module: Callable[..., Any]) -> Any:
    """A page of the administrator, in which one address is opened after another."""
    return watched_by_module(viewport=SIZE, storage_state=person)


@pytest.mark.parametrize("route", sorted(ADDRESSES))
def test_every_page_is_accessible(
    route: str,
    filled: Filled,
    server: Any,
    person: Any,
    window: Any,
    watched: Callable[..., Any],
    check_page: Callable[..., None],
) -> None:
    cookies = {} if route.startswith(OUTSIDE) else {cookie["name"]: cookie["value"] for cookie in person["cookies"]}
    if cookies:
        seen = window
        seen.page.set_viewport_size(SIZE)  # whatever a test that failed has left
        seen.requests.clear()
        seen.complaints.clear()
    else:
        seen = watched(viewport=SIZE)
    for place, template in enumerate(ADDRESSES[route]):
        address = f"{server.url}{filled.fill_in(template)}"
        with httpx.stream("GET", address, cookies=cookies, timeout=patient(60)) as answer:
            assert (answer.status_code >= 400) == (template in REFUSED), f"{address}: {answer.status_code}"
            if not answer.headers.get("content-type", "").startswith("text/html"):
                assert answer.status_code in (200, 303)  # a file, an image, events, or a redirect to a page
                continue
        seen.page.goto(address)
        drop_refusals(seen)
        name = route.strip("/").replace("/", "-").replace("{number}-", "") or "projects"
        check_page(seen, f"every-{name}-{place}", every_rule=True)


def test_a_running_search_is_accessible(
    filled: Filled, server: Any, person: Any, watched: Callable[..., Any], check_page: Callable[..., None]
) -> None:
    project = int(filled.names["busy"].rpartition("/")[2])
    search = filled.client.submit(project, "select", {"seconds": 3600})
    try:
        seen = watched(viewport=SIZE, storage_state=person)
        seen.page.goto(f"{server.url}{filled.names['busy']}/methods/wizard/{search}")
        seen.page.locator("#chart svg a").first.wait_for(timeout=LONG)
        assert seen.page.locator("#search").get_attribute("data-state") == "running"
        check_page(seen, "every-search-running")
        seen.page.goto(f"{server.url}{filled.names['busy']}")
        seen.page.get_by_role("button", name="Cancel").first.wait_for()
        check_page(seen, "every-project-running")
    finally:
        filled.client.cancel(project, search)


def test_error_messages_are_accessible(
    filled: Filled, server: Any, person: Any, watched: Callable[..., Any], check_page: Callable[..., None]
) -> None:
    stranger = watched(viewport=SIZE)
    page = stranger.page

    def check_message(seen: Any, name: str, message: str) -> None:
        seen.page.get_by_text(message).first.wait_for()
        drop_refusals(seen)
        check_page(seen, f"every-refused-{name}")

    page.goto(f"{server.url}/login")
    page.get_by_label("Name").fill("nobody")
    page.get_by_label("Password").fill("not a password of anybody")
    page.get_by_role("button", name="Log in").click()
    check_message(stranger, "login", "is wrong")
    page.goto(f"{server.url}{filled.fill_in('/welcome/{secret}')}")
    page.get_by_label("New password").fill("a longer password than most")
    page.get_by_label("Repeat password").fill("another password than before")
    page.get_by_role("button", name="Set password and log in").click()
    check_message(stranger, "welcome", "not the same")
    for label in ("New password", "Repeat password"):
        page.get_by_label(label).fill("a longer password than most")
    page.get_by_role("button", name="Set password and log in").click()
    page.wait_for_url(f"{server.url}/")
    page.goto(f"{server.url}/admin/users")
    check_message(stranger, "403", "administrator")
    page.goto(f"{server.url}{filled.names['full']}")
    check_message(stranger, "404", "does not exist or is not visible")
    page.goto(f"{server.url}/nothing/here")
    check_message(stranger, "404-address", "page not found")

    seen = watched(viewport=SIZE, storage_state=person)
    page = seen.page
    page.goto(f"{server.url}/projects/new")
    page.get_by_label("Name", exact=True).fill("Every page, full")
    page.get_by_role("button", name="Create project").click()
    check_message(seen, "name", "you have a project")
    page.goto(f"{server.url}{filled.names['empty']}/data")
    page.locator("form").evaluate_all("forms => forms.forEach(form => { form.noValidate = true })")
    page.get_by_role("button", name="Upload", exact=True).click()
    check_message(seen, "upload", "choose a file first")
    page.goto(f"{server.url}{filled.names['full']}/methods/steps/1")
    page.get_by_label("size").fill("0")
    page.locator("form").evaluate_all("forms => forms.forEach(form => { form.noValidate = true })")
    page.get_by_role("button", name="Save").click()
    check_message(seen, "step", "size")


def test_the_attributes_are_one_row_of_tab_stops_and_are_set_in_bulk_by_keyboard(
    filled: Filled, server: Any, person: Any, watched: Callable[..., Any]
) -> None:
    page = watched(viewport=SIZE, storage_state=person).page
    page.goto(f"{server.url}{filled.names['busy']}/attributes?order=table")
    boxes = page.locator("input[name=pick]")
    boxes.first.focus()
    for key in ("Space", "ArrowDown", "ArrowDown", "Space"):
        page.keyboard.press(key)
    assert [box.is_checked() for box in boxes.all()[:4]] == [True, False, True, False]
    assert page.locator("[data-ticked]").inner_text() == "2"
    stops = 0
    while page.evaluate("document.activeElement.closest('table[data-rows]') !== null"):
        page.keyboard.press("Tab")
        stops += 1
    assert stops <= 8, "the fields of one row"
    before = filled.client.policy(int(filled.names["busy"].rpartition("/")[2]))["policy"]["attributes"]
    page.locator("input[name='bulk.known']").fill("0.125")
    page.keyboard.press("Enter")
    page.wait_for_url("**done=saved")
    after = filled.client.policy(int(filled.names["busy"].rpartition("/")[2]))["policy"]["attributes"]
    assert [name for name in after if after[name] != before.get(name)] == [
        name for name in after if after[name].get("known") == 0.125
    ]
    assert sum(after[name].get("known") == 0.125 for name in after) == 2


def test_the_steps_of_a_project_stay_on_one_line_however_long_its_name_is(
    filled: Filled, server: Any, person: Any, watched: Callable[..., Any]
) -> None:
    number = filled.client.create_project("A project with a name that is longer than the navigation is wide: " + "x" * 40)["id"]
    page = watched(viewport={"width": 1200, "height": 900}, storage_state=person).page
    page.goto(f"{server.url}/projects/{number}/data")
    for width in (1024, 1200, 1280, 1600):
        page.set_viewport_size({"width": width, "height": 900})
        tops = page.locator(".walk a").evaluate_all("links => links.map(link => Math.round(link.getBoundingClientRect().top))")
        assert len(tops) == 9
        assert len(set(tops)) == 1, f"the navigation wraps at {width} pixels"
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width


def drop_refusals(seen: Any) -> None:
    """Ignore responses of 4xx, which the browser reports in its console."""
    seen.complaints[:] = [line for line in seen.complaints if "the server responded with a status of 4" not in line]
