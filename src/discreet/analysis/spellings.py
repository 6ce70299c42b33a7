"""Texts of one column that differ only in case, spaces or punctuation: probably one category in several spellings."""

from __future__ import annotations

import re

from discreet.engine.recognition.value_facts import Facts

_MOST_VALUES, _MOST_GROUPS = 1_000, 3
_LEAST_RECORDS = 10
"""Records that a category needs, so that texts of single persons are not shown."""
_MOST_DIFFER = 0.5
_SHORT = 3
"""Letters up to which a sign belongs to the text: A- is a blood group and no A."""


def describe_spellings(facts: Facts) -> str:
    """Which texts look like one category in several spellings, and what to do; empty where there are none.

    >>> from discreet.engine.recognition.value_facts import facts_of
    >>> from discreet.testing import table
    >>> describe_spellings(facts_of(table({"sex": ["m", "M", "w", "m "] * 5}))[0])[:68]
    "'M' (5 records), 'm' (5 records) and 'm ' (5 records) differ only in"
    """
    if not facts.is_text or not 2 <= facts.distinct <= _MOST_VALUES or facts.uniqueness > _MOST_DIFFER:
        return ""
    groups: dict[str, list[tuple[str, int]]] = {}
    for text, count in zip(facts.column.values.to_list(), facts.counts[: facts.distinct].tolist(), strict=True):
        if plain := normalise_spelling(text):
            groups.setdefault(plain, []).append((text, count))
    several = [group for group in groups.values() if len(group) > 1 and sum(count for _, count in group) >= _LEAST_RECORDS]
    if not several:
        return ""
    several.sort(key=lambda group: (-sum(count for _, count in group), group[0][0]))
    listed = "; ".join(_list_spellings(group) for group in several[:_MOST_GROUPS])
    more = f"; and {len(several) - _MOST_GROUPS:,} more categories" if len(several) > _MOST_GROUPS else ""
    look = "look like one category" if len(several) == 1 else "look like one category each"
    differ = "differ only in case, spaces or punctuation"
    return f"{listed}{more} {differ} and {look}: recode them before, or by groups of global_recoding"


def normalise_spelling(text: str) -> str:
    """A text without case, spaces and punctuation; signs beside digits and in short texts are kept, for they say something.

    >>> [normalise_spelling(text) for text in (" Self-employed", "self employed", "A-", "A")]
    ['selfemployed', 'selfemployed', 'a-', 'a']
    >>> [normalise_spelling(text) for text in ("10-19", "1019", "+5")]
    ['10-19', '1019', '+5']
    """
    plain = " ".join(text.casefold().split())
    if len(plain) <= _SHORT or re.search(r"\d", plain):
        return plain.removesuffix(".")
    return re.sub(r"[\s.,;:_'’`\"()/\-–—]+", "", plain)


def _list_spellings(group: list[tuple[str, int]]) -> str:
    written = [f"{text!r} ({count:,} record{'' if count == 1 else 's'})" for text, count in group]
    return f"{', '.join(written[:-1])} and {written[-1]}"
