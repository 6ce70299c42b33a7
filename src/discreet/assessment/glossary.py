"""Terms that pages and documents explain, each once; docs/notation.md has the same table, which a test compares with this one."""

from __future__ import annotations

from collections.abc import Mapping

TERMS: Mapping[str, str] = {
    "quasi-identifier": "an attribute that an intruder may know of a person and can look for in the release; the role key",
    "direct identifier": "an attribute that names a person by itself, such as a name or a number; the role identifier",
    "sensitive attribute": "an attribute whose disclosure harms the person; the role confidential, or any with a sensitivity",
    "equivalence class": "the records that have the same values of all quasi-identifiers",
    "sample unique": "a record that is alone in its equivalence class",
    "known probability": "the probability, 0 to 1, that an intruder knows an attribute of a person",
    "known set": "a set of attributes that an intruder knows of a person, with the probability of knowing them together",
    "prosecutor risk": "the probability of finding a person who is known to be in the release: 1 over the size of the class",
    "journalist risk": "the probability of finding a person of the population who may be in the release",
    "marketer risk": "the share of records that are linked correctly to a register of the population",
    "information loss": "what a user of the release no longer learns: 0 is the original, 1 is everything lost",
    "risk-utility map": "releases or plans by their risk and their loss; one that another beats in both is dominated",
    "release": "a masked table with its plan and evidence; a draft until somebody else approves it",
    "limit": "a requirement on a measure that a release must meet; the verdict says met, not met or incomplete",
    "preset": "limits that guidance names, with source and conditions",
    "hierarchy": "coarser values that may stand for a value, level by level up to *",
}
"""A term and what it means, in one line."""
