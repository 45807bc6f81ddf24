"""This module explains from the record why an item was not considered for a context."""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

from django.utils.translation import gettext as _

from assembly.contexts.search.owned_things import OwnedContext, OwnedRecord
from assembly.engine.codes import SourceCode
from assembly.records.warnings import recorded_source_label
from assembly.sources.files import DAYS

NotConsideredCode = Literal[
    "unknown", "created_later", "no_section", "source_late", "source_failed", "outside_window", "not_selected"
]
"""The reasons why an item was not considered.

unknown: no item of this name exists that the principal may see; created_later: the item was created after the context;
no_section: the profile has no section for its kind; source_late, source_failed: its source timed out or failed;
outside_window: its day precedes the included days of the daily logs; not_selected: its source returned other items.
"""

NOT_CONSIDERED_CODES: tuple[NotConsideredCode, ...] = get_args(NotConsideredCode)


class GatheredContext(OwnedContext, Protocol):
    """A context, recorded or simulated, with its profile and the reports of its sources as JSON-safe values."""

    @property
    def created(self) -> datetime.datetime: ...

    @property
    def now(self) -> datetime.datetime: ...

    @property
    def profile_name(self) -> str: ...

    @property
    def profile(self) -> Mapping[str, Any]: ...

    @property
    def sources(self) -> Sequence[Mapping[str, Any]]: ...


@dataclass(frozen=True, slots=True)
class NotConsidered:
    """Why an item was not considered.

    `thing` is the item as it is today; None if there is none that the principal may see.
    """

    why: NotConsideredCode
    sentence: str
    thing: OwnedRecord | None = None


def unknown_record() -> NotConsidered:
    """Return the answer for an item that does not exist, which is the same for items of other owners."""
    return NotConsidered("unknown", _("No candidate has this name, and no item has it today."))


def explain_not_considered(context: GatheredContext, thing: OwnedRecord) -> NotConsidered:
    """Return why the item, which exists today, is not among the candidates of the context."""
    why, sentence = next(_reasons(context, thing))
    return NotConsidered(why, sentence, thing)


def _reasons(context: GatheredContext, thing: OwnedRecord) -> Iterator[tuple[NotConsideredCode, str]]:
    """Yield the reasons that apply, the most decisive first."""
    if thing.created > context.created:
        yield "created_later", _("It did not exist yet: it was written after this context.")
    reports = _reports(context, thing)
    if not reports:
        yield "no_section", _("The profile “%(profile)s” has no section for it.") % {"profile": context.profile_name}
    for report in reports:
        if report.get("code"):
            yield _no_answer_reason(report)
    if thing.day and _is_too_old(thing.day, context.now):
        yield "outside_window", _("Only the last %(days)s days are included, and this one is older.") % {"days": DAYS}
    yield "not_selected", " ".join(_limit_sentence(report) for report in reports)


def _reports(context: GatheredContext, thing: OwnedRecord) -> list[Mapping[str, Any]]:
    """Return the recorded reports of the sources that could have returned the item, for a section of the profile."""
    sections = context.profile["sections"]
    asked = {
        section["source"]
        for section in sections
        if section["source"] in thing.sources and (not thing.key or section["key"].upper() == thing.key)
    }
    return [report for report in context.sources if report["name"] in asked]


def _no_answer_reason(report: Mapping[str, Any]) -> tuple[NotConsideredCode, str]:
    source = {"source": recorded_source_label(report["name"])}
    if report["code"] == SourceCode.SOURCE_TIMEOUT:
        return "source_late", _("%(source)s timed out, so none of its items were considered.") % source
    return "source_failed", _("%(source)s could not be read, so none of its items were considered.") % source


def _limit_sentence(report: Mapping[str, Any]) -> str:
    told = {
        "source": recorded_source_label(report["name"]),
        "count": f"{report['count']:,}",
        "limit": f"{report['limit']:,}",
    }
    if report["count"] >= report["limit"]:
        return _("%(source)s: it returned %(count)s items, its limit, and this one came after them.") % told
    return _("%(source)s: it returned %(count)s of at most %(limit)s items, and this one was not among them.") % told


def _is_too_old(day: datetime.date, now: datetime.datetime) -> bool:
    """Return whether the day is too old in every time zone."""
    return day < now.date() - datetime.timedelta(days=DAYS)
