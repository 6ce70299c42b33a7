"""The vocabulary of column names: every phrase with its kind, and the words that say nothing of a kind."""

from __future__ import annotations

import re
from functools import cache

from discreet.engine.recognition.confidential_names import CONFIDENTIALS
from discreet.engine.recognition.identifier_names import IDENTIFIERS, WEIGHTS
from discreet.engine.recognition.key_names import KEYS
from discreet.engine.recognition.name_rules import Kind, word_set
from discreet.engine.recognition.other_names import OTHERS

PREPOSITIONS = word_set("""at of for per in on by from to with de du des di da del della van von vom zum""")
PEOPLE_AND_THINGS = word_set(
    """patient user person customer client member employee student subject participant respondent child mother father
    parent husband wife spouse partner owner contact doctor physician head hh emergency primary secondary current
    previous prev last first total num number count nbr nr no code type status group class level flag date year month
    day birth death home work visit encounter case record file order claim kunden patienten mitarbeiter schueler"""
)
MODIFIERS = word_set(
    """good poor bad very high low old young new big small large avg average mean max min median tot any ever never prior
    pct percent share rate ratio index score grp cat dummy ind indicator has had was did own self years yrs year weekly
    monthly annual daily hourly per log sqrt sum diff change raw std adj imputed recoded baseline base follow final initial
    stat"""
)
"""Words that say how something is counted or when; they neither name a kind nor hide one."""
NEVER_SPLIT = word_set(
    """percentage average message usage image stage page package storage mileage damage manage management passage voltage
    advantage courage garbage heritage linkage marriage mortgage outage postage sausage shortage tonnage vintage wastage cabbage
    engage garage massage sewage stages pages images acreage leverage coverage carriage drainage dosage footage sexton
    essex sussex middlesex unisex racecar grace trace brace terrace surface raced wager lawage bondage foliage cottage village
    language agency agenda agent agents change changes period identity idea hidden valid video android payment manifest
    statement department export exports exported measurement management element segment appointment assessment agreement"""
)
"""Words that hold another word by accident: no age in a percentage."""
NOT_PEOPLE = word_set(
    """file product brand table column field variable course project event hotel item model dataset test team package
    device ship program programme category label attribute feature app game store shop species street"""
)
SHORT = frozenset({"id", "no", "nr", "dx", "rx", "wt"})


@cache
def phrases() -> dict[tuple[str, ...], Kind]:
    """Every phrase as its words, with its kind; umlauts written as two letters and as one."""
    table: dict[tuple[str, ...], Kind] = {}
    for kind in (*IDENTIFIERS, *WEIGHTS, *KEYS, *CONFIDENTIALS, *OTHERS):
        for phrase in kind.phrases:
            if table.setdefault(phrase, kind) is not kind:
                raise AssertionError(f"'{' '.join(phrase)}' is a phrase of {table[phrase].name} and of {kind.name}")
            # umlauts may be written as two letters or as one
            single = tuple(re.sub(r"(?<=[a-z])(a|o|u)e(?=[a-z])", r"\1", word) for word in phrase)
            table.setdefault(single, kind)
    return table


@cache
def written_together() -> dict[str, tuple[str, ...]]:
    """Every phrase without spaces, with its words."""
    return {"".join(phrase): phrase for phrase in phrases()}


@cache
def _vocabulary() -> frozenset[str]:
    words = {word for phrase in phrases() for word in phrase}
    words |= PEOPLE_AND_THINGS | NOT_PEOPLE | PREPOSITIONS | MODIFIERS
    return frozenset(word for word in words if len(word) >= 3) | SHORT


def split_into_words(chunk: str) -> list[str]:
    """The fewest words of the vocabulary that cover a chunk completely; the chunk itself where there are none."""
    if chunk in written_together():
        return list(written_together()[chunk])
    if len(chunk) > 40 or chunk in NEVER_SPLIT or chunk in _vocabulary():
        return [chunk]
    known, best = _vocabulary(), {0: []}  # type: tuple[frozenset[str], dict[int, list[str]]]
    for end in range(1, len(chunk) + 1):
        for start in range(end):
            part = chunk[start:end]
            if start in best and (part in known or part.isdigit()) and (end not in best or len(best[start]) + 1 < len(best[end])):
                best[end] = [*best[start], part]
    return best.get(len(chunk), [chunk])
