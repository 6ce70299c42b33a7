"""What a plan does to the values of each attribute, in numbers and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.model.score import Score
from discreet.selection.objective import OBJECTIVE

NOTHING_CHANGED = "No value of a released column is changed."
_MOST_ATTRIBUTES = 8
"""Attributes that sentences name, those with the largest penalty first; of the others they give the number."""


@dataclass(frozen=True)
class AttributeChange:
    """What a plan does to the values of one attribute; all but the penalty and the association are shares of the records."""

    penalty: float
    """Mean penalty of ncp: 0 where every value is unchanged, 1 where all are suppressed."""
    suppressed: float
    coarser: float
    """Values that were neither suppressed nor falsified, but say less: an interval, a group."""
    false: float
    association: float
    """Mean change of the association with the other attributes."""


def attribute_changes(losses: Mapping[str, Score], records: int) -> dict[str, AttributeChange]:
    """What happened to each attribute of which a value was changed, most penalised first; ``records`` are those released."""
    penalties, falsehoods, associations = (losses[name].per_attribute for name in ("ncp", "falsehood", "associations"))
    if penalties is None or not records:
        return {}
    false = {} if falsehoods is None else dict(falsehoods.select("attribute", "false").iter_rows())
    association = {} if associations is None else dict(associations.select("attribute", "loss").iter_rows())
    changes = {}
    rows = penalties.select("attribute", "loss", "suppressed", "changed").sort("loss", descending=True, maintain_order=True)
    for name, penalty, suppressed, changed in rows.iter_rows():
        wrong = int(false.get(name, 0))
        if changed or wrong:
            coarser = max(0, changed - suppressed - wrong)
            shares = (suppressed / records, coarser / records, wrong / records)
            changes[str(name)] = AttributeChange(float(penalty), *shares, float(association.get(name, 0.0)))
    return changes


def describe_changes(changes: Mapping[str, AttributeChange]) -> list[str]:
    """What a plan gives up, attribute by attribute, those with the largest penalty first."""
    if not changes:
        return [NOTHING_CHANGED]
    sentences = [f"{name}: {_describe_change(change)}." for name, change in list(changes.items())[:_MOST_ATTRIBUTES]]
    rest = list(changes.values())[_MOST_ATTRIBUTES:]
    if rest:
        largest = format_share(max(change.penalty for change in rest))
        sentences.append(
            f"1 more attribute is changed, which loses {largest} of its information."
            if len(rest) == 1
            else f"{len(rest):,} more attributes are changed, each losing at most {largest} of its information."
        )
    return sentences


def _describe_change(change: AttributeChange) -> str:
    shares = [
        f"{format_share(share)} {word}"
        for share, word in ((change.suppressed, "suppressed"), (change.coarser, "coarser"), (change.false, "not true"))
        if share > 0
    ]
    text = f"of its values {', '.join(shares)}, which loses {format_share(change.penalty)} of its information"
    if change.association >= 0.005:
        text += f"; its associations with other attributes change by {change.association:.2f} on average"
    return text


def format_share(share: float) -> str:
    """A share in percent, with one digit below ten percent.

    >>> format_share(0.123), format_share(0.0512), format_share(0.0002), format_share(0.9998)
    ('12 %', '5.1 %', 'less than 0.1 %', 'more than 99 %')
    """
    percent = 100 * share
    if 0 < percent < 0.1:
        return "less than 0.1 %"
    if 99.5 <= percent < 100:
        return "more than 99 %"
    return f"{percent:.1f} %" if 0 < percent < 9.95 else f"{percent:.0f} %"


def loss_by_attribute(loss: str, losses: Mapping[str, Score], changes: Mapping[str, AttributeChange]) -> dict[str, float]:
    """The loss of each attribute by the objective or by MEASURE.FIELD; empty if the measure has none."""
    if loss == OBJECTIVE:
        return {name: change.penalty + change.false + change.association for name, change in changes.items()}
    table = losses[loss.partition(".")[0]].per_attribute
    if table is None or not {"attribute", "loss"} <= set(table.columns):
        return {}
    return dict(table.select("attribute", "loss").iter_rows())
