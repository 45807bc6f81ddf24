"""Titles of a context's items, and the sentence that says why an item is in or out."""

from collections.abc import Mapping

from django.utils.formats import date_format
from django.utils.text import Truncator
from msgspec import structs

from assembly.engine.reasons import decision_sentence
from assembly.engine.refs import Ref
from assembly.engine.types import Candidate, Decision
from assembly.sources.kinds import FILES

EXCERPT_CHARACTERS = 160  # characters of an item's text in a list
SHORT_TITLE_CHARACTERS = 40  # characters of a title in the names of links


def title_of(candidate: Candidate) -> str:
    """A day, the name of a file, or the beginning of what the item says."""
    if candidate.date:
        return date_format(candidate.date, "l, j F")
    if Ref.parse(candidate.ref).kind in FILES:
        return candidate.kind.capitalize()
    text = " ".join(candidate.text[: 2 * EXCERPT_CHARACTERS].split())
    return f"“{text[: EXCERPT_CHARACTERS - 1]}…”" if len(text) >= EXCERPT_CHARACTERS else f"“{text}”"


def short_title(title: str) -> str:
    """Enough of it to tell apart links that say the same."""
    return Truncator(title).chars(SHORT_TITLE_CHARACTERS)


def reason_sentence(decision: Decision, label: str, titles: Mapping[str, str]) -> str:
    """The engine's sentence, with what it names by its ref put in words."""
    by = decision.detail.get("by")
    told = structs.replace(decision, detail={**decision.detail, "by": titles.get(str(by), str(by))}) if by else decision
    return decision_sentence(told, label)
