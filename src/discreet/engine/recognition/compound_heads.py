"""The last part of a compound: German, Dutch and Nordic nouns are written together and carry their kind at the end.

'Jahreslohn' and 'maandsalaris' are wages whatever stands in front. A part counts only where other words hardly end with it; one
that many words end with ('Wohnort', but 'Antwort') counts behind the words that are listed with it.
"""

from __future__ import annotations

import re

from discreet.engine.recognition.name_rules import word_set

SAFE_HEADS = word_set(
    """lohn einkommen verdienst entgelt besoldung verguetung salaris inkomen loon inkomst inntekt indkomst palkka tulot lonn
    krankheit erkrankung diagnose ziekte sairaus sjukdom sykdom sygdom behandlung behandling therapie versicherung medikament
    medikamente behinderung kosten betrag ausgaben schulden steuer beruf beroep yrke ammatti ausbildung utbildning utdanning
    uddannelse opleiding koulutus geschlecht konfession kanton bezirk gemeinde bundesland kommune gemeente adresse anschrift
    strasse telefon leeftijd"""
)
"""Parts that say what a compound is, whatever stands in front of them."""
HEADS_BEHIND = {
    "gehalt": "jahres monats wochen tages stunden grund brutto netto ziel fix basis tarif anfangs einstiegs end gesamt lehrer",
    "rente": "alters witwen waisen invaliden monats jahres betriebs",
    "ort": "arbeits unfall aufenthalts studien schul heimat dienst wohnsitz tat bostads fodelse herkunfts",
    "stadt": "heimat geburts wohn",
    "land": "geburts wohn wohnsitz herkunfts heimat fodelse geboorte fode oprindelses",
    "staat": "geburts wohnsitz heimat herkunfts",
    "alter": "eintritts sterbe heirats erkrankungs aufnahme aufnahmes renten kindes",
    "abschluss": "hochschul berufs bildungs studien universitats universitaets ausbildungs",
    "sprache": "erst zweit haus familien umgangs heimat haupt",
    "vermoegen": "gesamt netto brutto geld privat haushalts",
}
"""Parts with other meanings (Sauerstoffgehalt, Antwort, Schalter), and the words behind which they have this one."""
_OTHER_WORDS = word_set("saloon balloon")
_LEAST_LETTERS = 3
"""Letters in front of a last part."""


def _spellings(word: str) -> tuple[str, str]:
    """A word with its umlauts as two letters and as one."""
    return word, re.sub(r"(?<=[a-z])(a|o|u)e(?=[a-z])", r"\1", word)


_SAFE = tuple(
    sorted(((spelling, head) for head in SAFE_HEADS for spelling in set(_spellings(head))), key=lambda pair: -len(pair[0]))
)
_COMPOUNDS = {
    before + spelling: head for head, words in HEADS_BEHIND.items() for before in words.split() for spelling in _spellings(head)
}


def find_last_part(word: str) -> str | None:
    """The last part of a compound in small letters without accents, where it says what the whole word is.

    >>> find_last_part("jahreslohn"), find_last_part("maandsalaris"), find_last_part("arbeitsort")
    ('lohn', 'salaris', 'ort')
    >>> find_last_part("antwort"), find_last_part("lohn"), find_last_part("balloon")
    (None, None, None)
    """
    if word in _OTHER_WORDS:
        return None
    if word in _COMPOUNDS:
        return _COMPOUNDS[word]
    return next((head for end, head in _SAFE if word.endswith(end) and len(word) >= len(end) + _LEAST_LETTERS), None)
