"""URL parameters are parsed into search criteria here, for the list page, the API and downloads."""

import datetime
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from assembly.contexts.search.criteria import ANY_FILE, ContextQuery
from assembly.contexts.search.things import parse_reference
from assembly.contexts.search.visible_owners import VisibleOwners
from assembly.engine.codes import DECISION_CODES, SourceCode, WarningCode
from assembly.models import Purpose
from config.http.errors import Invalid
from config.http.serializers import Moment, parse_date

WARNINGS = (*map(str, WarningCode), *map(str, SourceCode))
MAX_WORDS_CHARACTERS = 200
MAX_REQUESTER_CHARACTERS = 80
MAX_PROFILE_CHARACTERS = 60
DAY = datetime.timedelta(days=1)

ParameterParser = Callable[[str, VisibleOwners], Any]
"""A function that parses a parameter's text. Raises ValueError with a sentence for an invalid text."""


class Parameter(NamedTuple):
    """A search parameter. `wanted` is the field of ContextQuery that it sets; `schema` is its OpenAPI schema."""

    wanted: str
    read: ParameterParser
    description: str
    schema: Mapping[str, Any]


TEXT: Mapping[str, Any] = {"type": "string"}


def _agent(text: str, visible: VisibleOwners) -> Any:
    if agent := visible.agent(text):
        return agent.id
    raise ValueError(_("There is no agent with this slug among those that you see."))


def _team(text: str, visible: VisibleOwners) -> Any:
    if team := visible.team(text):
        return team.id
    raise ValueError(_("There is no team with this slug among those that you see."))


def _requested_by(text: str, visible: VisibleOwners) -> str:
    if text == "me":
        return visible.principal.ref
    if text == "system" or (text.startswith(("person:", "key:")) and len(text) <= MAX_REQUESTER_CHARACTERS):
        return text
    raise ValueError(_("Use me, system, person:<id> or key:<id>."))


def _since(text: str, _sight: VisibleOwners) -> datetime.datetime:
    day = parse_date(text)
    return _start_of_day(day) if day else _moment(text)


def _until(text: str, _sight: VisibleOwners) -> datetime.datetime:
    day = parse_date(text)
    return _start_of_day(day) + DAY if day else _moment(text)


def _start_of_day(day: datetime.date) -> datetime.datetime:
    return datetime.datetime.combine(day, datetime.time(), datetime.UTC)


def _moment(text: str) -> datetime.datetime:
    try:
        moment: datetime.datetime = Moment().run_validation(text)
    except ValidationError:
        raise ValueError(
            _("Use a date like 2026-02-28, or a date and time like 2026-02-28T09:30:00Z, with + written as %2B.")
        ) from None
    return moment


def _profile(text: str, _sight: VisibleOwners) -> str:
    if len(text) > MAX_PROFILE_CHARACTERS:
        raise ValueError(_("Use the name of a profile, as its page shows it."))
    return text


def _one_of(values: tuple[str, ...]) -> ParameterParser:
    def read(text: str, _sight: VisibleOwners) -> str:
        if text not in values:
            raise ValueError(_("Use one of: %(values)s.") % {"values": ", ".join(values)})
        return text

    return read


def _parse_reference(text: str, visible: VisibleOwners) -> Any:
    return parse_reference(text, visible.principal)


def _file_loss(text: str, visible: VisibleOwners) -> str:
    return ANY_FILE if text == ANY_FILE else parse_reference(text, visible.principal).named


def _words(text: str, _sight: VisibleOwners) -> str:
    if len(text) > MAX_WORDS_CHARACTERS:
        raise ValueError(_("Search for at most %(most)s characters.") % {"most": MAX_WORDS_CHARACTERS})
    return text


def _schema(values: tuple[str, ...]) -> Mapping[str, Any]:
    return {"type": "string", "enum": list(values)}


OUTCOMES = ("truncated", "excluded")
PURPOSES = tuple(Purpose.values)
PARAMETERS: Mapping[str, Parameter] = {
    "agent": Parameter("agent", _agent, "Only of the agent with this slug.", TEXT),
    "team": Parameter("team", _team, "Only of the team with this slug.", TEXT),
    "requested_by": Parameter(
        "requested_by",
        _requested_by,
        "Only contexts that this caller requested: me, person:<id>, key:<id> or system.",
        TEXT,
    ),
    "purpose": Parameter(
        "purpose", _one_of(PURPOSES), "Only for this purpose: agent, preview or test.", _schema(PURPOSES)
    ),
    "since": Parameter("since", _since, "From this date (UTC) or moment on.", TEXT),
    "until": Parameter("until", _until, "Up to the end of this date (UTC), or before this moment.", TEXT),
    "profile": Parameter("profile", _profile, "Only by the profile of this name.", TEXT),
    "warning": Parameter("warning", _one_of(WARNINGS), "Only with this warning.", _schema(WARNINGS)),
    "reason": Parameter(
        "reason", _one_of(DECISION_CODES), "Only where this reason was given.", _schema(DECISION_CODES)
    ),
    "included_ref": Parameter(
        "contains", _parse_reference, "Only contexts that include this item: a ref, of any version without its @.", TEXT
    ),
    "excluded_ref": Parameter(
        "omits", _parse_reference, "Only contexts that exclude this item: a ref, of any version without its @.", TEXT
    ),
    "file_loss": Parameter(
        "file_loss",
        _file_loss,
        "Only contexts that truncated this file, or excluded it for lack of budget: a ref; any: any file.",
        TEXT,
    ),
    "outcome": Parameter(
        "outcome",
        _one_of(OUTCOMES),
        "truncated: an item was truncated, shortened, or excluded for lack of budget, or there is a warning. "
        "excluded: an item was excluded.",
        _schema(OUTCOMES),
    ),
    "q": Parameter(
        "words",
        _words,
        "Words in the topic, in a name, or in the included texts. Topics above internal are not found by their words, "
        "because they are encrypted.",
        TEXT,
    ),
}


def parse_context_query(given: Mapping[str, str], visible: VisibleOwners) -> tuple[ContextQuery, dict[str, str]]:
    """Return the criteria of the non-empty parameters, and a sentence for each invalid parameter by its name."""
    values, faults = {}, {}
    for name, parameter in PARAMETERS.items():
        if text := given.get(name, "").strip():
            try:
                values[parameter.wanted] = parameter.read(text, visible)
            except ValueError as error:
                faults[name] = str(error)
    return ContextQuery(**values), faults


def require_context_query(given: Mapping[str, str], visible: VisibleOwners) -> ContextQuery:
    """Return the criteria of the parameters. Raises Invalid for the first invalid parameter."""
    wanted, faults = parse_context_query(given, visible)
    for name, fault in faults.items():
        raise Invalid(name, fault)
    return wanted
