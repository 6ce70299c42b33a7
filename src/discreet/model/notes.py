"""Notes on a step or a measure: one sentence for the data controller, and what a public report says in its place."""

from __future__ import annotations

from typing import Self


class Note(str):
    """A sentence that a public report replaces.

    A note on a step may name records by their row in the source, or state the risk of single records. That is for the data
    controller alone. ``public`` is what anybody may read; an empty one leaves the note out.

    >>> note = Note("2 records stay above 0.01: records 3, 17", "Some records stay above 0.01.")
    >>> note, note.public
    ('2 records stay above 0.01: records 3, 17', 'Some records stay above 0.01.')
    """

    public: str

    def __new__(cls, text: str, public: str) -> Self:
        note = super().__new__(cls, text)
        note.public = public
        return note

    def __reduce__(self) -> tuple[type[Note], tuple[str, str]]:  # so that copies and pickles keep both texts
        return Note, (str(self), self.public)


def public_text(note: str) -> str:
    """The text of a note for a public report: its public text, or the sentence itself where it has none."""
    return note.public if isinstance(note, Note) else note
