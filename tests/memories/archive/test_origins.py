"""An archive says what does not come from a person, and an import never trusts a text more than the archive."""

import datetime
import json
import re
from functools import partial
from typing import Any

import pytest

from agents.models import Agent, AgentFile, DailyLog
from agents.services import agent_delete, daily_log_append
from memories.archive.sections import ExportScope, scope_of_agent
from memories.archive.services import import_begin, import_create
from memories.models import ImportPlan, Memory
from memories.services import MemoryFacts, facts_of, memory_create, memory_update
from teams.models import User
from teams.origin import Origin
from teams.principal import SYSTEM, Principal
from teams.versioned_text.versioned_file import file_save
from tests.archives import edited, texts_in, zipped

pytestmark = pytest.mark.django_db

DAY = datetime.date(2026, 3, 14)
KEY = Principal(kind="agent_key", name="Ada's key")
PERSON = Principal(kind="person", name="Olga", is_admin=True)


@pytest.fixture
def written(agent: Agent) -> Agent:
    """The agent with a file, a log and a memory of its own."""
    file = AgentFile.objects.get(agent=agent, file_key="KNOWLEDGE")
    file_save(file=file, content="Learnt by Ada.", expected_version=1, author=KEY.author)
    daily_log_append(agent=agent, date=DAY, text="Rain.", principal=KEY)
    memory_create(owner=agent, facts=MemoryFacts(kind="fact", text="It rains."), principal=KEY)
    return agent


def scope(agent: Agent) -> ExportScope:
    return scope_of_agent(agent, SYSTEM)


def imported(archive: bytes) -> ImportPlan:
    plan = import_create(archive=archive, file_name="ada.zip", principal=PERSON)
    return import_begin(plan=plan, chosen=[step["name"] for step in plan.steps], principal=PERSON)


def origins() -> dict[str, str]:
    rows: list[Any] = [*AgentFile.objects.all(), *DailyLog.objects.all(), *Memory.objects.filter(agent__slug="ada")]
    return {getattr(row, "text", "") or row.content: row.origin for row in rows}


def test_people_s_texts_are_exported_as_before(agent: Agent) -> None:
    assert all(b"origin" not in text for text in texts_in(zipped(scope(agent))).values())


def test_what_does_not_come_from_a_person_says_so(written: Agent) -> None:
    texts = texts_in(zipped(scope(written)))
    settings = json.loads(texts["agents/ada/agent.json"])
    assert settings["origins"] == {"KNOWLEDGE.md": "agent", "memory/2026-03-14.md": "agent"}
    assert b'"origin":"agent"' in texts["agents/ada/MEMORY.md"]
    assert texts["agents/ada/KNOWLEDGE.md"] == b"Learnt by Ada."


def test_an_import_of_an_export_keeps_every_origin(written: Agent) -> None:
    archive, before = zipped(scope(written)), origins()
    assert import_create(archive=archive, file_name="ada.zip", principal=PERSON).steps == []
    agent_delete(agent=written, principal=SYSTEM)
    imported(archive)
    assert origins() == before
    assert {"Learnt by Ada.": "agent", "Rain.": "agent", "It rains.": "agent"}.items() <= before.items()


def test_a_text_that_a_person_changed_in_an_archive_stays_what_the_archive_says(written: Agent) -> None:
    archive = zipped(scope(written))
    texts = {"KNOWLEDGE.md": "Learnt by Ada.", "MEMORY.md": "It rains.", "memory/2026-03-14.md": "Rain."}
    for name, text in texts.items():
        archive = edited(archive, f"agents/ada/{name}", partial(re.sub, text, f"Edited: {text}"))
    imported(archive)
    changed = {"Edited: Learnt by Ada.": "agent", "Edited: Rain.": "agent", "Edited: It rains.": "agent"}
    assert changed.items() <= origins().items()


def test_without_a_word_of_the_archive_a_changed_text_is_who_imports_it(written: Agent) -> None:
    archive = edited(zipped(scope(written)), "agents/ada/KNOWLEDGE.md", lambda _: "Checked by Olga.")
    archive = edited(archive, "agents/ada/agent.json", lambda text: json.dumps({**json.loads(text), "origins": {}}))
    imported(archive)
    assert origins()["Checked by Olga."] == "person"


def test_an_archive_raises_nothing(written: Agent) -> None:
    archive = zipped(scope(written))
    archive = edited(archive, "agents/ada/MEMORY.md", lambda text: text.replace('"agent"', '"person"'))
    archive = edited(archive, "agents/ada/agent.json", lambda text: text.replace('"agent"', '"person"'))
    assert import_create(archive=archive, file_name="ada.zip", principal=PERSON).steps == []
    assert origins()["It rains."] == origins()["Rain."] == origins()["Learnt by Ada."] == "agent"


def test_the_digest_of_a_memory_does_not_depend_on_its_origin(written: Agent, owner: User) -> None:
    memory = Memory.objects.get(text="It rains.")
    archive = zipped(scope(written))
    facts = facts_of(memory)
    for text in ("It pours.", "It rains."):  # the same text again, by hand
        memory = memory_update(
            memory=memory,
            expected_version=memory.version,
            facts=MemoryFacts(kind=facts.kind, text=text),
            superseded_by=None,
            principal=owner.principal,
        )
    assert memory.origin == Origin.AGENT
    assert import_create(archive=archive, file_name="ada.zip", principal=PERSON).steps == []


@pytest.mark.parametrize(
    ("name", "said"),
    [("MEMORY.md", '"origin":"god"'), ("agent.json", '"origins": {"KNOWLEDGE.md": "god"}')],
)
def test_an_unknown_origin_is_refused(written: Agent, name: str, said: str) -> None:
    def with_unknown(text: str) -> str:
        if name == "MEMORY.md":
            return text.replace('"origin":"agent"', said)
        return json.dumps({**json.loads(text), "origins": {"KNOWLEDGE.md": "god"}})

    archive = edited(zipped(scope(written)), f"agents/ada/{name}", with_unknown)
    [step] = [one for one in import_create(archive=archive, file_name="a.zip", principal=PERSON).steps if one["reason"]]
    assert "god" in step["reason"] or "origin" in step["reason"]
