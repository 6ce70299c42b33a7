"""The attributes by which the riskiest records are found, and what can be learnt of them."""

from __future__ import annotations

from collections import Counter

import numpy as np

from discreet import registry
from discreet.errors import DiscreetError
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.selection.proposals import released_attributes

_RISKIEST_RECORDS = 1000


def rank_risky_attributes(data: Microdata, known: Score | None = None) -> tuple[list[str], list[str]]:
    """The attributes in the top known sets of the thousand riskiest records, and the sensitive attributes of those records.

    Both are ordered by the number of records concerned, most first; both are empty where known_sets cannot be measured.
    ``known`` is the score of known_sets on this table; default: it is measured.
    """
    try:
        measure = registry.create("risk", "known_sets", data.policy.risk.get("known_sets"), origin=data.policy.origin)
        table = (known or measure.measure(data)).per_record
    except DiscreetError:
        return [], []
    if table is None or not table.height:
        return [], []
    riskiest = np.argsort(-table["risk"].to_numpy(), kind="stable")[:_RISKIEST_RECORDS].tolist()
    columns = set(data.columns)
    in_top_sets = Counter(
        name for top_set in table["top_set"].gather(riskiest).to_list() for name in top_set.split("+") if name in columns
    )
    sensitive: Counter[str] = Counter()
    for name in released_attributes(data):
        attribute = data.attribute(name)
        if attribute.sensitivity > 0:
            values = data.frame[name].gather(riskiest).to_list()
            sensitive[name] = sum(attribute.value_weight(value) > 0 for value in values)
    return [name for name, _ in in_top_sets.most_common()], [name for name, _ in sensitive.most_common()]
