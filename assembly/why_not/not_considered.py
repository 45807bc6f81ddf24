"""Why something was not even considered: what the record says of it, and no more. Pure."""

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from django.utils.translation import gettext as _

from assembly.contexts.search.owned_things import OwnedRecord
from assembly.engine.codes import SourceCode
from assembly.models import Assembly
from assembly.records.warnings import recorded_source_label
from assembly.sources.files import DAYS

NotConsideredCode = Literal["unknown", "later", "no_section", "source_late", "source_failed", "too_old", "passed_over"]
"""unknown: nothing of the name is there for you to see; later: it was made after the context; no_section: the profile
tells nothing of its kind; source_late, source_failed: nothing of the kind could be read then; too_old: a day before the
days that are told; passed_over: its source was asked, and returned other things."""

NOT_CONSIDERED_CODES: tuple[NotConsideredCode, ...] = get_args(NotConsideredCode)


@dataclass(frozen=True, slots=True)
class NotConsidered:
    """`thing` is what is there today; None: nothing that one may know of."""

    why: NotConsideredCode
    sentence: str
    thing: OwnedRecord | None = None


def unknown_record() -> NotConsidered:
    """Of what is not there, and just so of what belongs to others."""
    return NotConsidered("unknown", _("Nothing of that name was considered, and there is nothing of it today."))


def explain_not_considered(assembly: Assembly, thing: OwnedRecord) -> NotConsidered:
    """Why the thing, which is there today, is not among the candidates of the context."""
    why, sentence = next(_reasons(assembly, thing))
    return NotConsidered(why, sentence, thing)


def _reasons(assembly: Assembly, thing: OwnedRecord) -> Iterator[tuple[NotConsideredCode, str]]:
    """Those that hold, the one that settles it first."""
    if thing.created > assembly.created:
        yield "later", _("It was not there yet: it was written after this context was made.")
    reports = _reports(assembly, thing)
    if not reports:
        yield "no_section", _("The profile “%(profile)s” has no section for it.") % {"profile": assembly.profile_name}
    for report in reports:
        if report.get("code"):
            yield _no_answer_reason(report)
    if thing.day and _is_too_old(thing.day, assembly.now):
        yield "too_old", _("Only the last %(days)s days are told, and this one was before them.") % {"days": DAYS}
    yield "passed_over", " ".join(_limit_sentence(report) for report in reports)


def _reports(assembly: Assembly, thing: OwnedRecord) -> list[Mapping[str, Any]]:
    """What is on record of the sources that could have offered it, for a section of the profile."""
    sections = assembly.profile["sections"]
    asked = {
        section["source"]
        for section in sections
        if section["source"] in thing.sources and (not thing.key or section["key"].upper() == thing.key)
    }
    return [report for report in assembly.sources if report["name"] in asked]


def _no_answer_reason(report: Mapping[str, Any]) -> tuple[NotConsideredCode, str]:
    source = {"source": recorded_source_label(report["name"])}
    if report["code"] == SourceCode.SOURCE_TIMEOUT:
        return "source_late", _("%(source)s did not answer in time, so nothing of them was considered.") % source
    return "source_failed", _("%(source)s could not be read then, so nothing of them was considered.") % source


def _limit_sentence(report: Mapping[str, Any]) -> str:
    told = {
        "source": recorded_source_label(report["name"]),
        "count": f"{report['count']:,}",
        "limit": f"{report['limit']:,}",
    }
    if report["count"] >= report["limit"]:
        return _("%(source)s: it returned %(count)s, as many as it may, and this came after them.") % told
    return _("%(source)s: it returned %(count)s of at most %(limit)s, and did not choose this one.") % told


def _is_too_old(day: datetime.date, now: datetime.datetime) -> bool:
    """By any clock on earth."""
    return day < now.date() - datetime.timedelta(days=DAYS)
