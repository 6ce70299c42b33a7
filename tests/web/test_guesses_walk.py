"""The sliders of the risk page in a real browser: they move the distribution, and are saved and confirmed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from patience import browser_wait
from playwright.sync_api import expect

LONG = browser_wait(120)


def test_a_slider_moves_the_distribution_of_a_sample(import_table: Any, visit: Any, check_page: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    size = 30_000
    file = tmp_path / "patients.csv"
    pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], size), "age": rng.integers(18, 90, size), "zip": rng.integers(8000, 8060, size),
            "diagnosis": rng.choice(["Flu", "Cancer", "Asthma"], size),
        }
    ).write_csv(file)  # fmt: skip
    project = import_table("Sliders", file)
    seen = visit()
    page = seen.page
    page.goto(f"{project}/attributes")
    page.get_by_role("button", name="Accept all proposals").click(timeout=LONG)
    page.wait_for_url("**/attributes?done=saved")
    page.get_by_label("Sensitivity of diagnosis").fill("1")
    page.get_by_label("Role of diagnosis", exact=True).select_option("confidential")
    page.get_by_role("button", name="Save", exact=False).first.click()
    page.goto(f"{project}/risk")
    age = page.get_by_role("slider", name="age")
    zip_before, diagnosis_before = (page.get_by_role("slider", name=name).input_value() for name in ("zip", "diagnosis"))
    assert diagnosis_before == "0.001"
    age.fill("0.05")
    expect(page.get_by_text("A sample of 20,000 of 30,000 records")).to_be_visible(timeout=LONG)
    mean = page.locator("#guesses-fields tr", has_text="mean").locator("td")
    low = float(mean.inner_text().replace(",", ""))
    age.fill("0.95")
    expect(mean).not_to_have_text(f"{low:,}", timeout=LONG)
    assert float(mean.inner_text().replace(",", "")) > low
    check_page(seen, "risk-sliders", every_rule=True)
    page.get_by_role("button", name="Save into the policy").click()
    expect(page.get_by_text("The probabilities were saved into the policy")).to_be_visible(timeout=LONG)
    expect(page.get_by_role("slider", name="age")).to_have_value("0.95")
    expect(page.get_by_role("slider", name="zip")).to_have_value(zip_before)  # what was not moved stays, whatever its digits
    expect(page.get_by_role("slider", name="diagnosis")).to_have_value(diagnosis_before)
    page.get_by_role("slider", name="age").fill("0.5")
    page.get_by_role("button", name="Confirm on the whole table").click()
    expect(page.get_by_role("heading", name="Confirmed on all 30,000 records")).to_be_visible(timeout=LONG)
    assert seen.complaints == []
