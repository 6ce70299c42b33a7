"""Names of household numbers: a word for a number beside a word for a household, and nothing else.

'N° ménage', 'Haushaltsnr' and 'HH-Nr' number households; 'household size', 'number of persons in household' and 'Kinder' count
their members, and 'number of households' counts households.
"""

from __future__ import annotations

import re

HOUSEHOLD_WORDS = (
    "household", "haushalt", "menage", "hogar", "hh", "family", "familie", "famille", "familia", "famiglia", "nucleo familiare",
    "nucleo familiar", "agregado familiar", "agregado", "foyer", "huishouden", "huishoud", "gezin", "hushall", "hushald",
    "husholdning", "husstand", "kotitalous", "kotitalouden", "asuntokunta", "asuntokunnan", "ruokakunta", "ruokakunnan",
)  # fmt: skip
_NUMBER_WORDS = (
    "no", "nr", "num", "number", "nummer", "numero", "numer", "nro", "id", "ident", "identifier", "kennung", "kennummer",
    "identifiant", "identificador", "identificativo", "identificatie", "tunnus", "code", "codigo", "codice", "key", "schluessel",
    "schlussel", "cle", "clave", "chiave", "seq", "serial",
)  # fmt: skip
_NUMBERED = rf"(?:{'|'.join(sorted(_NUMBER_WORDS, key=len, reverse=True))})"
_HOUSEHOLD = rf"(?:{'|'.join(word.replace(' ', ' ?') for word in sorted(HOUSEHOLD_WORDS, key=len, reverse=True))})"
_OF = r"(?: (?:de|du|del|della|di|do|da|des|der|d|l|la|le|el|van))*"
_NUMBER_FIRST = re.compile(rf"{_NUMBERED}{_OF} ?{_HOUSEHOLD}(?: \d+)?")
_HOUSEHOLD_FIRST = re.compile(rf"{_HOUSEHOLD}s? ?{_NUMBERED}(?: \d+)?")
_SIGN = re.compile(r"\bn[°º.](?= ?[^\W\d_])|\bno\b[°º]?|#", re.IGNORECASE)
_CASE_CHANGE = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def numbers_households(plain: str) -> bool:
    """Whether a name without accents says that a column numbers households.

    >>> [numbers_households(name) for name in ("N° menage", "HH-Nr", "Haushaltsnr", "id_del_hogar", "HouseholdID")]
    [True, True, True, True, True]
    >>> [numbers_households(name) for name in ("household size", "number of households", "n_household", "Haushalt", "hh_income")]
    [False, False, False, False, False]
    """
    words = _CASE_CHANGE.sub(" ", _SIGN.sub(" no ", plain))
    text = " ".join(re.sub(r"[^\w]+|_", " ", words).lower().split())
    return bool(_NUMBER_FIRST.fullmatch(text) or _HOUSEHOLD_FIRST.fullmatch(text))
