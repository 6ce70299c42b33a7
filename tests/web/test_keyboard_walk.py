"""Table A.1 from the login to a generated release, and a decision in the workspace, with the keyboard alone.

Fields are reached by Tab and Shift+Tab, links and buttons are pressed by Enter or Space. A target that is further away than
``MOST_TABS`` stops from the top of the page's content counts as not reachable.
"""

from __future__ import annotations

import re
from typing import Any

from page_steps import add_person
from patience import browser_wait
from playwright.sync_api import Locator, Page, expect

LONG = browser_wait(20)
MOST_TABS = 50
IS_FOCUSED = "element => element === document.activeElement"


class Keyboard:
    """A page that is used without a mouse; ``stops`` are the presses of Tab until each target."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.stops: dict[str, int] = {}

    def skip_to_content(self) -> None:
        """Leave the navigation out, as people do who use no mouse."""
        for _ in range(2):  # where the page put the focus into its form, the link is behind
            self.page.keyboard.press("Tab")
            if self.page.locator(".skip").evaluate(IS_FOCUSED):
                self.page.keyboard.press("Enter")
                assert self.page.evaluate("document.activeElement.id") == "main"
                return

    def reach(self, name: str | re.Pattern[str], role: Any = "button", key: str = "Tab") -> Locator:
        """Press Tab until the focus is on the control; it must be seen to have it."""
        target = self.page.get_by_role(role, name=name).first
        target.wait_for(timeout=LONG)
        return self.reach_target(target, str(name), key)

    def reach_target(self, target: Locator, name: str, key: str = "Tab") -> Locator:
        for presses in range(MOST_TABS):
            if target.evaluate(IS_FOCUSED):
                assert target.evaluate("element => element.matches(':focus-visible')"), f"the focus on {name} is not seen"
                self.stops[name] = presses
                return target
            self.page.keyboard.press(key)
        raise AssertionError(f"{name} is not reached by {MOST_TABS} presses of {key} on {self.page.url}")

    def press(self, name: str | re.Pattern[str], role: Any = "button", key: str = "Enter") -> None:
        """Reach a control and press it."""
        self.reach(name, role)
        self.page.keyboard.press(key)

    def type(self, name: str | re.Pattern[str], text: str, role: Any = "textbox") -> None:
        self.reach(name, role)
        self.page.keyboard.press("Control+A")
        self.page.keyboard.type(text)


def test_table_a1_is_released_and_examined_with_the_keyboard_alone(server: Any, watched: Any, table_a1: Any) -> None:
    name = add_person(server, "Keyboard user")
    seen = watched(viewport={"width": 1280, "height": 900})
    page = seen.page
    page.set_default_timeout(LONG)
    page.on("filechooser", lambda _: None)  # Chromium hands its dialogue over only some time after it is asked to: ask at once
    keyboard = Keyboard(page)
    page.goto(f"{server.url}/login")
    keyboard.type("Name", name)
    keyboard.reach_target(page.get_by_label("Password"), "Password")
    page.keyboard.type(server.password)
    keyboard.press("Log in")
    keyboard.type("Name of the project", "Patient by keyboard")
    keyboard.press("Create the first project", key="Space")

    page.wait_for_url(re.compile(r"/projects/\d+/data$"))
    keyboard.skip_to_content()
    keyboard.reach_target(page.get_by_label("File", exact=True), "File")
    with page.expect_file_chooser() as dialogue:
        page.keyboard.press("Enter")
    dialogue.value.set_files(table_a1.file)
    keyboard.press(re.compile("^Upload$"))
    page.wait_for_url(re.compile(r"/data/preview/[0-9a-f]{32}"))
    keyboard.press("Import, then classify the attributes")
    page.get_by_role("button", name="Accept all, then choose limits").wait_for()
    keyboard.skip_to_content()
    keyboard.press("Accept all, then choose limits")
    page.wait_for_url("**/methods/wizard")
    keyboard.skip_to_content()
    keyboard.press("Use the limits for the audience Internal")
    page.wait_for_url("**/methods/wizard#limits")
    keyboard.type("Budget", "10", role="spinbutton")
    keyboard.reach(re.compile("^Use the limits for the audience"), key="Shift+Tab")  # and back, in the reverse order
    keyboard.press("Start the search")
    page.locator('#search[data-state="done"]').wait_for()
    keyboard.skip_to_content()
    chart = page.locator("#chart svg a[tabindex='0']")
    expect(chart).to_have_count(1, timeout=LONG)  # one point is a tab stop, however many plans were tried
    keyboard.reach_target(chart.first, "a plan of the chart")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.id").startswith("point-"), "the arrow keys go from plan to plan"
    keyboard.press("Use this plan and generate the release")
    expect(page.get_by_role("button", name="Submit release 1 for approval")).to_be_visible(timeout=LONG)

    # the workspace: the threshold by the arrow keys, a bar, a record
    keyboard.press("Workspace", role="link")
    slider = page.get_by_role("slider", name="Threshold")
    slider.wait_for()
    keyboard.skip_to_content()
    keyboard.reach_target(slider, "Threshold")
    before = slider.get_attribute("aria-valuetext")
    page.keyboard.press("ArrowLeft")
    expect(slider).not_to_have_attribute("aria-valuetext", before or "", timeout=LONG)
    for _ in range(25):
        page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(re.compile(r"at=0"), timeout=LONG)
    expect(page.locator("#views")).not_to_have_attribute("aria-busy", "true", timeout=LONG)
    assert slider.evaluate(IS_FOCUSED), "the focus stays on the slider"
    keyboard.reach_target(page.locator("#band-0, [data-rove] a[tabindex='0']").first, "a bar of the risk", key="Shift+Tab")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Tab")
    expect(page.locator("#records-panel tbody a").first).to_be_visible(timeout=LONG)
    record = page.locator("#records-panel tbody a").first
    keyboard.reach_target(record, "a record")
    page.keyboard.press("Enter")
    expect(page.locator("#card-panel")).to_contain_text("Whom it hides among", timeout=LONG)
    assert page.evaluate("document.activeElement.id") == "card"
    bar = page.locator("#multiples-panel [data-rove] a[tabindex='0']").first
    keyboard.reach_target(bar, "a bar of an attribute")
    page.keyboard.press("Enter")
    expect(page.locator("#clear")).to_be_visible(timeout=LONG)
    keyboard.reach_target(page.locator("#clear"), "Clear the filter", key="Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#clear")).to_have_count(0, timeout=LONG)
    assert seen.complaints == []
