"""The steps of a plan as rows for a page."""

from __future__ import annotations

from typing import Any

from discreet import registry
from discreet.model.policy import Plan
from discreet.selection.step_sentences import as_sentence, format_step
from discreet.web.pages.forms import catalogue, fields


def step_rows(plan: Plan) -> list[dict[str, Any]]:
    """One row per step: title, columns, parameters as text, summary, enabled, and what it does as a sentence."""
    rows = []
    for number, step in enumerate(plan.steps, 1):
        entry = catalogue.entry("masking", step.method) if step.method in registry.installed_names("masking") else {}
        rows.append(
            {
                "number": number, "step": step, "title": catalogue.title(step.method), "columns": step.columns or (),
                "parameters": [(name.replace("_", " "), fields.format_value(value)) for name, value in step.parameters.items()],
                "summary": entry.get("summary", "this method is not installed"), "preserves": entry.get("preserves", ""),
                "enabled": step.enabled, "sentence": as_sentence(format_step(step)),
            }
        )  # fmt: skip
    return rows
