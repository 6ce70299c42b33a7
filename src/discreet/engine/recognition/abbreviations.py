"""Names that are abbreviated: by dots ('Geb.-Datum'), or cut off after some letters ('disea')."""

from __future__ import annotations

import re
from functools import cache

from discreet.engine.recognition.name_rules import Kind, word_set
from discreet.engine.recognition.vocabulary import NEVER_SPLIT, phrases, written_together

_LEAST_LETTERS = 5
"""Letters of a word that is taken for the beginning of a longer one."""
_NUMBER = re.compile(r"^(?:no|nr|num)(?:\[a-z\]\*)?$")
_LEAST_ABBREVIATED = 4
"""Letters that are left of an abbreviated name."""
_WHOLE_WORDS = word_set(
    """album allow angin apart behind breast build burger check civil collate condo conserve construct contest contra cover craft
    depart direct divide elect emerge final fresh gross handle initial install inter light linked liter local minor moral motor
    multi never opera organ orient paris plain plate prior provide quart random reise repeat search sever special spell spitz
    status stern still stunt surge temper times trait under villa weiter wheel whole woche wochen young"""
)
"""Words with a meaning of their own, which are not taken for the beginning of another one: a plate is no platelet."""


@cache
def expand_abbreviations(name: str) -> tuple[Kind, str] | None:
    """The kind of the only phrases that a name with dots may abbreviate, and the shortest: 'geb.-datum' is 'geburtsdatum'.

    A dot stands for letters left out, whatever is written together or apart. Runs over the whole vocabulary, a few thousand
    phrases, and only for names with a dot.
    """
    parts = re.findall(r"[^\W\d_]+\.?", name)
    if not any(part.endswith(".") for part in parts) or sum(map(len, parts)) - name.count(".") < _LEAST_ABBREVIATED:
        return None
    if name.count(".") and " " not in name and not name.endswith(".") and ".-" not in name:
        return None  # 'annual.family.income' has dots between whole words
    pattern = re.compile("".join(_NUMBER.sub(r"(?:no|nr|num|number|nummer)", part.replace(".", "[a-z]*")) for part in parts))
    matches = [(text, phrases()[phrase]) for text, phrase in written_together().items() if pattern.fullmatch(text)]
    if not matches or len({kind.name for _, kind in matches}) > 1:
        return None
    return matches[0][1], min((text for text, _ in matches), key=lambda text: (len(text), text))


@cache
def complete_truncated_word(word: str) -> tuple[Kind, str] | None:
    """The kind and a word of the vocabulary that begins with this one, where all such words are of one kind.

    >>> complete_truncated_word("disea")[1], complete_truncated_word("qwert")
    ('disease', None)
    """
    if len(word) < _LEAST_LETTERS or not word.isalpha() or word in NEVER_SPLIT or word in _WHOLE_WORDS:
        return None
    longer = [
        (phrase[0], kind)
        for phrase, kind in phrases().items()
        if len(phrase) == 1 and phrase[0] != word and phrase[0].startswith(word)
    ]
    if not longer or len({kind.name for _, kind in longer}) > 1 or longer[0][1].weak:
        return None
    return longer[0][1], min((text for text, _ in longer), key=lambda text: (len(text), text))
