"""The migration that gives memories languages keeps every row, there and back, and finds what they are in."""

from typing import Any

import pytest
from django.core.management import call_command
from django.db import connections

from agents.models import Agent
from memories.models import Memory, MemoryVersion
from memories.services import MemoryFacts, memories_create
from teams.models import Team
from teams.principal import SYSTEM

GERMAN = "Ich habe die Rechnungen bezahlt, und das war alles."
ENGLISH = "The invoices are paid, and that is all."
SPANISH = "Las facturas están pagadas, y no hay nada más."

pytestmark = [pytest.mark.deep, pytest.mark.usefixtures("committed_database")]


def remember(owner: Agent | Team, *texts: str) -> None:
    memories_create(owner=owner, facts=[MemoryFacts(kind="fact", text=text) for text in texts], principal=SYSTEM)


def rows(columns: str) -> list[Any]:
    with connections["owner"].cursor() as cursor:
        cursor.execute(f"SELECT {columns} FROM memories ORDER BY id")  # noqa: S608
        return list(cursor.fetchall())


def languages(owner: Agent | Team) -> dict[str, str]:
    return dict(owner.memories.values_list("text", "language"))


def found(query: str) -> set[str]:
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT text FROM memories WHERE search @@ %s::tsquery", [query])
        return {text for (text,) in cursor.fetchall()}


def test_rows_go_there_and_back(agent: Agent, team: Team) -> None:
    remember(agent, GERMAN, "Tomaten", GERMAN, "Pläne")
    remember(team, ENGLISH, "Tomatoes", SPANISH)
    kept = "id, agent_id, team_id, kind, text, embedding::text, version, created, updated_by"
    before, versions = rows(kept), MemoryVersion.objects.count()

    call_command("migrate", "memories", "0014", verbosity=0)
    assert rows(kept) == before
    assert rows("search::text")[1] == ("'tomaten':1",)
    assert MemoryVersion.objects.defer("language").count() == versions

    call_command("migrate", verbosity=0)
    assert rows(kept) == before
    assert languages(agent) == {GERMAN: "german", "Tomaten": "german", "Pläne": "german"}
    assert languages(team) == {ENGLISH: "english", "Tomatoes": "english", SPANISH: "spanish"}
    assert found("rechnung & bezahlt") == {GERMAN}
    assert found("invoic") == {ENGLISH}
    assert found("factur") == {SPANISH}
    assert set(MemoryVersion.objects.values_list("language", flat=True)) == {""}


def test_the_role_of_the_app_still_writes(agent: Agent) -> None:
    call_command("migrate", "memories", "0014", verbosity=0)
    call_command("migrate", verbosity=0)
    remember(agent, GERMAN)
    memory = Memory.objects.get(agent=agent)
    Memory.objects.filter(pk=memory.pk).update(language="english")
    assert found("rechnungen") == {GERMAN}
    assert found("rechnung") == set()
