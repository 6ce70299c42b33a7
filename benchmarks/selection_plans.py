"""Twenty plans that a statistician would write down for a table, given the class size that its limit asks for."""

from __future__ import annotations

from typing import Any

from discreet.engine.cells.hierarchies import hierarchy_of
from discreet.model.attribute import Level, Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Policy

Steps = list[dict[str, Any]]


def plans_by_hand(data: Microdata, k: int) -> dict[str, Plan]:
    """The plans by name; ``k`` is the class size that the limits need, and ``data`` has all hierarchies."""
    keys = data.named(Role.KEY)
    base: Steps = [{"method": "remove_identifiers"}] if data.named(Role.IDENTIFIER) else []
    heights = {name: hierarchy_of(data, name).height for name in keys}
    counts = {name: data.frame[name].n_unique() for name in keys}
    many = sorted(keys, key=lambda name: -counts[name])
    numbers = [name for name in keys if data.level(name) is Level.NUMERIC and data.frame.schema[name].is_numeric()]
    category = data.policy.risk.get("k_anonymity", {}).get("missing", "category") == "category"
    blanks = {"blanks": "category"} if category else {}

    def recode(level: int, names: list[str] = keys) -> Steps:
        coarse = {name: min(level, heights[name] - 1) for name in names}
        return [{"method": "global_recoding", "columns": [name], "level": one} for name, one in coarse.items() if one > 0]

    def drop(number: int) -> Steps:
        return [{"method": "global_recoding", "columns": [name], "level": heights[name]} for name in many[:number]]

    def local(size: int, names: list[str] = keys) -> dict[str, Any]:
        return {"method": "local_suppression", "columns": names, "k": size, **blanks}

    kept = {number: [name for name in keys if name not in many[:number]] or keys[:1] for number in (1, 2, 3, 5)}
    mondrian = {"method": "generalization", "columns": keys, "k": k, "algorithm": "partition"}
    full = {"method": "generalization", "columns": kept[3], "k": k, "suppression_limit": 0.05}
    balanced = {"method": "balanced_partition", "columns": keys, "criterion": "records", "k": k, "whole": True}
    mdav = {"method": "microaggregation", "columns": keys, "size": k, "how": "mdav", "whole": True, "exact_up_to": 2000}
    average = [{"method": "microaggregation", "columns": [name], "size": k, "whole": True} for name in numbers]
    rest = [name for name in keys if name not in numbers] or keys
    lists: dict[str, Steps] = {
        "local suppression": [local(k)],
        "local suppression, twice k": [local(2 * k)],
        "local suppression, three times k": [local(3 * k)],
        "recoded one level, local suppression": [*recode(1), local(k)],
        "recoded one level, local suppression, twice k": [*recode(1), local(2 * k)],
        "recoded two levels, local suppression": [*recode(2), local(k)],
        "recoded two levels, local suppression, twice k": [*recode(2), local(2 * k)],
        "recoded three levels, local suppression, twice k": [*recode(3), local(2 * k)],
        "longest key dropped, local suppression": [*drop(1), *recode(1, kept[1]), local(k, kept[1])],
        "two longest keys dropped, local suppression": [*drop(2), *recode(1, kept[2]), local(2 * k, kept[2])],
        "three longest keys dropped, local suppression": [*drop(3), *recode(1, kept[3]), local(2 * k, kept[3])],
        "five longest keys dropped, local suppression": [*drop(5), *recode(2, kept[5]), local(3 * k, kept[5])],
        "Mondrian": [mondrian],
        "Mondrian, twice k": [mondrian | {"k": 2 * k}],
        "three longest keys dropped, full domain 5 %": [*drop(3), full],
        "balanced ranges": [balanced],
        "balanced means": [balanced | {"publish": "means"}],
        "mdav of the keys": [mdav],
        "numbers averaged, local suppression of the rest": [*average, local(k, rest)],
        "half of the records, recoded, local suppression": [
            {"method": "sampling", "fraction": 0.5}, *recode(1), local(k)
        ],
    }  # fmt: skip
    assert len(lists) == 20
    return {name: Policy.from_dict({"plan": {"steps": [*base, *steps]}}).plan for name, steps in lists.items()}
