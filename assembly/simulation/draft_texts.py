"""Drafts take the place of published texts among the candidates of a simulated context."""

import datetime
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from agents.models import AgentFile, DailyLog
from assembly.engine.profile import Profile, Section
from assembly.engine.refs import Ref, without_version
from assembly.engine.types import Candidate
from assembly.pipeline.read_plan import GatherResult
from assembly.sources.base import GatherContext
from assembly.sources.file_passages import DRAFT, passages_with_drafts
from assembly.sources.files import log_days
from assembly.sources.kinds import KINDS, ORGANISATION_FILE, ItemKind
from config.http.serializers import parse_date
from teams.models import OrganisationFile, TeamFile
from teams.versioned_text.versioned_file import VersionedFile

DAILY_LOGS = "daily_logs"


def with_texts(
    candidates: Sequence[Candidate], texts: Mapping[str, str], gathered: GatherResult, profile: Profile
) -> tuple[Candidate, ...]:
    """Return the items with the drafts in place of their texts, and with a new log for a day that has none yet.

    Sections that have passages of texts are filled anew, because passages are scored relative to each other.
    """
    blocks = [section for section in profile.sections if section.shape == "blocks"]
    passages, filled = _filled_sections(texts, gathered, blocks)
    split = {section.key for section in blocks}
    placed = [
        one if one.section in split else _with_draft(one, texts.get(_about(one, gathered.gather_context)))
        for one in candidates
        if one.section not in filled
    ]
    replaced = [one for one in candidates if one.section in filled]
    return (*placed, *_with_published_refs(passages, replaced), *_new_logs(texts, gathered, profile))


def _filled_sections(
    texts: Mapping[str, str], gathered: GatherResult, blocks: Sequence[Section]
) -> tuple[list[Candidate], set[str]]:
    """Return the passages of all sections whose source has one of the drafts, and the keys of these sections.

    Drafts that equal the published text, and drafts for sources that could not be read, change nothing.
    """
    failed = {report.name for report in gathered.reports if report.code}
    drafts = defaultdict[ItemKind, list[tuple[VersionedFile, str]]](list)
    for about, text in texts.items():
        kind = KINDS.get(Ref.parse(about).kind)
        if kind and any(section.source in _sources_of(kind) for section in blocks):
            file = _drafted_file(about, gathered.gather_context)
            if file and text != file.content:
                drafts[kind].append((file, text))
    passages, filled = list[Candidate](), set[str]()
    for kind, drafted in drafts.items():
        sections = [one for one in blocks if one.source in _sources_of(kind) and one.source not in failed]
        filled |= {section.key for section in sections}
        passages += passages_with_drafts(gathered.gather_context, sections, drafted) if sections else []
    return passages, filled


def _sources_of(kind: ItemKind) -> tuple[str, ...]:
    return (*kind.sources, *kind.team_sources)


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


def _with_published_refs(passages: Sequence[Candidate], published: Sequence[Candidate]) -> list[Candidate]:
    """Return the passages, those of drafts with the ref of the published passage of which each is a version.

    This is the passage with the same text, wherever it was; else the one at the same position, so that the difference
    of the contexts says that it changed, not that one item is missing and another one is new.
    """
    free = {(one.section, one.ref): one for one in published}
    for one in passages:
        free.pop((one.section, one.ref), None)  # of a text without a draft
    named = _renamed(passages, free, lambda one: (one.section, Ref.parse(one.ref).item, _body(one)))
    return _renamed(named, free, lambda one: (one.section, Ref.parse(one.ref).item, Ref.parse(one.ref).part))


def _renamed(
    passages: Sequence[Candidate],
    free: dict[tuple[str, str], Candidate],
    key: Callable[[Candidate], tuple[str, ...]],
) -> list[Candidate]:
    """Return the passages, those of drafts with the ref of a free published passage with the same key, if there is one.

    Each published passage is taken from `free` once.
    """
    by_key = {key(one): one for one in free.values()}
    named = []
    for one in passages:
        match = by_key.pop(key(one), None) if Ref.parse(one.ref).version == DRAFT else None
        if match:
            del free[match.section, match.ref]
        named.append(replace(one, ref=match.ref) if match else one)
    return named


def _body(passage: Candidate) -> str:
    """Return the text without its first line, which may be the title of the file and the number of a line."""
    return passage.text.partition("\n")[2] or passage.text


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
