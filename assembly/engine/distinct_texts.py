"""Equal texts are included once, whatever their shape, their section and their source.

Two texts are equal if they differ in white space alone. A passage repeats its document, if that is included whole.
"""

import hashlib
import re
from dataclasses import dataclass, field

from assembly.engine.refs import document_of
from assembly.engine.types import Candidate

_PLACE = re.compile(r"[^\n]*:[0-9]+\n")
"""The first line of a passage, which says where it begins: the path or the title of its text, and the line."""

TextDigest = bytes
"""The hash of a text without its white space; texts with equal digests are equal."""


@dataclass(frozen=True, slots=True)
class DistinctTexts:
    """The texts that are included so far."""

    across_shapes: bool = True
    """Whether passages are compared without their place, and with whole documents; if not, only equal items repeat."""
    refs: dict[TextDigest | str, str] = field(default_factory=dict)
    """The ref of the item that has a text, by the digest of the text, and by its own ref."""
    documents: set[str] = field(default_factory=set)
    """The refs of items that are included whole."""

    def copy(self) -> "DistinctTexts":
        """Return a copy, to which texts can be added on trial."""
        return DistinctTexts(self.across_shapes, dict(self.refs), set(self.documents))

    def digest_of(self, candidate: Candidate) -> TextDigest:
        """Return the digest of what the candidate says; cached in the candidate."""
        form = DistinctTexts, self.across_shapes
        known: TextDigest | None = candidate.memo.get(form)
        if known is None:
            text = _without_place(candidate) if self.across_shapes else candidate.text
            known = candidate.memo[form] = hashlib.sha256(" ".join(text.split()).encode()).digest()
        return known

    def repeated_by(self, candidate: Candidate) -> str | None:
        """Return the ref of the included item that has the candidate's text, or contains it as a document."""
        document = document_of(candidate.ref)
        if self.across_shapes and document in self.documents:
            return document
        return self.refs.get(candidate.ref) or self.refs.get(self.digest_of(candidate))

    def add(self, candidate: Candidate, *, is_whole: bool) -> None:
        """Add an included item."""
        self.refs[candidate.ref] = self.refs[self.digest_of(candidate)] = candidate.ref
        if is_whole:
            self.documents.add(candidate.ref)


def _without_place(candidate: Candidate) -> str:
    """Return the candidate's text, of a passage without the line that says where it begins."""
    place = _PLACE.match(candidate.text) if document_of(candidate.ref) != candidate.ref else None
    return candidate.text[place.end() :] if place else candidate.text
