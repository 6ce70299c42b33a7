"""The roles of all columns of a table: first what each says of itself, then what its neighbours add."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from discreet.analysis.context import FOLLOW_UP, is_about_people, is_about_things
from discreet.analysis.date_differences import propose_for_difference
from discreet.analysis.event_dates import propose_for_dates
from discreet.analysis.evidence import KIND_BY_NAME, Evidence, collect_evidence, combine, holds_days
from discreet.analysis.families import TableNames, find_indicator_families, kind_without_affix
from discreet.analysis.levels import ProposedLevel
from discreet.analysis.neighbours import count_stems, find_follow_up, kind_of_stem, kind_of_truncated_name
from discreet.analysis.relations import Derivation
from discreet.analysis.roles import Surroundings, is_unexplained, propose_role
from discreet.analysis.writing_dates import find_followed_events
from discreet.engine.recognition import identifiers
from discreet.engine.recognition.findings import Finding, default_numbers, describe_defaults
from discreet.engine.recognition.name_rules import Kind, word_set
from discreet.engine.recognition.value_facts import Facts
from discreet.model.attribute import Role

_FAMILY_WEIGHT, _AFFIX_WEIGHT, _STEM_WEIGHT = 0.6, 0.6, 0.5
_FIRST = word_set("first given fore vorname prenom nombre fname etunimi")
_LAST = word_set("last family sur surname nachname apellido lname cognome sukunimi")
_LONGITUDES, _LATITUDES = ("long", "x", "lng"), ("lat", "latitude", "y")
_UNDECIDED = 0.35
"""Up to this confidence a role may be taken over from the column that this one is computed from."""


def propose_roles(facts: Sequence[Facts], levels: Sequence[ProposedLevel], derived: Mapping[str, Derivation]) -> list[Finding]:
    """A finding per column."""
    evidence = [collect_evidence(column, level) for column, level in zip(facts, levels, strict=True)]
    names: dict[str, Kind | None] = {column.name: column.naming.kind for column in facts}
    stems, table_names = count_stems(list(names)), TableNames(names)
    for column, own in zip(facts, evidence, strict=True):
        if not own and (reduced := kind_without_affix(column.name, table_names)) is not None:
            kind, rest = reduced
            own.append(
                Evidence(
                    "name", kind, _AFFIX_WEIGHT, f"column name without its prefix or suffix ('{rest}') matches '{kind.name}'"
                )
            )
        if column.is_text and identifiers.by_uniqueness(column) is not None:
            continue  # texts that single records have are stronger evidence than parts of a name
        if not own and (stem := kind_of_stem(column.name, stems)) is not None:
            kind, text = stem
            sentence = f"its name begins with '{text}' as those of its neighbours do, which matches '{kind.name}'"
            own.append(Evidence("neighbours", kind, _STEM_WEIGHT, sentence))
        if not own and column.naming.kind is None and (cut := kind_of_truncated_name(column.name)) is not None:
            kind, text = cut
            own.append(
                Evidence("name", kind, _STEM_WEIGHT, f"column name is the beginning of '{text}', which matches '{kind.name}'")
            )
        if not own and column.name.lower() in _LONGITUDES and any(other.lower() in _LATITUDES for other in names):
            own.append(Evidence("neighbours", KIND_BY_NAME["coordinates"], _FAMILY_WEIGHT, "stands beside a latitude"))
    _share_within_families(facts, evidence)
    follow_up = find_follow_up(facts)
    around = _surroundings(facts, evidence, follow_up=bool(follow_up))
    followed = find_followed_events(facts, levels)
    findings = [
        propose_for_dates(column, own, around, followed.get(column.name))
        if holds_days(column, level)
        else propose_role(column, own, around)
        for column, level, own in zip(facts, levels, evidence, strict=True)
    ]
    findings = [
        _as_follow_up(column, finding, follow_up[column.name]) if column.name in follow_up and around.people else finding
        for column, finding in zip(facts, findings, strict=True)
    ]
    return _inherit_roles(facts, findings, derived)


def _as_follow_up(column: Facts, finding: Finding, partner: str) -> Finding:
    """A time until an event, or the event, of a person: confidential, where nothing else explains the column."""
    if column.naming.kind is not None or not is_unexplained(finding):
        return finding
    known, sensitivity, source = default_numbers(Role.CONFIDENTIAL, None)
    reason = f"a time or event of a follow-up study, beside '{partner}'; {describe_defaults(known, sensitivity, source)}"
    return Finding(Role.CONFIDENTIAL, reason, known, sensitivity, confidence=_FAMILY_WEIGHT)


def _share_within_families(facts: Sequence[Facts], evidence: Sequence[list[Evidence]]) -> None:
    """Give members of an indicator family without evidence of their own the kind that most members have."""
    position = {column.name: index for index, column in enumerate(facts)}
    for family in find_indicator_families(facts):
        kinds: Counter[str] = Counter()
        by_name: dict[str, Kind] = {}
        for member in family:
            for kind, _ in combine(evidence[position[member]]).values():
                kinds[kind.name] += 1
                by_name[kind.name] = kind
        if not kinds:
            continue
        main, number = min(kinds.items(), key=lambda item: (-item[1], item[0]))
        listed = ", ".join(f"'{member}'" for member in family[:4]) + (", …" if len(family) > 4 else "")
        for member in family:
            own = evidence[position[member]]
            if (
                by_name[main].role in (Role.KEY, Role.CONFIDENTIAL)
                and not any(piece.kind.name == main for piece in own)
                and (not own or number > 1)
            ):
                own.append(
                    Evidence("neighbours", by_name[main], _FAMILY_WEIGHT, f"one of the exclusive indicators {listed} of a {main}")
                )


def _surroundings(facts: Sequence[Facts], evidence: Sequence[list[Evidence]], *, follow_up: bool) -> Surroundings:
    kinds = {piece.kind.name for own in evidence for piece in own if piece.weight >= 0.5 or piece.source == "values"}
    kinds |= {
        column.naming.kind.name for column, own in zip(facts, evidence, strict=True) if own and column.naming.kind is not None
    }
    kinds |= {FOLLOW_UP} if follow_up and "age" in kinds else set()
    first = {column.name for column in facts if _FIRST & set(column.naming.words)}
    last = {column.name for column in facts if _LAST & set(column.naming.words)}
    beside = frozenset(first | last) if first and last else frozenset[str]()
    return Surroundings(
        frozenset(kinds), is_about_people(kinds), is_about_things(kinds), frozenset(column.name for column in facts), beside
    )


def _inherit_roles(facts: Sequence[Facts], findings: list[Finding], derived: Mapping[str, Derivation]) -> list[Finding]:
    """Columns that nothing else explains take the role of the column that they are computed from, which may be computed too."""
    by_name = {column.name: finding for column, finding in zip(facts, findings, strict=True)}
    visited: set[str] = set()

    def inherit(name: str) -> Finding:
        if name in derived and name not in visited:
            visited.add(name)  # before its sources, so that two columns computed from each other end here
            sources = {source: inherit(source) for source in derived[name].sources}
            by_name[name] = _inherit_role(by_name[name], derived[name], sources)
        return by_name[name]

    return [inherit(column.name) for column in facts]


def _inherit_role(finding: Finding, derivation: Derivation, sources: Mapping[str, Finding]) -> Finding:
    """The finding of a column that is computed from others, whose findings are ``sources``."""
    if derivation.between_dates and all(source.role is Role.KEY for source in sources.values()):
        return propose_for_difference(finding, derivation, list(sources.values()))
    decided = finding.confidence > _UNDECIDED and not is_unexplained(finding)
    usable = [source for source in sources.values() if source.role not in (Role.IDENTIFIER, Role.PERSON, Role.HOUSEHOLD)]
    if decided or finding.role in (Role.IDENTIFIER, Role.WEIGHT) or not usable:
        return finding
    source = max(usable, key=lambda proposal: (proposal.role is Role.CONFIDENTIAL, proposal.confidence))
    reason = f"{derivation.sentence}, which is {source.role.value}"
    return replace(source, reason=reason, values={}, confidence=round(0.9 * source.confidence, 4))
