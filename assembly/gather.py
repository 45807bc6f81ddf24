"""Gathering: every source of a profile is asked once, all within one snapshot of the database."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from django.db import connection, transaction

from assembly.engine.profile import Profile, Section
from assembly.engine.types import Candidate
from assembly.sources import SOURCES, Situation


@dataclass(frozen=True, slots=True)
class SourceReport:
    """How one source did: the candidates it returned, its limit in rows, its time in milliseconds."""

    name: str
    count: int
    limit: int
    ms: int


def gather(profile: Profile, situation: Situation) -> tuple[list[Candidate], list[SourceReport]]:
    """The candidates of all sources of the profile, and a report per source."""
    candidates: list[Candidate] = []
    reports: list[SourceReport] = []
    with one_snapshot():
        for name, sections in _sections_by_source(profile).items():
            started = perf_counter()
            gathered = SOURCES[name](situation, sections)
            ms = round((perf_counter() - started) * 1000)
            candidates += gathered.candidates
            reports.append(SourceReport(name, len(gathered.candidates), gathered.limit, ms))
    return candidates, reports


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
