"""Presets: limits that guidance names, with the source, the conditions under which they apply, and what they do not say.

A preset is a starting point that the owner sees and edits: ``limits: {preset: NAME}`` in a policy is replaced by the preset's
limits when the policy is read, and the policy remembers the name, so that a report can say which limits were changed since. No
preset decides whether a release complies with a law or a guideline: each one says what is checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.errors import PolicyError, nearest
from discreet.model.presets.sources import (
    AVERAGE,
    AVERAGE_NUMBERS,
    CHOICE_OF_LEVEL,
    CMS,
    EL_EMAM,
    EMA,
    HANDBOOK,
    HIPAA,
    K_ANONYMITY,
    K_NUMBERS,
    KEYS_ARE_RIGHT,
    OFFICE_NUMBERS,
    ONE_RECORD_PER_PERSON,
    WP216,
    WP216_NUMBERS,
)


@dataclass(frozen=True)
class Audience:
    """Who gets a release, with the presets that guidance names for them, the usual one first."""

    name: str
    title: str
    meaning: str
    presets: tuple[str, ...]


AUDIENCES: Mapping[str, Audience] = {
    audience.name: audience
    for audience in (
        Audience(
            "public", "Public", "anybody may have it, without a contract, and may look for anybody in it",
            ("public_use_file", "cell_size_11", "max_risk_0.09", "max_risk_0.05", "wp216"),
        ),
        Audience(
            "research", "Research contract", "named researchers, bound by a contract that forbids re-identification",
            ("scientific_use_file", "max_risk_0.2", "k_5", "k_5_average"),
        ),
        Audience(
            "internal", "Internal", "colleagues of the same institution, under its own rules and controls",
            ("k_3", "max_risk_0.33", "k_3_average"),
        ),
    )
}  # fmt: skip
"""The audiences of a release; a starting point to edit, as every preset is."""

NO_COMPLIANCE = "This is what was checked, not a statement that a law or a guideline is complied with."


@dataclass(frozen=True)
class Preset:
    """Named limits with their source and conditions."""

    name: str
    title: str
    limits: Mapping[str, float]
    checks: str
    """What is measured and compared, in a sentence."""
    conditions: tuple[str, ...]
    """When the preset applies, and what it leaves open; each a sentence."""
    citation: str
    starting_values: str = ""
    """Why the numbers are only starting values; empty where the source itself names them for this use."""

    def all_conditions(self) -> tuple[str, ...]:
        """The conditions; the first says so where the numbers are only starting values."""
        return (self.starting_values, *self.conditions) if self.starting_values else self.conditions

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "name": self.name,
            "title": self.title,
            "limits": dict(self.limits),
            "checks": self.checks,
            "conditions": list(self.all_conditions()),
            "starting_values": self.starting_values,
            "citation": self.citation,
            "not_claimed": NO_COMPLIANCE,
        }


def _maximum_risk(name: str, risk: float, title: str, condition: str, citation: str, starting_values: str = "") -> Preset:
    return Preset(
        name,
        title,
        {"reidentification.prosecutor_max": risk},
        f"the largest prosecutor risk, 1 over the records of the smallest equivalence class of the quasi-identifiers, is at most "
        f"{risk:g}",
        (
            condition,
            f"{risk:g} is compared as printed: every class needs at least {_least_class(risk)} records.",
            (
                "For an intruder who does not know who is in the file, replace the limit by reidentification.journalist_max and "
                "give the population."
            ),
            KEYS_ARE_RIGHT,
            ONE_RECORD_PER_PERSON,
        ),
        citation,
        starting_values,
    )


def _least_class(risk: float) -> int:
    """The smallest class size whose risk 1/size is at most ``risk``."""
    size = int(1 / risk)
    return size if 1 / size <= risk else size + 1


def _smallest_class(size: int) -> Preset:
    return Preset(
        f"k_{size}",
        f"k-anonymity, k = {size}",
        {"k_anonymity.k": size},
        f"every combination of values of the quasi-identifiers that occurs is shared by at least {size} records",
        (
            (
                "k-anonymity is about identity disclosure: add a limit on l_diversity or t_closeness if records of a class may "
                "share a sensitive value."
            ),
            KEYS_ARE_RIGHT,
            ONE_RECORD_PER_PERSON,
        ),
        K_ANONYMITY,
        K_NUMBERS,
    )


def _average(size: int, risk: float) -> Preset:
    return Preset(
        f"k_{size}_average",
        f"average risk of 1/{size}, and no sample unique",
        {"reidentification.prosecutor_mean": risk, "reidentification.sample_uniques": 0},
        f"the mean prosecutor risk over the records is at most {risk:g}, and no record is alone in its equivalence class",
        (
            (
                "For a recipient who is bound by an agreement and has no reason to look for one person; not for publication, "
                "where the record at the largest risk counts."
            ),
            "A mean hides single records at risk; that no record may be a sample unique is the guard of this preset.",
            KEYS_ARE_RIGHT,
            ONE_RECORD_PER_PERSON,
        ),
        AVERAGE,
        AVERAGE_NUMBERS,
    )


_PRESETS = (
    _maximum_risk(
        "max_risk_0.09", 0.09, "maximum risk 0.09: clinical data for publication",
        "Clinical data that are published: the level of EMA Policy 0070 and of Health Canada. Both accept it beside an "
        "anonymisation report, or ask for singling out, linkability and inference instead (preset wp216).", EMA,
    ),
    _maximum_risk(
        "max_risk_0.05", 0.05, "maximum risk 0.05: public file of sensitive health data",
        "Health data that anybody can obtain, where disclosure would do much harm.", EL_EMAM, CHOICE_OF_LEVEL,
    ),
    _maximum_risk(
        "max_risk_0.2", 0.2, "maximum risk 0.2: known recipients",
        "Health data for known recipients under an agreement with some controls.", EL_EMAM, CHOICE_OF_LEVEL,
    ),
    _maximum_risk(
        "max_risk_0.33", 0.33, "maximum risk 0.33: trusted recipients",
        "Health data for trusted recipients under an agreement with strong controls.", EL_EMAM, CHOICE_OF_LEVEL,
    ),
    Preset(
        "cell_size_11", "cell size 11", {"k_anonymity.k": 11},
        "every combination of values of the quasi-identifiers that occurs is shared by at least 11 records",
        (
            "Files of the US Centers for Medicare & Medicaid Services: counts of 1 to 10 persons are not shown.",
            "The policy is about cells of published tables; here it is applied to the equivalence classes of microdata.",
            KEYS_ARE_RIGHT, ONE_RECORD_PER_PERSON,
        ), CMS,
    ),
    *(_smallest_class(size) for size in (3, 5, 10)),
    _average(3, 0.3334), _average(5, 0.2), _average(10, 0.1),
    Preset(
        "public_use_file", "public-use file of a statistical office",
        {"k_anonymity.k": 5, "rare_combinations.records": 0, "reidentification.marketer": 0.05},
        "every combination of the quasi-identifiers is shared by at least 5 records, every combination of up to 3 of them by at "
        "least 3, and at most 5 % of the records are expected to be linked correctly to a register of the population",
        (
            ("A file that anybody may use, without a contract. Records are a sample, without direct identifiers and detailed "
            "geography."),
            ("Say what share of the population the file is (section sampling); without it the file is taken to be the whole "
            "population, which overstates the marketer's risk."),
            KEYS_ARE_RIGHT,
        ), HANDBOOK, OFFICE_NUMBERS,
    ),
    Preset(
        "scientific_use_file", "scientific-use file of a statistical office",
        {"k_anonymity.k": 3, "rare_combinations.records": 0, "reidentification.marketer": 0.2},
        "every combination of the quasi-identifiers is shared by at least 3 records, so is every combination of up to 3 of them, "
        "and at most 20 % of the records are expected to be linked correctly to a register of the population",
        (
            "A file for researchers of recognised institutions under a contract that forbids re-identification.",
            ("Say what share of the population the file is (section sampling); without it the file is taken to be the whole "
            "population, which overstates the marketer's risk."),
            KEYS_ARE_RIGHT,
        ), HANDBOOK, OFFICE_NUMBERS,
    ),
    Preset(
        "wp216", "singling out, linkability and inference (WP216)",
        {"singling_out.risk": 0.09, "exhaustive_attack.singled_out_all": 0, "linkability.risk": 0.09, "inference.risk": 0.09},
        "attacks that single people out, link two parts of their values and infer the confidential attributes succeed, in excess "
        "of the same attacks on people outside the release, in at most 9 % of the cases, on the upper end of each interval; and "
        "that no record is alone on the quasi-identifiers",
        (
            ("Set holdout in the plan (0.1), or give a control table: without people outside the release, blind guesses are the "
            "control, and what the release tells of people in general counts as risk."),
            "The attacks are sampled and use the nearest released records; another intruder may do better.",
            "Inference is about attributes with the role confidential, known are those with the role key.",
        ), WP216, WP216_NUMBERS,
    ),
    Preset(
        "hipaa_safe_harbor", "HIPAA Safe Harbor as a checklist", {"safe_harbor.failing": 0},
        "no released column holds one of the 18 identifiers of the rule, as far as names of columns and values show it",
        (
            "De-identification of protected health information by 45 CFR 164.514(b)(2).",
            "Three-digit ZIP codes pass only with a table of their populations: risk: {safe_harbor: {zip_population: FILE}}.",
            "Columns are recognised by their names and values; what is not recognised is not found, and free text fails.",
            ("The rule also demands that the covered entity has no actual knowledge that the information could identify a "
            "person: no program can check that."),
        ), HIPAA,
    ),
)  # fmt: skip

PRESETS: Mapping[str, Preset] = {preset.name: preset for preset in _PRESETS}


def find_preset(name: Any) -> Preset:
    """The preset of this name; raises PolicyError with the nearest name."""
    if not isinstance(name, str) or name not in PRESETS:
        raise PolicyError(f"there is no preset '{name}'; {nearest(str(name), PRESETS)}")
    return PRESETS[name]


def expand_limits(limits: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Limits with ``preset`` replaced by the limits of the presets it names, and these names; limits written beside it win.

    >>> expand_limits({"preset": "k_5", "ncp.loss": 0.1})
    ({'k_anonymity.k': 5, 'ncp.loss': 0.1}, ('k_5',))
    """
    named = limits.get("preset", ())
    names = tuple(named) if isinstance(named, list | tuple) else (named,)
    own = {limit: value for limit, value in limits.items() if limit != "preset"}
    expanded: dict[str, Any] = {}
    for preset in map(find_preset, names):
        for limit, value in preset.limits.items():
            if limit not in own and expanded.get(limit, value) != value:
                raise PolicyError(
                    f"the presets {' and '.join(names)} have different numbers for {limit}: {expanded[limit]:g} and {value:g}; "
                    "write the limit beside them"
                )
            expanded[limit] = value
    return {**expanded, **own}, names


def describe_use(names: Sequence[str], limits: Mapping[str, float]) -> list[dict[str, Any]]:
    """The presets that a policy names, each with the limits that the policy changed or removed since."""
    uses = []
    for preset in map(find_preset, names):
        changed = {limit: limits.get(limit) for limit, value in preset.limits.items() if limits.get(limit) != value}
        uses.append(preset.to_dict() | {"changed": changed})
    return uses


def describe_preset(use: Mapping[str, Any]) -> str:
    """A sentence on a preset in use: what was checked, and which of its limits the owner changed."""
    changed = [
        f"{limit} was removed" if value is None else f"{limit} is {value:g} in place of {use['limits'][limit]:g}"
        for limit, value in use["changed"].items()
    ]
    edited = f" The owner changed it: {'; '.join(changed)}." if changed else ""
    return f"Preset {use['name']} ({use['title']}): it checks that {use['checks']}.{edited}"
