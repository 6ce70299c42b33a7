"""What the limits of a policy leave open, whatever the release: no limit on disclosure, none that counts persons or can fail."""

from __future__ import annotations

import polars as pl

from discreet import registry
from discreet.engine.encoding.columns import encode
from discreet.engine.recognition.column_names import look_up_name
from discreet.engine.recognition.looks import held_contacts, looks_like_postal_codes
from discreet.engine.recognition.value_facts import Facts
from discreet.engine.runtime.dispatch import is_distributed
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.model.results import NO_LIMITS, NO_RISK_LIMIT

_COUNTS_PERSONS = "repeated_records"
_REPEATED = 1.2
"""Records per value of an identifier, in the mean, from which it may number persons who have several."""
_FEWEST_PERSONS = 10
"""Different values up to which an identifier numbers something else than persons."""
_MOST_REPEATED = 200
"""Records per value beyond which an identifier numbers places or employees rather than the persons of the table."""
_WITH_DIGITS = 0.9
"""Share of the texts of an identifier that must be one word with a digit."""


def gaps_in_limits(original: Microdata) -> list[str]:
    """What the limits leave open: no limit at all, none on disclosure risk, or none that counts persons where it must."""
    limits = original.policy.limits
    if not limits:
        return [NO_LIMITS]
    if not any(registry.judges_disclosure(limit) for limit in limits):
        return [NO_RISK_LIMIT]
    person = next(iter(original.named(Role.PERSON)), None)
    if is_distributed(original) or any(limit.startswith(f"{_COUNTS_PERSONS}.") for limit in limits):
        return []
    if person is None:
        return _repeated_identifiers(original)
    persons = original.frame[person].n_unique()
    if persons == len(original):
        return []
    counted = f"'{person}' has several records per person ({len(original):,} records, {persons:,} persons)"
    example = f"{_COUNTS_PERSONS}.min_persons: 5"
    return [f"{counted}, and the limits count records, not persons; set a limit on {_COUNTS_PERSONS} as well, such as {example}"]


def _repeated_identifiers(original: Microdata) -> list[str]:
    """Identifiers of a table without persons that number something else than records: persons, as far as anybody knows."""
    names = [name for name in original.named(Role.IDENTIFIER) if original.attribute(name).accepted is None]
    # most identifiers are different in every record: they are counted, which is quicker than to encode them
    repeated = [name for name in names if _repeats(original.frame[name].drop_nulls())]
    gaps = []
    for column in encode(original, repeated):
        facts = Facts(column, look_up_name(column.name), len(original))
        if not _are_numbers(facts) or held_contacts(facts) is not None or looks_like_postal_codes(facts):
            continue
        gaps.append(
            f"'{column.name}' is an identifier whose values repeat ({facts.present:,} records, {facts.distinct:,} values), and "
            "the limits count records: if it numbers persons, give it the role person and set a limit such as "
            f"{_COUNTS_PERSONS}.min_persons: 5; if not, write accepted: with your reason"
        )
    return gaps


def _repeats(values: pl.Series) -> bool:
    """Whether each of several values stands in a few records on average."""
    distinct = values.n_unique()
    return distinct >= _FEWEST_PERSONS and _REPEATED <= len(values) / distinct <= _MOST_REPEATED


def _are_numbers(facts: Facts) -> bool:
    """Whether values are whole numbers or words with digits; names of persons repeat by chance, and in families."""
    if not facts.is_text:
        return facts.is_whole
    return float(facts.column.values.str.contains(r"^\S*\d\S*$").to_numpy().mean()) >= _WITH_DIGITS


def limits_out_of_range(policy: Policy) -> list[str]:
    """Limits beyond the worst number that their field can have, such as a share of 5: typing errors, or percentages."""
    slack = {limit: registry.slack_of_limit(limit, required) for limit, required in policy.limits.items()}
    return [
        f"the limit {limit}: {policy.limits[limit]:g} is beyond the worst number that any table can have, so it judges nothing; "
        "shares are written from 0 to 1"
        for limit, beyond in slack.items()
        if beyond is not None and beyond > 0
    ]


def limits_at_the_worst(policy: Policy) -> list[str]:
    """Limits that every table meets, such as a k of 1."""
    return [
        f"every table meets the limit {limit}: {required:g}, so it judges nothing"
        for limit, required in policy.limits.items()
        if registry.slack_of_limit(limit, required) == 0
    ]
