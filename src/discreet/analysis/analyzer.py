"""The Initial Microdata Analyzer: Microdata -> Profile.

Each family of detectors has its own module: column names, formats and identifiers in :mod:`discreet.engine.recognition`; roles,
levels and orders, persons, hierarchies and quasi-identifiers in this package. This module runs them one after the other, and
leaves unchanged what the policy already sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from discreet.analysis.date_differences import find_date_differences
from discreet.analysis.event_dates import describe_singling_out
from discreet.analysis.hierarchies import propose_hierarchy
from discreet.analysis.levels import ProposedLevel, propose_level
from discreet.analysis.markers import MissingValues, facts_without_markers
from discreet.analysis.missing_notes import describe_categories, describe_codes
from discreet.analysis.persons import find_person_column, is_one_to_one
from discreet.analysis.profile import ColumnProfile, Profile
from discreet.analysis.quasi_identifiers import QuasiIdentifierSets, find_quasi_identifiers, measure_single
from discreet.analysis.relations import Derivation, find_derivations
from discreet.analysis.spellings import describe_spellings
from discreet.analysis.table_roles import propose_roles
from discreet.engine.recognition.findings import Finding, default_numbers, describe_defaults
from discreet.engine.recognition.value_facts import Facts
from discreet.model.attribute import Attribute, Role
from discreet.model.microdata import Microdata

_KEY_THRESHOLD = 0.95
"""The distinct ratio from which a set of attributes counts as a key."""
_UNMEASURED = (Role.IDENTIFIER, Role.PERSON, Role.HOUSEHOLD)
"""Roles without a level or numbers; values of such columns are never shown."""


def profile_table(data: Microdata) -> Profile:
    """Propose role, level, known probability and sensitivity of every attribute, and find the quasi-identifiers.

    The proposal does not depend on the order of the records.

    >>> from discreet.testing import table
    >>> data = table({"name": ["Ann", "Bob", "Cy"], "age": [31, 44, 52], "diagnosis": ["Flu", "Flu", "Asthma"]})
    >>> [column.attribute.role.value for column in profile_table(data).columns]
    ['identifier', 'key', 'confidential']
    """
    facts, missing = facts_without_markers(data)
    levels = [propose_level(column) for column in facts]
    derivations = find_derivations(facts) | find_date_differences(facts, levels)
    findings = propose_roles(facts, levels, derivations)
    policy_attributes = data.policy.attributes
    findings = _assign_person_role(facts, findings, policy_attributes)
    singling = describe_singling_out(facts, levels, _roles_by_name(facts, findings, policy_attributes))
    profiles = [
        _profile_column(
            column,
            level,
            finding,
            policy_attributes.get(column.name),
            derivations.get(column.name),
            missing,
            singling.get(column.name, ""),
        )
        for column, level, finding in zip(facts, levels, findings, strict=True)
    ]
    quasi_identifiers = _search_quasi_identifiers(facts, profiles)
    columns = tuple(_note_duplicate(profile, quasi_identifiers.same.get(profile.name)) for profile in profiles)
    return Profile(data.source, len(data), columns, quasi_identifiers.sets, _KEY_THRESHOLD, data.policy, data.notes)


def _assign_person_role(facts: list[Facts], findings: list[Finding], policy_attributes: dict[str, Attribute]) -> list[Finding]:
    """The findings with the column that stands for persons, unless there is one already.

    Columns that number the same persons in another way become identifiers.
    """
    roles = _roles_by_name(facts, findings, policy_attributes)
    if Role.PERSON in roles.values():
        return findings
    keys = [column for column in facts if roles[column.name] is Role.KEY]
    candidates = [column for column in facts if not _policy_sets(policy_attributes, column.name, "role")]
    person = find_person_column(candidates, keys)
    if person is None:
        return findings
    person_column = next(column.column for column in facts if column.name == person.name)
    duplicate = Finding(Role.IDENTIFIER, f"one value for each value of '{person.name}': another number of the same persons")
    return [
        Finding(Role.PERSON, person.reason)
        if column.name == person.name
        else duplicate
        if finding.role not in (Role.IDENTIFIER, Role.HOUSEHOLD)
        and column.naming.kind is None
        and is_one_to_one(column.column, person_column)
        else finding
        for column, finding in zip(facts, findings, strict=True)
    ]


def _roles_by_name(facts: list[Facts], findings: list[Finding], policy_attributes: dict[str, Attribute]) -> dict[str, Role]:
    """The role of every column: that of the policy, else the proposed one."""
    return {
        column.name: policy_attributes[column.name].role if _policy_sets(policy_attributes, column.name, "role") else finding.role
        for column, finding in zip(facts, findings, strict=True)
    }


def _policy_sets(policy_attributes: dict[str, Attribute], name: str, field: str) -> bool:
    return name in policy_attributes and field in policy_attributes[name].model_fields_set


def _profile_column(
    facts: Facts,
    level: ProposedLevel,
    finding: Finding,
    given: Attribute | None,
    derivation: Derivation | None,
    missing: MissingValues,
    singling: str,
) -> ColumnProfile:
    """The profile of a column.

    ``given`` is its attribute in the policy, ``missing`` is what reads like a missing value, ``singling`` is the sentence on how
    many records a date singles out.
    """
    markers = missing.proposed.get(facts.name, ())
    attribute, reason = _propose_attribute(facts, level, finding, markers)
    if given is not None:
        attribute, reason = _merge_with_policy(facts, level, finding, given, markers)
    shown = attribute.role is not Role.IDENTIFIER
    like_missing = missing.texts.get(facts.name, {}) if shown else {}
    if categories := describe_categories(like_missing, attribute.missing):
        reason += f"; {categories}"
    codes = missing.codes.get(facts.name) if shown else None
    if codes is not None:
        reason += f"; {describe_codes(codes.records, codes.others, attribute.missing)}"
    strength = measure_single(facts.column, facts.records)
    hidden = attribute.role in _UNMEASURED
    if not hidden and (spellings := describe_spellings(facts)):
        reason += f"; {spellings}"
    if not hidden and strength.separated:
        reason += f"; alone it separates {strength.separation_ratio:.4g} of all pairs of records"
    if singling:
        reason += f"; {singling}"
    if derivation is not None and derivation.sentence not in reason:
        reason += f"; {derivation.sentence}"
    is_given = given is not None and "role" in given.model_fields_set
    confidence = 1.0 if is_given else round(finding.confidence, 2)
    if not is_given:
        reason += f"; confidence {confidence:.2f}"
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
        confidence,
        derivation.sources if derivation is not None else (),
        like_missing,
        codes.records if codes is not None else {},
    )


def _propose_attribute(facts: Facts, level: ProposedLevel, finding: Finding, markers: tuple[str, ...]) -> tuple[Attribute, str]:
    """The proposed attribute, and the reason."""
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
    if markers := tuple(text for text in markers if text not in (level.order or ())):
        fields["missing"] = markers
        reason += f"; missing values are marked by {', '.join(map(repr, markers))}"
    if finding.role is Role.KEY and (hierarchy := propose_hierarchy(facts, level)) is not None:
        fields["hierarchy"] = hierarchy
    return Attribute(**fields), reason


def _merge_with_policy(
    facts: Facts, level: ProposedLevel, finding: Finding, given: Attribute, markers: tuple[str, ...]
) -> tuple[Attribute, str]:
    """The attribute with all fields that the policy sets; the others are proposed for the role in the policy."""
    role = given.role if "role" in given.model_fields_set else finding.role
    if role is not finding.role:
        known, sensitivity, source = default_numbers(role, facts.naming.kind)
        numbers = describe_defaults(known, sensitivity, source) if source else "as in the policy"
        finding_for_role = Finding(role, numbers, known, sensitivity)
    else:
        finding_for_role = finding
    if given.level is not None and given.level is not level.level:
        level = ProposedLevel(given.level, "as in the policy")
    proposed, reason = _propose_attribute(facts, level, finding_for_role, markers)
    fixed = {name: getattr(given, name) for name in given.model_fields_set}
    if {"order", "level"} & set(fixed):  # an order belongs to its level
        fixed = {"order": given.order, "level": given.level} | fixed
    if {"values", "default"} & set(fixed):
        fixed = {"values": given.values, "default": given.default} | fixed
    merged = {name: getattr(proposed, name) for name in proposed.model_fields_set} | fixed
    set_fields = ", ".join(sorted(given.model_fields_set - {"reason"})) or "no field"
    text = f"given: {set_fields}; proposed for the rest: {reason}"
    if role is not finding.role:
        text += f"; the analyzer would propose {finding.role.value}: {finding.reason}"
    return Attribute(**merged), text


def _note_duplicate(column: ColumnProfile, first: str | None) -> ColumnProfile:
    """The profile with a note if each value of the column stands for one value of the column ``first``."""
    return column if first is None else replace(column, reason=f"{column.reason}; a one-to-one recoding of '{first}'")


def _search_quasi_identifiers(facts: list[Facts], columns: Sequence[ColumnProfile]) -> QuasiIdentifierSets:
    """The quasi-identifiers among the keys; among all attributes that can be known if there are fewer than two keys."""
    roles = {column.name: column.attribute.role for column in columns}
    keys = [column.column for column in facts if roles[column.name] is Role.KEY]
    if len([column for column in keys if column.cardinality > 1]) < 2:
        keys = [column.column for column in facts if roles[column.name] not in (*_UNMEASURED, Role.WEIGHT)]
    return find_quasi_identifiers(keys, facts[0].records if facts else 0, threshold=_KEY_THRESHOLD)
