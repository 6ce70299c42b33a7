"""The Initial Microdata Analyzer: Microdata -> Profile.

Each family of detectors sits in its own file: names and kinds (names, *_kinds), forms of values (formats, check_digits),
identifiers, roles, levels and orders, persons, hierarchies, quasi_identifiers. Here they are asked in turn, and what the
policy already says is kept.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from discreet.analysis.hierarchies import hierarchy_of
from discreet.analysis.levels import LevelFound, level_of
from discreet.analysis.markers import markers_of
from discreet.analysis.persons import find_person, says_the_same
from discreet.analysis.profile import ColumnProfile, Profile
from discreet.analysis.quasi_identifiers import Found, single, strongest
from discreet.analysis.roles import role_of
from discreet.engine.recognition.findings import Finding, numbers_for, start
from discreet.engine.recognition.value_facts import Facts, facts_of
from discreet.model.attribute import Attribute, Role
from discreet.model.microdata import Microdata

_KEY_THRESHOLD = 0.95
_UNMEASURED = (Role.IDENTIFIER, Role.PERSON)


def profile(data: Microdata) -> Profile:
    """Propose role, level, known probability and sensitivity of every attribute, and find the quasi-identifiers.

    The same table gives the same proposal, whatever the order of its records.

    >>> from discreet.testing import table
    >>> found = profile(table({"name": ["Ann", "Bob", "Cy"], "age": [31, 44, 52], "diagnosis": ["Flu", "Flu", "Asthma"]}))
    >>> [column.attribute.role.value for column in found.columns]
    ['identifier', 'key', 'confidential']
    """
    facts = facts_of(data)
    levels = [level_of(one) for one in facts]
    kinds = frozenset(one.naming.kind.name for one in facts if one.naming.kind is not None)
    findings = [role_of(one, level, kinds) for one, level in zip(facts, levels, strict=True)]
    said = data.policy.attributes
    findings = _with_person(facts, findings, said)
    columns = tuple(
        _column(one, level, finding, said.get(one.name)) for one, level, finding in zip(facts, levels, findings, strict=True)
    )
    found = _search(facts, columns)
    columns = tuple(_said_twice(column, found.same.get(column.name)) for column in columns)
    return Profile(data.source, len(data), columns, found.sets, _KEY_THRESHOLD, data.policy)


def _with_person(facts: list[Facts], findings: list[Finding], said: dict[str, Attribute]) -> list[Finding]:
    """The person's column, unless the policy names one already."""
    roles = [
        said[one.name].role if _says(said, one.name, "role") else finding.role
        for one, finding in zip(facts, findings, strict=True)
    ]
    if Role.PERSON in roles:
        return findings
    keys = [one for one, role in zip(facts, roles, strict=True) if role is Role.KEY]
    person = find_person([one for one in facts if not _says(said, one.name, "role")], keys)
    if person is None:
        return findings
    column = next(one.column for one in facts if one.name == person.name)
    again = Finding(Role.IDENTIFIER, f"one value for each of '{person.name}', so another number of the same persons")
    return [
        Finding(Role.PERSON, person.reason)
        if one.name == person.name
        else again
        if finding.role is not Role.IDENTIFIER and one.naming.kind is None and says_the_same(one.column, column)
        else finding
        for one, finding in zip(facts, findings, strict=True)
    ]


def _says(said: dict[str, Attribute], name: str, field: str) -> bool:
    return name in said and field in said[name].model_fields_set


def _column(facts: Facts, level: LevelFound, finding: Finding, given: Attribute | None) -> ColumnProfile:
    attribute, reason = _proposed(facts, level, finding)
    if given is not None:
        attribute, reason = _kept(facts, level, finding, given)
    strength = single(facts.column, facts.records)
    hidden = attribute.role in _UNMEASURED
    if not hidden and strength.separated:
        reason += f"; alone it separates {strength.separation_ratio:.4g} of the pairs of records"
    low, high = (None, None) if hidden else facts.extremes
    return ColumnProfile(
        facts.name,
        str(facts.dtype),
        attribute,
        reason,
        facts.distinct,
        facts.nulls,
        low,
        high,
        facts.top_share,
        strength,
        given is not None,
    )


def _proposed(facts: Facts, level: LevelFound, finding: Finding) -> tuple[Attribute, str]:
    reason = f"{finding.role.value}: {finding.reason}"
    fields: dict[str, Any] = {"role": finding.role}
    if finding.role in _UNMEASURED:
        return Attribute(**fields), reason
    fields |= {
        "level": level.level,
        "order": level.order,
        "known": finding.known,
        "sensitivity": finding.sensitivity,
        "values": finding.values,
    }
    reason += f"; {level.level.value}" + (f", {level.reason}" if level.reason else "")
    if (missing := markers_of(facts)) and level.order is None:
        fields["missing"] = missing
        reason += f"; {', '.join(map(repr, missing))} stands for a missing value"
    if finding.role is Role.KEY and (hierarchy := hierarchy_of(facts, level)) is not None:
        fields["hierarchy"] = hierarchy
    return Attribute(**fields), reason


def _kept(facts: Facts, level: LevelFound, finding: Finding, given: Attribute) -> tuple[Attribute, str]:
    """What the policy says stays; what it leaves open is proposed for the role it gives."""
    role = given.role if "role" in given.model_fields_set else finding.role
    if role is not finding.role:
        known, sensitivity, source = numbers_for(role, facts.naming.kind)
        numbers = start(known, sensitivity, source) if source else "as the policy says"
        asked = Finding(role, numbers, known, sensitivity)
    else:
        asked = finding
    proposed, reason = _proposed(facts, level, asked)
    fixed = {name: getattr(given, name) for name in given.model_fields_set}
    if {"order", "level"} & set(fixed):  # an order belongs to its level
        fixed = {"order": given.order, "level": given.level} | fixed
    if {"values", "default"} & set(fixed):
        fixed = {"values": given.values, "default": given.default} | fixed
    merged = {name: getattr(proposed, name) for name in proposed.model_fields_set} | fixed
    words = ", ".join(sorted(given.model_fields_set - {"reason"})) or "nothing but its name"
    text = f"given: {words}; the rest proposed as {reason}"
    if role is not finding.role:
        text += f"; the analyzer would say {finding.role.value}: {finding.reason}"
    return Attribute(**merged), text


def _said_twice(column: ColumnProfile, first: str | None) -> ColumnProfile:
    return column if first is None else replace(column, reason=f"{column.reason}; it says the same as '{first}', value by value")


def _search(facts: list[Facts], columns: tuple[ColumnProfile, ...]) -> Found:
    """Quasi-identifiers among the keys; among all that could be known where there are not two keys."""
    roles = {column.name: column.attribute.role for column in columns}
    keys = [one.column for one in facts if roles[one.name] is Role.KEY]
    if len([column for column in keys if column.cardinality > 1]) < 2:
        keys = [one.column for one in facts if roles[one.name] not in (*_UNMEASURED, Role.WEIGHT)]
    return strongest(keys, facts[0].records if facts else 0, threshold=_KEY_THRESHOLD)
