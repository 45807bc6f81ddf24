"""Gathering: every source of a profile is asked once, all within one snapshot of the database."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

from django.db import connection, transaction

from assembly.engine.profile import Profile, Section
from assembly.engine.signals import names_in, parse_signals
from assembly.engine.types import Candidate
from assembly.rules.firing import with_room, with_rules
from assembly.sources import SOURCES, Situation
from assembly.sources.entities import mentions
from assembly.watching import source_watched
from memories.search import topic_vector
from memories.services.task_stack import task_peek


@dataclass(frozen=True, slots=True)
class SourceReport:
    """How one source did: the candidates it returned, its limit in rows, its time in milliseconds."""

    name: str
    count: int
    limit: int
    ms: int


def gather(profile: Profile, situation: Situation) -> tuple[list[Candidate], list[SourceReport], Situation]:
    """The candidates of all sources of the profile, a report per source, and the situation as the sources saw it.

    Where a rule always includes something, there are candidates for one more section: see `with_room`.
    """
    candidates: list[Candidate] = []
    reports: list[SourceReport] = []
    with one_snapshot():
        situation = with_rules(profile, completed(profile, situation))
        profile = with_room(profile, situation.rules)
        for name, sections in _sections_by_source(profile).items():
            started = perf_counter()
            with source_watched(name) as returned:
                gathered = SOURCES[name].gather(situation, sections)
                returned(gathered)
            ms = round((perf_counter() - started) * 1000)
            candidates += gathered.candidates
            reports.append(SourceReport(name, len(gathered.candidates), gathered.limit, ms))
    return candidates, reports, situation


def completed(profile: Profile, situation: Situation) -> Situation:
    """The situation with what several of the profile's sources build on, each found only if one of them does.

    Where the topic is empty, the current task's goal serves as the query.
    """
    needs = frozenset[str]().union(*(SOURCES[section.source].needs for section in profile.sections))
    if "task" in needs:
        situation = _with_task(situation)
    if "mentioned" in needs and (names := names_in(situation.topic)):
        situation = replace(situation, mentioned=mentions(situation, names))
    return situation


def _with_task(situation: Situation) -> Situation:
    task = task_peek(agent=situation.agent, session=situation.session)
    if task is None or situation.topic.strip():
        return replace(situation, task=task)
    goal = task.goal
    return replace(situation, task=task, topic=goal, signals=parse_signals(goal), vector=topic_vector(goal))


def _sections_by_source(profile: Profile) -> dict[str, list[Section]]:
    grouped: dict[str, list[Section]] = {}
    for section in profile.sections:
        grouped.setdefault(section.source, []).append(section)
    return grouped


@contextmanager
def one_snapshot() -> Iterator[Any]:
    """Read only, as of one moment. Within a caller's transaction, the caller's isolation level holds instead."""
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield
