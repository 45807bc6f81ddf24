"""The queries to external sources are built here, from data in the database."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from uuid_utils.compat import uuid7

from assembly.engine.codes import SourceCode
from assembly.engine.profile import Profile
from assembly.engine.types import Candidate
from assembly.models import ExternalSource
from assembly.sources.base import GatherContext
from config.http.encryption import UndecryptableSecret, decrypt
from config.observability.request_context import CURRENT_REQUEST
from teams.sensitivity import DEFAULT_LEVEL, Sensitivity

EXTERNAL_SOURCE = "external"
"""The name of the source in profiles; the key of such a section is the name of an endpoint."""


@dataclass(frozen=True, slots=True)
class ExternalQuery:
    """A query to an endpoint for one section; with a `fault`, it cannot be sent.

    It is a plain value without rows and connections.
    """

    section: str
    """The key of the section, which is the endpoint's name."""
    now: datetime.datetime
    """The time at which the age of results is computed."""
    url: str = field(default="", repr=False)
    secret: str = field(default="", repr=False)
    limit: int = 0
    """The maximum number of results."""
    timeout_ms: int = 0
    question: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The request body without the deadline, which is added when it is sent."""
    request_id: str = ""
    fault: str = ""
    fault_code: SourceCode = SourceCode.SOURCE_FAILED
    sensitivity: int = DEFAULT_LEVEL
    """The level of the results that do not name a higher one."""
    clearance: int = Sensitivity.WITHHELD
    """The level above which results are withheld."""

    @property
    def name(self) -> str:
        """The name of the endpoint in reports and refs."""
        return f"{EXTERNAL_SOURCE}:{self.section}"


@dataclass(frozen=True, slots=True)
class ExternalAnswer:
    """The answer of an endpoint. Without a `code` it succeeded; `fault` is the error in plain words, else "".

    `left_out` is the number of results that could not be used, `withheld` that of those above the clearance.
    """

    section: str
    name: str
    candidates: tuple[Candidate, ...]
    limit: int
    ms: int
    code: SourceCode | None = None
    fault: str = ""
    left_out: int = 0
    withheld: int = 0


def external_queries(profile: Profile, gather_context: GatherContext) -> list[ExternalQuery]:
    """Return a query for each of the profile's external sections, in their order; one database query, none without such
    sections. Endpoints above the clearance are not asked, which their reports say.
    """
    keys = [section.key for section in profile.sections if section.source == EXTERNAL_SOURCE]
    rows = ExternalSource.objects.in_bulk(keys, field_name="name") if keys else {}
    return [_section_query(key, rows.get(key), gather_context) for key in keys]


def external_query(
    row: ExternalSource, *, limit: int, now: datetime.datetime, question: Mapping[str, Any]
) -> ExternalQuery:
    """Return the query to this endpoint, whether it is enabled or not."""
    try:
        secret = decrypt(row.sealed_secret)
    except UndecryptableSecret:
        return ExternalQuery(
            row.name, now, fault="Its secret cannot be read, as SECRET_KEY was changed. Enter it again."
        )
    return ExternalQuery(
        section=row.name,
        now=now,
        url=row.url,
        secret=secret,
        limit=limit,
        timeout_ms=row.timeout_ms,
        question={**question, "limit": limit, "now": now.astimezone(datetime.UTC).isoformat()},
        sensitivity=row.sensitivity,
        request_id=getattr(CURRENT_REQUEST.get(), "request_id", "") or str(uuid7()),
    )


def query_body(
    *, query: str, agent: str | None, team: str | None, session: str | None, intent: str, keywords: Sequence[str]
) -> dict[str, Any]:
    """Return the members of the request body that describe the query and its agent."""
    return {
        "query": query,
        "agent": agent,
        "team": team,
        "session": session,
        "intent": intent,
        "keywords": list(keywords),
    }


def _section_query(key: str, row: ExternalSource | None, gather_context: GatherContext) -> ExternalQuery:
    if row is None:
        return ExternalQuery(
            key, gather_context.now, fault=f"There is no external source “{key}”. An admin can register it."
        )
    if not row.enabled:
        return ExternalQuery(key, gather_context.now, fault=f"The external source “{key}” is switched off.")
    if fault := _why_not_asked(key, row, gather_context):
        return ExternalQuery(key, gather_context.now, fault=fault, fault_code=SourceCode.SOURCE_NOT_ASKED)
    session = gather_context.session
    question = query_body(
        query=gather_context.topic,
        agent=gather_context.agent.slug,
        team=gather_context.team.slug if gather_context.team else None,
        session=(session.external_id or str(session.id)) if session else None,
        intent=gather_context.signals.intent,
        keywords=gather_context.signals.keywords,
    )
    # An admin chose how many results the endpoint is asked for: no round asks for more.
    limit = row.limit + len(gather_context.filters.exclude)
    asking = external_query(row, limit=limit, now=gather_context.now, question=question)
    return replace(asking, clearance=gather_context.clearances.lowest)


def _why_not_asked(key: str, row: ExternalSource, gather_context: GatherContext) -> str:
    """Return the sentence that the endpoint is not asked because of its level or the request's; "" if it is asked."""
    asked, level = gather_context.topic_sensitivity, row.sensitivity
    if level > gather_context.clearances.lowest:
        return f"The external source “{key}” is above the clearance of the request, so it was not asked."
    if asked > max(level, DEFAULT_LEVEL):
        levels = Sensitivity(asked).word, Sensitivity(level).word
        return f"The request is {levels[0]}, and the external source “{key}” is {levels[1]}, so it was not asked."
    return ""
