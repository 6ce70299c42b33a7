"""The form of a search: its budget, what the plan may do to which column, and the axes of the map."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.datastructures import FormData

from discreet import registry
from discreet.model.policy import Policy
from discreet.selection.objective import OBJECTIVE, PARTS, ObjectiveWeights
from discreet.selection.options import PERTURBATIVE
from discreet.web.errors import InvalidRequest
from discreet.web.pages.forms import catalogue, editing

_KEEP = "keep:"
"""The start of the name of a field with the share of a column's values to keep, in percent."""


def read_search_form(form: FormData) -> dict[str, Any]:
    """The parameters of a search job; whatever the form shows overrides the policy's ``select`` section."""
    parameters: dict[str, Any] = {**_read_budget(form), **_read_axes(form)}
    if "options" in form:  # the part of the form on what a plan may do was shown, so that what is unchecked is meant
        parameters |= {
            "truthful": form.get("truthful") is not None,
            "allow": [str(method) for method in form.getlist("allow")],
            "protect": [str(name) for name in form.getlist("protect")],
            "keep": {
                name.removeprefix(_KEEP): _read_number(form, name, "the share to keep", highest=100) / 100
                for name in form
                if name.startswith(_KEEP) and str(form[name]).strip()
            },
            "analyses": [line.strip() for line in str(form.get("analyses", "")).splitlines() if line.strip()],
            "objective": {part: _read_number(form, f"weight:{part}", f"the weight of {part}") for part in PARTS},
        }
    if prefer := str(form.get("prefer", "")):
        parameters["prefer"] = prefer
    return parameters


def _read_budget(form: FormData) -> dict[str, Any]:
    amount = str(form.get("amount", "")).strip()
    try:
        budget = float(amount)
    except ValueError:
        raise InvalidRequest(f"the budget is a number of seconds or of plans; got '{amount[:40]}'") from None
    if not math.isfinite(budget):
        raise InvalidRequest(f"the budget is a number of seconds or of plans; got '{amount[:40]}'")
    return {"trials": int(budget)} if str(form.get("unit", "seconds")) == "trials" else {"seconds": budget}


def _read_axes(form: FormData) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    for name, kind in (("risk", "risk"), ("loss", "loss")):
        axis = str(form.get(name, ""))
        if axis == OBJECTIVE and kind == "loss":
            parameters[name] = axis
        elif axis:
            if axis.count(".") != 1 or registry.resolve_limit(axis, origin="the map")[0] != kind:
                raise InvalidRequest(f"'{axis[:60]}' is not a {kind}")
            parameters[name] = axis
    if str(form.get("seed", "")).strip():
        parameters["seed"] = editing.read_whole_number(form, "seed")
    return parameters


def _read_number(form: FormData, name: str, what: str, highest: float = math.inf) -> float:
    text = str(form.get(name, "")).strip()
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number <= highest:
        bounds = f"from 0 to {highest:g}" if math.isfinite(highest) else "of at least 0"
        raise InvalidRequest(f"{what} is a number {bounds}; got '{text[:40]}'")
    return number


def search_form_values(policy: Policy, columns: Sequence[str], form: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What the form shows: the policy's ``select`` section, or what was entered where that was refused."""
    select = policy.select
    entered = form if form is not None and "options" in form else None
    weights = {**ObjectiveWeights().model_dump(), **(select.get("objective") or {})}
    protected, keep = set(select.get("protect", ())), select.get("keep", {})
    allowed, analyses = set(select.get("allow", ())), "\n".join(select.get("analyses", ()))
    truthful = bool(select.get("truthful", True))
    shares = {name: f"{100 * float(keep[name]):g}" for name in keep}
    if isinstance(entered, FormData):
        truthful, analyses = entered.get("truthful") is not None, str(entered.get("analyses", ""))
        allowed, protected = set(map(str, entered.getlist("allow"))), set(map(str, entered.getlist("protect")))
        weights = {part: str(entered.get(f"weight:{part}", "")) for part in PARTS}
        shares = {name.removeprefix(_KEEP): str(entered[name]) for name in entered if name.startswith(_KEEP)}
    return {
        "truthful": truthful,
        "methods": [{"name": method, "title": catalogue.title(method), "allowed": method in allowed} for method in PERTURBATIVE],
        "analyses": analyses,
        "weights": weights,
        "columns": [
            {
                "name": name,
                "role": policy.attributes[name].role.value if name in policy.attributes else "other",
                "protected": name in protected,
                "keep": shares.get(name, ""),
            }
            for name in columns
        ],
    }
