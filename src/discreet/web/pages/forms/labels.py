"""Plans in words."""

from __future__ import annotations

from typing import Any

from discreet import registry
from discreet.model.policy import Plan
from discreet.web.pages.forms import catalogue, fields


def step_rows(plan: Plan) -> list[dict[str, Any]]:
    """A row a step: title, columns, parameters as text, summary, enabled."""
    made = []
    for number, step in enumerate(plan.steps, 1):
        known = catalogue.entry("masking", step.method) if step.method in registry.names("masking") else {}
        made.append(
            {
                "number": number, "step": step, "title": catalogue.title(step.method), "columns": step.columns or (),
                "said": [(name.replace("_", " "), fields.text(value)) for name, value in step.parameters.items()],
                "summary": known.get("summary", "this method is not installed"), "preserves": known.get("preserves", ""),
                "enabled": step.enabled,
            }
        )  # fmt: skip
    return made
