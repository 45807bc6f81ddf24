"""Querysets of files, daily logs and memories that match words, for each search by words."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import F, Q, QuerySet, TextField
from django.db.models.functions import Cast, Coalesce

from agents.models import AgentFile, DailyLog
from assembly.sources.kinds import search_memories
from memories.embeddings.active_model import SLOTS
from memories.models import Memory
from teams.models import OrganisationFile, TeamFile
from teams.sealing.order import in_order_of, rows_by_name

MAX_WORDS = 8
"""Words after the first eight are ignored."""

Rows = QuerySet[Any]
Owners = Sequence[UUID] | QuerySet[Any]
"""The ids of agents or teams, or a queryset of them."""


def rows_with_words(rows: Rows, words: str, *columns: str) -> Rows:
    """Return the rows in which each word occurs in one of the columns."""
    for word in words.split()[:MAX_WORDS]:
        rows = rows.filter(Q(*((f"{column}__icontains", word) for column in columns), _connector=Q.OR))
    return rows


def files_with_names(words: str, *, agents: Owners, teams: Owners) -> list[tuple[Rows, Q]]:
    """Return the teams' files and the agents' files, without their texts, each with the condition that the words name
    the file: some occur in its name, all others in its owner's.
    """
    team_files = TeamFile.objects.filter(team__in=teams).select_related("team").defer("content")
    agent_files = AgentFile.objects.filter(agent__in=agents).select_related("agent").defer("content")
    return [
        (team_files, _is_named(words, "team", TeamFile.Key.choices)),
        (agent_files, _is_named(words, "agent", AgentFile.Key.choices)),
    ]


def organisation_files_with_names(words: str) -> QuerySet[OrganisationFile]:
    """Return the organisation's files whose title or key has each word, without their texts, by title.

    Titles are compared as they were written, because the database cannot read those that are sealed.
    """
    asked = [word.casefold() for word in words.split()[:MAX_WORDS]]
    rows = OrganisationFile.objects.defer("content")
    found = [
        row.id
        for row in rows_by_name(rows, "title", "file_key")
        if all(word in row.name.casefold() or word in row.then for word in asked)
    ]
    return rows.filter(id__in=found).order_by(in_order_of(found))


def _is_named(words: str, owner: str, names: Sequence[tuple[str, Any]]) -> Q:
    found = Q(pk=None)
    for key, name in names:
        own = f"{name} {key}".casefold()  # the key is the file's name in refs and in the API
        others = [word for word in words.split()[:MAX_WORDS] if word.casefold() not in own]
        found |= Q(*((f"{owner}__name__icontains", word) for word in others), file_key=key)
    return found


def logs_with_words(words: str, agents: Owners) -> QuerySet[DailyLog]:
    """Return daily logs in whose date (as 2026-11-22) or agent's name each word occurs, newest first."""
    dated = DailyLog.objects.filter(agent__in=agents).annotate(day=Cast("date", TextField()))
    return (
        rows_with_words(dated, words, "day", "agent__name").select_related("agent").defer("content").order_by("-date")
    )


def memories_with_words(words: str, *, agents: Owners, teams: Owners) -> Rows:
    """Return memories that contain the words, newest first, each with its `owner_name`."""
    seen = Memory.objects.filter(Q(agent__in=agents) | Q(team__in=teams)).defer(*SLOTS, "search")
    return search_memories(seen.annotate(owner_name=Coalesce(F("agent__name"), F("team__name"))), words)
