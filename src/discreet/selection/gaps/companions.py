"""Columns beside the keys that give masked keys back: the code of a job, the number of a household, the reason of a status.

A plan that masks the keys alone leaves a gap in the evidence while such a column stays as it is. They are found once, before the
search, on a table of which every key is blank: the columns that ``coverage`` restores keys from are taken away until it restores
none. Each becomes a dimension of the search (see selection/space): it is masked together with the keys, dropped, or
left as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import polars as pl

from discreet.masking.generate import run_plan
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan
from discreet.selection.gaps.counting import GapCounter, columns_of_concern

MOST_COMPANIONS = 12
_MOST_ROUNDS = 4
"""Columns can stand in for each other: only when one is taken away does the other restore a key best."""
_NUMBERS_OF_GROUPS = (Role.PERSON, Role.HOUSEHOLD)

Companions = Mapping[str, tuple[str, ...]]
"""The columns beside the keys, each with the keys that it gives back."""


def find_companions(data: Microdata, keys: Sequence[str], counter: GapCounter, protected: Collection[str]) -> Companions:
    """The columns that give keys back, those that were found first first; empty where a table has no keys."""
    companions: dict[str, tuple[str, ...]] = {}
    plan = data.policy.plan.model_copy(update={"steps": ()})
    table = _blank(data.drop(data.named(Role.IDENTIFIER)), keys)
    for _ in range(_MOST_ROUNDS if keys else 0):
        score = counter.measure_coverage(table, plan)
        rows = [] if score.per_attribute is None else score.per_attribute.select("attribute", "sources").rows()
        new: dict[str, tuple[str, ...]] = {}
        for key, sources in rows:
            candidates = [name for name in sources if name not in protected and name not in keys]
            # of a sum one term is enough; of several columns that each give the key back the next round finds the others
            chosen = next((name for name in candidates if name in new), candidates[0] if candidates else None)
            if chosen is not None and key in keys:
                new[chosen] = (*new.get(chosen, ()), key)
        if not new:
            break
        companions |= new
        table = _blank(table, list(new))
    return dict(list(companions.items())[:MOST_COMPANIONS])


def _blank(data: Microdata, names: Sequence[str]) -> Microdata:
    return data.with_columns({name: pl.repeat(None, len(data), dtype=data.frame.schema[name], eager=True) for name in names})


def find_unexamined(data: Microdata, plan: Plan, secret: bytes, counter: GapCounter, protected: Collection[str]) -> Companions:
    """The columns that nobody looked at and that single records out together with keys that a plan masked."""
    masked = run_plan(data, plan, secret if plan.seed is None else None).masked
    masked = masked.with_policy(masked.policy.with_(plan=plan))
    score = counter.measure_coverage(masked, plan)
    before = counter.columns_unmasked
    return {
        name: ()
        for name in columns_of_concern(score)
        if name not in before and name not in protected and data.attribute(name).role is Role.OTHER
    }


def is_number_of_group(data: Microdata, name: str) -> bool:
    """Whether a column only says which records belong together: without the others it is worth little, and goes as a whole."""
    return data.attribute(name).role in _NUMBERS_OF_GROUPS
