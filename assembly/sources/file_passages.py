"""These sources return versioned texts: the files of the agent, its team and the organisation, and the daily logs.

A section of blocks has passages of the texts, searched by the topic, each with the measures by which blocks compete;
other sections have whole texts. Passages are never outdated: those of a version that no job has split yet are made from
its text, up to MAX_SPLIT_CHARACTERS, so a context has a text as soon as it is published.
"""

import datetime
from collections.abc import Callable, Sequence
from zoneinfo import ZoneInfo

from msgspec import structs

from agents.models import AgentFile, DailyLog
from assembly.engine.item_formats import format_chunk
from assembly.engine.linear_ranker import block_shares, relevance_of, score_of
from assembly.engine.profile import Section
from assembly.engine.scoring import candidate_measures, chunk_boost, keyword_matches, recency_score
from assembly.engine.types import Candidate
from assembly.sources.base import GatherContext, Labels, SourceQuery, SourceResult, has_blocks, origin_of
from assembly.sources.files import agent_files_query, daily_logs_query, log_days, team_files_query
from assembly.sources.memories import search_weights
from config.db.migration_helpers import ORGANISATION
from memories.models.file_passage import FILE_KINDS
from memories.search.current_files import CurrentFile, CurrentPassages, FileQuery, current_files
from memories.search.file_search import FoundFilePassage, first_passages, search_files
from teams.models import OrganisationFile, TeamFile
from teams.sensitivity import DEFAULT_LEVEL, Sensitive
from teams.versioned_text.versioned_file import VersionedFile

PASSAGE_LIMIT = 20
"""The number of passages per section, as of chunks of documents; more than the seed's most results of any scope, so
that the record shows those that nearly were.
"""
FIRST_PASSAGES = 3
"""The number of first passages of each text, if there is no topic and a section has passages of several texts."""
MAX_SPLIT_CHARACTERS = 100_000
"""The characters of texts without stored passages that one source splits, the last changed texts first."""
DRAFT = "draft"
"""The version in the refs of passages of a text that is not saved yet."""
AGENT_FILE, TEAM_FILE = FILE_KINDS[AgentFile], FILE_KINDS[TeamFile]
ORGANISATION_FILE, DAILY_LOG = FILE_KINDS[OrganisationFile], FILE_KINDS[DailyLog]
NAMED_BY_SECTION = frozenset({AGENT_FILE, TEAM_FILE})
"""The kinds of files of which a section has the one that it is named after."""

KIND_OF_SOURCE = {
    "agent_files": AGENT_FILE,
    "team_files": TEAM_FILE,
    "organisation_files": ORGANISATION_FILE,
    "daily_logs": DAILY_LOG,
}
"""The kind of the texts of each source in this module."""

WholeTexts = Callable[[GatherContext, Sequence[Section]], SourceQuery | None]


def agent_files(gather_context: GatherContext, sections: Sequence[Section]) -> SourceResult:
    """Return the agent's files that the sections are named after, whole or in passages."""
    return _by_shape(gather_context, sections, agent_files_query, AGENT_FILE)


def team_files(gather_context: GatherContext, sections: Sequence[Section]) -> SourceResult:
    """Return the team's files that the sections are named after, whole or in passages; none without a team."""
    return _by_shape(gather_context, sections, team_files_query, TEAM_FILE)


def daily_logs(gather_context: GatherContext, sections: Sequence[Section]) -> SourceResult:
    """Return the agent's logs of the last week, whole or in passages."""
    return _by_shape(gather_context, sections, daily_logs_query, DAILY_LOG)


def organisation_files(gather_context: GatherContext, sections: Sequence[Section]) -> SourceResult:
    """Return passages of all files of the organisation; without a topic, the first ones of those that changed last."""
    return _passages(gather_context, sections, ORGANISATION_FILE)


def passages_with_drafts(
    gather_context: GatherContext, sections: Sequence[Section], drafts: Sequence[tuple[VersionedFile, str]]
) -> list[Candidate]:
    """Return the passages that the sections would have if the drafts, which are texts of files of the sections' source,
    were published now.

    All passages of the source are returned, because they are scored relative to each other. The refs of passages of
    drafts have the version `draft`.
    """
    kind = FILE_KINDS[type(drafts[0][0])]
    query = _file_query(gather_context, sections, kind)
    if query is None:
        return []
    drafted = {file.id for file, _ in drafts}
    published = [one for one in current_files(query, most=MAX_SPLIT_CHARACTERS) if one.id not in drafted]
    files = [*(_draft_file(gather_context, file, text) for file, text in drafts), *published]
    return _found_candidates(gather_context, sections, query, files)


def _draft_file(gather_context: GatherContext, file: VersionedFile, text: str) -> CurrentFile:
    key = file.date if isinstance(file, DailyLog) else getattr(file, "file_key", "")
    content = text[:MAX_SPLIT_CHARACTERS]
    level = file.sensitivity if isinstance(file, Sensitive) else DEFAULT_LEVEL
    title = getattr(file, "title", key)
    return CurrentFile(file.id, 0, key, title, gather_context.now, content, sensitivity=level)


def unsplit_files(gather_context: GatherContext, sections: Sequence[Section]) -> list[CurrentFile]:
    """Return the texts without stored passages that the sections of blocks search."""
    found = []
    for source, kind in KIND_OF_SOURCE.items():
        blocks = [section for section in sections if section.source == source and has_blocks([section])]
        if blocks and (query := _file_query(gather_context, blocks, kind)):
            files = current_files(query, most=MAX_SPLIT_CHARACTERS)
            found += [file for file in files if file.is_cut or (file.content and file.content.strip())]
    return found


def format_file_passage(kind: str, *, title: str, line: int, text: str) -> str:
    """Return the text of a passage as contexts have it: below the title of its file and its first line number, unless
    the section is named after the file.
    """
    return text if kind in NAMED_BY_SECTION else format_chunk(path=title, line=line, text=text)


def _by_shape(
    gather_context: GatherContext, sections: Sequence[Section], whole_texts: WholeTexts, kind: str
) -> SourceResult:
    whole = [section for section in sections if not has_blocks([section])]
    blocks = [section for section in sections if has_blocks([section])]
    query = whole_texts(gather_context, whole) if whole else None
    results = [*([query.alone()] if query else []), *([_passages(gather_context, blocks, kind)] if blocks else [])]
    candidates = [candidate for result in results for candidate in result.candidates]
    return SourceResult(candidates, sum(result.limit for result in results))


def _passages(gather_context: GatherContext, sections: Sequence[Section], kind: str) -> SourceResult:
    limit = gather_context.row_limit(PASSAGE_LIMIT, sections) * len(sections)
    query = _file_query(gather_context, sections, kind)
    files = current_files(query, most=MAX_SPLIT_CHARACTERS) if query else []
    if query is None or not files:
        return SourceResult((), limit)
    return SourceResult(_found_candidates(gather_context, sections, query, files), limit)


def _file_query(gather_context: GatherContext, sections: Sequence[Section], kind: str) -> FileQuery | None:
    """Return the query for the files of the sections; None without a team, if they are of a team."""
    if kind == ORGANISATION_FILE:
        return FileQuery(
            kind, ORGANISATION, "organisation_files", gather_context.clearances.organisation, title="title"
        )
    if kind == DAILY_LOG:
        first, last = log_days(gather_context)
        days = {"first": first, "last": last}
        where = "agent_id = %(owner)s AND date BETWEEN %(first)s AND %(last)s"
        own = gather_context.agent.id, "daily_logs", gather_context.clearances.agent
        return FileQuery(kind, *own, where, days, key="date", title="date")
    owner, table, column, clearance = (
        (gather_context.agent, "agent_md_files", "agent_id", gather_context.clearances.agent)
        if kind == AGENT_FILE
        else (gather_context.team, "team_md_files", "team_id", gather_context.clearances.team)
    )
    keys = [section.key.upper() for section in sections]
    where = f"{column} = %(owner)s AND file_key = ANY(%(keys)s)"
    return None if owner is None else FileQuery(kind, owner.id, table, clearance, where, {"keys": keys})


def _found_candidates(
    gather_context: GatherContext, sections: Sequence[Section], query: FileQuery, files: Sequence[CurrentFile]
) -> list[Candidate]:
    """Return the passages of the files as candidates for the sections, the best first."""
    by_id = {file.id: file for file in files}
    is_named = query.kind in NAMED_BY_SECTION
    limit = gather_context.row_limit(PASSAGE_LIMIT, sections)
    if gather_context.topic.strip():
        found = _search(gather_context, query, CurrentPassages.of(files), limit)
    else:
        found = _first(gather_context, files, limit, is_named=is_named)
    scored = [_scored(gather_context, _candidate(gather_context, query.kind, by_id[one.file], one)) for one in found]
    return [
        structs.replace(candidate, section=section.key)
        for section in sections
        for candidate in scored
        if not is_named or candidate.kind == section.key.upper()
    ]


def _search(
    gather_context: GatherContext, query: FileQuery, passages: CurrentPassages, limit: int
) -> list[FoundFilePassage]:
    if not passages:
        return []
    return search_files(
        owner=query.owner,
        passages=passages,
        topic=gather_context.topic,
        vector=gather_context.vector,
        weights=search_weights(gather_context.ranker) if gather_context.ranker else None,
        limit=limit,
        per_file=query.kind in NAMED_BY_SECTION,
    )


def _first(
    gather_context: GatherContext, files: Sequence[CurrentFile], limit: int, *, is_named: bool
) -> list[FoundFilePassage]:
    """Return the first passages of each file for its own section, or of the files that changed last for one section."""
    newest = sorted(files, key=lambda file: _changed(gather_context, file), reverse=True)[:limit]
    order = {file.id: place for place, file in enumerate(newest)}
    found = first_passages(CurrentPassages.of(newest), limit if is_named else FIRST_PASSAGES)
    found.sort(key=lambda one: (order[one.file], one.position))
    return found if is_named else found[:limit]


def _candidate(gather_context: GatherContext, kind: str, file: CurrentFile, passage: FoundFilePassage) -> Candidate:
    """Return the passage as a candidate that belongs to no section yet."""
    version = file.version or DRAFT
    return Candidate(
        ref=f"{kind}:{file.id}@{version}#{passage.position}",
        section="",
        text=format_file_passage(kind, title=str(file.title), line=passage.line, text=passage.text),
        kind=str(file.key),
        date=file.key if isinstance(file.key, datetime.date) else None,
        occurred_at=_changed(gather_context, file),
        similarity=passage.similarity,
        measures=passage.measures,
        labels=_labels(kind, file),
        origin=origin_of(file),
        sensitivity=file.sensitivity,
    )


def _labels(kind: str, file: CurrentFile) -> Labels:
    return {} if kind == DAILY_LOG else {"path": tuple(dict.fromkeys((str(file.key), str(file.title))))}


def _changed(gather_context: GatherContext, file: CurrentFile) -> datetime.datetime:
    """Return when the file changed; of a daily log, at most the end of its day, because it may be edited later."""
    if not isinstance(file.key, datetime.date):
        return file.updated
    return min(
        file.updated, datetime.datetime.combine(file.key, datetime.time.max, ZoneInfo(gather_context.agent.timezone))
    )


def _scored(gather_context: GatherContext, candidate: Candidate) -> Candidate:
    """Return the candidate with its score and the measures that a profile weighs.

    The score is that of the profile's ranker, mapped to 0 to 1. Without a ranker, it is the seed's formula for chunks:
    similarity times boosts, where an unknown similarity is the share of the topic's words. Without a topic, it is the
    recency.
    """
    assert candidate.occurred_at  # noqa: S101 - every file has changed at some time
    age, ranker = gather_context.age(candidate.occurred_at), gather_context.ranker
    recency = recency_score(age)
    if not gather_context.topic.strip():
        return structs.replace(candidate, score=recency, measures=candidate_measures(recency=recency, relevance=0.0))
    if ranker:
        relevance = relevance_of(score_of(block_shares(ranker, candidate)))
        measured = candidate_measures(recency=recency, relevance=relevance, **candidate.measures)
        return structs.replace(candidate, score=relevance, measures=measured)
    matches = keyword_matches(candidate.text, gather_context.signals.keywords)
    boosts = chunk_boost(matches, age)
    closeness = candidate.measures.get("words", 0.0) if candidate.similarity is None else candidate.similarity
    measured = candidate_measures(recency=recency, relevance=boosts * closeness, keyword_matches=matches, boosts=boosts)
    return structs.replace(candidate, score=boosts * closeness, measures=measured)
