"""Names of users: which are valid, and which are the same. Reports and the audit log print them, so none may look like another's.

A name is stored in Unicode's compatibility form (NFKC), without characters that cannot be seen, and no word of it mixes
alphabets whose letters look alike. Two names are the same if they differ in case only.
"""

from __future__ import annotations

import re
import unicodedata

MAX_LENGTH = 80
_ALLOWED = re.compile(r"[^\s/\\<>\x00-\x1f\x7f](?:[^/\\<>\x00-\x1f\x7f]{0,78}[^\s/\\<>\x00-\x1f\x7f])?")
_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
"""Categories of characters that are not seen, or that change the direction of others."""
_ALIKE = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE")
"""Alphabets with letters that look like those of another."""


def normalize_name(text: str) -> str:
    """A name as it is stored.

    >>> normalize_name(" Ａnna  B ")
    'Anna B'
    """
    return re.sub(r" +", " ", unicodedata.normalize("NFKC", text)).strip()


def comparison_key(text: str) -> str:
    """What is equal for two names that are the same."""
    folded = unicodedata.normalize("NFKC", normalize_name(text).casefold())
    return folded[:MAX_LENGTH]


def is_valid_name(text: str) -> bool:
    """Whether a normalized name may be used.

    >>> is_valid_name("Анна"), is_valid_name("Аnna")  # the second begins with a Cyrillic letter
    (True, False)
    """
    if not _ALLOWED.fullmatch(text) or any(unicodedata.category(character) in _UNSEEN for character in text):
        return False
    return all(len(_alphabets(word)) <= 1 for word in re.split(r"[\W_]+", text))


def _alphabets(word: str) -> set[str]:
    return {first for character in word if (first := unicodedata.name(character, "").partition(" ")[0]) in _ALIKE}
