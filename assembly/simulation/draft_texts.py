"""Drafts take the place of published texts among the candidates of a simulated context."""

import datetime
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from msgspec import structs

from agents.models import AgentFile, DailyLog
from assembly.comparison.side_by_side import ComparedContext
from assembly.engine.diff import ItemKey
from assembly.engine.profile import Profile, Section
from assembly.engine.refs import Ref
from assembly.engine.types import Candidate, Decision
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

    The ref of a draft has the version that publishing it would give, because a context may name it. Sections that have
    passages of texts are filled anew, because passages are scored relative to each other.
    """
    blocks = [section for section in profile.sections if section.shape == "blocks"]
    passages, filled = _filled_sections(texts, gathered, blocks)
    split = {section.key for section in blocks}
    placed = [
        one if one.section in split else _with_draft(one, texts.get(_about(one, gathered.gather_context)))
        for one in candidates
        if one.section not in filled
    ]
    return (*placed, *passages, *_new_logs(texts, gathered, profile))


def named_as_drafts(
    context: ComparedContext, published: Sequence[Candidate], texts: Mapping[str, str], gather_context: GatherContext
) -> ComparedContext:
    """Return the context with refs by which its drafts are compared with the published candidates.

    A passage of a draft gets the ref of the published passage of which it is a version, other drafts the version DRAFT.
    """
    known = {(one.section, one.ref) for one in published}
    drafts = [
        one
        for one in context.inputs.candidates
        if (one.section, one.ref) not in known and _about(one, gather_context) in texts
    ]
    names = {(one.section, one.ref): _draft_ref(one.ref) for one in drafts}
    names |= _published_refs(drafts, published, {*context.candidates})
    by_ref = {ref: name for (_, ref), name in names.items()}

    def renamed(decision: Decision) -> Decision:
        name, by = names.get((decision.section, decision.ref), decision.ref), decision.detail.get("by")
        detail = {**decision.detail, "by": by_ref[by]} if by in by_ref else decision.detail
        return structs.replace(decision, ref=name, detail=detail)

    candidates = [
        structs.replace(one, ref=names.get((one.section, one.ref), one.ref)) for one in context.inputs.candidates
    ]
    return replace(
        context,
        inputs=replace(context.inputs, candidates=tuple(candidates)),
        decisions=tuple(map(renamed, context.decisions)),
    )


def _draft_ref(ref: str) -> str:
    return str(structs.replace(Ref.parse(ref), version=DRAFT))


def _published_refs(
    drafts: Sequence[Candidate], published: Sequence[Candidate], present: Collection[ItemKey]
) -> dict[ItemKey, str]:
    """Return the refs of the published passages of which passages of drafts are versions, each once.

    This is the passage with the same text, wherever it was; else the one at the same position, so that the difference
    of the contexts says that it changed, not that one item is missing and another one is new. Passages that are
    `present` in the context itself are not free.
    """
    free = {(one.section, one.ref): one for one in published if (one.section, one.ref) not in present}
    names = dict[ItemKey, str]()
    for key in (_text_key, _position_key):
        by_key = {key(one): one for one in free.values()}
        for one in drafts:
            place = one.section, one.ref
            if Ref.parse(one.ref).part and place not in names and (match := by_key.pop(key(one), None)):
                names[place] = match.ref
                del free[match.section, match.ref]
    return names


def _text_key(passage: Candidate) -> tuple[str, ...]:
    """Return a key of the text without its first line, which may be the title of the file and the number of a line."""
    return passage.section, Ref.parse(passage.ref).item, passage.text.partition("\n")[2] or passage.text


def _position_key(passage: Candidate) -> tuple[str, ...]:
    ref = Ref.parse(passage.ref)
    return passage.section, ref.item, ref.part


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
        if sections:
            filled |= {section.key for section in sections}
            versions = {str(file.id): _next_version(file) for file, _ in drafted}
            found = passages_with_drafts(gathered.gather_context, sections, drafted)
            passages += [_with_next_version(one, versions) for one in found]
    return passages, filled


def _next_version(file: VersionedFile) -> int:
    return 1 if file._state.adding else file.version + 1  # noqa: SLF001 - Django's documented name


def _with_next_version(passage: Candidate, versions: Mapping[str, int]) -> Candidate:
    """Return the passage; one of a draft with the version in `versions`, which are by the ids of files."""
    ref = Ref.parse(passage.ref)
    if ref.version != DRAFT:
        return passage
    return structs.replace(passage, ref=str(structs.replace(ref, version=str(versions[ref.id]))))


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


def _with_draft(candidate: Candidate, text: str | None) -> Candidate:
    if text is None or text == candidate.text:
        return candidate
    ref = Ref.parse(candidate.ref)
    following = structs.replace(ref, version=str((ref.number or 0) + 1))
    return structs.replace(candidate, text=text, ref=str(following), levels={}, origin="person")


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
        Candidate(ref=f"{log.about}@1", section=section.key, text=texts[log.about], date=log.date, origin="person")
        for section in profile.sections
        if section.source == DAILY_LOGS and section.shape != "blocks"
        for log in logs
        if log.about in texts
    ]
