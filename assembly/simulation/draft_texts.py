"""Drafts take the place of published texts among the candidates of a simulated context."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace

from agents.models import AgentFile, DailyLog
from assembly.engine.profile import Profile
from assembly.engine.refs import Ref, without_version
from assembly.engine.types import Candidate
from assembly.pipeline.read_plan import GatherResult
from assembly.sources.base import GatherContext
from assembly.sources.file_passages import DRAFT, draft_passages
from assembly.sources.files import log_days
from assembly.sources.kinds import KINDS, ORGANISATION_FILE
from config.http.serializers import parse_date
from teams.models import OrganisationFile, TeamFile
from teams.versioned_text.versioned_file import VersionedFile

DAILY_LOGS = "daily_logs"


def with_texts(
    candidates: Sequence[Candidate], texts: Mapping[str, str], gathered: GatherResult, profile: Profile
) -> tuple[Candidate, ...]:
    """Return the items with the drafts in place of their texts, and with a new log for a day that has none yet.

    In sections that have passages, those of a draft replace all passages of its published text.
    """
    drafted = _drafts_in_passages(texts, gathered, profile)
    split = {section.key for section in profile.sections if section.shape == "blocks"}
    placed = [
        one if one.section in split else _with_draft(one, texts.get(_about(one, gathered.gather_context)))
        for one in candidates
        if not (one.section in split and _about(one, gathered.gather_context) in drafted)
    ]
    passages = [_with_published_ref(one, candidates) for found in drafted.values() for one in found]
    return (*placed, *passages, *_new_logs(texts, gathered, profile))


def _drafts_in_passages(
    texts: Mapping[str, str], gathered: GatherResult, profile: Profile
) -> dict[str, list[Candidate]]:
    """Return the passages of each draft that differs from its published text, for sections that have passages.

    Drafts of texts outside of the context, and of sources that could not be read, are missing.
    """
    failed = {report.name for report in gathered.reports if report.code}
    blocks = [section for section in profile.sections if section.shape == "blocks" and section.source not in failed]
    found = {}
    for about, text in texts.items():
        kind = KINDS.get(Ref.parse(about).kind)
        sections = [one for one in blocks if kind and one.source in (*kind.sources, *kind.team_sources)]
        file = _drafted_file(about, gathered.gather_context) if sections else None
        if file and text != file.content:
            found[about] = draft_passages(gathered.gather_context, sections, file, text)
    return found


def _drafted_file(about: str, gather_context: GatherContext) -> VersionedFile | None:
    """Return the text that the draft is of; None if a context of this agent and team cannot have it."""
    ref, agent, team = Ref.parse(about), gather_context.agent, gather_context.team
    if ref.kind == "daily_log":
        _, _, day = ref.id.partition("/")
        first, last = log_days(gather_context)
        date = parse_date(day)
        if date is None or DailyLog(agent=agent, date=date).about != about or not first <= date <= last:
            return None
        return DailyLog.objects.filter(agent=agent, date=date).first() or DailyLog(agent=agent, date=date)
    if ref.kind == "agent_file":
        return AgentFile.objects.filter(id=ref.id, agent=agent).first()
    if ref.kind == "team_file":
        return TeamFile.objects.filter(id=ref.id, team=team).first() if team else None
    return OrganisationFile.objects.filter(id=ref.id).first() if ref.kind == ORGANISATION_FILE else None


def _with_published_ref(passage: Candidate, candidates: Sequence[Candidate]) -> Candidate:
    """Return a passage of a draft with the ref of the published passage that has the same text, if there is one."""
    about = Ref.parse(passage.ref).item
    for one in candidates:
        if one.section == passage.section and one.text == passage.text and Ref.parse(one.ref).item == about:
            return replace(passage, ref=one.ref)
    return passage


def _with_draft(candidate: Candidate, text: str | None) -> Candidate:
    if text is None or text == candidate.text:
        return candidate
    return replace(candidate, text=text, ref=f"{without_version(candidate.ref)}@{DRAFT}", levels={}, origin="person")


def _about(candidate: Candidate, gather_context: GatherContext) -> str:
    """Return the ref under which the item has drafts."""
    if candidate.ref.startswith("daily_log:") and candidate.date:
        return DailyLog(agent=gather_context.agent, date=candidate.date).about
    return Ref.parse(candidate.ref).item


def _new_logs(texts: Mapping[str, str], gathered: GatherResult, profile: Profile) -> list[Candidate]:
    """Return the logs for days of the context that have none yet; none if the logs could not be read."""
    if any(report.name == DAILY_LOGS and report.code for report in gathered.reports):
        return []
    known = {one.date for one in gathered.candidates if one.ref.startswith("daily_log:")}
    first, last = log_days(gathered.gather_context)
    days = map(datetime.date.fromordinal, range(first.toordinal(), last.toordinal() + 1))
    logs = [DailyLog(agent=gathered.gather_context.agent, date=day) for day in days if day not in known]
    return [
        Candidate(
            ref=f"{log.about}@{DRAFT}", section=section.key, text=texts[log.about], date=log.date, origin="person"
        )
        for section in profile.sections
        if section.source == DAILY_LOGS and section.shape != "blocks"
        for log in logs
        if log.about in texts
    ]
