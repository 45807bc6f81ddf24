"""This module makes titles of a context's items, and the sentence on why an item is included or excluded."""

from collections.abc import Mapping

from django.utils.formats import date_format
from django.utils.text import Truncator
from msgspec import structs

from assembly.engine.reasons import decision_sentence
from assembly.engine.refs import Ref
from assembly.engine.types import Candidate, Decision
from assembly.sources.kinds import FILES
from teams.models import TeamFile

EXCERPT_CHARACTERS = 160  # characters of an item's text in a list
SHORT_TITLE_CHARACTERS = 40  # characters of a title in the names of links
TEAM_FILE_TITLES = {key.lower(): label for key, label in TeamFile.Key.choices}


def title_of(candidate: Candidate) -> str:
    """Return the title of a candidate: its date, the name of its file, or the beginning of its text in quotes."""
    if candidate.date:
        return date_format(candidate.date, "l, j F")
    if Ref.parse(candidate.ref).kind in FILES:
        return file_title(candidate.kind)
    text = " ".join(candidate.text[: 2 * EXCERPT_CHARACTERS].split())
    return f"“{text[: EXCERPT_CHARACTERS - 1]}…”" if len(text) >= EXCERPT_CHARACTERS else f"“{text}”"


def file_title(kind: str) -> str:
    """Return the name on pages of a file with this key, or kind of candidate: "Background" for `context`."""
    return TEAM_FILE_TITLES.get(kind.lower(), kind.capitalize())


def short_title(title: str) -> str:
    """Return at most 40 characters of a title, for the accessible names of links."""
    return Truncator(title).chars(SHORT_TITLE_CHARACTERS)


def reason_sentence(decision: Decision, label: str, titles: Mapping[str, str]) -> str:
    """Return the engine's sentence on a decision, with the title of an item that the decision names by ref."""
    by = decision.detail.get("by")
    told = structs.replace(decision, detail={**decision.detail, "by": titles.get(str(by), str(by))}) if by else decision
    return decision_sentence(told, label)
