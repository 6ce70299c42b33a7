"""A limit as a sentence, from the measure's own words: its sentence for the field, or the field's meaning and direction.

A plug-in may declare ``limit_sentences``: for a field, a sentence with one blank for the number. What stands in the blank is the
blank's name: ``{number}`` the number itself, ``{percent}`` a share in percent, ``{one_in}`` n for a probability of 1/n. Fields
without a sentence get one from their meaning, so that a stranger's measure reads as well as a built-in one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from discreet import registry
from discreet.errors import PolicyError
from discreet.model.display import format_number

_BLANKS = ("{number}", "{percent}", "{one_in}")
_COUNTED = (
    "records", "persons", "columns", "values", "released", "masked", "unsafe", "sample", "special", "rare", "regression",
    "equivalence", "statistics", "original", "minimal", "known", "high-risk",
)  # fmt: skip
"""First words of a meaning that names things to be counted; any other meaning names one number."""
_UNNAMED = ("their ", "of these", "how ", "the same", "(")
"""How a meaning begins that does not name a number by itself."""


@dataclass(frozen=True)
class LimitSentence:
    """A sentence on a limit, around the blank for its number."""

    limit: str
    before: str
    blank: str
    """One of ``number``, ``percent`` and ``one_in``."""
    after: str

    def fill(self, required: float) -> str:
        """The sentence with the number of a limit in its blank."""
        shown = self.show(required)
        if shown == "0" and self.blank == "number" and self.before.lower().endswith("at most "):
            return _capitalize(f"{self.before[:-8]}no{self.after}")
        return _capitalize(f"{self.before}{shown}{' %' if self.blank == 'percent' else ''}{self.after}")

    def show(self, required: float) -> str:
        """What stands in the blank for the number of a limit."""
        if self.blank == "one_in":
            # a risk of at most 0.09 leaves classes of 12 records, not of 11.1
            return f"{math.ceil(1 / required - 1e-9):,}" if required > 0 else "infinitely many"
        return f"{required * 100:.6g}" if self.blank == "percent" else format_number(required)

    def parse(self, typed: str) -> float:
        """The number of the limit from what somebody wrote into the blank; raises PolicyError."""
        try:
            number = float(typed.strip().removesuffix("%"))
        except ValueError:
            number = math.nan
        if not math.isfinite(number) or (self.blank == "one_in" and number < 1):
            expected = "a number of at least 1" if self.blank == "one_in" else "a number"
            raise PolicyError(f"'{self.fill_blank('…')}' needs {expected}; got '{typed[:40]}'")
        return 1 / number if self.blank == "one_in" else number / 100 if self.blank == "percent" else number

    def fill_blank(self, text: str) -> str:
        """The sentence with any text in its blank."""
        return _capitalize(f"{self.before}{text}{' %' if self.blank == 'percent' else ''}{self.after}")


def sentence_of(limit: str) -> LimitSentence:
    """The sentence of a limit such as ``k_anonymity.k``; raises PolicyError where no measure has the field."""
    kind, measure, field, better = registry.resolve_limit(limit)
    plugin = registry.load(kind, measure)
    own: Mapping[str, str] = getattr(plugin, "limit_sentences", {})
    meanings: Mapping[str, str] = getattr(plugin, "meaning", {})
    otherwise = f"{field} of {measure}".replace("_", " ")
    comparison = "at most" if better == "low" else "at least"
    text = own.get(field) or _from_meaning(meanings.get(field, "") or otherwise, comparison, otherwise)
    blank = next(blank for blank in _BLANKS if blank in text)
    before, _, after = text.partition(blank)
    return LimitSentence(limit, before, blank.strip("{}"), after.removeprefix(" %"))


def limit_sentence(limit: str, required: float) -> str:
    """A limit as a sentence.

    >>> limit_sentence("k_anonymity.k", 11)
    'No record is easier to find than one in 11'
    >>> limit_sentence("reidentification.prosecutor_max", 0.09), limit_sentence("k_anonymity.unique", 0)
    ('Nobody is easier to find than one in 12', 'There are no records alone in their equivalence class')
    >>> limit_sentence("integrity.variance", 0.1)
    'The largest relative deviation of a variance is at most 0.1'
    """
    return sentence_of(limit).fill(required)


def field_words(name: str) -> tuple[str, str]:
    """What a field such as ``k_anonymity.violating_2`` is called by people, and what explains it further.

    >>> field_words("k_anonymity.violating_2")
    ('records that violate 2-anonymity', 'class of fewer than 2')
    >>> field_words("ncp.loss"), field_words("rare_values.share")
    (('mean penalty per value, 0 (unchanged) to 1 (suppressed)', ''), ('share of rare values', 'their share of all records'))
    """
    measure, _, field = name.partition(".")
    otherwise = f"{field} of {measure}".replace("_", " ")
    plugin = next((registry.load(kind, measure) for kind in ("risk", "loss") if measure in registry.installed_names(kind)), None)
    meanings: Mapping[str, str] = getattr(plugin, "meaning", {})
    return _name_field(meanings.get(field, "") or otherwise, otherwise)


def example_sentences() -> list[LimitSentence]:
    """The sentences that measures declare for their fields, risk before loss."""
    return [
        sentence_of(f"{name}.{field}")
        for kind in ("risk", "loss")
        for name in registry.installed_names(kind)
        for field in getattr(registry.load(kind, name), "limit_sentences", {})
    ]


def _from_meaning(meaning: str, comparison: str, otherwise: str) -> str:
    """A sentence from what a field means: things that are counted, or the name of a number; what follows a colon explains it."""
    name, explanation = _name_field(meaning, otherwise)
    aside = f" ({explanation})" if explanation else ""
    if name.split(" ", 1)[0] in _COUNTED:
        return f"there are {comparison} {{number}} {name}{aside}"
    named = name.removeprefix("the ")
    blank = "{percent} %" if named.startswith(("share of", "expected share")) else "{number}"
    return f"the {named}{',' if ',' in named else ''} is {comparison} {blank}{aside}"


def _name_field(meaning: str, otherwise: str) -> tuple[str, str]:
    """The name in a meaning and its explanation; where the meaning refers to another field or is a formula, ``otherwise``."""
    plain = meaning.replace("{", "(").replace("}", ")").replace("_", " ")
    name, explanation = _split_explanation(plain)
    return (otherwise, plain) if name.startswith(_UNNAMED) else (name, explanation)


def _split_explanation(meaning: str) -> tuple[str, str]:
    """What stands before and after the first colon or semicolon outside parentheses."""
    depth = 0
    for place, character in enumerate(meaning):
        depth += (character == "(") - (character == ")")
        if depth == 0 and meaning[place : place + 2] in (": ", "; "):
            return meaning[:place], meaning[place + 2 :]
    return meaning, ""


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]
