"""What columns say about each other by their names: a common stem, a word cut short, a time beside the event that ends it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from discreet.engine.recognition.abbreviations import complete_truncated_word
from discreet.engine.recognition.column_names import look_up_name
from discreet.engine.recognition.name_rules import Kind, word_set
from discreet.engine.recognition.value_facts import Facts
from discreet.model.attribute import Role

_LEAST_STEM, _LONGEST_REST, _LEAST_MEMBERS = 3, 3, 3
_DURATIONS = word_set(
    """time times days day weeks week months month years duration futime stime survtime survival followup follow tte tstop stop
    lenfol dauer zeit duree tiempo"""
)
_EVENTS = word_set(
    """cens censor censored censoring status event fustat fstat dead death died dies deceased observed failure fail failed relapse
    recurrence recur delta outcome arrest arrested dropout uncensored exitus"""
)
_LEAST_DURATIONS = 10


def count_stems(names: Sequence[str]) -> Counter[str]:
    """How many names begin with each stem and have at most four letters more."""
    return Counter(name.lower()[: len(name) - rest] for name in names for rest in range(_LONGEST_REST + 2) if rest < len(name))


def _stems(name: str) -> list[str]:
    lower = name.lower()
    stems = [lower[:-rest].rstrip("_.") for rest in range(1, _LONGEST_REST + 1)]
    return [stem for stem in stems if len(stem) >= _LEAST_STEM]


def kind_of_stem(name: str, counts: Mapping[str, int]) -> tuple[Kind, str] | None:
    """The kind of the letters that a name begins with, where at least three columns have them: 'hlthg', 'hlthf', 'hlthp'.

    Old statistical packages allow eight letters, so a series of variables differs in the last one to three. ``counts`` are
    those of :func:`count_stems`.
    """
    for stem in _stems(name):
        if counts.get(stem, 0) < _LEAST_MEMBERS:
            continue
        kind = look_up_name(stem).kind
        if kind is not None and not kind.weak and kind.role in (Role.KEY, Role.CONFIDENTIAL):
            return kind, stem
    return None


def kind_of_truncated_name(name: str) -> tuple[Kind, str] | None:
    """The kind of the word that a name is the beginning of, and the word: 'disea' is cut from 'disease'."""
    return complete_truncated_word(name.lower())


def find_follow_up(facts: Sequence[Facts]) -> dict[str, str]:
    """Pairs of a time and the indicator of the event that ends it, as in studies of survival: each column with its partner."""
    times = [column for column in facts if _is_duration(column)]
    events = [column for column in facts if _is_event(column)]
    if not times or not events:
        return {}
    pairs = {column.name: events[0].name for column in times}
    return pairs | {column.name: times[0].name for column in events}


def _is_duration(facts: Facts) -> bool:
    if not facts.is_number or facts.distinct < _LEAST_DURATIONS or float(facts.extremes[0]) < 0:
        return False
    words = {word for word in facts.naming.words if not word.isdigit()}
    if words <= {"year", "years"} and float(facts.extremes[0]) > 1_000:  # a calendar year
        return False
    return bool(words) and words <= _DURATIONS


def _is_event(facts: Facts) -> bool:
    return facts.distinct in (2, 3) and bool(_EVENTS & set(facts.naming.words))
